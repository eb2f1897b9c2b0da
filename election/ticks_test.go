package election_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/property"
)

func TestTicksKeepTheirValueThroughJSON(t *testing.T) {
	property.Check(t, func(t *property.T) {
		want := election.Ticks{Hi: property.Uint64().Draw(t, "hi"), Lo: property.Uint64().Draw(t, "lo")}
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got election.Ticks
		if err := json.Unmarshal(text, &got); err != nil || got != want {
			t.Fatalf("%s became %s, %v", want, got, err)
		}
	})
}

func TestTicksReadWholeNumbersBelowTheirLimitOnly(t *testing.T) {
	limit := new(big.Int).Lsh(big.NewInt(1), 128).String()
	for _, text := range []string{"-1", "-0", "1.0", "1e3", `"1"`, "null", "true", "{}", limit, strings.Repeat("9", 1000)} {
		var ticks election.Ticks
		err := json.Unmarshal([]byte(text), &ticks)
		if err == nil {
			t.Errorf("%s was read as %s", text, ticks)
		} else if len(err.Error()) > 200 {
			t.Errorf("the error for a text of %d bytes has %d", len(text), len(err.Error()))
		}
		if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
			t.Errorf("%s is not even JSON", text)
		}
	}
}

// ticks draws times that are small, near 2⁶⁴, near 2¹²⁸, or anything.
func ticks(t *property.T, name string) election.Ticks {
	half := property.OneOf(property.Uint64Range(0, 3), property.Uint64Range(1<<64-3, 1<<64-1), property.Uint64())
	return election.Ticks{Hi: half.Draw(t, name+" hi"), Lo: half.Draw(t, name+" lo")}
}

// sum does arithmetic, and reports whether it panicked with ErrTime.
func sum(arithmetic func() election.Ticks) (result election.Ticks, over bool) {
	defer func() {
		switch r := recover(); r {
		case nil:
		case election.ErrTime:
			over = true
		default:
			panic(r)
		}
	}()
	return arithmetic(), false
}

func TestArithmeticIsExactOrPanics(t *testing.T) {
	property.Check(t, func(t *property.T) {
		a, b := ticks(t, "a"), ticks(t, "b")
		n := property.OneOf(property.Uint64Range(0, 3), property.Uint64()).Draw(t, "n")
		for _, test := range []struct {
			name string
			got  func() election.Ticks
			want *big.Int
		}{
			{"a + b", func() election.Ticks { return a.Add(b) }, new(big.Int).Add(a.Big(), b.Big())},
			{"a - b", func() election.Ticks { return a.Sub(b) }, new(big.Int).Sub(a.Big(), b.Big())},
			{"a · n", func() election.Ticks { return a.Times(n) }, new(big.Int).Mul(a.Big(), new(big.Int).SetUint64(n))},
		} {
			got, over := sum(test.got)
			want, fits := election.TicksOf(test.want)
			if fits != (test.want.Sign() >= 0 && test.want.BitLen() <= 128) {
				t.Fatalf("%s fits: %v", test.want, fits)
			}
			if over == fits || got != want || fits && got.Big().Cmp(test.want) != 0 {
				t.Fatalf("%s = %s, panics %v; want %s", test.name, got, over, test.want)
			}
		}
		order := a.Big().Cmp(b.Big())
		if a.Compare(b) != order || a.Less(b) != (order < 0) || b.Less(a) != (order > 0) || a.Compare(a) != 0 {
			t.Fatalf("%s and %s compare as %d", a, b, a.Compare(b))
		}
		if a.IsZero() != (a.Big().Sign() == 0) || a.String() != a.Big().String() {
			t.Fatalf("%s: zero %v", a, a.IsZero())
		}
		if election.Units(n).Big().Uint64() != n {
			t.Fatalf("%d units are %s", n, election.Units(n))
		}
	})
}

func TestPowersOfTwo(t *testing.T) {
	for e := range uint(131) {
		got, over := sum(func() election.Ticks { return election.Power(e) })
		if want, fits := election.TicksOf(new(big.Int).Lsh(big.NewInt(1), e)); got != want || over == fits {
			t.Errorf("2^%d = %s, panics %v", e, got, over)
		}
	}
}

func TestDeadlinesAreEqualToTheMomentsThatTheyName(t *testing.T) {
	property.Check(t, func(t *property.T) {
		now, later := ticks(t, "now"), ticks(t, "later")
		half := func(t election.Ticks) election.Ticks { t.Hi /= 2; return t } // so that sums fit
		now, later = half(now), half(later)
		a, b := half(ticks(t, "a")), half(ticks(t, "b"))
		var c election.Collector[struct{}]
		c.Clock(now)
		da, db := c.Out().Deadline(a), c.Out().Deadline(b)
		if da.Before(db) != a.Less(b) {
			t.Fatalf("%s before %s: %v", a, b, da.Before(db))
		}
		c.Clock(later)
		left, _ := sum(func() election.Ticks { return now.Add(a).Sub(later) })
		if da.Left(later) != left || c.Out().Passed(da) != left.IsZero() {
			t.Fatalf("%s after %s there are %s left of %s; passed %v", later, now, da.Left(later), a, c.Out().Passed(da))
		}
		if again := election.DeadlineIn(left, later); again.Left(later) != left || left.IsZero() && again != (election.Deadline{}) {
			t.Fatalf("what has %s left was made again with %s left", left, again.Left(later))
		}
	})
	if !new(election.Collector[struct{}]).Out().Passed(election.Deadline{}) {
		t.Error("the zero Deadline has not passed")
	}
}
