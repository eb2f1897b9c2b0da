package s5

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	claims "ringleader.example/ringleader/internal/study/claims"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/internal/study/worstcase"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify"
)

// s5Analysis are the statements of section 4.
var s5Analysis = []reproduce.Row{
	{
		Where: "section 4, observation (1)", Claim: "for each participating identity there is at most one message in the ring",
		How: checked, Check: every(claims.OneMessage, "%[1]d elections, at most %[3]d"),
	},
	{
		Where: "section 4, observation (2)", Claim: "at the end of phase m an alive identity has walked h_m steps, or has returned to its origin",
		How: checked, Check: every(claims.EndsOfPhases, "%[1]d elections, %[2]d ends of phases"),
	},
	{
		Where: "section 4, observation (3)", Claim: "for all m, h_(m+1) is greater than h_m",
		How: checked, Check: every(claims.GrowingPhases, "%[1]d elections: those of P1 to P4 grow, rounded up"),
	},
	{
		Where: "section 4, observation (4)", Claim: "only the identity of the leader returns to its origin",
		How: checked, Check: every(claims.OneHome, "%[1]d elections: true of all"),
	},
	{
		Where: "Theorem 4.1", Claim: "the protocol finishes in a finite amount of time, and at the end a leader has been elected",
		How: checked + "; all know it", Check: every(claims.Elected, "%[1]d elections: one leader, known to all"),
	},
	{
		Where: "Theorem 4.2", Claim: "phase 0 requires n messages, and at most n time units until the last identity starts",
		How: checked + "; messages of phase 0", Check: theorem42,
	},
	{
		Where: "Theorem 4.2, decides", Claim: "the last identity decides to participate within n time units",
		How: "the same runs: when each identity decides, and when it starts phase 1", Check: decides,
	},
	{
		Where: "Theorem 4.3", Claim: "for any set of participating processors, the messages of each phase are fewer than 2n",
		How: checked + "; and a hill-climbing search for large phases, P1 with c = 3 on rings of 4, 8 and 12, 4000 inputs each", Check: theorem43(4000, 4, 8, 12),
	},
	{
		Where: "Theorem 4.3, other hypotheses", Claim: "the same of every sequence of hypotheses that grows",
		How: "section 3's loop, unit by unit, on 3000 random rings of up to 12 with random awakenings, each with a random sequence that ends at n or above; " +
			"with P1's sequence the loop does on 100 of them what P1 does",
		Check: theorem43OfAnySequence,
	},
	{
		Where: "Theorem 4.3, every awakening", Claim: "for any set of participating processors, fewer than 2n messages a phase: at most n + t(2n-1) in all, h_t being the last hypothesis",
		How: "P1: the most messages over every awakening of every order of up to 4, and over every set of participants, together, of up to 5", Check: theorem43OnEveryAwakening,
	},
	{
		Where: "Theorem 4.3, more than n", Settled: true, Claim: "the bound is 2n messages, where n would not do",
		How: "P1 with c = 3 on a ring of 12 in which processors wake at 2 to 11", Check: moreThanN,
	},
	{
		Where: "Theorem 4.3, longer search", Claim: "for any set of participating processors, the messages of each phase are fewer than 2n", Thorough: true,
		How: "the search on rings of 8, 12, 16 and 24, 100000 inputs each", Check: theorem43(100_000, 8, 12, 16, 24),
	},
	{
		Where: "section 4, order", Claim: "the relative order in the ring among alive identities does not change",
		How: checked, Check: every(claims.OrderKept, "%[1]d elections, %[2]d identities: it never changed"),
	},
	{
		Where: "section 4, dist", Claim: "t(j) <= t(i) + dist(i, j)",
		How: checked, Check: every(claims.LatestEntry, "%[1]d elections: true of all"),
	},
	{
		Where: "Lemma 4.4", Claim: "the sum of max(t(id(i)) - t(id(i-1)), 0) around the ring is at most n",
		How: checked, Check: every(claims.SumOfRises, "%[1]d elections: at most n; the largest sum is %[3]d"),
	},
	{
		Where: "Lemma 4.4, the sum to n", Claim: "for S = id(1) … id(k), the sum goes from i = 2 to n, and to id(n)",
		How: "the same runs: how many identities there are", Check: sumToK,
	},
	{
		Where: "Theorem 4.3, proof, black", Claim: "segments of black identities do not overlap: no more than n messages",
		How: checked, Check: every(claims.Black, "%[1]d elections: disjoint, together at most %[3]d messages"),
	},
	{
		Where: "Theorem 4.3, proof, white and red", Claim: "if j is in B(1), as a processor sends first j and later id(1), then j > id(1), and j is red or white",
		How: checkedLate, Check: each(latecomers, claims.SentBefore, "%[1]d elections, %[2]d such pairs: true of all"),
	},
	{
		Where: "Theorem 4.3, proof, case 1", Claim: "no red identity in B(1): its messages are at most h_m·|B(1)| <= h_m(k(1) - id(1)) <= t(id(1)) - t(k(1))",
		How: checkedLate, Check: each(latecomers, claims.CaseOne, "%[1]d elections, %[2]d such B(i), from each id(1): true of all"),
	},
	{
		Where: "Theorem 4.3, proof, id(2) in case 1", Claim: "the first identity after id(1) that is not in B(1) is black",
		How: checkedLate, Check: each(latecomers, claims.CaseOneNext, "%[1]d elections, %[2]d times: true of all"),
	},
	{
		Where: "Theorem 4.3, proof, case 2", Claim: "a red identity in B(1): those up to the last red one take at most h_m·|B'(1)| <= h_m(k(1) - id(1)) <= t(id(1)) - t(k(1)) messages",
		How: checkedLate, Check: each(latecomers, claims.CaseTwo, "%[1]d elections, %[2]d such B'(i), from each id(1): true of all"),
	},
	{
		Where: "Theorem 4.3, proof, pairs", Claim: "id(1), k(1), id(2), … are clockwise ordered, k(i) is not id(i), and t(id(i)) > t(k(i))",
		How: checkedLate, Check: each(latecomers, claims.PairsOrdered, "%[1]d elections, %[2]d pairs, from each id(1): true of all"),
	},
	{
		Where: "Theorem 4.3, proof, all considered", Claim: "each non-black identity has been considered, in one B(i) or B'(i)",
		How: checkedLate, Check: each(latecomers, claims.AllConsidered, "%[1]d elections, %[2]d red and white identities: each in one, from each id(1)"),
	},
	{
		Where: "Theorem 4.3, proof, the sum", Claim: "red and white identities take no more messages than the sum of t(id(i)) - t(k(i)), which is at most n",
		How: checkedLate, Check: each(latecomers, claims.RedAndWhite, "%[1]d elections: true of all; they take %[3]d messages in one phase, at most"),
	},
	{
		Where: "Lemma 4.5", Claim: "t(j) < t(id(1)) - h_m(j - id(1)) if a processor sends in phase m first j, later id(1)",
		How: checkedLate, Check: each(latecomers, claims.Lemma45, "%[1]d elections, %[2]d pairs of identities: true of all"),
	},
	{
		Where: "Lemma 4.5, proof, phase 1", Claim: "j enters phase 1 at time t(j) + 2·h_m·j + h_(m-1)",
		How: "the same runs: when each identity makes its first step in each phase", Check: entersPhaseM,
	},
	{
		Where: "Lemma 4.5, proof, last line", Claim: "if t(j) >= t(id) - h_m(j - id), then t(j) + 2·h_m·j + h_(m-1) > t(id) + 2·h_m·id + h_m",
		How: "when identities enter and finish each phase: " + latecomersAre, Check: lastLine,
	},
	{
		Where: "Theorem 4.3, less than", Claim: "fewer than 2n messages, where the proof adds up to no more than n and n",
		How: "the same runs: those in which no processor sends a larger identity before a smaller one, and others", Check: lessThan,
	},
}

