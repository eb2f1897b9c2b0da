package s2

import (
	"fmt"
	"iter"
	"slices"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify"
)

// s2LCR are the statements of section 2.2.
var s2LCR = []reproduce.Row{
	{
		Where: "section 2.2, comparing", Claim: "a process passes a greater uid on, discards a smaller one, and its own makes it the leader",
		How: "every receipt of an election message in the runs on every ring of up to 5, every set of initiators", Check: lcrPasses,
	},
	{
		Where: "section 2.2, output", Claim: "the process with the largest uid is the only one that outputs that it leads",
		How: "every schedule of every ring of 4, all sets and times of starts", Check: lcrOnlyLargestLeads,
	},
	{
		Where: "LCR, step 1", Claim: "the ring is one-directional and clockwise",
		How: "the port and the receiver of every message in the runs on every ring of up to 5", Check: lcrStep1,
	},
	{
		Where: "LCR, step 2", Claim: "one or more processes initiate, by sending their own uid to the next one",
		How: "every non-empty set of initiators on every ring of up to 5", Check: lcrStep2,
	},
	{
		Where: "LCR, step 3", Claim: "a process that a message draws into the election marks itself as a participant, as initiators do",
		How: "processes that send their own uid after they have forwarded another's, in 400 random runs of 5 with late starts, flag=literal and textbook", Check: lcrStep3,
	},
	{
		Where: "LCR, step 4", Claim: "a process with the greater id that is not a participant yet sends its own",
		How: "every receipt of a smaller uid in the runs on every ring of up to 5, every set of initiators", Check: lcrStep4,
	},
	{
		Where: "LCR, step 5", Claim: "a process with the smaller id forwards the message with the uid that it received",
		How: "every receipt of a greater uid in these runs", Check: lcrStep5,
	},
	{
		Where: "LCR, step 6", Claim: "a process that receives its own uid declares itself the leader",
		How: "every receipt of the own uid in these runs, and the leader at the end", Check: lcrStep6,
	},
	{
		Where: "LCR, lines 1–14", Claim: "the code elects the largest, for all sets and times of starts",
		How:   "every schedule of every ring of 3 with starts at any time, with and without a guard in lines 3 and 4",
		Check: lcrCode,
	},
	{
		Where: "section 2.2, note 1", Claim: "only the message with the largest identity completes the round trip",
		How: "the processes that receive their own uid, in the runs on every ring of up to 5, every set of initiators", Check: lcrRoundTrip,
	},
	{
		Where: "section 2.2, note 2", Claim: "time O(n)",
		How: "unit delays on every ring of up to 6: all initiate, and each alone", Check: lcrTime,
	},
	{
		Where: "section 2.2, note 3", Claim: "leader messages end it: all know the leader",
		How: "every ring of up to 5, every set of initiators: decisions, leader messages, and quiescence after them", Check: lcrAnnouncement,
	},
	{
		Where: "section 2.2, done and is-leader", Claim: "safety: is-leader(i) of one i at most; liveness: done(i) of all i in the end",
		How: "every schedule of every ring of 2, 3 and 4, every set of initiators", Check: lcrDoneAndIsLeader,
	},
	stage("figure 2.2, stage 1", 1), stage("figure 2.3, stage 2", 2), stage("figure 2.4, stage 3", 3),
	stage("figure 2.5, stage 4", 4), stage("figure 2.6, stage 5", 5),
	{
		Where: "example 2.1, total", Settled: true, Claim: "then 5 more messages announce the leader 5: 15 + 5 = 20 in total",
		How: "the run on 5, 4, 3, 2, 1, and the closed form", Check: example21,
	},
	{
		Where: "example 2.1, i times", Settled: true, Claim: "each identifier i is sent i times",
		How: "how often each is sent, in the example and on every other ring of 5", Check: sentAsOftenAsItIs,
	},
	{
		Where: "section 2.2.1, arrangement", Claim: "messages depend on how the ids are arranged",
		How: "the closed form on every ring of up to 8", Check: lcrArrangements,
	},
	{
		Where: "section 2.2.1, largest", Claim: "the largest id travels all around: n messages",
		How: "hops of the largest in the runs on every ring of up to 6", Check: travels(1),
	},
	{
		Where: "section 2.2.1, 2nd largest", Claim: "the 2nd largest travels until it reaches the largest",
		How: "its hops in these runs, and the distance", Check: travels(2),
	},
	{
		Where: "section 2.2.1, 3rd largest", Claim: "the 3rd largest travels until it reaches the largest or the second largest, and so on",
		How: "the hops of each in these runs, and the distance to the next greater", Check: travels(0),
	},
	{
		Where: "section 2.2.1, worst case", Claim: "decreasing ids are the worst arrangement, if all initiate",
		How: "the closed form on every ring of up to 8; every number of initiators on 5, 4, 3, 2, 1", Check: lcrWorst,
	},
	{
		Where: "section 2.2.1, worst case, each", Claim: "there, the 2nd largest causes n-1 messages, the 3rd largest n-2, …",
		How: "hops of each in the runs on decreasing rings of up to 16", Check: lcrFalling,
	},
	{
		Where: "section 2.2.1, worst case, sum", Claim: "n(n+1)/2 + n messages in the worst case: O(n²)",
		How: "the closed form on decreasing rings, n = 1, 2, 4, … 65536, and runs up to 256", Check: lcrFormula,
	},
	{
		Where: "section 2.2.1, worst case, every schedule", Claim: "n(n+1)/2 + n messages are the worst case, whatever the order and the schedule",
		How: "the most messages over every schedule of every ring of up to 8, all initiating; with starts at any time, of up to 4", Check: lcrOnEverySchedule(8, 4),
	},
	{
		Where: "section 2.2.1, worst case, every schedule of nine", Claim: "n(n+1)/2 + n messages are the worst case, whatever the order and the schedule",
		How: "every schedule of every ring of up to 9, all initiating; with starts at any time, of up to 5", Thorough: true, Check: lcrOnEverySchedule(9, 5),
	},
}

