// Package bully runs the Bully algorithm for the rows of S2 and S4, which both describe it.
package bully

import (
	"slices"

	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// bullyTrials yields the runs of 2 to most processes, every set of crashed processes; and of the
// others every set, or each alone, starts; until something is wrong.
func bullyTrials(wrong *reproduce.Doubt, most int, alone bool) func(func(reproduce.Trial) bool) {
	return func(yield func(reproduce.Trial) bool) {
		for n := 2; n <= most; n++ {
			for live := range reproduce.Subsets(reproduce.UpTo(n)) {
				var faults []string
				if len(live) < n {
					faults = []string{"dead " + reproduce.Numbers(reproduce.Without(reproduce.UpTo(n), live))}
				}
				for start := range reproduce.Subsets(live) {
					if alone && len(start) > 1 {
						continue
					}
					if wrong.First != "" || !yield(reproduce.Among(n, "bully").Starting(start...).Run(faults...)) {
						return
					}
				}
			}
		}
	}
}

// HighestLives finds that the highest process that lives leads.
func HighestLives(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	runs := 0
	for t := range bullyTrials(&wrong, 6, true) {
		runs++
		r := b.Run(t)
		wrong.Unless(reproduce.End(r) == reproduce.Right, "%s: %s", t.Replay(), reproduce.End(r))
	}
	return reproduce.HoldsUnless(wrong.First, "%d runs: the highest live process is elected", runs)
}

// Inquiries are the runs that steps 2 to 4 are looked at in; each is checked as a whole.
func Inquiries(b *reproduce.Bench, look func(r *simulate.Result, wrong *reproduce.Doubt) (looked int)) reproduce.Finding {
	var wrong reproduce.Doubt
	runs, looked := 0, 0
	for t := range bullyTrials(&wrong, 5, false) {
		runs++
		r := b.Run(t.Recorded())
		wrong.Unless(reproduce.End(r) == reproduce.Right, "%s: %s", t.Replay(), reproduce.End(r))
		looked += look(r, &wrong)
	}
	wrong.Unless(looked > 0, "it never happens")
	return reproduce.HoldsUnless(wrong.First, "%d cases in %d runs", looked, runs)
}

// waiters looks at what processes do between the first answer to their question and the next victory.
func waiters(r *simulate.Result, wrong *reproduce.Doubt) (gaveUp int) {
	waits := make([]bool, r.Record.N)
	for i := range r.Record.Steps {
		s := &r.Record.Steps[i]
		p := s.Process
		asked := len(reproduce.SentOf(s, "election")) > 0
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
			wrong.Unless(!asked && len(reproduce.SentOf(s, "coordinator")) == 0 && len(s.Decided) == 0, "%d of %d was answered, and does %+v", p+1, r.Record.N, *s)
		}
	}
	return gaveUp
}

// Step3 finds that a process that is answered gives up and waits.
func Step3(b *reproduce.Bench) reproduce.Finding { return Inquiries(b, waiters) }
