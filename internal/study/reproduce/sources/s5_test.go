//go:build !race

package sources_test

import (
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/knownsize"
	"ringleader.example/ringleader/algorithms/stopandgo"
	"ringleader.example/ringleader/algorithms/variablespeeds"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/study/reproduce"
)

// s5NotSimplyHolding is what is found of S5 where a statement does not simply hold.
var s5NotSimplyHolding = map[string]reproduce.Verdict{
	"section 1, [2]":                            reproduce.Unchecked,
	"section 1, [3, 7]":                         reproduce.Unchecked,
	"section 1, [4, 8]":                         reproduce.Unchecked,
	"section 1, (i)":                            reproduce.Unchecked,
	"section 1, (ii)":                           reproduce.Unchecked,
	"section 1, the question":                   reproduce.Unchecked,
	"section 2, O(i·n) time":                    reproduce.Unchecked,
	"section 2, upper bound N":                  reproduce.Unchecked,
	"section 5, t and h_t":                      reproduce.Unchecked,
	"Theorem 5.1, (P1), time":                   reproduce.Unchecked,
	"Theorem 5.1, (P1), messages":               reproduce.Unchecked,
	"Theorem 5.1, (P2), time":                   reproduce.Unchecked,
	"Theorem 5.1, (P2), messages":               reproduce.Unchecked,
	"Theorem 5.1, (P3), time":                   reproduce.Unchecked,
	"Theorem 5.1, (P3), messages":               reproduce.Unchecked,
	"Theorem 5.1, (P4), time":                   reproduce.Unchecked,
	"Theorem 5.1, (P4), messages":               reproduce.Unchecked,
	"section 2, n + 1 messages":                 reproduce.Corrected,
	"section 3, the loop":                       reproduce.Corrected,
	"section 3, variables":                      reproduce.Corrected,
	"section 3, no message":                     reproduce.Corrected,
	"section 3, send (i, h_m, w+1)":             reproduce.Corrected,
	"section 3, until the election is finished": reproduce.Corrected,
	"Theorem 4.2, decides":                      reproduce.Corrected,
	"Lemma 4.4, the sum to n":                   reproduce.Corrected,
	"Lemma 4.5, proof, phase 1":                 reproduce.Corrected,
	"Lemma 4.5, proof, last line":               reproduce.Corrected,
	"Theorem 4.3, less than":                    reproduce.Corrected,
	"section 5, (P4)":                           reproduce.Corrected,
	"Theorem 5.1, (P4), every c":                reproduce.Corrected,
	"Theorem 5.1, proof, (P1)":                  reproduce.Corrected,
	"Theorem 5.1, proof, (P2)":                  reproduce.Corrected,
	"Theorem 5.1, proof, (P3)":                  reproduce.Corrected,
	"Theorem 5.1, proof, (P4)":                  reproduce.Corrected,
	"section 5, whole numbers":                  reproduce.Corrected,
}

