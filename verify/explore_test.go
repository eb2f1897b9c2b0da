package verify

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/verify/internal/model"
)

// With starts in order, the messages of two processes are two steps in either order: a square of four configurations.
func TestStatesTransitionsAndDepthAreCounted(t *testing.T) {
	quiet := calling(election.Asynchronous, once)
	quiet.Decides, quiet.Winner = election.LeaderOnly, election.Unspecified
	for starts, want := range map[Starts]Report{
		AllFirst: {Orders: 1, States: 6, Transitions: 6, Finals: 1, Depth: 4},
		// Each of the two may have started, and its message may have been received: three by three. One final state
		// for each set that starts.
		AnyTime: {Orders: 1, States: 9, Transitions: 12, Finals: 3, Depth: 4},
		// Of a single initiator three configurations each; and the six.
		EverySet: {Orders: 1, States: 12, Transitions: 10, Finals: 3, Depth: 4},
	} {
		report, err := Run(quiet, Options{Setup: network.On(1, 2), Starts: starts, SafetyOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		got := *report
		got.Complete, got.MaxMessages, got.MinMessages, got.Bits, got.Miss, got.Coverage = false, nil, nil, 0, 0, nil
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("%s: %+v; want %+v", starts, got, want)
		}
		if *report.MaxMessages != (Messages{2, 2, 0}) || report.MinMessages.Total != map[Starts]uint64{AllFirst: 2, AnyTime: 1, EverySet: 1}[starts] {
			t.Errorf("%s: %v to %v messages", starts, report.MinMessages, report.MaxMessages)
		}
	}
}

// spreading panics at the process that the number of the first has to reach.
func spreading(at election.ID) election.Algorithm[caller, call] {
	a := calling(election.Asynchronous, func(p *caller, out calls) {
		if p.ID == 3 {
			once(p, out)
		}
	})
	a.Receive = func(p *caller, _ election.Port, _ election.Kind, m call, out calls) {
		if p.ID == at {
			panic("it has come")
		}
		once(p, out)
	}
	return a
}

// Of two orders, the first that is tried has process 1 next to process 3.
func TestTheShortestViolationOfAllOrdersIsShown(t *testing.T) {
	for at, want := range map[election.ID]struct {
		steps int
		ids   []uint64
	}{1: {4, []uint64{3, 1, 2}}, 2: {4, []uint64{3, 2, 1}}, 3: {6, []uint64{3, 1, 2}}} {
		v := fails(t, spreading(at), Options{Size: 3}, Panicked, want.steps)
		if !slices.Equal(v.Record.IDs, want.ids) || !strings.HasSuffix(v.Detail, " and panics: it has come") {
			t.Errorf("%v: %s; want %v", v.Record.IDs, v.Detail, want.ids)
		}
	}
	report, err := Run(spreading(1), Options{Size: 3})
	// The first order: three starts, and the step that fails leads nowhere. The second: as many steps, and no more.
	if err != nil || report.Orders != 2 || report.States != 4+5 || report.Transitions != 4+4 || report.Depth != 3 {
		t.Errorf("%+v, %v", report, err)
	}
}

// Runs longer than the shortest known violation are not searched, and an order may have no violation.
func TestAnOrderWithoutAViolationHidesNone(t *testing.T) {
	a := spreading(3)
	a.Receive = func(p *caller, _ election.Port, _ election.Kind, m call, out calls) {
		switch {
		case p.ID == 3:
			panic("it has come round")
		case p.ID == 1:
			out.Send(0, ring, call{7})
		case m.Number == 7:
			out.Send(0, ring, m)
		}
	}
	fails(t, a, Options{Size: 3, SafetyOnly: true}, Panicked, 6)
	b := collecting(copied)
	b.Bounds = []election.Bound{{Of: "announcement", Case: election.Best, Formula: "1", Value: func(uint64) uint64 { return 1 }}}
	both, err := Run(b, Options{Size: 3})
	if err != nil {
		t.Fatal(err)
	}
	one, err := Run(b, Options{Setup: network.On(3, 1, 2)})
	if err != nil || both.Orders != 2 || both.States != one.States+1 || both.Violation == nil {
		t.Errorf("%+v after %+v, %v: there is nothing shorter than no step", both, one, err)
	}
}

func TestNothingIsExploredBeyondTheLimit(t *testing.T) {
	a := calling(election.Asynchronous, silent)
	// One, each of the three that may start, and one more: there is no room for the next.
	report, err := Run(a, Options{Setup: network.On(1, 2, 3), Starts: AnyTime, MaxStates: 5, SafetyOnly: true})
	if err != nil || report.Complete || report.States != 5 || report.Transitions != 3+2 {
		t.Errorf("%+v, %v", report, err)
	}
	report, err = Run(a, Options{Setup: network.On(1, 2, 3), Starts: AnyTime, MaxStates: 8, SafetyOnly: true})
	if err != nil || !report.Complete || report.States != 8 || report.Transitions != 3+6+3 {
		t.Errorf("%+v, %v", report, err)
	}
}

// A level is explored to its end, and of violations of equal length the first one stays.
func TestTheFirstOfTheShortestViolationsIsShown(t *testing.T) {
	a := calling(election.Asynchronous, func(p *caller, _ calls) { panic(fmt.Sprint("so says ", p.ID)) })
	report, err := Run(a, Options{Setup: network.On(1, 2, 3), Starts: AnyTime})
	if err != nil || report.Violation.Detail != "process 1 starts and panics: so says 1" || report.Transitions != 3 || report.States != 1 || len(report.Violation.Record.Steps) != 1 {
		t.Errorf("%+v, %v", report, err)
	}
	// A bad end is nearer by a step than the next event.
	b := calling(election.Asynchronous, func(p *caller, _ calls) {
		if p.ID == 2 {
			panic("late")
		}
	})
	v := fails(t, b, Options{Setup: network.On(1, 2), Starts: AnyTime}, Panicked, 1)
	if v.Record.Steps[0].Process != 1 {
		t.Errorf("it is process 2 that panics, not %+v", v.Record.Steps[0])
	}
	report, err = Run(b, Options{Setup: network.On(1, 2), Starts: AnyTime})
	if err != nil || report.States != 2 || report.Transitions != 2 || report.Depth != 0 {
		t.Errorf("more than the level of the violation was explored: %+v, %v", report, err)
	}
	fails(t, b, Options{Setup: network.On(1, 2), Initiators: []int{0}}, Undecided, 1)
}

// An election has ended when all have decided and no event is left; a service may continue for ever.
func TestOnlyAServiceMayGoRoundForEver(t *testing.T) {
	round := func(task election.Task) election.Algorithm[caller, call] {
		a := calling(election.Asynchronous, func(p *caller, out calls) {
			out.Lead(1)
			once(p, out)
		})
		if task == election.Once {
			a.Start = func(p *caller, out calls) { // it may also end
				out.Lead(0)
				for range out.Choose(2) {
					once(p, out)
				}
			}
		}
		a.Receive = func(p *caller, _ election.Port, _ election.Kind, _ call, out calls) {
			out.Send(0, ring, call{})
		}
		a.Task = task
		return a
	}
	holds(t, round(election.Service), Options{Size: 1})
	holds(t, round(election.Groups), Options{Size: 1})
	fails(t, round(election.Once), Options{Size: 1}, NeverEnds, 3)
	// But not while some disagree.
	for _, task := range []election.Task{election.Service, election.Groups} {
		a := round(task)
		a.Receive = func(p *caller, _ election.Port, _ election.Kind, m call, out calls) {
			out.Send(0, ring, call{1 - m.Number})
			p.Heard++
			p.Heard %= 3
			if p.Heard == 1 {
				out.NoLeader()
			}
		}
		fails(t, a, Options{Size: 1}, NeverEnds, 2+6)
	}
}

func TestEveryVectorOfChoicesIsTried(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	const only = 77 // its identifier
	var seen []string
	a := calling(election.Asynchronous, func(p *caller, out calls) {
		first := out.Choose(2)
		second := out.Choose(3 - first)
		third := uint32(0)
		if second > 0 {
			third = out.Choose(2)
		}
		if p.ID == only { // and no stranger
			seen = append(seen, fmt.Sprint(first, second, third))
		}
	})
	a.Identifiers = election.Computed
	w := newWalk(t, a, Options{Setup: network.On(only)})
	seen = nil    // in the rehearsal
	for range 2 { // the second time they are known
		w.each(func(string, string, model.Configuration) {})
	}
	// Each step is made twice.
	if got, want := strings.Join(slices.Compact(seen), ", "), "0 0 0, 0 1 0, 0 1 1, 0 2 0, 0 2 1, 1 0 0, 1 1 0, 1 1 1"; got != want || len(seen) != 2*8 {
		t.Errorf("%s; want %s", got, want)
	}
	for n, want := range map[uint32]string{
		0: process.BrokeContract + "process 1 starts and chooses from 0 values; Choose needs at least one", 1 << 16: "",
	} {
		b := calling(election.Asynchronous, func(_ *caller, out calls) { out.Choose(n) })
		b.Decides = election.LeaderOnly
		report, err := Run(b, Options{Size: 1, SafetyOnly: true})
		switch {
		case err != nil:
			t.Fatal(err)
		case want == "" && report.Violation != nil:
			t.Error(report.Violation.Detail)
		case want != "" && (report.Violation == nil || report.Violation.Property+report.Violation.Detail != want):
			t.Errorf("%d values: %+v", n, report.Violation)
		}
	}
}

func TestABreachOfTheContractIsNamed(t *testing.T) {
	for want, start := range map[string]func(*caller, calls){
		"sends a message of kind 2; 2 are declared":                        func(_ *caller, out calls) { out.Send(0, 2, call{}) },
		"sends a message of kind 16; there are at most 16 kinds":           func(_ *caller, out calls) { out.Send(0, 16, call{}) },
		"sends on port 2; its ports are 0 to 1":                            func(_ *caller, out calls) { out.Send(2, 0, call{}) },
		"sends on port 1, and is declared to send on port 0 only":          func(_ *caller, out calls) { out.Send(1, 0, call{}) },
		"uses timer 2; 2 are declared":                                     func(_ *caller, out calls) { out.Stop(2) },
		"changes a field that is declared constant":                        func(*caller, calls) {},
		"leads without a lease, and is declared to lead by LeadUntil only": func(_ *caller, out calls) { out.Lead(1) },
	} {
		a := calling(election.Timed, start)
		a.Task, a.Leased = election.Service, true
		if strings.Contains(want, "constant") {
			v := fails(t, constant, Options{Size: 1}, BrokeContract, 1)
			if v.Detail != "process 1 starts and "+want {
				t.Errorf("%s; want %s", v.Detail, want)
			}
			continue
		}
		v := fails(t, a, Options{Size: 1}, BrokeContract, 1)
		if v.Detail != "process 1 starts and "+want || v.Record.Steps[0].Broken != want {
			t.Errorf("%s; want %s", v.Detail, want)
		}
	}
	// All declared kinds, timers and ports may be used.
	most := calling(election.Timed, func(_ *caller, out calls) {
		out.Send(1, 1, call{})
		out.After(1, election.Units(1))
	})
	most.OneWay, most.Decides = false, election.LeaderOnly
	holds(t, most, Options{Size: 1, SafetyOnly: true})
}

// sized has a constant field, and changes it.
type sized struct {
	Size uint32 `election:"constant"`
}

var constant = election.Algorithm[sized, call]{
	Declaration: election.Declaration{Name: "sized", Topology: election.Ring, Winner: election.Unspecified, Kinds: []election.MessageKind{{Name: "ring"}}},
	New:         func(election.Local) sized { return sized{} },
	Start:       func(s *sized, _ calls) { s.Size++ },
	Receive:     func(*sized, election.Port, election.Kind, call, calls) {},
}

// A record gives for each step what a reader needs: the message, its origin, and the time.
func TestARecordSaysWhatHappened(t *testing.T) {
	a := answering(election.Timed, func(p *caller, out calls) {
		out.Send(0, ring, call{1})
		out.Send(0, ring, call{1})
		out.After(1, election.Units(4))
	})
	a.Command = func(p *caller, _ election.Command, out calls) { out.Lead(2) }
	a.Task, a.Winner = election.Service, election.Unspecified
	w := newWalk(t, a, Options{Setup: network.On(7, 5, 6), Initiators: []int{0, 2}, Crashes: 1, Recoveries: 1, Commands: 1, Delay: 2})
	w.then("1 starts", "2 crashes", "3 starts", "1 pass", "2 loses ring on 1", "1 obeys", "1 receives ring on 1", "1 pass",
		"2 loses ring on 1", "3 suspects 2", "1 receives ring on 1", "2 recovers", "2 pass", "3 tock")
	record := w.c.Record(&model.Finding{Root: w.root, Path: w.path})
	if record.Timing != "timed" || !record.Clock || !slices.Equal(record.IDs, []uint64{7, 5, 6}) || record.Algorithm != "calling" {
		t.Errorf("%+v", record.Header)
	}
	want := []string{
		`{"step":1,"time":0,"process":0,"event":"start","port":-1,"sent":[{"message":1,"to":1,"port":0,"kind":"ring","text":"1"},{"message":2,"to":1,"port":0,"kind":"ring","text":"1"}],"timers":[{"timer":"tock","after":4}],"state":"ID 7"}`,
		`{"step":2,"time":0,"process":1,"event":"crash","port":-1}`,
		`{"step":3,"time":0,"process":2,"event":"start","port":-1,"sent":[{"message":3,"to":0,"port":0,"kind":"ring","text":"1"},{"message":4,"to":0,"port":0,"kind":"ring","text":"1"}],"timers":[{"timer":"tock","after":4}],"state":"ID 6"}`,
		`{"step":4,"time":1,"process":1,"event":"lost","message":1,"from":1,"port":-1,"kind":"ring","text":"1"}`,
		`{"step":5,"time":1,"process":0,"event":"command","port":-1,"text":"resign","decided":[{"role":"leader","leader":7,"term":2}],"state":"ID 7"}`,
		`{"step":6,"time":1,"process":0,"event":"receive","message":3,"from":3,"port":1,"kind":"ring","text":"1","state":"ID 7, Heard 1"}`,
		`{"step":7,"time":2,"process":1,"event":"lost","message":2,"from":1,"port":-1,"kind":"ring","text":"1"}`,
		`{"step":8,"time":2,"process":2,"event":"suspect","from":2,"port":1,"state":"ID 6, Heard 11"}`,
		`{"step":9,"time":2,"process":0,"event":"receive","message":4,"from":3,"port":1,"kind":"ring","text":"1","state":"ID 7, Heard 2"}`,
		`{"step":10,"time":2,"process":1,"event":"recover","port":-1,"state":"ID 5, Heard 100"}`,
		`{"step":11,"time":4,"process":2,"event":"timeout","port":-1,"text":"tock","state":"ID 6, Heard 11"}`,
	}
	for i, step := range record.Steps {
		got, err := json.Marshal(step)
		if err != nil {
			t.Fatal(err)
		}
		if i >= len(want) || string(got) != want[i] {
			t.Errorf("step %d is\n\t%s; want\n\t%s", i+1, got, want[min(i, len(want)-1)])
		}
	}
	if err := record.Validate(); err != nil || len(record.Steps) != len(want) {
		t.Errorf("%d steps, %v", len(record.Steps), err)
	}
}

// A message that overtakes has another time of sending, or another content.
func TestARecordTellsMessagesApartByWhenTheyWereSent(t *testing.T) {
	a := calling(election.Timed, twice)
	a.FIFO = false
	a.Timeout = func(p *caller, _ election.Timer, out calls) { out.Send(0, knock, call{2}) }
	begin := a.Start
	a.Start = func(p *caller, out calls) { begin(p, out); out.After(0, election.Units(1)) }
	for _, test := range []struct {
		way  []string
		want string
	}{
		{[]string{"2 receives ring on 1", "2 receives knock on 1"}, "1 2"},
		{[]string{"2 receives knock on 1", "2 receives ring on 1"}, "2 1"},
		{[]string{"1 tick", "1 pass", "2 receives knock on 1", "2 receives ring on 1"}, "3 1"}, // of two equal messages, the last that was sent
	} {
		w := newWalk(t, a, Options{Setup: network.On(1, 2), Initiators: []int{0}, Unordered: true, Delay: 3}).then("1 starts", "1 pass").then(test.way...)
		var got []string
		for _, step := range w.c.Record(&model.Finding{Root: w.root, Path: w.path}).Steps {
			if step.Message > 0 {
				got = append(got, fmt.Sprint(step.Message))
			}
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%v: messages %s arrive; want %s", test.way, got, test.want)
		}
	}
}

func TestOrdersThatDifferOnlyByARotationAreTriedOnce(t *testing.T) {
	count := func(d election.Declaration, o Options) (n int) {
		o.Size = 3
		seen := map[string]bool{}
		all := enumerate(&d, &o)
		for number := range all.orders {
			key := fmt.Sprint(all.order(number))
			if n++; seen[key] {
				t.Errorf("%s is tried twice", key)
			}
			seen[key] = true
		}
		return n
	}
	ringed, tree := election.Declaration{Topology: election.Ring}, election.Declaration{Topology: election.Tree}
	strangers := election.Declaration{Topology: election.UnknownNeighbours}
	complete, anonymous := election.Declaration{Topology: election.Complete}, election.Declaration{Topology: election.Ring, Identifiers: election.Anonymous}
	for i, test := range []struct {
		d    election.Declaration
		o    Options
		want int
	}{
		{ringed, Options{}, 2},
		{ringed, Options{Orientations: true}, 2},
		{ringed, Options{Setup: network.Setup{Flipped: []bool{true, false, false}}}, 6},
		{ringed, Options{Setup: network.Setup{Unwilling: []int{1}}}, 6},
		{ringed, Options{Setup: network.Setup{Votes: []uint64{1, 1, 1}}}, 6},
		{ringed, Options{Initiators: []int{0}}, 6},
		{ringed, Options{Initiators: []int{0}, Setup: network.Setup{Unwilling: []int{1}}}, 6},
		{ringed, Options{Rotations: true}, 6},
		{strangers, Options{}, 6},
		{strangers, Options{alike: true}, 2},
		{strangers, Options{alike: true, Setup: network.Setup{Ports: [][]int{{1, 2}, {0, 2}, {0, 1}}}}, 6},
		{tree, Options{}, 6},
		{complete, Options{}, 1},
		{anonymous, Options{}, 1},
	} {
		if got := count(test.d, test.o); got != test.want {
			t.Errorf("case %d: %d orders; want %d", i, got, test.want)
		}
	}
	both := 0
	o := Options{Size: 3, Orientations: true, Setup: network.On(1, 2, 3)}
	for setup := range setups(&ringed, &o) {
		if both++; setup.IDs == nil || len(setup.Flipped) != 3 {
			t.Errorf("%+v", setup)
		}
	}
	if both != 2*8 {
		t.Errorf("%d orders with orientations; want 16", both)
	}
	for range setups(&ringed, &o) {
		break // and no more is needed
	}
}

func TestOptionsAreRefusedWithTheReason(t *testing.T) {
	program := func(change func(*election.Algorithm[caller, call])) *process.Program {
		a := calling(election.Timed, silent)
		a.FIFO = false
		change(&a)
		p, err := process.Of(&a)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	timed := program(unchanged)
	recovering := program(func(a *election.Algorithm[caller, call]) {
		a.Survives, a.Recover = election.Crash|election.Recovery, silent
	})
	obeying := program(func(a *election.Algorithm[caller, call]) { a.Command = func(*caller, election.Command, calls) {} })
	detecting := program(func(a *election.Algorithm[caller, call]) { a.Suspect = func(*caller, election.Port, calls) {} })
	unoriented := program(func(a *election.Algorithm[caller, call]) { a.OneWay, a.Unoriented = false, true })
	together := program(func(a *election.Algorithm[caller, call]) {
		a.Starts, a.Timing = election.Together, election.Synchronous
	})
	synchronous := program(func(a *election.Algorithm[caller, call]) { a.Timing = election.Synchronous })
	for _, test := range []struct {
		p    *process.Program
		o    Options
		want string
	}{
		{timed, Options{Size: 1}, ""},
		{timed, Options{}, "a size of 0; at least 1 is needed"},
		{timed, Options{Size: 3, Initiators: []int{0, 2}}, ""},
		{timed, Options{Size: 3, Initiators: []int{0, 3}}, "there is no position 3 that could start; there are 0 to 2"},
		{timed, Options{Size: 3, Initiators: []int{-1}}, "there is no position -1 that could start; there are 0 to 2"},
		{timed, Options{Size: 3, Initiators: []int{}}, "no process starts; at least one must"},
		{timed, Options{Size: 3, Starts: EverySet}, ""},
		{timed, Options{Size: 3, Starts: Each + 1}, "there is no start policy 4"},
		{timed, Options{Size: 16, Starts: EverySet}, ""},
		{timed, Options{Size: 17, Starts: EverySet}, "every set of 17 processes is too many; at most 16 processes"},
		{timed, Options{Size: 17, Starts: AnyTime}, ""},
		{timed, Options{Size: 17, Starts: EverySet, Initiators: []int{0}}, ""},
		{together, Options{Size: 3}, ""},
		{together, Options{Size: 3, Starts: AnyTime}, "all processes initiate at time 0; none can be left out or late"},
		{together, Options{Size: 3, Initiators: []int{0, 1, 2}}, "all processes initiate at time 0; none can be left out or late"},
		{timed, Options{Size: 3, Orientations: true}, "it needs an oriented ring, so there is one orientation"},
		{unoriented, Options{Size: 16, Orientations: true}, ""},
		{unoriented, Options{Size: 17, Orientations: true}, "every orientation of 17 processes is too many; at most 16 processes"},
		{unoriented, Options{Size: 17}, ""},
		{timed, Options{Size: 3, Crashes: 1, Delay: 1, MaxStates: 1}, ""},
		{timed, Options{Size: 3, Crashes: -1}, "numbers of faults and commands, the delay and the limits of states and depth cannot be negative"},
		{recovering, Options{Size: 3, Crashes: 1, Recoveries: -1}, "numbers of faults and commands, the delay and the limits of states and depth cannot be negative"},
		{obeying, Options{Size: 3, Commands: -1}, "numbers of faults and commands, the delay and the limits of states and depth cannot be negative"},
		{timed, Options{Size: 3, Delay: -1}, "numbers of faults and commands, the delay and the limits of states and depth cannot be negative"},
		{timed, Options{Size: 3, MaxStates: -1}, "numbers of faults and commands, the delay and the limits of states and depth cannot be negative"},
		{timed, Options{Size: 3, Crashes: 1, Recoveries: 1}, "it does not say what a process does that recovers, so there can be 0 recoveries"},
		{recovering, Options{Size: 3, Crashes: 1, Recoveries: 1}, ""},
		{recovering, Options{Size: 3, Recoveries: 1}, "recoveries need crashes"},
		{timed, Options{Size: 3, Commands: 1}, "it obeys no commands, so there can be 0"},
		{obeying, Options{Size: 3, Commands: 1}, ""},
		{timed, Options{Size: 3, Delay: 2}, ""},
		{synchronous, Options{Size: 3, Delay: 1}, ""},
		{synchronous, Options{Size: 3, Delay: 2}, "a delay is for timed algorithms; this one is synchronous"},
		{timed, Options{Size: 64, Crashes: 1}, ""},
		{timed, Options{Size: 65, Crashes: 1}, "crashes and suspicions among 65 processes; at most 64 processes"},
		{timed, Options{Size: 65}, ""},
		{timed, Options{Size: 3, Losses: 1000, Duplicates: 1000, Cuts: 1000}, ""},
		{timed, Options{Size: 3, Losses: 1001}, "1001 faults of one kind are too many; at most 1000"},
		{timed, Options{Size: 3, Duplicates: -1}, "numbers of faults and commands, the delay and the limits of states and depth cannot be negative"},
		{timed, Options{Size: 3, Suspicions: 1}, "it has no failure detector, so there can be 0 wrong suspicions"},
		{detecting, Options{Size: 3, Suspicions: 1}, ""},
		{detecting, Options{Size: 65, Suspicions: 1}, "crashes and suspicions among 65 processes; at most 64 processes"},
		{detecting, Options{Size: 1, Suspicions: 1}, "a process alone has no other to suspect or to be cut off from"},
		{timed, Options{Size: 1, Cuts: 1}, "a process alone has no other to suspect or to be cut off from"},
		{timed, Options{Size: 11, Cuts: 1}, "cuts among 11 processes; at most 10 processes"},
		{timed, Options{Size: 3, Unordered: true}, ""},
		{synchronous, Options{Size: 3, Unordered: true}, "a synchronous run keeps the order of messages"},
	} {
		err := test.o.check(test.p.Declaration, test.p.Functions)
		got := ""
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "cannot verify calling: ")
		}
		if got != test.want {
			t.Errorf("%+v: %q; want %q", test.o, got, test.want)
		}
		if err == nil && (test.o.Delay != max(1, test.o.Delay) || test.o.Memory == 0 || test.o.Setup.IDs == nil) {
			t.Errorf("they are not complete: %+v", test.o)
		}
	}
	o := Options{Size: 7, Setup: network.On(4, 5)}
	if err := o.check(timed.Declaration, election.Functions{}); err != nil || o.Size != 0 || o.Memory != DefaultMemory {
		t.Errorf("%+v, %v: identifiers that are given are one order", o, err)
	}
}

