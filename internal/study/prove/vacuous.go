package prove

import "ringleader.example/ringleader/internal/study/logic"

// Vacuous returns the plan of what is wrong with a model although all of it is proved: an action that is never possible, or changes nothing, and
// an invariant or a safety formula that follows from the axioms alone. What is proved of this plan is a warning. Few of its obligations have
// premises, so a solver sees soon what is so. [Plan.Warnings] reads the answers.
func Vacuous(m *logic.Model) *Plan {
	p := &Plan{Model: m, Obligations: Obligations(m).Obligations[:1]}
	never := &logic.Formula{Term: &logic.Term{Op: logic.Operator, Name: "false"}}
	for _, a := range m.Actions {
		p.Obligations = append(p.Obligations,
			Obligation{Name: "the action " + a.Name + " is never possible: its guards contradict each other or the axioms", Goal: never, Action: a},
			Obligation{Name: "the action " + a.Name + " changes nothing", Goal: &logic.Formula{Term: unchanged(a)}, Action: a},
			Obligation{Name: "the action " + a.Name + " is never possible where the invariants hold", Goal: never, Action: a, premises: m.Invariants})
	}
	for _, f := range m.Invariants {
		p.Obligations = append(p.Obligations, Obligation{Name: "the invariant " + f.Name + " follows from the axioms alone, so it says nothing", Goal: f})
	}
	for _, f := range m.Safety {
		p.Obligations = append(p.Obligations, Obligation{Name: "the safety formula " + f.Name + " follows from the axioms alone, so it says nothing", Goal: f})
	}
	return p
}

// Warnings returns what is proved of a plan of [Vacuous]: the first of what is proved of an action. From axioms that contradict each other
// anything follows, so that nothing is returned.
func (p *Plan) Warnings(r *Result) (warnings []string) {
	if r.Contradiction() {
		return nil
	}
	var last *logic.Action
	for i, o := range p.Obligations[1:] {
		if r.Answers[i+1].Verdict != Proved || o.Action != nil && o.Action == last {
			continue
		}
		warnings, last = append(warnings, o.Name), o.Action
	}
	return warnings
}

// unchanged says that all is after an action what it was before.
func unchanged(a *logic.Action) *logic.Term {
	all := &logic.Term{Op: logic.Operator, Name: "and"}
	for _, set := range a.Assignments {
		before := &logic.Term{Op: logic.Call, Name: set.Symbol.Name, Symbol: set.Symbol, Args: set.Where}
		for _, v := range set.Vars {
			before.Args = append(before.Args, &logic.Term{Op: logic.Variable, Name: v.Name, Sort: v.Sort})
		}
		same := &logic.Term{Op: logic.Operator, Name: "=", Args: []*logic.Term{before, set.Value}}
		if len(set.Vars) > 0 {
			same = &logic.Term{Op: logic.ForAll, Name: "forall", Vars: set.Vars, Args: []*logic.Term{same}}
		}
		all.Args = append(all.Args, same)
	}
	return all
}
