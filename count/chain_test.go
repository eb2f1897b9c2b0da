package count

import (
	"math/bits"
	"reflect"
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/property"
	"ringleader.example/ringleader/order"
)

// rules are the algorithms' rules of odd and even phases, and the length of their rows.
var rules = map[string]struct {
	row       int
	odd, even rule
}{
	"franklin, peterson":   {3, localMaxima, localMaxima},
	"peterson-alternating": {2, greaterThanBefore, beforeIfGreater},
	"minmax":               {2, beforeIfLess, beforeIfGreater},
}

func TestAChainDoesWhatOnePhaseAfterTheOtherDoes(t *testing.T) {
	for name, r := range rules {
		property.Check(t, func(t *property.T) {
			n := property.IntRange(1, 80).Draw(t, "n")
			ids := election.List(property.Distinct(property.Uint64Range(0, 200), n, n).Draw(t, "ids"))
			few := property.IntRange(1, r.row-1).Draw(t, "few")
			odd := func(phase int) rule { return [2]rule{r.odd, r.even}[phase%2] }

			values := make([]value, n)
			for p, id := range ids {
				values[p] = value{id, uint32(p), uint32(p)}
			}
			entered := []uint64{uint64(n)}
			for len(values) > few {
				closed := append(values, values[:r.row-1]...)
				values = odd(len(entered)-1)(closed, make([]value, 0, len(closed)))
				entered = append(entered, uint64(len(values)))
			}
			parts := property.IntRange(1, min(n, maxParts)).Draw(t, "parts")
			gotEntered, got, err := closed(t, ids, parts, r.row, few, odd)
			if err != nil || !slices.Equal(gotEntered, entered) || !sameRing(got, values) {
				t.Fatalf("%s on %v in %d parts: %d values enter the phases, the last %v; want %d and %v; %v", name, ids, parts, gotEntered, got, entered, values, err)
			}
		})
	}
}

// closed takes a ring through phases, read in parts. It returns how many values enter each, and the last ones.
func closed(t property.TB, ids election.Arrangement, parts, row, few int, rule func(phase int) rule) (entered []uint64, last []value, err error) {
	r, err := phased(ids, row, few, rule, func(_ uint64, e []uint64, l []value) *Result {
		entered, last = e, l
		return &Result{}
	})
	if err == nil {
		_, err = r.Result(joined(t, r, parts))
	}
	return entered, last, err
}

// sameRing reports whether one or two values are the same up to rotation.
func sameRing(a, b []value) bool {
	return reflect.DeepEqual(a, b) || len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}

func TestPartsOfALargeRingComeToTheSame(t *testing.T) {
	const n = 1 << 17 // links are filled many times
	names := order.Names
	if testing.Short() {
		names = names[:2]
	}
	for _, name := range names {
		o, err := order.Parse(name, n, 1)
		if err != nil {
			t.Fatal(err)
		}
		for of, r := range rules {
			odd := func(phase int) rule { return [2]rule{r.odd, r.even}[phase%2] }
			whole, leader, _ := closed(t, o, 1, r.row, 1, odd)
			for _, parts := range []int{2, 3, maxParts} {
				got, values, err := closed(t, o, parts, r.row, 1, odd)
				if err != nil || !slices.Equal(got, whole) || !reflect.DeepEqual(values, leader) {
					t.Errorf("%s, %s in %d parts: %d enter the phases and %v, not %d and %v, %v", of, name, parts, got, values, whole, leader, err)
				}
			}
		}
	}
}

func TestAChainKeepsFewValuesOfEachPhase(t *testing.T) {
	const n = 1 << 18
	for _, name := range order.Names {
		o, err := order.Parse(name, n, 1)
		if err != nil {
			t.Fatal(err)
		}
		ids := make([]uint64, n)
		o.Fill(ids, 0)
		for of, r := range rules {
			c := chain{row: r.row, n: n, rule: func(phase int) rule { return [2]rule{r.odd, r.even}[phase%2] }}
			c.feed(0, ids)
			if c.close(1); len(c.phases) > 2*bits.Len(n) {
				t.Errorf("%s, %s: %d phases", of, name, len(c.phases))
			}
			for phase, l := range c.phases {
				if cap(l.Values) != linkLen {
					t.Errorf("%s, %s: phase %d has room for %d values", of, name, phase, cap(l.Values))
				}
			}
		}
	}
}

func TestEnvelopesKeepFewOfEachRound(t *testing.T) {
	const n = 1 << 18
	for _, name := range order.Names {
		o, err := order.Parse(name, n, 1)
		if err != nil {
			t.Fatal(err)
		}
		e := envelopes{n: n}
		begin := least(o)
		for i := range n {
			p := (begin + i) % n
			e.enter(0, value{o.At(p), uint32(p), uint32(p)})
		}
		e.close()
		for k, r := range e.rounds {
			if len(r.first) > 30 {
				t.Errorf("%s: %d envelopes of round %d are kept", name, len(r.first), 2*k+1)
			}
		}
	}
}

// At most n/F(r) envelopes enter an odd round r, and rounds r+1 and r+2 together take at most 2n - n·F(r+1)/F(r+4)
// messages: the two inequalities of Higham and Przytycka's proof.
func TestRoundsOfHighamPrzytyckaKeepTheirBounds(t *testing.T) {
	for n := 1; n <= 128; n++ {
		for seed := range uint64(20) {
			o, _ := order.Random(n, seed)
			e := envelopes{n: uint64(n)}
			for p := range n {
				e.enter(0, value{o.At(p), uint32(p), uint32(p)})
			}
			e.close()
			before, f := uint64(1), uint64(1) // F(r), F(r+1)
			for k, r := range e.rounds {
				if r.count > uint64(n)/before {
					t.Errorf("n = %d, seed %d: %d envelopes enter round %d", n, seed, r.count, 2*k+1)
				}
				pair := r.even
				if k+1 < len(e.rounds) {
					pair += e.rounds[k+1].odd
				}
				if over := 3*f + 2*before; pair*over+uint64(n)*f > 2*uint64(n)*over { // F(r+4) is 3·F(r+1) + 2·F(r)
					t.Errorf("n = %d, seed %d: rounds %d and %d take %d messages", n, seed, 2*k+2, 2*k+3, pair)
				}
				before, f = before+f, before+2*f
			}
		}
	}
}
