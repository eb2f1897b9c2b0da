package s4

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/internal/study/reproduce/bully"
	"ringleader.example/ringleader/outcome"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify"
)

// s4Analysis are the statements on safety, liveness and messages.
var s4Analysis = []reproduce.Row{
	{
		Where: "safety", Claim: "all processes that elect a leader elect the same, when no election is under way",
		How: "every schedule of 3 processes, delay 1, victory=lower, one crash and one recovery, every set initiating: as printed, and with the additions", Check: safety,
	},
	{
		Where: "safety, without recoveries", Claim: "the same, where processes crash and do not recover",
		How: "every schedule of 3 processes, as printed, two crashes; the victory announced to all others, or to the lower ones", Check: safetyOfCrashes,
	},
	{
		Where: "safety, with its timing", Claim: "no process below a live one ever wins: there are no two leaders at any time",
		How: "every schedule of 2 and 3, as printed, with starts at any time, no failure, and a wait of 2·delay + 1; delays 1 and 2", Check: safetyInTime,
	},
	{
		Where: "safety, without its timing", Claim: "the same, where an answer may take as long as one waits for it",
		How: "every schedule of 3 processes, delay 2, as printed, with a wait of exactly 2·delay, every set initiating", Check: safetyOutOfTime,
	},
	{
		Where: "safety, proof", Claim: "no two processes both send coordinator messages, as the lower of the two never does",
		How: "the processes that claim victory: 2 to 5 processes, every set of crashed ones, every set of the others initiating; and with a crash and a recovery", Check: safetyProof,
	},
	{
		Where: "liveness", Claim: "guaranteed in the synchronous crash-recovery model",
		How: "every schedule of 3 processes, delay 1, one crash and one recovery, every set initiating: as printed, and with the additions", Check: liveness,
	},
	{
		Where: "liveness, would-be leader", Claim: "if the would-be leader crashes between answer and victory, one of the lower becomes leader",
		How: "4 to 8 processes, the highest crashed, each lower one initiating: the next crashes at each time until its victory", Check: wouldBeLeader,
	},
	{
		Where: "liveness, others crash", Claim: "even if some of the others crash",
		How: "these runs of 4 to 6, in which one more crashes at each time up to 20", Check: wouldBeLeaderAndOthers,
	},
	{
		Where: "liveness, recovery in time", Claim: "if it recovers in time, it simply sends a coordinator message to all",
		How: "2 to 8 processes: what each does when it recovers, the higher ones live or crashed", Check: recoversInTime,
	},
	{
		Where: "bandwidth, fixed size", Claim: "messages are of a fixed size",
		How: "what the messages of bully carry, in runs of 2 to 5 processes", Check: fixedSize,
	},
	{
		Where: "bandwidth, lowest initiates", Claim: "the most messages are sent when the lowest initiates",
		How: "2 to 10 processes, the highest crashed, each initiating alone; every schedule of 3, with all sets and times of starts", Check: lowestInitiates,
	},
	{
		Where: "bandwidth, Θ(N²) election messages", Claim: "N-1 + N-2 + …: Θ(N²) election messages",
		How: "runs of 2 to 10 as printed, the highest crashed, the lowest initiating; and such in which questions come one after the other", Check: electionTheta,
	},
	{
		Where: "bandwidth, Θ(N²) alive messages", Claim: "Θ(N²) alive messages",
		How: "the same runs", Check: aliveTheta,
	},
	{
		Where: "bandwidth, Θ(N) coordinator messages", Claim: "Θ(N) coordinator messages",
		How: "runs of 2 to 10, the lowest initiating: the highest crashed, and live", Check: coordinatorTheta,
	},
	{
		Where: "bandwidth, Θ(N²) overall", Claim: "Θ(N²) messages overall in the worst case",
		How: "the same runs", Check: totalTheta,
	},
	{
		Where: "bandwidth, Θ(N²) overall, five", Claim: "Θ(N²) messages overall: at most N(N-1) questions and answers", Thorough: true,
		How: "every schedule of 5 as printed, delay 1, none failing, the lowest initiating", Check: worstOfFive,
	},
}

// recovery is the model that S4 is said to be safe and live in.
func recovery(set ...string) reproduce.Proof {
	return reproduce.Proof{Subject: reproduce.Among(3, "bully", set...), EverySet: true, Crashes: 1, Recoveries: 1}
}

func safety(b *reproduce.Bench) reproduce.Finding {
	return asPrinted(b, recovery("victory=lower"), "if lower coordinators are contested: a deposed one's message, or a premature one's, would be believed for ever")
}

