package reproduce

import (
	"fmt"
	"slices"

	bullying "ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify"
)

// s4Analysis are the statements on safety, liveness and messages.
var s4Analysis = []Row{
	{
		Where: "safety", Claim: "all processes that elect a leader elect the same, when no election is under way",
		How: "every schedule of 3 processes, delay 1, victory=lower, one crash and one recovery, every set starting: as printed, and with the additions", Check: safety,
	},
	{
		Where: "safety, without recoveries", Claim: "the same, where processes crash and stay away",
		How: "every schedule of 3 processes, as printed, two crashes; the victory told to all others, or to the lower ones", Check: safetyOfCrashes,
	},
	{
		Where: "safety, with its timing", Claim: "nobody below a live process ever wins: there are no two leaders at any time",
		How: "every schedule of 2 and 3, as printed, who start at any time, none failing, and wait for 2·delay + 1; delays 1 and 2", Check: safetyInTime,
	},
	{
		Where: "safety, without its timing", Claim: "the same, where an answer may take as long as one waits for it",
		How: "every schedule of 3 processes, delay 2, as printed, who waits for 2·delay to the moment, every set starting", Check: safetyOutOfTime,
	},
	{
		Where: "safety, proof", Claim: "no two processes both send coordinator messages, as the lower of the two never does",
		How: "who claims victory: 2 to 5 processes, every set of dead ones, every set of the others starting; and with a crash and a recovery", Check: safetyProof,
	},
	{
		Where: "liveness", Claim: "guaranteed in the synchronous crash-recovery model",
		How: "every schedule of 3 processes, delay 1, one crash and one recovery, every set starting: as printed, and with the additions", Check: liveness,
	},
	{
		Where: "liveness, would-be leader", Claim: "if the would-be leader dies between answer and victory, one of the lower becomes leader",
		How: "4 to 8 processes, the highest dead, each lower one starting: the next dies at each time until its victory", Check: wouldBeLeader,
	},
	{
		Where: "liveness, others crash", Claim: "even if some of the others crash",
		How: "these runs of 4 to 6, in which one more dies at each time up to 20", Check: wouldBeLeaderAndOthers,
	},
	{
		Where: "liveness, recovery in time", Claim: "if it recovers in time, it simply sends a coordinator message to all",
		How: "2 to 8 processes: what each does when it recovers, the higher ones living or dead", Check: recoversInTime,
	},
	{
		Where: "bandwidth, fixed size", Claim: "messages are of a fixed size",
		How: "what the messages of bully carry, in runs of 2 to 5 processes", Check: fixedSize,
	},
	{
		Where: "bandwidth, lowest initiates", Claim: "the most messages are sent when the lowest initiates",
		How: "2 to 10 processes, the highest dead, each starting alone; every schedule of 3, who starts, and when", Check: lowestInitiates,
	},
	{
		Where: "bandwidth, Θ(N²) election messages", Claim: "N-1 + N-2 + …: Θ(N²) election messages",
		How: "runs of 2 to 10 as printed, the highest dead, the lowest starting; and such in which questions come one after the other", Check: electionTheta,
	},
	{
		Where: "bandwidth, Θ(N²) alive messages", Claim: "Θ(N²) alive messages",
		How: "the same runs", Check: aliveTheta,
	},
	{
		Where: "bandwidth, Θ(N) coordinator messages", Claim: "Θ(N) coordinator messages",
		How: "runs of 2 to 10, the lowest starting: the highest dead, and alive", Check: coordinatorTheta,
	},
	{
		Where: "bandwidth, Θ(N²) overall", Claim: "Θ(N²) messages overall in the worst case",
		How: "the same runs", Check: totalTheta,
	},
	{
		Where: "bandwidth, Θ(N²) overall, five", Claim: "Θ(N²) messages overall: at most N(N-1) questions and answers", Thorough: true,
		How: "every schedule of 5 as printed, delay 1, none failing, the lowest starting", Check: worstOfFive,
	},
}

// recovery is the model that S4 is said to be safe and live in.
func recovery(set ...string) proof {
	return proof{subject: among(3, "bully", set...), everySet: true, crashes: 1, recoveries: 1}
}

func safety(b *Bench) Finding {
	return b.asPrinted(recovery("victory=lower"), "if lower coordinators are contested: a deposed one's message, or a premature one's, would be believed for ever")
}

