package count

import (
	"context"
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/outcome"
)

// The algorithms in which identifiers travel until they meet a greater one: closed forms over distances.
var _, _, _, _, _, _ Func = LeLann, LCR, LCRSynchronous, RingBullySimple, RingBully, HirschbergSinclair

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

// LCR counts for algorithm lcr, under any schedule: an identifier travels to the nearest greater one, and the largest
// returns to its origin; then n leader messages follow. The parameter flag makes no difference: it makes forwarding
// processes participants, and here all are participants before they forward.
func LCR(ctx context.Context, ids election.Arrangement, _ election.Parameters, progress func(done, of int)) (*Result, error) {
	var hops [maxParts]uint64
	r, err := survey(ctx, ids, parts(ids.Len()), progress, func(part int, batch []distances) {
		sum := uint64(0)
		for _, d := range batch {
			sum += uint64(d.clockwise)
		}
		hops[part] += sum
	})
	if err != nil {
		return nil, err
	}
	sum := uint64(0)
	for _, h := range hops {
		sum += h
	}
	n := uint64(ids.Len())
	r.Messages = messages(n, sum)
	r.Time = times(2*n, 2*n, 2*n) // n units for its identifier; then the leader learns of itself last
	return r, nil
}

// LCRSynchronous counts for algorithm lcr-synchronous: as LCR, but without an announcement.
func LCRSynchronous(ctx context.Context, ids election.Arrangement, set election.Parameters, progress func(done, of int)) (*Result, error) {
	r, err := LCR(ctx, ids, set, progress)
	if err != nil {
		return nil, err
	}
	n, sum := uint64(ids.Len()), r.Messages.Election
	r.Messages = outcome.Messages{Total: sum, Election: sum, ByKind: []uint64{sum}}
	r.Time = times(n, n, n)
	return r, nil
}

// RingBullySimple counts for algorithm ring-bully-simple: as LCR, but the leader decides before it announces itself.
func RingBullySimple(ctx context.Context, ids election.Arrangement, set election.Parameters, progress func(done, of int)) (*Result, error) {
	r, err := LCR(ctx, ids, set, progress)
	if err != nil {
		return nil, err
	}
	n := uint64(ids.Len())
	r.Time = times(n, 2*n-1, 2*n)
	return r, nil
}

// RingBully counts for algorithm ring-bully, under any schedule. In phase i a processor's probe runs 2^i hops, or to
// the nearest greater identifier. Replies return if that is farther, and two replies start the next phase.
func RingBully(ctx context.Context, ids election.Arrangement, _ election.Parameters, progress func(done, of int)) (*Result, error) {
	phases, r, err := doubling(ctx, ids, progress)
	if err != nil {
		return nil, err
	}
	probes, replies := uint64(0), uint64(0)
	for _, p := range phases {
		probes += p.probes
		replies += p.replies
		r.ByPhase, r.Entered = append(r.ByPhase, p.probes+p.replies), append(r.Entered, p.entered)
	}
	r.Messages = messages(uint64(ids.Len()), probes, replies)
	return r, nil
}

// HirschbergSinclair counts for algorithm hirschberg-sinclair, under any schedule, unless withdraw=early. Its from
// messages are ring-bully's probes, and its ok messages the replies. Every other from message is answered with no
// where it stops, except the leader's last two. With announce=no those two end the run: only the leader is in the
// last stage, and all other answers have arrived.
func HirschbergSinclair(ctx context.Context, ids election.Arrangement, set election.Parameters, progress func(done, of int)) (*Result, error) {
	if set.Text("withdraw") == "early" {
		return nil, fmt.Errorf("%w: the messages of withdraw=early depend on the schedule", ErrRing)
	}
	phases, r, err := doubling(ctx, ids, progress)
	if err != nil {
		return nil, err
	}
	n := uint64(ids.Len())
	from, answers, ok := uint64(0), uint64(0), uint64(0)
	for i, p := range phases {
		answered := p.probes
		if i == len(phases)-1 {
			answered -= 2 * n
		}
		from += p.probes
		answers += answered
		ok += p.replies
		r.ByPhase, r.Entered = append(r.ByPhase, p.probes+answered), append(r.Entered, p.entered)
	}
	if set.Text("announce") == "no" {
		r.Time.Decided, r.Time.Quiet = r.Time.Elected, r.Time.Elected
		n = 0
	}
	r.Messages = messages(n, from, ok, answers-ok)
	return r, nil
}

// phase sums one phase of an algorithm that probes twice as far in each.
type phase struct {
	processors uint64 // that do not enter a later phase
	entered    uint64 // all that enter it
	probes     uint64
	replies    uint64 // to probes that have met no greater identifier
}

// doubling returns the phases and times of elections that probe twice as far in each phase.
func doubling(ctx context.Context, ids election.Arrangement, progress func(done, of int)) ([]phase, *Result, error) {
	var tallies [maxParts][33]phase // of the processors with last phase i, in that phase
	r, err := survey(ctx, ids, parts(ids.Len()), progress, func(part int, batch []distances) {
		last := &tallies[part]
		for _, d := range batch {
			near, far := uint64(min(d.clockwise, d.counter)), uint64(max(d.clockwise, d.counter))
			i := election.CeilLog(near)
			reach, reply := uint64(1)<<i, uint64(0)
			if far > reach {
				reply = reach
			}
			last[i].processors++
			last[i].probes += near + min(far, reach)
			last[i].replies += reply
		}
	})
	if err != nil {
		return nil, nil, err
	}
	n := uint64(ids.Len())
	phases := make([]phase, election.CeilLog(n)+1) // the leader's number of phases
	more := uint64(0)
	for i := len(phases) - 1; i >= 0; i-- {
		p := &phases[i]
		for _, last := range tallies {
			p.processors += last[i].processors
			p.probes += last[i].probes
			p.replies += last[i].replies
		}
		twice := 2 * more << i // two probes of each that enters a later phase, and as many replies
		p.probes += twice
		p.replies += twice
		more += p.processors
		p.entered = more
	}
	// Phase i takes 2·2^i units; in the last one the leader's probes go round.
	elected := 2*(uint64(1)<<(len(phases)-1)-1) + n
	r.Time = times(elected, elected+n-1, elected+n)
	return phases, r, nil
}