const checkedLate = "package claims, on records of P1 to P4: " + latecomersAre

const checked = "package claims, on records of P1 to P4: " + awakeningsAre

func theorem42(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	rounds, most := 0, 0
	for r := range everyRound(b) {
		c := claim(b, r, claims.LastEntry, &d)
		d.Unless(r.ByPhase[0] == uint64(r.n()), "%s: %d messages in phase 0", r.replay(), r.ByPhase[0])
		rounds, most = rounds+1, max(most, c.Count-r.n())
	}
	return d.Finding("%d elections: n messages each; units less n: at most %d", rounds, most)
}

func decides(b *reproduce.Bench) reproduce.Finding {
	printed, starts := true, true
	rounds, apart, participants := 0, 0, 0
	for r := range everyRound(b) {
		entered := r.entered()
		first := election.Forever
		for i := range r.Record.Steps {
			s := &r.Record.Steps[i]
			if s.Time.Less(first) {
				first = s.Time
			}
			t, stands := entered[r.Subject.IDs[s.Process]]
			if s.Event != trace.Start || len(s.Sent) == 0 || !stands { // a woken processor decides when it starts
				continue
			}
			if s.Time != t {
				printed = false
				apart++
			}
		}
		for _, t := range entered {
			participants++
			starts = starts && !first.Add(election.Units(uint64(r.n()))).Less(t)
		}
		rounds++
	}
	return reproduce.HoldsCorrected(printed && participants > 0, starts && participants > 0,
		"a processor that wakes by itself decides when it wakes; within n units it starts phase 1, and this t(i) is what the lemmas need",
		"%d elections; %d times a processor decided before it started phase 1, which all did within n units: %v", rounds, apart, starts)
}

