//go:build !race

package sources_test

import (
	"context"
	"errors"
	"math/big"
	"regexp"
	"slices"
	"testing"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/outcome"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify"
)

// doctors are wrong measurements of all algorithms.
var doctors = []struct {
	is     string
	change func(e *catalogue.Entry)
}{
	{"no leader, and something is violated", func(e *catalogue.Entry) {
		simulated(e, func(r *simulate.Result) { r.Leaders, r.Right, r.Agreed, r.Decided = nil, false, false, 0 })
		verified(e, func(r *verify.Report) {
			if r.Violation == nil {
				r.Violation = &verify.Violation{Property: "something"}
			}
		})
		if checked := e.Check; checked != nil {
			e.Check = func(r *trace.Record, p *network.Instance) ([]catalogue.Claim, error) {
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
	{"little costs much", func(e *catalogue.Entry) {
		simulated(e, func(r *simulate.Result) {
			n := uint64(len(r.Decisions))
			cheap(&r.Messages, 2*n*(n-1))
			if r.Open != nil {
				r.Open.Messages = 0
			}
		})
		if right := e.Count; right != nil {
			e.Count = func(ctx context.Context, ids election.Arrangement, set election.Parameters, progress func(int, int)) (*count.Result, error) {
				r, err := right(ctx, ids, set, progress)
				if err == nil {
					cheap(&r.Messages, 1)
				}
				return r, err
			}
		}
	}},
	{"nothing is recorded", nothingRecorded},
	{"no hypothesis suffices", func(e *catalogue.Entry) {
		if e.Sequence != nil {
			d := *e.Declaration
			d.Sequence = func(election.Parameters, uint64, uint) ([]*big.Int, error) { return nil, errors.New("none suffices") }
			e.Declaration = &d
		}
	}},
	{"hypotheses are larger", func(e *catalogue.Entry) {
		if sequence := e.Sequence; sequence != nil {
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

func nothingRecorded(e *catalogue.Entry) {
	simulated(e, func(r *simulate.Result) {
		if r.Record != nil {
			r.Record.Steps = nil
		}
	})
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

// cheap has no count above a limit.
func cheap(m *outcome.Messages, most uint64) {
	m.ByKind = slices.Clone(m.ByKind)
	for k := range m.ByKind {
		m.ByKind[k] = min(m.ByKind[k], most)
	}
	m.Total, m.Election, m.Announcement = min(m.Total, most), min(m.Election, most), min(m.Announcement, most)
}

// dear has each count higher.
func dear(m *outcome.Messages) {
	m.ByKind = slices.Clone(m.ByKind)
	for k := range m.ByKind {
		m.ByKind[k] = 5*m.ByKind[k] + 100
	}
	m.Total, m.Election, m.Announcement = 5*m.Total+100, 5*m.Election+100, 5*m.Announcement+100
}

// codeLine is where a row about a line of S1's code is.
var codeLine = regexp.MustCompile(`^Bully, code line \d+$`)

// rowsOfTheCatalogue are the quick rows but those of S1's lines, which have mutants of their own.
func rowsOfTheCatalogue() []reproduce.Row {
	return slices.DeleteFunc(quick("S1", "S2", "S3", "S4", "S5"), func(row reproduce.Row) bool { return codeLine.MatchString(row.Where) })
}

// costly are rows that take most of the time of all. The page in docs has what they find: go generate makes it again, which CI compares. So
// only -long judges them here, too, and changes what they measure.
var costly = []string{
	"S1 Bully, after TERMINATE", "S1 Bully, code lines 6-8", "S1 Bully, phases", "S1 Bully, wake schedule", "S1 Theorem 13.11",
	"S1 Theorem 13.8", "S1 simplified Bully, constant fractions", "S1 the problem", "S2 section 2.1, definition", "S2 section 2.1, reason 2",
	"S3 section 1, left and right", "S3 section 1, the problem", "S3 section 2, stages", "S3 section 2, the leader",
	"S4 introduction, highest, every schedule", "S5 Lemma 4.5", "S5 Theorem 4.3", "S5 Theorem 4.3, less than",
	"S5 Theorem 4.3, other hypotheses", "S5 Theorem 4.3, proof, all considered", "S5 Theorem 4.3, proof, case 1", "S5 Theorem 4.3, proof, case 2",
	"S5 Theorem 4.3, proof, id(2) in case 1", "S5 Theorem 4.3, proof, pairs", "S5 Theorem 4.3, proof, white and red", "S5 Theorem 5.1, proof, (P1)", "S5 Theorem 5.1, proof, (P2)",
	"S5 Theorem 5.1, proof, (P3)", "S5 section 1, the leader", "S5 section 3, no message", "S5 section 3, the loop", "S5 section 3, variables",
}

// examination is what the tests ask about a row.
type examination struct {
	judged   bool
	result   reproduce.Result    // if it is judged
	asks     map[string]bool     // the algorithms that it runs, checks or counts, if it is judged
	records  bool                // and whether it asks for the record of a run
	verdicts []reproduce.Verdict // after each change by the doctors, until one differs; without those that are errors
}

// otherwise reports whether a verdict differs.
func (e *examination) otherwise(from string) bool {
	return slices.ContainsFunc(e.verdicts, func(v reproduce.Verdict) bool { return v.String() != from })
}

var examinations = map[string]*examination{}

// examine judges a row, and after each change by the doctors. That is done once, in one go: the answers to its questions are
// in memory then.
func examine(t *testing.T, row reproduce.Row) *examination {
	name := row.Source + " " + row.Where
	if e := examinations[name]; e != nil {
		return e
	}
	from := committed(t)[name]
	e := &examination{judged: *long || !slices.Contains(costly, name), asks: map[string]bool{}}
	examinations[name] = e
	if e.judged {
		e.result = judged(t, row, changedEach(func(entry *catalogue.Entry) {
			noteUse(entry, func() { e.asks[entry.Name] = true })
			run := entry.Simulate
			entry.Simulate = func(o simulate.Options) (*simulate.Result, error) {
				e.records = e.records || o.Record
				return run(o)
			}
		}))
		from = e.result.Verdict.String()
	}
	if !e.judged || codeLine.MatchString(row.Where) {
		return e
	}
	for _, change := range changes(e.records) {
		r := judged(t, row, changedEach(change))
		if r.Err == nil {
			e.verdicts = append(e.verdicts, r.Verdict)
		}
		if e.otherwise(from) {
			break
		}
	}
	return e
}

// changes are those of the doctors. A row that asks for records mostly has another verdict without them, so that comes first.
func changes(records bool) (all []func(e *catalogue.Entry)) {
	if records {
		all = append(all, nothingRecorded)
	}
	for _, d := range doctors {
		all = append(all, d.change)
	}
	return all
}

func TestCostlyRowsAreThere(t *testing.T) {
	for _, name := range costly {
		if !slices.ContainsFunc(rowsOfTheCatalogue(), func(row reproduce.Row) bool { return row.Source+" "+row.Where == name }) {
			t.Errorf("no quick row is %s", name)
		}
	}
}

func TestEveryVerdictCanComeOutOtherwise(t *testing.T) {
	verdicts := committed(t)
	for _, row := range rowsOfTheCatalogue() {
		name := row.Source + " " + row.Where
		if e := examine(t, row); e.judged && !e.otherwise(verdicts[name]) {
			t.Errorf("%s: %s, whatever is measured", name, verdicts[name])
		}
	}
}

func TestARowThatLooksAtStepsDoesNotKeepItsVerdictWhereThereAreNone(t *testing.T) {
	looks := []string{
		"LCR, step 1", "LCR, step 2", "section 2.3.1, trans, lines 1–7", "logical ring, step 1", "exercise 2(a)", "exercise 4(b), equal and opposite", "exercise 5(a)",
		"algorithm, when", "section 3, phase 0", "section 3, too late", "section 3, end of phase 1", "Theorem 4.2, decides", "Lemma 4.5, proof, phase 1",
		"Lemma 4.5, proof, last line", "section 4, observation (1)", "Theorem 4.3, proof, black", "Theorem 4.3, proof, case 1", "Theorem 4.3, proof, the sum",
	}
	verdicts := committed(t)
	for _, row := range rowsOfTheCatalogue() {
		at := slices.Index(looks, row.Where)
		if at < 0 {
			continue
		}
		looks = slices.Delete(looks, at, at+1)
		r := judged(t, row, changedEach(nothingRecorded))
		if r.Err != nil || r.Verdict.String() == verdicts[row.Source+" "+row.Where] {
			t.Errorf("%s: %s, with empty records, too: %s %v", row.Where, r.Verdict, r.Measured, r.Err)
		}
	}
	if len(looks) > 0 {
		t.Errorf("there are no rows %q", looks)
	}
}
