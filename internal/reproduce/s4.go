package reproduce

import (
	"fmt"
	"slices"

	bullying "ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// s4 are the statements of S4, in its order. Where it matters, what is run is S4 as printed: bullying=no.
var s4 = from("S4", s4Introduction, s4Assumptions, s4Rules, s4Analysis)

// s4Introduction are the statements before and after the assumptions.
var s4Introduction = []Row{
	{
		Where: "introduction, dynamically", Claim: "it elects dynamically",
		How: "2 to 7 processes: leaders die one after the other, and come back in the other order; and 300 random runs of crashes and recoveries", Check: dynamically,
	},
	{
		Where: "introduction, highest", Claim: "the process with the highest id of those that have not failed is selected",
		How: "2 to 6 processes, every set of failed ones, each of the others starting", Check: highestLives,
	},
	{
		Where: "messages, election", Claim: "election messages announce an election",
		How: "every step that sends them: 2 to 5 processes, every set of dead ones, every set of the others starting", Check: electionMessages,
	},
	{
		Where: "messages, answer", Claim: "answer messages respond to election messages",
		How: "every step that sends them in these runs, and whether every live process that is asked answers", Check: answerMessages,
	},
	{
		Where: "messages, coordinator", Claim: "coordinator messages are sent by the winner, to announce its victory",
		How: "every step that sends them in these runs", Check: coordinatorMessages,
	},
	{
		Where: "algorithm, when", Claim: "a process acts when it recovers, or when the current coordinator is suspected",
		How: "2 to 6 processes, each crashes and recovers: what it does then, and what those do that suspect it", Check: whenToAct,
	},
}

// s4Rules are rules 1 to 5.
var s4Rules = []Row{
	{
		Where: "rule 1", Claim: "the highest sends victory to all others and becomes coordinator; any other asks all that are higher",
		How: "every start and recovery among 2 to 5, every set of dead ones, every set of the others starting", Check: rule1,
	},
	{
		Where: "rule 2", Claim: "who receives no answer broadcasts a victory and becomes coordinator",
		How: "every answer timeout in these runs: what came before, and what follows", Check: rule2,
	},
	{
		Where: "rule 3", Claim: "who is answered by a higher one sends nothing more and waits for a victory",
		How: "what processes send in these runs between an answer and a victory, besides answers of their own", Check: bullyStep3,
	},
	{
		Where: "rule 3, parenthesis", Claim: "if there is no victory after some time, it begins again",
		How: "4 to 8 processes: the one that would win dies after its answers; with and without that timeout", Check: rule3Parenthesis,
	},
	{
		Where: "rule 4", Claim: "who is asked by a lower one answers, and starts an election unless it has",
		How: "every question in the runs of 2 to 5, every set of dead ones, every set of the others starting", Check: rule4,
	},
	{
		Where: "rule 5", Claim: "who receives a coordinator message treats its sender as the coordinator",
		How: "every schedule of 3 processes, delay 1, one crash and one recovery, every set starting: as printed, and with the additions", Check: rule5,
	},
}

func dynamically(b *Bench) Finding {
	var wrong doubt
	runs := 0
	for n := 2; n <= 7; n++ {
		t := among(n, "bully").run()
		expect := func(leader int) {
			runs++
			r := b.run(t)
			wrong.unless(end(r) == right && r.Leaders[0] == leader-1, "%s: %s", t.replay(), end(r))
		}
		for left := n - 1; left >= 1; left-- {
			t.faults = append(t.faults, fmt.Sprintf("crash %d at %d", left+1, 100*(n-left)))
			expect(left)
		}
		for back := 2; back <= n; back++ {
			t.faults = append(t.faults, fmt.Sprintf("recover %d at %d", back, 100*(n+back)))
			expect(back)
		}
	}
	for seed := range uint64(300) {
		t := among(2+int(seed%5), "bully").run("random 1 crash, 1 recovery until 100")
		if len(t.ids) > 2 {
			t.faults[0] = "random 2 crashes, 2 recoveries until 100"
		}
		t.seed = seed
		runs++
		r := b.run(t)
		wrong.unless(end(r) == right, "%s: %s", t.replay(), end(r))
	}
	f := holdsUnless(wrong.first, "%d runs: after each crash and each recovery the highest that lives leads", runs)
	f.Replay = "ringleader run bully --n 5 --crash 5@100 --crash 4@200 --recover 4@300 --recover 5@400"
	return f
}

func electionMessages(b *Bench) Finding {
	return b.inquiries(func(r *simulate.Result, wrong *doubt) (sent int) {
		for i := range r.Record.Steps {
			s := &r.Record.Steps[i]
			if len(sentOf(s, "election")) > 0 {
				sent++
				begins := s.Event == trace.Start || s.Event == trace.Receive && s.Kind == "election"
				waits := slices.ContainsFunc(s.Timers, func(t trace.Timer) bool { return t.Name == "answer timeout" && t.After != nil })
				wrong.unless(begins && waits, "%d of %d asks without an election: %+v", s.Process+1, r.Record.N, *s)
			}
		}
		return sent
	})
}

func answerMessages(b *Bench) Finding {
	return b.inquiries(func(r *simulate.Result, wrong *doubt) (answers int) {
		for i := range r.Record.Steps {
			s := &r.Record.Steps[i]
			answered := sentOf(s, "answer")
			question := s.Event == trace.Receive && s.Kind == "election"
			answers += len(answered)
			wrong.unless(len(answered) == 1 == question && (!question || answered[0].To == s.From-1), "%d of %d answers wrongly: %+v", s.Process+1, r.Record.N, *s)
		}
		return answers
	})
}

func coordinatorMessages(b *Bench) Finding {
	return b.inquiries(func(r *simulate.Result, wrong *doubt) (victories int) {
		for i := range r.Record.Steps {
			s := &r.Record.Steps[i]
			if sent := sentOf(s, "coordinator"); len(sent) > 0 {
				victories++
				wrong.unless(leads(s) && len(sent) == r.Record.N-1, "%d of %d claims victory: %+v", s.Process+1, r.Record.N, *s)
			} else {
				wrong.unless(!leads(s), "%d of %d leads and tells nobody", s.Process+1, r.Record.N)
			}
		}
		return victories
	})
}

// acts says whether a step does what rule 1 says.
func acts(r *trace.Record, s *trace.Step) bool {
	if s.Process == r.N-1 {
		return leads(s) && slices.Equal(receivers(r, sentOf(s, "coordinator")), upTo(r.N-1))
	}
	return len(sentOf(s, "coordinator")) == 0 && slices.Equal(receivers(r, sentOf(s, "election")), upTo(r.N)[s.Process+1:])
}

func whenToAct(b *Bench) Finding {
	var wrong doubt
	recoveries, suspicions, idle := 0, 0, 0
	for n := 2; n <= 6; n++ {
		for p := 1; p <= n; p++ {
			t := among(n, "bully").run(fmt.Sprintf("crash %d at 100", p), fmt.Sprintf("recover %d at 200", p)).recorded()
			r := b.run(t)
			wrong.unless(end(r) == right, "%s: %s", t.replay(), end(r))
			for _, s := range steps(r.Record, trace.Recover) {
				recoveries++
				wrong.unless(acts(r.Record, s), "%s: it recovers and does %+v", t.replay(), *s)
			}
			for _, s := range steps(r.Record, trace.Suspect) {
				if p == n { // it was the coordinator
					suspicions++
					wrong.unless(acts(r.Record, s), "%s: the coordinator is suspected, and %d does %+v", t.replay(), s.Process+1, *s)
				} else {
					idle++
					wrong.unless(len(s.Sent) == 0, "%s: %d suspects another and does %+v", t.replay(), s.Process+1, *s)
				}
			}
		}
	}
	wrong.unless(recoveries > 0 && suspicions > 0 && idle > 0, "%d recoveries, %d suspicions of the coordinator and %d of others", recoveries, suspicions, idle)
	return holdsUnless(wrong.first, "%d recoveries and %d suspicions of the coordinator, each followed by rule 1; %d of others, by nothing", recoveries, suspicions, idle)
}

func rule1(b *Bench) Finding {
	return b.inquiries(func(r *simulate.Result, wrong *doubt) (begun int) {
		for _, s := range steps(r.Record, trace.Start) {
			begun++
			wrong.unless(acts(r.Record, s), "%d of %d starts and does %+v", s.Process+1, r.Record.N, *s)
		}
		return begun
	})
}

func rule2(b *Bench) Finding {
	return b.inquiries(func(r *simulate.Result, wrong *doubt) (silences int) {
		answered := make([]bool, r.Record.N)
		for i := range r.Record.Steps {
			s := &r.Record.Steps[i]
			switch {
			case s.Event == trace.Receive && s.Kind == "answer":
				answered[s.Process] = true
			case s.Event == trace.Timeout:
				silences++
				told := receivers(r.Record, sentOf(s, "coordinator"))
				wrong.unless(!answered[s.Process] && leads(s) && slices.Equal(told, without(upTo(r.Record.N), []uint64{uint64(s.Process) + 1})),
					"%d of %d hears nothing (answered: %v) and does %+v", s.Process+1, r.Record.N, answered[s.Process], *s)
			}
		}
		return silences
	})
}

func rule3Parenthesis(b *Bench) Finding {
	patient := bullying.Algorithm // without the parenthesis
	patient.Timeout = func(p *bullying.Process, timer election.Timer, out *election.Out[bullying.Message]) {
		if timer == bullying.AnswerTimeout {
			p.Timeout(timer, out)
		}
	}
	var wrong doubt
	var shown *trial
	again, runs, stuck := 0, 0, 0
	for n := 4; n <= 8; n++ {
		for i := uint64(1); i < uint64(n-1); i++ {
			t := among(n, "bully").starting(i).run(fmt.Sprintf("dead %d", n), fmt.Sprintf("crash %d at 3", n-1)).recorded()
			runs++
			r := b.run(t)
			wrong.unless(end(r) == right, "%s: %s", t.replay(), end(r))
			for _, s := range steps(r.Record, trace.Timeout) {
				if s.Text == "victory timeout" {
					again++
					wrong.unless(acts(r.Record, s), "%s: %d waits in vain and does %+v", t.replay(), s.Process+1, *s)
				}
			}
			if end(variant(patient, t.options())) != right {
				stuck++
			}
			if shown == nil {
				shown = &t
			}
		}
	}
	wrong.unless(again > 0 && stuck == runs, "%d begin again; without the parenthesis %d of %d runs go wrong", again, stuck, runs)
	f := holdsUnless(wrong.first, "%d runs: %d times one begins again, and the highest left leads; without the parenthesis nobody does, in %d runs", runs, again, stuck)
	f.Replay = shown.replay()
	return f
}

func rule4(b *Bench) Finding {
	return b.inquiries(func(r *simulate.Result, wrong *doubt) (questions int) {
		holds := make([]bool, r.Record.N) // an election
		for i := range r.Record.Steps {
			s := &r.Record.Steps[i]
			p := s.Process
			if s.Event == trace.Receive && s.Kind == "election" {
				questions++
				answers := sentOf(s, "answer")
				ok := s.From-1 < p && len(answers) == 1 && answers[0].To == s.From-1
				if holds[p] {
					ok = ok && len(s.Sent) == 1
				} else {
					ok = ok && acts(r.Record, s)
				}
				wrong.unless(ok, "%d of %d is asked (in an election: %v) and does %+v", p+1, r.Record.N, holds[p], *s)
			}
			switch {
			case len(sentOf(s, "election")) > 0:
				holds[p] = true
			case leads(s), s.Event == trace.Receive && s.Kind == "coordinator":
				holds[p] = false
			}
		}
		return questions
	})
}

func rule5(b *Bench) Finding {
	follows := b.inquiries(func(r *simulate.Result, wrong *doubt) (heard int) {
		for _, s := range steps(r.Record, trace.Receive) {
			if s.Kind == "coordinator" && s.From-1 > s.Process {
				heard++
				d := s.Decided
				wrong.unless(len(d) == 1 && d[0].Role == "follower" && *d[0].Leader == uint64(s.From), "%d of %d hears of %d and does %+v", s.Process+1, r.Record.N, s.From, *s)
			}
		}
		return heard
	})
	f := b.asPrinted(proof{subject: among(3, "bully"), everySet: true, crashes: 1, recoveries: 1},
		"a coordinator below oneself, or below the one that one follows, must be contested (bullying): rule 5 believes the last it hears")
	if follows.Verdict != Holds {
		return follows
	}
	f.Measured = fmt.Sprintf("a higher one is followed %s; %s", follows.Measured, f.Measured)
	return f
}

// asPrinted checks S4 as printed, and with what is added to it.
func (b *Bench) asPrinted(p proof, correction string) Finding {
	with, violation := b.prove(p)
	p.set = append(slices.Clone(p.set), printed)
	_, without := b.prove(p)
	f := holdsCorrected(without == "", violation == "", correction, "as printed: %s; with the correction: %d states, %s", orHolds(without), with.States, orHolds(violation))
	f.Replay = p.replay()
	return f
}
