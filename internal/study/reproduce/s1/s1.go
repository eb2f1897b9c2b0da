// Package s1 has the rows about S1, on rings whose processors probe twice as far in each phase.
package s1

import (
	"math"

	"ringleader.example/ringleader/algorithms/ringbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// The two algorithms of S1.
const (
	simple = "ring-bully-simple"
	bully  = "ring-bully"
)

// Rows are the statements of S1, section 13.3, in its order.
var Rows = reproduce.From("S1", s1Problem, s1Code, s1Schedules, s1Theorems)

// s1Problem are the rows on the problem, the simplified algorithm, and the beginning of the code.
var s1Problem = []reproduce.Row{
	{
		Where: "the problem",
		Claim: "in any execution one processor assigns TRUE to leader, all others FALSE, and none changes it",
		How:   "both algorithms: every schedule, whenever processors wake and whichever message overtakes, of every order of up to 4 identifiers",
		Check: problem,
	},
	{
		Where: "the model, ring", Claim: "processors agree which link leads clockwise",
		How:   "Bully under every schedule of 3, if they agree, and if they need not",
		Check: agreedOrientation,
	},
	{
		Where: "the model, identifiers",
		Claim: "identifiers are different natural numbers, which need not be consecutive; no processor knows another's, nor the size of the ring",
		How:   "rings of identifiers up to 2⁶⁴ - 1 cost what those of their ranks do; with a number twice, every schedule is tried",
		Check: naturalIdentifiers,
	},
	{
		Where: "simplified Bully, swallowing",
		Claim: "only the largest identifier returns to its origin; others are swallowed on their way",
		How:   "hops compared with the distances to the next larger identifier, " + reproduce.ManyRingsAre + ", random schedules",
		Check: swallowing,
	},
	{
		Where: "simplified Bully, complexity", Claim: "each processor induces at most n messages, and the leader n more: O(n²)",
		How:   "the most and the least over " + reproduce.ManyRingsAre,
		Check: simplifiedComplexity,
	},
	{
		Where: "simplified Bully, constant fractions",
		Claim: "identifiers can be such that those of a constant fraction of processors make a constant fraction of n hops",
		How:   "hops of each of n = 16 to 256 decreasing identifiers",
		Check: constantFractions,
	},
	{
		Where: "Bully, phases",
		Claim: "a processor enters the next phase if none is larger within the limit of this one, which doubles",
		How:   "the entrants of each phase, compared with the distances to larger identifiers, " + reproduce.ManyRingsAre,
		Check: phases,
	},
	{
		Where: "Bully, code lines 6-8", Claim: "each processor sends ⟨probe, id, 0, 0⟩ once, when it wakes, whenever that is",
		How:   "the entrants of phase 0, " + reproduce.ManyRingsAre + ", waking at random, also after messages",
		Check: wakesOnce,
	},
}

// s1Schedules are the rows on terminated processors, and on waking.
var s1Schedules = []reproduce.Row{
	{
		Where: "Bully, after TERMINATE", Settled: true, Claim: "a processor may still process messages after termination",
		How:   "every schedule of the ring 4, 1, 2, 3, whenever processors wake, and of a variant that stops; records of rings of up to 64",
		Check: afterTermination,
	},
	{
		Where: "Bully, wake schedule", Claim: "processors wake at any time; the messages are the same",
		How: "the least and the most messages over every schedule of every order of up to 4; " +
			"on larger rings five schedules, processors waking before or between messages",
		Check: anyWakeSchedule,
	},
}

func problem(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	orders, states := b.EverySchedule(&d, simple, 4, verify.Options{Starts: verify.AnyTime})
	more, others := b.EverySchedule(&d, bully, 4, verify.Options{Starts: verify.AnyTime})
	return d.Finding("%d orders, %d states; in every final one one leader, all others not, decided once", orders+more, states+others)
}

func agreedOrientation(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	b.EverySchedule(&d, bully, 3, verify.Options{})
	turned := ringbully.Algorithm
	turned.Unoriented = true
	r := reproduce.Must(verify.Run(turned, verify.Options{Size: 3, Orientations: true}))
	if r.Violation == nil {
		d.Unless(false, "it elects without that, too, in %d states", r.States)
		return d.Finding("")
	}
	return d.Finding("if they agree, one leader; if not, %s: %s", r.Violation.Property, r.Violation.Detail)
}

func naturalIdentifiers(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	rings := 0
	for _, name := range []string{simple, bully} {
		for n := 1; n <= 64; n++ {
			ranks := reproduce.Must(order.Random(n, uint64(n)))
			spread := make(election.List, n)
			for p := range spread {
				spread[p] = math.MaxUint64 - uint64(n)*uint64(n) + ranks.At(p)*ranks.At(p) // the largest is 2⁶⁴ - 1
			}
			spread[ranks.Position(1)] = 0
			one := b.Simulate(name, simulate.Options{Setup: network.Setup{IDs: ranks}})
			other := b.Simulate(name, simulate.Options{Setup: network.Setup{IDs: spread}})
			d.Unless(one.Right && other.Right && one.Messages.Total == other.Messages.Total, "%s, n = %d: %d and %d messages, leaders at %v and %v",
				name, n, one.Messages.Total, other.Messages.Total, one.Leaders, other.Leaders)
			rings++
		}
		d.Unless(!b.Algorithm(name).KnowsSize, "%s knows the size of the ring", name)
	}
	twice := network.On(5, 3, 5, 1)
	twice.Duplicates = true
	r := b.Verify(bully, verify.Options{Setup: twice})
	d.Unless(r.Violation != nil, "with an identifier twice one leader is elected, too")
	if r.Violation == nil {
		return d.Finding("%d rings", rings)
	}
	f := d.Finding("%d rings, one leader each, as many messages as with ranks; on [5 3 5 1], %s: %s", rings, r.Violation.Property, r.Violation.Detail)
	f.Replay = "ringleader run ring-bully --ids 5,3,5,1 --allow-duplicate-ids"
	return f
}

func swallowing(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	rings, identifiers := 0, 0
	for ids := range reproduce.ManyRings {
		hops := 0
		for p := range ids.Len() {
			clockwise, _ := reproduce.ToGreater(ids, p)
			hops += clockwise
		}
		r := b.Simulate(simple, simulate.Options{
			Setup: network.Setup{IDs: ids}, Schedule: simulate.Random, AnyTime: true, Seed: ids.At(0), Faults: faults.Script{Unordered: true},
		})
		d.Unless(r.Right, "%s leaders at %v, %d decided", reproduce.OnRing(ids), r.Leaders, r.Decided)
		d.Unless(r.Messages.Election == uint64(hops), "%s identifiers make %d hops, not %d", reproduce.OnRing(ids), r.Messages.Election, hops)
		rings, identifiers = rings+1, identifiers+ids.Len()
	}
	return d.Finding("%d identifiers on %d rings: each runs to the next larger one, the largest n hops", identifiers, rings)
}

func simplifiedComplexity(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	worst := 0.0
	for ids := range reproduce.ManyRings {
		n := uint64(ids.Len())
		r := b.Simulate(simple, simulate.Options{Setup: network.Setup{IDs: ids}})
		d.Unless(r.Right, "%s leaders at %v, %d decided", reproduce.OnRing(ids), r.Leaders, r.Decided)
		d.Unless(r.Messages.Election >= 2*n-1 && r.Messages.Election <= n*(n+1)/2, "%s %d messages, not 2n - 1 to n(n + 1)/2", reproduce.OnRing(ids), r.Messages.Election)
		d.Unless(r.Messages.Announcement == n, "%s the leader induces %d messages more", reproduce.OnRing(ids), r.Messages.Announcement)
		worst = max(worst, float64(r.Messages.Total)/float64(n*n))
	}
	return d.Finding("2n - 1 to n(n + 1)/2 messages, and n more; in all at most %.3g·n²", worst)
}

func constantFractions(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	least := 1.0
	for n := 16; n <= 256; n *= 2 {
		ids := reproduce.Must(order.Decreasing(n))
		r := b.Simulate(simple, simulate.Options{Setup: network.Setup{IDs: ids}, Schedule: simulate.Random, Record: true})
		hops := make([]int, n+1) // by identifier
		for i := range r.Record.Steps {
			if step := &r.Record.Steps[i]; step.Kind == "identifier" {
				hops[reproduce.Carried(step.MessageValue)]++
			}
		}
		far := 0
		for _, h := range hops {
			if 2*h >= n {
				far++
			}
		}
		d.Unless(2*far >= n, "n = %d: %d identifiers make n/2 hops or more", n, far)
		least = min(least, float64(far)/float64(n))
	}
	return d.Unsettled(reproduce.EverySize, "n = 16 to 256: %.3g of them, or more, make n/2 hops or more", least)
}

func phases(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	rings, entrances := 0, 0
	for ids := range reproduce.ManyRings {
		r := b.Probe(bully, ids)
		r.Enters(&d)
		for _, entered := range r.Entrants {
			entrances += len(entered)
		}
		rings++
	}
	return d.Finding("%d entrances on %d rings: phase i, if none is larger within 2^(i-1) hops", entrances, rings)
}

func wakesOnce(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	processors, late := 0, 0
	for ids := range reproduce.ManyRings {
		n := ids.Len()
		r := b.Probe(bully, ids)
		d.Unless(len(r.Entrants) > 0 && len(r.Entrants[0]) == n, "%s not all enter phase 0", reproduce.OnRing(ids))
		starts, heard := 0, make([]bool, n)
		for i := range r.Record.Steps {
			step := &r.Record.Steps[i]
			if step.From > 0 {
				heard[step.Process] = true
				continue
			}
			starts++
			d.Unless(reproduce.MessagesSent(step.Sent, "probe") == 2, "%s position %d wakes and sends %d probes", reproduce.OnRing(ids), step.Process, reproduce.MessagesSent(step.Sent, "probe"))
			if heard[step.Process] {
				late++
			}
		}
		d.Unless(starts == n, "%s %d initiate", reproduce.OnRing(ids), starts)
		processors += n
	}
	return d.Finding("%d processors, of which %d wake after they have served others: each enters phase 0 once", processors, late)
}

// deaf is a processor that does nothing any more once it has terminated.
type deaf struct {
	ringbully.Process
	Done bool
}

func afterTermination(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	spread := func(r *verify.Report) (least, most uint64) {
		if !d.Verified(r, "n = 4") {
			return 0, 0
		}
		return r.MinMessages.Total, r.MaxMessages.Total
	}
	served := 0
	for ids := range reproduce.LargeRings(4, 16, 64) {
		terminated := make([]bool, ids.Len())
		r := b.Probe(bully, ids)
		for i := range r.Record.Steps {
			step := &r.Record.Steps[i]
			if terminated[step.Process] {
				served += len(step.Sent)
			}
			terminated[step.Process] = terminated[step.Process] || len(step.Decided) > 0
		}
	}
	d.Unless(served > 0, "no processor sends a message after it has terminated")
	variant := election.Algorithm[deaf, ringbully.Message]{
		Declaration: ringbully.Algorithm.Declaration,
		New:         func(l election.Local) deaf { return deaf{Process: ringbully.New(l)} },
		Start: func(p *deaf, out *election.Out[ringbully.Message]) {
			if !p.Done {
				p.Process.Start(out)
			}
		},
		Receive: func(p *deaf, port election.Port, kind election.Kind, m ringbully.Message, out *election.Out[ringbully.Message]) {
			if !p.Done {
				p.Process.Receive(port, kind, m, out)
				p.Done = p.Leader != 0
			}
		},
	}
	variant.Counts = election.CountsVary
	ids := network.On(4, 1, 2, 3)
	least, most := spread(b.Verify(bully, verify.Options{Setup: ids, Starts: verify.AnyTime}))
	deafLeast, deafMost := spread(reproduce.Must(verify.Run(variant, verify.Options{Setup: ids, Starts: verify.AnyTime})))
	d.Unless(least == most, "%d to %d messages", least, most)
	d.Unless(deafLeast < least, "a processor that stops saves no message")
	return d.Finding("it does: %d messages are sent so; on [4 1 2 3] every run has %d; if terminated processors stop, %d to %d, one leader all the same",
		served, most, deafLeast, deafMost)
}

func anyWakeSchedule(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	tried := 0
	for n := 1; n <= 4; n++ {
		for ids := range reproduce.Rings(n) {
			for _, name := range []string{simple, bully} {
				r := b.Verify(name, verify.Options{Setup: network.Setup{IDs: ids}, Starts: verify.AnyTime, Unordered: true})
				if !d.Verified(r, "%s %s", name, reproduce.OnRing(ids)) {
					continue
				}
				d.Unless(*r.MinMessages == *r.MaxMessages, "%s %s: %d to %d messages", name, reproduce.OnRing(ids), r.MinMessages.Total, r.MaxMessages.Total)
				tried++
			}
		}
	}
	large := 0
	for ids := range reproduce.LargeRings(8, 33, 64) {
		for _, name := range []string{simple, bully} {
			want := b.Count(name, ids)
			for schedule := range simulate.Sweep {
				for _, anyTime := range []bool{false, true} {
					r := b.Simulate(name, simulate.Options{Setup: network.Setup{IDs: ids}, Schedule: schedule, AnyTime: anyTime, Seed: 1})
					d.Unless(r.Right && r.Messages.Total == want.Messages.Total, "%s %s, schedule %s: %d messages, not %d",
						name, reproduce.OnRing(ids), schedule, r.Messages.Total, want.Messages.Total)
					large++
				}
			}
		}
	}
	return d.Finding("%d small rings: the least is the most; %d runs of larger ones: all as counted", tried, large)
}
