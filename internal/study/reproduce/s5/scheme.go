package s5

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	claims "ringleader.example/ringleader/internal/study/claims"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/trace"
)

// s5Scheme are the statements of section 3.
var s5Scheme = []reproduce.Row{
	{
		Where: "section 3, phase 0", Claim: "each processor sends 'election started' once, when it wakes or receives it",
		How: "P1 to P4: " + awakeningsAre + "; its senders, and when they send it", Check: phase0,
	},
	{
		Where: "section 3, too late", Claim: "a processor cannot decide to participate after it has received the first message",
		How: "the same runs: processors that are unwilling when the message arrives, and would wake later", Check: tooLate,
	},
	{
		Where: "section 3, rule (a)", Claim: "if j is the identity of the processor itself, it is the winner and sends 'j elected'",
		How: "the same runs: each identity that a processor receives, and what it does then", Check: rule((*meeting).ruleA, "its own identity"),
	},
	{
		Where: "section 3, rule (b)", Claim: "a processor that is aware of a smaller participating identity kills j",
		How: "the same runs: the identities that it has received before, and its own if it takes part", Check: rule((*meeting).ruleB, "a larger one than it is aware of"),
	},
	{
		Where: "section 3, rule (c), waiting", Claim: "if j is the lowest identity that the processor has seen, another that is waiting there is killed",
		How: "the same runs: timers of the processor then, and later", Check: rule((*meeting).ruleCWaiting, "a lower one than waits there"),
	},
	{
		Where: "section 3, rule (c), sends", Claim: "if j is the lowest, and has not completed phase m, the processor sends j to its neighbour",
		How: "the same runs: what it sends then", Check: rule((*meeting).ruleCSends, "the lowest, amid a phase"),
	},
	{
		Where: "section 3, rule (c), delays", Claim: "if j is the lowest, and has completed phase m, the processor delays it for a time proportional to j, and sends it then if no better one has arrived",
		How: "the same runs: when it sends j, which is 2j(h_(m+1) - h_m) units later, unless a lower one has come", Check: rule((*meeting).ruleCDelays, "the lowest, at the end of a phase"),
	},
	{
		Where: "section 3, end of phase 1", Claim: "identity i has performed phase 1 at time t(i) + h_1(2i + 1)",
		How: "the same runs: when an identity has made its h_1-th step, and for all phases its h_m-th", Check: endOfPhase1,
	},
	{
		Where: "section 3, one waits", Claim: "at each processor there is one waiting message at most",
		How: "package claims, on the same runs", Check: every(claims.OneWaits, "%[1]d elections, at most %[3]d"),
	},
	{
		Where: "section 3, back at its origin", Claim: "the smallest identity is the only one that walks around the complete ring",
		How: "the same runs: steps of each identity", Check: completeRing,
	},
	{
		Where: "section 3, the loop", Claim: "the protocol scheme for processor i",
		How: "its loop with the corrections below, unit by unit, against P1: every order of up to 6 identifiers, and 300 random awakenings", Check: theLoop,
	},
	{
		Where: "section 3, variables", Claim: "M memorizes the message that is waiting",
		How: "the loop where the message read replaces the waiting one, as the list of variables implies, and where M' is the waiting one", Check: slipped(oneVariable,
			"the waiting message is M'; M is read in each unit, and would replace it"),
	},
	{
		Where: "section 3, no message", Claim: "without a message, assume M = <j, 1, 1> with j > bestid",
		How: "the loop with bestid = +∞, where j is then smaller; and where no message is read then", Check: slipped(assumed,
			"if bestid is +∞ there is no such j: no message is read, or identities of no processor would walk"),
	},
	{
		Where: "section 3, send (i, h_m, w+1)", Claim: "if phase m is not finished, send <i, h_m, w+1>",
		How: "the loop where processor i sends its own identity, and where it sends the j that it has read", Check: slipped(ownIdentity,
			"<j, h_m, w+1> is meant"),
	},
	{
		Where: "section 3, until the election is finished", Claim: "the election is finished if message M is 'i elected'",
		How: "the loop as printed, and one in which a processor that forwards 'j elected' has finished, too: how many processors leave it", Check: slipped(winnerOnly,
			"a processor that forwards 'j elected' leaves the loop as well"),
	},
}

func phase0(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	rounds, messages := 0, 0
	for r := range everyRound(b) {
		sent := make([]int, r.n())
		for i := range r.Record.Steps {
			s := &r.Record.Steps[i]
			started := reproduce.MessagesSent(s.Sent, "election started")
			sent[s.Process] += started
			first := s.Event == trace.Start || s.Kind == "election started"
			d.Unless(started == 0 || first, "%s: step %d sends it", r.replay(), s.Number)
			messages += started
		}
		for p, times := range sent {
			d.Unless(times == 1, "%s: %d sends it %d times", r.replay(), r.Subject.IDs[p], times)
		}
		rounds++
	}
	return d.Finding("%d elections: %d messages, one of each processor, in the unit in which it wakes", rounds, messages)
}

