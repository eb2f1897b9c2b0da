// Package s5 has the rows about S5, on elections by silence on synchronous rings.
package s5

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"ringleader.example/ringleader/algorithms/knownsize"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// Rows are the statements of S5, in its order.
var Rows = reproduce.From("S5", s5Introduction, s5Simplified, s5Scheme, s5Analysis, s5Protocols)

// s5Introduction are the statements of section 1.
var s5Introduction = []reproduce.Row{
	{
		Where: "section 1, [3, 7]", Claim: "on asynchronous rings O(n log n) messages and O(n) time are sufficient",
		How: "dolev-klawe-rodeh and peterson on ordered and random rings of 16 to 256, each message taking one unit", Check: asynchronousRings,
	},
	{
		Where: "section 1, [2]", Claim: "Ω(n log n) messages are necessary, even if all processors know the size of the ring",
		How: "Burns' adversary against rings of 8 to 64 in decreasing order, of algorithms that do not know the size", Check: knowingTheSize,
	},
	{
		Where: "section 1, [4, 8]", Claim: "O(n) messages and O(n·2^i) time are sufficient, where i is the leader's identity",
		How: "variable-speeds on every order of up to 6 identifiers, beginning with 0 to 3: messages, and when the leader is elected", Check: variableSpeeds,
	},
	{
		Where: "section 1, (i)", Claim: "an algorithm that only compares identities needs Ω(n log n) messages, on synchronous rings too",
		How: "every algorithm of the catalogue that compares, on bit-reversal rings of 16 to 512, each message taking one unit", Check: whoCompares,
	},
	{
		Where: "section 1, (ii)", Claim: "any protocol that needs less than t time units needs O(n log n) messages, if identities may be large",
		How: "the same algorithms on decreasing and bit-reversal rings of 512; and variable-speeds, whose time depends on the identities", Check: boundedTime,
	},
	{
		Where: "section 1, the question", Claim: "protocols are possible with less than exponential time and between O(n) and O(n log n) messages",
		How: "P2 with c = 2, a = 2 counted on random rings of 2^4 to 2^16: messages over n lg n, time over n²", Check: between,
	},
	{
		Where: "section 1, positive numbers", Claim: "without loss of generality, identities are positive numbers",
		How: "section 3's loop as printed, unit by unit, with identities from 0 on, and with each larger by 1", Check: positiveNumbers,
	},
	{
		Where: "section 1, the leader", Claim: "the leader is the participating processor with the smallest identity",
		How: "P1 to P4: " + awakeningsAre, Check: smallestParticipant,
	},
}

// s5Simplified are the statements of section 2.
var s5Simplified = []reproduce.Row{
	{
		Where: "section 2, correctness", Claim: "the protocol is correct",
		How: "known-size on every order of up to 6 identifiers, beginning with 1 to 3", Check: silenceElects,
	},
	{
		Where: "section 2, when i sends", Claim: "the winner i is silent until n(i-1), and sends then",
		How: "the same runs: when the leader is elected", Check: turnOfI,
	},
	{
		Where: "section 2, n + 1 messages", Claim: "it requires n + 1 messages",
		How: "the same runs: messages", Check: oneMessageMore,
	},
	{
		Where: "section 2, O(i·n) time", Claim: "it takes time O(i·n), where i is the identity of the winner",
		How: "the same runs: when the last message has arrived", Check: timeOfSilence,
	},
	{
		Where: "section 2, upper bound N", Claim: "with an upper bound N on n it takes time O(i·N)",
		How: "the same rings, N being n, n + 1, 2n and n + 100", Check: upperBoundOnN,
	},
	{
		Where: "section 2, without (b)", Claim: "a modified protocol does without assumption (b), that all start together",
		How: "known-size with starts=any on 300 random rings of up to 12 that wake at different times, some unwilling", Check: withoutB,
	},
	{
		Where: "section 2, without (b), every awakening", Claim: "a modified protocol does without assumption (b), that all start together",
		How: "known-size with starts=any: the fewest and the most messages over every awakening of every order of up to 4", Check: withoutBOnEveryAwakening,
	},
	{
		Where: "section 2, (a) is essential", Settled: true, Claim: "the knowledge of n, or of an upper bound, is essential",
		How: "the same protocol, where all assume a ring of half the size: every order of 2 to 6 identifiers", Check: sizeIsEssential,
	},
}

