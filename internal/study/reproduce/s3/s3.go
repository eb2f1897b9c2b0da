// Package s3 has the rows about S3, on Hirschberg and Sinclair's algorithm.
package s3

import (
	"slices"

	hs "ringleader.example/ringleader/algorithms/hirschbergsinclair"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

const hirschbergSinclair = "hirschberg-sinclair"

// Rows are the statements of S3.
var Rows = reproduce.From("S3", []reproduce.Row{
	{
		Where: "section 1, the problem",
		Claim: "the processor with the largest identifier is found, on a ring of unknown size without a common orientation",
		How:   "every schedule of every order of up to 3 in every orientation, and of 4 in one; random schedules of " + reproduce.ManyRingsAre + ", orientations mixed",
		Check: largestIsFound,
	},
	{
		Where: "section 1, four processors in every orientation",
		Claim: "the processor with the largest identifier is found, on a ring of unknown size without a common orientation",
		How:   "every schedule of every order of 4 in every orientation, waking at any time", Thorough: true,
		Check: largestOfFour,
	},
	{
		Where: "section 1, left and right", Claim: "processors need not know which neighbour is which",
		How:   "messages of " + reproduce.ManyRingsAre + ", orientations agreed and mixed",
		Check: orientationIsFree,
	},
	{
		Where: "section 2, stages",
		Claim: "a candidate goes from stage i to the next if it is the largest among 2^i neighbours either way",
		How:   "the entrants of each stage, compared with the distances to larger identifiers, " + reproduce.ManyRingsAre,
		Check: stages,
	},
	{
		Where: "section 2, return", Claim: "a candidate that returns to itself after 2^i steps declares itself the leader",
		How:   "the hops of messages that return to their origin, " + reproduce.ManyRingsAre,
		Check: returns,
	},
	{
		Where: "section 2, the leader", Claim: "only the processor of the largest identifier becomes leader; all others withdraw in the end",
		How:   "the leader, and the processors that receive a no for their own question, " + reproduce.ManyRingsAre,
		Check: othersWithdraw,
	},
	{
		Where: "section 2, O(n log n)", Claim: "it requires O(n log n) messages",
		How:   "messages over n·lg n, ordered and random rings of 4 to 4096; bit-reversal order costs 4n lg n + 2n",
		Check: nLogN,
	},
	{
		Where: "section 3, from", Claim: "a candidate sends {from, id, 0, 2^i} both ways, and others pass it on until x + 1 = y or a larger identifier",
		How:   "hops of from, compared with the distances to larger identifiers, " + reproduce.ManyRingsAre,
		Check: fromHops,
	},
	{
		Where: "section 3, ok and no", Claim: "a candidate waits for two responses; they travel back over the same way",
		How:   "from, ok and no counted, " + reproduce.ManyRingsAre + ", messages overtaking",
		Check: responses,
	},
	{
		Where: "section 3, a no beside an ok", Claim: "on a no it withdraws, and on two oks it continues",
		How:   "every schedule of every order of up to 3, so both orders of both answers: the least and the most messages",
		Check: mixedAnswers,
	},
	{
		Where: "section 3, received from", Claim: "two cases of {from, sender, x, y}: sender < id, and sender > id",
		How:   "every schedule of every order of up to 3 as printed, with the third case, sender = id, and with that after x + 1 = y",
		Check: ownIdentifier,
	},
	{
		Where: "section 4, participants", Claim: "at stage i there are at most about n/(2^i + 1)",
		How:   "the entrants of each stage, " + reproduce.ManyRingsAre,
		Check: participants,
	},
	{
		Where: "section 4, each candidate", Claim: "each candidate sends 2^(i+2) messages at stage i",
		How:   "messages and candidates of each stage, " + reproduce.ManyRingsAre,
		Check: eachCandidate,
	},
	{
		Where: "section 4, the sum", Claim: "at most 4(n + 2⌊n/2⌋ + 4⌊n/3⌋ + 8⌊n/5⌋ + …) messages in all",
		How:   "messages of " + reproduce.ManyRingsAre + "; and of rings of up to 2¹⁴",
		Check: theSum,
	},
	{
		Where: "section 4, the sum, every schedule", Claim: "at most 4(n + 2⌊n/2⌋ + 4⌊n/3⌋ + 8⌊n/5⌋ + …) messages, whatever the schedule",
		How:   "the most messages over every schedule of every order of up to 6, all awake; waking at any time, of up to 3",
		Check: theSumOnEverySchedule(6, 3),
	},
	{
		Where: "section 4, the sum, every schedule of seven", Claim: "at most 4(n + 2⌊n/2⌋ + 4⌊n/3⌋ + 8⌊n/5⌋ + …) messages, whatever the schedule",
		How: "every schedule of every order of up to 7, all awake; waking at any time, of up to 4", Thorough: true,
		Check: theSumOnEverySchedule(7, 4),
	},
	{
		Where: "section 4, the terms", Claim: "each term is at most 2n, and there are at most log n of them",
		How:   "the terms for n up to 2¹⁴, and the stages of " + reproduce.ManyRingsAre,
		Check: theTerms,
	},
})

// asS3 sets a setup to S3's form: no announcement, and exchanged ports at some processors.
func asS3(i *network.Setup) {
	i.Parameters = map[string]string{"announce": "no"}
	i.Flipped = make([]bool, i.IDs.Len())
	for p := range i.Flipped {
		i.Flipped[p] = i.IDs.At(p)%3 == 1
	}
}

func largestIsFound(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	silent := network.Setup{Parameters: map[string]string{"announce": "no"}}
	orders, states := b.EverySchedule(&d, hirschbergSinclair, 3, verify.Options{Setup: silent, Starts: verify.AnyTime, Orientations: true})
	four := b.Verify(hirschbergSinclair, verify.Options{Setup: silent, Size: 4})
	d.Verified(four, "n = 4")
	runs := 0
	for ids := range reproduce.ManyRings {
		r := b.Probe(hirschbergSinclair, ids, asS3)
		d.Unless(r.Right && r.Decided == 1, "%s leaders at %v, %d decided", reproduce.OnRing(ids), r.Leaders, r.Decided)
		runs++
	}
	return d.Finding("%d orders and orientations, %d states, and %d random runs: the largest is elected, and it alone knows",
		orders+four.Orders, states+four.States, runs)
}

func largestOfFour(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	r := b.Verify(hirschbergSinclair, verify.Options{
		Setup: network.Setup{Parameters: map[string]string{"announce": "no"}}, Size: 4, Starts: verify.AnyTime, Orientations: true,
	})
	d.Verified(r, "n = 4")
	return d.Finding("%d orders and orientations, %d states", r.Orders, r.States)
}

func orientationIsFree(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	rings := 0
	for ids := range reproduce.ManyRings {
		mixed := b.Probe(hirschbergSinclair, ids, asS3)
		agreed := b.Probe(hirschbergSinclair, ids, asS3, func(i *network.Setup) { i.Flipped = nil })
		d.Unless(mixed.Right && agreed.Right && slices.Equal(mixed.Messages.ByKind, agreed.Messages.ByKind),
			"%s %v messages if mixed, %v if agreed", reproduce.OnRing(ids), mixed.Messages.ByKind, agreed.Messages.ByKind)
		rings++
	}
	return d.Finding("%d rings: the same leader, and as many from, ok and no", rings)
}

func stages(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	rings, entrances := 0, 0
	for ids := range reproduce.ManyRings {
		r := b.Probe(hirschbergSinclair, ids, asS3)
		r.Enters(&d)
		for _, entered := range r.Entrants {
			entrances += len(entered)
		}
		rings++
	}
	return d.Finding("%d candidates of stages on %d rings: exactly those", entrances, rings)
}

func returns(b *reproduce.Bench) reproduce.Finding {
	printed, within, rings := true, true, 0
	for ids := range reproduce.ManyRings {
		r := b.Probe(hirschbergSinclair, ids, asS3)
		returned := 0
		for i := range r.Record.Steps {
			step := &r.Record.Steps[i]
			if step.Kind == "from" && reproduce.Carried(step.MessageValue) == ids.At(step.Process) {
				returned++
			}
		}
		last := 1 << max(0, len(r.Entrants)-1)
		printed = printed && last == ids.Len()
		within = within && r.Right && returned == 2 && last >= ids.Len() && last < 2*ids.Len()
		rings++
	}
	return reproduce.HoldsCorrected(printed, within, "within 2^i steps: after n, in the first stage with 2^i ≥ n; and on both sides, which makes one leader",
		"%d rings; in the last stage n ≤ 2^i < 2n: %v; 2^i = n on each: %v", rings, within, printed)
}

func othersWithdraw(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	withdrawn, rings, saved := 0, 0, uint64(0)
	for ids := range reproduce.ManyRings {
		r := b.Probe(hirschbergSinclair, ids, asS3)
		refused := make([]bool, ids.Len())
		for i := range r.Record.Steps {
			if step := &r.Record.Steps[i]; step.Kind == "no" && reproduce.Carried(step.MessageValue) == ids.At(step.Process) {
				refused[step.Process] = true
			}
		}
		for p, no := range refused {
			leads := slices.Contains(r.Leaders, p)
			d.Unless(no != leads, "%s %d is refused: %v, and leads: %v", reproduce.OnRing(ids), ids.At(p), no, leads)
			if no {
				withdrawn++
			}
		}
		d.Unless(r.Right, "%s leaders at %v", reproduce.OnRing(ids), r.Leaders)
		rings++
		early := b.Probe(hirschbergSinclair, ids, asS3, func(i *network.Setup) { i.Parameters["withdraw"] = "early" })
		d.Unless(early.Right && early.Messages.Election <= r.Messages.Election,
			"%s early withdrawal sends %d messages, not at most %d, leaders at %v", reproduce.OnRing(ids), early.Messages.Election, r.Messages.Election, early.Leaders)
		saved += r.Messages.Election - min(early.Messages.Election, r.Messages.Election)
	}
	d.Unless(saved > 0, "early withdrawal saves no message")
	return d.Finding("%d rings: one leader, and %d others withdraw; if they do when a larger identifier passes, as in the author's program, %d messages are saved",
		rings, withdrawn, saved)
}

func nLogN(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	most := 0.0
	for k := uint64(2); k <= 12; k++ {
		n := uint64(1) << k
		for ids := range reproduce.LargeRings(int(n)) {
			r := b.Simulate(hirschbergSinclair, simulate.Options{Setup: network.Setup{IDs: ids}})
			d.Unless(r.Right && r.Messages.Election <= 8*n*(k+1), "%s %d messages", reproduce.OnRing(ids), r.Messages.Election)
			if ids.(*order.Order).Name() == "bit-reversal" {
				d.Unless(r.Messages.Election == 4*n*k+2*n, "%s %d messages", reproduce.OnRing(ids), r.Messages.Election)
			}
			most = max(most, float64(r.Messages.Election)/float64(n*k))
		}
	}
	return d.Unsettled(reproduce.EverySize, "n up to 4096: at most %.3g·n lg n, and never more than 8n(lg n + 1)", most)
}

func fromHops(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	rings, hops := 0, 0
	for ids := range reproduce.ManyRings {
		r := b.Probe(hirschbergSinclair, ids, asS3)
		want := 0
		for p := range ids.Len() {
			clockwise, counter := reproduce.ToGreater(ids, p)
			last := 1 << election.CeilLog(uint64(min(clockwise, counter)))
			want += 2*(last-1) + min(clockwise, last) + min(counter, last)
		}
		d.Unless(r.Messages.ByKind[hs.From] == uint64(want), "%s from makes %d hops, not %d", reproduce.OnRing(ids), r.Messages.ByKind[hs.From], want)
		rings, hops = rings+1, hops+want
	}
	return d.Finding("%d hops on %d rings, as the distances have it", hops, rings)
}

func responses(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	rings, answers := 0, uint64(0)
	for ids := range reproduce.ManyRings {
		r := b.Probe(hirschbergSinclair, ids, asS3)
		m := r.Messages.ByKind
		d.Unless(m[hs.Ok]+m[hs.No]+2*uint64(ids.Len()) == m[hs.From], "%s %d ok and %d no for %d from", reproduce.OnRing(ids), m[hs.Ok], m[hs.No], m[hs.From])
		rings, answers = rings+1, answers+m[hs.Ok]+m[hs.No]
	}
	return d.Finding("%d hops of ok and no on %d rings: those of from, less the 2n that return to their origin", answers, rings)
}

func mixedAnswers(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	tried := 0
	for n := 1; n <= 3; n++ {
		for ids := range reproduce.Rings(n) {
			r := b.Verify(hirschbergSinclair, verify.Options{
				Setup: network.Setup{IDs: ids, Parameters: map[string]string{"announce": "no"}}, Starts: verify.AnyTime, Unordered: true,
			})
			if !d.Verified(r, "%s", reproduce.OnRing(ids)) {
				continue
			}
			d.Unless(*r.MinMessages == *r.MaxMessages, "%s %d to %d messages", reproduce.OnRing(ids), r.MinMessages.Total, r.MaxMessages.Total)
			tried += r.States
		}
	}
	return d.Finding("%d states: a late answer changes nothing, neither the leader nor a count", tried)
}

// ownIdentifier tries the list of what is received as it is printed, and with the missing case in two places.
func ownIdentifier(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	_, states := b.EverySchedule(&d, hirschbergSinclair, 3, verify.Options{Starts: verify.AnyTime, Orientations: true})
	printed := hs.Algorithm
	printed.Receive = func(p *hs.Process, port election.Port, kind election.Kind, m hs.Message, out *election.Out[hs.Message]) {
		if kind != hs.From || m.ID != p.ID {
			p.Receive(port, kind, m, out)
		}
	}
	silent := map[string]string{"announce": "no"}
	r := reproduce.Must(verify.Run(printed, verify.Options{Size: 2, Setup: network.Setup{Parameters: silent}}))
	late := hs.Algorithm
	late.Receive = func(p *hs.Process, port election.Port, kind election.Kind, m hs.Message, out *election.Out[hs.Message]) {
		if kind == hs.From && m.ID == p.ID && m.X+1 == m.Y {
			out.Send(port, hs.Ok, hs.Message{ID: m.ID, Y: m.Y})
			return
		}
		p.Receive(port, kind, m, out)
	}
	o := simulate.Options{Setup: network.Setup{IDs: reproduce.Must(order.Increasing(8)), Parameters: silent}}
	more := reproduce.Variant(late, o).Messages.Total
	less := b.Simulate(hirschbergSinclair, o)
	d.Unless(less.Right && less.Messages.Total < more, "the order of the cases makes no difference")
	if d.First != "" {
		return d.Finding("")
	}
	violation := "nothing is wrong"
	if r.Violation != nil {
		violation = r.Violation.Property + ", n = 2"
	}
	return reproduce.HoldsCorrected(r.Violation == nil, d.First == "", "sender = id is a third case, the leader's, and comes before x + 1 = y",
		"as printed: %s; with the case first: %d states, one leader in each final one; after x + 1 = y, %d messages instead of %d for n = 8",
		violation, states, more, less.Messages.Total)
}

func participants(b *reproduce.Bench) reproduce.Finding {
	printed, right, above := true, true, 0
	attained := 0
	for ids := range reproduce.ManyRings {
		n := ids.Len()
		r := b.Probe(hirschbergSinclair, ids, asS3)
		right = right && len(r.Entrants) > 0
		for stage, entered := range r.Entrants {
			if len(entered) > n/(1<<stage+1) {
				printed = false
				above++
			}
			right = right && len(entered) <= reproduce.MostEntrants(n, stage)
			if len(entered) == reproduce.MostEntrants(n, stage) {
				attained++
			}
		}
	}
	return reproduce.HoldsCorrected(printed, right, "⌊n/(2^(i-1) + 1)⌋ for i > 0, and n for i = 0: what the sum in section 4 has",
		"%d times more than n/(2^i + 1); at most ⌊n/(2^(i-1) + 1)⌋: %v, as many %d times", above, right, attained)
}

func eachCandidate(b *reproduce.Bench) reproduce.Finding {
	printed, right := true, true
	stages, full := 0, 0
	for ids := range reproduce.ManyRings {
		r := b.Probe(hirschbergSinclair, ids, asS3)
		right = right && len(r.Entrants) > 0 && len(r.Entrants) == len(r.ByPhase)
		for stage, entered := range r.Entrants[:min(len(r.Entrants), len(r.ByPhase))] {
			all := uint64(len(entered)) << (stage + 2)
			printed = printed && r.ByPhase[stage] == all
			right = right && r.ByPhase[stage] <= all
			stages++
			if r.ByPhase[stage] == all {
				full++
			}
		}
	}
	return reproduce.HoldsCorrected(printed, right, "at most 2^(i+2): less if it is refused or returns to its origin on the way",
		"%d stages, never more: %v; in %d of them each candidate as many", stages, right, full)
}

// sum is S3's bound, with a function of its own for what the declaration claims is tested, too.
func sum(n uint64) (bound uint64, terms []uint64) {
	terms = []uint64{n}
	for side := uint64(1); side+1 <= n; side *= 2 {
		terms = append(terms, 2*side*(n/(side+1)))
	}
	for _, term := range terms {
		bound += 4 * term
	}
	return bound, terms
}

func theSum(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	most := 0.0
	judge := func(ids election.Arrangement) {
		n := uint64(ids.Len())
		bound, _ := sum(n)
		r := b.Simulate(hirschbergSinclair, simulate.Options{Setup: network.Setup{IDs: ids}})
		d.Unless(r.Right && r.Messages.Election <= bound, "%s %d messages, bound %d", reproduce.OnRing(ids), r.Messages.Election, bound)
		exact := b.Count(hirschbergSinclair, ids).Messages.Election
		d.Unless(r.Messages.Election == exact, "%s %d messages, %d by the closed form", reproduce.OnRing(ids), r.Messages.Election, exact)
		most = max(most, float64(r.Messages.Election)/float64(bound))
	}
	for ids := range reproduce.ManyRings {
		judge(ids)
	}
	for ids := range reproduce.LargeRings(1000, 4096, 1<<14) {
		judge(ids)
	}
	return d.Finding("never more, and at most %.3g of it", most)
}

func theSumOnEverySchedule(awake, waking int) func(*reproduce.Bench) reproduce.Finding {
	return func(b *reproduce.Bench) reproduce.Finding {
		var d reproduce.Doubt
		nearest := 0.0
		judge := func(n uint64, _, most *verify.Messages) {
			bound, _ := sum(n)
			d.Unless(most.Election <= bound, "n = %d: %d messages, bound %d", n, most.Election, bound)
			nearest = max(nearest, float64(most.Election)/float64(bound))
		}
		silent := network.Setup{Parameters: map[string]string{"announce": "no"}}
		orders := b.EveryOrder(&d, hirschbergSinclair, awake, verify.Options{Setup: silent}, judge)
		late := b.EveryOrder(&d, hirschbergSinclair, waking, verify.Options{Setup: silent, Starts: verify.AnyTime}, judge)
		return d.Finding("%d orders, and %d with processors that wake at any time: one leader, the largest; never more messages, and at most %.3g of it", orders, late, nearest)
	}
}

func theTerms(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	atMostTwice, logN := true, true
	for n := uint64(2); n <= 1<<14; n++ {
		_, terms := sum(n)
		atMostTwice = atMostTwice && slices.Max(terms) <= 2*n
		logN = logN && uint64(len(terms)) <= election.CeilLog(n)
		d.Unless(uint64(len(terms)) == 1+election.CeilLog(n), "n = %d: %d terms", n, len(terms))
	}
	rings := 0
	for ids := range reproduce.ManyRings {
		r := b.Probe(hirschbergSinclair, ids, asS3)
		_, terms := sum(uint64(ids.Len()))
		d.Unless(len(r.Entrants) == len(terms), "%s %d stages, %d terms", reproduce.OnRing(ids), len(r.Entrants), len(terms))
		rings++
	}
	if d.First != "" {
		return d.Finding("")
	}
	return reproduce.HoldsCorrected(atMostTwice && logN, atMostTwice, "1 + ⌈lg n⌉ terms, one for each stage",
		"each at most 2n: %v; ⌈lg n⌉ or fewer: %v; on %d rings as many stages as terms", atMostTwice, logN, rings)
}
