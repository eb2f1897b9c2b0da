package count

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"ringleader.example/ringleader/election"
)

// The algorithms in which the smallest identifier wins since it waits least. The arrangement may be Woken, with
// starts=any.
var (
	_ Func = VariableSpeeds
	_ Func = KnownSize(nil)
)

// maxPower is the maximum number of bits of VariableSpeeds' time: two million decimal digits.
const maxPower = 1 << 23

// VariableSpeeds counts for algorithm variable-speeds. The token of v leaves for hop w at t + w·2^v - 1, unless it
// has met a smaller identifier u by then: at the latest at the origin of u, or where the token of u overtakes it. So
// with u the smallest of all, a token makes no hop unless 2^(v-u) is at most about n, which holds for few
// identifiers.
func VariableSpeeds(ctx context.Context, ids election.Arrangement, set election.Parameters, progress func(done, of int)) (*Result, error) {
	phase0 := set.Text("starts") == "any"
	first, tokens, err := smallest(ctx, ids, phase0, 0, uint64(bits.Len(uint(ids.Len())))+1, progress)
	if err != nil {
		return nil, err
	}
	n := uint64(ids.Len())
	hops := uint64(0)
	for i := range tokens {
		tokens[i].walk(tokens[:i], n)
		hops += tokens[i].hops
	}
	leader := tokens[0]
	if leader.id > maxPower {
		return nil, fmt.Errorf("%w: the time, n·2^%d and more, has more than %d binary digits", ErrRing, leader.id, maxPower)
	}
	elected := new(big.Int).Lsh(new(big.Int).SetUint64(n), uint(leader.id))
	return silent(leader, n, first.Add(first, elected), phase0, hops), nil
}

// walk computes the hops of a token, given the smaller tokens.
func (v *token) walk(smaller []token, n uint64) {
	v.hops = n
	for _, u := range smaller {
		// It meets u before hop w if u is there in time: t' + (behind + w - 1)·2^u < t + w·2^v. That is, w·(2^(v-u) -
		// 1) is greater than the whole part of behind - 1 + (t' - t)/2^u.
		behind := (v.at + n - u.at) % n
		late := (int64(u.entered) - int64(v.entered)) >> min(u.id, 63)
		before := uint64(0) // the last hop before it could meet u
		if ahead := int64(behind) - 1 + late; ahead > 0 {
			before = uint64(ahead) / (1<<(v.id-u.id) - 1)
		}
		if behind+before <= u.hops { // u comes that far
			v.hops = min(v.hops, before)
		}
		v.hops = min(v.hops, n-behind) // the origin of u
	}
}

// KnownSize counts for algorithm known-size, with its sequence: the winner is silent for a time that its identifier
// and the size of the ring determine, and then a single message goes round.
func KnownSize(sizes func(set election.Parameters, n uint64, bits uint) ([]*big.Int, error)) Func {
	return func(ctx context.Context, ids election.Arrangement, set election.Parameters, progress func(done, of int)) (*Result, error) {
		n := uint64(ids.Len())
		size, err := sizes(set, n, maxBits)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRing, err)
		}
		phase0 := set.Text("starts") == "any"
		first, tokens, err := smallest(ctx, ids, phase0, 1, 0, progress)
		if err != nil {
			return nil, err
		}
		leader := tokens[0]
		turn := new(big.Int).Mul(size[0], new(big.Int).SetUint64(leader.id-1))
		if phase0 {
			turn.Lsh(turn, 1).Add(turn, big.NewInt(1))
		}
		return silent(leader, n, first.Add(first, turn), phase0), nil
	}
}

