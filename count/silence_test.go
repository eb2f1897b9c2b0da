package count_test

import (
	"errors"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/loops"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/internal/runners/knownsize"
	"ringleader.example/ringleader/internal/runners/lcrsynchronous"
	"ringleader.example/ringleader/internal/runners/stopandgo"
	"ringleader.example/ringleader/internal/runners/variablespeeds"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
	simulator "ringleader.example/ringleader/simulate"
)

// synchronous is an algorithm whose rounds are simulated and counted.
type synchronous struct {
	*election.Declaration
	exact    count.Func
	simulate func(simulator.Options) (*simulator.Result, error)
	given    map[string]string
	least    int // the least identifier allowed
}

func inRounds(p *loops.Program, exact count.Func, least int, given map[string]string) synchronous {
	return synchronous{p.Declaration, exact, simulator.New(p).Run, given, least}
}

func synchronousOnes() []synchronous {
	atAnyTime := map[string]string{"starts": "any"}
	all := []synchronous{
		inRounds(lcrsynchronous.Program, count.LCRSynchronous.Count, 0, nil),
		inRounds(knownsize.Program, count.KnownSize(knownsize.Program.Sequence), 1, nil),
		inRounds(knownsize.Program, count.KnownSize(knownsize.Program.Sequence), 1, atAnyTime),
		inRounds(knownsize.Program, count.KnownSize(knownsize.Program.Sequence), 1, map[string]string{"N": "20"}),
		inRounds(variablespeeds.Program, count.VariableSpeeds, 0, nil),
		inRounds(variablespeeds.Program, count.VariableSpeeds, 0, atAnyTime),
	}
	for _, a := range []*loops.Program{stopandgo.P1, stopandgo.P2, stopandgo.P3, stopandgo.P4} {
		all = append(all, inRounds(a, count.StopAndGo(a.Sequence), 1, nil))
	}
	return all
}