func safetyOfCrashes(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	states := 0
	for _, victory := range []string{"others", "lower"} {
		report, violation := b.Prove(reproduce.Proof{Subject: reproduce.Among(3, "bully", bully.Printed, "victory="+victory), Crashes: 2})
		states += report.States
		wrong.Unless(violation == "", "victory=%s: %s", victory, violation)
	}
	return reproduce.HoldsUnless(wrong.First, "%d states: all agree at the end", states)
}

func safetyInTime(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	states := 0
	for _, size := range []struct{ n, delay int }{{2, 1}, {3, 1}, {2, 2}, {3, 2}} {
		s := reproduce.Among(size.n, "bully", bully.Printed, fmt.Sprintf("delay=%d", size.delay))
		s.AnyTime = true
		report, violation := b.Prove(reproduce.Proof{Subject: s})
		states += report.States
		wrong.Unless(violation == "", "%d processes, delay %d: %s", size.n, size.delay, violation)
	}
	return reproduce.HoldsUnless(wrong.First, "%d states: only the highest is ever leader", states)
}

func safetyOutOfTime(b *reproduce.Bench) reproduce.Finding {
	in, out := reproduce.Proof{Subject: reproduce.Among(3, "bully", bully.Printed, "delay=2"), EverySet: true}, reproduce.Proof{Subject: reproduce.Among(3, "bully", bully.Printed, "delay=2", "answer-timeout=4"), EverySet: true}
	_, violation := b.Prove(in)
	report, without := b.Prove(out)
	contradiction := without
	if violation != "" {
		contradiction = "with its timing, too: " + violation
	}
	f := reproduce.HoldsUnless(contradiction, "T1 = 2·delay + 1: %s; T1 = 2·delay: %s", reproduce.OrHolds(violation), reproduce.OrHolds(without))
	if report.Violation != nil {
		f.Why += fmt.Sprintf(", in %d steps", len(report.Violation.Record.Steps))
	}
	f.Replay = out.Replay()
	return f
}

// winners are the identifiers of those that claim victory in a run, each once.
func winners(r *simulate.Result) (ids []uint64) {
	for i := range r.Record.Steps {
		if s := &r.Record.Steps[i]; len(reproduce.SentOf(s, "coordinator")) > 0 && !slices.Contains(ids, r.Record.IDs[s.Process]) {
			ids = append(ids, r.Record.IDs[s.Process])
		}
	}
	return ids
}

func safetyProof(b *reproduce.Bench) reproduce.Finding {
	one := bully.Inquiries(b, func(r *simulate.Result, wrong *reproduce.Doubt) int {
		ids := winners(r)
		wrong.Unless(len(ids) == 1, "%v claim victory", ids)
		return len(ids)
	})
	t := bully.Five().Run("crash 5 at 10", "recover 5 at 60").Recorded()
	both := winners(b.Run(t))
	f := reproduce.HoldsCorrected(len(both) == 1, one.Verdict == reproduce.Holds,
		"in one election, none failing: it presumes that every live process answers in time, and that none recovers; after a recovery two have won, one after the other",
		"one process claims victory, %s; after a crash and a recovery %v have", one.Measured, both)
	f.Replay = t.Replay()
	return f
}

func liveness(b *reproduce.Bench) reproduce.Finding {
	return asPrinted(b, recovery(), "with the additions; as printed, two can win at the same time, each then accepts the other, and no process starts another election")
}

func wouldBeLeader(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	runs := 0
	for n := 4; n <= 8; n++ {
		for i := uint64(1); i < uint64(n-1); i++ {
			for at := 1; at <= 5; at++ {
				t := reproduce.Among(n, "bully", bully.Printed).Starting(i).Run(fmt.Sprintf("dead %d", n), fmt.Sprintf("crash %d at %d", n-1, at))
				runs++
				r := b.Run(t)
				wrong.Unless(reproduce.End(r) == reproduce.Right && r.Leaders[0] == n-3, "%s: %s", t.Replay(), reproduce.End(r))
			}
		}
	}
	f := reproduce.HoldsUnless(wrong.First, "%d runs: the next lower one becomes leader", runs)
	f.Replay = "ringleader run --scenario s4-rule-3"
	return f
}

func wouldBeLeaderAndOthers(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	runs := 0
	for n := 4; n <= 6; n++ {
		for more := 2; more < n-1; more++ {
			for at := 1; at <= 20; at++ {
				t := reproduce.Among(n, "bully", bully.Printed).Starting(1).Run(
					fmt.Sprintf("dead %d", n), fmt.Sprintf("crash %d at 3", n-1), fmt.Sprintf("crash %d at %d", more, at))
				runs++
				r := b.Run(t)
				wrong.Unless(reproduce.End(r) == reproduce.Right, "%s: %s", t.Replay(), reproduce.End(r))
			}
		}
	}
	return reproduce.HoldsUnless(wrong.First, "%d runs: the highest live process is elected", runs)
}

