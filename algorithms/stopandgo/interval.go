package stopandgo

import "math/big"

// interval encloses a nonnegative real number between two others. They are counted in units of 2^-precision; its
// maker knows the precision. No rounding ever moves the number outside.
type interval struct{ low, high *big.Int }

// ceilingOfPowerOf2 returns ⌈2^x⌉, exactly, or nil if it has too many bits. 2^x is not a whole number. holding
// returns intervals that hold x. The precision is raised until the result is certain.
func ceilingOfPowerOf2(bits uint, holding func(precision uint) interval) *big.Int {
	const some = 64
	x := holding(some)
	limit := new(big.Int).SetUint64(uint64(bits))
	if x.floor(some).Cmp(limit) >= 0 {
		return nil
	}
	for precision := uint(x.floor(some).Uint64()) + some; ; precision *= 2 {
		power := holding(precision).powerOf2(precision)
		if low, high := shiftUp(power.low, precision), shiftUp(power.high, precision); low.Cmp(high) == 0 {
			return within(low, bits)
		}
	}
}

// lg returns the logarithm of h to base 2, for h of at least 1: h is 2^k·m with m below 2.
func lg(h *big.Int, precision uint) interval {
	k := uint(h.BitLen() - 1)
	m, two := ln(h, new(big.Int).Lsh(big.NewInt(1), k), precision), ln(big.NewInt(2), big.NewInt(1), precision)
	whole := new(big.Int).Lsh(new(big.Int).SetUint64(uint64(k)), precision)
	low, high := m.low.Lsh(m.low, precision), m.high.Lsh(m.high, precision)
	return interval{low.Add(low.Quo(low, two.high), whole), high.Add(divideUp(high, two.low), whole)}
}

// ln returns the natural logarithm of a fraction a/b of 1 to 2: twice the sum of z^k/k over odd k, where z, at most
// 1/3, is (a-b)/(a+b).
func ln(a, b *big.Int, precision uint) interval {
	above, below := new(big.Int).Sub(a, b), new(big.Int).Add(a, b)
	power := new(big.Int).Lsh(above, precision)
	power.Quo(power, below)
	above.Mul(above, above)
	below.Mul(below, below)
	sum, terms, term := new(big.Int), int64(0), new(big.Int)
	for ; power.Sign() > 0; terms++ {
		sum.Add(sum, term.Quo(power, term.SetInt64(2*terms+1)))
		power.Quo(power.Mul(power, above), below)
	}
	sum.Lsh(sum, 1)
	// A power is less than 2 units too small, since each is at most 1/9 of the one before, rounded down. A term is
	// less than 3 units too small, and the omitted terms are less than 2 together.
	return interval{sum, new(big.Int).Add(sum, big.NewInt(6*terms+4))}
}

// times returns the product with a fraction.
func (x interval) times(r *big.Rat) interval {
	low, high := new(big.Int).Mul(x.low, r.Num()), new(big.Int).Mul(x.high, r.Num())
	return interval{low.Quo(low, r.Denom()), divideUp(high, r.Denom())}
}

// product returns the product with another interval.
func (x interval) product(y interval, precision uint) interval {
	low := new(big.Int).Mul(x.low, y.low)
	return interval{low.Rsh(low, precision), shiftUp(new(big.Int).Mul(x.high, y.high), precision)}
}

// powerOf2 returns 2^x: with x = k + y, it is 2^k·e^(y·ln 2), where y is below 1.
func (x interval) powerOf2(precision uint) interval {
	finer := precision + 2*halvings(precision) + 16 // makes up for the doubling by each squaring
	two := ln(big.NewInt(2), big.NewInt(1), finer)
	power := func(of *big.Int, two *big.Int, up bool) *big.Int {
		k := uint(new(big.Int).Rsh(of, precision).Uint64())
		y := new(big.Int).Sub(of, new(big.Int).Lsh(new(big.Int).SetUint64(uint64(k)), precision))
		y = shift(y.Mul(y, two), precision, up)
		return shift(new(big.Int).Lsh(exp(y, finer, up), k), finer-precision, up)
	}
	return interval{power(x.low, two.low, false), power(x.high, two.high, true)}
}

// exp returns e^y for y below 1, rounded down or up: the series for y/2^s, squared s times.
func exp(y *big.Int, precision uint, up bool) *big.Int {
	s := halvings(precision)
	y = shift(new(big.Int).Set(y), s, up)
	sum, term := new(big.Int), new(big.Int).Lsh(big.NewInt(1), precision)
	for k := int64(1); term.Sign() > 0; k++ {
		sum.Add(sum, term)
		term = term.Mul(term, y).Rsh(term, precision)
		term.Quo(term, big.NewInt(k))
		if up && term.Sign() > 0 {
			sum.Add(sum, big.NewInt(3)) // the error of this term and of those before it
		}
	}
	if up {
		sum.Add(sum, big.NewInt(8)) // the last term again, and the omitted terms
	}
	for range s {
		sum = shift(sum.Mul(sum, sum), precision, up)
	}
	return sum
}

// halvings returns how often exp halves its argument: about as often as that saves as many terms.
func halvings(precision uint) uint {
	s := uint(4)
	for s*s < precision {
		s++
	}
	return s
}

// floor returns the largest whole number that is certainly not above x.
func (x interval) floor(precision uint) *big.Int { return new(big.Int).Rsh(x.low, precision) }

// shift sets i to i/2^by, rounded down or up, and returns it.
func shift(i *big.Int, by uint, up bool) *big.Int {
	if !up {
		return i.Rsh(i, by)
	}
	return i.Neg(i.Rsh(i.Neg(i), by)) // Rsh rounds down, also below 0
}

func shiftUp(i *big.Int, by uint) *big.Int { return shift(new(big.Int).Set(i), by, true) }

// divideUp returns i/by, rounded up.
func divideUp(i, by *big.Int) *big.Int {
	i = new(big.Int).Add(i, by)
	return i.Quo(i.Sub(i, big.NewInt(1)), by)
}
