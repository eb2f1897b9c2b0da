package simulate

import "ringleader.example/ringleader/election"

// typed is a run of a large network, whose engines know the types of the algorithm: they keep states and messages in
// rows, and call the algorithm directly. They trust it to keep to the contract.
type typed[S, M any] struct {
	run     *run
	a       *election.Algorithm[S, M]
	states  []S
	collect *election.Collector[M]
}

func newTyped[S, M any](r *run, a *election.Algorithm[S, M]) *typed[S, M] {
	t := &typed[S, M]{run: r, a: a, states: make([]S, r.p.Size()), collect: new(election.Collector[M])}
	for q := range t.states {
		t.states[q] = a.New(r.p.Local(q))
	}
	t.collect.Choices(r.choose)
	return t
}

func (t *typed[S, M]) stands(p int) bool {
	if t.a.Eligible == nil {
		return t.run.p.Willing(p)
	}
	return t.a.Eligible(&t.states[p])
}

// begin points the collector at process p and returns the Out for its next step.
func (t *typed[S, M]) begin(p int) *election.Out[M] {
	t.collect.At(t.run.net.First(p))
	t.collect.Clock(t.run.now)
	return t.collect.Out()
}

// phase returns the function that gives the phase of a message; nil if phases are not counted.
func (t *typed[S, M]) phase() func(election.Kind, M) int {
	if !t.run.has.Phase {
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
