package simulate

import (
	"reflect"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/codec"
	"ringleader.example/ringleader/internal/core/loops"
	"ringleader.example/ringleader/internal/core/property"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/internal/runners/dolevklawerodeh"
	"ringleader.example/ringleader/internal/runners/dolevklawerodehb"
	"ringleader.example/ringleader/internal/runners/franklin"
	"ringleader.example/ringleader/internal/runners/highamprzytycka"
	"ringleader.example/ringleader/internal/runners/hirschbergsinclair"
	"ringleader.example/ringleader/internal/runners/itairodeh"
	"ringleader.example/ringleader/internal/runners/lcr"
	"ringleader.example/ringleader/internal/runners/lelann"
	"ringleader.example/ringleader/internal/runners/minmax"
	"ringleader.example/ringleader/internal/runners/peterson"
	"ringleader.example/ringleader/internal/runners/petersonalternating"
	"ringleader.example/ringleader/internal/runners/ringbully"
	"ringleader.example/ringleader/internal/runners/ringbullysimple"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/outcome"
	"ringleader.example/ringleader/simulate/internal/queues"
)

// shuffled returns the identifiers 1 … n in a random order.
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

// played is the result of a run, without the fields in which engines differ.
type played struct {
	Result
	times  outcome.Times
	states []string // encoded
}

// by runs an algorithm on a given engine.
func by(t failer, p *loops.Program, o Options, play func(*run)) *played {
	t.Helper()
	g := New(p)
	r, err := g.newRun(o)
	if err != nil {
		t.Fatal(err)
	}
	play(r)
	result := &played{Result: *r.finish()}
	for p := range r.Instance.Size() {
		var state []byte
		if r.loops != nil {
			state = g.program.Plans.State.Append(nil, address(r.loops.State(p)), r.Now)
		} else {
			state = r.Processes.AppendState(nil, p, r.Now, codec.Whole)
		}
		result.states = append(result.states, string(state))
	}
	if result.Time != nil {
		result.times = *result.Time
	}
	result.Prepared, result.Bytes, result.Time = nil, 0, nil
	return result
}

// address returns the address of a copy of a value.
func address(v any) codec.Pointer {
	copied := reflect.New(reflect.TypeOf(v))
	copied.Elem().Set(reflect.ValueOf(v))
	return copied.UnsafePointer()
}

type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func eventByEvent(r *run) { newClocked(r).play() }
func linkByLink(r *run)   { newLinks(r).play() }
func withoutWheel(r *run) {
	c := newClocked(r)
	c.wheel = nil
	c.play()
}

func inRounds(r *run) {
	r.enlarge().Rounds()
	r.adopt()
}

func tileByTile(r *run) {
	r.runner.program.Rings(r.enlarge()).Tiled(queues.TileSize(r.Instance.Size()))
	r.adopt()
}

func byLot(r *run) {
	r.runner.program.Rings(r.enlarge()).Lottery()
	r.adopt()
}

func inArcs(count int, clock bool) func(*run) {
	return func(r *run) {
		if !r.runner.program.Rings(r.enlarge()).Arcs(min(count, r.Instance.Size()), clock).Play() {
			r.restart()
			if clock {
				inRounds(r)
				return
			}
			if !r.runner.program.Rings(r.enlarge()).Arcs(1, false).Play() {
				panic("one arc has one order")
			}
		}
		r.adopt()
	}
}

