//go:build unix

package simulate

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/algorithms/ringbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/order"
)

// side is one of the things that a benchmark compares. It runs once and says how often a message was
// delivered; what ready does is not measured.
type side struct {
	name  string
	ready func() (run func() uint64)
}

// processor is the time that all threads of this process have been running.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// compare runs its sides in turn, again and again, and reports the median of each one's processor time for a
// delivery, and how many times the last side's it is. Use -benchtime 5x or more.
func compare(b *testing.B, sides ...side) {
	times := make([][]float64, len(sides))
	for b.Loop() {
		for i, s := range sides {
			run := s.ready()
			start := processor()
			deliveries := run()
			times[i] = append(times[i], float64(processor()-start)/float64(deliveries))
		}
	}
	median := func(i int) float64 {
		slices.Sort(times[i])
		return times[i][len(times[i])/2]
	}
	b.ReportMetric(0, "ns/op")
	last := median(len(sides) - 1)
	for i, s := range sides {
		b.ReportMetric(median(i), s.name+"-ns")
		if i < len(sides)-1 {
			b.ReportMetric(median(i)/last, s.name+"/"+sides[len(sides)-1].name)
		}
	}
}

// engine is a side that runs an algorithm in one way.
func engine[S, M any](name string, a election.Algorithm[S, M], o Options, play func(*run[S, M])) side {
	return side{name, func() func() uint64 {
		r, err := newRun(a, o)
		if err != nil {
			panic(err)
		}
		return func() uint64 {
			play(r)
			return r.result.Deliveries
		}
	}}
}

func inRounds[S, M any](r *run[S, M]) { (&rounds[S, M]{run: r}).play() }

func inRandomOrder(n int) *order.Order {
	ids, err := order.Parse("random", n, 1)
	if err != nil {
		panic(err)
	}
	return ids
}

// list is what the hand-written loops are given.
func list(ids *order.Order) []election.ID {
	all := make([]election.ID, ids.Len())
	for p := range all {
		all[p] = election.ID(ids.At(p))
	}
	return all
}

func handMade(ids *order.Order, loop func([]election.ID) uint64) side {
	all := list(ids)
	return side{"hand", func() func() uint64 { return func() uint64 { return loop(all) } }}
}

func lcrByHand(ids []election.ID) uint64 {
	elect, leader, _ := handLCR(ids)
	return elect + leader
}

func ringBullyByHand(ids []election.ID) uint64 {
	probes, replies, terminate, _, _ := handRingBully(ids)
	return probes + replies + terminate
}

func sizes(b *testing.B, do func(b *testing.B, n int)) {
	for _, k := range []int{16, 20} {
		b.Run(fmt.Sprintf("n=2^%d", k), func(b *testing.B) { do(b, 1<<k) })
	}
}

func BenchmarkRoundsAgainstHandLCR(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		o := Options{Instance: election.Instance{IDs: inRandomOrder(n)}}
		compare(b, engine("rounds", lcr.Algorithm, o, inRounds), handMade(inRandomOrder(n), lcrByHand))
	})
}

func BenchmarkRoundsAgainstHandRingBully(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		o := Options{Instance: election.Instance{IDs: inRandomOrder(n)}}
		s := o
		s.Timing = election.Synchronous
		compare(b, engine("rounds", ringbully.Algorithm, o, inRounds), engine("synchronous", ringbully.Algorithm, s, inRounds),
			handMade(inRandomOrder(n), ringBullyByHand))
	})
}
