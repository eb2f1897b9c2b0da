//go:build !race

package sources_test

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/afekgafnisynchronous"
	bullying "ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/algorithms/invitation"
	"ringleader.example/ringleader/algorithms/itairodeh"
	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/algorithms/lcrsynchronous"
	"ringleader.example/ringleader/algorithms/lelann"
	"ringleader.example/ringleader/algorithms/logicalring"
	"ringleader.example/ringleader/algorithms/modifiedbully"
	"ringleader.example/ringleader/algorithms/oddoneout"
	"ringleader.example/ringleader/algorithms/oddpair"
	"ringleader.example/ringleader/algorithms/preference"
	"ringleader.example/ringleader/algorithms/preferencering"
	"ringleader.example/ringleader/algorithms/preferencetree"
	"ringleader.example/ringleader/algorithms/tree"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/internal/study/reproduce/sources"
)

// What is found of S2 and S4 where a statement does not simply hold.
var notSimplyHolding = map[string]reproduce.Verdict{
	"S2 section 2.1, process 2n+1":            reproduce.Corrected,
	"S2 section 2.1, neighbours":              reproduce.Corrected,
	"S2 section 2.1, output":                  reproduce.Corrected,
	"S2 section 2.2, note 2":                  reproduce.Unchecked,
	"S2 LCR, step 3":                          reproduce.Corrected,
	"S2 LCR, lines 1–14":                      reproduce.Corrected,
	"S2 example 2.1, i times":                 reproduce.Corrected,
	"S2 Bully, step 4":                        reproduce.Corrected,
	"S2 section 2.3.1, trans, lines 1–7":      reproduce.Corrected,
	"S2 exercise 4(b), equal and opposite":    reproduce.Unchecked,
	"S2 section 2.4, return":                  reproduce.Corrected,
	"S2 section 2.4, acknowledgement":         reproduce.Fails,
	"S4 rule 5":                               reproduce.Corrected,
	"S4 safety":                               reproduce.Corrected,
	"S4 safety, without its timing":           reproduce.Fails,
	"S4 safety, proof":                        reproduce.Corrected,
	"S4 liveness":                             reproduce.Corrected,
	"S4 liveness, recovery in time":           reproduce.Corrected,
	"S4 bandwidth, lowest initiates":          reproduce.Corrected,
	"S4 bandwidth, Θ(N²) election messages":   reproduce.Fails,
	"S4 bandwidth, Θ(N²) alive messages":      reproduce.Fails,
	"S4 bandwidth, Θ(N) coordinator messages": reproduce.Corrected,
	"S4 bandwidth, Θ(N²) overall":             reproduce.Fails,
}

func TestTheVerdictsOnS2AndS4(t *testing.T) {
	seen := 0
	for _, row := range quick("S2", "S4") {
		name := row.Source + " " + row.Where
		want, listed := notSimplyHolding[name]
		if listed {
			seen++
		}
		e := examine(t, row)
		if !e.judged {
			continue
		}
		r := e.result
		if r.Err != nil || r.Verdict != wanted(&row, want) {
			t.Errorf("%s: %s %s, %v; want: %s", name, r.Verdict, r.Why, r.Err, want)
		}
		if (r.Why == "") != (want == reproduce.Holds) || r.Measured == "" && r.Verdict != reproduce.Unchecked {
			t.Errorf("%s is not said in full: %+v", name, r.Finding)
		}
		if r.Verdict == reproduce.Fails && r.Replay == "" {
			t.Errorf("%s fails, and no run shows it", name)
		}
	}
	if seen != len(notSimplyHolding) {
		t.Errorf("%d rows do not simply hold, want %d", seen, len(notSimplyHolding))
	}
}

