package simulate_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/drawing"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/property"
	"ringleader.example/ringleader/internal/runners/bully"
	"ringleader.example/ringleader/internal/runners/franklin"
	"ringleader.example/ringleader/internal/runners/itairodeh"
	"ringleader.example/ringleader/internal/runners/peterson"
	"ringleader.example/ringleader/internal/runners/ringbully"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

func TestEveryScheduleHasAName(t *testing.T) {
	names := map[string]bool{}
	for s := simulate.FIFO; s <= simulate.Burns; s++ {
		names[s.String()] = true
	}
	if len(names) != len(simulate.Schedules) || simulate.Burns.String() != "burns" || simulate.RandomDelay.String() != "random-delay" {
		t.Errorf("the schedules are called %v, as %v", names, simulate.Schedules)
	}
}

// started returns the positions in the order in which their processes start.
func started(r *trace.Record) (order []int) {
	for _, s := range r.Steps {
		if s.Event == trace.Start {
			order = append(order, s.Process)
		}
	}
	return order
}

// delivered returns the senders of received messages, in order.
func delivered(r *trace.Record) (from []int) {
	for _, s := range r.Steps {
		if s.Event == trace.Receive {
			from = append(from, s.From-1)
		}
	}
	return from
}

func TestSchedulesServeLinksAsTheySay(t *testing.T) {
	for _, c := range []struct {
		schedule simulate.Schedule
		ids      []uint64
		starts   []int
		from     []int // LCR: every message is received by the next
	}{
		// In rounds: three, then the two that survive, and so on; the announcement goes round from 3.
		{simulate.FIFO, []uint64{3, 2, 1}, []int{0, 1, 2}, []int{0, 1, 2, 0 + 1, 2 - 0, 2, 0, 1, 2}},
		{simulate.RoundRobin, []uint64{3, 2, 1}, []int{0, 1, 2}, []int{0, 1, 2, 1, 2, 2, 0, 1, 2}},
		{simulate.Sweep, []uint64{3, 2, 1}, []int{0, 1, 2}, []int{0, 1, 1, 2, 2, 2, 0, 1, 2}},
		{simulate.LIFO, []uint64{3, 2, 1}, []int{0, 1, 2}, []int{2, 1, 2, 0, 1, 2, 0, 1, 2}},
		{simulate.Tile, []uint64{3, 2, 1}, []int{0, 1, 2}, []int{0, 1, 1, 2, 2, 2, 0, 1, 2}},
		// Messages that are passed on when delivered come before those that are not.
		{simulate.MaxMessages, []uint64{3, 2, 1}, []int{0, 1, 2}, []int{0, 1, 1, 2, 2, 2, 0, 1, 2}},
		{simulate.MaxTime, []uint64{3, 2, 1}, []int{0, 1, 2}, []int{0, 1, 2, 1, 2, 2, 0, 1, 2}},
	} {
		r := run(t, small(lcr.Algorithm), simulate.Options{Setup: network.On(c.ids...), Schedule: c.schedule, Record: true})
		if err := r.Record.Validate(); err != nil {
			t.Error(err)
		}
		if got := delivered(r.Record); !slices.Equal(got, c.from) || !slices.Equal(started(r.Record), c.starts) {
			t.Errorf("%s: %v start, then deliveries from %v; want %v, then %v", c.schedule, started(r.Record), got, c.starts, c.from)
		}
	}
}

func TestRandomDelaysAreWithinTheirBounds(t *testing.T) {
	for _, unordered := range []bool{false, true} {
		r := run(t, ringbully.Program, simulate.Options{
			Setup: network.On(5, 2, 7, 1, 6, 3, 4), Schedule: simulate.RandomDelay, Faults: faults.Script{Unordered: unordered}, Record: true,
		})
		sent := map[int]election.Ticks{}
		shortest, longest := uint64(1<<63), uint64(0)
		for _, s := range r.Record.Steps {
			if s.Event == trace.Receive {
				delay := s.Time.Sub(sent[s.Message]).Lo
				shortest, longest = min(shortest, delay), max(longest, delay)
			}
			for _, m := range s.Sent {
				sent[m.Message] = s.Time
			}
		}
		if shortest < simulate.LeastDelay || longest > simulate.LongestDelay || longest < 8*shortest {
			t.Errorf("delays are %d to %d", shortest, longest)
		}
	}
}

