package reproduce

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/trace"
)

// s2LogicalRing are the statements of section 2.4.
var s2LogicalRing = []Row{
	{
		Where: "section 2.4, return", Claim: "a message returns to its initiator in the end",
		How: "lists of logical-ring among 2 to 7, each set of dead ones and each of the others starting; and one that dies with the list", Check: listReturns,
	},
	{
		Where: "section 2.4, acknowledgement", Claim: "that eliminates the need for acknowledgements",
		How: "logical-ring among 2 to 8: the leader is dead, and nobody acts on a missing acknowledgement", Check: noAcknowledgement,
	},
	{
		Where: "logical ring, step 1", Claim: "who detects the failure circulates a message to which each node appends its priority",
		How: "every list in the runs of 2 to 6, every set of dead ones, each of the others starting", Check: logicalRingStep1,
	},
	{
		Where: "logical ring, step 2", Claim: "when it is back, the initiator chooses the highest and tells all",
		How: "these runs: who leads, and messages with announce=ring and direct", Check: logicalRingStep2,
	},
}

// listed returns the list that a message of logical-ring carries.
func listed(message trace.Value) (ids []uint64) {
	for _, id := range must(trace.Field[[]election.ID](message, "List")) {
		ids = append(ids, message.RealOf(id))
	}
	return ids
}

// logicalRingTrials yields runs of 2 to most members of the ring, until something is wrong; see bullyTrials.
func logicalRingTrials(wrong *doubt, most int, set ...string) func(func(trial, []uint64) bool) {
	return func(yield func(trial, []uint64) bool) {
		for n := 2; n <= most; n++ {
			for living := range subsets(upTo(n)) {
				var faults []string
				if len(living) < n {
					faults = []string{"dead " + numbers(without(upTo(n), living))}
				}
				for _, start := range living {
					if wrong.first != "" || !yield(among(n, "logical-ring", set...).starting(start).run(faults...), living) {
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

func listReturns(b *Bench) Finding {
	var wrong doubt
	runs := 0
	for t, living := range logicalRingTrials(&wrong, 7) {
		runs++
		r := b.run(t.recorded())
		back := 0
		for _, s := range steps(r.Record, trace.Receive) {
			if s.Kind == "election" && slices.Equal(listed(s.MessageValue), startingAt(t.start[0], living)) {
				back++
				wrong.unless(uint64(s.Process)+1 == t.start[0], "%s: the list ends at %d", t.replay(), s.Process+1)
			}
		}
		wrong.unless(back == 1, "%s: the full list is received %d times", t.replay(), back)
	}
	dies := among(5, "logical-ring").starting(1).run("crash 3 at 1 after 1 sends").recorded()
	r := b.run(dies)
	returns := false
	for _, s := range steps(r.Record, trace.Receive) {
		returns = returns || s.Kind == "election" && s.Process == 0 && slices.Equal(listed(s.MessageValue), []uint64{1, 2, 3, 4, 5})
	}
	f := holdsCorrected(returns, wrong.first == "" && end(r) == right, "unless somebody dies who has taken it and not passed it on; then another list has to be sent",
		"%d runs: it returns once, with all that live; where 3 of 5 dies with it, it does not: the next one elects", runs)
	if wrong.first != "" {
		f.Why = wrong.first
	}
	f.Replay = dies.replay()
	return f
}

func noAcknowledgement(b *Bench) Finding {
	var shown *trial
	runs, acknowledged, silent := 0, 0, 0
	for n := 2; n <= 8; n++ {
		for start := uint64(1); start < uint64(n); start++ {
			runs++
			dead := fmt.Sprintf("dead %d", n) // the leader, whose failure they want another one for
			deaf := among(n, "logical-ring", "timeout=1000000").starting(start).run(dead)
			deaf.until = 1000
			if end(b.run(among(n, "logical-ring").starting(start).run(dead))) == right {
				acknowledged++
			}
			switch got := end(b.run(deaf)); {
			case got == right:
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
		contradiction = "an election follows the failure of a member of the ring, and the list vanishes there; nobody notices that it will not return"
	}
	f := holdsUnless(contradiction, "%d runs with a dead leader: one is elected in %d with acknowledgements, in %d without", runs, acknowledged, silent)
	if shown != nil {
		f.Replay = shown.replay()
	}
	return f
}

func logicalRingStep1(b *Bench) Finding {
	var wrong doubt
	runs, lists := 0, 0
	for t, living := range logicalRingTrials(&wrong, 6) {
		runs++
		r := b.run(t.recorded())
		order := startingAt(t.start[0], living)
		for i := range r.Record.Steps {
			s := &r.Record.Steps[i]
			for _, m := range sentOf(s, "election") {
				lists++
				list := listed(m.Value)
				wrong.unless(list[len(list)-1] == r.Record.IDs[s.Process] && slices.Equal(list, order[:len(list)]),
					"%s: %d sends %v", t.replay(), s.Process+1, list)
			}
		}
		wrong.unless(end(r) == right, "%s: %s", t.replay(), end(r))
	}
	wrong.unless(lists > 0, "no list is sent")
	return holdsUnless(wrong.first, "%d lists in %d runs: each sender has put itself last", lists, runs)
}

func logicalRingStep2(b *Bench) Finding {
	var wrong doubt
	runs := 0
	for _, announce := range []string{"ring", "direct"} {
		for t, living := range logicalRingTrials(&wrong, 6, "announce="+announce) {
			runs++
			r := b.run(t)
			wrong.unless(end(r) == right, "%s: %s", t.replay(), end(r))
			if m := uint64(len(living)); len(t.faults) == 0 { // else some are sent to the dead, too
				announced := m
				if announce == "direct" {
					announced--
				}
				wrong.unless(r.Messages.Election == m && r.Messages.Announcement == announced, "%s: %+v", t.replay(), r.Messages)
			}
		}
	}
	return holdsUnless(wrong.first, "%d runs: the highest leads, and all know it; of n live ones, n messages for the list and n (direct: n - 1) to tell", runs)
}