// The parameters can decide which options go together.
func TestOptionsAreCheckedAgainstWhatIsClaimedWithTheParameters(t *testing.T) {
	a := calling(election.Synchronous, silent)
	starts := election.Choice{Name: "starts", Words: []string{"any", "together"}}
	a.Parameters = []election.Parameter{&starts}
	a.Adjust = func(d *election.Declaration, p election.Parameters) {
		if starts.Is(p, "together") {
			d.Starts = election.Together
		}
	}
	for word, refused := range map[string]bool{"any": false, "together": true} {
		_, err := Run(a, Options{Setup: with("starts", word), Size: 2, Starts: AnyTime, SafetyOnly: true})
		if errors.Is(err, ErrOptions) != refused || !refused && err != nil {
			t.Errorf("%s: %v", word, err)
		}
	}
	a.Receive = nil
	if _, err := Run(a, Options{Size: 2}); err == nil || errors.Is(err, ErrOptions) {
		t.Errorf("an algorithm that cannot receive: %v", err)
	}
}

func TestTheDelayIsTheParameterUnlessItIsGiven(t *testing.T) {
	program, err := process.Of(&bully.Algorithm)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		parameter string
		given     int
		delay     int
		want      string
	}{
		{"1", 0, 1, ""},
		{"7", 0, 7, ""},
		{"7", 2, 2, ""},
		{"1048575", 0, 1<<20 - 1, ""},
		{"1048576", 0, 0, "cannot verify bully: parameter delay is 1048576; a whole number from 1 to 1048575 is needed"},
		{"1048576", 3, 3, ""},
	} {
		o := Options{Size: 3, Delay: test.given, Setup: with("delay", test.parameter)}
		err := o.check(program.Declaration, election.Functions{Recover: true})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != test.want || err == nil && o.Delay != test.delay {
			t.Errorf("parameter %s, %d given: %d, %q; want %d, %q", test.parameter, test.given, o.Delay, got, test.delay, test.want)
		}
	}
}