func asynchronousRings(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	messages, time := 0.0, 0.0
	for ids := range reproduce.LargeRings(16, 64, 256) {
		n := float64(ids.Len())
		for _, name := range []string{"dolev-klawe-rodeh", "peterson"} {
			r := b.Simulate(name, simulate.Options{Setup: network.Setup{IDs: ids}})
			d.Unless(r.Right, "%s %s elects %v", name, reproduce.OnRing(ids), r.Leaders)
			perMessage, perTime := float64(r.Messages.Total)/(n*math.Log2(n)), float64(r.Time.Elected.Lo)/n
			d.Unless(perMessage <= 3 && perTime <= 6, "%s %s: %d messages, elected at %s", name, reproduce.OnRing(ids), r.Messages.Total, r.Time.Elected)
			messages, time = max(messages, perMessage), max(time, perTime)
		}
	}
	return d.Unsettled(reproduce.EverySize, "n up to 256: at most %.3g·n lg n messages, and elected within %.3g·n units", messages, time)
}

// comparing are algorithms for rings that compare identifiers, and have a closed form.
func comparing(b *reproduce.Bench) (names []string) {
	for _, e := range b.Algorithms {
		if e.Topology == election.Ring && e.Identifiers == election.Compared && e.Count != nil {
			names = append(names, e.Name)
		}
	}
	return names
}

func knowingTheSize(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	tried, knowing := 0, 0
	for _, e := range b.Algorithms {
		if e.Topology != election.Ring || e.Identifiers == election.Anonymous || e.Timing != election.Asynchronous || e.Votes || e.AllowDuplicates != nil {
			continue
		}
		if e.KnowsSize {
			knowing++
			continue
		}
		for n := 8; n <= 64; n *= 2 {
			i := network.Setup{IDs: reproduce.Must(order.Parse("decreasing", n, 1))}
			r, err := e.Simulate(simulate.Options{Setup: i, Schedule: simulate.Burns, Limit: 1 << 16})
			if errors.Is(err, simulate.ErrOptions) {
				break
			}
			reproduce.Must(r, err)
			tried++
			d.Unless(float64(r.Open.Messages) >= r.Open.Claim || e.Decides == election.LeaderOnly, "%s, n = %d: %d messages before the last edge opens", e.Name, n, r.Open.Messages)
		}
	}
	return d.Unsettled("it is about every algorithm, which no finite search settles; the adversary joins rings, which processors that know their size would notice: "+
		"the proof, in S1's form, is for algorithms that do not know it",
		"%d elections where the size is unknown: (n lg n)/4 + 1/2 or more; algorithms that know it here: %d", tried, knowing)
}

func variableSpeeds(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	rings, most := 0, 0.0
	for n := 1; n <= 6; n++ {
		for first := range uint64(4) {
			for ids := range ringsFrom(n, first) {
				r := b.Simulate("variable-speeds", simulate.Options{Setup: network.Setup{IDs: ids}})
				d.Unless(r.Right && r.Messages.Election < uint64(2*n) && r.Time.Elected.Lo == uint64(n)<<first,
					"%s %d messages, elected at %s, leaders at %v", reproduce.OnRing(ids), r.Messages.Election, r.Time.Elected, r.Leaders)
				rings++
				most = max(most, float64(r.Messages.Election)/float64(n))
			}
		}
	}
	return d.Unsettled(reproduce.EverySize, "%d rings: at most %.3g·n messages and n to announce; elected at n·2^i, exactly", rings, most)
}

// ringsFrom are the orders of first, first + 1, … on a ring that differ.
func ringsFrom(n int, first uint64) func(yield func(election.List) bool) {
	return func(yield func(election.List) bool) {
		for ids := range reproduce.Rings(n) {
			for p := range ids {
				ids[p] += first - 1
			}
			if !yield(ids) {
				return
			}
		}
	}
}

func whoCompares(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	names := comparing(b)
	least := math.Inf(1)
	for _, name := range names {
		for n := 16; n <= 512; n *= 2 {
			ids := reproduce.Must(order.Parse("bit-reversal", n, 1))
			sent := float64(b.Count(name, ids).Messages.Election)
			bound := float64(n) * math.Log2(float64(n))
			d.Unless(sent >= bound/4, "%s, n = %d: %.0f messages", name, n, sent)
			least = min(least, sent/bound)
		}
	}
	return d.Unsettled(reproduce.EveryAlgorithm, "%d algorithms, n up to 512: never fewer than %.3g·n lg n", len(names), least)
}

