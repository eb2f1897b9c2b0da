package s2

import (
	"fmt"
	"slices"
	"strings"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/internal/study/reproduce/bully"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// s2Complete are the statements of section 2.3.
var s2Complete = []reproduce.Row{
	{
		Where: "section 2.3, one hop", Claim: "any process is one hop away, so that communication takes the least time",
		How: "preference and lcr with 2 to 16 processes that initiate together: when all know the leader", Check: oneHop,
	},
	{
		Where: "section 2.3, assumption 1", Claim: "process ids are unique and known to all",
		How: "two processes with one identifier; among 5, process 4 does not know 5", Check: func(b *reproduce.Bench) reproduce.Finding { return bully.Breaks(b, bully.UnknownMember()) },
	},
	{
		Where: "section 2.3, assumption 2", Claim: "the network is reliable, only processes may fail",
		How:   "Bully as printed. Kept: each single crash, and every schedule of two crashes. Dropped: lost messages, a partition, a process that no other hears",
		Check: func(b *reproduce.Bench) reproduce.Finding { return bully.Breaks(b, bully.LostMessages()) },
	},
	{
		Where: "section 2.3, assumption 3", Claim: "a message is handled in a known finite time",
		How: "Bully as printed. Dropped: process 5 of 5 handles no message for longer than that time", Check: func(b *reproduce.Bench) reproduce.Finding { return bully.Breaks(b, bully.SlowHandling()) },
	},
	{
		Where: "section 2.3.1, extrema-finding", Claim: "Bully is extrema-finding: the process of highest priority is elected",
		How: "2 to 6 processes, every set of crashed ones, each other one initiating", Check: bully.HighestLives,
	},
	{
		Where: "Bully, step 1", Claim: "a process that suspects that the leader has failed starts an election",
		How: "2 to 6 processes, each crashes: the suspicions of the others, and their messages then", Check: bullyStep1,
	},
	{
		Where: "Bully, step 2", Claim: "it inquires of all processes with higher priority",
		How: "the receivers of every inquiry: 2 to 5 processes, every set of crashed ones, every set of the others initiating", Check: bullyStep2,
	},
	{
		Where: "Bully, step 3", Claim: "upon any response it gives up and waits for a higher one to become leader",
		How: "what processes send and decide in these runs between an answer and a victory", Check: bully.Step3,
	},
	{
		Where: "Bully, step 4", Claim: "without a response it becomes the leader",
		How: "the leaders of these runs; and 5 processes that hear of no victory", Check: bullyStep4,
	},
	{
		Where: "section 2.3.1, trans, lines 1–7", Claim: "Bully follows the transition function: v > u is sent, v = u is elected, v < u does nothing",
		How: "every step of lcr-synchronous on every ring of up to 6", Check: transLines,
	},
	{
		Where: "section 2.3.1, correctness", Claim: "exactly one process performs as leader",
		How: "lcr-synchronous on every ring of up to 7; every schedule of bully among 3", Check: exactlyOne,
	},
	{
		Where: "section 2.3.1, round n", Claim: "the process with the largest uid outputs leader by the end of round n",
		How: "lcr-synchronous on every ring of up to 7: when the leader is elected", Check: transRoundN,
	},
	{
		Where: "section 2.3.1, no other output", Claim: "no other process ever performs such an output",
		How: "lcr-synchronous on every ring of up to 7: all decisions, and which messages are under way at the end", Check: transNoOther,
	},
	{
		Where: "figure 2.7(a)", Settled: true, Claim: "4 detects that the leader 7 has failed and starts an election",
		How: "the step in a run of bully on 1 to 7, 7 crashed, 4 initiating", Check: figure(0),
	},
	{Where: "figure 2.7(b)", Settled: true, Claim: "5 and 6 respond and tell 4 to stop", How: "the steps in that run", Check: figure(1)},
	{Where: "figure 2.7(c)", Settled: true, Claim: "5 and 6 each hold an election", How: "the steps in that run", Check: figure(2)},
	{Where: "figure 2.8(d)", Settled: true, Claim: "6 responds to 5 and tells it to stop", How: "the steps in that run", Check: figure(3)},
	{Where: "figure 2.8(e)", Settled: true, Claim: "6 wins and announces it to all", How: "the steps in that run, and its messages", Check: figure(4)},
}

func oneHop(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	for n := 2; n <= 16; n++ {
		direct := b.Run(reproduce.Among(n, "preference", "count=all").Run())
		ring := b.Run(reproduce.Among(n, "lcr").Run())
		wrong.Unless(reproduce.End(direct) == reproduce.Right && direct.Time.Decided == election.Units(1), "%d processes: %s at %s", n, reproduce.End(direct), direct.Time.Decided)
		wrong.Unless(reproduce.End(ring) == reproduce.Right && !ring.Time.Decided.Less(election.Units(uint64(n))), "ring of %d: %s at %s", n, reproduce.End(ring), ring.Time.Decided)
	}
	return reproduce.HoldsUnless(wrong.First, "2 to 16 processes: all know the leader after one message's time; on a ring it takes n at least")
}

func bullyStep1(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	leaders, others := 0, 0
	for n := 2; n <= 6; n++ {
		for p := 1; p <= n; p++ {
			r := b.Run(reproduce.Among(n, "bully").Run(fmt.Sprintf("crash %d at 100", p)).Recorded())
			for _, s := range reproduce.Steps(r.Record, trace.Suspect) {
				asked := reproduce.Receivers(r.Record, reproduce.SentOf(s, "election"))
				if p < n {
					others++
					wrong.Unless(len(s.Sent) == 0, "%d of %d crashes, and %d sends %v", p, n, s.Process+1, s.Sent)
				} else {
					leaders++
					wrong.Unless(slices.Equal(asked, reproduce.UpTo(n)[s.Process+1:]), "the leader of %d crashes, and %d asks %v", n, s.Process+1, asked)
				}
			}
		}
	}
	wrong.Unless(leaders > 0 && others > 0, "no process suspects another")
	return reproduce.HoldsUnless(wrong.First, "%d suspicions of the leader, each begins an election; %d of others, none does", leaders, others)
}

func bullyStep2(b *reproduce.Bench) reproduce.Finding {
	return bully.Inquiries(b, func(r *simulate.Result, wrong *reproduce.Doubt) (inquiries int) {
		for i := range r.Record.Steps {
			s := &r.Record.Steps[i]
			if asked := reproduce.Receivers(r.Record, reproduce.SentOf(s, "election")); len(asked) > 0 {
				inquiries++
				wrong.Unless(slices.Equal(asked, r.Record.IDs[s.Process+1:]), "%d of %d asks %v", s.Process+1, r.Record.N, asked)
			}
		}
		return inquiries
	})
}

func bullyStep4(b *reproduce.Bench) reproduce.Finding {
	silent := bully.Inquiries(b, func(r *simulate.Result, wrong *reproduce.Doubt) (wins int) {
		for _, s := range reproduce.Steps(r.Record, trace.Timeout) {
			wins++
			wrong.Unless(s.Text == "answer timeout" && reproduce.Leads(s), "%s of %d expires, and it does %+v", s.Text, s.Process+1, *s)
		}
		return wins
	})
	o := simulate.Options{Setup: network.On(reproduce.UpTo(5)...), Initiators: []int{0}, Limit: 1000}
	printed := reproduce.End(bully.Mute(o))
	f := reproduce.HoldsCorrected(printed == reproduce.Right, silent.Verdict == reproduce.Holds, "and it must announce itself, as in figure 2.8(e) but not in the steps: processes that gave up wait for that",
		"a process without an answer becomes leader: %s; without an announcement, of 5: %s", silent.Measured, printed)
	if silent.Verdict != reproduce.Holds {
		f.Why = silent.Why
	}
	return f
}

func transLines(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	looked := 0
	for n := 1; n <= 6; n++ {
		for ids := range reproduce.Rings(n) {
			r := b.Run(reproduce.Subject{Algorithm: "lcr-synchronous", IDs: ids}.Run().Recorded())
			for _, s := range reproduce.Steps(r.Record, trace.Receive) {
				looked++
				u, v := ids[s.Process], reproduce.Carried(s.MessageValue)
				sent := reproduce.SentOf(s, s.Kind)
				ok := len(sent) == 0 && (u == v) == reproduce.Leads(s)
				if v > u {
					ok = len(sent) == 1 && reproduce.Carried(sent[0].Value) == v && !reproduce.Leads(s)
				}
				wrong.Unless(ok, "on %v, %d receives %d and does %+v", ids, u, v, *s)
			}
		}
	}
	wrong.Unless(looked > 0, "nothing is received")
	f := reproduce.HoldsCorrected(b.Algorithm("lcr-synchronous").Topology == election.Complete, wrong.First == "",
		"this is not Bully but LCR on a synchronous ring, printed in the wrong place",
		"%d receipts on a one-directional ring: each as the lines have it", looked)
	if wrong.First != "" {
		f.Why = wrong.First
	}
	f.Replay = "ringleader run lcr-synchronous --ids 5,4,3,2,1 --story"
	return f
}

// everyTrans runs trans on every ring of up to 7.
func everyTrans(b *reproduce.Bench, wrong *reproduce.Doubt, look func(n uint64, r *simulate.Result) bool) (runs int) {
	for n := 1; n <= 7; n++ {
		for ids := range reproduce.Rings(n) {
			runs++
			r := b.Run(reproduce.Subject{Algorithm: "lcr-synchronous", IDs: ids}.Run())
			wrong.Unless(look(uint64(n), r), "on %v: %s, %d decided, elected at %s, over at %s", ids, reproduce.End(r), r.Decided, r.Time.Elected, r.Time.Quiet)
		}
	}
	return runs
}

func exactlyOne(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	runs := everyTrans(b, &wrong, func(_ uint64, r *simulate.Result) bool { return len(r.Leaders) == 1 })
	report, violation := b.Prove(reproduce.Proof{Subject: reproduce.Among(3, "bully"), EverySet: true})
	wrong.Unless(violation == "", "bully: %s", violation)
	return reproduce.HoldsUnless(wrong.First, "%d runs with one leader; and %d states of bully", runs, report.States)
}

func transRoundN(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	runs := everyTrans(b, &wrong, func(n uint64, r *simulate.Result) bool {
		return reproduce.End(r) == reproduce.Right && r.Time.Elected == election.Units(n)
	})
	f := reproduce.HoldsUnless(wrong.First, "%d runs: the largest is elected, always in round n, never sooner", runs)
	f.Replay = "ringleader run lcr-synchronous --n 7 --order random --story"
	return f
}

func transNoOther(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	runs := everyTrans(b, &wrong, func(n uint64, r *simulate.Result) bool {
		return r.Complete && r.Decided == 1 && r.Time.Decided == r.Time.Elected && r.Time.Quiet == election.Units(n)
	})
	return reproduce.HoldsUnless(wrong.First, "%d runs: one decision in each; no message is under way after round n, so no action follows", runs)
}

// figures27And28 is the run of the figures.
var figures27And28 = reproduce.Among(7, "bully", "victory=lower").Starting(4).Run("dead 7").Recorded()

// figure looks for the steps of a part of figures 2.7 and 2.8.
func figure(part int) func(*reproduce.Bench) reproduce.Finding {
	return func(b *reproduce.Bench) reproduce.Finding {
		r := b.Run(figures27And28)
		var seen []string
		var wrong reproduce.Doubt
		look := func(event trace.Event, at, from uint64, kind string, to ...uint64) {
			for _, s := range reproduce.Steps(r.Record, event) {
				if uint64(s.Process)+1 == at && uint64(s.From) == from && slices.Equal(reproduce.Receivers(r.Record, reproduce.SentOf(s, kind)), to) {
					seen = append(seen, fmt.Sprintf("%d sends %s to %s at %s", at, kind, reproduce.Numbers(to), s.Time))
					return
				}
			}
			wrong.Unless(false, "%d does not send %s to %s", at, kind, reproduce.Numbers(to))
		}
		switch part {
		case 0:
			look(trace.Start, 4, 0, "election", 5, 6, 7)
		case 1:
			look(trace.Receive, 5, 4, "answer", 4)
			look(trace.Receive, 6, 4, "answer", 4)
		case 2:
			look(trace.Receive, 5, 4, "election", 6, 7)
			look(trace.Receive, 6, 4, "election", 7)
		case 3:
			look(trace.Receive, 6, 5, "answer", 5)
		case 4:
			look(trace.Timeout, 6, 0, "coordinator", 1, 2, 3, 4, 5)
			wrong.Unless(reproduce.End(r) == reproduce.Right && slices.Equal(r.Messages.ByKind, []uint64{6, 3, 5}), "%s, %v messages", reproduce.End(r), r.Messages.ByKind)
			seen = append(seen, fmt.Sprintf("%d + %d + %d messages", r.Messages.ByKind[0], r.Messages.ByKind[1], r.Messages.ByKind[2]))
		}
		f := reproduce.HoldsUnless(wrong.First, "%s", strings.Join(seen, "; "))
		f.Replay = "ringleader run --scenario s2-figures-2.7-2.8"
		return f
	}
}
