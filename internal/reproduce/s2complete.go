package reproduce

import (
	"fmt"
	"slices"
	"strings"

	bullying "ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// s2Complete are the statements of section 2.3.
var s2Complete = []Row{
	{
		Where: "section 2.3, one hop", Claim: "any process is one hop away, so that communication takes the least time",
		How: "preference and lcr with 2 to 16 processes that start together: when all know who leads", Check: oneHop,
	},
	{
		Where: "section 2.3, assumption 1", Claim: "process ids are unique and known to all",
		How: "two of one id; and 4 of 5 does not know 5", Check: func(b *Bench) Finding { return b.breaks(unknownMember) },
	},
	{
		Where: "section 2.3, assumption 2", Claim: "the network is reliable, only processes may fail",
		How:   "bully as printed: every crash, and every schedule of two; then messages are lost",
		Check: func(b *Bench) Finding { return b.breaks(lostMessages) },
	},
	{
		Where: "section 2.3, assumption 3", Claim: "a message is handled in a known finite time",
		How: "bully as printed: the highest of 5 handles nothing for longer than that", Check: func(b *Bench) Finding { return b.breaks(slowHandling) },
	},
	{
		Where: "section 2.3.1, extrema-finding", Claim: "Bully is extrema-finding: the process of highest priority is elected",
		How: "2 to 6 processes, every set of dead ones, each of the others starting", Check: highestLives,
	},
	{
		Where: "Bully, step 1", Claim: "who suspects that the leader has failed starts an election",
		How: "2 to 6 processes, each crashes: whom others suspect, and what they send then", Check: bullyStep1,
	},
	{
		Where: "Bully, step 2", Claim: "it inquires of all processes with higher priority",
		How: "whom every inquiry goes to: 2 to 5 processes, every set of dead ones, every set of the others starting", Check: bullyStep2,
	},
	{
		Where: "Bully, step 3", Claim: "upon any response it gives up and waits for a higher one to elect itself",
		How: "what processes send and decide in these runs between an answer and a victory", Check: bullyStep3,
	},
	{
		Where: "Bully, step 4", Claim: "without a response it becomes the leader",
		How: "who leads in these runs; and 5 processes that hear of no victory", Check: bullyStep4,
	},
	{
		Where: "section 2.3.1, trans, lines 1–7", Claim: "Bully is as the transition function says: v > u is sent, v = u leads, v < u does nothing",
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
		How: "lcr-synchronous on every ring of up to 7: all decisions, and what is under way in the end", Check: transNoOther,
	},
	{
		Where: "figure 2.7(a)", Claim: "4 detects that the leader 7 has failed and starts an election",
		How: "the step in a run of bully on 1 to 7, 7 dead, 4 starting", Check: figure(0),
	},
	{Where: "figure 2.7(b)", Claim: "5 and 6 respond and tell 4 to stop", How: "the steps in that run", Check: figure(1)},
	{Where: "figure 2.7(c)", Claim: "5 and 6 each hold an election", How: "the steps in that run", Check: figure(2)},
	{Where: "figure 2.8(d)", Claim: "6 responds to 5 and tells it to stop", How: "the steps in that run", Check: figure(3)},
	{Where: "figure 2.8(e)", Claim: "6 wins and tells everyone", How: "the steps in that run, and its messages", Check: figure(4)},
}

func oneHop(b *Bench) Finding {
	var wrong doubt
	for n := 2; n <= 16; n++ {
		direct := b.run(among(n, "preference", "count=all").run())
		ring := b.run(among(n, "lcr").run())
		wrong.unless(end(direct) == right && direct.Time.Decided == election.Units(1), "%d processes: %s at %s", n, end(direct), direct.Time.Decided)
		wrong.unless(end(ring) == right && !ring.Time.Decided.Less(election.Units(uint64(n))), "ring of %d: %s at %s", n, end(ring), ring.Time.Decided)
	}
	return holdsUnless(wrong.first, "2 to 16 processes: all know the leader after one message's time; on a ring it takes n at least")
}

func bullyStep1(b *Bench) Finding {
	var wrong doubt
	leaders, others := 0, 0
	for n := 2; n <= 6; n++ {
		for p := 1; p <= n; p++ {
			r := b.run(among(n, "bully").run(fmt.Sprintf("crash %d at 100", p)).recorded())
			for _, s := range steps(r.Record, trace.Suspect) {
				asked := receivers(r.Record, sentOf(s, "election"))
				if p < n {
					others++
					wrong.unless(len(s.Sent) == 0, "%d of %d crashes, and %d sends %v", p, n, s.Process+1, s.Sent)
				} else {
					leaders++
					wrong.unless(slices.Equal(asked, upTo(n)[s.Process+1:]), "the leader of %d crashes, and %d asks %v", n, s.Process+1, asked)
				}
			}
		}
	}
	wrong.unless(leaders > 0 && others > 0, "nobody suspects anybody")
	return holdsUnless(wrong.first, "%d suspicions of the leader, each begins an election; %d of others, none does", leaders, others)
}

func bullyStep2(b *Bench) Finding {
	return b.inquiries(func(r *simulate.Result, wrong *doubt) (inquiries int) {
		for i := range r.Record.Steps {
			s := &r.Record.Steps[i]
			if asked := receivers(r.Record, sentOf(s, "election")); len(asked) > 0 {
				inquiries++
				wrong.unless(slices.Equal(asked, r.Record.IDs[s.Process+1:]), "%d of %d asks %v", s.Process+1, r.Record.N, asked)
			}
		}
		return inquiries
	})
}

func bullyStep4(b *Bench) Finding {
	silent := b.inquiries(func(r *simulate.Result, wrong *doubt) (wins int) {
		for _, s := range steps(r.Record, trace.Timeout) {
			wins++
			wrong.unless(s.Text == "answer timeout" && leads(s), "%s of %d expires, and it does %+v", s.Text, s.Process+1, *s)
		}
		return wins
	})
	mute := bullying.Algorithm // as step 4 has it: nobody is told
	mute.Receive = func(p *bullying.Process, port election.Port, kind election.Kind, m bullying.Message, out *election.Out[bullying.Message]) {
		if kind != bullying.Coordinator {
			p.Receive(port, kind, m, out)
		}
	}
	o := simulate.Options{Instance: network.On(upTo(5)...), Initiators: []int{0}, Limit: 1000}
	printed := end(variant(mute, o))
	f := holdsCorrected(printed == right, silent.Verdict == Holds, "and it must tell the others, as figure 2.8(e) has it and the steps do not: who gave up waits for that",
		"who hears no answer leads: %s; if nobody is told, of 5: %s", silent.Measured, printed)
	if silent.Verdict != Holds {
		f.Why = silent.Why
	}
	return f
}

func transLines(b *Bench) Finding {
	var wrong doubt
	looked := 0
	for n := 1; n <= 6; n++ {
		for ids := range rings(n) {
			r := b.run(subject{algorithm: "lcr-synchronous", ids: ids}.run().recorded())
			for _, s := range steps(r.Record, trace.Receive) {
				looked++
				u, v := ids[s.Process], carried(s.MessageValue)
				sent := sentOf(s, s.Kind)
				ok := len(sent) == 0 && (u == v) == leads(s)
				if v > u {
					ok = len(sent) == 1 && carried(sent[0].Value) == v && !leads(s)
				}
				wrong.unless(ok, "on %v, %d receives %d and does %+v", ids, u, v, *s)
			}
		}
	}
	wrong.unless(looked > 0, "nothing is received")
	f := holdsCorrected(b.algorithm("lcr-synchronous").Topology == election.Complete, wrong.first == "",
		"this is not Bully but LCR on a synchronous ring, printed in the wrong place",
		"%d receipts on a one-directional ring: each as the lines have it", looked)
	if wrong.first != "" {
		f.Why = wrong.first
	}
	f.Replay = "ringleader run lcr-synchronous --ids 5,4,3,2,1 --story"
	return f
}

// everyTrans runs trans on every ring of up to 7.
func (b *Bench) everyTrans(wrong *doubt, look func(n uint64, r *simulate.Result) bool) (runs int) {
	for n := 1; n <= 7; n++ {
		for ids := range rings(n) {
			runs++
			r := b.run(subject{algorithm: "lcr-synchronous", ids: ids}.run())
			wrong.unless(look(uint64(n), r), "on %v: %s, %d decided, elected at %s, over at %s", ids, end(r), r.Decided, r.Time.Elected, r.Time.Quiet)
		}
	}
	return runs
}

func exactlyOne(b *Bench) Finding {
	var wrong doubt
	runs := b.everyTrans(&wrong, func(_ uint64, r *simulate.Result) bool { return len(r.Leaders) == 1 })
	report, violation := b.prove(proof{subject: among(3, "bully"), everySet: true})
	wrong.unless(violation == "", "bully: %s", violation)
	return holdsUnless(wrong.first, "%d runs with one leader; and %d states of bully", runs, report.States)
}

func transRoundN(b *Bench) Finding {
	var wrong doubt
	runs := b.everyTrans(&wrong, func(n uint64, r *simulate.Result) bool { return end(r) == right && r.Time.Elected == election.Units(n) })
	f := holdsUnless(wrong.first, "%d runs: the largest leads, always in round n, never sooner", runs)
	f.Replay = "ringleader run lcr-synchronous --n 7 --order random --story"
	return f
}

func transNoOther(b *Bench) Finding {
	var wrong doubt
	runs := b.everyTrans(&wrong, func(n uint64, r *simulate.Result) bool {
		return r.Complete && r.Decided == 1 && r.Time.Decided == r.Time.Elected && r.Time.Quiet == election.Units(n)
	})
	return holdsUnless(wrong.first, "%d runs: one decision in each; nothing is under way after round n, so that nothing follows", runs)
}

// figures27And28 is the run of the figures.
var figures27And28 = among(7, "bully", "victory=lower").starting(4).run("dead 7").recorded()

// figure looks for the steps of a part of figures 2.7 and 2.8.
func figure(part int) func(*Bench) Finding {
	return func(b *Bench) Finding {
		r := b.run(figures27And28)
		var seen []string
		var wrong doubt
		look := func(event trace.Event, at, from uint64, kind string, to ...uint64) {
			for _, s := range steps(r.Record, event) {
				if uint64(s.Process)+1 == at && uint64(s.From) == from && slices.Equal(receivers(r.Record, sentOf(s, kind)), to) {
					seen = append(seen, fmt.Sprintf("%d sends %s to %s at %s", at, kind, numbers(to), s.Time))
					return
				}
			}
			wrong.unless(false, "%d does not send %s to %s", at, kind, numbers(to))
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
			wrong.unless(end(r) == right && slices.Equal(r.Messages.ByKind, []uint64{6, 3, 5}), "%s, %v messages", end(r), r.Messages.ByKind)
			seen = append(seen, fmt.Sprintf("%d + %d + %d messages", r.Messages.ByKind[0], r.Messages.ByKind[1], r.Messages.ByKind[2]))
		}
		f := holdsUnless(wrong.first, "%s", strings.Join(seen, "; "))
		f.Replay = "ringleader run --scenario s2-figures-2.7-2.8"
		return f
	}
}
