package loops

import "ringleader.example/ringleader/election"

// typed is a run with the types of the algorithm.
type typed[S, M any] struct {
	run     *Run
	a       *election.Algorithm[S, M]
	states  []S
	collect *election.Collector[M]
}

func newTyped[S, M any](r *Run, a *election.Algorithm[S, M]) *typed[S, M] {
	r.begin()
	t := &typed[S, M]{run: r, a: a, states: make([]S, r.size()), collect: new(election.Collector[M])}
	for q := range t.states {
		t.states[q] = a.New(r.Outcome.Prepared.Local(q))
	}
	t.collect.Choices(r.Choose)
	return t
}

func (t *typed[S, M]) State(p int) any { return t.states[p] }

func (t *typed[S, M]) Eligible(p int) bool {
	if t.a.Eligible == nil {
		return t.run.Outcome.Prepared.Willing(p)
	}
	return t.a.Eligible(&t.states[p])
}

// begin points the collector at process p and returns the Out for its next step.
func (t *typed[S, M]) begin(p int) *election.Out[M] {
	t.collect.At(t.run.Network.First(p))
	t.collect.Clock(t.run.now)
	return t.collect.Out()
}

// phase returns the function that gives the phase of a message; nil if phases are not counted.
func (t *typed[S, M]) phase() func(election.Kind, M) int {
	if !t.run.Phases {
		return nil
	}
	return t.a.Phase
}

// phases counts election messages by their phases.
func (t *typed[S, M]) phases(in []election.Sent[M]) {
	phase, elects, byPhase := t.a.Phase, uint32(t.run.elects), &t.run.byPhase
	for i := range in {
		m := &in[i]
		kind := m.Link & 15
		if elects>>kind&1 == 0 {
			continue
		}
		if of := uint(phase(election.Kind(kind), m.M)); of < uint(len(byPhase)) {
			byPhase[of]++
		} else {
			t.run.phase(int(of))
		}
	}
}

// decisions applies the decisions of some steps of one moment.
func (t *typed[S, M]) decisions() {
	t.run.decisions(t.collect.Effects())
	t.collect.ResetEffects()
}