// lcrRuns are recorded runs on every ring of up to most, every set of initiators, until something is wrong.
func lcrRuns(b *reproduce.Bench, wrong *reproduce.Doubt, most int) iter.Seq[*simulate.Result] {
	return func(yield func(*simulate.Result) bool) {
		for n := 1; n <= most; n++ {
			for ids := range reproduce.Rings(n) {
				for start := range reproduce.Subsets(ids) {
					s := reproduce.Subject{Algorithm: "lcr", IDs: ids}
					if wrong.First != "" || !yield(b.Run(s.Starting(start...).Run().Recorded())) {
						return
					}
				}
			}
		}
	}
}

// receipt is a step of LCR in which a process starts or receives an election message.
type receipt struct {
	*trace.Step
	ids         []uint64
	own         uint64 // the process's identifier
	uid         uint64 // what is received; 0: it starts
	participant bool   // it has sent its own before
	forwarded   bool   // it has sent another's before
	sent        []uint64
}

func (r receipt) String() string {
	return fmt.Sprintf("on %v, %d receives %d and sends %v", r.ids, r.own, r.uid, r.sent)
}

// receipts returns the receipts of a record, in order.
func receipts(record *trace.Record) iter.Seq[receipt] {
	return func(yield func(receipt) bool) {
		participant, forwarded := make([]bool, record.N), make([]bool, record.N)
		for i := range record.Steps {
			s := &record.Steps[i]
			r := receipt{
				Step: s, ids: record.IDs, own: record.IDs[s.Process], participant: participant[s.Process], forwarded: forwarded[s.Process],
			}
			for _, m := range reproduce.SentOf(s, "election") {
				r.sent = append(r.sent, reproduce.Carried(m.Value))
			}
			if s.Event == trace.Receive && s.Kind == "election" {
				r.uid = reproduce.Carried(s.MessageValue)
			}
			if (r.uid > 0 || s.Event == trace.Start) && !yield(r) {
				return
			}
			own := slices.Contains(r.sent, r.own)
			participant[s.Process] = participant[s.Process] || own
			forwarded[s.Process] = forwarded[s.Process] || len(r.sent) > 0 && !own
		}
	}
}

// everyReceipt looks at the receipts of these runs that it is about, until one is not as it should be.
func everyReceipt(b *reproduce.Bench, about func(receipt) bool, asItShould func(receipt) bool) reproduce.Finding {
	var wrong reproduce.Doubt
	runs, looked := 0, 0
	for r := range lcrRuns(b, &wrong, 5) {
		runs++
		for at := range receipts(r.Record) {
			if about(at) {
				looked++
				wrong.Unless(asItShould(at), "%s", at)
			}
		}
	}
	wrong.Unless(looked > 0, "no process receives such a message")
	return reproduce.HoldsUnless(wrong.First, "%d such receipts in %d runs", looked, runs)
}