// silent returns the result of an election in which the leader announces itself once, after phase 0 and the given election
// messages.
func silent(leader token, n uint64, elected *big.Int, phase0 bool, kinds ...uint64) *Result {
	started := uint64(0)
	if phase0 {
		started = n
		elected.Add(elected, new(big.Int).SetUint64(leader.entered))
	}
	after := func(units uint64) *big.Int { return new(big.Int).Add(elected, new(big.Int).SetUint64(units)) }
	return &Result{
		Messages: messages(n, append([]uint64{started}, kinds...)...), Leader: leader.id, Position: int(leader.at),
		Time: &Time{Elected: elected, Decided: after(n - 1), Quiet: after(n)},
	}
}

// token is a participating identifier.
type token struct {
	id, at  uint64
	entered uint64 // t, from the first wake-up
	hops    uint64
}

// entrance returns when the first process wakes, and when the process at a position enters phase 1, if it takes part.
func entrance(ids election.Arrangement, phase0 bool) (first *big.Int, entered func(int) (at uint64, takesPart bool), err error) {
	w, woken := ids.(Woken)
	switch {
	case woken && !phase0:
		if slices.ContainsFunc(w.Wake, func(at election.Ticks) bool { return !at.IsZero() }) {
			return nil, nil, fmt.Errorf("%w: all processes initiate at time 0", ErrRing)
		}
		return new(big.Int), func(p int) (uint64, bool) { return 0, !slices.Contains(w.Unwilling, p) }, nil
	case woken:
		e := &identities{ids: ids}
		if first, err = e.wake(); err != nil {
			return nil, nil, err
		}
		return first, func(p int) (uint64, bool) { return e.enters(p), e.enters(p) != 0 }, nil
	case phase0:
		return new(big.Int), func(int) (uint64, bool) { return 1, true }, nil
	}
	return new(big.Int), func(int) (uint64, bool) { return 0, true }, nil
}

// smallest returns the smallest participating identifier and all that are greater by at most within, in increasing
// order. All are at least from and in the range of identifier values. first is the time of the first wake-up.
func smallest(ctx context.Context, ids election.Arrangement, phase0 bool, from, within uint64, progress func(done, of int)) (first *big.Int, all []token, err error) {
	if err := distinct(ids); err != nil {
		return nil, nil, err
	}
	first, entered, err := entrance(ids, phase0)
	if err != nil {
		return nil, nil, err
	}
	n := ids.Len()
	if inverse, ok := ids.(interface{ Position(id uint64) int }); ok && ids.Dense() {
		for id := uint64(1); id <= min(within+1, uint64(n)); id++ {
			at := inverse.Position(id)
			t, _ := entered(at)
			all = append(all, token{id: id, at: uint64(at), entered: t})
		}
		return first, all, nil
	}
	l := lowest{from: math.MaxUint64}
	err = read(ctx, ids, 0, 0, n, summed(progress, n), func(index int, block []uint64) {
		for i, id := range block {
			l.from, l.to = min(l.from, id), max(l.to, id)
			if l.has(id, within) {
				if t, takesPart := entered(index + i); takesPart {
					l.add(token{id: id, at: uint64(index + i), entered: t}, within)
				}
			}
		}
	})
	if err != nil {
		return nil, nil, err
	}
	if err := computable(l.from, l.to, from); err != nil {
		return nil, nil, err
	}
	if len(l.all) == 0 {
		return nil, nil, fmt.Errorf("%w: no process is willing to lead; at least one must be", ErrRing)
	}
	slices.SortFunc(l.all, func(a, b token) int { return cmp.Compare(a.id, b.id) })
	return first, l.all, nil
}

// lowest holds the smallest of several tokens: the smallest, and those greater by at most some number.
type lowest struct {
	all      []token
	least    uint64
	from, to uint64 // of all identifiers, including those that take no part
}

// has reports whether an identifier belongs to them.
func (l *lowest) has(id, within uint64) bool {
	return len(l.all) == 0 || id < l.least || id-l.least <= within
}

func (l *lowest) add(t token, within uint64) {
	if len(l.all) == 0 || t.id < l.least {
		l.least = t.id
		l.all = slices.DeleteFunc(l.all, func(other token) bool { return other.id-t.id > within })
	}
	l.all = append(l.all, t)
}