func safetyOfCrashes(b *Bench) Finding {
	var wrong doubt
	states := 0
	for _, victory := range []string{"others", "lower"} {
		report, violation := b.prove(proof{subject: among(3, "bully", printed, "victory="+victory), crashes: 2})
		states += report.States
		wrong.unless(violation == "", "victory=%s: %s", victory, violation)
	}
	return holdsUnless(wrong.first, "%d states: all agree in the end", states)
}

func safetyInTime(b *Bench) Finding {
	var wrong doubt
	states := 0
	for _, size := range []struct{ n, delay int }{{2, 1}, {3, 1}, {2, 2}, {3, 2}} {
		s := among(size.n, "bully", printed, fmt.Sprintf("delay=%d", size.delay))
		s.anyTime = true
		report, violation := b.prove(proof{subject: s})
		states += report.States
		wrong.unless(violation == "", "%d processes, delay %d: %s", size.n, size.delay, violation)
	}
	return holdsUnless(wrong.first, "%d states: the highest alone leads, ever", states)
}

func safetyOutOfTime(b *Bench) Finding {
	in, out := proof{subject: among(3, "bully", printed, "delay=2"), everySet: true}, proof{subject: among(3, "bully", printed, "delay=2", "answer-timeout=4"), everySet: true}
	_, violation := b.prove(in)
	report, without := b.prove(out)
	contradiction := without
	if violation != "" {
		contradiction = "with its timing, too: " + violation
	}
	f := holdsUnless(contradiction, "T1 = 2·delay + 1: %s; T1 = 2·delay: %s", orHolds(violation), orHolds(without))
	if report.Violation != nil {
		f.Why += fmt.Sprintf(", in %d steps", len(report.Violation.Record.Steps))
	}
	f.Replay = out.replay()
	return f
}

// winners are the identifiers of those that claim victory in a run, each once.
func winners(r *simulate.Result) (ids []uint64) {
	for i := range r.Record.Steps {
		if s := &r.Record.Steps[i]; len(sentOf(s, "coordinator")) > 0 && !slices.Contains(ids, r.Record.IDs[s.Process]) {
			ids = append(ids, r.Record.IDs[s.Process])
		}
	}
	return ids
}

func safetyProof(b *Bench) Finding {
	one := b.inquiries(func(r *simulate.Result, wrong *doubt) int {
		ids := winners(r)
		wrong.unless(len(ids) == 1, "%v claim victory", ids)
		return len(ids)
	})
	t := five().run("crash 5 at 10", "recover 5 at 60").recorded()
	both := winners(b.run(t))
	f := holdsCorrected(len(both) == 1, one.Verdict == Holds,
		"in one election, none failing: it presumes that every live process answers in time, and that none comes back; after a recovery two have won, one after the other",
		"one process claims victory, %s; after a crash and a recovery %v have", one.Measured, both)
	f.Replay = t.replay()
	return f
}

func liveness(b *Bench) Finding {
	return b.asPrinted(recovery(), "with the additions; as printed, two can win at a time, each believes the other then, and nobody holds another election")
}

func wouldBeLeader(b *Bench) Finding {
	var wrong doubt
	runs := 0
	for n := 4; n <= 8; n++ {
		for i := uint64(1); i < uint64(n-1); i++ {
			for at := 1; at <= 5; at++ {
				t := among(n, "bully", printed).starting(i).run(fmt.Sprintf("dead %d", n), fmt.Sprintf("crash %d at %d", n-1, at))
				runs++
				r := b.run(t)
				wrong.unless(end(r) == right && r.Leaders[0] == n-3, "%s: %s", t.replay(), end(r))
			}
		}
	}
	f := holdsUnless(wrong.first, "%d runs: the next lower one leads", runs)
	f.Replay = "ringleader run --scenario s4-rule-3"
	return f
}

func wouldBeLeaderAndOthers(b *Bench) Finding {
	var wrong doubt
	runs := 0
	for n := 4; n <= 6; n++ {
		for more := 2; more < n-1; more++ {
			for at := 1; at <= 20; at++ {
				t := among(n, "bully", printed).starting(1).run(
					fmt.Sprintf("dead %d", n), fmt.Sprintf("crash %d at 3", n-1), fmt.Sprintf("crash %d at %d", more, at))
				runs++
				r := b.run(t)
				wrong.unless(end(r) == right, "%s: %s", t.replay(), end(r))
			}
		}
	}
	return holdsUnless(wrong.first, "%d runs: the highest that is left leads", runs)
}

