package all_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// The least identifier is small; otherwise most times would be out of range.
var hostile = []election.List{
	{},
	{0},
	{1},
	{1, 1},
	{0, 0},
	{0, 1},
	{1, 0},
	{3, 1, 2},
	{3, 0, 2},
	{3, 1, 3},
	{2, 3, 3},
	{1, 2, 1, 2},
	{1, math.MaxUint32 - 2},
	{1, math.MaxUint32 - 1},
	{1, math.MaxUint32},
	{math.MaxUint32 + 1, 1},
	{1, math.MaxUint64},
	{math.MaxUint64, 2, 3},
	{0, math.MaxUint32 - 2},
	{0, math.MaxUint32 - 1},
	{math.MaxUint32, 0},
	{0, math.MaxUint32 + 1},
	{math.MaxUint64, 0},
	{math.MaxUint32 + 1, 1, math.MaxUint32 + 1},
	{math.MaxUint64, math.MaxUint64},
	{5, math.MaxUint64, 0, math.MaxUint64 - 1},
}

// each calls do with each algorithm of the catalogue and each of its settings.
func each(t *testing.T, do func(e *catalogue.Entry, setting map[string]string, set election.Parameters)) {
	for _, e := range all.Algorithms {
		for _, setting := range electiontest.Settings(e.Declaration) {
			set, err := e.Set(setting)
			if err != nil {
				t.Fatal(err)
			}
			do(e, setting, set)
		}
	}
}

// S5 section 2: a processor that wakes by itself takes part; only one that a message wakes may be unwilling.
func TestWhoWakesByItselfTakesPartThoughAllAreUnwilling(t *testing.T) {
	tried := 0
	each(t, func(e *catalogue.Entry, setting map[string]string, set election.Parameters) {
		if !e.Willingness || e.With(set).Starts != election.AnyStart {
			return
		}
		ids, all := election.List{4, 2, 5}, []int{0, 1, 2}
		i := network.Setup{IDs: ids, Parameters: setting, Unwilling: all}
		for q := range ids {
			tried++
			wakesAlone(t, e, i, set, q)
		}
		for _, o := range []simulate.Options{{}, {Timing: election.Synchronous, Wake: slices.Repeat([]election.Ticks{election.Forever}, 3)}} {
			o.Setup = i
			if _, err := e.Simulate(o); !errors.Is(err, simulate.ErrOptions) {
				t.Errorf("%s%v begins, and no process wakes: %v", e.Name, setting, err)
			}
		}
	})
	if tried == 0 {
		t.Error("no process may be unwilling")
	}
}

// wakesAlone expects that all engines elect the process at q, which alone initiates among unwilling processes.
func wakesAlone(t *testing.T, e *catalogue.Entry, i network.Setup, set election.Parameters, q int) {
	t.Helper()
	wake := slices.Repeat([]election.Ticks{election.Forever}, i.IDs.Len())
	wake[q] = election.Units(3)
	r, err := e.Simulate(simulate.Options{Setup: i, Wake: wake})
	if err != nil {
		t.Fatal(err)
	}
	exact, err := e.Count(t.Context(), count.Woken{Arrangement: i.IDs, Wake: wake, Unwilling: i.Unwilling}, set, nil)
	if err != nil {
		t.Fatal(err)
	}
	if leader, ok := r.Leader(); !ok || leader != q || !r.Right || exact.Position != q || exact.Messages.Total != r.Messages.Total || !sameTimes(exact.Time, r.Time) {
		t.Errorf("%s%v: %d wakes, run elects %d, count %d; %+v and %+v", e.Name, i.Parameters, q, leader, exact.Position, r.Messages, exact.Messages)
	}
	if one, err := e.Simulate(simulate.Options{Setup: i, Initiators: []int{q}}); err != nil || !one.Right || one.Leaders[0] != q {
		t.Errorf("%s%v: %d starts: %+v, %v", e.Name, i.Parameters, q, one, err)
	}
	if checked, err := e.Verify(verify.Options{Setup: i, Initiators: []int{q}}); err != nil || checked.Violation != nil || !checked.Complete {
		t.Errorf("%s%v: %d starts: %+v, %v", e.Name, i.Parameters, q, checked, err)
	}
}

func TestACountIsRefusedExactlyWhereARunIs(t *testing.T) {
	refused, counted := 0, 0
	dense, err := order.Increasing(7)
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(e *catalogue.Entry, setting map[string]string, set election.Parameters) {
		if e.Count == nil {
			return
		}
		if _, err := e.Count(t.Context(), dense, set, nil); err != nil && e.With(set).Counts == election.CountsVary {
			return // there is no exact count for this setting
		}
		t.Run(fmt.Sprint(e.Name, setting), func(t *testing.T) {
			try := func(i network.Setup, ids election.Arrangement) {
				i.Parameters = setting
				switch no, known := refuses(t, e, i, ids, set); {
				case !known:
				case no:
					refused++
				default:
					counted++
				}
			}
			try(network.Setup{IDs: dense}, dense)
			for _, ids := range hostile {
				try(network.Setup{IDs: ids}, ids)
				for _, w := range unwillings(e, ids, set) {
					try(network.Setup{IDs: ids, Unwilling: slices.Clone(w.Unwilling)}, w)
				}
			}
		})
	})
	if refused == 0 || counted == 0 {
		t.Errorf("%d were refused, %d not", refused, counted)
	}
}

// refuses reports whether a run is refused, and expects the same of counting. It is unknown if a run would be too
// long.
func refuses(t *testing.T, e *catalogue.Entry, i network.Setup, ids election.Arrangement, set election.Parameters) (no, known bool) {
	t.Helper()
	_, err := e.Simulate(simulate.Options{Setup: i})
	if errors.Is(err, election.ErrTime) {
		return false, false
	}
	no = errors.Is(err, network.ErrSetup) || errors.Is(err, simulate.ErrOptions)
	_, exact := e.Count(t.Context(), ids, set, nil)
	if exact != nil && !errors.Is(exact, count.ErrRing) {
		t.Error(exact)
	}
	if (exact != nil) != no {
		t.Errorf("%v, unwilling %v: counting says %v, running %v", i.IDs, i.Unwilling, exact, err)
	}
	return no, true
}

// unwillings returns all sets of unwilling processes, which a message must wake if any processes may start.
func unwillings(e *catalogue.Entry, ids election.List, set election.Parameters) (all []count.Woken) {
	if !e.Willingness || len(ids) == 0 {
		return nil
	}
	for who := range 1 << len(ids) {
		w := count.Woken{Arrangement: ids, Wake: make([]election.Ticks, len(ids))}
		for q := range ids {
			if who>>q&1 == 0 {
				continue
			}
			w.Unwilling = append(w.Unwilling, q)
			if e.With(set).Starts == election.AnyStart {
				w.Wake[q] = election.Forever
			}
		}
		all = append(all, w)
	}
	return all
}
