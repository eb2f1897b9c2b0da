//go:build !race

package reproduce

import (
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/knownsize"
	"ringleader.example/ringleader/algorithms/stopandgo"
	"ringleader.example/ringleader/algorithms/variablespeeds"
	"ringleader.example/ringleader/election"
)

// s5NotSimplyHolding is what is found of S5 where a statement does not simply hold.
var s5NotSimplyHolding = map[string]Verdict{
	"section 1, [2]":                            Unchecked,
	"section 1, [3, 7]":                         Unchecked,
	"section 1, [4, 8]":                         Unchecked,
	"section 1, (i)":                            Unchecked,
	"section 1, (ii)":                           Unchecked,
	"section 1, the question":                   Unchecked,
	"section 2, O(i·n) time":                    Unchecked,
	"section 2, upper bound N":                  Unchecked,
	"section 5, t and h_t":                      Unchecked,
	"Theorem 5.1, (P1), time":                   Unchecked,
	"Theorem 5.1, (P1), messages":               Unchecked,
	"Theorem 5.1, (P2), time":                   Unchecked,
	"Theorem 5.1, (P2), messages":               Unchecked,
	"Theorem 5.1, (P3), time":                   Unchecked,
	"Theorem 5.1, (P3), messages":               Unchecked,
	"Theorem 5.1, (P4), time":                   Unchecked,
	"Theorem 5.1, (P4), messages":               Unchecked,
	"section 2, n + 1 messages":                 Corrected,
	"section 3, the loop":                       Corrected,
	"section 3, variables":                      Corrected,
	"section 3, no message":                     Corrected,
	"section 3, send (i, h_m, w+1)":             Corrected,
	"section 3, until the election is finished": Corrected,
	"Theorem 4.2, decides":                      Corrected,
	"Lemma 4.4, the sum to n":                   Corrected,
	"Lemma 4.5, proof, phase 1":                 Corrected,
	"Lemma 4.5, proof, last line":               Corrected,
	"Theorem 4.3, less than":                    Corrected,
	"section 5, (P4)":                           Corrected,
	"Theorem 5.1, (P4), every c":                Corrected,
	"Theorem 5.1, proof, (P1)":                  Corrected,
	"Theorem 5.1, proof, (P2)":                  Corrected,
	"Theorem 5.1, proof, (P3)":                  Corrected,
	"Theorem 5.1, proof, (P4)":                  Corrected,
	"section 5, whole numbers":                  Corrected,
}

func quickS5() []Row {
	return slices.DeleteFunc(slices.Clone(s5), func(r Row) bool { return r.Thorough })
}

func TestTheVerdictsOnS5(t *testing.T) {
	seen := 0
	for r := range run(t.Context(), quickS5(), 1, library) {
		want, listed := s5NotSimplyHolding[r.Where]
		if listed {
			seen++
		}
		if r.Err != nil || r.Verdict != want || r.Measured == "" || (r.Why == "") != (r.Verdict == Holds) {
			t.Errorf("%s: %s %s, %s, %v; want: %s", r.Where, r.Verdict, r.Why, r.Measured, r.Err, want)
		}
	}
	if seen != len(s5NotSimplyHolding) {
		t.Errorf("%d rows do not simply hold, want %d", seen, len(s5NotSimplyHolding))
	}
}

func TestWhatS5StatesHasARow(t *testing.T) {
	for _, where := range []string{
		"section 1, [3, 7]", "section 1, [2]", "section 1, [4, 8]", "section 1, (i)", "section 1, (ii)", "section 1, positive numbers",
		"section 2, correctness", "section 2, n + 1 messages", "section 2, upper bound N", "section 2, without (b)",
		"section 3, phase 0", "section 3, end of phase 1", "section 3, the loop", "section 3, variables", "section 3, no message",
		"section 3, send (i, h_m, w+1)", "section 3, until the election is finished",
		"section 4, observation (1)", "section 4, observation (2)", "section 4, observation (3)", "section 4, observation (4)",
		"Theorem 4.1", "Theorem 4.2", "Theorem 4.2, decides", "Theorem 4.3", "Theorem 4.3, less than", "Lemma 4.4", "Theorem 4.3, proof, black",
		"Theorem 4.3, proof, white and red", "Theorem 4.3, proof, case 1", "Theorem 4.3, proof, id(2) in case 1", "Theorem 4.3, proof, case 2",
		"Theorem 4.3, proof, pairs", "Theorem 4.3, proof, all considered", "Theorem 4.3, proof, the sum", "Lemma 4.4, the sum to n",
		"Lemma 4.5", "Lemma 4.5, proof, phase 1", "Lemma 4.5, proof, last line",
		"section 5, (P4)", "Theorem 5.1, (P1), time", "Theorem 5.1, (P1), messages", "Theorem 5.1, (P2), time", "Theorem 5.1, (P2), messages",
		"Theorem 5.1, (P3), time", "Theorem 5.1, (P3), messages", "Theorem 5.1, (P4), time", "Theorem 5.1, (P4), messages",
		"Theorem 5.1, (P4), every c", "Theorem 5.1, proof, (P2)", "Theorem 5.1, proof, (P3)", "Theorem 5.1, proof, (P4)",
	} {
		if !slices.ContainsFunc(quickS5(), func(r Row) bool { return r.Where == where }) {
			t.Errorf("no quick row is about %s", where)
		}
	}
}

