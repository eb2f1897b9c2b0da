package count

import (
	"context"
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/outcome"
)

// The algorithms in which identifiers travel until they meet a greater one: closed forms over distances.
var _ Func = LeLann

// LeLann counts for algorithm lelann: every identifier goes all the way round. With late=lost, n leader messages
// follow.
func LeLann(_ context.Context, ids election.Arrangement, set election.Parameters, _ func(done, of int)) (*Result, error) {
	if err := distinct(ids); err != nil {
		return nil, err
	}
	leader, n := greatest(ids), uint64(ids.Len())
	r := &Result{Messages: messages(0, n*n), Time: times(n, n, n), Leader: ids.At(leader), Position: leader}
	if set.Text("late") == "lost" {
		r.Messages, r.Time = messages(n, n*n), times(n, n, 2*n)
	}
	return r, nil
}

// tallyHops sums the hops of LCR.
func tallyHops(r *Range, batch []distances) {
	sum := uint64(0)
	for _, d := range batch {
		sum += uint64(d.clockwise)
	}
	r.Hops += sum
}

// LCR counts for algorithm lcr, under any schedule: an identifier travels to the nearest greater one, and the largest
// returns to its origin; then n leader messages follow. The parameter flag makes no difference: it makes forwarding
// processes participants, and here all are participants before they forward.
var LCR Ranged = func(ids election.Arrangement, _ election.Parameters) (*Ranges, error) {
	return surveyed(ids, tallyHops, func(r *Range, n uint64, found *Result) {
		found.Messages = messages(n, r.Hops)
		found.Time = times(2*n, 2*n, 2*n) // n units for its identifier; then the leader learns of itself last
	})
}

// LCRSynchronous counts for algorithm lcr-synchronous: as LCR, but without an announcement.
var LCRSynchronous Ranged = func(ids election.Arrangement, _ election.Parameters) (*Ranges, error) {
	return surveyed(ids, tallyHops, func(r *Range, n uint64, found *Result) {
		found.Messages = outcome.Messages{Total: r.Hops, Election: r.Hops, ByKind: []uint64{r.Hops}}
		found.Time = times(n, n, n)
	})
}

// RingBullySimple counts for algorithm ring-bully-simple: as LCR, but the leader decides before it announces itself.
var RingBullySimple Ranged = func(ids election.Arrangement, _ election.Parameters) (*Ranges, error) {
	return surveyed(ids, tallyHops, func(r *Range, n uint64, found *Result) {
		found.Messages = messages(n, r.Hops)
		found.Time = times(n, 2*n-1, 2*n)
	})
}

// RingBully counts for algorithm ring-bully, under any schedule. In phase i a processor's probe runs 2^i hops, or to
// the nearest greater identifier. Replies return if that is farther, and two replies start the next phase.
var RingBully Ranged = func(ids election.Arrangement, _ election.Parameters) (*Ranges, error) {
	return doubling(ids, func(phases []phase, n uint64, found *Result) {
		probes, replies := uint64(0), uint64(0)
		for _, p := range phases {
			probes += p.probes
			replies += p.replies
			found.ByPhase, found.Entered = append(found.ByPhase, p.probes+p.replies), append(found.Entered, p.entered)
		}
		found.Messages = messages(n, probes, replies)
	})
}

// HirschbergSinclair counts for algorithm hirschberg-sinclair, under any schedule, unless withdraw=early. Its from
// messages are ring-bully's probes, and its ok messages the replies. Every other from message is answered with no
// where it stops, except the leader's last two. With announce=no those two end the run: only the leader is in the
// last stage, and all other answers have arrived.
var HirschbergSinclair Ranged = func(ids election.Arrangement, set election.Parameters) (*Ranges, error) {
	if set.Text("withdraw") == "early" {
		return nil, fmt.Errorf("%w: the messages of withdraw=early depend on the schedule", ErrRing)
	}
	return doubling(ids, func(phases []phase, n uint64, found *Result) {
		from, answers, ok := uint64(0), uint64(0), uint64(0)
		for i, p := range phases {
			answered := p.probes
			if i == len(phases)-1 {
				answered -= 2 * n
			}
			from += p.probes
			answers += answered
			ok += p.replies
			found.ByPhase, found.Entered = append(found.ByPhase, p.probes+answered), append(found.Entered, p.entered)
		}
		if set.Text("announce") == "no" {
			found.Time.Decided, found.Time.Quiet = found.Time.Elected, found.Time.Elected
			n = 0
		}
		found.Messages = messages(n, from, ok, answers-ok)
	})
}

// tally sums the last phase of some processors of an algorithm that probes twice as far in each phase.
type tally struct {
	Processors uint64 `json:"processors,omitempty"`
	Probes     uint64 `json:"probes,omitempty"`
	Replies    uint64 `json:"replies,omitempty"` // to probes that have met no greater identifier
}

// lastPhases is the number of phases that can be a processor's last.
const lastPhases = 33

// phase sums one phase of all processors.
type phase struct{ entered, probes, replies uint64 }

// tallyLast sums the last phases.
func tallyLast(r *Range, batch []distances) {
	if r.Last == nil {
		r.Last = make([]tally, lastPhases)
	}
	last := (*[lastPhases]tally)(r.Last)
	for _, d := range batch {
		near, far := uint64(min(d.clockwise, d.counter)), uint64(max(d.clockwise, d.counter))
		i := election.CeilLog(near)
		reach, reply := uint64(1)<<i, uint64(0)
		if far > reach {
			reply = reach
		}
		last[i].Processors++
		last[i].Probes += near + min(far, reach)
		last[i].Replies += reply
	}
}

// doubling returns the ranges of elections that probe twice as far in each phase. Complete adds messages to their times.
func doubling(ids election.Arrangement, complete func(phases []phase, n uint64, found *Result)) (*Ranges, error) {
	return surveyed(ids, tallyLast, func(r *Range, n uint64, found *Result) {
		phases := make([]phase, election.CeilLog(n)+1) // the leader's number of phases
		more := uint64(0)
		for i := len(phases) - 1; i >= 0; i-- {
			last := r.Last[i]
			twice := 2 * more << i // two probes of each that enters a later phase, and as many replies
			more += last.Processors
			phases[i] = phase{more, last.Probes + twice, last.Replies + twice}
		}
		// Phase i takes 2·2^i units; in the last one the leader's probes go round.
		elected := 2*(uint64(1)<<(len(phases)-1)-1) + n
		found.Time = times(elected, elected+n-1, elected+n)
		complete(phases, n, found)
	})
}