func recoversInTime(b *Bench) Finding {
	var wrong doubt
	highest, others := 0, 0
	simply := true
	var shown trial
	for n := 2; n <= 8; n++ {
		for p := 1; p <= n; p++ {
			faults := []string{fmt.Sprintf("crash %d at 50", p), fmt.Sprintf("recover %d at 52", p)}
			if p < n {
				faults = append(faults, "dead "+numbers(upTo(n)[p:]))
			}
			t := among(n, "bully").run(faults...).recorded()
			r := b.run(t)
			wrong.unless(end(r) == right, "%s: %s", t.replay(), end(r))
			for _, s := range steps(r.Record, trace.Recover) {
				wrong.unless(acts(r.Record, s), "%s: it recovers and does %+v", t.replay(), *s)
				if p == n {
					highest++
				} else {
					others++
					simply = simply && leads(s)
					shown = t
				}
			}
		}
	}
	f := holdsCorrected(simply, wrong.first == "", "only if it is the highest of all; any other, though all above it are dead, must by rule 1 ask them first",
		"%d recoveries of the highest: it tells all at once; %d of others that then lead: each asks first", highest, others)
	if wrong.first != "" {
		f.Why = wrong.first
	}
	f.Replay = shown.replay() + " --story"
	return f
}

func fixedSize(b *Bench) Finding {
	return b.inquiries(func(r *simulate.Result, wrong *doubt) (sent int) {
		for i := range r.Record.Steps {
			for _, m := range r.Record.Steps[i].Sent {
				sent++
				wrong.unless(m.Text == "", "%s carries %s", m.Kind, m.Text)
			}
		}
		return sent
	})
}

// highestDead runs n processes of which the highest is dead and one starts.
func (b *Bench) highestDead(n int, start uint64) *simulate.Result {
	return b.run(among(n, "bully").starting(start).run(fmt.Sprintf("dead %d", n)))
}

// worst are the most messages under any schedule, none failing. Each question is answered then.
func (b *Bench) worst(wrong *doubt, p proof) *verify.Messages {
	report, violation := b.prove(p)
	wrong.unless(violation == "" && report.MaxMessages != nil, "%s: %s", p.replay(), violation)
	if report.MaxMessages == nil {
		return &verify.Messages{}
	}
	return report.MaxMessages
}

func lowestInitiates(b *Bench) Finding {
	var wrong doubt
	for n := 2; n <= 10; n++ {
		most := uint64(1 << 32)
		for i := 1; i < n; i++ {
			r := b.highestDead(n, uint64(i))
			wrong.unless(end(r) == right && r.Messages.Total < most, "%d starts of %d: %d messages, %s", i, n, r.Messages.Total, end(r))
			most = r.Messages.Total
		}
	}
	alone := b.worst(&wrong, proof{subject: among(3, "bully").starting(1)})
	s := among(3, "bully")
	s.anyTime = true
	any := b.worst(&wrong, proof{subject: s})
	f := holdsCorrected(any.Total <= alone.Total, wrong.first == "", "of processes that start alone; where several may start, at different times, there are more",
		"2 to 10 processes: the lower the one that starts, the more messages; of 3 at most %d if 1 starts, %d if any may", alone.Total, any.Total)
	if wrong.first != "" {
		f.Why = wrong.first
	}
	f.Replay = "ringleader verify bully --n 3 --start any"
	return f
}

// doubling is a run among n processes in which each gets twice as many questions as the one before it, and holds an
// election for each: what j sends takes 4·2^(j-1) units, and what the highest sends takes one, so that all have heard
// of the coordinator again before the next question comes. That is within S4's assumptions, as no message takes longer
// than the delay that all reckon with.
func doubling(n int) trial {
	t := among(n, "bully", printed, fmt.Sprintf("delay=%d", 4<<n)).starting(1).run()
	for j := 1; j < n; j++ {
		t.faults = append(t.faults, fmt.Sprintf("slow %d by %d", j, 2<<j))
	}
	return slow(t, 1)
}

