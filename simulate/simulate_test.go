package simulate_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/property"
	"ringleader.example/ringleader/internal/runners/bully"
	"ringleader.example/ringleader/internal/runners/ringbully"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/simulate"
)

// small hides the types of an algorithm for small networks, so that the loops for large ones are not compiled for it.
func small[S, M any](a election.Algorithm[S, M]) program.Program { return program.Must(program.Of(&a)) }

// whole hides them with the loops for large networks.
func whole[S, M any](a election.Algorithm[S, M]) program.Program {
	return simulate.Must(simulate.Of(&a)).Program()
}

func run(t testing.TB, p program.Program, o simulate.Options) *simulate.Result {
	t.Helper()
	r, err := simulate.New(p).Run(o)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Complete || len(r.Faults) > 0 {
		t.Fatalf("complete %v, faults %v", r.Complete, r.Faults)
	}
	return r
}

// everyRing has known counts: clockwise identifiers; LCR election; ring-bully probe and reply.
var everyRing = []struct {
	ids          []uint64
	lcr          uint64
	probe, reply uint64
}{
	{[]uint64{1}, 1, 2, 0},
	{[]uint64{2, 1}, 3, 8, 2},
	{[]uint64{3, 2, 1}, 6, 16, 7},
	{[]uint64{1, 2, 3}, 5, 16, 7},
	{[]uint64{4, 3, 2, 1}, 10, 20, 8},
	{[]uint64{5, 4, 3, 2, 1}, 15, 32, 17},
	{[]uint64{3, 1, 4, 2, 5}, 11, 36, 19},
	{[]uint64{8, 7, 6, 5, 4, 3, 2, 1}, 36, 44, 20},
	{[]uint64{1, 2, 3, 4, 5, 6, 7, 8}, 15, 44, 20},
	{[]uint64{1, 5, 3, 7, 2, 6, 4, 8}, 20, 64, 24},
}

// ways yields the ways to run an asynchronous algorithm in which all start first.
func ways(yield func(simulate.Options) bool) {
	for _, o := range []simulate.Options{
		{Schedule: simulate.FIFO},
		{Schedule: simulate.LIFO},
		{Schedule: simulate.LIFO, Faults: faults.Script{Unordered: true}},
		{Schedule: simulate.Random},
		{Schedule: simulate.Random, Faults: faults.Script{Unordered: true}},
		{Schedule: simulate.RoundRobin},
		{Schedule: simulate.RandomDelay},
		{Schedule: simulate.RandomDelay, Faults: faults.Script{Unordered: true}},
		{Schedule: simulate.Tile},
		{Schedule: simulate.MaxMessages},
		{Schedule: simulate.MaxTime},
		{Timing: election.Timed, Delay: 9},
		{Timing: election.Timed, Delay: 9, Faults: faults.Script{Unordered: true}},
		{Timing: election.Synchronous},
	} {
		for seed := range uint64(5) {
			o.Seed = seed
			if !yield(o) {
				return
			}
		}
	}
}

func TestCountsAreTheSameUnderEverySchedule(t *testing.T) {
	for _, ring := range everyRing {
		n := uint64(len(ring.ids))
		for o := range ways {
			o.Setup = network.On(ring.ids...)
			r := run(t, small(lcr.Algorithm), o)
			if want := []uint64{ring.lcr, n}; !slices.Equal(r.Messages.ByKind, want) || !r.Right {
				t.Errorf("lcr %v, %s %s: %v, want %v", ring.ids, o.Timing, o.Schedule, r.Messages.ByKind, want)
			}
			r = run(t, ringbully.Program, o)
			if want := []uint64{ring.probe, ring.reply, n}; !slices.Equal(r.Messages.ByKind, want) || !r.Right {
				t.Errorf("ring-bully %v, %s %s: %v, want %v", ring.ids, o.Timing, o.Schedule, r.Messages.ByKind, want)
			}
			o.AnyTime = true
			r = run(t, ringbully.Program, o)
			if want := []uint64{ring.probe, ring.reply, n}; !slices.Equal(r.Messages.ByKind, want) || !r.Right {
				t.Errorf("ring-bully %v, %s %s, any start: %v, want %v", ring.ids, o.Timing, o.Schedule, r.Messages.ByKind, want)
			}
		}
	}
}

