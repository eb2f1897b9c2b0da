package s2

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/internal/study/reproduce/bully"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// s2Exercises are the exercises of S2; their claims are the answers.
var s2Exercises = []reproduce.Row{
	{
		Where: "exercise 1", Claim: "mutual exclusion and a leader are different things: all three lines of table 2.1",
		How: "the rows of the table; lcr and a token ring of 5", Check: exercise1,
	},
	{
		Where: "exercise 2(a)", Claim: "one processor can serve all processes in turn, a message each",
		How: "the order of receipts of lcr on every ring of up to 6, schedule round-robin", Check: exercise2a,
	},
	{
		Where: "exercise 2(b)", Claim: "LCR needs no change for that: it is one of its schedules",
		How: "lcr on every ring of up to 7: round-robin against fifo and the closed form", Check: exercise2b,
	},
	{
		Where: "exercise 3(a)", Claim: "LCR is asynchronous, and works in rounds, too",
		How: "every schedule of every ring of 4, all initiating; synchronous runs on every ring of up to 6", Check: exercise3a,
	},
	{
		Where: "exercise 3(b)", Settled: true, Claim: "it fails if identifiers repeat, if a message is lost, and if a process crashes",
		How: "a run of each; and each without that", Check: exercise3b,
	},
	{
		Where: "exercise 4(a)", Claim: "all but one have the same uid: an election is possible",
		How: "odd-one-out in rounds on rings of 2 to 12, wherever the odd one is, smaller or greater; every schedule of up to 4", Check: exercise4a,
	},
	{
		Where: "exercise 4(b)", Claim: "all but two have the same uid: an election is possible unless the two are equal and opposite each other",
		How: "odd-pair in rounds on rings of 2 to 10, wherever the two are", Check: exercise4b,
	},
	{
		Where: "exercise 4(b), equal and opposite", Claim: "if the two are equal and opposite each other, no algorithm elects",
		How: "odd-pair, odd-one-out and lcr in rounds on such rings of 2 to 10: what opposite processes do", Check: equalAndOpposite,
	},
	{
		Where: "exercise 5(a)", Settled: true, Claim: "three messages: election asks, vote (an answer) silences, coordinator announces",
		How: "the steps that send each in the run of figures 2.7 and 2.8", Check: exercise5a,
	},
	{
		Where: "exercise 5(b)", Claim: "if two notice a crash at the same time, one leader is elected, at the cost of the lower alone",
		How: "7 processes, 7 crashed: every pair, and every set, that initiates at once, against its lowest alone", Check: exercise5b,
	},
	{
		Where: "exercise 6(a)", Claim: "ring-based election needs no synchronous system",
		How: "every schedule of every ring of 4; delays from 256 to 65536 on every ring of up to 6", Check: exercise6a,
	},
	{
		Where: "exercise 6(b)", Claim: "the Bully algorithm functions only in a synchronous system",
		How: "bully as printed: delays that are expected, and longer ones", Check: func(b *reproduce.Bench) reproduce.Finding { return bully.Breaks(b, bully.SlowMessages()) },
	},
}

func exercise2a(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	turns := 0
	for n := 1; n <= 6; n++ {
		for ids := range reproduce.Rings(n) {
			t := reproduce.Subject{Algorithm: "lcr", IDs: ids}.Run().Recorded()
			t.Schedule = simulate.RoundRobin
			r := b.Run(t)
			served := reproduce.Steps(r.Record, trace.Receive)
			wrong.Unless(len(served) >= n, "on %v: %d turns", ids, len(served))
			for i, s := range served[:min(n, len(served))] { // all have a message to receive then
				turns++
				wrong.Unless(s.Process == (served[0].Process+i)%n, "on %v: turn %d goes to %d", ids, i, s.Process)
			}
		}
	}
	return reproduce.HoldsUnless(wrong.First, "%d first turns: each process in its turn, one message", turns)
}

func exercise2b(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	rings7 := 0
	for n := 1; n <= 7; n++ {
		for ids := range reproduce.Rings(n) {
			rings7++
			t := reproduce.Subject{Algorithm: "lcr", IDs: ids}.Run()
			fifo := b.Run(t)
			t.Schedule = simulate.RoundRobin
			turns, counted := b.Run(t), b.Count("lcr", ids)
			wrong.Unless(reproduce.End(turns) == reproduce.Right && turns.Messages.Election == fifo.Messages.Election && counted.Messages.Election == fifo.Messages.Election,
				"on %v: %s, %d messages; fifo %d, counted %d", ids, reproduce.End(turns), turns.Messages.Election, fifo.Messages.Election, counted.Messages.Election)
		}
	}
	f := reproduce.HoldsUnless(wrong.First, "%d rings: the same leader, and as many messages", rings7)
	f.Replay = "ringleader run lcr --ids 5,4,3,2,1 --schedule round-robin"
	return f
}

