package catalogue_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// The least identifier is small, or most times would be too long to be counted.
var hostile = []election.List{
	{}, {0}, {1}, {1, 1}, {0, 0}, {0, 1}, {1, 0}, {3, 1, 2}, {3, 0, 2}, {3, 1, 3}, {2, 3, 3}, {1, 2, 1, 2},
	{1, math.MaxUint32 - 2}, {1, math.MaxUint32 - 1}, {1, math.MaxUint32}, {math.MaxUint32 + 1, 1}, {1, math.MaxUint64}, {math.MaxUint64, 2, 3},
	{0, math.MaxUint32 - 2}, {0, math.MaxUint32 - 1}, {math.MaxUint32, 0}, {0, math.MaxUint32 + 1}, {math.MaxUint64, 0},
	{math.MaxUint32 + 1, 1, math.MaxUint32 + 1}, {math.MaxUint64, math.MaxUint64}, {5, math.MaxUint64, 0, math.MaxUint64 - 1},
}

// S5 section 2: a processor that wakes by itself decides to take part, and only one that a message wakes may be unwilling.
func TestWhoWakesByItselfTakesPartThoughAllAreUnwilling(t *testing.T) {
	tried := 0
	for _, e := range catalogue.All {
		for _, setting := range settings(e.Declaration) {
			set, err := e.Set(setting)
			if err != nil {
				t.Fatal(err)
			}
			if !e.Willingness || e.With(set).Starts != election.AnyStart {
				continue
			}
			ids, all := election.List{4, 2, 5}, []int{0, 1, 2}
			for q := range ids {
				tried++
				i := network.Setup{IDs: ids, Parameters: setting, Unwilling: all}
				wake := slices.Repeat([]election.Ticks{election.Forever}, len(ids))
				wake[q] = election.Units(3)
				r, err := e.Simulate(simulate.Options{Instance: i, Wake: wake})
				if err != nil {
					t.Fatal(err)
				}
				exact, err := e.Count(t.Context(), count.Woken{Arrangement: ids, Wake: wake, Unwilling: all}, set, nil)
				if err != nil {
					t.Fatal(err)
				}
				if leader, ok := r.Leader(); !ok || leader != q || !r.Right || exact.Position != q || exact.Messages.Total != r.Messages.Total || !sameTimes(exact.Time, r.Time) {
					t.Errorf("%s%v: %d wakes, run elects %d, count %d; %+v and %+v", e.Name, setting, q, leader, exact.Position, r.Messages, exact.Messages)
				}
				if one, err := e.Simulate(simulate.Options{Instance: i, Initiators: []int{q}}); err != nil || !one.Right || one.Leaders[0] != q {
					t.Errorf("%s%v: %d starts: %+v, %v", e.Name, setting, q, one, err)
				}
				if checked, err := e.Verify(verify.Options{Instance: i, Initiators: []int{q}}); err != nil || checked.Violation != nil || !checked.Complete {
					t.Errorf("%s%v: %d starts: %+v, %v", e.Name, setting, q, checked, err)
				}
			}
			for _, o := range []simulate.Options{{}, {Timing: election.Synchronous, Wake: slices.Repeat([]election.Ticks{election.Forever}, 3)}} {
				o.Instance = network.Setup{IDs: ids, Parameters: setting, Unwilling: all}
				if _, err := e.Simulate(o); !errors.Is(err, simulate.ErrOptions) {
					t.Errorf("%s%v begins, and nobody wakes: %v", e.Name, setting, err)
				}
			}
		}
	}
	if tried == 0 {
		t.Error("nobody may be unwilling")
	}
}

func TestACountIsRefusedExactlyWhereARunIs(t *testing.T) {
	refused, counted := 0, 0
	for _, e := range catalogue.All {
		if e.Count == nil {
			continue
		}
		for _, setting := range settings(e.Declaration) {
			t.Run(fmt.Sprint(e.Name, setting), func(t *testing.T) {
				set, err := e.Set(setting)
				if err != nil {
					t.Fatal(err)
				}
				dense, err := order.Increasing(7)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := e.Count(t.Context(), dense, set, nil); err != nil && e.With(set).Counts == election.CountsVary {
					return // there is no exact count for this setting
				}
				try := func(i network.Setup, ids election.Arrangement) {
					t.Helper()
					i.Parameters = setting
					_, err := e.Simulate(simulate.Options{Instance: i})
					if errors.Is(err, election.ErrTime) { // it is not refused, and too long
						return
					}
					no := errors.Is(err, network.ErrSetup) || errors.Is(err, simulate.ErrOptions)
					_, exact := e.Count(t.Context(), ids, set, nil)
					if exact != nil && !errors.Is(exact, count.ErrRing) {
						t.Error(exact)
					}
					if (exact != nil) != no {
						t.Errorf("%v, unwilling %v: counting says %v, running %v", i.IDs, i.Unwilling, exact, err)
					}
					if no {
						refused++
					} else {
						counted++
					}
				}
				try(network.Setup{IDs: dense}, dense)
				for _, ids := range hostile {
					try(network.Setup{IDs: ids}, ids)
					if !e.Willingness || len(ids) == 0 {
						continue
					}
					for who := range 1 << len(ids) { // all sets of unwilling processes
						i := network.Setup{IDs: ids}
						wake := make([]election.Ticks, len(ids))
						for q := range ids {
							if who>>q&1 != 0 {
								i.Unwilling = append(i.Unwilling, q)
								if e.With(set).Starts == election.AnyStart {
									wake[q] = election.Forever
								}
							}
						}
						try(i, count.Woken{Arrangement: ids, Wake: wake, Unwilling: slices.Clone(i.Unwilling)})
					}
				}
			})
		}
	}
	if refused == 0 || counted == 0 {
		t.Errorf("%d were refused, %d not", refused, counted)
	}
}
