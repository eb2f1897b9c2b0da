package order

import (
	"math/bits"

	"ringleader.example/ringleader/internal/core/random"
)

// MaxTable is the greatest n for which Random is uniform over all n! orders.
const MaxTable = 4096

// Random returns the order of a seed, the same on every machine and in every later version. It is made from the
// numbers of PCG-DXSM (math/rand/v2) seeded with (seed, 3):
//
// For n up to MaxTable, the Fisher–Yates shuffle: starting from 1, 2, … n, for i = n-1 down to 1, exchange the
// identifiers at positions i and j, where j is drawn from 0 … i by Lemire's method.
//
// For greater n, a keyed permutation of 0 … 2^k - 1, with k the least that 2^k >= n. Its six rounds have
// keys a, m, the next two numbers each, the last bit of m set. P first maps x to f(x) = x xor ⌊x / 2^⌈k/2⌉⌋;
// then each round maps x to f((x + a)·m mod 2^k). The identifier at position p is x + 1 for the first
// x < n among P(p), P(P(p)), …
//
// With up to four rounds neighbours are correlated, and without the first f so are opposite positions of a ring of
// 2^k. With both, no test has distinguished it from the shuffle.
func Random(n int, seed uint64) (*Order, error) {
	o, err := create(shuffled, n)
	if err != nil {
		return nil, err
	}
	numbers := random.New(seed, random.Order)
	if n > MaxTable {
		o.permute = newPermutation(uint(bits.Len64(o.n-1)), numbers)
		return o, nil
	}
	o.table = make([]uint16, n)
	for i := range o.table {
		o.table[i] = uint16(i + 1)
	}
	for i := n - 1; i > 0; i-- {
		j := numbers.Below(uint64(i) + 1)
		o.table[i], o.table[j] = o.table[j], o.table[i]
	}
	return o, nil
}

const rounds = 6

// permutation is a keyed permutation of 0 … mask, which is 2^k - 1.
type permutation struct {
	mask  uint64
	shift uint8 // ⌈k/2⌉: y ^= y >> shift is its own inverse
	keys  [rounds]struct{ add, multiply, inverse uint64 }
}

func newPermutation(k uint, numbers *random.Source) permutation {
	p := permutation{mask: 1<<k - 1, shift: uint8(k+1) / 2}
	for r := range p.keys {
		key := &p.keys[r]
		key.add = numbers.Uint64()
		key.multiply = numbers.Uint64() | 1
		key.inverse = key.multiply // correct in the last 3 bits; each Newton step doubles their number
		for range 5 {
			key.inverse *= 2 - key.multiply*key.inverse
		}
	}
	return p
}

func (p *permutation) apply(x uint64) uint64 {
	k, mask, shift := &p.keys, p.mask, p.shift&63
	x ^= x >> shift
	x = (x + k[0].add) * k[0].multiply & mask // written out: a loop takes half as long again
	x ^= x >> shift
	x = (x + k[1].add) * k[1].multiply & mask
	x ^= x >> shift
	x = (x + k[2].add) * k[2].multiply & mask
	x ^= x >> shift
	x = (x + k[3].add) * k[3].multiply & mask
	x ^= x >> shift
	x = (x + k[4].add) * k[4].multiply & mask
	x ^= x >> shift
	x = (x + k[5].add) * k[5].multiply & mask
	return x ^ x>>shift
}

func (p *permutation) invert(x uint64) uint64 {
	for r := rounds - 1; r >= 0; r-- {
		x ^= x >> (p.shift & 63)
		x = (x*p.keys[r].inverse - p.keys[r].add) & p.mask
	}
	return x ^ x>>(p.shift&63)
}
