package proofs_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/core/needs"
	"ringleader.example/ringleader/internal/study/logic"
	"ringleader.example/ringleader/internal/study/models"
	"ringleader.example/ringleader/internal/study/prove"
)

// Each guard, axiom and invariant is removed, one at a time. If all is still proved, the model must say why it is there; if not, it must not. So the
// words "spare" are the list of what the proofs do not need. NAME.needed has what was found: a line for each, with the obligation that is lost.
// "ringleader prove NAME --drop-guard ACTION:NUMBER --solver z3" shows a line of it again, and --drop that of an axiom or an invariant.

// needed is a file NAME.needed.
type needed struct {
	hash string // of the plan of the whole model
	rows []row
}

// row is what happens without a part of a model.
type row struct {
	part  part
	found string // spare, untried, or lost
	lost  string // the obligation that is lost
}

// What is found without a part.
const (
	spare   = "spare"   // all is proved
	lost    = "lost"    // an obligation is not
	untried = "untried" // not tried yet: so it is while the file is written
)

// part is a guard, an axiom or an invariant.
type part struct{ kind, name string }

func (p part) String() string { return p.kind + " " + p.name }

// without returns the model without a part.
func (p part) without(m *logic.Model) (*logic.Model, error) {
	if p.kind == "guard" {
		return m.Without(nil, []string{p.name})
	}
	return m.Without([]string{p.name}, nil)
}

// parts returns the parts of a model, and why those are there that the proof does not need.
func parts(m *logic.Model) (all []part, reasons map[part]string) {
	reasons = map[part]string{}
	add := func(kind, name, why string) {
		all = append(all, part{kind, name})
		reasons[part{kind, name}] = why
	}
	for _, a := range m.Actions {
		for k, g := range a.Guards {
			add("guard", fmt.Sprintf("%s:%d", a.Name, k+1), g.Spare)
		}
	}
	for _, f := range m.Axioms {
		add("axiom", f.Name, f.Spare)
	}
	for _, f := range m.Invariants {
		add("invariant", f.Name, f.Spare)
	}
	return all, reasons
}

func (n *needed) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "model %s\n", n.hash)
	for _, r := range n.rows {
		line := fmt.Sprint(r.part, " ", r.found)
		if r.found == lost {
			line += " " + r.lost
		}
		fmt.Fprintln(&b, line)
	}
	return b.String()
}

func parseNeeded(text string) (*needed, error) {
	head, rest, _ := strings.Cut(text, "\n")
	n := &needed{}
	if _, err := fmt.Sscanf(head, "model %64s", &n.hash); err != nil {
		return nil, fmt.Errorf("it begins with the hash of its model, not with %q", head)
	}
	for line := range strings.Lines(rest) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 4)
		switch {
		case len(words) == 3 && (words[2] == spare || words[2] == untried):
			n.rows = append(n.rows, row{part{words[0], words[1]}, words[2], ""})
		case len(words) == 4 && words[2] == lost:
			n.rows = append(n.rows, row{part{words[0], words[1]}, lost, words[3]})
		default:
			return nil, fmt.Errorf("%q is no line of it", line)
		}
	}
	return n, nil
}

// readNeeded returns what was found of a model, perhaps a moment ago.
func readNeeded(t *testing.T, name string) *needed {
	t.Helper()
	text, err := os.ReadFile(name + ".needed")
	if err != nil {
		t.Fatal(err)
	}
	n, err := parseNeeded(string(text))
	if err != nil {
		t.Fatalf("%s.needed: %v", name, err)
	}
	return n
}

