package election

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strings"
)

// Ticks is a length of time, exact up to 2¹²⁸ - 1 units. A unit is the message delay of a synchronous or simulated
// run, or a configured duration of a live one; the two are never mixed.
type Ticks struct{ Hi, Lo uint64 }

// ErrTime reports a time of more than 2¹²⁸ - 1 units. Arithmetic on Ticks panics with it; engines turn it into an
// error.
var ErrTime = errors.New("time passes 2^128 units; count goes further where it has a closed form")

// Forever is longer than any time: a timer that is set to it runs, and never expires. A simulated run is refused with
// [ErrTime] if it ends undecided while such a timer runs, or one that would expire beyond 2¹²⁸ - 1 units.
var Forever = Ticks{math.MaxUint64, math.MaxUint64}

// Units returns a number of ticks.
func Units(n uint64) Ticks { return Ticks{Lo: n} }

// Power returns 2^exponent ticks.
func Power(exponent uint) Ticks {
	switch {
	case exponent < 64:
		return Ticks{Lo: 1 << exponent}
	case exponent < 128:
		return Ticks{Hi: 1 << (exponent - 64)}
	}
	panic(ErrTime)
}

// Add returns t + u.
func (t Ticks) Add(u Ticks) Ticks {
	lo, carry := bits.Add64(t.Lo, u.Lo, 0)
	hi, carry := bits.Add64(t.Hi, u.Hi, carry)
	if carry != 0 {
		panic(ErrTime)
	}
	return Ticks{hi, lo}
}

// Sub returns t - u; u must not be greater than t.
func (t Ticks) Sub(u Ticks) Ticks {
	lo, borrow := bits.Sub64(t.Lo, u.Lo, 0)
	hi, borrow := bits.Sub64(t.Hi, u.Hi, borrow)
	if borrow != 0 {
		panic(ErrTime)
	}
	return Ticks{hi, lo}
}

// Times returns t · n.
func (t Ticks) Times(n uint64) Ticks {
	carry, lo := bits.Mul64(t.Lo, n)
	over, hi := bits.Mul64(t.Hi, n)
	hi, c := bits.Add64(hi, carry, 0)
	if over != 0 || c != 0 {
		panic(ErrTime)
	}
	return Ticks{hi, lo}
}

// Less reports whether t < u.
func (t Ticks) Less(u Ticks) bool { return t.Hi < u.Hi || t.Hi == u.Hi && t.Lo < u.Lo }

// IsZero reports whether t is 0.
func (t Ticks) IsZero() bool { return t == Ticks{} }

// Compare returns -1, 0 or 1 as t is less than, equal to or greater than u.
func (t Ticks) Compare(u Ticks) int {
	switch {
	case t.Less(u):
		return -1
	case u.Less(t):
		return 1
	}
	return 0
}

// Big returns t as an integer of any size.
func (t Ticks) Big() *big.Int {
	i := new(big.Int).SetUint64(t.Hi)
	return i.Lsh(i, 64).Or(i, new(big.Int).SetUint64(t.Lo))
}

// String returns t in decimal digits.
func (t Ticks) String() string { return t.Big().String() }

// MarshalJSON writes t as a JSON number, exact at any size.
func (t Ticks) MarshalJSON() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalJSON reads a JSON number: decimal digits only, below 2¹²⁸.
func (t *Ticks) UnmarshalJSON(text []byte) error {
	const most = 39 // digits of 2¹²⁸ - 1
	if len(text) <= most && !strings.ContainsFunc(string(text), func(r rune) bool { return r < '0' || r > '9' }) {
		if i, ok := new(big.Int).SetString(string(text), 10); ok {
			if *t, ok = TicksOf(i); ok {
				return nil
			}
		}
	}
	return fmt.Errorf("a time is a whole number of ticks below 2^128, not %.40s", text)
}

// TicksOf returns a whole number as Ticks; it reports false for negative numbers and from 2¹²⁸ on.
func TicksOf(i *big.Int) (Ticks, bool) {
	if i.Sign() < 0 || i.BitLen() > 128 {
		return Ticks{}, false
	}
	lo := new(big.Int).And(i, new(big.Int).SetUint64(1<<64-1))
	return Ticks{new(big.Int).Rsh(i, 64).Uint64(), lo.Uint64()}, true
}

// Deadline is a moment on the clock of the process that made it. It can be compared only with other such moments: all
// past ones are alike, and a crash forgets it. A state may hold deadlines. A message or durable state may not, since
// another clock would read them.
type Deadline struct{ at Ticks }

// Before reports whether d comes before e.
func (d Deadline) Before(e Deadline) bool { return d.at.Less(e.at) }
