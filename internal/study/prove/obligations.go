package prove

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"ringleader.example/ringleader/internal/study/logic"
)

// Obligation is one thing to prove.
type Obligation struct {
	Name     string         // in words: "pass keeps passed", for example
	Goal     *logic.Formula // nil: the axioms do not contradict each other
	Action   *logic.Action  // before the goal; nil: none
	initial  bool
	after    bool // the goal is about the state after the action
	premises []*logic.Formula
}

// Plan is all that is to be proved of a model.
type Plan struct {
	Model       *logic.Model
	Obligations []Obligation // the first is that the axioms do not contradict each other
	Kept        int          // the pairs that are kept by syntax
}

// Proved returns how many obligations a solver has to prove: all but the first, which it only must not refute.
func (p *Plan) Proved() int { return len(p.Obligations) - 1 }

// Obligations returns the plan of a model.
func Obligations(m *logic.Model) *Plan {
	p := &Plan{Model: m, Obligations: []Obligation{{Name: "the axioms do not contradict each other"}}}
	add := func(o Obligation) { p.Obligations = append(p.Obligations, o) }
	for _, f := range m.Invariants {
		add(Obligation{Name: "at first " + f.Name, Goal: f, initial: true})
	}
	for _, f := range m.Lemmas {
		add(Obligation{Name: "lemma " + f.Name, Goal: f, premises: p.formulas(f.By)})
	}
	for _, a := range m.Actions {
		for _, f := range m.Invariants {
			if !f.Term.Reads(a.Changes) {
				p.Kept++
				continue
			}
			premises := m.Invariants
			if i := slices.IndexFunc(m.Premises, func(by logic.Premises) bool { return by.Action == a.Name && by.Invariant == f.Name }); i >= 0 {
				premises = append(p.formulas(m.Premises[i].By), f)
			}
			add(Obligation{Name: a.Name + " keeps " + f.Name, Goal: f, Action: a, after: true, premises: premises})
		}
	}
	all := slices.Concat(m.Invariants, m.Lemmas)
	for _, f := range m.Steps {
		add(Obligation{Name: f.Action + " shows " + f.Name, Goal: f, Action: m.Action(f.Action), premises: all})
	}
	for _, f := range m.Safety {
		add(Obligation{Name: "safety " + f.Name, Goal: f, premises: all})
	}
	return p
}

// formulas returns the invariants and lemmas of these names, without those that are left out.
func (p *Plan) formulas(names []string) (all []*logic.Formula) {
	for _, name := range names {
		if f := p.Model.Formula(name); f != nil {
			all = append(all, f)
		}
	}
	return all
}

// Script returns all obligations in SMT-LIB, for any solver: it must answer unsat to each but the first.
func (p *Plan) Script() string {
	var b strings.Builder
	b.WriteString(p.preamble())
	for i := range p.Obligations {
		fmt.Fprintf(&b, "\n; %s\n(push 1)\n%s(check-sat)\n(pop 1)\n", p.Obligations[i].Name, p.body(i))
	}
	return b.String()
}

// Hash returns a digest of what is proved: of the terms, and not of words and comments.
func (p *Plan) Hash() string {
	sum := sha256.Sum256([]byte(p.Script()))
	return hex.EncodeToString(sum[:])
}

// preamble declares what all obligations share.
func (p *Plan) preamble() string {
	var b strings.Builder
	m := p.Model
	b.WriteString("(set-logic ALL)\n")
	for _, s := range m.Sorts {
		fmt.Fprintf(&b, "(declare-sort %s 0)\n", s.Name)
	}
	for _, s := range slices.Concat(m.Constants, m.States) {
		fmt.Fprintf(&b, "(declare-fun %s (%s) %s)\n", s.Name, strings.Join(s.Args, " "), s.Result)
	}
	for _, s := range m.Definitions {
		fmt.Fprintf(&b, "(define-fun %s %s %s %s)\n", s.Name, logic.Bindings(s.Parameters), s.Result, s.Body)
	}
	for _, f := range m.Axioms {
		fmt.Fprintf(&b, "; %s\n(assert %s)\n", f.Name, f.Term)
	}
	return b.String()
}

// body returns what is asserted for one obligation.
func (p *Plan) body(number int) string {
	var b strings.Builder
	o := &p.Obligations[number]
	for _, f := range o.premises {
		fmt.Fprintf(&b, "(assert %s)\n", f.Term)
	}
	if o.initial {
		for _, set := range p.Model.Initially {
			text := fmt.Sprintf("(= %s %s)", call(set.Symbol.Name, set.Vars), set.Value)
			if len(set.Vars) > 0 {
				text = fmt.Sprintf("(forall %s %s)", logic.Bindings(set.Vars), text)
			}
			fmt.Fprintf(&b, "(assert %s)\n", text)
		}
	}
	changed := func(*logic.Symbol) bool { return false }
	if o.Action != nil {
		for _, v := range o.Action.Parameters {
			fmt.Fprintf(&b, "(declare-fun %s () %s)\n", v.Name, v.Sort)
		}
		for _, g := range o.Action.Guards {
			fmt.Fprintf(&b, "(assert %s)\n", g.Term)
		}
		if o.after {
			changed = p.after(&b, o.Action)
		}
	}
	if o.Goal != nil {
		fmt.Fprintf(&b, "(assert (not %s))\n", o.Goal.Term.SMT(changed, false)) // patterns help only what is assumed
	}
	return b.String()
}

// after defines what an action changes, with a "!" behind the name, and returns which symbols these are.
func (p *Plan) after(b *strings.Builder, a *logic.Action) func(*logic.Symbol) bool {
	changed := func(s *logic.Symbol) bool {
		return a.Changes(s) || s.Role == logic.Defined && s.Body.Reads(a.Changes)
	}
	for _, set := range a.Assignments {
		vars, value := set.Vars, set.Value.String()
		if set.Where != nil {
			vars, value = point(set)
		}
		fmt.Fprintf(b, "(define-fun %s! %s %s %s)\n", set.Symbol.Name, logic.Bindings(vars), set.Symbol.Result, value)
	}
	for _, s := range p.Model.Definitions {
		if changed(s) {
			fmt.Fprintf(b, "(define-fun %s! %s %s %s)\n", s.Name, logic.Bindings(s.Parameters), s.Result, s.Body.SMT(changed, true))
		}
	}
	return changed
}

// point returns the arguments of a function and its value after a put.
func point(set *logic.Assignment) (vars []logic.Binding, value string) {
	var equal []string
	for i, t := range set.Where {
		v := logic.Binding{Name: fmt.Sprintf("x!%d", i), Sort: set.Symbol.Args[i]}
		vars, equal = append(vars, v), append(equal, fmt.Sprintf("(= %s %s)", v.Name, t))
	}
	here, before := equal[0], call(set.Symbol.Name, vars)
	if len(equal) > 1 {
		here = "(and " + strings.Join(equal, " ") + ")"
	}
	switch value = set.Value.String(); value {
	case "true":
		return vars, fmt.Sprintf("(or %s %s)", before, here)
	case "false":
		return vars, fmt.Sprintf("(and %s (not %s))", before, here)
	}
	return vars, fmt.Sprintf("(ite %s %s %s)", here, value, before)
}

func call(name string, args []logic.Binding) string {
	if len(args) == 0 {
		return name
	}
	for _, v := range args {
		name += " " + v.Name
	}
	return "(" + name + ")"
}
