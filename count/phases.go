package count

import (
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/outcome"
)

// The algorithms in which active processes compare values in phases: one pass finds the values of all phases, never
// all at once, and the number of phases.
var (
	// Franklin counts for algorithm franklin: the active processes cause 2n messages in every round, also in the last
	// one, with a single active process.
	Franklin Ranged = func(ids election.Arrangement, _ election.Parameters) (*Ranges, error) {
		return phased(ids, 3, 1, always(localMaxima), func(n uint64, entered []uint64, leader []value) *Result {
			rounds := uint64(len(entered))
			return led(leader[0], messages(n, 2*n*rounds), repeated(rounds, 2*n), entered)
		})
	}

	// DolevKlaweRodeh counts for algorithm dolev-klawe-rodeh: the values are Franklin's, but they move. In the last
	// round, with one active process, no process sends two.
	DolevKlaweRodeh Ranged = func(ids election.Arrangement, _ election.Parameters) (*Ranges, error) {
		return phased(ids, 3, 1, always(localMaxima), func(n uint64, entered []uint64, leader []value) *Result {
			rounds := uint64(len(entered) - 1)
			return led(leader[0], messages(n, n*(rounds+1), n*rounds), append(repeated(rounds, 2*n), n), entered)
		})
	}

	// Peterson counts for algorithm peterson. The values are Franklin's, and in each phase the largest one moves to the
	// next active process. When it is alone, its remaining hops are counted. If two values are left, it returns to its
	// origin, which lies between the other active process and its own, in the second message of that phase. The other
	// process adopts its value, and sends it after that message.
	Peterson Ranged = func(ids election.Arrangement, _ election.Parameters) (*Ranges, error) {
		return phased(ids, 3, 2, always(localMaxima), peterson)
	}

	// PetersonAlternating counts for algorithm peterson-alternating: every phase costs n messages, including the last
	// one, with one active process. Phases count from 1.
	PetersonAlternating Ranged = func(ids election.Arrangement, _ election.Parameters) (*Ranges, error) {
		return inTurns(ids, greaterThanBefore, beforeIfGreater)
	}

	// MinMax counts for algorithm minmax, as PetersonAlternating does.
	MinMax Ranged = func(ids election.Arrangement, _ election.Parameters) (*Ranges, error) {
		return inTurns(ids, beforeIfLess, beforeIfGreater)
	}
)

func peterson(n uint64, entered []uint64, last []value) *Result {
	full := uint64(len(entered) - 1)
	largest := last[0]
	byPhase := append(repeated(full, 2*n), hops(largest.At, largest.Owner, n))
	if len(last) == 2 {
		other := last[1]
		if other.ID > largest.ID {
			largest, other = other, largest
		}
		home := hops(other.At, largest.Owner, n)
		byPhase = append(byPhase[:full], n+hops(largest.At, other.At, n)+home, home)
		entered = append(entered, 1)
	}
	sum := uint64(0)
	for _, m := range byPhase {
		sum += m
	}
	return led(largest, messages(n, sum), byPhase, entered)
}

func inTurns(ids election.Arrangement, odd, even rule) (*Ranges, error) {
	turn := func(phase int) rule { return [2]rule{odd, even}[phase%2] } // 0 is the first
	return phased(ids, 2, 1, turn, func(n uint64, entered []uint64, leader []value) *Result {
		rounds := uint64(len(entered))
		return led(leader[0], messages(n, n*rounds), fromOne(repeated(rounds, n)), fromOne(entered))
	})
}

// fromOne returns the numbers of phases that count from 1.
func fromOne(byPhase []uint64) []uint64 { return append([]uint64{0}, byPhase...) }

func led(leader value, m outcome.Messages, byPhase, entered []uint64) *Result {
	return &Result{Messages: m, ByPhase: byPhase, Entered: entered, Leader: leader.ID, Position: int(leader.Owner)}
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
		next[kept] = value{here.ID, after.At, here.Owner}
		kept += one(here.ID > before.ID) & one(here.ID > after.ID)
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
		kept += one(here.ID > before.ID)
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
		next[kept] = value{before.ID, here.At, before.Owner}
		kept += one(before.ID > here.ID)
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
		next[kept] = value{before.ID, here.At, before.Owner}
		kept += one(before.ID < here.ID)
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