func TestWhatS2AndS4StateHasARow(t *testing.T) {
	for source, places := range map[string][]string{
		"S2": {
			"table 2.1, line 1", "table 2.1, line 2", "table 2.1, line 3", "LCR, step 1", "LCR, step 2", "LCR, step 3", "LCR, step 4",
			"LCR, step 5", "LCR, step 6", "LCR, lines 1–14", "section 2.2, done and is-leader", "figure 2.2, stage 1", "figure 2.3, stage 2",
			"figure 2.4, stage 3", "figure 2.5, stage 4", "figure 2.6, stage 5", "example 2.1, total", "section 2.2.1, worst case",
			"Bully, step 1", "Bully, step 2", "Bully, step 3", "Bully, step 4", "figure 2.7(a)", "figure 2.7(b)", "figure 2.7(c)",
			"figure 2.8(d)", "figure 2.8(e)", "section 2.3.1, trans, lines 1–7", "section 2.3.1, round n", "section 2.3.1, no other output",
			"section 2.4, return", "section 2.4, acknowledgement", "logical ring, step 1", "logical ring, step 2",
			"section 2.1, tree topology", "section 2.1, preference-based", "exercise 1", "exercise 2(a)", "exercise 2(b)", "exercise 3(a)",
			"exercise 3(b)", "exercise 4(a)", "exercise 4(b)", "exercise 5(a)", "exercise 5(b)", "exercise 6(a)", "exercise 6(b)",
		},
		"S4": {
			"assumption 1, messages", "assumption 1, processes", "assumption 1, clocks", "assumption 2", "assumption 3, stopping",
			"assumption 3, restarting", "assumption 4", "assumption 5", "assumption 6", "rule 1", "rule 2", "rule 3", "rule 3, parenthesis",
			"rule 4", "rule 5", "safety", "safety, with its timing", "safety, without its timing", "liveness", "liveness, recovery in time",
			"bandwidth, Θ(N²) election messages", "bandwidth, Θ(N²) alive messages", "bandwidth, Θ(N) coordinator messages",
		},
	} {
		for _, where := range places {
			if !slices.ContainsFunc(sources.Rows(), func(r reproduce.Row) bool { return r.Source == source && r.Where == where && !r.Thorough }) {
				t.Errorf("no quick row is about %s %s", source, where)
			}
		}
	}
}

// watched are a few quick rows about each algorithm, that its errors should turn one of: an election that never
// ends is looked at until its limit, which on all rows would take minutes.
var watched = map[string][]string{
	"lcr":                    {"example 2.1, total", "figure 2.6, stage 5"},
	"lcr-synchronous":        {"section 2.3.1, round n", "section 2.3.1, trans, lines 1–7"},
	"bully":                  {"figure 2.8(e)", "exercise 5(a)", "section 2.1, timeout", "section 2.1, reason 1", "rule 3, parenthesis"},
	"logical-ring":           {"logical ring, step 1", "logical ring, step 2"},
	"tree":                   {"section 2.1, tree topology"},
	"preference":             {"section 2.1, preference-based"},
	"preference-ring":        {"section 2.1, preference-based"},
	"preference-tree":        {"section 2.1, preference-based"},
	"odd-one-out":            {"exercise 4(a)"},
	"odd-pair":               {"exercise 4(b)"},
	"lelann":                 {"section 2.1, definition"},
	"afek-gafni-synchronous": {"section 2.1, definition"},
	"itai-rodeh":             {"section 2.1, definition"},
	"modified-bully":         {"section 2.1, reason 2"},
	"invitation":             {"section 2.1, reason 2"},
}

// hasty is Bully without rule 3: an answer silences no process.
func hasty() mutant {
	a := bullying.Algorithm
	a.Receive = func(p *bullying.Process, port election.Port, kind election.Kind, m bullying.Message, out *election.Out[bullying.Message]) {
		if kind != bullying.Answer {
			p.Receive(port, kind, m, out)
		}
	}
	return plant(a, "an answer stops no election")
}

// changed is an algorithm that handles each message after a change of it or of its receiver, unless the change discards it.
func changed[S, M any](right election.Algorithm[S, M], is string, change func(*S, election.Port, election.Kind, *M) bool) mutant {
	a := right
	a.Receive = func(s *S, port election.Port, kind election.Kind, m M, out *election.Out[M]) {
		if change(s, port, kind, &m) {
			right.Receive(s, port, kind, m, out)
		}
	}
	return plant(a, is)
}

