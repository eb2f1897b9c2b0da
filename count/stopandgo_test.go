package count_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/stopandgo"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/order"
)

// stopAndGo counts with a protocol of S5 and these parameters.
func stopAndGo(a *election.Algorithm[stopandgo.Process, stopandgo.Message], ids election.Arrangement, parameters map[string]string) (*count.Result, error) {
	set, err := a.Set(parameters)
	if err != nil {
		return nil, err
	}
	return count.StopAndGo(a.Sequence)(context.Background(), ids, set, nil)
}

// Elected at t + 2iH + n: with P4, c = 2, and more than 65536 processors, H is 2^65536.
func TestStopAndGoTakesAnyTimeExactly(t *testing.T) {
	const n, least = 65_537, 7
	ids := make(election.List, n)
	for q := range ids {
		ids[q] = uint64(least + (q+12345)%n)
	}
	r, err := stopAndGo(&stopandgo.P4, ids, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := new(big.Int).Lsh(big.NewInt(2*least), 65536)
	want.Add(want, big.NewInt(1+n))
	if r.Time.Elected.Cmp(want) != 0 || r.Leader != least || ids[r.Position] != least {
		t.Errorf("leader %d at %d, elected after %d bits of time", r.Leader, r.Position, r.Time.Elected.BitLen())
	}
	if last := r.ByPhase[len(r.ByPhase)-1]; len(r.ByPhase) != 6 || last != 1 {
		t.Errorf("by phase %v; the last step of all begins the last phase", r.ByPhase)
	}
}

// A large last hypothesis delays the leader, and kills no identity.
func TestStopAndGoCountsTheSameWithAnyLargeLastHypothesis(t *testing.T) {
	ring, _ := order.Random(500, 3)
	var first []uint64
	for _, bits := range []uint{20, 30, 64, 100, 1000} {
		a := stopandgo.With(election.Declaration{Name: "two"}, func(_ election.Parameters, before *big.Int, _ uint) *big.Int {
			if before == nil {
				return big.NewInt(40)
			}
			return new(big.Int).Lsh(big.NewInt(1), bits)
		}, "")
		r, err := stopAndGo(&a, ring, nil)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = r.ByPhase
		}
		equal(t, ring, "last hypothesis of more bits", r.ByPhase, first)
	}
}

// An order finds identifiers by itself, and listed ones are searched for; all give the same count.
func TestStopAndGoCountsTheSameHoweverIdentifiersAreFound(t *testing.T) {
	ring, err := order.Random(300, 5)
	if err != nil {
		t.Fatal(err)
	}
	ring, err = ring.From(1000)
	if err != nil {
		t.Fatal(err)
	}
	var listed election.List
	for p := range ring.Len() {
		listed = append(listed, ring.At(p))
	}
	wake := make([]election.Ticks, ring.Len())
	var first []uint64
	for _, ids := range []election.Arrangement{
		ring, listed, count.Woken{Arrangement: ring, Wake: wake}, count.Woken{Arrangement: listed, Wake: wake},
	} {
		r, err := stopAndGo(&stopandgo.P2, ids, nil)
		if err != nil {
			t.Fatal(err)
		}
		all := append(slices.Clone(r.ByPhase), r.Leader, uint64(r.Position), r.Time.Quiet.Uint64())
		if first == nil {
			first = all
		}
		equal(t, ring, "by phase, leader, position, time", all, first)
	}
}

func TestStopAndGoTakes8BytesAProcessor(t *testing.T) {
	const n = 1 << 16
	ring, err := order.Random(n, 3)
	if err != nil {
		t.Fatal(err)
	}
	least := uint64(math.MaxUint64) // of some runs: the runtime allocates beside them
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err = stopAndGo(&stopandgo.P1, ring, nil); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	if least > 9*n {
		t.Errorf("%.3g bytes a processor", float64(least)/n)
	}
}