func lcrPasses(b *reproduce.Bench) reproduce.Finding {
	return everyReceipt(b, func(r receipt) bool { return r.uid > 0 }, func(r receipt) bool {
		forwards := slices.Contains(r.sent, r.uid)
		switch {
		case r.uid > r.own:
			return forwards
		case r.uid < r.own:
			return !forwards
		}
		return len(reproduce.SentOf(r.Step, "leader")) == 1
	})
}

func lcrStep4(b *reproduce.Bench) reproduce.Finding {
	return everyReceipt(b, func(r receipt) bool { return r.uid > 0 && r.uid < r.own }, func(r receipt) bool {
		if r.participant {
			return len(r.Sent) == 0
		}
		return slices.Equal(r.sent, []uint64{r.own})
	})
}

func lcrStep5(b *reproduce.Bench) reproduce.Finding {
	return everyReceipt(b, func(r receipt) bool { return r.uid > r.own }, func(r receipt) bool {
		return slices.Equal(r.sent, []uint64{r.uid})
	})
}

func lcrStep6(b *reproduce.Bench) reproduce.Finding {
	f := everyReceipt(b, func(r receipt) bool { return r.uid == r.own }, func(r receipt) bool {
		leader := reproduce.SentOf(r.Step, "leader")
		return len(r.Sent) == 1 && len(leader) == 1 && reproduce.Carried(leader[0].Value) == r.own
	})
	var wrong reproduce.Doubt
	wrong.Unless(f.Verdict == reproduce.Holds, "%s", f.Why)
	for r := range lcrRuns(b, &wrong, 5) {
		wrong.Unless(reproduce.End(r) == reproduce.Right, "on %v: %s", r.Record.IDs, reproduce.End(r))
	}
	return reproduce.HoldsUnless(wrong.First, "%s; each time the receiver announces itself to the next process, and is elected", f.Measured)
}

func lcrOnlyLargestLeads(b *reproduce.Bench) reproduce.Finding {
	p := reproduce.Proof{Subject: reproduce.Among(4, "lcr")}
	p.AnyTime = true
	report, violation := b.Prove(p)
	f := reproduce.HoldsUnless(violation, "%d orders, %d states: no other process is ever leader, and it always is at the end", report.Orders, report.States)
	f.Replay = p.Replay()
	return f
}

func lcrStep1(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	messages := 0
	for r := range lcrRuns(b, &wrong, 5) {
		for _, s := range r.Record.Steps {
			for _, m := range s.Sent {
				messages++
				wrong.Unless(m.Port == 0 && m.To == (s.Process+1)%r.Record.N, "on %v, position %d sends to %d", r.Record.IDs, s.Process, m.To)
			}
		}
	}
	wrong.Unless(messages > 0, "nothing is sent")
	return reproduce.HoldsUnless(wrong.First, "%d messages, all from position i to i + 1 mod n", messages)
}

func lcrStep2(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	runs := 0
	for r := range lcrRuns(b, &wrong, 5) {
		runs++
		wrong.Unless(reproduce.End(r) == reproduce.Right, "on %v with %d initiators: %s", r.Record.IDs, r.Starters, reproduce.End(r))
		wrong.Unless(len(reproduce.Steps(r.Record, trace.Start)) == r.Starters, "on %v, not all of %d initiate", r.Record.IDs, r.Starters)
		for i := range r.Record.Steps {
			if s := &r.Record.Steps[i]; s.Event == trace.Start {
				sent, own := reproduce.SentOf(s, "election"), r.Record.IDs[s.Process]
				wrong.Unless(len(sent) == 1 && reproduce.Carried(sent[0].Value) == own, "on %v, %d initiates and sends %v", r.Record.IDs, own, s.Sent)
			}
		}
	}
	return reproduce.HoldsUnless(wrong.First, "%d runs: initiators send their own uid, and the largest of all is elected", runs)
}