// same runs an election and counts it.
func (a *synchronous) same(t *testing.T, o simulator.Options, ids election.Arrangement) {
	t.Helper()
	o.Setup.Parameters = a.given
	set, err := a.Set(a.given)
	if err != nil {
		t.Fatal(err)
	}
	o.Record = ids.Len() <= 24 // the record tells who enters a phase
	r, err := a.simulate(o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := a.exact(t.Context(), ids, set, nil)
	if err != nil {
		t.Fatal(err)
	}
	leader, _ := r.Leader()
	want := []*big.Int{r.Time.Elected.Big(), r.Time.Decided.Big(), r.Time.Quiet.Big()}
	got := []*big.Int{c.Time.Elected, c.Time.Decided, c.Time.Quiet}
	if !slices.EqualFunc(got, want, func(a, b *big.Int) bool { return a.Cmp(b) == 0 }) || c.Position != leader || c.Leader != o.Setup.IDs.At(leader) ||
		!reflect.DeepEqual(c.Messages, r.Messages) || !slices.Equal(c.ByPhase, r.ByPhase) ||
		o.Record && !slices.Equal(c.Entered, r.Entered) {
		t.Fatalf("%s%v on %v, wake %v, unwilling %v: counted %+v at %v, simulated %+v at %v, leader %d",
			a.Name, a.given, o.Setup.IDs, o.Wake, o.Setup.Unwilling, c, got, r.Messages, want, leader)
	}
}

func TestCountsAreThoseOfRounds(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	for _, a := range synchronousOnes() {
		source := random.New(7, 0)
		below := func(n int) int { return int(source.Below(uint64(n))) }
		set, err := a.Set(a.given)
		if err != nil {
			t.Fatal(err)
		}
		anyStart := a.Willingness && a.With(set).Starts == election.AnyStart
		for k := range 13 * 8 { // each size 8 times
			n := k%13 + 1
			shuffled, err := order.Random(n, uint64(k))
			if err != nil {
				t.Fatal(err)
			}
			a.same(t, simulator.Options{Setup: network.Setup{IDs: shuffled}}, shuffled)
			ids := make(election.List, n) // with gaps
			for next, q := a.least+below(3), 0; q < n; q++ {
				for p := range n {
					if shuffled.At(p) == uint64(q+1) {
						ids[p] = uint64(next)
					}
				}
				next += 1 + below(6)*below(2)
			}
			o := simulator.Options{Setup: network.Setup{IDs: ids}}
			a.same(t, o, ids)
			if !a.Willingness {
				continue
			}
			wake := make([]election.Ticks, n)
			for q := range n {
				if below(4) == 0 && len(o.Setup.Unwilling) < n-1 {
					o.Setup.Unwilling = append(o.Setup.Unwilling, q)
				}
				if anyStart {
					if wake[q] = election.Units(uint64(3 + below(n+2))); below(3) == 0 && q > 0 {
						wake[q] = election.Forever
					}
				}
			}
			if anyStart {
				o.Wake = wake
			}
			a.same(t, o, count.Woken{Arrangement: ids, Wake: wake, Unwilling: o.Setup.Unwilling})
		}
	}
}

// A ring of several parts is read by several goroutines, and each finds its own least and greatest.
func TestTheLeastOfALargeRingIsFoundInWhateverPart(t *testing.T) {
	const n = 1 << 18
	for _, a := range synchronousOnes()[1:6] {
		set, err := a.Set(a.given)
		if err != nil {
			t.Fatal(err)
		}
		ids := make(election.List, n)
		for q := range ids {
			ids[q] = uint64(100 + q)
		}
		places := []int{0, 1, n / 5, n / 2, n - 2, n - 1}
		if testing.Short() {
			places = places[3:4]
		}
		for _, at := range places {
			was := ids[at]
			ids[at] = 3
			if a.given["N"] == "" {
				r, err := a.exact(t.Context(), ids, set, nil)
				if err != nil || r.Leader != 3 || r.Position != at {
					t.Errorf("%s%v: least at %d: %+v, %v", a.Name, a.given, at, r, err)
				}
			}
			ids[at] = 0
			if _, err := a.exact(t.Context(), ids, set, nil); (err == nil) != (a.FromZero && a.given["N"] == "") {
				t.Errorf("%s%v: 0 at %d: %v", a.Name, a.given, at, err)
			}
			ids[at] = network.MaxComputed + 1
			if _, err := a.exact(t.Context(), ids, set, nil); !errors.Is(err, count.ErrRing) {
				t.Errorf("%s%v: one too large at %d: %v", a.Name, a.given, at, err)
			}
			ids[at] = was
		}
	}
}

func TestIdentifiersThatAreComputedWithAreRefusedAsARunRefusesThem(t *testing.T) {
	const most = network.MaxComputed
	for _, a := range synchronousOnes()[1:] {
		set, err := a.Set(a.given)
		if err != nil {
			t.Fatal(err)
		}
		zero := uint64(0)
		if a.FromZero {
			zero = 1
		}
		for _, c := range []struct {
			ids       election.List
			unwilling []int
			says      string
		}{
			{election.List{2, 1}, nil, ""},
			{election.List{2, most - zero}, nil, ""},
			{election.List{2, 0}, nil, "0"},
			{election.List{0, 2}, []int{0}, "0"}, // although it takes no part
			{election.List{2, most + 1 - zero}, nil, "large"},
			{election.List{most + 1 - zero, 2}, []int{0}, "large"},
			{election.List{2, 1 << 63}, nil, "large"},
			{election.List{2, 2}, nil, "twice"},
			{election.List{2, 1}, []int{0, 1}, "unwilling"},
			{election.List{}, nil, "none"},
		} {
			var ids election.Arrangement = c.ids
			if c.unwilling != nil {
				wake := make([]election.Ticks, len(c.ids))
				if c.says == "unwilling" && a.With(set).Starts == election.AnyStart {
					wake = slices.Repeat([]election.Ticks{election.Forever}, len(c.ids))
				}
				ids = count.Woken{Arrangement: ids, Wake: wake, Unwilling: c.unwilling}
			}
			refused := c.says != "" && (c.says != "0" || !a.FromZero)
			if _, err := a.exact(t.Context(), ids, set, nil); errors.Is(err, count.ErrRing) != refused || err != nil && !refused {
				t.Errorf("%s%v on %v, unwilling %v: %v, refused for: %s", a.Name, a.given, c.ids, c.unwilling, err, c.says)
			}
		}
	}
}

func TestATimeOfTooManyDigitsIsRefused(t *testing.T) {
	set, err := variablespeeds.Program.Set(nil)
	if err != nil {
		t.Fatal(err)
	}
	const most = 1 << 23
	if r, err := count.VariableSpeeds(t.Context(), election.List{most + 1, most}, set, nil); err != nil || r.Time.Elected.BitLen() != most+2 {
		t.Errorf("a time of 2^%d: %v", most, err)
	}
	if _, err := count.VariableSpeeds(t.Context(), election.List{most + 1, most + 2}, set, nil); !errors.Is(err, count.ErrRing) {
		t.Errorf("a time of 2^%d: %v", most+1, err)
	}
}

func TestAllStartTogetherOrAreRefused(t *testing.T) {
	set, err := knownsize.Program.Set(nil)
	if err != nil {
		t.Fatal(err)
	}
	late := count.Woken{Arrangement: election.List{2, 1}, Wake: []election.Ticks{{}, election.Units(1)}}
	if _, err := count.KnownSize(knownsize.Program.Sequence)(t.Context(), late, set, nil); !errors.Is(err, count.ErrRing) {
		t.Errorf("one wakes late: %v", err)
	}
}