func boundedTime(b *reproduce.Bench) reproduce.Finding {
	const n = 512
	least, most := math.Inf(1), 0.0
	bound := float64(n) * math.Log2(n)
	for _, name := range comparing(b) {
		worst := 0.0
		for _, how := range []string{"decreasing", "bit-reversal"} {
			worst = max(worst, float64(b.Count(name, reproduce.Must(order.Parse(how, n, 1))).Messages.Election)/bound)
		}
		least, most = min(least, worst), max(most, worst)
	}
	longer := float64(b.Count("variable-speeds", reproduce.Must(order.Parse("decreasing", n, 1))).Messages.Election) / bound
	f := reproduce.HoldsCorrected(most < 2, least >= 0.25 && longer < 0.25,
		"Ω(n log n) is meant, as in (i): O would state an upper bound, which does not hold for each protocol, and no lower bound",
		"n = %d, of n lg n: protocols in bounded time need %.3g to %.3g times as many; variable speeds, whose time is not bounded, %.2g", n, least, most, longer)
	if f.Verdict == reproduce.Corrected {
		f.Verdict, f.Why = reproduce.Unchecked, reproduce.EveryAlgorithm+"; "+f.Why
	}
	return f
}

func between(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	s := reproduce.Subject{Algorithm: "stop-and-go-p2", Set: []string{"c=2", "a=2"}}
	first, last, time := 0.0, 0.0, 0.0
	for k := 4; k <= 16; k += 4 {
		n := 1 << k
		r := counted(b, s, reproduce.Must(order.Parse("random", n, 1)))
		elected, _ := r.Time.Elected.Float64()
		last = float64(r.Messages.Election) / float64(n*k)
		if first == 0 {
			first = last
		}
		time = max(time, elected/float64(n)/float64(n))
	}
	d.Unless(last < first/2 && time <= 4, "messages over n lg n go from %.3g to %.3g, and the time is up to %.3g·n²", first, last, time)
	return d.Unsettled(reproduce.EverySize, "messages over n lg n fall from %.3g to %.3g, while the time is at most %.3g·n²", first, last, time)
}

func positiveNumbers(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	rings, deadlocks := 0, 0
	for n := 1; n <= 5; n++ {
		for ids := range ringsFrom(n, 0) {
			zero := loop(&awakening{Subject: reproduce.Subject{IDs: ids}}, []uint64{2, 4, 8}, none, 1000)
			if len(zero.leaders) == 0 {
				deadlocks++
			}
			one := slices.Clone(ids)
			for p := range one {
				one[p]++
			}
			r := b.Simulate("stop-and-go-p1", simulate.Options{Setup: network.Setup{IDs: one}})
			d.Unless(r.Right, "%s leaders at %v", reproduce.OnRing(one), r.Leaders)
			rings++
		}
	}
	if d.First == "" && deadlocks == 0 {
		d.Unless(false, "with identity 0 there is a leader as well")
	}
	return d.Finding("with identity 0, whose count is decremented before it is compared with 0, no leader on %d of %d rings; with each larger by 1, the right leader", deadlocks, rings)
}

func smallestParticipant(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	rounds, passedOver := 0, 0
	for r := range everyRound(b) {
		d.Unless(r.Right, "%s: leaders at %v", r.replay(), r.Leaders)
		if p, one := r.Leader(); one && r.Subject.IDs[p] != slices.Min(r.Subject.IDs) {
			passedOver++
		}
		rounds++
	}
	return d.Finding("%d elections: the smallest participant is elected; in %d of them a smaller processor did not participate", rounds, passedOver)
}

// silences runs known-size where all start together, and has each run checked.
func silences(b *reproduce.Bench, param func(n int) map[string]string, each func(ids election.List, first uint64, r *simulate.Result)) (rings int) {
	for n := 1; n <= 6; n++ {
		for first := uint64(1); first <= 3; first++ {
			for ids := range ringsFrom(n, first) {
				each(ids, first, b.Simulate("known-size", simulate.Options{Setup: network.Setup{IDs: ids, Parameters: param(n)}}))
				rings++
			}
		}
	}
	return rings
}

// exactly is the parameter that gives the exact size.
func exactly(int) map[string]string { return nil }

func silenceElects(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	rings := silences(b, exactly, func(ids election.List, _ uint64, r *simulate.Result) {
		d.Unless(r.Right, "%s leaders at %v", reproduce.OnRing(ids), r.Leaders)
	})
	return d.Finding("%d rings: the smallest is elected", rings)
}

func turnOfI(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	rings := silences(b, exactly, func(ids election.List, i uint64, r *simulate.Result) {
		d.Unless(r.Right && r.Time.Elected.Lo == uint64(len(ids))*(i-1), "%s elected at %s", reproduce.OnRing(ids), r.Time.Elected)
	})
	return d.Finding("%d rings: at n(i-1), exactly", rings)
}