func recoversInTime(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	highest, others := 0, 0
	simply := true
	var shown reproduce.Trial
	for n := 2; n <= 8; n++ {
		for p := 1; p <= n; p++ {
			faults := []string{fmt.Sprintf("crash %d at 50", p), fmt.Sprintf("recover %d at 52", p)}
			if p < n {
				faults = append(faults, "dead "+reproduce.Numbers(reproduce.UpTo(n)[p:]))
			}
			t := reproduce.Among(n, "bully").Run(faults...).Recorded()
			r := b.Run(t)
			wrong.Unless(reproduce.End(r) == reproduce.Right, "%s: %s", t.Replay(), reproduce.End(r))
			for _, s := range reproduce.Steps(r.Record, trace.Recover) {
				wrong.Unless(acts(r.Record, s), "%s: it recovers and does %+v", t.Replay(), *s)
				if p == n {
					highest++
				} else {
					others++
					simply = simply && reproduce.Leads(s)
					shown = t
				}
			}
		}
	}
	f := reproduce.HoldsCorrected(simply, wrong.First == "", "only if it is the highest of all; any other must by rule 1 ask the higher ones first, though all of them have crashed",
		"%d recoveries of the highest: it announces itself to all at once; %d of others that then become leader: each asks first", highest, others)
	if wrong.First != "" {
		f.Why = wrong.First
	}
	f.Replay = shown.Replay() + " --story"
	return f
}

func fixedSize(b *reproduce.Bench) reproduce.Finding {
	return bully.Inquiries(b, func(r *simulate.Result, wrong *reproduce.Doubt) (sent int) {
		for i := range r.Record.Steps {
			for _, m := range r.Record.Steps[i].Sent {
				sent++
				wrong.Unless(m.Text == "", "%s carries %s", m.Kind, m.Text)
			}
		}
		return sent
	})
}

// highestDead runs n processes of which the highest is dead and one starts.
func highestDead(b *reproduce.Bench, n int, start uint64) *simulate.Result {
	return b.Run(reproduce.Among(n, "bully").Starting(start).Run(fmt.Sprintf("dead %d", n)))
}

// worst are the most messages under any schedule, none failing. Each question is answered then.
func worst(b *reproduce.Bench, wrong *reproduce.Doubt, p reproduce.Proof) *verify.Messages {
	report, violation := b.Prove(p)
	wrong.Unless(violation == "" && report.MaxMessages != nil, "%s: %s", p.Replay(), violation)
	if report.MaxMessages == nil {
		return &verify.Messages{}
	}
	return report.MaxMessages
}

func lowestInitiates(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	for n := 2; n <= 10; n++ {
		most := uint64(1 << 32)
		for i := 1; i < n; i++ {
			r := highestDead(b, n, uint64(i))
			wrong.Unless(reproduce.End(r) == reproduce.Right && r.Messages.Total < most, "%d initiates of %d: %d messages, %s", i, n, r.Messages.Total, reproduce.End(r))
			most = r.Messages.Total
		}
	}
	alone := worst(b, &wrong, reproduce.Proof{Subject: reproduce.Among(3, "bully").Starting(1)})
	s := reproduce.Among(3, "bully")
	s.AnyTime = true
	any := worst(b, &wrong, reproduce.Proof{Subject: s})
	f := reproduce.HoldsCorrected(any.Total <= alone.Total, wrong.First == "", "of processes that initiate alone; if several may initiate, at different times, there are more",
		"2 to 10 processes: the lower the initiator, the more messages; of 3 at most %d if 1 initiates, %d if any may", alone.Total, any.Total)
	if wrong.First != "" {
		f.Why = wrong.First
	}
	f.Replay = "ringleader verify bully --n 3 --start any"
	return f
}

// doubling is a run among n processes in which each gets twice as many questions as the one before it, and holds an
// election for each: what j sends takes 4·2^(j-1) units, and what the highest sends takes one, so that all have heard
// of the coordinator again before the next question comes. That is within S4's assumptions, as no message takes longer
// than the delay that all reckon with.
func doubling(n int) reproduce.Trial {
	t := reproduce.Among(n, "bully", bully.Printed, fmt.Sprintf("delay=%d", 4<<n)).Starting(1).Run()
	for j := 1; j < n; j++ {
		t.Faults = append(t.Faults, fmt.Sprintf("slow %d by %d", j, 2<<j))
	}
	return bully.Slow(t, 1)
}

