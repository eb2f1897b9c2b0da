package proofs_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/study/logic"
	"ringleader.example/ringleader/internal/study/models"
	"ringleader.example/ringleader/internal/study/prove"
	"ringleader.example/ringleader/internal/study/prove/provetest"
)

var (
	update = flag.Bool("update", false, "write NAME.proved, and docs/proved.md")
	long   = flag.Bool("long", false, "let each solver prove, and remove each guard, axiom and invariant; with -update also write NAME.needed")
)

// limit is for solvers that wait for the processor, too: on an idle machine no obligation takes more than a few seconds.
const limit = 10 * time.Minute

// The solver that was the quickest proves each obligation of each model; with -long, each that is installed. With -update that is recorded.
func TestEveryModelIsProved(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs solvers")
	}
	found := provetest.Needed(t)
	for _, name := range models.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			solvers := found
			if !*update && !*long {
				solvers = provetest.Quickest(found, recorded(t, name))
			}
			plan := prove.Obligations(load(t, name))
			record := prove.Record{Hash: plan.Hash(), Claims: prove.Claims(plan.Model)}
			for _, s := range solvers {
				r, err := s.Prove(context.Background(), plan, prove.Options{Limit: limit})
				if err != nil {
					t.Fatal(err)
				}
				if r.Contradiction() {
					t.Errorf("%s: the axioms contradict each other", s.Name)
				}
				for i, a := range r.Answers[1:] {
					if a.Verdict != prove.Proved {
						t.Errorf("%s: %s: %v", s.Name, plan.Obligations[i+1].Name, a.Verdict)
					}
				}
				t.Logf("%s: %d in %v", s.Name, r.Proved(), r.Used)
				record.Runs = append(record.Runs, prove.Run{Solver: s.Name, Version: s.Version, Proved: r.Proved(), Kept: plan.Kept, Seconds: r.Used.Seconds()})
			}
			if *update && !t.Failed() {
				write(t, name+".proved", record.String())
			}
		})
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// recorded returns what was proved of a model, perhaps a moment ago.
func recorded(t *testing.T, name string) *prove.Record {
	t.Helper()
	text, err := os.ReadFile(name + ".proved")
	if err != nil {
		t.Fatal(err)
	}
	record, err := prove.ParseRecord(string(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return record
}

// A machine without solvers refuses a model that has changed since it was proved. If only words have changed, -update writes that someone has read them.
func TestEveryModelIsWhatWasProved(t *testing.T) {
	for _, name := range models.Names() {
		record, p := recorded(t, name), prove.Obligations(load(t, name))
		if *update && record.Hash == p.Hash() {
			record.Claims = prove.Claims(p.Model)
			write(t, name+".proved", record.String())
		}
		if err := record.Covers(p); err != nil {
			t.Errorf("%v: prove it with go test ./proofs -update, or with -run WhatWasProved if only words have changed and they are true", err)
		}
	}
}

// A change of a term is refused, and one of what is claimed: of each text that the page prints as a claim. Other words may change.
func TestARecordIsOfTermsAndOfWhatIsClaimed(t *testing.T) {
	m := load(t, "lcr")
	p := prove.Obligations(m)
	record := prove.Record{Hash: p.Hash(), Claims: prove.Claims(m), Runs: []prove.Run{{Solver: "z3", Version: "1", Proved: 12, Kept: 13}}}
	again, err := prove.ParseRecord(record.String())
	if err != nil {
		t.Fatal(err)
	}
	m.Actions[0].Words = "other words"
	if err := again.Covers(prove.Obligations(m)); err != nil {
		t.Error(err)
	}
	weaker, err := m.Without(nil, []string{"pass:2"})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Covers(prove.Obligations(weaker)); err == nil || !strings.Contains(err.Error(), "lcr has changed since it was proved") {
		t.Errorf("a weaker guard: %v", err)
	}
	tie, assumption := &m.Ties[0], &m.Assumptions[0]
	for _, text := range []*string{
		&m.Title, &m.Theorem, &m.Source, &m.Code, &assumption.Words, &assumption.Holds, &assumption.Breaks,
		&m.Invariants[1].Words, &m.Safety[0].Words, &tie.Kind, &tie.Folder, &tie.Test,
	} {
		was := *text
		*text += "!"
		if err := again.Covers(prove.Obligations(m)); err == nil || err.Error() != "what lcr claims in words has changed since it was proved" {
			t.Errorf("%q: %v", *text, err)
		}
		*text = was
	}
	ties := m.Ties
	for _, other := range [][]logic.Tie{nil, append(ties, logic.Tie{Kind: "a", Folder: "proofs", Test: "Test"})} {
		if m.Ties = other; again.Covers(prove.Obligations(m)) == nil {
			t.Errorf("%d ties in place of %d", len(other), len(ties))
		}
	}
	for _, text := range []string{"", "modle x", "model 00\nz3 proved", "model 00\nz3 1 proved 1 kept 1 seconds 1\nclaims 00"} {
		if _, err := prove.ParseRecord(text); err == nil {
			t.Errorf("%q is a record", text)
		}
	}
	if err := (&prove.Record{Hash: record.Hash, Runs: record.Runs}).Covers(p); err == nil {
		t.Error("a record without claims covers any")
	}
}

const (
	provedPage = "../docs/proved.md"
	provedHead = `# What is proved for every number of processes

Each row is a model in [proofs](../proofs): an algorithm as a transition system with an invariant, which holds at first and which each
action keeps. So the theorem holds in every state of every run, with any number of processes. z3 and cvc5 have proved each obligation, one for each pair of
an action and an invariant. *Kept* counts pairs that need no solver, since the action changes nothing that the invariant reads. Seconds are those of a processor.
` + "`ringleader prove`" + ` proves all of them again.

A model speaks of the rules of the code, and not of the code itself: the assumptions of each model say why the code satisfies them, and where it may
not. The column *tie* names the tests that compare the model with the code:

* **a**: in every state that the checker visits with a few processes, the invariants hold, and every step of the code is made of actions of the model.
* **b**: the same in runs of the simulator and of real members, with more processes.
* **c**: the step functions are executed symbolically, and solvers prove that each of their paths is an action of the model: for every number of processes.
  [Another page](proved-code.md) has these paths.
* **none**: only the words of the model and those who read it compare it with the code.

Liveness is not proved: that a leader comes, and when.

Each guard, axiom and invariant was taken out, one at a time: ` + "`NAME.needed`" + ` has the obligation that is lost, or says that none is, and then the model tells why it is
there. ` + "`ringleader prove NAME --drop-guard ACTION:NUMBER`" + `, or ` + "`--drop NAME`" + `, shows it again.

`
)

// ties returns the kinds of a model's ties, each with a link to the folder of its test.
func ties(t *testing.T, m *logic.Model) string {
	t.Helper()
	var all []string
	for _, tie := range m.Ties {
		if !declared(t, "../"+tie.Folder, tie.Test) {
			t.Errorf("%s is tied by %s of %s, which is not there", m.Name, tie.Test, tie.Folder)
		}
		all = append(all, fmt.Sprintf("%s: [%s](../%s)", tie.Kind, tie.Test, tie.Folder))
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

// declared reports whether a folder has a test of that name.
func declared(t *testing.T, folder, test string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), "\nfunc "+test+"(t *testing.T)")
	})
}