func TestMaxTimeTakesFullUnits(t *testing.T) {
	for _, ring := range everyRing {
		o := simulate.Options{Setup: network.On(ring.ids...)}
		fifo := run(t, ringbully.Program, o)
		o.Schedule = simulate.MaxTime
		if greedy := run(t, ringbully.Program, o); *greedy.Time != *fifo.Time {
			t.Errorf("ring-bully %v: times %v, in rounds %v", ring.ids, greedy.Time, fifo.Time)
		}
	}
}

// If processes may start late, LCR's count depends on the schedule; the adversary starts all in time.
func TestMaxMessagesFindsTheWorstOfLCR(t *testing.T) {
	for n := uint64(1); n <= 12; n++ {
		var ids []uint64
		for id := n; id > 0; id-- {
			ids = append(ids, id)
		}
		i := network.On(ids...)
		i.Parameters = map[string]string{"flag": "textbook"}
		r := run(t, small(lcr.Algorithm), simulate.Options{Setup: i, Schedule: simulate.MaxMessages, AnyTime: true})
		if r.Messages.Election < n*(n+1)/2 {
			t.Errorf("%d processes: %d election messages, and the worst are %d", n, r.Messages.Election, n*(n+1)/2)
		}
	}
}

// An adversary that tried steps with other choices than those to be made would predict wrongly.
func TestAdversariesForeseeChoices(t *testing.T) {
	for seed := range uint64(50) {
		o := simulate.Options{Setup: network.On(1, 2, 3, 4, 5), Seed: seed, Schedule: simulate.MaxMessages}
		if r := run(t, itairodeh.Program, o); !r.Right {
			t.Fatalf("seed %d: leaders %v", seed, r.Leaders)
		}
	}
}

