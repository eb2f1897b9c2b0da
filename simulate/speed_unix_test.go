//go:build unix

package simulate

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	typedlcr "ringleader.example/ringleader/algorithms/lcr"
	typedringbully "ringleader.example/ringleader/algorithms/ringbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/loops"
	"ringleader.example/ringleader/internal/runners/lcr"
	"ringleader.example/ringleader/internal/runners/peterson"
	"ringleader.example/ringleader/internal/runners/ringbully"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
)

// side is one of the compared parts of a benchmark. It runs once and returns the number of deliveries; ready is not
// measured.
type side struct {
	name  string
	ready func() (run func() uint64)
}

// processor returns the processor time of all threads of this process.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// compare runs its sides in turn, again and again, and reports the median of each one's processor time for a
// delivery, and its ratio to the last side's. Use -benchtime 5x or more.
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

// engine is a side that runs an algorithm by an engine for large networks.
func engine(name string, p *loops.Program, o Options, play func(*run)) side {
	return prepared(name, p, o, func(r *run) { r.enlarge() }, play)
}

// looking is a side that runs an algorithm by an engine that checks every step.
func looking(name string, p *loops.Program, o Options, play func(*run)) side {
	return prepared(name, p, o, (*run).processes, play)
}

// prepared is a side whose processes are born before the clock runs.
func prepared(name string, p *loops.Program, o Options, prepare, play func(*run)) side {
	return side{name, func() func() uint64 {
		r, err := New(p).newRun(o)
		if err != nil {
			panic(err)
		}
		prepare(r)
		return func() uint64 {
			play(r)
			return r.Deliveries
		}
	}}
}

func handMade(ids *order.Order, loop func([]election.ID) uint64) side {
	all := list(ids)
	return side{"hand", func() func() uint64 { return func() uint64 { return loop(all) } }}
}

func lcrByHand(ids []election.ID) uint64 {
	elect, leader, _, _ := handLCR(ids)
	return elect + leader
}

func ringBullyByHand(ids []election.ID) uint64 {
	probes, replies, terminate, _, _, _ := handRingBully(ids)
	return probes + replies + terminate
}

func sizes(b *testing.B, do func(b *testing.B, n int)) {
	for _, k := range []int{16, 20} {
		b.Run(fmt.Sprintf("n=2^%d", k), func(b *testing.B) { do(b, 1<<k) })
	}
}

// At most 3 times the loop for LCR, and at most 2 times for ring-bully, is the aim.
func BenchmarkHandWrittenLCR(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		compare(b, engine("rounds", lcr.Program, ring(n), inRounds), engine("arcs", lcr.Program, ring(n), inArcs(1, true)),
			handMade(permuted(n), lcrByHand))
	})
}

func BenchmarkHandWrittenRingBully(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		synchronous := ring(n)
		synchronous.Timing = election.Synchronous
		skipping := ring(n)
		skipping.SkipPhases = true
		compare(b, engine("rounds", ringbully.Program, ring(n), inRounds), engine("without-phases", ringbully.Program, skipping, inRounds),
			engine("synchronous", ringbully.Program, synchronous, inRounds), handMade(permuted(n), ringBullyByHand))
	})
}

// At least 50 times the engines' time, and 40 times their memory.
func BenchmarkGoroutines(b *testing.B) {
	for _, n := range []int{1 << 12, 1 << 16} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			b.Run("lcr", func(b *testing.B) {
				compare(b, concurrent(typedlcr.Algorithm, n), engine("run", lcr.Program, ring(n), (*run).start))
			})
			b.Run("ring-bully", func(b *testing.B) {
				compare(b, concurrent(typedringbully.Algorithm, n), engine("run", ringbully.Program, ring(n), (*run).start))
			})
		})
	}
}

func concurrent[S, M any](a election.Algorithm[S, M], n int) side {
	p, err := network.Prepare(&a.Declaration, ring(n).Setup)
	if err != nil {
		panic(err)
	}
	return side{"goroutines", func() func() uint64 { return func() uint64 { return goroutines(&a, p, func() {}) } }}
}