func lcrStep3(b *reproduce.Bench) reproduce.Finding {
	type extremes struct{ late, least, most uint64 }
	elects := true
	in := func(flag string) extremes {
		e := extremes{least: 1 << 32}
		for seed := range uint64(400) {
			s := reproduce.Subject{Algorithm: "lcr", IDs: []uint64{5, 4, 3, 2, 1}, Set: []string{"flag=" + flag}, AnyTime: true}
			t := s.Run().Recorded()
			t.Seed, t.Schedule = seed, simulate.Random
			r := b.Run(t)
			elects = elects && reproduce.End(r) == reproduce.Right
			e.least, e.most = min(e.least, r.Messages.Election), max(e.most, r.Messages.Election)
			for at := range receipts(r.Record) {
				if at.forwarded && slices.Contains(at.sent, at.own) {
					e.late++
				}
			}
		}
		return e
	}
	literal, textbook := in("literal"), in("textbook")
	f := reproduce.HoldsCorrected(literal.late == 0, elects && textbook.late == 0 && literal.late > 0,
		"lines 6 to 10 mark only a process that sends its own uid; with flag=textbook one that forwards a uid is marked, too; both elect the largest",
		"processes that had forwarded sent their own uid later: %d times by the code, with %d to %d election messages; %d times by step 3, with %d to %d",
		literal.late, literal.least, literal.most, textbook.late, textbook.least, textbook.most)
	f.Replay = "ringleader verify lcr --n 4 --start any --param flag=textbook"
	return f
}

// unguarded is LCR as printed: an initiator sends its uid, even if it has done so already.
func unguarded(p *lcr.Process, out *election.Out[lcr.Message]) {
	out.Send(lcr.Right, lcr.Election, lcr.Message{ID: p.ID}) // line 3
	p.Participant = true                                     // line 4
}

func lcrCode(b *reproduce.Bench) reproduce.Finding {
	printed := lcr.Algorithm
	printed.Start = unguarded
	report := reproduce.Must(verify.Run(printed, verify.Options{Size: 3, Starts: verify.AnyTime}))
	guarded := reproduce.Proof{Subject: reproduce.Among(3, "lcr")}
	guarded.AnyTime = true
	with, violation := b.Prove(guarded)
	found := "nothing"
	if report.Violation != nil {
		found = report.Violation.Property
	}
	f := reproduce.HoldsCorrected(report.Violation == nil, violation == "",
		"a process that has joined, or knows the leader, must not initiate: its uid would go round a second time, and the largest would announce itself twice",
		"as printed: %s; with the guard: %d states, %s", found, with.States, reproduce.OrHolds(violation))
	f.Replay = guarded.Replay()
	return f
}

func lcrRoundTrip(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	returned := 0
	for r := range lcrRuns(b, &wrong, 5) {
		for at := range receipts(r.Record) {
			if at.uid == at.own {
				returned++
				wrong.Unless(at.own == slices.Max(at.ids), "on %v, %d receives its own uid", at.ids, at.own)
			}
		}
	}
	wrong.Unless(returned > 0, "no uid returns to its origin")
	return reproduce.HoldsUnless(wrong.First, "%d times a uid returned to its origin, always the largest", returned)
}

func lcrTime(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	for n := 1; n <= 6; n++ {
		all, alone := election.Units(0), election.Units(0)
		for ids := range reproduce.Rings(n) {
			s := reproduce.Subject{Algorithm: "lcr", IDs: ids}
			all = later(all, b.Run(s.Run()).Time.Quiet)
			for _, id := range ids {
				alone = later(alone, b.Run(s.Starting(id).Run()).Time.Quiet)
			}
		}
		wrong.Unless(all == election.Units(uint64(2*n)), "n = %d, all initiate: ends at %s", n, all)
		wrong.Unless(alone == election.Units(uint64(3*n-1)), "n = %d, one initiates: ends at %s", n, alone)
	}
	return wrong.Unsettled(reproduce.EverySize, "all initiate: ends at 2n; one initiates: at 3n - 1 at the latest; n = 1 … 6, every order")
}

// later is the later of two times.
func later(a, b election.Ticks) election.Ticks {
	if a.Compare(b) > 0 {
		return a
	}
	return b
}

func lcrAnnouncement(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	runs := 0
	for r := range lcrRuns(b, &wrong, 5) {
		runs++
		n := len(r.Decisions)
		wrong.Unless(r.Complete && r.Agreed && r.Decided == n && r.Messages.Announcement == uint64(n),
			"on %v: %d of %d know a leader after %d leader messages", r.Record.IDs, r.Decided, n, r.Messages.Announcement)
	}
	return reproduce.HoldsUnless(wrong.First, "%d runs: n leader messages, all n know the same leader, and nothing is under way any more", runs)
}