func TestLostMessagesAreCountedAsSent(t *testing.T) {
	for o := range ways {
		o.Setup, o.Faults.Lose, o.Record, o.Limit = network.On(4, 2, 5, 1, 3), faults.Chance{Times: 1, Of: 3}, true, 100_000
		r, err := simulate.New(franklin.Program).Run(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Record.Validate(); err != nil {
			t.Fatalf("%s %s: %v", o.Timing, o.Schedule, err)
		}
		lost := uint64(0)
		for _, s := range r.Record.Steps {
			if s.Event == trace.Lost {
				lost++
			}
		}
		if lost != r.Lost || r.Messages.Total != r.Deliveries+r.Lost {
			t.Fatalf("%s %s: %d messages, %d delivered, %d lost, %d in the record", o.Timing, o.Schedule, r.Messages.Total, r.Deliveries, r.Lost, lost)
		}
	}
}

func TestDuplicatesAreDeliveredAndNotCounted(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	twice := 0
	for o := range ways {
		o.Setup, o.Faults.Duplicate, o.Record, o.Limit = network.On(4, 2, 5, 1, 3), faults.Chance{Times: 1, Of: 3}, true, 100_000
		r, err := simulate.Run(lcr.Algorithm, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Record.Validate(); err != nil {
			t.Fatalf("%s %s: %v", o.Timing, o.Schedule, err)
		}
		if r.Messages.Total+r.Duplicated != r.Deliveries {
			t.Fatalf("%s %s: %d messages, %d duplicated, %d delivered", o.Timing, o.Schedule, r.Messages.Total, r.Duplicated, r.Deliveries)
		}
		if len(r.Faults) > 0 {
			twice++
		}
		var file, story, drawn bytes.Buffer
		if _, err := r.Record.WriteTo(&file); err != nil {
			t.Fatal(err)
		}
		again, err := trace.Read(&file)
		if err != nil {
			t.Fatal(err)
		}
		diagram, err := drawing.Diagram(again, trace.Window{})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(again.Story(&story), diagram.SVG(&drawn)); err != nil {
			t.Fatal(err)
		}
		if arrows := strings.Count(drawn.String(), "received in step"); uint64(arrows) != r.Deliveries {
			t.Fatalf("%d arrows that arrive, for %d deliveries", arrows, r.Deliveries)
		}
	}
	if twice == 0 {
		t.Error("no duplicate makes a process of LCR decide twice")
	}
}

func TestAllIsLostOrNothing(t *testing.T) {
	o := simulate.Options{Setup: network.On(4, 2, 5, 1, 3), Faults: faults.Script{Lose: faults.Chance{Times: 1, Of: 1}}}
	for _, o.Schedule = range []simulate.Schedule{simulate.FIFO, simulate.Random, simulate.Tile, simulate.Sweep, simulate.RoundRobin} {
		r := run(t, peterson.Program, o)
		if r.Deliveries != 0 || r.Lost != 5 || r.Decided != 0 {
			t.Errorf("%s: %d deliveries, %d lost, %d decided", o.Schedule, r.Deliveries, r.Lost, r.Decided)
		}
	}
	never := run(t, peterson.Program, simulate.Options{Setup: o.Setup, Faults: faults.Script{Lose: faults.Chance{Of: 7}}})
	if never.Lost != 0 || !never.Right {
		t.Errorf("%d messages were lost with chance 0 in 7", never.Lost)
	}
}

func TestChancesAreKept(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	property.CheckSome(t, 30, func(t *property.T) {
		o := simulate.Options{
			Setup: network.On(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16), Seed: property.Uint64().Draw(t, "seed"),
			Faults: faults.Script{Duplicate: faults.Chance{Times: 1, Of: 2}}, Schedule: simulate.Random, Limit: 100_000,
		}
		r, err := simulate.New(ringbully.Program).Run(o)
		if err != nil {
			t.Fatal(err)
		}
		// Half of them, within six standard deviations.
		sent, twice := int(r.Messages.Total), int(r.Duplicated)
		if off := 2*twice - sent; off*off > 36*sent {
			t.Fatalf("%d of %d messages were duplicated", twice, sent)
		}
	})
}

// A token that goes round for ever is stopped by the limit, and by Progress, on every engine.
func TestEndlessRunsEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	endless := lcr.Algorithm
	endless.Receive = func(_ *lcr.Process, _ election.Port, kind election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
		if m.ID == 1 {
			out.Send(lcr.Right, kind, m)
		}
	}
	for _, n := range []int{5, 5000} {
		ids := make([]uint64, n)
		for p := range ids {
			ids[p] = uint64(p + 1)
		}
		for _, schedule := range []simulate.Schedule{
			simulate.FIFO, simulate.LIFO, simulate.Random, simulate.RoundRobin, simulate.RandomDelay, simulate.Sweep, simulate.Tile,
		} {
			for _, cores := range []int{1, 2} {
				o := simulate.Options{Setup: network.On(ids...), Schedule: schedule, Cores: cores, Limit: 100_000}
				limited, err := simulate.Run(endless, o)
				if err != nil || limited.Complete {
					t.Errorf("%d processes, %s: complete %v, %v", n, schedule, limited.Complete, err)
				}
				o.Limit, o.Progress = 0, func(uint64) bool { return false }
				if stopped, err := simulate.Run(endless, o); err != nil || stopped.Complete {
					t.Errorf("%d processes, %s, stopped: complete %v, %v", n, schedule, stopped.Complete, err)
				}
			}
		}
	}
}

func TestHopelessSchedulesAreRefusedInOneLine(t *testing.T) {
	ring := network.On(1, 2, 3)
	large := make([]uint64, 3000)
	for p := range large {
		large[p] = uint64(p + 1)
	}
	for name, c := range map[string]struct {
		program program.Program
		o       simulate.Options
		want    string // the remedy
	}{
		"sweep on two directions":        {ringbully.Program, simulate.Options{Setup: ring, Schedule: simulate.Sweep}, "tile"},
		"tile on a complete graph":       {bully.Program, simulate.Options{Setup: ring, Schedule: simulate.Tile}, "timed"},
		"a schedule with a clock":        {small(lcr.Algorithm), simulate.Options{Setup: ring, Timing: election.Timed, Schedule: simulate.RoundRobin}, "asynchronous"},
		"no order in turn":               {small(lcr.Algorithm), simulate.Options{Setup: ring, Schedule: simulate.RoundRobin, Faults: faults.Script{Unordered: true}}, "random"},
		"an adversary on a large ring":   {small(lcr.Algorithm), simulate.Options{Setup: network.On(large...), Schedule: simulate.MaxMessages}, "lifo or random"},
		"losing more than all":           {small(lcr.Algorithm), simulate.Options{Setup: ring, Faults: faults.Script{Lose: faults.Chance{Times: 2, Of: 1}}}, "{1, 20}"},
		"burns on links that lose":       {small(lcr.Algorithm), simulate.Options{Setup: network.On(1, 2), Schedule: simulate.Burns, Faults: faults.Script{Lose: faults.Chance{Times: 1, Of: 2}}}, "others"},
		"negative cores":                 {small(lcr.Algorithm), simulate.Options{Setup: ring, Cores: -1}, "0 is one"},
		"a schedule that does not exist": {small(lcr.Algorithm), simulate.Options{Setup: ring, Schedule: simulate.Burns + 1}, "no schedule"},
	} {
		_, err := simulate.New(c.program).Run(c.o)
		if !errors.Is(err, simulate.ErrOptions) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 250 {
			t.Errorf("%s: %v; want … %s …", name, err, c.want)
		}
	}
}
