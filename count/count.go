package count

import (
	"context"
	"errors"

	"ringleader.example/ringleader/election"
)

// Result is what an election costs.
type Result struct {
	Messages election.Messages // ByKind as the algorithm declares its Kinds
	ByPhase  []uint64          // election messages by phase; nil where the algorithm has none
	Time     Time
	Leader   uint64 // its identifier
	Position int    // where the leader stands
}

// Time is when things happen if all start at 0 and every message takes one unit.
type Time struct {
	Elected election.Ticks // a leader decides
	Decided election.Ticks // the last process decides
	Quiet   election.Ticks // the last message arrives
}

// Func counts what an algorithm costs on a ring of these identifiers, clockwise. It fails with an
// ErrRing, or with the context's error. Progress may be nil; otherwise it is told now and then how many
// of all positions have been read.
//
// An arrangement can make the pass fast with two methods more, as package order does:
// Fill(ids []uint64, from int), At for a row of positions, and Position(id uint64) int, At's inverse.
// Where it is not Dense, its identifiers are sorted first to find equal ones, in 8·n bytes.
type Func func(ctx context.Context, ids election.Arrangement, progress func(done, of int)) (*Result, error)

// ErrRing says that there is no exact count for a ring; the text says why.
var ErrRing = errors.New("cannot count")

var _, _ Func = LCR, RingBully

// LCR counts for algorithm lcr, under any schedule: an identifier travels to the nearest greater one, and
// the largest comes home; then n leader messages follow. The parameter flag makes no difference, since it
// says who becomes a participant by forwarding, and here all are participants before they forward.
func LCR(ctx context.Context, ids election.Arrangement, progress func(done, of int)) (*Result, error) {
	hops := uint64(0)
	r, err := survey(ctx, ids, progress, func(batch []distances) {
		for _, d := range batch {
			hops += uint64(d.clockwise)
		}
	})
	if err != nil {
		return nil, err
	}
	n := uint64(ids.Len())
	r.Messages = messages(n, hops)
	home := election.Units(2 * n) // n units for its identifier; then the leader learns of itself last
	r.Time = Time{Elected: home, Decided: home, Quiet: home}
	return r, nil
}

// RingBully counts for algorithm ring-bully, under any schedule: in phase i a processor's probe runs
// 2^i hops or to the nearest greater identifier, replies come back if that is farther, and two replies
// open the next phase.
func RingBully(ctx context.Context, ids election.Arrangement, progress func(done, of int)) (*Result, error) {
	var last [33]struct{ processors, probes, replies uint64 } // of the processors whose last phase is i, in it
	r, err := survey(ctx, ids, progress, func(batch []distances) {
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
		return nil, err
	}
	n := uint64(ids.Len())
	phases := election.CeilLog(n) + 1 // the leader's
	r.ByPhase = make([]uint64, phases)
	probes, replies, more := uint64(0), uint64(0), uint64(0)
	for i := int(phases) - 1; i >= 0; i-- {
		twice := 2 * more << i // two probes of those that go on to later phases, and as many replies
		r.ByPhase[i] = last[i].probes + last[i].replies + 2*twice
		probes += last[i].probes + twice
		replies += last[i].replies + twice
		more += last[i].processors
	}
	r.Messages = messages(n, probes, replies)
	elected := 2*(uint64(1)<<(phases-1)-1) + n // phase i takes 2·2^i units; in its last the leader's probes go round
	r.Time = Time{Elected: election.Units(elected), Decided: election.Units(elected + n - 1), Quiet: election.Units(elected + n)}
	return r, nil
}

// messages is a count of which the last kind is the announcement and all others are the election.
func messages(announcement uint64, kinds ...uint64) election.Messages {
	m := election.Messages{Announcement: announcement, ByKind: append(kinds, announcement)}
	for _, k := range kinds {
		m.Election += k
	}
	m.Total = m.Election + m.Announcement
	return m
}