// theta finds what some messages cost in S4's case, where all messages take one unit, the highest is dead and the
// lowest starts; and what they cost where processes are asked one after the other. Up to N(N - 1) of a kind are
// what N² stands for; all kinds together may be twice as many.
func theta(b *reproduce.Bench, what string, of func(m outcome.Messages) uint64, stated, doubled func(n int) int) reproduce.Finding {
	var wrong reproduce.Doubt
	for n := 2; n <= 10; n++ {
		r := b.Run(reproduce.Among(n, "bully", bully.Printed).Starting(1).Run(fmt.Sprintf("dead %d", n)))
		wrong.Unless(reproduce.End(r) == reproduce.Right && of(r.Messages) == uint64(stated(n)), "N = %d: %d %s, %s", n, of(r.Messages), what, reproduce.End(r))
	}
	var shown *reproduce.Trial
	var most uint64
	quadratic, doubles := true, true
	for n := 2; n <= 10; n++ {
		t := doubling(n)
		r := b.Run(t)
		most = of(r.Messages)
		wrong.Unless(reproduce.End(r) == reproduce.Right, "N = %d: %s", n, reproduce.End(r))
		quadratic = quadratic && most <= uint64(2*n*(n-1))
		doubles = doubles && most == uint64(doubled(n))
		if n == 5 {
			shown = &t
		}
	}
	wrong.Unless(quadratic, "by rule 4 a process that has heard of the coordinator starts another election for each later question; if they come one after "+
		"the other, process j holds 2^(j-2), twice as many as the one before it")
	f := reproduce.HoldsUnless(wrong.First, "N = 10: %d %s in S4's case; %d where one is asked after the other; and for N = 2 … 10 twice as many for each process more: %v",
		stated(10), what, most, doubles)
	if f.Verdict == reproduce.Holds {
		f.Verdict, f.Why = reproduce.Unchecked, reproduce.EverySize
	}
	f.Replay = shown.Replay()
	return f
}

func electionTheta(b *reproduce.Bench) reproduce.Finding {
	return theta(b, "election messages", func(m outcome.Messages) uint64 { return m.ByKind[bully.Election] },
		func(n int) int { return n * (n - 1) / 2 }, func(n int) int { return 1<<(n-1) - 1 })
}

func aliveTheta(b *reproduce.Bench) reproduce.Finding {
	return theta(b, "answers", func(m outcome.Messages) uint64 { return m.ByKind[bully.Answer] },
		func(n int) int { return (n - 1) * (n - 2) / 2 }, func(n int) int { return 1<<(n-1) - 1 })
}

func totalTheta(b *reproduce.Bench) reproduce.Finding {
	return theta(b, "messages", func(m outcome.Messages) uint64 { return m.Total },
		func(n int) int { return n * (n - 1) }, func(n int) int { return 1<<n - 2 + (n-1)*1<<(n-2) })
}

func worstOfFive(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	most := worst(b, &wrong, reproduce.Proof{Subject: reproduce.Among(5, "bully", bully.Printed).Starting(1)})
	wrong.Unless(most.Election <= 20, "questions and answers are more than N(N-1) = 20, though all messages take one unit")
	f := reproduce.HoldsUnless(wrong.First, "at most %d questions and answers, %d messages in all", most.Election, most.Total)
	f.Replay = "ringleader verify bully --n 5 --start 1 --param bullying=no"
	return f
}

func coordinatorTheta(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	linear, last := true, uint64(0)
	for n := 2; n <= 10; n++ {
		sent := highestDead(b, n, 1).Messages.ByKind[bully.Coordinator]
		wrong.Unless(sent == uint64(n-1), "N = %d, the highest crashed: %d coordinator messages", n, sent)
		r := b.Run(reproduce.Among(n, "bully").Starting(1).Run().Recorded())
		victories := 0
		for i := range r.Record.Steps {
			if reproduce.Leads(&r.Record.Steps[i]) {
				victories++
			}
		}
		last = r.Messages.ByKind[bully.Coordinator]
		wrong.Unless(last == uint64(victories*(n-1)), "N = %d: %d coordinator messages, %d victories", n, last, victories)
		linear = linear && last == uint64(n-1)
	}
	f := reproduce.HoldsCorrected(linear, wrong.First == "", "for each victory: the highest, asked by all the others, has to rule 4 not started an election, and wins again for each",
		"N = 10: 9 if the highest has crashed, %d if it is live", last)
	if wrong.First != "" {
		f.Why = wrong.First
	}
	f.Replay = "ringleader run bully --n 10 --start 1"
	return f
}