func lcrDoneAndIsLeader(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	states := 0
	for n := 2; n <= 4; n++ {
		report, violation := b.Prove(reproduce.Proof{Subject: reproduce.Among(n, "lcr"), EverySet: true})
		states += report.States
		wrong.Unless(violation == "", "n = %d: %s", n, violation)
	}
	f := reproduce.HoldsUnless(wrong.First, "%d states: never two leaders, never a second decision, and at the end all have decided", states)
	f.Replay = "ringleader verify lcr --n 4 --start every-set"
	return f
}

// example is the run of example 2.1.
var example = reproduce.Subject{Algorithm: "lcr", IDs: []uint64{5, 4, 3, 2, 1}}

// stage is the row of a stage of example 2.1.
func stage(figure string, number int) reproduce.Row {
	return reproduce.Row{
		Where: figure, Settled: true, Claim: fmt.Sprintf("messages in stage %d: %d, of uid %d and above", number, 6-number, number),
		How: "the uids that are sent at that time of the run on 5, 4, 3, 2, 1 with unit delays",
		Check: func(b *reproduce.Bench) reproduce.Finding {
			var sent []uint64
			for _, s := range b.Run(example.Run().Recorded()).Record.Steps {
				for _, m := range reproduce.SentOf(&s, "election") {
					if s.Time == election.Units(uint64(number-1)) {
						sent = append(sent, reproduce.Carried(m.Value))
					}
				}
			}
			slices.Sort(sent)
			var wrong reproduce.Doubt
			wrong.Unless(slices.Equal(sent, reproduce.UpTo(5)[number-1:]), "%v are sent in stage %d", sent, number)
			f := reproduce.HoldsUnless(wrong.First, "messages: %d, of uid %s", len(sent), reproduce.Numbers(sent))
			f.Replay = "ringleader run --scenario s2-example-2.1"
			return f
		},
	}
}

func example21(b *reproduce.Bench) reproduce.Finding {
	t := example.Run()
	ran, counted := b.Run(t).Messages, b.Count("lcr", election.List(example.IDs)).Messages
	var wrong reproduce.Doubt
	wrong.Unless(ran.Election == 15 && ran.Announcement == 5, "the run takes %d + %d", ran.Election, ran.Announcement)
	wrong.Unless(counted.Election == ran.Election && counted.Announcement == ran.Announcement, "counted are %d + %d", counted.Election, counted.Announcement)
	f := reproduce.HoldsUnless(wrong.First, "%d + %d = %d", ran.Election, ran.Announcement, ran.Total)
	f.Replay = t.Replay()
	return f
}

// hops are how often each identifier is sent in an election of LCR, by identifier; of 1 … n.
func hops(record *trace.Record) []int {
	sent := make([]int, record.N+1)
	for i := range record.Steps {
		for _, m := range reproduce.SentOf(&record.Steps[i], "election") {
			sent[reproduce.Carried(m.Value)]++
		}
	}
	return sent
}

func sentAsOftenAsItIs(b *reproduce.Bench) reproduce.Finding {
	orders, fits, inExample := 0, 0, false
	for ids := range reproduce.Rings(5) {
		ring := reproduce.Subject{Algorithm: "lcr", IDs: ids}
		all := slices.Equal(hops(b.Run(ring.Run().Recorded()).Record), []int{0, 1, 2, 3, 4, 5})
		orders++
		if all {
			fits++
			inExample = inExample || slices.Equal(ring.IDs, example.IDs)
		}
	}
	f := reproduce.HoldsCorrected(fits == orders, inExample && fits == 1, "in this order only, and of identifiers 1 … n: elsewhere a uid travels to the next greater one",
		"true of %d of the %d rings of 5; the example is among these: %v", fits, orders, inExample)
	f.Replay = "ringleader run lcr --n 5 --story"
	return f
}

func lcrArrangements(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	text := ""
	for n := 1; n <= 8; n++ {
		least, most := uint64(1<<32), uint64(0)
		for ids := range reproduce.Rings(n) {
			m := b.Count("lcr", ids).Messages.Election
			least, most = min(least, m), max(most, m)
		}
		wrong.Unless(least == uint64(2*n-1) && (n < 3 || least < most), "n = %d: %d to %d election messages", n, least, most)
		text = fmt.Sprintf("n = %d: %d to %d election messages", n, least, most)
	}
	return reproduce.HoldsUnless(wrong.First, "%s; 2n - 1 at the least for n = 1 … 8", text)
}

