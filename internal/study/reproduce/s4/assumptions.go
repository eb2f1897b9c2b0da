package s4

import (
	"fmt"

	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/internal/study/reproduce/bully"
)

// s4Assumptions are the assumptions of S4. Each is kept, and S4 as printed elects; and then not.
var s4Assumptions = []reproduce.Row{
	{
		Where: "assumption 1, messages", Claim: "the system is synchronous: messages take no longer than is known",
		How: "Bully as printed, with delays up to 6. Kept: the timeouts allow for 6. Dropped: they allow for 1", Check: func(b *reproduce.Bench) reproduce.Finding { return bully.Breaks(b, bully.SlowMessages()) },
	},
	{
		Where: "assumption 1, processes", Claim: "the system is synchronous: processes handle what they get in time",
		How: "Bully as printed. Dropped: process 5 of 5 handles no message for 50 units", Check: func(b *reproduce.Bench) reproduce.Finding { return bully.Breaks(b, bully.SlowHandling()) },
	},
	{
		Where: "assumption 1, clocks", Claim: "the system is synchronous: clocks run alike",
		How: "Bully as printed. Dropped: the clock of process 4 of 5 runs three times as fast", Check: func(b *reproduce.Bench) reproduce.Finding { return bully.Breaks(b, bully.FastClock()) },
	},
	{
		Where: "assumption 2", Claim: "processes may fail at any time, also during the algorithm",
		How: "Bully as printed: every schedule of 3 processes with two crashes; among 2 to 8, a winner that crashes after each message of its announcement", Check: failAtAnyTime,
	},
	{
		Where: "assumption 3, stopping", Claim: "a process fails by stopping",
		How: "Bully as printed. Dropped: process 5 of 5 pauses and is suspected; it stays paused, or resumes in its old state", Check: func(b *reproduce.Bench) reproduce.Finding { return bully.Breaks(b, bully.GoesOn()) },
	},
	{
		Where: "assumption 3, restarting", Claim: "a process returns from failure by restarting",
		How: "Bully as printed: process 5 of 5 crashes and restarts before any process suspects it. Kept: it follows rule 1. Dropped: it does not", Check: func(b *reproduce.Bench) reproduce.Finding { return bully.Breaks(b, bully.Replaced()) },
	},
	{
		Where: "assumption 4", Claim: "a failure detector detects failed processes",
		How: "Bully as printed. Dropped: process 5 of 5 crashes and no detector reports it; or 5 is live, the detector of 4 reports a crash, and 4 does not ask 5", Check: func(b *reproduce.Bench) reproduce.Finding { return bully.Breaks(b, bully.NoDetector()) },
	},
	{
		Where: "assumption 5", Claim: "message delivery is reliable",
		How: "Bully as printed. Dropped: links lose one message in five; a partition cuts the network in two; all messages from process 5 are lost", Check: func(b *reproduce.Bench) reproduce.Finding { return bully.Breaks(b, bully.LostMessages()) },
	},
	{
		Where: "assumption 6", Claim: "each process knows its own id and address and those of all others",
		How: "two processes with one identifier; among 5, process 4 does not know 5", Check: func(b *reproduce.Bench) reproduce.Finding { return bully.Breaks(b, bully.UnknownMember()) },
	},
}

func failAtAnyTime(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	p := reproduce.Proof{Subject: reproduce.Among(3, "bully", bully.Printed), Crashes: 2}
	report, violation := b.Prove(p)
	wrong.Unless(violation == "", "%s", violation)
	runs := 0
	for n := 2; n <= 8; n++ {
		for sends := range n - 1 {
			t := reproduce.Among(n, "bully", bully.Printed).Run(fmt.Sprintf("crash %d at 0 after %d sends", n, sends))
			runs++
			r := b.Run(t)
			wrong.Unless(reproduce.End(r) == reproduce.Right && len(r.Dead) == 1, "%s: %s", t.Replay(), reproduce.End(r))
		}
	}
	f := reproduce.HoldsUnless(wrong.First, "%d states with up to two crashes, %d runs in which the winner crashes amid its announcement: the highest live process is elected", report.States, runs)
	f.Replay = p.Replay()
	return f
}