func TestTheVerdictsOnS5(t *testing.T) {
	seen := 0
	for _, row := range quick("S5") {
		want, listed := s5NotSimplyHolding[row.Where]
		if listed {
			seen++
		}
		e := examine(t, row)
		if !e.judged {
			continue
		}
		r := e.result
		if r.Err != nil || r.Verdict != wanted(&row, want) || r.Measured == "" || (r.Why == "") != (want == reproduce.Holds) {
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
		"section 3, rule (a)", "section 3, rule (b)", "section 3, rule (c), waiting", "section 3, rule (c), sends", "section 3, rule (c), delays",
		"Theorem 4.3, other hypotheses",
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
		if !slices.ContainsFunc(quick("S5"), func(r reproduce.Row) bool { return r.Where == where }) {
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
	plants(t)
	mutants := stopAndGoWrong()
	for _, more := range [][]mutant{
		crude(stopandgo.P1), crude(stopandgo.P2), crude(stopandgo.P3), crude(stopandgo.P4), crude(knownsize.Algorithm)[1:], crude(variablespeeds.Algorithm)[1:],
		crude(knownsize.Algorithm)[:1],
	} {
		mutants = append(mutants, more...)
	}
	for _, m := range mutants {
		turned := false
		for r := range reproduce.Run(t.Context(), quick("S5"), m.list()) {
			if turned = r.Err != nil || r.Verdict != wanted(&r.Row, s5NotSimplyHolding[r.Where]); turned {
				break
			}
		}
		if !turned {
			t.Errorf("%s %s, and no verdict turns", m.algorithm, m.is)
		}
	}
}

// stopAndGoAgainst are errors against the rules of section 3.
func stopAndGoAgainst() map[string]mutant {
	type process = stopandgo.Process
	type message = stopandgo.Message
	change := func(is string, other func(p *process, m message, out *election.Out[message]) (done bool)) mutant {
		a := stopandgo.P1
		a.Receive = func(p *process, port election.Port, kind election.Kind, m message, out *election.Out[message]) {
			if kind != stopandgo.Identity || !other(p, m, out) {
				p.Receive(port, kind, m, out)
			}
		}
		return plant(a, is)
	}
	lowest := func(p *process, m message) bool { return m.ID != p.ID && (p.Best == 0 || m.ID < p.Best) }
	completed := func(p *process, m message) bool {
		return !election.Units(uint64(m.Walked)).Less(p.Hypotheses[m.Phase-1])
	}
	return map[string]mutant{
		"section 3, rule (a)": change("an identity that is back goes on", func(p *process, m message, out *election.Out[message]) bool {
			if m.ID == p.ID && m.Walked < 3*uint32(len(p.Hypotheses)) {
				out.Send(stopandgo.Right, stopandgo.Elected, message{ID: m.ID})
				return true
			}
			return false
		}),
		"section 3, rule (b)": change("a larger identity is sent on once more", func(p *process, m message, out *election.Out[message]) bool {
			if m.ID != p.ID && p.Best != 0 && m.ID > p.Best && m.Walked == 1 {
				out.Send(stopandgo.Right, stopandgo.Identity, message{ID: m.ID, Phase: m.Phase, Walked: m.Walked + 1})
				return true
			}
			return false
		}),
		"section 3, rule (c), waiting": change("what waits is not killed", func(p *process, m message, out *election.Out[message]) bool {
			if lowest(p, m) && p.Waiting != 0 && !completed(p, m) {
				p.Best = m.ID
				out.Send(stopandgo.Right, stopandgo.Identity, message{ID: m.ID, Phase: m.Phase, Walked: m.Walked + 1})
				return true
			}
			return false
		}),
		"section 3, rule (c), sends": change("an identity waits amid a phase", func(p *process, m message, out *election.Out[message]) bool {
			if lowest(p, m) && !completed(p, m) && m.Walked == 1 {
				p.Best, p.Waiting = m.ID, m.Phase
				out.After(stopandgo.Stop, election.Units(1))
				return true
			}
			return false
		}),
		"section 3, rule (c), delays": change("an identity waits a unit longer than it has to", func(p *process, m message, out *election.Out[message]) bool {
			if lowest(p, m) && completed(p, m) {
				p.Receive(stopandgo.Right, stopandgo.Identity, m, out)
				grown := p.Hypotheses[m.Phase].Sub(p.Hypotheses[m.Phase-1])
				out.After(stopandgo.Stop, grown.Times(2*uint64(m.ID)).Add(election.Units(1)))
				return true
			}
			return false
		}),
	}
}

func TestEachRuleOfSection3HasARowThatAnErrorTurns(t *testing.T) {
	plants(t)
	mutants := stopAndGoAgainst()
	for _, row := range quick("S5") {
		m, there := mutants[row.Where]
		if !there {
			continue
		}
		delete(mutants, row.Where)
		if r := judged(t, row, m.list()); r.Err != nil || r.Verdict != reproduce.Fails || strings.Contains(r.Measured, "cannot check") {
			t.Errorf("%s: %s: %s %s %v", row.Where, m.is, r.Verdict, r.Measured, r.Err)
		}
	}
	if len(mutants) > 0 {
		t.Errorf("no row is about %v", mutants)
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
	plants(t)
	mutants := stopAndGoWild()
	for _, row := range quick("S5") {
		if !strings.HasPrefix(row.Where, "Theorem 4.3, proof") && row.Where != "Lemma 4.5" {
			continue
		}
		turned := false
		for _, m := range mutants {
			r := judged(t, row, m.list())
			if turned = r.Err == nil && r.Verdict == reproduce.Fails && !strings.Contains(r.Measured, "cannot check"); turned {
				break
			}
		}
		if !turned {
			t.Errorf("%s: no error turns it", row.Where)
		}
	}
}