// theorem43 finds that no phase takes 2n messages: in all rounds, and where a search climbs on rings of these sizes.
func theorem43(tries int, sizes ...int) func(*reproduce.Bench) reproduce.Finding {
	return func(b *reproduce.Bench) reproduce.Finding {
		var d reproduce.Doubt
		rounds := 0
		for r := range everyRound(b) {
			claim(b, r, claims.PhaseMessages, &d)
			rounds++
		}
		text := ""
		shown := ""
		for _, n := range sizes {
			b.GoOn()
			most := reproduce.Must(worstcase.Climb(b.Context, worstcase.Options{
				Entry: b.Algorithm("stop-and-go-p1"), Size: n, Parameters: map[string]string{"c": "3"}, Measure: worstcase.Phase, Seed: 1, Tries: tries,
			}))
			d.Unless(most.Cost.Less(election.Units(uint64(2*n))), "n = %d: %s messages in phase %d", n, most.Cost, most.Phase)
			text += fmt.Sprintf("; n = %d: %s messages, %.3g n", n, most.Cost, float64(most.Cost.Lo)/float64(n))
			a := awakening{Subject: reproduce.Subject{Algorithm: "stop-and-go-p1", IDs: most.IDs, Set: []string{"c=3"}}, wake: most.Wake, unwilling: most.Unwilling}
			shown = a.replay() + " --check"
		}
		f := d.Finding("%d elections, none with 2n; largest phases found by search%s", rounds, text)
		f.Replay = shown
		return f
	}
}

// theorem43OfAnySequence runs the loop with sequences that none of P1 to P4 has.
func theorem43OfAnySequence(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	source := source5(3)
	phases, largest := 0, 0.0
	const elections = 3000
	for i := range elections {
		b.GoOn()
		a := drawn(reproduce.Subject{Algorithm: "stop-and-go-p1"}, source)
		if i < 100 {
			l := loop(a, []uint64{2, 4, 8, 16}, none, longest)
			d.Unless(l.agrees(roundOf(b, a)), "%s: P1 does not do what the loop does", a.replay())
		}
		n := uint64(len(a.IDs))
		h := []uint64{1 + source.Below(4)}
		for h[len(h)-1] < n {
			h = append(h, h[len(h)-1]+1+source.Below(n))
		}
		l := loop(a, h, none, longest)
		b.Reached(len(a.IDs))
		d.Unless(len(l.leaders) == 1 && l.ended == len(a.IDs), "%s, h = %v: leaders %v, and %d of %d end", reproduce.OnRing(election.List(a.IDs)), h, l.leaders, l.ended, n)
		for m, messages := range l.byPhase[1:] {
			d.Unless(messages < 2*n, "%s, h = %v: %d messages in phase %d", reproduce.OnRing(election.List(a.IDs)), h, messages, m+1)
			largest = max(largest, float64(messages)/float64(n))
			phases++
		}
	}
	return d.Finding("%d elections with %d phases: one leader each, and at most %.3g·n messages in a phase", elections, phases, largest)
}

func theorem43OnEveryAwakening(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	nearest := 0.0
	judge := func(n uint64, _, most *verify.Messages) {
		_, t := lastHypothesis(b, reproduce.Among(int(n), "stop-and-go-p1"), int(n))
		bound := n + uint64(t)*(2*n-1)
		d.Unless(most.Election <= bound, "n = %d: %d messages, bound %d", n, most.Election, bound)
		nearest = max(nearest, float64(most.Election)/float64(bound))
	}
	late := b.EveryOrder(&d, "stop-and-go-p1", 4, verify.Options{Starts: verify.AnyTime}, judge)
	sets := b.EveryOrder(&d, "stop-and-go-p1", 5, verify.Options{Starts: verify.EverySet}, judge)
	return d.Finding("%d orders, and %d with every set of participants: one leader, the smallest that participates; never more messages, and at most %.3g of it", late, sets, nearest)
}

// large is an election that a search found: a phase of it takes more than n messages.
func large() *awakening {
	a := &awakening{
		Subject:   reproduce.Subject{Algorithm: "stop-and-go-p1", IDs: []uint64{13, 14, 23, 9, 10, 6, 5, 12, 20, 21, 15, 19}, Set: []string{"c=3"}},
		unwilling: []int{0, 2, 3, 7, 11},
	}
	for _, at := range []uint64{3, 2, 2, 5, 5, 9, 5, 0, 0, 0, 10, 11} {
		if a.wake = append(a.wake, election.Units(at)); at == 0 { // a message wakes it
			a.wake[len(a.wake)-1] = election.Forever
		}
	}
	return a
}