func TestSynchronousTimes(t *testing.T) {
	times := func(r *simulate.Result) [3]uint64 {
		return [3]uint64{r.Time.Elected.Lo, r.Time.Decided.Lo, r.Time.Quiet.Lo}
	}
	for n, want := range map[int][3]uint64{
		1: {1, 1, 2}, 2: {4, 5, 6}, 3: {9, 11, 12}, 4: {10, 13, 14}, 5: {19, 23, 24}, 6: {20, 25, 26},
		8: {22, 29, 30}, 10: {40, 49, 50}, 16: {46, 61, 62},
	} {
		ids := make([]uint64, n)
		for p := range ids {
			ids[p] = uint64((p*7 + 3) % 101)
		}
		for _, timing := range []election.Timing{election.Asynchronous, election.Synchronous} {
			o := simulate.Options{Setup: network.On(ids...), Timing: timing}
			if got := times(run(t, ringbully.Program, o)); got != want {
				t.Errorf("ring-bully of %d, %s: %v, want %v", n, timing, got, want)
			}
			last := uint64(2 * n)
			if got := times(run(t, small(lcr.Algorithm), o)); got != [3]uint64{last, last, last} {
				t.Errorf("lcr of %d, %s: %v, want %d", n, timing, got, last)
			}
		}
	}
}

func TestLCRWithFewInitiators(t *testing.T) {
	// One initiator costs n plus the distance to the largest; both flags agree.
	ids := []uint64{2, 7, 1, 8, 3, 6, 4, 5}
	for p := range ids {
		want := uint64(len(ids)) + uint64((3-p+len(ids))%len(ids))
		for _, flag := range []string{"literal", "textbook"} {
			i := network.On(ids...)
			i.Parameters = map[string]string{"flag": flag}
			r := run(t, small(lcr.Algorithm), simulate.Options{Setup: i, Initiators: []int{p}, Schedule: simulate.Random})
			if r.Messages.Election != want || r.Messages.Announcement != 8 {
				t.Errorf("initiator at %d, %s: %d+%d messages, want %d+8", p, flag, r.Messages.Election, r.Messages.Announcement, want)
			}
		}
	}
}

func TestLCRCountsMayDependOnLateStarts(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	// All initiate, [5,4,3,2,1], random schedules: literal 8..15, textbook 5..15.
	for flag, least := range map[string]uint64{"literal": 8, "textbook": 5} {
		low, high := uint64(99), uint64(0)
		for seed := range uint64(3000) {
			i := network.On(5, 4, 3, 2, 1)
			i.Parameters = map[string]string{"flag": flag}
			r := run(t, small(lcr.Algorithm), simulate.Options{Setup: i, AnyTime: true, Schedule: simulate.Random, Seed: seed})
			low, high = min(low, r.Messages.Election), max(high, r.Messages.Election)
			if !r.Right {
				t.Fatalf("%s, seed %d: wrong leader", flag, seed)
			}
		}
		if low < least || high > 15 {
			t.Errorf("%s: %d..%d election messages, want %d..15", flag, low, high, least)
		}
	}
}

func TestDuplicateIdentifiersMayElectSeveral(t *testing.T) {
	i := network.On(5, 3, 5, 1)
	if _, err := simulate.Run(lcr.Algorithm, simulate.Options{Setup: i}); !errors.Is(err, network.ErrSetup) {
		t.Errorf("duplicates were not refused: %v", err)
	}
	i.Duplicates = true
	r := run(t, small(lcr.Algorithm), simulate.Options{Setup: i})
	if len(r.Leaders) != 2 || r.Messages.Election != 6 || r.Messages.Announcement != 4 || r.Agreed {
		t.Errorf("leaders %v, %d+%d messages; want two leaders, 6+4", r.Leaders, r.Messages.Election, r.Messages.Announcement)
	}
}

func bullies(n, dead int) simulate.Options {
	var o simulate.Options
	ids := make([]uint64, n)
	for p := range ids {
		ids[p] = uint64(p + 1)
	}
	o.Setup = network.On(ids...)
	for p := n - dead; p < n; p++ {
		o.Faults.Dead = append(o.Faults.Dead, p)
	}
	return o
}

func TestBullyCostsOneElectionByAFormula(t *testing.T) {
	for n := 2; n <= 10; n++ {
		for i := 1; i < n; i++ { // process i detects that n is dead
			for _, victory := range []string{"others", "lower"} {
				o := bullies(n, 1)
				o.Initiators = []int{i - 1}
				o.Setup.Parameters = map[string]string{"victory": victory}
				coordinators := uint64(n - 1)
				if victory == "lower" {
					coordinators = uint64(n - 2)
				}
				want := []uint64{uint64((n - i) * (n - i + 1) / 2), uint64((n - 1 - i) * (n - i) / 2), coordinators}
				for _, timing := range []election.Timing{election.Timed, election.Synchronous} {
					o.Timing = timing
					r := run(t, bully.Program, o)
					if !slices.Equal(r.Messages.ByKind, want) || !r.Right {
						t.Errorf("n=%d, %d starts, %s, %s: %v, want %v", n, i, victory, timing, r.Messages.ByKind, want)
					}
				}
			}
		}
	}
}