// stopAndGoWrong are errors in the scheme that are easily made.
func stopAndGoWrong() []mutant {
	type process = stopandgo.Process
	type message = stopandgo.Message
	early := stopandgo.P2 // an identity leaves a unit too early
	early.Receive = func(p *process, port election.Port, kind election.Kind, m message, out *election.Out[message]) {
		p.Receive(port, kind, m, out)
		if kind == stopandgo.Started && p.Stands {
			out.After(stopandgo.Stop, election.Units(2*uint64(p.ID)-1))
		}
	}
	own := stopandgo.P1 // send <i, h_m, w+1>
	own.Receive = func(p *process, port election.Port, kind election.Kind, m message, out *election.Out[message]) {
		if kind == stopandgo.Identity && m.ID != p.ID && (p.Best == 0 || m.ID < p.Best) && election.Units(uint64(m.Walked)).Less(p.Hypotheses[m.Phase-1]) {
			p.Best, p.Waiting = m.ID, 0
			out.Stop(stopandgo.Stop)
			out.Send(stopandgo.Right, stopandgo.Identity, message{ID: p.ID, Phase: m.Phase, Walked: m.Walked + 1})
			return
		}
		p.Receive(port, kind, m, out)
	}
	return []mutant{plant(early, "an identity leaves too early"), plant(own, "sends its own identity on")}
}

func TestAPlantedErrorTurnsAVerdictOnS5(t *testing.T) {
	mutants := stopAndGoWrong()
	for _, more := range [][]mutant{
		crude(stopandgo.P1), crude(stopandgo.P2), crude(stopandgo.P3), crude(stopandgo.P4), crude(knownsize.Algorithm)[1:], crude(variablespeeds.Algorithm)[1:],
		crude(knownsize.Algorithm)[:1],
	} {
		mutants = append(mutants, more...)
	}
	for _, m := range mutants {
		turned := false
		for r := range run(t.Context(), quickS5(), 1, m.shelf()) {
			if turned = r.Err != nil || r.Verdict != s5NotSimplyHolding[r.Where]; turned {
				break
			}
		}
		if !turned {
			t.Errorf("%s %s, and no verdict turns", m.algorithm, m.is)
		}
	}
}

// A slip is one if the loop goes another way with it.
func TestTheLoopWithoutASlipElects(t *testing.T) {
	a := &awakening{subject: subject{ids: []uint64{5, 2, 7, 1, 8, 3, 6, 4}}}
	h := []uint64{2, 4, 8}
	l := loop(a, h, none, longest)
	if !slices.Equal(l.byPhase, []uint64{8, 5, 2, 4}) || !slices.Equal(l.leaders, []uint64{1}) || l.elected != 25 || l.quiet != 33 || l.announced != 8 || l.ended != 8 {
		t.Errorf("%+v", l)
	}
}

// stopAndGoWild are errors in the scheme by which identities meet that S5's proof keeps apart.
func stopAndGoWild() (all []mutant) {
	type process = stopandgo.Process
	type message = stopandgo.Message
	waits := func(is string, units func(p *process) uint64) {
		a := stopandgo.P1
		a.Receive = func(p *process, port election.Port, kind election.Kind, m message, out *election.Out[message]) {
			p.Receive(port, kind, m, out)
			if kind == stopandgo.Started && p.Stands {
				out.After(stopandgo.Stop, election.Units(units(p)))
			}
		}
		all = append(all, plant(a, is))
	}
	waits("an identity waits one unit, however large it is", func(*process) uint64 { return 1 })
	waits("an identity waits the longer the smaller it is", func(p *process) uint64 { return 100 - 2*uint64(p.ID) })
	waits("an identity waits half as long", func(p *process) uint64 { return uint64(p.ID) })
	forgets := stopandgo.P1
	forgets.Receive = func(p *process, port election.Port, kind election.Kind, m message, out *election.Out[message]) {
		if kind == stopandgo.Identity && m.ID != p.ID {
			p.Best = 0
		}
		p.Receive(port, kind, m, out)
	}
	return append(all, plant(forgets, "a processor forgets the best identity"))
}

func TestEachStepOfTheProofOfTheorem43HasARowThatAnErrorTurns(t *testing.T) {
	mutants := stopAndGoWild()
	for _, row := range quickS5() {
		if !strings.HasPrefix(row.Where, "Theorem 4.3, proof") && row.Where != "Lemma 4.5" {
			continue
		}
		turned := false
		for _, m := range mutants {
			r := check(t.Context(), row, m.shelf())
			if turned = r.Err == nil && r.Verdict == Fails && !strings.Contains(r.Measured, "cannot check"); turned {
				break
			}
		}
		if !turned {
			t.Errorf("%s: no error turns it", row.Where)
		}
	}
}
