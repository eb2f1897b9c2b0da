package stopandgo

import (
	"fmt"
	"math/big"

	"ringleader.example/ringleader/election"
)

// Rule returns the hypothesis on the length of the ring that follows before; nil asks for the first. Where S5's
// formula gives no whole number, the next larger one is used: so no hypothesis is below S5's, there are no more
// phases, and no length is below its bounds. Rule may return nil for a hypothesis of more than the given number of
// bits.
type Rule func(set election.Parameters, before *big.Int, bits uint) *big.Int

// maxPhases is the maximum number of hypotheses: as many as a state may hold.
const maxPhases = 1 << 16

// sequence returns h₁, h₂, … up to the first that is at least n; later ones play no part on a ring of n. The last is
// nil if it has more than the given number of bits. Hypotheses that stop growing below n are an error, and grows is
// its advice.
func (rule Rule) sequence(set election.Parameters, n uint64, bits uint, grows string) ([]*big.Int, error) {
	var all []*big.Int
	size := new(big.Int).SetUint64(n)
	for last := (*big.Int)(nil); last == nil || last.Cmp(size) < 0; {
		next := rule(set, last, bits)
		switch {
		case next == nil:
			return append(all, nil), nil
		case last != nil && next.Cmp(last) <= 0:
			return nil, fmt.Errorf("hypothesis h_%d = %d is no larger than h_%d = %d, but n = %d is, so the election would never end; %s, or at most %[4]d processes",
				len(all)+1, next, len(all), last, n, grows)
		case len(all) == maxPhases:
			return nil, fmt.Errorf("hypothesis h_%d = %d is still below n = %d; more are not tried, and larger parameters need fewer", len(all), last, n)
		}
		all = append(all, next)
		last = next
	}
	return all, nil
}

// times is P1: h₁ = c, h_m = c·h_{m-1}.
func times(set election.Parameters, before *big.Int, bits uint) *big.Int {
	if before == nil {
		before = big.NewInt(1)
	}
	c := p1c.Rational(set)
	return within(divideUp(new(big.Int).Mul(before, c.Num()), c.Denom()), bits)
}

// toThePower is P2: h₁ = c, h_m = (h_{m-1})^a.
func toThePower(set election.Parameters, before *big.Int, bits uint) *big.Int {
	if before == nil {
		return p2c.Rational(set).Num()
	}
	a := p2a.Rational(set)
	if whole, is := wholePower(before, a, bits); is {
		return whole
	}
	return ceilingOfPowerOf2(bits, func(precision uint) interval { return lg(before, precision).times(a) })
}

// toItsLogarithm is P3: h₁ = c, h_m = (h_{m-1})^(lg h_{m-1}) = 2^(lg² h_{m-1}). It would follow from the four
// exponentials conjecture that this is no whole number if lg h is none; no counterexample is known.
func toItsLogarithm(set election.Parameters, before *big.Int, bits uint) *big.Int {
	if before == nil {
		return p3c.Rational(set).Num()
	}
	if k := before.TrailingZeroBits(); before.BitLen() == int(k)+1 {
		return powerOf2(new(big.Int).SetUint64(uint64(k)*uint64(k)), bits)
	}
	return ceilingOfPowerOf2(bits, func(precision uint) interval {
		l := lg(before, precision)
		return l.product(l, precision)
	})
}

// twoToThePower is P4: h₁ = c, h_m = 2^(h_{m-1}^ε), where S5 prints c for ε. By the Gelfond–Schneider theorem it is
// no whole number if h^ε is none, since h^ε is algebraic.
func twoToThePower(set election.Parameters, before *big.Int, bits uint) *big.Int {
	if before == nil {
		return p4c.Rational(set).Num()
	}
	epsilon := p4epsilon.Rational(set)
	const mostBits = 64 // no larger exponent is evaluated
	if whole, is := wholePower(before, epsilon, mostBits); is {
		return powerOf2(whole, bits)
	}
	if lg(before, mostBits).times(epsilon).floor(mostBits).Cmp(big.NewInt(mostBits)) >= 0 {
		return nil
	}
	return ceilingOfPowerOf2(bits, func(precision uint) interval {
		return lg(before, precision).times(epsilon).powerOf2(precision)
	})
}

// within returns i if it has at most that many bits, and nil otherwise.
func within(i *big.Int, bits uint) *big.Int {
	if i.BitLen() > int(bits) {
		return nil
	}
	return i
}

// powerOf2 returns 2^exponent, or nil if exponent is nil or the power has too many bits.
func powerOf2(exponent *big.Int, bits uint) *big.Int {
	if exponent == nil || exponent.Cmp(new(big.Int).SetUint64(uint64(bits))) >= 0 {
		return nil
	}
	return new(big.Int).Lsh(big.NewInt(1), uint(exponent.Uint64()))
}

// wholePower returns h^exponent, or nil if it has too many bits, and reports whether it is a whole number: whether h
// has a root of that degree. If not, the power is irrational. h is at least 2.
func wholePower(h *big.Int, exponent *big.Rat, bits uint) (power *big.Int, whole bool) {
	if exponent.Denom().Cmp(big.NewInt(int64(h.BitLen()))) > 0 {
		return nil, false
	}
	degree := exponent.Denom()
	root := new(big.Int)
	for bit := h.BitLen() / int(degree.Int64()); bit >= 0; bit-- { // the largest whole number whose power is at most h
		if root.SetBit(root, bit, 1); new(big.Int).Exp(root, degree, nil).Cmp(h) > 0 {
			root.SetBit(root, bit, 0)
		}
	}
	if new(big.Int).Exp(root, degree, nil).Cmp(h) != 0 {
		return nil, false
	}
	least := new(big.Int).Mul(big.NewInt(int64(root.BitLen()-1)), exponent.Num()) // the power is at least 2^least
	if least.Cmp(new(big.Int).SetUint64(uint64(bits))) >= 0 {
		return nil, true
	}
	return within(root.Exp(root, exponent.Num(), nil), bits), true
}