func BenchmarkGoroutineMemory(b *testing.B) {
	const n = 1 << 16
	p, err := network.Prepare(ringbully.Program.Declaration, ring(n).Setup)
	if err != nil {
		b.Fatal(err)
	}
	var each, ours float64
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		goroutines(&typedringbully.Algorithm, p, func() {
			runtime.GC()
			runtime.ReadMemStats(&after)
		})
		each = float64(after.HeapInuse+after.StackInuse-before.HeapInuse-before.StackInuse) / n
		r, err := New(ringbully.Program).Run(ring(n))
		if err != nil {
			b.Fatal(err)
		}
		ours = float64(r.Bytes) / n
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(each, "goroutines-B/process")
	b.ReportMetric(ours, "run-B/process")
	b.ReportMetric(each/ours, "goroutines/run")
}

// At most 0.7 times the rounds, where these do not fit into a cache.
func BenchmarkSweep(b *testing.B) {
	out := func(b *testing.B, do func(*testing.B, int)) {
		sizes(b, do)
		b.Run("n=2^22", func(b *testing.B) { do(b, 1<<22) })
	}
	out(b, func(b *testing.B, n int) {
		b.Run("lcr", func(b *testing.B) {
			compare(b, engine("sweep", lcr.Program, ring(n), inArcs(1, false)), engine("rounds", lcr.Program, ring(n), inRounds))
		})
		b.Run("peterson", func(b *testing.B) {
			compare(b, engine("sweep", peterson.Program, ring(n), inArcs(1, false)), engine("rounds", peterson.Program, ring(n), inRounds))
		})
	})
}

// Two cores do the work of one in half the time and a little more: what counts is the critical path, the
// longer one of the two arcs in each lap, since this process may not have two idle cores.
func BenchmarkTwoArcs(b *testing.B) {
	for _, n := range []int{1 << 16, 1 << 20} {
		b.Run(fmt.Sprint("lcr/n=", n), func(b *testing.B) { compareArcs(b, lcr.Program, n) })
		b.Run(fmt.Sprint("peterson/n=", n), func(b *testing.B) { compareArcs(b, peterson.Program, n) })
	}
}

func compareArcs(b *testing.B, p *loops.Program, n int) {
	critical := func(count int) float64 {
		r, err := New(p).newRun(ring(n))
		if err != nil {
			b.Fatal(err)
		}
		arcs, total := r.runner.program.Rings(r.enlarge()).Arcs(count, true), time.Duration(0)
		for first := true; first || arcs.Busy(); first = false {
			longest := time.Duration(0)
			for arc := range arcs.Count() {
				start := processor()
				arcs.Sweep(arc, first)
				longest = max(longest, processor()-start)
			}
			arcs.Exchange()
			total += longest
		}
		arcs.Merge()
		return float64(total) / float64(r.large.Deliveries)
	}
	var one, two []float64
	for b.Loop() {
		one, two = append(one, critical(1)), append(two, critical(2))
	}
	slices.Sort(one)
	slices.Sort(two)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(one[len(one)/2], "one-ns")
	b.ReportMetric(two[len(two)/2], "two-ns")
	b.ReportMetric(one[len(one)/2]/two[len(two)/2], "one/two")
}

// Rings of two directions above the size of a cache.
func BenchmarkTiles(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		tile := ring(n)
		tile.Schedule = Tile
		compare(b, engine("tiles", ringbully.Program, tile, tileByTile), engine("rounds", ringbully.Program, ring(n), inRounds))
	})
}

// At most 3 times a scheduler written for LCR alone.
func BenchmarkRandomScheduler(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		o := ring(n)
		o.Schedule = Random
		compare(b, looking("links", lcr.Program, o, linkByLink), engine("lottery", lcr.Program, o, byLot),
			handMade(permuted(n), func(ids []election.ID) uint64 { return handRandomLCR(ids, 1) }))
	})
}

// At least 1.8 times the wheel's time.
func BenchmarkHeap(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		o := ring(n)
		o.Schedule = RandomDelay
		b.Run("lcr", func(b *testing.B) {
			compare(b, looking("heap", lcr.Program, o, withoutWheel), looking("wheel", lcr.Program, o, eventByEvent))
		})
		b.Run("ring-bully", func(b *testing.B) {
			compare(b, looking("heap", ringbully.Program, o, withoutWheel), looking("wheel", ringbully.Program, o, eventByEvent))
		})
	})
}