func TestBullyTimes(t *testing.T) {
	// T1 = 3: the last coordinator message is read at T1+1 when n-1 starts, or all; at T1+2 otherwise.
	for starter, want := range map[int]uint64{1: 5, 5: 5, 6: 4, 0: 4} {
		o := bullies(7, 1)
		if starter > 0 {
			o.Initiators = []int{starter - 1}
		}
		if r := run(t, bully.Program, o); r.Time.Quiet != election.Units(want) {
			t.Errorf("%d starts: quiet at %s, want %d", starter, r.Time.Quiet, want)
		}
	}
}

func TestRecoveredHighestTakesOver(t *testing.T) {
	o := bullies(5, 0)
	o.Faults.Crashes = []faults.Crash{{Process: 4, At: election.Units(100)}}
	r := run(t, bully.Program, o)
	if leader, _ := r.Leader(); leader != 3 || !r.Right {
		t.Errorf("after the crash %v lead, want position 3", r.Leaders)
	}
	before := r.Messages.Announcement
	o.Faults.Recoveries = []faults.Recovery{{Process: 4, At: election.Units(200)}}
	r = run(t, bully.Program, o)
	if leader, _ := r.Leader(); leader != 4 || !r.Right {
		t.Errorf("after the recovery %v lead, want position 4", r.Leaders)
	}
	if sent := r.Messages.Announcement - before; sent != 4 { // S4 rule 1: it simply announces itself, to n-1
		t.Errorf("the recovered process sent %d coordinator messages, want 4", sent)
	}
}

func TestPhasesAreCountedUnlessSkipped(t *testing.T) {
	o := simulate.Options{Setup: network.On(3, 1, 4, 2, 5)}
	if r := run(t, ringbully.Program, o); len(r.ByPhase) != 4 {
		t.Errorf("%v messages by phase, want those of phases 0 to 3", r.ByPhase)
	}
	o.SkipPhases = true
	if r := run(t, ringbully.Program, o); r.ByPhase != nil || r.Messages.Total != 60 {
		t.Errorf("%v messages by phase, %d in all; want none and 60", r.ByPhase, r.Messages.Total)
	}
}

func TestADeadOneMayComeBack(t *testing.T) {
	o := bullies(5, 1)
	o.Faults.Recoveries = []faults.Recovery{{Process: 4, At: election.Units(20)}}
	if r := run(t, bully.Program, o); !r.Right || len(r.Leaders) != 1 || r.Leaders[0] != 4 {
		t.Errorf("%v lead, want position 4", r.Leaders)
	}
}

func TestTwoDecisionsAreNotRight(t *testing.T) {
	twice := lcr.Algorithm
	twice.Receive = func(p *lcr.Process, port election.Port, kind election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
		p.Receive(port, kind, m, out)
		if kind == lcr.Leader && m.ID == p.ID {
			out.Lead(0)
		}
	}
	r, err := simulate.Run(twice, simulate.Options{Setup: network.On(1, 2)})
	if err != nil || r.Right || !r.Agreed || len(r.Faults) != 1 {
		t.Errorf("right %v, agreed %v, faults %v, %v", r.Right, r.Agreed, r.Faults, err)
	}
}

func TestWrongSuspicionHeals(t *testing.T) {
	// All suspect the live leader for a while: 4 takes over, then gives way again.
	o := bullies(5, 0)
	for p := range 4 {
		o.Faults.Suspicions = append(o.Faults.Suspicions, faults.Suspicion{Process: p, Of: 4, At: election.Units(50), Until: election.Units(90)})
	}
	r := run(t, bully.Program, o)
	if leader, _ := r.Leader(); leader != 4 || !r.Right {
		t.Errorf("%v lead, want position 4", r.Leaders)
	}
}