func exercise3a(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	report, violation := b.Prove(reproduce.Proof{Subject: reproduce.Among(4, "lcr")})
	wrong.Unless(violation == "", "%s", violation)
	runs := 0
	for n := 1; n <= 6; n++ {
		for ids := range reproduce.Rings(n) {
			runs++
			o := simulate.Options{Setup: network.Setup{IDs: ids}, Timing: election.Synchronous}
			r := b.Simulate("lcr", o)
			wrong.Unless(reproduce.End(r) == reproduce.Right && r.Messages.Election == b.Count("lcr", ids).Messages.Election, "on %v in rounds: %s", ids, reproduce.End(r))
		}
	}
	f := reproduce.HoldsUnless(wrong.First, "%d states of asynchronous runs, %d synchronous runs: the largest is elected, with as many messages", report.States, runs)
	f.Replay = "ringleader run lcr --n 5 --timing synchronous"
	return f
}

func exercise3b(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	equal := reproduce.Subject{Algorithm: "lcr", IDs: []uint64{5, 3, 5, 1}}.Run()
	equal.Equal = true
	lost := reproduce.Subject{Algorithm: "lcr", IDs: []uint64{5, 4, 3, 2, 1}}.Run("cut 3 -> 2 from 2 until 3")
	crashed := reproduce.Subject{Algorithm: "lcr", IDs: []uint64{5, 4, 3, 2, 1}}.Run("crash 2 at 2")
	var ends []string
	for _, t := range []reproduce.Trial{equal, lost, crashed} {
		got := reproduce.End(b.Run(t))
		ends = append(ends, got)
		wrong.Unless(got != reproduce.Right, "%s: it does not fail", t.Replay())
		if t.Faults != nil {
			t.Faults = nil
			got = reproduce.End(b.Run(t))
			wrong.Unless(got == reproduce.Right, "%s: %s", t.Replay(), got)
		}
	}
	f := reproduce.HoldsUnless(wrong.First, "5, 3, 5, 1: %s; a message is lost: %s; a process crashes: %s; without these faults: right", ends[0], ends[1], ends[2])
	f.Replay = equal.Replay()
	return f
}

// with is a ring of n on which these positions have other identifiers than 5.
func with(n int, odd ...[2]int) []uint64 {
	ids := slices.Repeat([]uint64{5}, n)
	for _, o := range odd {
		ids[o[0]] = uint64(o[1])
	}
	return ids
}

// inRounds runs an algorithm on a synchronous ring.
func inRounds(b *reproduce.Bench, algorithm string, ids []uint64) *simulate.Result {
	return b.Simulate(algorithm, simulate.Options{Setup: network.On(ids...), Timing: election.Synchronous})
}

func exercise4a(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	runs, states := 0, 0
	for n := 2; n <= 12; n++ {
		for p := range n {
			for _, id := range []int{3, 7} {
				ids := with(n, [2]int{p, id})
				r := inRounds(b, "odd-one-out", ids)
				runs++
				odd := n > 2 || id == 7 // of two, the larger leads
				wrong.Unless(reproduce.End(r) == reproduce.Right && (r.Leaders[0] == p) == odd, "on %v: %s", ids, reproduce.End(r))
				if n <= 4 && p == 0 {
					s := reproduce.Subject{Algorithm: "odd-one-out", IDs: ids, AnyTime: true}
					report, violation := b.Prove(reproduce.Proof{Subject: s})
					states += report.States
					wrong.Unless(violation == "", "on %v: %s", ids, violation)
				}
			}
		}
	}
	f := reproduce.HoldsUnless(wrong.First, "%d rings: the odd one is elected (of two: the larger); %d states", runs, states)
	f.Replay = "ringleader run odd-one-out --ids 5,5,7,5 --timing synchronous"
	return f
}

// pairs yields the rings of 2 to 10 on which all but two have the same identifier, and whether those are equal and
// opposite each other.
func pairs(yield func(ids []uint64, opposite bool) bool) {
	for n := 2; n <= 10; n++ {
		for first := range n {
			for second := range n {
				if first == second {
					continue
				}
				for _, odd := range [][2]int{{7, 7}, {3, 3}, {3, 7}, {7, 9}} {
					opposite := odd[0] == odd[1] && 2*(second-first+n)%(2*n) == n
					if !yield(with(n, [2]int{first, odd[0]}, [2]int{second, odd[1]}), opposite) {
						return
					}
				}
			}
		}
	}
}

func exercise4b(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	solved := 0
	for ids, opposite := range pairs {
		if opposite {
			continue
		}
		solved++
		r := inRounds(b, "odd-pair", ids)
		wrong.Unless(reproduce.End(r) == reproduce.Right, "on %v: %s", ids, reproduce.End(r))
	}
	f := reproduce.HoldsUnless(wrong.First, "%d rings: one leader each", solved)
	f.Replay = "ringleader run odd-pair --ids 5,7,5,5,9 --timing synchronous"
	return f
}