// sameRuns runs an algorithm on random rings, on every engine that can run it.
func sameRuns(t *property.T, a *loops.Program) {
	n := property.IntRange(1, 64).Draw(t, "n")
	seed := property.Uint64().Draw(t, "seed")
	o := Options{Setup: network.On(shuffled(n, seed)...), Seed: seed}
	if a.Unoriented && property.Bool().Draw(t, "unoriented") {
		o.Setup.Flipped = property.SliceOfN(property.Bool(), n, n).Draw(t, "flipped")
	}
	if a.Starts == election.AnyStart && property.Bool().Draw(t, "some start") {
		o.Initiators = property.Distinct(property.IntRange(0, n-1), 1, n).Draw(t, "initiators")
	}
	same := func(o Options, name string, one, other func(*run)) *played {
		t.Helper()
		f, s := by(t, a, o, one), by(t, a, o, other)
		if !reflect.DeepEqual(f, s) {
			t.Fatalf("%s, %s, %s: %+v and %+v", a.Name, o.Timing, name, f, s)
		}
		return s
	}
	synchronous := o
	synchronous.Timing = election.Synchronous
	reference := same(o, "rounds, events", inRounds, eventByEvent)
	same(synchronous, "rounds, events", inRounds, eventByEvent)
	same(synchronous, "wheel, heap", eventByEvent, withoutWheel)

	o.AnyTime = property.Bool().Draw(t, "any time")
	same(o, "wheel, heap", eventByEvent, withoutWheel)
	random, timed := o, o
	random.Schedule, timed.Timing, timed.Delay = RandomDelay, election.Timed, 1+seed%9
	random.Faults.Unordered = !a.FIFO && property.Bool().Draw(t, "unordered")
	same(random, "wheel, heap, random delays", eventByEvent, withoutWheel)
	same(timed, "wheel, heap, timed", eventByEvent, withoutWheel)

	drawn := o
	drawn.Schedule, drawn.AnyTime = Random, false
	same(drawn, "lottery, links", byLot, linkByLink)

	tile := o
	tile.Schedule, tile.AnyTime = Tile, false
	tiled := same(tile, "tiles, links", tileByTile, linkByLink)
	if a.Counts >= election.CountsStartFirst || a.Counts == election.CountsAllFirst && o.Initiators == nil {
		equal(t, a.Name+" in tiles", &tiled.Result, &reference.Result)
	}
	if !a.OneWay {
		return
	}
	sweep := o
	sweep.Schedule = Sweep
	cores := property.IntRange(1, 5).Draw(t, "cores")
	swept := same(sweep, "arcs, links", inArcs(cores, false), linkByLink)
	o.AnyTime = false
	same(o, "arcs, events", inArcs(cores, true), eventByEvent)
	if !sweep.AnyTime && a.Identifiers != election.Anonymous { // anonymous algorithms choose
		equal(t, a.Name+" swept", &swept.Result, &reference.Result)
	}
}

func equal(t *property.T, how string, r, reference *Result) {
	t.Helper()
	if !reflect.DeepEqual(r.Messages, reference.Messages) || !reflect.DeepEqual(r.ByPhase, reference.ByPhase) {
		t.Fatalf("%s: %+v, and in rounds %+v", how, r.Messages, reference.Messages)
	}
}

func TestEnginesMakeTheSameRuns(t *testing.T) {
	for name, program := range map[string]*loops.Program{
		"lcr":                  lcr.Program,
		"lelann":               lelann.Program,
		"ring-bully-simple":    ringbullysimple.Program,
		"ring-bully":           ringbully.Program,
		"hirschberg-sinclair":  hirschbergsinclair.Program,
		"franklin":             franklin.Program,
		"peterson":             peterson.Program,
		"peterson-alternating": petersonalternating.Program,
		"dolev-klawe-rodeh":    dolevklawerodeh.Program,
		"dolev-klawe-rodeh-b":  dolevklawerodehb.Program,
		"minmax":               minmax.Program,
		"higham-przytycka":     highamprzytycka.Program,
		"itai-rodeh":           itairodeh.Program,
	} {
		if testing.Short() && name != "lcr" && name != "itai-rodeh" { // for races in the engines
			continue
		}
		t.Run(name, func(t *testing.T) { property.CheckSome(t, 30, func(t *property.T) { sameRuns(t, program) }) }) // thirteen algorithms: hundreds of runs
	}
}