// Time begins with the first wake-up, however late.
func TestStopAndGoCountsFromTheFirstToWake(t *testing.T) {
	ids := election.List{5, 2, 7, 1, 8, 3}
	wakes := []uint64{3, 0, 9, 4, 2, 9}
	var times []*big.Int
	for _, late := range []election.Ticks{{}, election.Power(127)} {
		woken := count.Woken{Arrangement: ids, Unwilling: []int{3, 2}}
		for _, at := range wakes {
			woken.Wake = append(woken.Wake, late.Add(election.Units(at)))
		}
		r, err := stopAndGo(&stopandgo.P1, woken, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Leader != 2 {
			t.Errorf("leader %d; 1 is woken by a message in unit 2, and is unwilling", r.Leader)
		}
		times = append(times, r.Time.Quiet)
	}
	if times[1].Sub(times[1], times[0]).Cmp(election.Power(127).Big()) != 0 {
		t.Errorf("2^127 units later, everything is %d units later", times[1])
	}
}

func TestStopAndGoRefusesWhatItCannotCount(t *testing.T) {
	for _, c := range []struct {
		ids        election.List
		parameters map[string]string
		want       string
	}{
		{election.List{}, nil, "processes"},
		{election.List{3, 3}, nil, "identifier 3 occurs twice"},
		{election.List{0, 3}, nil, "identifiers are at least 1"},
		{election.List{1 << 32, 3}, nil, "at most 4294967295"},
		{election.List{1, 2, 3}, map[string]string{"epsilon": "20"}, "hypothesis h_2, the first that is at least n = 3, and so the time, has more than 131072 binary digits"},
		{election.List{1, 2, 3, 4, 5}, map[string]string{"epsilon": "1/2"}, "the election would never end"},
	} {
		if _, err := stopAndGo(&stopandgo.P4, c.ids, c.parameters); !errors.Is(err, count.ErrRing) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, %v: %v, want %s", c.ids, c.parameters, err, c.want)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	set, _ := stopandgo.P1.Set(nil)
	if _, err := count.StopAndGo(stopandgo.P1.Sequence)(ctx, election.List{1, 2}, set, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a count that was stopped: %v", err)
	}
}

// Of many orders of one size, the hypotheses are computed once.
func TestStopAndGoRemembersItsHypotheses(t *testing.T) {
	computed := 0
	f := count.StopAndGo(func(set election.Parameters, n uint64, bits uint) ([]*big.Int, error) {
		computed++
		return stopandgo.P2.Sequence(set, n, bits)
	})
	for _, c := range []struct {
		n, want int
		a       string
	}{{8, 1, "3/2"}, {8, 1, "3/2"}, {9, 2, "3/2"}, {9, 3, "2"}, {9, 3, "2"}, {8, 4, "2"}} {
		ring, err := order.Random(c.n, 1)
		if err != nil {
			t.Fatal(err)
		}
		given := map[string]string{"a": c.a}
		set, err := stopandgo.P2.Set(given)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f(context.Background(), ring, set, nil)
		want, fails := stopAndGo(&stopandgo.P2, ring, given)
		if err != nil || fails != nil {
			t.Fatal(err, fails)
		}
		equal(t, ring, "messages", got.Messages.ByKind, want.Messages.ByKind)
		if computed != c.want {
			t.Errorf("n = %d, a = %s: computed %d times, not %d", c.n, c.a, computed, c.want)
		}
	}
}

// unsearched is a ring whose positions cannot be asked for.
type unsearched struct{ *order.Order }

func (unsearched) Position(uint64) int { panic("the position was asked for") }

func TestStopAndGoSearchesNoSmallRing(t *testing.T) {
	ring, err := order.Random(order.MaxTable, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stopAndGo(&stopandgo.P3, unsearched{ring}, nil); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkManyOrdersOfOneSize(b *testing.B) {
	for _, n := range []int{8, 1024} {
		for _, a := range []*election.Algorithm[stopandgo.Process, stopandgo.Message]{&stopandgo.P1, &stopandgo.P2, &stopandgo.P3, &stopandgo.P4} {
			b.Run(fmt.Sprintf("%s/n=%d", a.Name, n), func(b *testing.B) {
				set, _ := a.Set(nil)
				f, seed := count.StopAndGo(a.Sequence), uint64(0)
				for b.Loop() {
					ring, _ := order.Random(n, seed)
					if _, err := f(b.Context(), ring, set, nil); err != nil {
						b.Fatal(err)
					}
					seed++
				}
			})
		}
	}
}
