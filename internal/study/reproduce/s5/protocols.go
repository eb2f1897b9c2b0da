package s5

import (
	"fmt"
	"math"
	"math/big"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/order"
)

// s5Protocols are the statements of section 5.
var s5Protocols = []reproduce.Row{
	{
		Where: "section 5, t and h_t", Claim: "O(t·n) messages and O(i·h_t) time, where h_(t-1) < n <= h_t",
		How: "P1 to P4: " + awakeningsAre, Check: tAndH,
	},
	{
		Where: "section 5, (P4)", Claim: "h_m = 2^(h_(m-1)^c), c > 0, with h_1 = c",
		How: "P4 with c = 2 and the exponent c, or another ε, on rings of 5 to 200: h_t against 2^(n^ε) for ε = 1", Check: lostEpsilon,
	},
	{
		Where: "Theorem 5.1, (P1), time", Claim: "O(c·n·i)",
		How: timed, Check: protocolTime(p1, 4, func(n, c float64) float64 { return math.Log2(c * n) }),
	},
	{
		Where: "Theorem 5.1, (P1), messages", Claim: "O(n log_c n)",
		How: sentIn, Check: protocolMessages(p1, func(n, c float64) float64 { return math.Log(n)/math.Log(c) + 1 }),
	},
	{
		Where: "Theorem 5.1, (P2), time", Claim: "O(n^a·i)",
		How: timed, Check: protocolTime(p2, 4, func(n, _ float64) float64 { return 2 * math.Log2(n) }),
	},
	{
		Where: "Theorem 5.1, (P2), messages", Claim: "O(n log_a log_c n)",
		How: sentIn, Check: protocolMessages(p2, func(n, c float64) float64 { return math.Log2(math.Log(n)/math.Log(c)) + 2 }),
	},
	{
		Where: "Theorem 5.1, (P3), time", Claim: "O(n^(lg n)·i)",
		How: timed, Check: protocolTime(p3, 4, func(n, _ float64) float64 { return math.Log2(n) * math.Log2(n) }),
	},
	{
		Where: "Theorem 5.1, (P3), messages", Claim: "O(n lg lg lg n)",
		How: sentIn, Check: protocolMessages(p3, func(n, c float64) float64 { return lglglg(n) - lglglg(c) + 2 }),
	},
	{
		Where: "Theorem 5.1, (P4), time", Claim: "O(2^(n^ε)·i)",
		How: timed, Check: protocolTime(p4, 4, func(n, _ float64) float64 { return n }),
	},
	{
		Where: "Theorem 5.1, (P4), messages", Claim: "O(n log* n)",
		How: sentIn, Check: protocolMessages(p4, func(n, _ float64) float64 { return star(n) + 1 }),
	},
	{
		Where: "Theorem 5.1, (P4), every c", Claim: "the protocol elects with each c >= 2 and ε > 0",
		How: "the hypotheses of P4 with ε = 1/2 and c = 2 to 40, on a ring of 10⁶", Check: upperFixedPoint,
	},
	{
		Where: "Theorem 5.1, proof, (P1)", Claim: "n <= h_t = c^t < c·n and t <= log_c n + 1",
		How: "P1 with c = 2, 3 and 10 on rings of 1 to 2000, and up to 2^40 of one more than a hypothesis", Check: proofP1,
	},
	{
		Where: "Theorem 5.1, proof, (P2)", Claim: "h_t = c^(a^t) and t <= log_a log_c n + 1",
		How: "P2 with a = 2 and c = 2 and 3 on rings of 2 to 2000, and up to 2^40 of one more than a hypothesis", Check: proofP2,
	},
	{
		Where: "Theorem 5.1, proof, (P3)", Claim: "h_t = c^((lg c)^(2^(t-1))) and t <= a·lg lg lg n + 1",
		How: "P3 with c = 4, 8 and 16 on rings of c to 2000, and up to 2^40 of one more than a hypothesis", Check: proofP3,
	},
	{
		Where: "Theorem 5.1, proof, (P4)", Claim: "h_t is 2^2^…, a sum with t - 2 terms, and t = O(log* n)",
		How: "P4 with c = 2 and ε = 1 on a ring of 65537: h_t against the power tower of t twos, and their sum", Check: tower,
	},
	{
		Where: "section 5, whole numbers", Claim: "h_m = (h_(m-1))^a, a > 1, where this is no whole number",
		How: "P2 with c = 2, a = 3/2 on a ring of 10⁶, rounded up, and rounded down", Check: roundedUp,
	},
}