// Without a solver: each file is of its model as it is, has each part, and what is spare there says so in the model, and nothing else does.
func TestWhatIsNotNeededIsListedWithItsReason(t *testing.T) {
	needs := map[string]bool{} // axioms of files that models include: whether a model needs them
	for _, name := range models.Names() {
		m, found := load(t, name), readNeeded(t, name)
		if found.hash != prove.Obligations(m).Hash() {
			t.Errorf("%s has changed since it was tried what it needs: go test ./proofs -run Needed -long -update does that", name)
			continue
		}
		all, reasons := parts(m)
		whole := texts(prove.Obligations(m))
		var listed []part
		for _, r := range found.rows {
			listed = append(listed, r.part)
			if r.found == lost && !depends(t, m, whole, r) {
				t.Errorf("%s: %s is the same with %v and without", name, r.lost, r.part)
			}
			i := slices.IndexFunc(m.Axioms, func(f *logic.Formula) bool {
				return r.part == part{"axiom", f.Name} && strings.HasSuffix(f.At.File, ".axioms")
			})
			switch {
			case r.found == untried:
				t.Errorf("%s: %v is not tried yet: go test ./proofs -run Needed -long -update does that", name, r.part)
				needs[r.part.name] = true // perhaps
			case r.found == lost && reasons[r.part] != "":
				t.Errorf("%s: %v says that it is not needed, and without it %s is not proved", name, r.part, r.lost)
			case i >= 0 && reasons[r.part] == "":
				needs[r.part.name] = needs[r.part.name] || r.found == lost
			case i >= 0: // its file says why it is there, although no model needs it
			case r.found == spare && reasons[r.part] == "":
				t.Errorf("%s: %v is not needed, and does not say why it is there", name, r.part)
			}
		}
		if !slices.Equal(listed, all) {
			t.Errorf("%s.needed has the parts %v, and the model has %v", name, listed, all)
		}
	}
	for axiom, needed := range needs {
		if !needed {
			t.Errorf("no model needs the axiom %s", axiom)
		}
	}
}

// texts returns the obligations of a plan by name, each as SMT-LIB, with what all of them share.
func texts(p *prove.Plan) map[string]string {
	parts := strings.Split(p.Script(), "\n\n; ")
	all := map[string]string{}
	for _, part := range parts[1:] {
		name, text, _ := strings.Cut(part, "\n")
		all[name] = text
	}
	for name := range all {
		all[name] = parts[0] + all[name]
	}
	return all
}

// depends reports whether an obligation is another one without a part of the model: else it cannot be lost for that.
func depends(t *testing.T, m *logic.Model, whole map[string]string, r row) bool {
	t.Helper()
	less, err := r.part.without(m)
	if err != nil {
		t.Fatal(err)
	}
	return texts(prove.Obligations(less))[r.lost] != whole[r.lost]
}

// sampled are the models of which one line is found again each time: a small one, one with crashes, and the one that has the most to lose.
var sampled = []string{"lcr", "bully", "quorum-bully"}

// The test finds the lines of NAME.needed again. With -long it tries all of them, which takes an hour of a processor. Else it tries one line of each
// sampled model. With -long -update it adds the lines that are missing, or writes all of them if the model has changed.
func TestWhatIsNeededIsFoundAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs a solver")
	}
	solver, err := prove.Find(t.Context(), "z3")
	if err != nil {
		needs.Missing(t, "%v", err)
	}
	names := models.Names()
	if !*long {
		names = sampled
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			m := load(t, name)
			if !*long {
				if i := slices.IndexFunc(readNeeded(t, name).rows, func(r row) bool { return r.found == lost }); i < 0 {
					t.Error("it needs nothing")
				} else {
					again(t, solver, m, readNeeded(t, name).rows[i])
				}
				return
			}
			plan := prove.Obligations(m)
			proved, hash := provedOf(t, solver, plan, nil, work), plan.Hash()
			before := &needed{}
			if _, err := os.Stat(name + ".needed"); err == nil || !*update {
				before = readNeeded(t, name)
			}
			now := &needed{hash: hash}
			all, _ := parts(m)
			for _, p := range all {
				now.rows = append(now.rows, before.of(p))
				if before.hash != hash {
					now.rows[len(now.rows)-1].found = untried // what was lost is the first that is tried
				}
			}
			for i, was := range now.rows {
				if *update && was.found != untried {
					continue
				}
				r := without(t, solver, m, was, proved)
				if !*update && was.found != untried && (r.found != was.found || r.lost != was.lost) {
					t.Errorf("without %v %s %q, and it was %s %q", r.part, r.found, r.lost, was.found, was.lost)
				}
				t.Logf("%v: %s %s", r.part, r.found, r.lost)
				if now.rows[i] = r; *update {
					write(t, name+".needed", now.String()) // each, since all of them take an hour
				}
			}
		})
	}
}