// theta finds what some messages cost in S4's case, where all messages take one unit, the highest is dead and the
// lowest starts; and what they cost where processes are asked one after the other. Up to N(N - 1) of a kind are
// what N² stands for; all kinds together may be twice as many.
func (b *Bench) theta(what string, of func(m election.Messages) uint64, stated, doubled func(n int) int) Finding {
	var wrong doubt
	for n := 2; n <= 10; n++ {
		r := b.run(among(n, "bully", printed).starting(1).run(fmt.Sprintf("dead %d", n)))
		wrong.unless(end(r) == right && of(r.Messages) == uint64(stated(n)), "N = %d: %d %s, %s", n, of(r.Messages), what, end(r))
	}
	var shown *trial
	var most uint64
	quadratic, doubles := true, true
	for n := 2; n <= 10; n++ {
		t := doubling(n)
		r := b.run(t)
		most = of(r.Messages)
		wrong.unless(end(r) == right, "N = %d: %s", n, end(r))
		quadratic = quadratic && most <= uint64(2*n*(n-1))
		doubles = doubles && most == uint64(doubled(n))
		if n == 5 {
			shown = &t
		}
	}
	wrong.unless(quadratic, "by rule 4 who has heard of the coordinator holds another election for each question that comes later; if they come one after "+
		"the other, process j holds 2^(j-2), twice as many as the one before it")
	f := holdsUnless(wrong.first, "N = 10: %d %s in S4's case; %d where one is asked after the other; and for N = 2 … 10 twice as many for each process more: %v",
		stated(10), what, most, doubles)
	if f.Verdict == Holds {
		f.Verdict, f.Why = Unchecked, everySize
	}
	f.Replay = shown.replay()
	return f
}

func electionTheta(b *Bench) Finding {
	return b.theta("election messages", func(m election.Messages) uint64 { return m.ByKind[bullying.Election] },
		func(n int) int { return n * (n - 1) / 2 }, func(n int) int { return 1<<(n-1) - 1 })
}

func aliveTheta(b *Bench) Finding {
	return b.theta("answers", func(m election.Messages) uint64 { return m.ByKind[bullying.Answer] },
		func(n int) int { return (n - 1) * (n - 2) / 2 }, func(n int) int { return 1<<(n-1) - 1 })
}

func totalTheta(b *Bench) Finding {
	return b.theta("messages", func(m election.Messages) uint64 { return m.Total },
		func(n int) int { return n * (n - 1) }, func(n int) int { return 1<<n - 2 + (n-1)*1<<(n-2) })
}

func worstOfFive(b *Bench) Finding {
	var wrong doubt
	most := b.worst(&wrong, proof{subject: among(5, "bully", printed).starting(1)})
	wrong.unless(most.Election <= 20, "questions and answers are more than N(N-1) = 20, though all messages take one unit")
	f := holdsUnless(wrong.first, "at most %d questions and answers, %d messages in all", most.Election, most.Total)
	f.Replay = "ringleader verify bully --n 5 --start 1 --param bullying=no"
	return f
}

func coordinatorTheta(b *Bench) Finding {
	var wrong doubt
	linear, last := true, uint64(0)
	for n := 2; n <= 10; n++ {
		told := b.highestDead(n, 1).Messages.ByKind[bullying.Coordinator]
		wrong.unless(told == uint64(n-1), "N = %d, the highest dead: %d coordinator messages", n, told)
		r := b.run(among(n, "bully").starting(1).run().recorded())
		victories := 0
		for i := range r.Record.Steps {
			if leads(&r.Record.Steps[i]) {
				victories++
			}
		}
		last = r.Messages.ByKind[bullying.Coordinator]
		wrong.unless(last == uint64(victories*(n-1)), "N = %d: %d coordinator messages, %d victories", n, last, victories)
		linear = linear && last == uint64(n-1)
	}
	f := holdsCorrected(linear, wrong.first == "", "for each victory: the highest, asked by all the others, has to rule 4 not started an election, and wins again for each",
		"N = 10: 9 if the highest is dead, %d if it lives", last)
	if wrong.first != "" {
		f.Why = wrong.first
	}
	f.Replay = "ringleader run bully --n 10 --start 1"
	return f
}