// The protocols whose time and messages are measured.
var (
	p1 = []reproduce.Subject{{Algorithm: "stop-and-go-p1", Set: []string{"c=2"}}, {Algorithm: "stop-and-go-p1", Set: []string{"c=3"}}, {Algorithm: "stop-and-go-p1", Set: []string{"c=10"}}}
	p2 = []reproduce.Subject{{Algorithm: "stop-and-go-p2", Set: []string{"c=2", "a=2"}}, {Algorithm: "stop-and-go-p2", Set: []string{"c=3", "a=2"}}}
	p3 = []reproduce.Subject{{Algorithm: "stop-and-go-p3", Set: []string{"c=3"}}, {Algorithm: "stop-and-go-p3", Set: []string{"c=4"}}, {Algorithm: "stop-and-go-p3", Set: []string{"c=8"}}}
	p4 = []reproduce.Subject{{Algorithm: "stop-and-go-p4", Set: []string{"c=2", "epsilon=1"}}}
)

const (
	worst  = "and on rings of 3 to 65537, one more than a hypothesis, where the next hypothesis is largest in proportion"
	timed  = "counted on random rings of 16 to 4096, " + worst + ": the time until the leader is elected, over i·h, where h is the claimed bound"
	sentIn = "counted on ordered and random rings of 16 to 4096, " + worst + ": election messages over n and phases; phases against their bound"
)

// worstSizes are one more than a hypothesis, up to a size: there the last hypothesis is farthest above n.
func worstSizes(b *reproduce.Bench, s reproduce.Subject, most int) (sizes []int) {
	for _, h := range hypotheses(b, s, most) {
		if h != nil && h.Cmp(big.NewInt(int64(most))) < 0 {
			sizes = append(sizes, int(h.Int64())+1)
		}
	}
	return sizes
}

// parameterC is c.
func parameterC(s reproduce.Subject) (c float64) {
	reproduce.Must(fmt.Sscanf(s.Set[0], "c=%g", &c))
	return c
}

// protocolTime finds that the time is at most so many times what is claimed, of which lg gives the logarithm.
func protocolTime(all []reproduce.Subject, times float64, lg func(n, c float64) float64) func(*reproduce.Bench) reproduce.Finding {
	return func(b *reproduce.Bench) reproduce.Finding {
		var d reproduce.Doubt
		over := func(s reproduce.Subject, n int, seed uint64) float64 {
			r := counted(b, s, reproduce.Must(order.Parse("random", n, seed)))
			over := lgOf(r.Time.Elected) - math.Log2(float64(r.Leader)) - lg(float64(n), parameterC(s))
			d.Unless(r.Leader == 1 && over <= math.Log2(times), "%s %v, n = %d: elected at %d", s.Algorithm, s.Set, n, r.Time.Elected)
			return math.Exp2(over)
		}
		most, above, sizes := 0.0, 0.0, 0
		for _, s := range all {
			for n := 16; n <= 4096; n *= 4 {
				for seed := range uint64(3) {
					most = max(most, over(s, n, seed))
				}
			}
			for _, n := range worstSizes(b, s, 65537) {
				above = max(above, over(s, n, 1))
				sizes++
			}
		}
		simulatesAsCounted(b, &d, all)
		d.Unless(sizes > 0, "no size is one more than a hypothesis")
		return d.Unsettled(reproduce.EverySize, "at most %.3g times that; of %d sizes just above a hypothesis, %.3g times", most, sizes, above)
	}
}