// again fails unless an obligation is proved with a part of a model, and not without it.
func again(t *testing.T, s *prove.Solver, m *logic.Model, r row) {
	t.Helper()
	less, err := r.part.without(m)
	if err != nil {
		t.Fatal(err)
	}
	only := map[string]bool{r.lost: true}
	if !provedOf(t, s, prove.Obligations(m), only, little)[r.lost] || provedOf(t, s, prove.Obligations(less), only, little)[r.lost] {
		t.Errorf("%s does not need %v, or is not proved with it", r.lost, r.part)
	}
}

// provedOf returns the names of the obligations that are proved, of some or of all.
func provedOf(t *testing.T, s *prove.Solver, p *prove.Plan, some map[string]bool, work int) map[string]bool {
	t.Helper()
	if some != nil {
		p.Obligations = append(p.Obligations[:1:1], slices.DeleteFunc(slices.Clone(p.Obligations[1:]), func(o prove.Obligation) bool { return !some[o.Name] })...)
	}
	r, err := s.Prove(context.Background(), p, prove.Options{Limit: limit, Work: work})
	if err != nil {
		t.Fatal(err)
	}
	proved := map[string]bool{}
	for i, o := range p.Obligations[1:] {
		if r.Answers[i+1].Verdict == prove.Proved {
			proved[o.Name] = true
		}
	}
	return proved
}

// of returns the row of a part.
func (n *needed) of(p part) row {
	if i := slices.IndexFunc(n.rows, func(r row) bool { return r.part == p }); i >= 0 {
		return n.rows[i]
	}
	return row{p, untried, ""}
}

// work is what z3 does in a second or so, and little is enough for an obligation that is proved without -long.
const (
	work   = 2_000_000
	little = 50_000
)

// without returns what is found without a part, of what is proved with it. It tries what was lost before first. An obligation is lost if it is not
// proved alone: what is proved beside others depends on their order.
func without(t *testing.T, s *prove.Solver, m *logic.Model, was row, proved map[string]bool) row {
	t.Helper()
	less, err := was.part.without(m)
	if err != nil {
		t.Fatal(err)
	}
	p := prove.Obligations(less)
	before, now := texts(prove.Obligations(m)), texts(p)
	all := slices.DeleteFunc(p.Obligations[1:], func(o prove.Obligation) bool { return !proved[o.Name] || before[o.Name] == now[o.Name] })
	slices.SortStableFunc(all, func(a, b prove.Obligation) int {
		return cmp.Compare(truth(a.Name != was.lost), truth(b.Name != was.lost))
	})
	for len(all) > 0 {
		p.Obligations = append(p.Obligations[:1:1], all...)
		r, err := s.Prove(context.Background(), p, prove.Options{Limit: limit, Work: work, First: true})
		if err != nil {
			t.Fatal(err)
		}
		open := slices.IndexFunc(r.Answers[1:], func(a prove.Answer) bool { return a.Verdict != prove.Proved })
		if open < 0 {
			break
		}
		if name := all[open].Name; !provedOf(t, s, prove.Obligations(less), map[string]bool{name: true}, work)[name] {
			return row{was.part, lost, name}
		}
		all = all[open+1:] // what a solver has proved before leads it astray
	}
	return row{was.part, spare, ""}
}

func truth(is bool) int { return map[bool]int{true: 1}[is] }

// A file that is wrong is refused.
func TestAWrongFileOfWhatIsNeededIsRefused(t *testing.T) {
	n := &needed{"00", []row{{part{"guard", "a:1"}, spare, ""}, {part{"axiom", "b"}, lost, "a keeps c"}, {part{"guard", "a:2"}, untried, ""}}}
	again, err := parseNeeded(n.String())
	if err != nil || again.String() != n.String() {
		t.Errorf("%v, %v", again, err)
	}
	for _, text := range []string{"", "model 00\nguard a:1", "model 00\nguard a:1 kept b", "model 00\nguard a:1 lost"} {
		if _, err := parseNeeded(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}