func equalAndOpposite(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	alike := 0
	for ids, opposite := range pairs {
		if opposite {
			alike++
			doAlike(b, &wrong, ids)
		}
	}
	return wrong.Unsettled(reproduce.EveryAlgorithm, "%d rings, 3 algorithms: each process does at each time what the opposite one does, so there are no leaders or two", alike)
}

// doAlike finds that on a ring that is twice the same, the processes of algorithms do what the opposite ones do.
func doAlike(b *reproduce.Bench, wrong *reproduce.Doubt, ids []uint64) {
	half := len(ids) / 2
	for _, algorithm := range []string{"odd-pair", "odd-one-out", "lcr"} {
		o := simulate.Options{Setup: network.On(ids...), Timing: election.Synchronous, Record: true}
		o.Setup.Duplicates = true
		r := b.Simulate(algorithm, o)
		history := make([]string, len(ids))
		for i := range r.Record.Steps {
			s := &r.Record.Steps[i]
			history[s.Process] += fmt.Sprint(s.Time, s.Event, s.Text, s.State, len(s.Sent), len(s.Decided))
		}
		wrong.Unless(history[0] != "" && slices.Equal(history[:half], history[half:]), "%s on %v: opposite processes differ", algorithm, ids)
		wrong.Unless(len(r.Leaders)%2 == 0, "%s on %v: %d leaders", algorithm, ids, len(r.Leaders))
	}
}

func exercise5a(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	r := b.Run(figures27And28)
	looked := 0
	for i := range r.Record.Steps {
		s := &r.Record.Steps[i]
		for _, m := range s.Sent {
			looked++
			switch up := m.To > s.Process; m.Kind {
			case "election":
				wrong.Unless(up, "%d asks %d", s.Process+1, m.To+1)
			case "answer":
				wrong.Unless(!up && s.Kind == "election" && m.To == s.From-1, "%d answers %d unasked", s.Process+1, m.To+1)
			case "coordinator":
				wrong.Unless(reproduce.Leads(s), "%d announces, and is not leader", s.Process+1)
			}
		}
	}
	k := r.Messages.ByKind
	wrong.Unless(len(k) == 3 && k[0] > 0 && k[1] > 0 && k[2] > 0 && uint64(looked) == r.Messages.Total, "%v messages, %d in the record", k, looked)
	f := reproduce.HoldsUnless(wrong.First, "%d election messages go up, %d votes come back, %d coordinator messages come from the leader", k[0], k[1], k[2])
	f.Replay = "ringleader run --scenario s2-figures-2.7-2.8"
	return f
}

func exercise5b(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	sets := 0
	at := func(start ...uint64) *simulate.Result {
		r := b.Run(reproduce.Among(7, "bully", "victory=lower").Starting(start...).Run("dead 7"))
		wrong.Unless(reproduce.End(r) == reproduce.Right && r.Leaders[0] == 5, "%v initiate: %s", start, reproduce.End(r))
		return r
	}
	for start := range reproduce.Subsets(reproduce.UpTo(6)) {
		sets++
		got, alone := at(start...).Messages.ByKind, at(start[0]).Messages.ByKind
		wrong.Unless(slices.Equal(got, alone), "%v initiate: %v messages;  %d alone: %v", start, got, start[0], alone)
	}
	both := at(4, 5).Messages.ByKind
	f := reproduce.HoldsUnless(wrong.First, "%d sets: 6 is elected, and the messages are those that the lowest alone causes; 4 and 5: %d + %d + %d",
		sets, both[bully.Election], both[bully.Answer], both[bully.Coordinator])
	f.Replay = "ringleader run bully --n 7 --dead 7 --start 4,5 --param victory=lower"
	return f
}

func exercise6a(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	s := reproduce.Among(4, "lcr")
	s.AnyTime = true
	report, violation := b.Prove(reproduce.Proof{Subject: s})
	wrong.Unless(violation == "", "%s", violation)
	runs := 0
	for n := 1; n <= 6; n++ {
		for ids := range reproduce.Rings(n) {
			t := reproduce.Subject{Algorithm: "lcr", IDs: ids}.Run()
			t.Schedule, t.Seed = simulate.RandomDelay, ids[n-1]
			runs++
			r := b.Run(t)
			wrong.Unless(reproduce.End(r) == reproduce.Right, "%s: %s", t.Replay(), reproduce.End(r))
		}
	}
	f := reproduce.HoldsUnless(wrong.First, "%d states, and %d runs with such delays: the largest is elected", report.States, runs)
	f.Replay = "ringleader verify lcr --n 4 --start any"
	return f
}