// nextGreater returns the clockwise distance from a position to the next larger identifier; n for the largest.
func nextGreater(ids []uint64, p int) int {
	hops := 1
	for hops < len(ids) && ids[(p+hops)%len(ids)] < ids[p] {
		hops++
	}
	return hops
}

// travels checks the hops of the k-th largest identifier; of all but the two largest if k is 0.
func travels(k int) func(*reproduce.Bench) reproduce.Finding {
	return func(b *reproduce.Bench) reproduce.Finding {
		var wrong reproduce.Doubt
		looked := 0
		for n := max(k, 1); n <= 6; n++ {
			for ids := range reproduce.Rings(n) {
				sent := hops(b.Run(reproduce.Subject{Algorithm: "lcr", IDs: ids}.Run().Recorded()).Record)
				for p, id := range ids {
					if rank := n + 1 - int(id); rank == k || k == 0 && rank > 2 {
						looked++
						wrong.Unless(sent[id] == nextGreater(ids, p), "on %v, %d makes %d hops", ids, id, sent[id])
					}
				}
			}
		}
		return reproduce.HoldsUnless(wrong.First, "%d identifiers, each with as many hops as it is to the next greater one; n for the largest", looked)
	}
}

func lcrWorst(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	for n := 1; n <= 8; n++ {
		falling, most, reached := uint64(0), uint64(0), 0
		for ids := range reproduce.Rings(n) {
			m := b.Count("lcr", ids).Messages.Election
			if slices.IsSortedFunc(ids, func(a, b uint64) int { return int(b) - int(a) }) {
				falling = m
			}
			if m > most {
				most, reached = m, 0
			}
			if m == most {
				reached++
			}
		}
		wrong.Unless(falling == most && reached == 1, "n = %d: %d messages on a decreasing ring, at most %d, on %d rings", n, falling, most, reached)
	}
	for start := range reproduce.Subsets(example.IDs) {
		k := min(uint64(len(start)), 4)
		m := b.Run(example.Starting(start...).Run()).Messages.Election
		wrong.Unless(m <= (k+1)*5-k*(k+1)/2, "%v initiate on 5, 4, 3, 2, 1: %d messages", start, m)
	}
	return reproduce.HoldsUnless(wrong.First, "for n = 1 … 8 the decreasing ring alone takes the most; k < n initiators take (k+1)n - k(k+1)/2 at most, so that n - 1 are as bad as all")
}

func lcrFalling(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	for n := 1; n <= 16; n++ {
		ids := reproduce.UpTo(n)
		slices.Reverse(ids)
		for id, sent := range hops(b.Run(reproduce.Subject{Algorithm: "lcr", IDs: ids}.Run().Recorded()).Record) {
			wrong.Unless(sent == id, "n = %d: %d causes %d messages", n, id, sent)
		}
	}
	return reproduce.HoldsUnless(wrong.First, "n = 1 … 16: the k-th largest causes n + 1 - k")
}

func lcrOnEverySchedule(all, any int) func(*reproduce.Bench) reproduce.Finding {
	return func(b *reproduce.Bench) reproduce.Finding {
		var d reproduce.Doubt
		judge := func(n uint64, _, most *verify.Messages) {
			d.Unless(most.Total == n*(n+1)/2+n, "n = %d: at most %d messages", n, most.Total)
		}
		rings := b.EveryOrder(&d, "lcr", all, verify.Options{}, judge)
		late := b.EveryOrder(&d, "lcr", any, verify.Options{Starts: verify.AnyTime}, judge)
		f := d.Finding("%d rings, and %d with starts at any time: of each size some ring takes as many, and none more", rings, late)
		f.Replay = fmt.Sprintf("ringleader verify lcr --n %d --reduce auto", all)
		return f
	}
}

func lcrFormula(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	last := uint64(0)
	for n := uint64(1); n <= 1<<16; n *= 2 {
		ids := reproduce.UpTo(int(n))
		slices.Reverse(ids)
		m := b.Count("lcr", election.List(ids)).Messages
		wrong.Unless(m.Total == n*(n+1)/2+n && m.Announcement == n, "n = %d: %d messages", n, m.Total)
		if n <= 256 {
			ran := b.Run(reproduce.Subject{Algorithm: "lcr", IDs: ids}.Run()).Messages
			wrong.Unless(ran.Total == m.Total, "n = %d: %d messages in a run", n, ran.Total)
		}
		last = m.Total
	}
	return reproduce.HoldsUnless(wrong.First, "n = 65536: %d messages, n(n+1)/2 + n as for all smaller n", last)
}
