package reproduce

import (
	"slices"

	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// bullyTrials yields the runs of 2 to most processes, every set of the dead; and of the
// others every set, or each alone, starts; until something is wrong.
func bullyTrials(wrong *doubt, most int, alone bool) func(func(trial) bool) {
	return func(yield func(trial) bool) {
		for n := 2; n <= most; n++ {
			for living := range subsets(upTo(n)) {
				var faults []string
				if len(living) < n {
					faults = []string{"dead " + numbers(without(upTo(n), living))}
				}
				for start := range subsets(living) {
					if alone && len(start) > 1 {
						continue
					}
					if wrong.first != "" || !yield(among(n, "bully").starting(start...).run(faults...)) {
						return
					}
				}
			}
		}
	}
}

func highestLives(b *Bench) Finding {
	var wrong doubt
	runs := 0
	for t := range bullyTrials(&wrong, 6, true) {
		runs++
		r := b.run(t)
		wrong.unless(end(r) == right, "%s: %s", t.replay(), end(r))
	}
	return holdsUnless(wrong.first, "%d runs: the highest that lives leads", runs)
}

// inquiries are the runs that steps 2 to 4 are looked at in; each is checked as a whole.
func (b *Bench) inquiries(look func(r *simulate.Result, wrong *doubt) (looked int)) Finding {
	var wrong doubt
	runs, looked := 0, 0
	for t := range bullyTrials(&wrong, 5, false) {
		runs++
		r := b.run(t.recorded())
		wrong.unless(end(r) == right, "%s: %s", t.replay(), end(r))
		looked += look(r, &wrong)
	}
	wrong.unless(looked > 0, "it never happens")
	return holdsUnless(wrong.first, "%d times in %d runs", looked, runs)
}

// waiters looks at what processes do between the first answer to their question and the next victory.
func waiters(r *simulate.Result, wrong *doubt) (gaveUp int) {
	waits := make([]bool, r.Record.N)
	for i := range r.Record.Steps {
		s := &r.Record.Steps[i]
		p := s.Process
		asked := len(sentOf(s, "election")) > 0
		switch {
		case s.Event == trace.Receive && s.Kind == "coordinator":
			waits[p] = false
		case s.Event == trace.Receive && s.Kind == "answer" && s.From-1 > p:
			if !waits[p] && slices.ContainsFunc(s.Timers, func(t trace.Timer) bool { return t.After == nil }) {
				waits[p] = true
				gaveUp++
			}
		}
		if waits[p] {
			wrong.unless(!asked && len(sentOf(s, "coordinator")) == 0 && len(s.Decided) == 0, "%d of %d was answered, and does %+v", p+1, r.Record.N, *s)
		}
	}
	return gaveUp
}

func bullyStep3(b *Bench) Finding { return b.inquiries(waiters) }