// simulatesAsCounted finds that what is simulated is what is counted, on a ring of 17.
func simulatesAsCounted(b *reproduce.Bench, d *reproduce.Doubt, all []reproduce.Subject) {
	for _, s := range all {
		s.IDs = []uint64{5, 2, 7, 1, 8, 3, 6, 4, 9, 12, 11, 10, 13, 16, 15, 14, 17}
		r, c := roundOf(b, &awakening{Subject: s}), counted(b, s, s.Setup().IDs)
		d.Unless(r.Right && r.Time.Elected.Big().Cmp(c.Time.Elected) == 0 && r.Messages.Election == c.Messages.Election,
			"%s: elected at %s, counted %d; %d messages, counted %d", s.Algorithm, r.Time.Elected, c.Time.Elected, r.Messages.Election, c.Messages.Election)
	}
}

// protocolMessages finds that there are at most so many phases, and fewer than 2n messages in each and n before.
func protocolMessages(all []reproduce.Subject, phases func(n, c float64) float64) func(*reproduce.Bench) reproduce.Finding {
	return func(b *reproduce.Bench) reproduce.Finding {
		var d reproduce.Doubt
		over := func(s reproduce.Subject, ids election.Arrangement) float64 {
			n, c := uint64(ids.Len()), parameterC(s)
			r := counted(b, s, ids)
			t := len(r.ByPhase) - 1
			d.Unless(float64(t) <= phases(float64(n), c)+1e-9 && r.Messages.Election <= n+uint64(t)*(2*n-1),
				"%s %v %s %d phases, %d messages", s.Algorithm, s.Set, reproduce.OnRing(ids), t, r.Messages.Election)
			return float64(r.Messages.Election) / float64(n) / phases(float64(n), c)
		}
		most, above, rings, sizes := 0.0, 0.0, 0, 0
		for _, s := range all {
			for ids := range reproduce.LargeRings(16, 64, 256, 1024, 4096) {
				most = max(most, over(s, ids))
				rings++
			}
			for _, n := range worstSizes(b, s, 65537) {
				for _, how := range []string{"random", "decreasing"} {
					above = max(above, over(s, reproduce.Must(order.Parse(how, n, 1))))
				}
				sizes++
			}
		}
		simulatesAsCounted(b, &d, all)
		d.Unless(sizes > 0, "no size is one more than a hypothesis")
		return d.Unsettled(reproduce.EverySize, "%d rings: no more phases than their bound, and messages at most %.3g times n and that; so on two of each of %d sizes just above a hypothesis, %.3g times",
			rings, most, sizes, above)
	}
}

func lglglg(x float64) float64 { return math.Log2(math.Log2(math.Log2(x))) }

// star is log*: how often lg is taken until no more than 1 is left.
func star(x float64) (times float64) {
	for ; x > 1; x = math.Log2(x) {
		times++
	}
	return times
}

// lgOf is the binary logarithm of a number, which may be large.
func lgOf(x *big.Int) float64 {
	f := new(big.Float)
	exponent := f.SetInt(x).MantExp(f)
	mantissa, _ := f.Float64()
	return float64(exponent) + math.Log2(mantissa)
}

func tAndH(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	rounds, most := 0, 0.0
	for r := range everyRound(b) {
		p, one := r.Leader()
		if d.Unless(one, "%s: leaders at %v", r.replay(), r.Leaders); !one {
			break
		}
		n, t := uint64(r.n()), uint64(len(r.hypotheses))
		elected := r.last().Big()
		elected.Mul(elected, new(big.Int).SetUint64(2*r.Subject.IDs[p])).Add(elected, r.entered()[r.Subject.IDs[p]].Big()).Add(elected, new(big.Int).SetUint64(n))
		d.Unless(r.Time.Elected.Big().Cmp(elected) == 0, "%s: elected at %s, not %d", r.replay(), r.Time.Elected, elected)
		d.Unless(r.Messages.Election <= n+t*(2*n-1), "%s: %d messages", r.replay(), r.Messages.Election)
		rounds, most = rounds+1, max(most, float64(r.Messages.Election)/float64(n*(t+1)))
	}
	return d.Unsettled(reproduce.EverySize, "%d elections: at most %.3g·n(t + 1) messages; elected at t(i) + 2·i·h_t + n, exactly", rounds, most)
}

// lastHypothesis is h_t, and t.
func lastHypothesis(b *reproduce.Bench, s reproduce.Subject, n int) (*big.Int, int) {
	all := hypotheses(b, s, n)
	if len(all) == 0 {
		return new(big.Int), 0
	}
	return all[len(all)-1], len(all)
}