func TestHopelessOptionsAreRefusedInOneLine(t *testing.T) {
	ring := func(o simulate.Options) error { _, err := simulate.Run(lcr.Algorithm, o); return err }
	on := network.On(1, 2, 3)
	for name, err := range map[string]error{
		"no processes":              ring(simulate.Options{}),
		"all dead":                  ring(simulate.Options{Setup: on, Faults: faults.Script{Dead: []int{0, 1, 2}}}),
		"an unknown one dead":       ring(simulate.Options{Setup: on, Faults: faults.Script{Dead: []int{3}}}),
		"a dead one starts":         ring(simulate.Options{Setup: on, Faults: faults.Script{Dead: []int{1}}, Initiators: []int{1}}),
		"no process starts":         ring(simulate.Options{Setup: on, Initiators: []int{}}),
		"crash without a clock":     ring(simulate.Options{Setup: on, Schedule: simulate.Random, Faults: faults.Script{Crashes: []faults.Crash{{}}}}),
		"schedule with a clock":     ring(simulate.Options{Setup: on, Timing: election.Synchronous, Schedule: simulate.LIFO}),
		"delay without a clock":     ring(simulate.Options{Setup: on, Delay: 3}),
		"recovery without a crash":  ring(simulate.Options{Setup: on, Timing: election.Timed, Faults: faults.Script{Recoveries: []faults.Recovery{{}}}}),
		"no such parameter":         ring(simulate.Options{Setup: network.Setup{IDs: on.IDs, Parameters: map[string]string{"x": "1"}}}),
		"no such parameter value":   ring(simulate.Options{Setup: network.Setup{IDs: on.IDs, Parameters: map[string]string{"flag": "1"}}}),
		"orientation that it needs": ring(simulate.Options{Setup: network.Setup{IDs: on.IDs, Flipped: make([]bool, 3)}}),
	} {
		if err == nil || len(err.Error()) > 200 || slices.Contains([]byte(err.Error()), '\n') {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheOtherWayOfAOneWayRingIsAnError(t *testing.T) {
	a := lcr.Algorithm
	a.Start = func(p *lcr.Process, out *election.Out[lcr.Message]) { out.Send(1, lcr.Election, lcr.Message{ID: p.ID}) }
	if _, err := simulate.Run(a, simulate.Options{Setup: network.On(1, 2)}); !errors.Is(err, simulate.ErrBroken) {
		t.Errorf("sending on port 1: %v", err)
	}
}

func TestTimeThatOverflowsAtBirthIsAnError(t *testing.T) {
	a := lcr.Algorithm
	a.New = func(election.Local) lcr.Process { panic(election.ErrTime) }
	if _, err := simulate.Run(a, simulate.Options{Setup: network.On(1, 2)}); !errors.Is(err, election.ErrTime) {
		t.Error(err)
	}
}

func TestBrokenContractIsAnError(t *testing.T) {
	a := lcr.Algorithm
	a.Receive = func(p *lcr.Process, _ election.Port, _ election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
		out.Send(2, lcr.Election, m)
	}
	if _, err := simulate.Run(a, simulate.Options{Setup: network.On(1, 2)}); !errors.Is(err, simulate.ErrBroken) {
		t.Errorf("sending on port 2 of a ring: %v", err)
	}
}

// next returns the distance from p to the next greater identifier in a direction, or n: a direct oracle.
func next(ids []uint64, p, direction int) uint64 {
	n := len(ids)
	for d := 1; d < n; d++ {
		if ids[(p+direction*d%n+n)%n] > ids[p] {
			return uint64(d)
		}
	}
	return uint64(n)
}

func TestLCRElectionMessagesAreTheDistancesToTheNextGreater(t *testing.T) {
	property.Check(t, func(t *property.T) {
		ids := property.Distinct(property.Uint64(), 1, 40).Draw(t, "ids")
		o := simulate.Options{Setup: network.On(ids...), Seed: property.Uint64().Draw(t, "seed")}
		o.Schedule = property.SampledFrom([]simulate.Schedule{simulate.FIFO, simulate.LIFO, simulate.Random}).Draw(t, "schedule")
		o.Faults.Unordered = o.Schedule != simulate.FIFO && property.Bool().Draw(t, "unordered")
		r, err := simulate.Run(lcr.Algorithm, o)
		if err != nil {
			t.Fatal(err)
		}
		sum := uint64(0)
		for p := range ids {
			sum += next(ids, p, 1)
		}
		leader, one := r.Leader()
		if r.Messages.Election != sum || !one || ids[leader] != slices.Max(ids) {
			t.Fatalf("%d election messages, want %d; leaders %v", r.Messages.Election, sum, r.Leaders)
		}
	})
}

func Example() {
	r, err := simulate.Run(lcr.Algorithm, simulate.Options{Setup: network.On(5, 4, 3, 2, 1)})
	if err != nil {
		panic(err)
	}
	leader, _ := r.Leader()
	fmt.Println("leader", r.Prepared.Real(leader), "after", r.Messages.Election, "+", r.Messages.Announcement, "messages")
	// Output: leader 5 after 15 + 5 messages
}