func oneMessageMore(b *reproduce.Bench) reproduce.Finding {
	printed, exact := true, true
	rings := silences(b, exactly, func(ids election.List, _ uint64, r *simulate.Result) {
		n := uint64(len(ids))
		printed = printed && r.Messages.Total == n+1
		exact = exact && r.Messages.Total == n
	})
	f := reproduce.HoldsCorrected(printed, exact, "n messages: when its own returns, the winner need not send it again", "%d rings: n messages on each: %v; n + 1: %v", rings, exact, printed)
	f.Replay = "ringleader run known-size --ids 3,1,2"
	return f
}

func timeOfSilence(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	rings := silences(b, exactly, func(ids election.List, i uint64, r *simulate.Result) {
		d.Unless(r.Time.Quiet.Lo == uint64(len(ids))*i, "%s quiescent at %s", reproduce.OnRing(ids), r.Time.Quiet)
	})
	return d.Unsettled(reproduce.EverySize, "%d rings: quiescent at n·i, exactly", rings)
}

func upperBoundOnN(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	rings := 0
	for _, more := range []func(n int) int{
		func(n int) int { return n },
		func(n int) int { return n + 1 },
		func(n int) int { return 2 * n },
		func(n int) int { return n + 100 },
	} {
		size := func(n int) map[string]string { return map[string]string{"N": fmt.Sprint(more(n))} }
		rings += silences(b, size, func(ids election.List, i uint64, r *simulate.Result) {
			n := len(ids)
			d.Unless(r.Right && r.Time.Quiet.Lo == uint64(more(n))*(i-1)+uint64(n) && r.Messages.Total == uint64(n),
				"N = %d %s: quiescent at %s, %d messages, leaders at %v", more(n), reproduce.OnRing(ids), r.Time.Quiet, r.Messages.Total, r.Leaders)
		})
	}
	return d.Unsettled(reproduce.EverySize, "%d elections: n messages, quiescent at N(i-1) + n, exactly", rings)
}

func withoutB(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	source := source5(1)
	const tried = 300
	shown := ""
	for range tried {
		a := drawn(reproduce.Subject{Algorithm: "known-size", Set: []string{"starts=any"}}, source)
		r := &round{awakening: a, Result: b.Simulate(a.Algorithm, a.options())}
		p, one := r.Leader()
		if !one {
			p = 0
		}
		n, i := uint64(r.n()), r.Subject.IDs[p]
		quiescent := r.entered()[i].Lo + 2*n*(i-1) + 1 + n
		d.Unless(r.Right && r.Messages.Total == 2*n, "%s: %d messages, leaders at %v", a.replay(), r.Messages.Total, r.Leaders)
		d.Unless(r.Time.Quiet.Lo == quiescent, "%s: quiescent at %s, not %d", a.replay(), r.Time.Quiet, quiescent)
		shown = a.replay()
	}
	f := d.Finding("%d elections: the smallest participant is elected, n messages announce the start and n the leader; quiescent 2n(i-1) + n + 1 after i's phase 0", tried)
	f.Replay = shown
	return f
}

func withoutBOnEveryAwakening(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	o := verify.Options{Setup: network.Setup{Parameters: map[string]string{"starts": "any"}}, Starts: verify.AnyTime}
	orders := b.EveryOrder(&d, "known-size", 4, o, func(n uint64, fewest, most *verify.Messages) {
		d.Unless(fewest.Total == 2*n && most.Total == 2*n, "n = %d: %d to %d messages", n, fewest.Total, most.Total)
	})
	f := d.Finding("%d orders: the smallest participant is elected, with 2n messages, always", orders)
	f.Replay = "ringleader verify known-size --n 4 --param starts=any --start any"
	return f
}

func sizeIsEssential(b *reproduce.Bench) reproduce.Finding {
	short := knownsize.Algorithm
	short.New = func(l election.Local) knownsize.Process {
		p := knownsize.New(l)
		p.N /= 2
		return p
	}
	var d reproduce.Doubt
	rings, wrong := 0, 0
	for n := 2; n <= 6; n++ {
		for ids := range ringsFrom(n, 1) {
			rings++
			if r := reproduce.Variant(short, simulate.Options{Setup: network.Setup{IDs: ids}, Limit: 1000}); !r.Right {
				wrong++
			}
			r := b.Simulate("known-size", simulate.Options{Setup: network.Setup{IDs: ids}})
			d.Unless(r.Right, "%s with n known, leaders at %v", reproduce.OnRing(ids), r.Leaders)
		}
	}
	d.Unless(wrong > 0, "no election goes wrong where n/2 is taken for n")
	return d.Finding("%d of %d elections go wrong; none where n is known", wrong, rings)
}