func tooLate(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	late := 0
	for r := range everyRound(b) {
		entered := r.entered()
		for _, p := range r.unwilling {
			started, received := election.Forever, election.Forever
			for i := range r.Record.Steps {
				s := &r.Record.Steps[i]
				if s.Process == p && s.Event == trace.Start && len(s.Sent) > 0 {
					started = s.Time
				}
				if s.Process == p && s.Kind == "election started" {
					received = s.Time
				}
			}
			d.Unless(received != election.Forever, "%s: %d never receives it", r.replay(), r.Subject.IDs[p])
			if _, stands := entered[r.Subject.IDs[p]]; started == election.Forever && r.wake[p] != election.Forever {
				late++
				d.Unless(!stands, "%s: %d participates", r.replay(), r.Subject.IDs[p])
			} else {
				d.Unless(stands == started.Less(received), "%s: %d participates: %v", r.replay(), r.Subject.IDs[p], stands)
			}
		}
	}
	d.Unless(late > 0, "no processor is late")
	return d.Finding("%d processors would have decided so too late, and do not participate", late)
}

func endOfPhase1(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	first, later := 0, 0
	for r := range everyRound(b) {
		entered := r.entered()
		for _, h := range r.hops() {
			hypothesis := r.hypotheses[h.Phase-1]
			if election.Units(uint64(h.Walked)) != hypothesis {
				continue
			}
			want := entered[h.ID].Add(hypothesis.Times(2*h.ID + 1))
			d.Unless(h.at.Add(election.Units(1)) == want, "%s: %d ends phase %d one unit after %s, not at %s", r.replay(), h.ID, h.Phase, h.at, want)
			if h.Phase == 1 {
				first++
			} else {
				later++
			}
		}
	}
	d.Unless(first > 0 && later > 0, "%d ends of phase 1, and %d of later phases", first, later)
	return d.Finding("%d ends of phase 1; and of %d later phases m, at t(i) + h_m(2i + 1)", first, later)
}

func completeRing(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	rounds, others := 0, 0
	for r := range everyRound(b) {
		steps := map[uint64]int{}
		for _, h := range r.hops() {
			steps[h.ID]++
		}
		for p, id := range r.Subject.IDs {
			leads := slices.Contains(r.Leaders, p)
			d.Unless(leads == (steps[id] == r.n()), "%s: %d makes %d steps", r.replay(), id, steps[id])
			if !leads && steps[id] > 0 {
				others++
			}
		}
		rounds++
	}
	return d.Finding("%d elections: %d other identities made steps, none of them n", rounds, others)
}

// looping are the rings on which the loop is run, with hypotheses as P1 has them.
func looping(yield func(*awakening, []uint64) bool) {
	s := reproduce.Subject{Algorithm: "stop-and-go-p1"}
	h := []uint64{2, 4, 8, 16}
	for n := 1; n <= 6; n++ {
		for ids := range reproduce.Rings(n) {
			a := &awakening{Subject: s}
			if a.IDs = ids; !yield(a, h) {
				return
			}
		}
	}
	source := source5(1)
	for range 300 {
		if !yield(drawn(s, source), h) {
			return
		}
	}
}

const longest = 4000 // units that the loop is run for

// agrees reports whether the loop does what the engine does, up to a time.
func (l *looped) agrees(r *round) bool {
	p, one := r.Leader()
	return one && r.Right && slices.Equal(l.leaders, []uint64{r.Subject.IDs[p]}) && l.ended == r.n() && l.announced == r.Messages.Announcement &&
		slices.Equal(l.byPhase[:len(r.ByPhase)], r.ByPhase) && election.Units(l.elected) == r.Time.Elected && election.Units(l.quiet) == r.Time.Quiet
}

func theLoop(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	elections := 0
	for a, h := range looping {
		r, l := roundOf(b, a), loop(a, h, none, longest)
		d.Unless(l.agrees(r), "%s: %v %v messages at %d and %d; the loop: %+v", a.replay(), r.Leaders, r.ByPhase, r.Time.Elected, r.Time.Quiet, l)
		elections++
	}
	printed := loop(&awakening{Subject: reproduce.Subject{IDs: []uint64{1, 2, 3}}}, []uint64{2, 4}, ownIdentity, longest)
	return reproduce.HoldsCorrected(len(printed.leaders) == 1 && printed.ended == 3, d.First == "",
		"with the corrections of the rows below", "%s", d.Finding("%d elections: the same leader, messages of each phase, and times", elections).Measured)
}

// slipped finds that the loop goes wrong with a slip as printed, and does what the engine does without.
func slipped(s slip, correction string) func(*reproduce.Bench) reproduce.Finding {
	return func(b *reproduce.Bench) reproduce.Finding {
		var d reproduce.Doubt
		elections, wrong := 0, 0
		shown := ""
		for a, h := range looping {
			r := roundOf(b, a)
			l := loop(a, h, none, longest)
			d.Unless(l.agrees(r), "%s: %+v", a.replay(), l)
			if l := loop(a, h, s, longest); !l.agrees(r) {
				wrong++
				if shown == "" && len(a.IDs) > 1 {
					shown = fmt.Sprintf("%s: leaders %v, messages %v, %d of %d leave the loop", reproduce.OnRing(election.List(a.IDs)), l.leaders, l.byPhase, l.ended, len(a.IDs))
				}
			}
			elections++
		}
		f := reproduce.HoldsCorrected(wrong == 0, d.First == "", correction, "as printed, %d of %d elections go another way; %s", wrong, elections, shown)
		if d.First != "" {
			f.Why = d.First
		}
		return f
	}
}
