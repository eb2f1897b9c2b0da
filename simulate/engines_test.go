package simulate

import (
	"reflect"
	"testing"
	"unsafe"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/algorithms/ringbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/random"
)

// shuffled are the identifiers 1 … n in a random order.
func shuffled(n int, seed uint64) []uint64 {
	ids, source := make([]uint64, n), random.New(seed, random.Order)
	for p := range ids {
		ids[p] = uint64(p + 1)
	}
	for p := n - 1; p > 0; p-- {
		q := int(source.Below(uint64(p + 1)))
		ids[p], ids[q] = ids[q], ids[p]
	}
	return ids
}

func bothEngines[S, M any](t *testing.T, a election.Algorithm[S, M]) {
	for n := 1; n <= 33; n++ {
		for _, timing := range []election.Timing{election.Asynchronous, election.Synchronous} {
			o := Options{Instance: election.On(shuffled(n, uint64(n))...), Timing: timing}
			fast, err := newRun(a, o)
			if err != nil {
				t.Fatal(err)
			}
			(&rounds[S, M]{run: fast}).play()
			slow, err := newRun(a, o)
			if err != nil {
				t.Fatal(err)
			}
			newClocked(slow).play()
			f, s := fast.finish(), slow.finish()
			f.Prepared, s.Prepared, f.Bytes, s.Bytes = nil, nil, 0, 0
			if !reflect.DeepEqual(f, s) || !reflect.DeepEqual(fast.states, slow.states) {
				t.Errorf("%s, n=%d, %s: in rounds %+v at %+v, event by event %+v at %+v", a.Name, n, timing, f, f.Time, s, s.Time)
			}
		}
	}
}

func TestRoundsAndEventsAreTheSameRun(t *testing.T) {
	bothEngines(t, lcr.Algorithm)
	bothEngines(t, ringbully.Algorithm)
}

func TestMillionProcessesTakeAtMost100BytesEach(t *testing.T) {
	const n = 1 << 16 // what is counted grows with n alone
	r, err := Run(ringbully.Algorithm, Options{Instance: election.On(shuffled(n, 1)...)})
	if err != nil {
		t.Fatal(err)
	}
	ranks := int(unsafe.Sizeof(uint32(0))) * n
	if each := (r.Bytes + ranks) / n; each > 100 {
		t.Errorf("%d bytes a processor", each)
	}
}

// deliveries counts what a run allocates, beyond its start, for each delivery.
func TestNoAllocationPerDelivery(t *testing.T) {
	engines := map[string]Options{
		"rounds":      {},
		"clocked":     {Timing: election.Timed, Delay: 5},
		"links":       {Schedule: Random},
		"lifo":        {Schedule: LIFO},
		"unordered":   {Schedule: Random, Unordered: true},
		"synchronous": {Timing: election.Synchronous},
	}
	for name, o := range engines {
		allocations := func(n int) (allocated float64, deliveries uint64) {
			o.Instance = election.On(shuffled(n, 1)...)
			allocated = testing.AllocsPerRun(1, func() {
				r, err := Run(ringbully.Algorithm, o)
				if err != nil {
					t.Fatal(err)
				}
				deliveries = r.Deliveries
			})
			return allocated, deliveries
		}
		few, _ := allocations(checkedBelow)
		many, deliveries := allocations(8 * checkedBelow)
		// Eight times the processes: the buffers grow a few times more, and nothing else is allocated.
		if many > few+100 {
			t.Errorf("%s: %.0f allocations, %.0f in a run of an eighth; %d deliveries", name, many, few, deliveries)
		}
	}
}
