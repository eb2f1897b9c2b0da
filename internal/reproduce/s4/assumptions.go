package s4

import (
	"fmt"

	"ringleader.example/ringleader/internal/reproduce"
	"ringleader.example/ringleader/internal/reproduce/bully"
)

// s4Assumptions are the assumptions of S4. Each is kept, and S4 as printed elects; and then not.
var s4Assumptions = []reproduce.Row{
	{
		Where: "assumption 1, messages", Claim: "the system is synchronous: messages take no longer than is known",
		How: "as printed: delays up to 6, where 6 are expected, and where 1 is", Check: func(b *reproduce.Bench) reproduce.Finding { return bully.Breaks(b, bully.SlowMessages) },
	},
	{
		Where: "assumption 1, processes", Claim: "the system is synchronous: processes handle what they get in time",
		How: "as printed: the highest of 5 handles nothing for 50 units", Check: func(b *reproduce.Bench) reproduce.Finding { return bully.Breaks(b, bully.SlowHandling) },
	},
	{
		Where: "assumption 1, clocks", Claim: "the system is synchronous: clocks run alike",
		How: "as printed: the clock of 4 of 5 is three times as fast", Check: func(b *reproduce.Bench) reproduce.Finding { return bully.Breaks(b, bully.FastClock) },
	},
	{
		Where: "assumption 2", Claim: "processes may fail at any time, also during the algorithm",
		How: "as printed: every schedule of 3 with two crashes; and winners of 2 to 8 that die after each message of their announcement", Check: failAtAnyTime,
	},
	{
		Where: "assumption 3, stopping", Claim: "a process fails by stopping",
		How: "as printed: 5 of 5 is taken for dead and stands still, and goes on where it was", Check: func(b *reproduce.Bench) reproduce.Finding { return bully.Breaks(b, bully.GoesOn) },
	},
	{
		Where: "assumption 3, restarting", Claim: "a process returns from failure by restarting",
		How: "as printed: 5 of 5 is replaced before any process suspects it, and follows rule 1, or does not", Check: func(b *reproduce.Bench) reproduce.Finding { return bully.Breaks(b, bully.Replaced) },
	},
	{
		Where: "assumption 4", Claim: "a failure detector detects failed processes",
		How: "as printed: 5 of 5 crashes, and no detector reports it; or it is live, and 4 is told that it crashed and does not ask it", Check: func(b *reproduce.Bench) reproduce.Finding { return bully.Breaks(b, bully.NoDetector) },
	},
	{
		Where: "assumption 5", Claim: "message delivery is reliable",
		How: "as printed: one message in five is lost; the network is in two parts; no process hears 5", Check: func(b *reproduce.Bench) reproduce.Finding { return bully.Breaks(b, bully.LostMessages) },
	},
	{
		Where: "assumption 6", Claim: "each process knows its own id and address and those of all others",
		How: "two of one id; and 4 of 5 does not know 5", Check: func(b *reproduce.Bench) reproduce.Finding { return bully.Breaks(b, bully.UnknownMember) },
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
	f := reproduce.HoldsUnless(wrong.First, "%d states with up to two crashes, %d runs in which the winner dies amid its announcement: the highest that is left leads", report.States, runs)
	f.Replay = p.Replay()
	return f
}
