package count

import (
	"context"

	"ringleader.example/ringleader/election"
)

var _ Func = HighamPrzytycka

// HighamPrzytycka counts for algorithm higham-przytycka, whose phases are its rounds, from 1. With FIFO links, an
// envelope meets only the traces of the envelope ahead of it. So its fate in a round depends on where the next
// envelopes ahead began that round.
func HighamPrzytycka(ctx context.Context, ids election.Arrangement, _ election.Parameters, progress func(done, of int)) (*Result, error) {
	if err := distinct(ids); err != nil {
		return nil, err
	}
	n := ids.Len()
	e := envelopes{n: uint64(n)}
	begin := least(ids) // its envelope is promoted at once, so only few of the first envelopes are kept
	err := read(ctx, ids, begin, 0, n, summed(progress, n), func(index int, block []uint64) {
		for i, id := range block {
			at := uint32((index + i + begin) % n)
			e.enter(0, value{id, at, at})
		}
	})
	if err != nil {
		return nil, err
	}
	leader := e.close()
	byPhase, entered := []uint64{0}, []uint64{0}
	for _, p := range e.rounds {
		byPhase, entered = append(byPhase, p.odd, p.even), append(entered, p.count, p.promotions)
	}
	if last := len(byPhase) - 1; byPhase[last] == 0 { // the leader is found in an odd round
		byPhase, entered = byPhase[:last], entered[:last]
	}
	sum := uint64(0)
	for _, m := range byPhase {
		sum += m
	}
	return led(leader, messages(uint64(n), sum), byPhase, entered), nil
}

// least returns the position of the least identifier.
func least(ids election.Arrangement) int {
	if inverse, ok := ids.(interface{ Position(id uint64) int }); ok && ids.Dense() {
		return inverse.Position(1)
	}
	at, least := 0, ids.At(0)
	for p := range ids.Len() {
		if id := ids.At(p); id < least {
			at, least = p, id
		}
	}
	return at
}

// envelopes takes the envelopes of a ring through all rounds in one pass, as a chain does.
type envelopes struct {
	n      uint64
	rounds []*twoRounds
}

// twoRounds are an odd round and the even one after it. Envelopes enter in clockwise order.
type twoRounds struct {
	reach      uint64  // the hops until promotion by distance: F(r + 2)
	first      []value // the first to enter, up to the one after the first that is promoted
	promotions uint64  // of those that have entered, to the even round
	last       value   // the last to enter
	count      uint64
	open       value // in the even round, where nothing has stopped it yet
	isOpen     bool
	odd, even  uint64 // messages
}

// round returns the k-th pair of rounds, from 0: odd round r is 2k + 1, and F(r + 2) is 2, 5, 13, …
func (e *envelopes) round(k int) *twoRounds {
	if k == len(e.rounds) {
		before, reach := uint64(1), uint64(2) // F(2), F(3)
		for range k {
			before, reach = before+reach, before+2*reach
		}
		e.rounds = append(e.rounds, &twoRounds{reach: reach})
	}
	return e.rounds[k]
}

func (e *envelopes) enter(k int, v value) {
	r := e.round(k)
	if r.count++; r.promotions == 0 {
		r.first = append(r.first, v)
	}
	if r.count > 1 {
		e.follow(k, r.last, v)
	}
	r.last = v
}

// follow decides an envelope in the odd round, given the next one ahead of it, and the envelope behind it in the even
// round.
func (e *envelopes) follow(k int, v, ahead value) {
	r := e.rounds[k]
	hops, promoted := e.oddRound(r, v, ahead)
	r.odd += hops
	if r.isOpen {
		e.evenRound(k, v, ahead)
	}
	if promoted {
		r.promotions++
		r.isOpen, r.open = true, value{v.ID, uint32((uint64(v.At) + hops) % e.n), v.Owner}
	}
}

// oddRound returns how far an envelope goes: until distance promotes it, or to where the next one began, where it is
// promoted if it is the smaller.
func (e *envelopes) oddRound(r *twoRounds, v, ahead value) (made uint64, promoted bool) {
	distance := hops(v.At, ahead.At, e.n)
	if distance > r.reach {
		return r.reach, true
	}
	return distance, v.ID < ahead.ID
}

// evenRound returns how far the open envelope goes. All ahead of it have left their labels from where they began the
// odd round, and a smaller one of these is a witness. If there is none, it is destroyed where the first of them to be
// promoted began the even round.
func (e *envelopes) evenRound(k int, v, ahead value) {
	r := e.rounds[k]
	made, promoted := e.oddRound(r, v, ahead)
	switch {
	case v.ID < r.open.ID:
		r.even += hops(r.open.At, v.At, e.n)
		r.isOpen = false
		e.enter(k+1, value{r.open.ID, v.At, r.open.Owner})
	case promoted:
		r.even += hops(r.open.At, uint32((uint64(v.At)+made)%e.n), e.n)
		r.isOpen = false
	}
}

// close closes the ring: the first envelopes follow the last ones. It returns the winner, which returns to where it
// began the round.
func (e *envelopes) close() value {
	for k := 0; ; k++ {
		r := e.round(k)
		if r.count == 1 {
			if r.odd = min(r.reach, e.n); r.reach < e.n {
				r.even, r.promotions = e.n, 1
			}
			return r.last
		}
		e.follow(k, r.last, r.first[0])
		for i := 0; r.isOpen; i++ {
			if r.first[i].ID == r.open.ID {
				r.even += e.n
				return r.open
			}
			e.evenRound(k, r.first[i], r.first[i+1])
		}
	}
}