func lostEpsilon(b *reproduce.Bench) reproduce.Finding {
	printed, meant := true, true
	within := func(s reproduce.Subject, n int) bool {
		h, t := lastHypothesis(b, s, n)
		return t > 0 && h != nil && lgOf(h) <= float64(n)
	}
	for n := 5; n <= 200; n++ {
		printed = printed && within(reproduce.Subject{Algorithm: "stop-and-go-p4", Set: []string{"c=2", "epsilon=2"}}, n)
		meant = meant && within(reproduce.Subject{Algorithm: "stop-and-go-p4", Set: []string{"c=2", "epsilon=1"}}, n)
	}
	f := reproduce.HoldsCorrected(printed, meant, "the exponent is ε > 0, which Theorem 5.1 speaks of; with c for it, which is at least 2, the time is 2^(n^c) and cannot be less",
		"h_t <= 2^n for each n with ε = 1: %v; with the exponent c = 2: %v", meant, printed)
	f.Replay = "ringleader count stop-and-go-p4 --n 17 --param c=2,epsilon=2"
	return f
}

func upperFixedPoint(b *reproduce.Bench) reproduce.Finding {
	printed, above, ends := true, true, 0
	for c := 2; c <= 40; c++ {
		s := reproduce.Subject{Algorithm: "stop-and-go-p4", Set: []string{fmt.Sprintf("c=%d", c), "epsilon=1/2"}}
		_, t := lastHypothesis(b, s, 1_000_000)
		printed = printed && t > 0
		above = above && (t > 0) == (c > 16)
		if t > 0 {
			ends++
		}
	}
	f := reproduce.HoldsCorrected(printed, above, "c must be above the larger solution of c = 2^(c^ε), which is 16 for ε = 1/2: else the hypotheses stop growing below n, and the election never ends",
		"of 39 values, %d give hypotheses that reach n: just those above 16: %v", ends, above)
	f.Replay = "ringleader run stop-and-go-p4 --n 17 --order random --param c=17,epsilon=1/2"
	return f
}

// proofSizes are the sizes up to 2000, and beyond those just above a hypothesis.
func proofSizes(b *reproduce.Bench, s reproduce.Subject, least int) (sizes []int) {
	for n := least; n <= 2000; n++ {
		sizes = append(sizes, n)
	}
	for _, n := range worstSizes(b, s, min(1<<40, math.MaxInt)) {
		if n > 2000 {
			sizes = append(sizes, n)
		}
	}
	return sizes
}

func proofP1(b *reproduce.Bench) reproduce.Finding {
	one, more, checks := true, true, 0
	for _, s := range p1 {
		c := int64(parameterC(s))
		for _, n := range proofSizes(b, s, 1) {
			h, t := lastHypothesis(b, s, n)
			ok := h.Cmp(big.NewInt(int64(n))) >= 0 && h.Cmp(big.NewInt(c*int64(n))) < 0 && h.Cmp(new(big.Int).Exp(big.NewInt(c), big.NewInt(int64(t)), nil)) == 0 &&
				float64(t) <= math.Log(float64(n))/math.Log(float64(c))+1+1e-9
			if n == 1 {
				one = one && ok
			} else {
				more = more && ok
			}
			checks++
		}
	}
	return reproduce.HoldsCorrected(one && more, more, "for n > 1; a ring of one takes h_1 = c = c·n", "%d rings: from 2 on, so it is: %v; for n = 1: %v", checks, more, one)
}

// power is base^(exponent).
func power(base, exponent int64) *big.Int {
	return new(big.Int).Exp(big.NewInt(base), big.NewInt(exponent), nil)
}

