// Package s4 has the rows about S4, on the Bully algorithm.
package s4

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/internal/study/reproduce/bully"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// Rows are the statements of S4, in its order. Where it matters, what is run is S4 as printed: bullying=no.
var Rows = reproduce.From("S4", s4Introduction, s4Assumptions, s4Rules, s4Analysis)

// s4Introduction are the statements before and after the assumptions.
var s4Introduction = []reproduce.Row{
	{
		Where: "introduction, dynamically", Claim: "it elects dynamically",
		How: "2 to 7 processes: leaders crash one after the other, and recover in the other order; and 300 random runs of crashes and recoveries", Check: dynamically,
	},
	{
		Where: "introduction, highest", Claim: "the process with the highest id of those that have not failed is selected",
		How: "2 to 6 processes, every set of crashed ones, each other one initiating", Check: bully.HighestLives,
	},
	{
		Where: "introduction, highest, every schedule", Claim: "the same, whatever the schedule",
		How: "as printed: every schedule of 2 to 4 processes, every set of them initiating; of up to 3 with a crash at any moment", Check: highestOnEverySchedule,
	},
	{
		Where: "messages, election", Claim: "election messages announce an election",
		How: "every step that sends them: 2 to 5 processes, every set of crashed ones, every set of the others initiating", Check: electionMessages,
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
var s4Rules = []reproduce.Row{
	{
		Where: "rule 1", Claim: "the highest sends victory to all others and becomes coordinator; any other asks all that are higher",
		How: "every start and recovery among 2 to 5, every set of crashed ones, every set of the others initiating", Check: rule1,
	},
	{
		Where: "rule 2", Claim: "a process that receives no answer broadcasts a victory and becomes coordinator",
		How: "every answer timeout in these runs: what came before, and what follows", Check: rule2,
	},
	{
		Where: "rule 3", Claim: "a process that is answered by a higher one sends nothing more and waits for a victory",
		How: "what processes send in these runs between an answer and a victory, besides answers of their own", Check: bully.Step3,
	},
	{
		Where: "rule 3, parenthesis", Claim: "if there is no victory after some time, it begins again",
		How: "4 to 8 processes: the process that would win crashes after its answers; with and without that timeout", Check: rule3Parenthesis,
	},
	{
		Where: "rule 4", Claim: "a process that is asked by a lower one answers, and starts an election unless it has",
		How: "every question in the runs of 2 to 5, every set of crashed ones, every set of the others initiating", Check: rule4,
	},
	{
		Where: "rule 5", Claim: "a process that receives a coordinator message treats its sender as the coordinator",
		How: "every schedule of 3 processes, delay 1, one crash and one recovery, every set initiating: as printed, and with the additions", Check: rule5,
	},
}

func dynamically(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	runs := 0
	for n := 2; n <= 7; n++ {
		t := reproduce.Among(n, "bully").Run()
		expect := func(leader int) {
			runs++
			r := b.Run(t)
			wrong.Unless(reproduce.End(r) == reproduce.Right && r.Leaders[0] == leader-1, "%s: %s", t.Replay(), reproduce.End(r))
		}
		for left := n - 1; left >= 1; left-- {
			t.Faults = append(t.Faults, fmt.Sprintf("crash %d at %d", left+1, 100*(n-left)))
			expect(left)
		}
		for back := 2; back <= n; back++ {
			t.Faults = append(t.Faults, fmt.Sprintf("recover %d at %d", back, 100*(n+back)))
			expect(back)
		}
	}
	for seed := range uint64(300) {
		t := reproduce.Among(2+int(seed%5), "bully").Run("random 1 crash, 1 recovery until 100")
		if len(t.IDs) > 2 {
			t.Faults[0] = "random 2 crashes, 2 recoveries until 100"
		}
		t.Seed = seed
		runs++
		r := b.Run(t)
		wrong.Unless(reproduce.End(r) == reproduce.Right, "%s: %s", t.Replay(), reproduce.End(r))
	}
	f := reproduce.HoldsUnless(wrong.First, "%d runs: after each crash and each recovery the highest live process is leader", runs)
	f.Replay = "ringleader run bully --n 5 --crash 5@100 --crash 4@200 --recover 4@300 --recover 5@400"
	return f
}

func highestOnEverySchedule(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	var last reproduce.Proof
	states := 0
	for n := 2; n <= 4; n++ {
		for crashes := 0; crashes <= 1 && n+crashes <= 4; crashes++ {
			last = reproduce.Proof{Subject: reproduce.Among(n, "bully", bully.Printed), EverySet: true, Crashes: crashes}
			report, violation := b.Prove(last)
			wrong.Unless(violation == "", "%s: %s", last.Replay(), violation)
			states += report.States
		}
	}
	f := reproduce.HoldsUnless(wrong.First, "%d states: the highest live process is elected, always", states)
	f.Replay = last.Replay()
	return f
}

func electionMessages(b *reproduce.Bench) reproduce.Finding {
	return bully.Inquiries(b, func(r *simulate.Result, wrong *reproduce.Doubt) (sent int) {
		for i := range r.Record.Steps {
			s := &r.Record.Steps[i]
			if len(reproduce.SentOf(s, "election")) > 0 {
				sent++
				begins := s.Event == trace.Start || s.Event == trace.Receive && s.Kind == "election"
				waits := slices.ContainsFunc(s.Timers, func(t trace.Timer) bool { return t.Name == "answer timeout" && t.After != nil })
				wrong.Unless(begins && waits, "%d of %d asks without an election: %+v", s.Process+1, r.Record.N, *s)
			}
		}
		return sent
	})
}

func answerMessages(b *reproduce.Bench) reproduce.Finding {
	return bully.Inquiries(b, func(r *simulate.Result, wrong *reproduce.Doubt) (answers int) {
		for i := range r.Record.Steps {
			s := &r.Record.Steps[i]
			answered := reproduce.SentOf(s, "answer")
			question := s.Event == trace.Receive && s.Kind == "election"
			answers += len(answered)
			wrong.Unless(len(answered) == 1 == question && (!question || answered[0].To == s.From-1), "%d of %d answers wrongly: %+v", s.Process+1, r.Record.N, *s)
		}
		return answers
	})
}

func coordinatorMessages(b *reproduce.Bench) reproduce.Finding {
	return bully.Inquiries(b, func(r *simulate.Result, wrong *reproduce.Doubt) (victories int) {
		for i := range r.Record.Steps {
			s := &r.Record.Steps[i]
			if sent := reproduce.SentOf(s, "coordinator"); len(sent) > 0 {
				victories++
				wrong.Unless(reproduce.Leads(s) && len(sent) == r.Record.N-1, "%d of %d claims victory: %+v", s.Process+1, r.Record.N, *s)
			} else {
				wrong.Unless(!reproduce.Leads(s), "%d of %d is leader and announces it to no process", s.Process+1, r.Record.N)
			}
		}
		return victories
	})
}

// acts reports whether a step does what rule 1 requires.
func acts(r *trace.Record, s *trace.Step) bool {
	if s.Process == r.N-1 {
		return reproduce.Leads(s) && slices.Equal(reproduce.Receivers(r, reproduce.SentOf(s, "coordinator")), reproduce.UpTo(r.N-1))
	}
	return len(reproduce.SentOf(s, "coordinator")) == 0 && slices.Equal(reproduce.Receivers(r, reproduce.SentOf(s, "election")), reproduce.UpTo(r.N)[s.Process+1:])
}

func whenToAct(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	recoveries, suspicions, idle := 0, 0, 0
	for n := 2; n <= 6; n++ {
		for p := 1; p <= n; p++ {
			t := reproduce.Among(n, "bully").Run(fmt.Sprintf("crash %d at 100", p), fmt.Sprintf("recover %d at 200", p)).Recorded()
			r := b.Run(t)
			wrong.Unless(reproduce.End(r) == reproduce.Right, "%s: %s", t.Replay(), reproduce.End(r))
			for _, s := range reproduce.Steps(r.Record, trace.Recover) {
				recoveries++
				wrong.Unless(acts(r.Record, s), "%s: it recovers and does %+v", t.Replay(), *s)
			}
			for _, s := range reproduce.Steps(r.Record, trace.Suspect) {
				if p == n { // it was the coordinator
					suspicions++
					wrong.Unless(acts(r.Record, s), "%s: the coordinator is suspected, and %d does %+v", t.Replay(), s.Process+1, *s)
				} else {
					idle++
					wrong.Unless(len(s.Sent) == 0, "%s: %d suspects another and does %+v", t.Replay(), s.Process+1, *s)
				}
			}
		}
	}
	wrong.Unless(recoveries > 0 && suspicions > 0 && idle > 0, "%d recoveries, %d suspicions of the coordinator and %d of others", recoveries, suspicions, idle)
	return reproduce.HoldsUnless(wrong.First, "%d recoveries and %d suspicions of the coordinator, each followed by rule 1; %d of others, by no action", recoveries, suspicions, idle)
}

func rule1(b *reproduce.Bench) reproduce.Finding {
	return bully.Inquiries(b, func(r *simulate.Result, wrong *reproduce.Doubt) (begun int) {
		for _, s := range reproduce.Steps(r.Record, trace.Start) {
			begun++
			wrong.Unless(acts(r.Record, s), "%d of %d initiates and does %+v", s.Process+1, r.Record.N, *s)
		}
		return begun
	})
}

func rule2(b *reproduce.Bench) reproduce.Finding {
	return bully.Inquiries(b, func(r *simulate.Result, wrong *reproduce.Doubt) (silences int) {
		answered := make([]bool, r.Record.N)
		for i := range r.Record.Steps {
			s := &r.Record.Steps[i]
			switch {
			case s.Event == trace.Receive && s.Kind == "answer":
				answered[s.Process] = true
			case s.Event == trace.Timeout:
				silences++
				told := reproduce.Receivers(r.Record, reproduce.SentOf(s, "coordinator"))
				wrong.Unless(!answered[s.Process] && reproduce.Leads(s) && slices.Equal(told, reproduce.Without(reproduce.UpTo(r.Record.N), []uint64{uint64(s.Process) + 1})),
					"%d of %d hears nothing (answered: %v) and does %+v", s.Process+1, r.Record.N, answered[s.Process], *s)
			}
		}
		return silences
	})
}

func rule3Parenthesis(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	var shown *reproduce.Trial
	again, runs, stuck := 0, 0, 0
	for n := 4; n <= 8; n++ {
		for i := uint64(1); i < uint64(n-1); i++ {
			t := reproduce.Among(n, "bully").Starting(i).Run(fmt.Sprintf("dead %d", n), fmt.Sprintf("crash %d at 3", n-1)).Recorded()
			runs++
			r := b.Run(t)
			wrong.Unless(reproduce.End(r) == reproduce.Right, "%s: %s", t.Replay(), reproduce.End(r))
			for _, s := range reproduce.Steps(r.Record, trace.Timeout) {
				if s.Text == "victory timeout" {
					again++
					wrong.Unless(acts(r.Record, s), "%s: %d waits in vain and does %+v", t.Replay(), s.Process+1, *s)
				}
			}
			if reproduce.End(bully.Patient(t.Options())) != reproduce.Right {
				stuck++
			}
			if shown == nil {
				shown = &t
			}
		}
	}
	wrong.Unless(again > 0 && stuck == runs, "%d begin again; without the parenthesis %d of %d runs go wrong", again, stuck, runs)
	f := reproduce.HoldsUnless(wrong.First, "%d runs: %d times a process begins again, and the highest live process is elected; without the parenthesis none is, in %d runs", runs, again, stuck)
	f.Replay = shown.Replay()
	return f
}

func rule4(b *reproduce.Bench) reproduce.Finding {
	return bully.Inquiries(b, func(r *simulate.Result, wrong *reproduce.Doubt) (questions int) {
		holds := make([]bool, r.Record.N) // an election
		for i := range r.Record.Steps {
			s := &r.Record.Steps[i]
			p := s.Process
			if s.Event == trace.Receive && s.Kind == "election" {
				questions++
				answers := reproduce.SentOf(s, "answer")
				ok := s.From-1 < p && len(answers) == 1 && answers[0].To == s.From-1
				if holds[p] {
					ok = ok && len(s.Sent) == 1
				} else {
					ok = ok && acts(r.Record, s)
				}
				wrong.Unless(ok, "%d of %d is asked (in an election: %v) and does %+v", p+1, r.Record.N, holds[p], *s)
			}
			switch {
			case len(reproduce.SentOf(s, "election")) > 0:
				holds[p] = true
			case reproduce.Leads(s), s.Event == trace.Receive && s.Kind == "coordinator":
				holds[p] = false
			}
		}
		return questions
	})
}

func rule5(b *reproduce.Bench) reproduce.Finding {
	follows := bully.Inquiries(b, func(r *simulate.Result, wrong *reproduce.Doubt) (heard int) {
		for _, s := range reproduce.Steps(r.Record, trace.Receive) {
			if s.Kind == "coordinator" && s.From-1 > s.Process {
				heard++
				d := s.Decided
				wrong.Unless(len(d) == 1 && d[0].Role == "follower" && *d[0].Leader == uint64(s.From), "%d of %d hears of %d and does %+v", s.Process+1, r.Record.N, s.From, *s)
			}
		}
		return heard
	})
	f := asPrinted(b, reproduce.Proof{Subject: reproduce.Among(3, "bully"), EverySet: true, Crashes: 1, Recoveries: 1},
		"a coordinator below oneself, or below the one that one follows, must be contested (bullying): rule 5 believes the last it hears")
	if follows.Verdict != reproduce.Holds {
		return follows
	}
	f.Measured = fmt.Sprintf("a higher one is followed %s; %s", follows.Measured, f.Measured)
	return f
}

// asPrinted checks S4 as printed, and with what is added to it.
func asPrinted(b *reproduce.Bench, p reproduce.Proof, correction string) reproduce.Finding {
	with, violation := b.Prove(p)
	p.Set = append(slices.Clone(p.Set), bully.Printed)
	_, without := b.Prove(p)
	f := reproduce.HoldsCorrected(without == "", violation == "", correction, "as printed: %s; with the correction: %d states, %s", reproduce.OrHolds(without), with.States, reproduce.OrHolds(violation))
	f.Replay = p.Replay()
	return f
}