// The test of ties finds what is there, and nothing else.
func TestATieIsATestThatExists(t *testing.T) {
	if !declared(t, ".", "TestATieIsATestThatExists") || declared(t, ".", "TestATie") || declared(t, "../doc.go", "TestATieIsATestThatExists") {
		t.Error("the search for a test is wrong")
	}
}

// sparedBy returns a row for each guard, axiom and invariant that the proof of a model does not need.
func sparedBy(m *logic.Model) (rows []string) {
	add := func(what, words, why string) {
		if why != "" {
			rows = append(rows, fmt.Sprintf("| %s | %s | %s |\n", what, words, why))
		}
	}
	for _, a := range m.Actions {
		for k, g := range a.Guards {
			add(fmt.Sprintf("guard %s:%d", a.Name, k+1), g.Words, g.Spare)
		}
	}
	for _, f := range slices.Concat(m.Axioms, m.Invariants) {
		add(f.Name, f.Words, f.Spare)
	}
	return rows
}

// docs/proved.md is made of the models and of their records.
func TestThePageListsWhatIsProved(t *testing.T) {
	var page strings.Builder
	page.WriteString(provedHead + "| model | obligations | kept | z3 | cvc5 | tie |\n|---|---|---|---|---|---|\n")
	obligations, kept, seconds := 0, 0, map[string]float64{}
	for _, name := range models.Names() {
		m := load(t, name)
		plan := prove.Obligations(m)
		fmt.Fprintf(&page, "| [%s](#%[1]s) | %d | %d |", name, plan.Proved(), plan.Kept)
		obligations, kept = obligations+plan.Proved(), kept+plan.Kept
		record := recorded(t, name)
		for _, s := range prove.Solvers {
			text := " not proved |"
			for _, run := range record.Runs {
				if run.Solver == s {
					text = fmt.Sprintf(" %s: %.1f s |", run.Version, run.Seconds)
					seconds[s] += run.Seconds
				}
			}
			page.WriteString(text)
		}
		fmt.Fprintf(&page, " %s |\n", ties(t, m))
	}
	fmt.Fprintf(&page, "| all | %d | %d | %.1f s | %.1f s | |\n", obligations, kept, seconds["z3"], seconds["cvc5"])
	for _, name := range models.Names() {
		m := load(t, name)
		fmt.Fprintf(&page, "\n## %s\n\n%s, [%s](../%[3]s). Source: %s.\n\n**%s**\n\nIt is assumed that:\n\n| assumption | why the code satisfies it | where it may not |\n|---|---|---|\n",
			name, m.Title, m.Code, m.Source, m.Theorem)
		for _, a := range m.Assumptions {
			fmt.Fprintf(&page, "| %s | %s | %s |\n", a.Words, a.Holds, a.Breaks)
		}
		page.WriteString("\nThe invariants:\n\n")
		for _, f := range m.Invariants {
			fmt.Fprintf(&page, "* %s\n", f.Words)
		}
		if spared := sparedBy(m); len(spared) > 0 {
			page.WriteString("\nThe proof does not need these:\n\n| what | words | why it is there |\n|---|---|---|\n" + strings.Join(spared, ""))
		}
	}
	text, err := os.ReadFile(provedPage)
	if *update {
		write(t, provedPage, page.String())
	} else if err != nil || string(text) != page.String() {
		t.Errorf("%s is not what the models say: go test ./proofs -update makes it", provedPage)
	}
}