func proofP2(b *reproduce.Bench) reproduce.Finding {
	printed, meant, phases, checks := true, true, true, 0
	for _, s := range p2 {
		c := int64(parameterC(s))
		for _, n := range proofSizes(b, s, 2) {
			h, t := lastHypothesis(b, s, n)
			if t == 0 {
				return reproduce.Finding{Verdict: reproduce.Fails, Why: fmt.Sprintf("n = %d: no hypotheses", n)}
			}
			bound := math.Log2(math.Log(float64(max(int64(n), c))) / math.Log(float64(c)))
			printed = printed && h.Cmp(power(c, 1<<t)) == 0
			meant = meant && h.Cmp(power(c, 1<<(t-1))) == 0 && float64(t) <= bound+2+1e-9
			phases = phases && float64(t) <= bound+1+1e-9
			checks++
		}
	}
	return reproduce.HoldsCorrected(printed && phases, meant, "h_t = c^(a^(t-1)), since h_1 = c, and t <= log_a log_c n + 2; that n < c is one phase",
		"%d rings: with the correction: %v; c^(a^t): %v; phases within log_a log_c n + 1: %v", checks, meant, printed, phases)
}

func proofP3(b *reproduce.Bench) reproduce.Finding {
	printed, meant, phases, checks := true, true, true, 0
	for _, c := range []int64{4, 8, 16} {
		s := reproduce.Subject{Algorithm: "stop-and-go-p3", Set: []string{fmt.Sprintf("c=%d", c)}}
		lg := int64(math.Log2(float64(c)))
		for _, n := range proofSizes(b, s, int(c)) {
			h, t := lastHypothesis(b, s, n)
			if t == 0 {
				return reproduce.Finding{Verdict: reproduce.Fails, Why: fmt.Sprintf("n = %d: no hypotheses", n)}
			}
			exponent := func(of int64) bool { // of lg c, that of c
				e := power(lg, of)
				return e.IsInt64() && h.Cmp(power(c, e.Int64())) == 0
			}
			printed = printed && exponent(1<<(t-1))
			meant = meant && exponent(1<<(t-1)-1) && float64(t) <= lglglg(float64(n))-lglglg(float64(c))+2+1e-9
			phases = phases && float64(t) <= 1.5*lglglg(float64(n))+1
			checks++
		}
	}
	return reproduce.HoldsCorrected(printed && phases, meant, "h_t = c^((lg c)^(2^(t-1) - 1)) and t <= lg lg lg n - lg lg lg c + 2: what is added depends on c",
		"%d rings: with the correction: %v; as printed: %v; phases within 1.5·lg lg lg n + 1: %v", checks, meant, printed, phases)
}

func tower(b *reproduce.Bench) reproduce.Finding {
	s := p4[0]
	all := hypotheses(b, s, 65536)
	twos, sum := big.NewInt(1), int64(0)
	isTower, isSum := len(all) > 0, true
	for m, h := range all {
		twos = new(big.Int).Lsh(big.NewInt(1), uint(twos.Uint64()))
		isTower = isTower && h.Cmp(twos) == 0 && float64(m+1) <= star(float64(twos.Uint64()))+1
		sum += 2
		isSum = isSum && h.Cmp(big.NewInt(sum)) == 0
	}
	return reproduce.HoldsCorrected(isSum, isTower, "a power tower is meant", "hypotheses %v: towers of twos: %v; sums: %v", all, isTower, isSum)
}

func roundedUp(b *reproduce.Bench) reproduce.Finding {
	s := reproduce.Subject{Algorithm: "stop-and-go-p2", Set: []string{"c=2", "a=3/2"}}
	all := hypotheses(b, s, 1_000_000)
	down := new(big.Int).Sqrt(power(2, 3)) // of 2^(3/2)
	up, grow := len(all) > 1, true
	for m := 1; m < len(all); m++ { // h² >= g³, and (h - 1)² is less
		cube := new(big.Int).Exp(all[m-1], big.NewInt(3), nil)
		less := new(big.Int).Sub(all[m], big.NewInt(1))
		up = up && new(big.Int).Mul(all[m], all[m]).Cmp(cube) >= 0 && less.Mul(less, less).Cmp(cube) < 0
		grow = grow && all[m].Cmp(all[m-1]) > 0
	}
	return reproduce.HoldsCorrected(down.Cmp(big.NewInt(2)) > 0, up && grow, "the next larger whole number is meant: rounded down, 2 follows 2, and the election would never end",
		"rounded up %v; after 2, rounded down, comes %d", all, down)
}
