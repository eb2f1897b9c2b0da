package count

import (
	"context"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/outcome"
)

// The algorithms in which active processes compare values in phases: one pass finds the values of all phases, never
// all at once, and the number of phases.
var _, _, _, _, _ Func = Franklin, DolevKlaweRodeh, Peterson, PetersonAlternating, MinMax

// Franklin counts for algorithm franklin: the active processes cause 2n messages in every round, also in the last
// one, with a single active process.
func Franklin(ctx context.Context, ids election.Arrangement, _ election.Parameters, progress func(done, of int)) (*Result, error) {
	entered, leader, err := phases(ctx, ids, parts(ids.Len()), progress, 3, 1, always(localMaxima))
	if err != nil {
		return nil, err
	}
	n, rounds := uint64(ids.Len()), uint64(len(entered))
	return led(leader[0], messages(n, 2*n*rounds), repeated(rounds, 2*n), entered), nil
}

// DolevKlaweRodeh counts for algorithm dolev-klawe-rodeh: the values are Franklin's, but they move. In the last
// round, with one active process, no process sends two.
func DolevKlaweRodeh(ctx context.Context, ids election.Arrangement, _ election.Parameters, progress func(done, of int)) (*Result, error) {
	entered, leader, err := phases(ctx, ids, parts(ids.Len()), progress, 3, 1, always(localMaxima))
	if err != nil {
		return nil, err
	}
	n, rounds := uint64(ids.Len()), uint64(len(entered)-1)
	return led(leader[0], messages(n, n*(rounds+1), n*rounds), append(repeated(rounds, 2*n), n), entered), nil
}

// Peterson counts for algorithm peterson. The values are Franklin's, and in each phase the largest one moves to the
// next active process. When it is alone, its remaining hops are counted. If two values are left, it returns to its
// origin, which lies between the other active process and its own, in the second message of that phase. The other
// process adopts its value, and sends it after that message.
func Peterson(ctx context.Context, ids election.Arrangement, _ election.Parameters, progress func(done, of int)) (*Result, error) {
	entered, last, err := phases(ctx, ids, parts(ids.Len()), progress, 3, 2, always(localMaxima))
	if err != nil {
		return nil, err
	}
	n, full := uint64(ids.Len()), uint64(len(entered)-1)
	largest := last[0]
	byPhase := append(repeated(full, 2*n), hops(largest.at, largest.owner, n))
	if len(last) == 2 {
		other := last[1]
		if other.id > largest.id {
			largest, other = other, largest
		}
		home := hops(other.at, largest.owner, n)
		byPhase = append(byPhase[:full], n+hops(largest.at, other.at, n)+home, home)
		entered = append(entered, 1)
	}
	sum := uint64(0)
	for _, m := range byPhase {
		sum += m
	}
	return led(largest, messages(n, sum), byPhase, entered), nil
}

// PetersonAlternating counts for algorithm peterson-alternating: every phase costs n messages, including the last
// one, with one active process. Phases count from 1.
func PetersonAlternating(ctx context.Context, ids election.Arrangement, _ election.Parameters, progress func(done, of int)) (*Result, error) {
	return inTurns(ctx, ids, progress, greaterThanBefore, beforeIfGreater)
}

// MinMax counts for algorithm minmax, as PetersonAlternating does.
func MinMax(ctx context.Context, ids election.Arrangement, _ election.Parameters, progress func(done, of int)) (*Result, error) {
	return inTurns(ctx, ids, progress, beforeIfLess, beforeIfGreater)
}

func inTurns(ctx context.Context, ids election.Arrangement, progress func(done, of int), odd, even rule) (*Result, error) {
	entered, leader, err := phases(ctx, ids, parts(ids.Len()), progress, 2, 1, func(phase int) rule {
		return [2]rule{odd, even}[phase%2] // 0 is the first
	})
	if err != nil {
		return nil, err
	}
	n, rounds := uint64(ids.Len()), uint64(len(entered))
	return led(leader[0], messages(n, n*rounds), fromOne(repeated(rounds, n)), fromOne(entered)), nil
}

// fromOne returns the numbers of phases that count from 1.
func fromOne(byPhase []uint64) []uint64 { return append([]uint64{0}, byPhase...) }

func led(leader value, m outcome.Messages, byPhase, entered []uint64) *Result {
	return &Result{Messages: m, ByPhase: byPhase, Entered: entered, Leader: leader.id, Position: int(leader.owner)}
}

func repeated(times, messages uint64) []uint64 { return slices.Repeat([]uint64{messages}, int(times)) }

// hops returns the clockwise distance from a place to another; n to itself.
func hops(from, to uint32, n uint64) uint64 { return (uint64(to)+n-uint64(from)-1)%n + 1 }

func always(r rule) func(int) rule { return func(int) rule { return r } }

// The rules write every value, and keep it or not: a branch on random data would often be mispredicted.

// localMaxima keeps values greater than both neighbours, and moves them to the place after.
func localMaxima(values, next []value) []value {
	kept := len(next)
	before, here, rest := values[0], values[1], values[2:]
	next = next[:kept+len(rest)]
	for _, after := range rest {
		next[kept] = value{here.id, after.at, here.owner}
		kept += one(here.id > before.id) & one(here.id > after.id)
		before, here = here, after
	}
	return next[:kept]
}

// greaterThanBefore keeps values greater than the one before, at their places.
func greaterThanBefore(values, next []value) []value {
	kept := len(next)
	before, rest := values[0], values[1:]
	next = next[:kept+len(rest)]
	for _, here := range rest {
		next[kept] = here
		kept += one(here.id > before.id)
		before = here
	}
	return next[:kept]
}

// beforeIfGreater replaces a value by the one before it, if that is greater.
func beforeIfGreater(values, next []value) []value {
	kept := len(next)
	before, rest := values[0], values[1:]
	next = next[:kept+len(rest)]
	for _, here := range rest {
		next[kept] = value{before.id, here.at, before.owner}
		kept += one(before.id > here.id)
		before = here
	}
	return next[:kept]
}

// beforeIfLess replaces a value by the one before it, if that is less.
func beforeIfLess(values, next []value) []value {
	kept := len(next)
	before, rest := values[0], values[1:]
	next = next[:kept+len(rest)]
	for _, here := range rest {
		next[kept] = value{before.id, here.at, before.owner}
		kept += one(before.id < here.id)
		before = here
	}
	return next[:kept]
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