// loaded throws two dice where Itai and Rodeh throw one, and takes the lower.
func loaded() mutant {
	a := itairodeh.Algorithm
	a.Receive = func(p *itairodeh.Process, port election.Port, kind election.Kind, m itairodeh.Message, out *election.Out[itairodeh.Message]) {
		if kind != itairodeh.Token || m.Hop != p.N || m.Unique {
			p.Receive(port, kind, m, out)
			return
		}
		p.Round++
		p.ID = 1 + min(out.Choose(p.N), out.Choose(p.N))
		out.Send(itairodeh.Right, itairodeh.Token, itairodeh.Message{Round: p.Round, ID: p.ID, Hop: 1, Unique: true})
	}
	return plant(a, "chooses again by loaded dice")
}

// slips are errors that are easily made where nothing fails and all start at once, or with parameters that are seldom given.
func slips() []mutant {
	return []mutant{
		changed(lelann.Algorithm, "loses those that have started, too", func(p *lelann.Process, _ election.Port, _ election.Kind, _ *lelann.Message) bool {
			p.Lost = p.Losing
			return true
		}),
		changed(afekgafnisynchronous.Algorithm, "heeds the first question, not the greatest",
			func(p *afekgafnisynchronous.Process, _ election.Port, kind election.Kind, _ *afekgafnisynchronous.Message) bool {
				return kind != afekgafnisynchronous.Capture || p.Largest == 0
			}),
		changed(itairodeh.Algorithm, "forgets that an identifier is not unique", func(_ *itairodeh.Process, _ election.Port, _ election.Kind, m *itairodeh.Message) bool {
			m.Unique = true
			return true
		}),
		changed(modifiedbully.Algorithm, "believes a deposed winner", func(p *modifiedbully.Process, port election.Port, kind election.Kind, _ *modifiedbully.Message) bool {
			if kind == modifiedbully.Coordinator && election.From(port) > p.ID {
				p.Coordinator = 0
			}
			return true
		}),
		changed(invitation.Algorithm, "has no rule D", func(p *invitation.Process, _ election.Port, kind election.Kind, _ *invitation.Group) bool {
			return kind != invitation.Invite || p.Stage != invitation.Reorganize
		}),
		changed(preferencering.Algorithm, "drops the ballot of one that is back", func(_ *preferencering.Process, _ election.Port, _ election.Kind, m *preferencering.Message) bool {
			m.Recount = false
			return true
		}),
		changed(preferencetree.Algorithm, "does not tell one that is back", func(_ *preferencetree.Process, _ election.Port, _ election.Kind, m *preferencetree.Message) bool {
			m.Again = false
			return true
		}),
	}
}

func TestAPlantedErrorTurnsAVerdictOnS2OrS4(t *testing.T) {
	plants(t)
	mutants := append(slips(), hasty(), loaded())
	for _, more := range [][]mutant{
		crude(lcr.Algorithm), crude(lcrsynchronous.Algorithm), crude(bullying.Algorithm), crude(logicalring.Algorithm), crude(tree.Algorithm),
		crude(preference.Algorithm), crude(preferencering.Algorithm), crude(preferencetree.Algorithm), crude(oddoneout.Algorithm), crude(oddpair.Algorithm),
	} {
		mutants = append(mutants, more...)
	}
	quick := quick("S2", "S4")
	for _, m := range mutants {
		rows := slices.DeleteFunc(slices.Clone(quick), func(r reproduce.Row) bool { return !slices.Contains(watched[m.algorithm], r.Where) })
		turned := false
		for r := range reproduce.Run(t.Context(), rows, m.list()) {
			if turned = r.Err != nil || r.Verdict != wanted(&r.Row, notSimplyHolding[r.Source+" "+r.Where]); turned {
				break
			}
		}
		if !turned {
			t.Errorf("%s %s, and no verdict turns", m.algorithm, m.is)
		}
	}
}