func moreThanN(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	r := roundOf(b, large())
	n := uint64(r.n())
	d.Unless(r.Right && slices.Max(r.ByPhase) > n && slices.Max(r.ByPhase) < 2*n, "leaders at %v, messages by phase %v", r.Leaders, r.ByPhase)
	f := d.Finding("n = %d, messages by phase: %v", n, r.ByPhase)
	f.Replay = r.replay() + " --check"
	return f
}

func sumToK(b *reproduce.Bench) reproduce.Finding {
	printed, rounds, fewer := true, 0, 0
	var d reproduce.Doubt
	for r := range everyRound(b) {
		claim(b, r, claims.SumOfRises, &d)
		if k := len(r.entered()); k < r.n() {
			printed = false
			fewer++
		}
		rounds++
	}
	return reproduce.HoldsCorrected(printed, d.First == "", "to k, the number of identities: there need not be n that participate",
		"%d elections, in %d of them k < n: the sum to k is at most n: %v", rounds, fewer, d.First == "")
}

func entersPhaseM(b *reproduce.Bench) reproduce.Finding {
	first, each := true, true
	phases := 0
	for r := range everyRound(b) {
		entered := r.entered()
		begun := map[uint64]int{} // the phase that an identity is in
		for _, h := range r.hops() {
			if begun[h.ID] == h.Phase {
				continue
			}
			begun[h.ID] = h.Phase
			if h.Phase == 1 {
				continue
			}
			phases++
			at := entered[h.ID].Add(r.hypotheses[h.Phase-1].Times(2 * h.ID)).Add(r.hypotheses[h.Phase-2])
			each = each && h.at == at
			first = first && entered[h.ID].Add(r.hypotheses[0].Times(2*h.ID)) == at
		}
	}
	return reproduce.HoldsCorrected(first, each && phases > 0, "phase m is meant; it enters phase 1 at t(j) + 2·h_1·j",
		"%d entries of phases from 2 on: phase m is entered then: %v; phase 1: %v", phases, each, first)
}

// lastLine compares when j enters a phase with when id(1), which is smaller, finishes it, where Lemma 4.5 does not hold
// of the two.
func lastLine(b *reproduce.Bench) reproduce.Finding {
	one, more, meant := true, true, true // > for m = 1, and for m > 1; and >=
	compared, equal := 0, 0
	for r := range latecomers(b) {
		t := r.entered()
		begins, finishes := r.phases()
		for m, ends := range finishes {
			h := r.hypotheses[m-1]
			for id, end := range ends {
				for j, begin := range begins[m] {
					if j <= id || t[j].Add(h.Times(j-id)).Less(t[id]) {
						continue
					}
					compared++
					meant = meant && !begin.Less(end)
					if !end.Less(begin) {
						equal++
						one, more = one && m != 1, more && m == 1
					}
				}
			}
		}
	}
	return reproduce.HoldsCorrected(one && more && compared > 0, more && meant && compared > 0,
		"for m = 1, where h_0 = 0, and j = id(1) + 1 with >= only, which is enough: an identity that enters a phase after the other has ended it never meets the other",
		"%d times j enters a phase that id(1) ends: > for m > 1: %v; for m = 1: %v, %d times not, and >=: %v", compared, more, one, equal, meant)
}

// phases are when identities enter phases, by their first step, and when they have finished them.
func (r *round) phases() (begins, finishes map[int]map[uint64]election.Ticks) {
	begins, finishes = map[int]map[uint64]election.Ticks{}, map[int]map[uint64]election.Ticks{}
	for _, h := range r.hops() {
		if begins[h.Phase] == nil {
			begins[h.Phase], finishes[h.Phase] = map[uint64]election.Ticks{}, map[uint64]election.Ticks{}
		}
		if _, begun := begins[h.Phase][h.ID]; !begun {
			begins[h.Phase][h.ID] = h.at
		}
		if election.Units(uint64(h.Walked)) == r.hypotheses[h.Phase-1] {
			finishes[h.Phase][h.ID] = h.at.Add(election.Units(1))
		}
	}
	return begins, finishes
}

func lessThan(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	without, with, largest := 0, 0, 0.0
	for r := range latecomers(b) {
		most := claim(b, r, claims.PhaseMessages, &d).Count
		if claim(b, r, claims.Lemma45, &d).Count == 0 {
			without++
			d.Unless(most <= r.n(), "%s: %d messages in a phase though all are black", r.replay(), most)
		} else {
			with++
			largest = max(largest, float64(most)/float64(r.n()))
		}
	}
	d.Unless(with > 0, "no processor sends a larger identity before a smaller one")
	f := reproduce.HoldsCorrected(without == 0, d.First == "", "the proof leaves out that no pair may be counted: then all are black, and n is less than 2n; if one is, Lemma 4.5 is strict",
		"%d elections without such a pair: at most n in each phase; %d with one: at most %.3g n", without, with, largest)
	if d.First != "" {
		f.Why = d.First
	}
	return f
}
