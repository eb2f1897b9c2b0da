//go:build !race

package reproduce

import (
	"context"
	"math/big"
	"slices"
	"testing"

	"ringleader.example/ringleader/catalogue"
	claims "ringleader.example/ringleader/check"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify"
)

// doctors are wrong measurements of all algorithms.
var doctors = []struct {
	is     string
	change func(e *catalogue.Entry)
}{
	{"nobody leads, and something is violated", func(e *catalogue.Entry) {
		simulated(e, func(r *simulate.Result) { r.Leaders, r.Right, r.Agreed, r.Decided = nil, false, false, 0 })
		verified(e, func(r *verify.Report) {
			if r.Violation == nil {
				r.Violation = &verify.Violation{Property: "something"}
			}
		})
		checked := e.Check
		if checked != nil {
			e.Check = func(r *trace.Record, p *network.Instance) ([]claims.Claim, error) {
				all, err := checked(r, p)
				for i := range all {
					all[i].Holds = false
				}
				return all, err
			}
		}
	}},
	{"all is right, and nothing is violated", func(e *catalogue.Entry) {
		simulated(e, func(r *simulate.Result) {
			r.Right, r.Agreed, r.Complete, r.Decided, r.Leaders = true, true, true, r.Live, []int{0}
		})
		verified(e, func(r *verify.Report) { r.Violation, r.Complete = nil, true })
	}},
	{"all costs more", func(e *catalogue.Entry) {
		simulated(e, func(r *simulate.Result) {
			dear(&r.Messages)
			for i := range r.ByPhase {
				r.ByPhase[i] = 5*r.ByPhase[i] + 100
			}
			if r.Time != nil {
				for _, at := range []*election.Ticks{&r.Time.Elected, &r.Time.Decided, &r.Time.Quiet} {
					*at = at.Add(election.Units(1000))
				}
			}
		})
		if right := e.Count; right != nil {
			e.Count = func(ctx context.Context, ids election.Arrangement, set election.Parameters, progress func(int, int)) (*count.Result, error) {
				r, err := right(ctx, ids, set, progress)
				if err == nil {
					dear(&r.Messages)
					if r.Time != nil {
						r.Time.Elected.Mul(r.Time.Elected, big.NewInt(100))
					}
				}
				return r, err
			}
		}
		verified(e, func(r *verify.Report) {
			if r.MaxMessages != nil {
				r.MaxMessages.Total, r.MaxMessages.Election = r.MaxMessages.Total+1000, r.MaxMessages.Election+1000
			}
		})
	}},
	{"nothing is recorded", func(e *catalogue.Entry) {
		simulated(e, func(r *simulate.Result) {
			if r.Record != nil {
				r.Record.Steps = nil
			}
		})
	}},
	{"hypotheses are larger", func(e *catalogue.Entry) {
		sequence := e.Declaration.Sequence
		if sequence != nil {
			d := *e.Declaration
			d.Sequence = func(set election.Parameters, n uint64, bits uint) ([]*big.Int, error) {
				all, err := sequence(set, n, bits)
				for i, h := range all {
					if h != nil {
						all[i] = new(big.Int).Add(new(big.Int).Mul(h, big.NewInt(7)), big.NewInt(3))
					}
				}
				return all, err
			}
			e.Declaration = &d
		}
	}},
}

func simulated(e *catalogue.Entry, change func(*simulate.Result)) {
	right := e.Simulate
	e.Simulate = func(o simulate.Options) (*simulate.Result, error) {
		r, err := right(o)
		if err == nil {
			change(r)
		}
		return r, err
	}
}

func verified(e *catalogue.Entry, change func(*verify.Report)) {
	right := e.Verify
	e.Verify = func(o verify.Options) (*verify.Report, error) {
		r, err := right(o)
		if err == nil {
			change(r)
		}
		return r, err
	}
}

func dear(m *election.Messages) {
	m.ByKind = slices.Clone(m.ByKind)
	for k := range m.ByKind {
		m.ByKind[k] = 5*m.ByKind[k] + 100
	}
	m.Total, m.Election, m.Announcement = 5*m.Total+100, 5*m.Election+100, 5*m.Announcement+100
}

func TestEveryVerdictCanComeOutOtherwise(t *testing.T) {
	verdicts := committed(t)
	for _, row := range All() {
		name := row.Source + " " + row.Where
		if row.Thorough || slices.ContainsFunc(s1Code, func(r Row) bool { return r.Where == row.Where }) { // those have mutants of their own
			continue
		}
		turned := false
		for _, d := range doctors {
			from := library
			from.find = func(name string) (*catalogue.Entry, error) {
				e, err := catalogue.Find(name)
				if err != nil {
					return nil, err
				}
				doctored := *e
				d.change(&doctored)
				return &doctored, nil
			}
			r := check(t.Context(), row, from)
			if turned = r.Err == nil && r.Verdict.String() != verdicts[name]; turned {
				break
			}
		}
		if !turned {
			t.Errorf("%s: %s, whatever is measured", name, verdicts[name])
		}
	}
}