// The sizes at which Run uses the engines that trust, and pages and tiles are full.
func TestLargeRunsAreTheSame(t *testing.T) {
	n := 3*checkedBelow + 5
	o := Options{Setup: network.On(shuffled(n, 7)...), Cores: 2}
	for _, schedule := range []Schedule{FIFO, Sweep, Tile} {
		o.Schedule = schedule
		run, one, other := o, inArcs(1, schedule == FIFO), linkByLink
		switch schedule {
		case FIFO:
			other = eventByEvent
		case Tile:
			one = tileByTile
		}
		f, s := by(t, lcr.Program, o, one), by(t, lcr.Program, o, other)
		r, err := New(lcr.Program).Run(run)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(f, s) || !reflect.DeepEqual(r.Messages, s.Messages) || !reflect.DeepEqual(r.Decisions, s.Decisions) {
			t.Errorf("lcr, %s: %+v and %+v", schedule, f.Messages, s.Messages)
		}
	}
	if testing.Short() {
		return // the others have one goroutine
	}
	for _, o := range []Options{{}, {Timing: election.Synchronous}} {
		o.Setup = network.On(shuffled(n, 7)...)
		f := by(t, ringbully.Program, o, inRounds)
		s := by(t, ringbully.Program, o, eventByEvent)
		if !reflect.DeepEqual(f, s) {
			t.Errorf("ring-bully, %s: %+v at %v and %+v at %v", o.Timing, f.Messages, f.times, s.Messages, s.times)
		}
	}
}

func TestLargeRingsTakeAtMost64BytesAProcessor(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	const n = 1 << 16 // counts grow with n alone; computed identifiers take no memory
	o := Options{Setup: network.Setup{IDs: permuted(n)}}
	each := map[string]int{}
	add := func(name string, r *Result, err error) {
		if err != nil {
			t.Fatal(err)
		}
		each[name] = (r.Bytes + n - 1) / n
	}
	for _, timing := range []election.Timing{election.Asynchronous, election.Synchronous} {
		o.Timing = timing
		name := " " + timing.String()
		r, err := New(ringbully.Program).Run(o)
		add("ring-bully"+name, r, err)
		r, err = New(hirschbergsinclair.Program).Run(o)
		add("hirschberg-sinclair"+name, r, err)
		r, err = New(franklin.Program).Run(o)
		add("franklin"+name, r, err)
		r, err = New(lcr.Program).Run(o)
		add("lcr"+name, r, err)
		r, err = New(peterson.Program).Run(o)
		add("peterson"+name, r, err)
		r, err = New(dolevklawerodeh.Program).Run(o)
		add("dolev-klawe-rodeh"+name, r, err)
	}
	o.Timing, o.Schedule = election.Asynchronous, Tile
	r, err := New(ringbully.Program).Run(o)
	add("ring-bully in tiles", r, err)
	for name, bytes := range each {
		if t.Logf("%s: %d", name, bytes); bytes > 64 {
			t.Errorf("%s: %d bytes a processor", name, bytes)
		}
	}
}

// permuted returns a large ring that is not stored.
func permuted(n int) *order.Order {
	ids, err := order.Parse("random", n, 1)
	if err != nil {
		panic(err)
	}
	return ids
}

func TestNoAllocationPerDelivery(t *testing.T) {
	if testing.Short() {
		t.Skip("long runs, and one of them at a time")
	}
	for name, o := range map[string]Options{
		"rounds":       {},
		"clocked":      {Timing: election.Timed, Delay: 5},
		"heap":         {Timing: election.Timed, Delay: 1 << 20},
		"random delay": {Schedule: RandomDelay},
		"links":        {Schedule: Random},
		"lifo":         {Schedule: LIFO},
		"round-robin":  {Schedule: RoundRobin},
		"tile":         {Schedule: Tile},
		"unordered":    {Schedule: Random, Faults: faults.Script{Unordered: true}},
		"synchronous":  {Timing: election.Synchronous},
	} {
		allocates(t, name, ringbully.Program, o)
	}
	allocates(t, "arcs", lcr.Program, Options{Cores: 2})
	allocates(t, "sweep", lcr.Program, Options{Schedule: Sweep})
}

func allocates(t *testing.T, name string, p *loops.Program, o Options) {
	allocations := func(n int) (allocated float64, deliveries uint64) {
		o.Setup = network.On(shuffled(n, 1)...)
		allocated = testing.AllocsPerRun(1, func() {
			r, err := New(p).Run(o)
			if err != nil {
				t.Fatal(err)
			}
			deliveries = r.Deliveries
		})
		return allocated, deliveries
	}
	few, _ := allocations(checkedBelow)
	many, deliveries := allocations(4 * checkedBelow)
	// With four times the processes, the buffers grow a few times more, and nothing else is allocated.
	if many > few+100 {
		t.Errorf("%s: %.0f allocations, %.0f in a run of a quarter; %d deliveries", name, many, few, deliveries)
	}
}
