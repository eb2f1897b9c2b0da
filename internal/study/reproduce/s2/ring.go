package s2

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/trace"
)

// s2LogicalRing are the statements of section 2.4.
var s2LogicalRing = []reproduce.Row{
	{
		Where: "section 2.4, return", Claim: "a message returns to its initiator in the end",
		How: "lists of logical-ring among 2 to 7, each set of crashed ones and each other one initiating; and one that crashes while it has the list", Check: listReturns,
	},
	{
		Where: "section 2.4, acknowledgement", Claim: "that eliminates the need for acknowledgements",
		How: "logical-ring among 2 to 8: the leader has crashed, and no process acts on a missing acknowledgement", Check: noAcknowledgement,
	},
	{
		Where: "logical ring, step 1", Claim: "the process that detects the failure circulates a message to which each node appends its priority",
		How: "every list in the runs of 2 to 6, every set of crashed ones, each other one initiating", Check: logicalRingStep1,
	},
	{
		Where: "logical ring, step 2", Claim: "when the list has returned, the initiator chooses the highest and announces it to all",
		How: "these runs: the leader, and messages with announce=ring and direct", Check: logicalRingStep2,
	},
}

// listed returns the list that a message of logical-ring carries.
func listed(message trace.Value) (ids []uint64) {
	for _, id := range reproduce.Must(trace.Field[[]election.ID](message, "List")) {
		ids = append(ids, message.RealOf(id))
	}
	return ids
}

// logicalRingTrials yields runs of 2 to most members of the ring, until something is wrong; see bullyTrials.
func logicalRingTrials(wrong *reproduce.Doubt, most int, set ...string) func(func(reproduce.Trial, []uint64) bool) {
	return func(yield func(reproduce.Trial, []uint64) bool) {
		for n := 2; n <= most; n++ {
			for live := range reproduce.Subsets(reproduce.UpTo(n)) {
				var faults []string
				if len(live) < n {
					faults = []string{"dead " + reproduce.Numbers(reproduce.Without(reproduce.UpTo(n), live))}
				}
				for _, start := range live {
					if wrong.First != "" || !yield(reproduce.Among(n, "logical-ring", set...).Starting(start).Run(faults...), live) {
						return
					}
				}
			}
		}
	}
}

// startingAt is a list of identifiers in ring order, from one of them on.
func startingAt(id uint64, ids []uint64) []uint64 {
	at := slices.Index(ids, id)
	return slices.Concat(ids[at:], ids[:at])
}

func listReturns(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	runs := 0
	for t, live := range logicalRingTrials(&wrong, 7) {
		runs++
		r := b.Run(t.Recorded())
		back := 0
		for _, s := range reproduce.Steps(r.Record, trace.Receive) {
			if s.Kind == "election" && slices.Equal(listed(s.MessageValue), startingAt(t.Start[0], live)) {
				back++
				wrong.Unless(uint64(s.Process)+1 == t.Start[0], "%s: the list ends at %d", t.Replay(), s.Process+1)
			}
		}
		wrong.Unless(back == 1, "%s: the full list is received %d times", t.Replay(), back)
	}
	dies := reproduce.Among(5, "logical-ring").Starting(1).Run("crash 3 at 1 after 1 sends").Recorded()
	r := b.Run(dies)
	returns := false
	for _, s := range reproduce.Steps(r.Record, trace.Receive) {
		returns = returns || s.Kind == "election" && s.Process == 0 && slices.Equal(listed(s.MessageValue), []uint64{1, 2, 3, 4, 5})
	}
	f := reproduce.HoldsCorrected(returns, wrong.First == "" && reproduce.End(r) == reproduce.Right, "unless a process crashes after it has taken the list and before it has forwarded it; then another list is needed",
		"%d runs: it returns once, with all live processes; where 3 of 5 crashes with it, it does not return: the next list elects", runs)
	if wrong.First != "" {
		f.Why = wrong.First
	}
	f.Replay = dies.Replay()
	return f
}

func noAcknowledgement(b *reproduce.Bench) reproduce.Finding {
	var shown *reproduce.Trial
	runs, acknowledged, silent := 0, 0, 0
	for n := 2; n <= 8; n++ {
		for start := uint64(1); start < uint64(n); start++ {
			runs++
			dead := fmt.Sprintf("dead %d", n) // the leader, for whose failure they elect another one
			deaf := reproduce.Among(n, "logical-ring", "timeout=1000000").Starting(start).Run(dead)
			deaf.Until = 1000
			if reproduce.End(b.Run(reproduce.Among(n, "logical-ring").Starting(start).Run(dead))) == reproduce.Right {
				acknowledged++
			}
			switch got := reproduce.End(b.Run(deaf)); {
			case got == reproduce.Right:
				silent++
			case shown == nil:
				shown = &deaf
			}
		}
	}
	contradiction := ""
	switch {
	case acknowledged < runs:
		contradiction = "and with acknowledgements it does not elect, either"
	case silent < runs:
		contradiction = "an election follows the failure of a member of the ring, and the list is lost there; no process notices that it will not return"
	}
	f := reproduce.HoldsUnless(contradiction, "%d runs with a crashed leader: another one is elected in %d with acknowledgements, in %d without", runs, acknowledged, silent)
	if shown != nil {
		f.Replay = shown.Replay()
	}
	return f
}

func logicalRingStep1(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	runs, lists := 0, 0
	for t, live := range logicalRingTrials(&wrong, 6) {
		runs++
		r := b.Run(t.Recorded())
		order := startingAt(t.Start[0], live)
		for i := range r.Record.Steps {
			s := &r.Record.Steps[i]
			for _, m := range reproduce.SentOf(s, "election") {
				lists++
				list := listed(m.Value)
				wrong.Unless(list[len(list)-1] == r.Record.IDs[s.Process] && slices.Equal(list, order[:len(list)]),
					"%s: %d sends %v", t.Replay(), s.Process+1, list)
			}
		}
		wrong.Unless(reproduce.End(r) == reproduce.Right, "%s: %s", t.Replay(), reproduce.End(r))
	}
	wrong.Unless(lists > 0, "no list is sent")
	return reproduce.HoldsUnless(wrong.First, "%d lists in %d runs: each sender has put itself last", lists, runs)
}

func logicalRingStep2(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	runs := 0
	for _, announce := range []string{"ring", "direct"} {
		for t, live := range logicalRingTrials(&wrong, 6, "announce="+announce) {
			runs++
			r := b.Run(t)
			wrong.Unless(reproduce.End(r) == reproduce.Right, "%s: %s", t.Replay(), reproduce.End(r))
			if m := uint64(len(live)); len(t.Faults) == 0 { // else some are sent to crashed processes, too
				announced := m
				if announce == "direct" {
					announced--
				}
				wrong.Unless(r.Messages.Election == m && r.Messages.Announcement == announced, "%s: %+v", t.Replay(), r.Messages)
			}
		}
	}
	return reproduce.HoldsUnless(wrong.First, "%d runs: the highest is elected, and all know it; with n live processes, n messages for the list and n (direct: n - 1) for the announcement", runs)
}
