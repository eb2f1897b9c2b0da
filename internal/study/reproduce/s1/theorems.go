package s1

import (
	"math"
	"strings"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// s1Theorems are the theorems and exercises of S1.
var s1Theorems = []reproduce.Row{
	{
		Where: "Theorem 13.8", Claim: "Bully solves the leader election problem on any ring with asynchronous processors",
		How:   "every schedule of every order of up to 4, waking at any time, messages overtaking, and of 5, all awake; random schedules of " + reproduce.ManyRingsAre,
		Check: theorem138,
	},
	{
		Where: "Theorem 13.8, five processors", Claim: "Bully solves the leader election problem on any ring with asynchronous processors",
		How: "every schedule of every order of 5, waking at any time", Thorough: true,
		Check: theorem138ofFive,
	},
	{
		Where: "Theorem 13.8, proof",
		Claim: "the largest receives two probes of its own, and the second does nothing; no other probe travels round the ring",
		How:   "records of " + reproduce.ManyRingsAre,
		Check: ownProbes,
	},
	{
		Where: "Lemma 13.9", Claim: "at most n/2^(i-1) processors enter phase i",
		How:   "the entrants of each phase, " + reproduce.ManyRingsAre,
		Check: lemma139,
	},
	{
		Where: "Lemma 13.9, proof", Claim: "if a processor enters phase i, no other within 2^(i-1) hops, either way, ever does",
		How:   "the least distance of two entrants of a phase, " + reproduce.ManyRingsAre,
		Check: innerClaim,
	},
	{
		Where: "Theorem 13.10", Claim: "Bully sends at most n + 8n(⌈lg n⌉ + 2) messages: O(n lg n)",
		How:   "messages of " + reproduce.ManyRingsAre + "; and of rings of up to 2¹⁴, counted, too",
		Check: theorem1310,
	},
	{
		Where: "Theorem 13.10, every schedule", Claim: "Bully sends at most n + 8n(⌈lg n⌉ + 2) messages, whatever the schedule",
		How:   "the fewest and the most messages over every schedule of every order of up to 6, all awake; waking at any time, of up to 4",
		Check: theorem1310OnEverySchedule(6, 4),
	},
	{
		Where: "Theorem 13.10, every schedule of seven", Claim: "Bully sends at most n + 8n(⌈lg n⌉ + 2) messages, whatever the schedule",
		How: "every schedule of every order of up to 7, all awake; waking at any time, of up to 5", Thorough: true,
		Check: theorem1310OnEverySchedule(7, 5),
	},
	{
		Where: "Theorem 13.10, proof", Claim: "each processor in phase i contributes at most 4·2^i messages",
		How:   "messages and entrants of each phase, " + reproduce.ManyRingsAre,
		Check: eachEntrant,
	},
	{
		Where: "Theorem 13.10, highest phase", Claim: "no processor enters a phase beyond 1 + ⌈lg n⌉",
		How:   "the highest phase, " + reproduce.ManyRingsAre,
		Check: highestPhase,
	},
	{
		Where: "Theorem 13.10, termination", Claim: "one termination message travels round the ring once",
		How:   "messages after the election, " + reproduce.ManyRingsAre,
		Check: termination,
	},
	{
		Where: "Theorem 13.11",
		Claim: "any uniform algorithm for electing a leader in an asynchronous ring sends Ω(n lg n) messages (Burns)",
		How:   "Burns' adversary, which keeps one edge of the ring closed, against each such algorithm of the catalogue, n = 2 to 256: at least (n lg n)/4 + 1/2 before it opens",
		Check: theorem1311,
	},
	{
		Where: "optimality", Claim: "the message complexity of Bully is asymptotically optimal",
		How:   "what it sends, at the most over ordered and random rings, over Burns' (n lg n)/4 + 1/2, n = 4 to 4096",
		Check: optimality,
	},
	{
		Where: "exercise 13.3-1", Claim: "the simplified Bully has message complexity Ω(n²), for some identifiers and delays",
		How:   "decreasing identifiers, n = 1 to 512; under every schedule, n up to 6",
		Check: exercise1331,
	},
	{
		Where: "exercise 13.3-2", Claim: "Bully has message complexity Ω(n lg n)",
		How:   "identifiers in bit-reversal order, n = 4 to 4096",
		Check: exercise1332,
	},
}

func theorem138(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	orders, states := b.EverySchedule(&d, bully, 4, verify.Options{Starts: verify.AnyTime})
	five := b.Verify(bully, verify.Options{Size: 5})
	d.Verified(five, "n = 5")
	runs := 0
	for ids := range reproduce.ManyRings {
		r := b.Probe(bully, ids)
		d.Unless(r.Right, "%s leaders at %v, %d decided", reproduce.OnRing(ids), r.Leaders, r.Decided)
		runs++
	}
	return d.Finding("%d orders, %d states, and %d random runs: the largest is elected, and all know whether they are leader", orders+five.Orders, states+five.States, runs)
}

func theorem138ofFive(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	r := b.Verify(bully, verify.Options{Size: 5, Starts: verify.AnyTime, MaxStates: 10_000_000})
	d.Verified(r, "n = 5")
	return d.Finding("%d orders, %d states", r.Orders, r.States)
}

func ownProbes(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	rings := 0
	for ids := range reproduce.ManyRings {
		r := b.Probe(bully, ids)
		returned := 0
		for i := range r.Record.Steps {
			step := &r.Record.Steps[i]
			id := ids.At(step.Process)
			if step.Kind != "probe" || reproduce.Carried(step.MessageValue) != id {
				continue
			}
			clockwise, _ := reproduce.ToGreater(ids, step.Process)
			d.Unless(clockwise == ids.Len(), "%s the probe of %d returns to its origin", reproduce.OnRing(ids), id)
			if returned++; returned == 2 {
				d.Unless(len(step.Sent)+len(step.Decided) == 0, "%s the second probe that returns to its origin does something", reproduce.OnRing(ids))
			}
		}
		d.Unless(returned == 2, "%s %d probes return to their origin", reproduce.OnRing(ids), returned)
		rings++
	}
	return d.Finding("%d rings, on each two probes return to their origin, both of the largest", rings)
}

func lemma139(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	attained := map[[2]int]bool{} // n up to 7 and a phase, in which as many enter as can
	can := 0
	for ids := range reproduce.ManyRings {
		n := ids.Len()
		r := b.Probe(bully, ids)
		for phase, entered := range r.Entrants {
			most := float64(n) / math.Exp2(float64(phase-1))
			d.Unless(float64(len(entered)) <= most, "%s %d enter phase %d", reproduce.OnRing(ids), len(entered), phase)
			if n <= 7 && len(entered) == reproduce.MostEntrants(n, phase) {
				attained[[2]int{n, phase}] = true
			}
		}
		d.Unless(len(r.Entrants) > 0, "%s no processor enters any phase", reproduce.OnRing(ids))
	}
	for n := 1; n <= 7; n++ {
		for phase := 0; reproduce.MostEntrants(n, phase) > 0; phase++ {
			can++
		}
	}
	return d.Finding("never more; of the sharper ⌊n/(2^(i-1) + 1)⌋, and n for i = 0, %d of %d are attained for n up to 7", len(attained), can)
}

func innerClaim(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	pairs, tight := 0, 0
	for ids := range reproduce.ManyRings {
		r := b.Probe(bully, ids)
		d.Unless(len(r.Entrants) > 0, "%s no processor enters any phase", reproduce.OnRing(ids))
		for phase, entered := range r.Entrants {
			if phase == 0 || len(entered) < 2 {
				continue
			}
			closest := r.Closest(phase)
			d.Unless(closest > 1<<(phase-1), "%s two entrants of phase %d are %d hops apart", reproduce.OnRing(ids), phase, closest)
			pairs++
			if closest == 1<<(phase-1)+1 {
				tight++
			}
		}
	}
	return d.Finding("%d times several enter a phase i > 0: always farther apart, %d times by one hop only", pairs, tight)
}

func theorem1310(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	most := b.Algorithm(bully).Bound(election.Worst)
	nearest := 0.0
	judge := func(ids election.Arrangement) {
		n := uint64(ids.Len())
		r := b.Simulate(bully, simulate.Options{Setup: network.Setup{IDs: ids}})
		d.Unless(r.Right, "%s leaders at %v, %d decided", reproduce.OnRing(ids), r.Leaders, r.Decided)
		d.Unless(r.Messages.Total <= n+8*n*(election.CeilLog(n)+2), "%s %d messages", reproduce.OnRing(ids), r.Messages.Total)
		exact := b.Count(bully, ids).Messages.Total
		d.Unless(r.Messages.Total == exact, "%s %d messages, %d by the closed form", reproduce.OnRing(ids), r.Messages.Total, exact)
		nearest = max(nearest, float64(r.Messages.Total)/float64(most.Value(n)))
	}
	for ids := range reproduce.ManyRings {
		judge(ids)
	}
	for ids := range reproduce.LargeRings(1000, 4096, 1<<14) {
		judge(ids)
	}
	return d.Finding("never more, and at most %.3g of it", nearest)
}

func theorem1310OnEverySchedule(awake, waking int) func(*reproduce.Bench) reproduce.Finding {
	return func(b *reproduce.Bench) reproduce.Finding {
		var d reproduce.Doubt
		nearest := 0.0
		judge := func(n uint64, _, most *verify.Messages) {
			bound := n + 8*n*(election.CeilLog(n)+2)
			d.Unless(most.Total <= bound, "n = %d: %d messages", n, most.Total)
			nearest = max(nearest, float64(most.Total)/float64(bound))
		}
		orders := b.EveryOrder(&d, bully, awake, verify.Options{}, judge)
		late := b.EveryOrder(&d, bully, waking, verify.Options{Starts: verify.AnyTime}, judge)
		return d.Finding("%d orders, and %d with processors that wake at any time: one leader, the largest; never more messages, and at most %.3g of it", orders, late, nearest)
	}
}

func eachEntrant(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	phases, full := 0, 0
	for ids := range reproduce.ManyRings {
		r := b.Probe(bully, ids)
		d.Unless(len(r.ByPhase) == len(r.Entrants), "%s messages of %d phases, entrants of %d", reproduce.OnRing(ids), len(r.ByPhase), len(r.Entrants))
		for phase, entered := range r.Entrants[:min(len(r.Entrants), len(r.ByPhase))] {
			most := uint64(len(entered)) * 4 << phase
			d.Unless(r.ByPhase[phase] <= most, "%s %d messages of %d entrants in phase %d", reproduce.OnRing(ids), r.ByPhase[phase], len(entered), phase)
			phases++
			if r.ByPhase[phase] == most {
				full++
			}
		}
	}
	return d.Finding("%d phases, never more; in %d of them each entrant contributes as much", phases, full)
}

func highestPhase(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	rings := 0
	for ids := range reproduce.ManyRings {
		r := b.Probe(bully, ids)
		highest := len(r.Entrants) - 1
		lg := int(election.CeilLog(uint64(ids.Len())))
		d.Unless(highest <= 1+lg, "%s a processor enters phase %d", reproduce.OnRing(ids), highest)
		d.Unless(highest == lg, "%s the highest phase is %d, and ⌈lg n⌉ is %d", reproduce.OnRing(ids), highest, lg)
		rings++
	}
	return d.Finding("%d rings: the highest is ⌈lg n⌉ on each, one less than the proof allows", rings)
}

func termination(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	rings := 0
	for ids := range reproduce.ManyRings {
		r := b.Simulate(bully, simulate.Options{Setup: network.Setup{IDs: ids}, Schedule: simulate.LIFO, AnyTime: true})
		d.Unless(r.Right, "%s leaders at %v, %d decided", reproduce.OnRing(ids), r.Leaders, r.Decided)
		d.Unless(r.Messages.Announcement == uint64(ids.Len()), "%s it makes %d hops", reproduce.OnRing(ids), r.Messages.Announcement)
		rings++
	}
	return d.Finding("%d rings: n hops", rings)
}

func theorem1311(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	var names []string
	nearest := math.Inf(1)
	for _, e := range b.Algorithms {
		uniform := e.Topology == election.Ring && e.Timing == election.Asynchronous && !e.KnowsSize && e.Decides == election.EveryProcess
		if !uniform || e.Identifiers == election.Anonymous || e.AllowDuplicates != nil {
			continue
		}
		names = append(names, e.Name)
		for n := 2; n <= 256; n *= 2 {
			r := b.Simulate(e.Name, simulate.Options{Setup: network.Setup{IDs: reproduce.Must(order.Decreasing(n))}, Schedule: simulate.Burns})
			if r.Open == nil {
				d.Unless(false, "%s, n = %d: no end", e.Name, n)
				continue
			}
			d.Unless(r.Right, "%s, n = %d: leaders at %v, %d decided", e.Name, n, r.Leaders, r.Decided)
			d.Unless(float64(r.Open.Messages) >= r.Open.Claim, "%s, n = %d: %d messages before the last edge opens, and (n lg n)/4 + 1/2 = %.1f",
				e.Name, n, r.Open.Messages, r.Open.Claim)
			nearest = min(nearest, float64(r.Open.Messages)/r.Open.Claim)
		}
	}
	f := d.Unsettled(reproduce.EveryAlgorithm, "%d algorithms (%s), n up to 256: at least %.3g times as many", len(names), strings.Join(names, ", "), nearest)
	f.Replay = "ringleader run ring-bully --n 256 --order decreasing --schedule burns"
	return f
}

func optimality(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	const allowed = 32 + 4 // (8n lg n + 17n)/((n lg n)/4) tends to 32
	least, most := math.Inf(1), 0.0
	for n := 4; n <= 4096; n *= 2 {
		sent := uint64(0)
		for ids := range reproduce.LargeRings(n) {
			r := b.Simulate(bully, simulate.Options{Setup: network.Setup{IDs: ids}})
			d.Unless(r.Right, "%s leaders at %v, %d decided", reproduce.OnRing(ids), r.Leaders, r.Decided)
			sent = max(sent, r.Messages.Total)
		}
		ratio := float64(sent) / (float64(n)*math.Log2(float64(n))/4 + 0.5)
		d.Unless(ratio <= allowed, "n = %d: %.3g times", n, ratio)
		least, most = min(least, ratio), max(most, ratio)
	}
	return d.Unsettled(reproduce.EveryAlgorithm, "%.3g to %.3g times, n up to 4096", least, most)
}

func exercise1331(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	most := uint64(0)
	for n := 1; n <= 512; n *= 2 {
		r := b.Simulate(simple, simulate.Options{Setup: network.Setup{IDs: reproduce.Must(order.Decreasing(n))}, Schedule: simulate.Random, Seed: uint64(n), AnyTime: true})
		want := uint64(n) * uint64(n+1) / 2
		d.Unless(r.Right && r.Messages.Election == want, "n = %d: %d messages, not %d", n, r.Messages.Election, want)
		most = r.Messages.Election
	}
	for n := 1; n <= 6; n++ {
		r := b.Verify(simple, verify.Options{Setup: network.Setup{IDs: reproduce.Must(order.Decreasing(n))}, Starts: verify.AnyTime, Unordered: true})
		if !d.Verified(r, "n = %d", n) {
			continue
		}
		want := uint64(n) * uint64(n+1) / 2
		d.Unless(r.MinMessages.Election == want && r.MaxMessages.Election == want, "n = %d: %d to %d messages", n, r.MinMessages.Election, r.MaxMessages.Election)
	}
	f := d.Unsettled(reproduce.EverySize, "n(n + 1)/2 messages, %d for n = 512; delays make no difference, since every processor sends its identifier at some time", most)
	f.Replay = "ringleader run ring-bully-simple --n 512 --order decreasing"
	return f
}

func exercise1332(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	most := uint64(0)
	for k := uint64(2); k <= 12; k++ {
		n := uint64(1) << k
		r := b.Simulate(bully, simulate.Options{Setup: network.Setup{IDs: reproduce.Must(order.BitReversal(int(n)))}})
		d.Unless(r.Right && r.Messages.Total == 3*n*k+3*n, "n = %d: %d messages, not %d", n, r.Messages.Total, 3*n*k+3*n)
		most = r.Messages.Total
	}
	f := d.Unsettled(reproduce.EverySize, "3n lg n + 3n messages, %d for n = 4096: 3 of the 8 n lg n that Theorem 13.10 allows", most)
	f.Replay = "ringleader run ring-bully --n 4096 --order bit-reversal"
	return f
}
