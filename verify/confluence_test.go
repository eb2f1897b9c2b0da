package verify

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/runners/dolevklawerodeh"
	"ringleader.example/ringleader/internal/runners/franklin"
	"ringleader.example/ringleader/internal/runners/hirschbergsinclair"
	"ringleader.example/ringleader/internal/runners/itairodeh"
	"ringleader.example/ringleader/internal/runners/lelann"
	"ringleader.example/ringleader/internal/runners/peterson"
	"ringleader.example/ringleader/internal/runners/ringbully"
	"ringleader.example/ringleader/network"
)

// mutant returns LCR with another Receive.
func mutant(receive func(*lcr.Process, election.Kind, lcr.Message, *election.Out[lcr.Message])) *process.Program {
	a := lcr.Algorithm
	a.Receive = func(p *lcr.Process, _ election.Port, k election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
		receive(p, k, m, out)
	}
	return process.Must(process.Of(&a))
}

// subject is an algorithm, and whether it is wrong.
type subject struct {
	program *process.Program
	wrong   bool
}

// subjects are algorithms for which confluence holds.
func subjects() map[string]subject {
	original := func(p *lcr.Process, k election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
		lcr.Algorithm.Receive(p, 0, k, m, out)
	}
	low := lcr.Algorithm
	low.Bounds = []election.Bound{{Of: "election", Case: election.Worst, Formula: "2n", Value: func(n uint64) uint64 { return 2 * n }}}
	return map[string]subject{
		"lcr":               {process.Must(process.Of(&lcr.Algorithm)), false},
		"lelann":            {lelann.Program.Hidden(), false},
		"dolev-klawe-rodeh": {dolevklawerodeh.Program.Hidden(), false},
		"peterson":          {peterson.Program.Hidden(), false},
		"too low a bound":   {process.Must(process.Of(&low)), true},
		"two leaders": {mutant(func(p *lcr.Process, k election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
			if k == lcr.Election && m.ID+1 == p.ID && p.ID == 4 {
				out.Lead(0)
				return
			}
			original(p, k, m, out)
		}), true},
		"disagreement": {mutant(func(p *lcr.Process, k election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
			if k == lcr.Leader && p.ID == 1 {
				p.Decided = true
				out.Follow(2, 0)
				out.Send(lcr.Right, lcr.Leader, m)
				return
			}
			original(p, k, m, out)
		}), true},
		"undecided": {mutant(func(p *lcr.Process, k election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
			if k != lcr.Leader || p.ID != 2 {
				original(p, k, m, out)
			}
		}), true},
		"decided twice": {mutant(func(p *lcr.Process, k election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
			if original(p, k, m, out); k == lcr.Leader {
				out.Follow(m.ID, 0)
			}
		}), true},
		"no leader": {mutant(func(p *lcr.Process, k election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
			if k == lcr.Leader && p.ID == m.ID {
				out.Follow(m.ID, 0)
				return
			}
			original(p, k, m, out)
		}), true},
		"panic": {mutant(func(p *lcr.Process, k election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
			if k == lcr.Leader && p.ID == 3 {
				panic("no")
			}
			original(p, k, m, out)
		}), true},
		"round for ever": {mutant(func(p *lcr.Process, k election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
			if original(p, k, m, out); k == lcr.Leader && p.ID == m.ID {
				out.Send(lcr.Right, lcr.Election, lcr.Message{ID: 9})
			}
		}), true},
	}
}

// One schedule of each order, and the search where that is not all right, find what the search alone finds.
func TestConfluenceDecidesWhatTheWholeSearchDecides(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	for name, test := range subjects() {
		for n := 1; n <= 4; n++ {
			results := map[Reduction]string{}
			for _, reduce := range []Reduction{NoReduction, Confluence, AnyReduction} {
				r, err := Program(test.program, Options{Size: n, Reduce: reduce, Cores: 2})
				if err != nil {
					t.Fatal(err)
				}
				if n == 4 && (r.Violation != nil) != test.wrong || (reduce != NoReduction && r.Violation == nil) != (r.Confluent == r.Orders) {
					t.Errorf("%s, n = %d, %s: %d of %d orders by one schedule, violation %v", name, n, reduce, r.Confluent, r.Orders, r.Violation)
				}
				text, err := json.Marshal([]any{r.Orders, r.Complete, r.MaxMessages, r.MinMessages, r.Violation})
				if err != nil {
					t.Fatal(err)
				}
				results[reduce] = string(text)
			}
			if results[Confluence] != results[NoReduction] || results[AnyReduction] != results[NoReduction] {
				t.Errorf("%s, n = %d: %s; the search finds %s", name, n, results[Confluence], results[NoReduction])
			}
		}
	}
}

func TestReductionsAreRefusedWhereAPremiseDoesNotHold(t *testing.T) {
	ring := process.Must(process.Of(&lcr.Algorithm))
	eligible := lcr.Algorithm
	eligible.Eligible = func(*lcr.Process) bool { return true }
	service := calling(election.Asynchronous, once)
	service.OneWay, service.Task, service.Command = true, election.Service, func(*caller, election.Command, calls) {}
	timed, suspicious := calling(election.Timed, once), lcr.Algorithm
	clocked := lcr.Algorithm // without a timer, but it could read the clock
	clocked.Timing = election.Synchronous
	numbered := lcr.Algorithm
	numbered.Incarnation, numbered.Command = func(*lcr.Process) uint64 { return 1 }, func(*lcr.Process, election.Command, *election.Out[lcr.Message]) {}
	suspicious.Suspect = func(*lcr.Process, election.Port, *election.Out[lcr.Message]) {}
	const (
		confluence = "confluence decides nothing here: "
		partial    = "partial order leaves out nothing here: "
		symmetry   = "symmetry leaves out nothing here: "
	)
	for _, test := range []struct {
		program *process.Program
		o       Options
		want    string
	}{
		{process.Must(process.Of(&timed)), Options{Reduce: Confluence}, confluence + "time passes"},
		{process.Must(process.Of(&clocked)), Options{Reduce: Confluence}, confluence + "time passes"},
		{ring, Options{Reduce: Confluence, Unordered: true}, confluence + "links are not FIFO"},
		{ring, Options{Reduce: Confluence, Starts: AnyTime}, confluence + "a process may start or not"},
		{ring, Options{Reduce: Confluence, Crashes: 1}, confluence + "there are faults or commands"},
		{process.Must(process.Of(&service)), Options{Reduce: Confluence}, confluence + "decisions are not for ever"},
		{process.Must(process.Of(&eligible)), Options{Reduce: Confluence}, confluence + "the right leader depends on states"},
		{process.Must(process.Of(&timed)), Options{Reduce: PartialOrder}, partial + "time passes"},
		{ring, Options{Reduce: PartialOrder, Unordered: true}, partial + "links are not FIFO"},
		{process.Must(process.Of(&service)), Options{Reduce: PartialOrder}, partial + "decisions are not for ever"},
		{process.Must(process.Of(&eligible)), Options{Reduce: PartialOrder}, partial + "the right leader depends on states"},
		{ring, Options{Reduce: PartialOrder, Cuts: 1}, partial + "processes are suspected by mistake, or cut off"},
		{process.Must(process.Of(&suspicious)), Options{Reduce: PartialOrder, Suspicions: 1}, partial + "processes are suspected by mistake, or cut off"},
		{process.Must(process.Of(&numbered)), Options{Reduce: PartialOrder, Crashes: 1, Wardens: true}, partial + "proofs of death come at any time"},
		{process.Must(process.Of(&numbered)), Options{Reduce: Symmetry, Crashes: 1, Wardens: true}, symmetry + "proofs of death name processes"},
		{process.Must(process.Of(&timed)), Options{Reduce: Symmetry}, symmetry + "time passes"},
		{process.Must(process.Of(&service)), Options{Reduce: Symmetry}, symmetry + "decisions are not for ever"},
		{ring, Options{Reduce: Symmetry, Cuts: 1}, symmetry + "cuts are numbered"},
		{ring, Options{Reduce: Symmetry}, symmetry + "no two processes and no two orders are alike but for rotations of a ring, of which one is explored in any case"},
	} {
		o := test.o
		o.Setup = network.On(1, 2, 3)
		_, err := Program(test.program, o)
		if want := fmt.Sprintf("cannot verify %s: %s", test.program.Name, test.want); !errors.Is(err, ErrOptions) || err.Error() != want {
			t.Errorf("%v; want %s", err, want)
		}
		reduced := func(r *Report) bool {
			return map[Reduction]bool{Confluence: r.Confluent > 0, PartialOrder: r.Partial > 0, Symmetry: r.Symmetry}[o.Reduce]
		}
		any := o
		any.Reduce, any.MaxStates = AnyReduction, 1000
		if r, err := Program(test.program, any); err != nil || reduced(r) {
			t.Errorf("%s: %+v, %v", test.want, r, err)
		}
	}
}

// Where processes have several incoming links, where only some initiate, and where starts come at any time.
func TestConfluenceDecidesNetworksWithSeveralIncomingLinks(t *testing.T) {
	for _, test := range []struct {
		program   *process.Program
		o         Options
		confluent int
	}{
		{franklin.Program.Hidden(), Options{Size: 5}, 24},
		{ringbully.Program.Hidden(), Options{Size: 5}, 24},
		{hirschbergsinclair.Program.Hidden(), Options{Size: 5}, 24},
		{hirschbergsinclair.Program.Hidden(), Options{Size: 4, Starts: Each}, 6},
		{hirschbergsinclair.Program.Hidden(), Options{Size: 4, Starts: AnyTime}, 6},
		{lelann.Program.Hidden(), Options{Size: 4, Starts: Each}, 6},
		{process.Must(process.Of(&lcr.Algorithm)), Options{Setup: network.On(3, 1, 2), Initiators: []int{1}}, 1},
		{process.Must(process.Of(&saturation)), Options{Setup: network.Setup{IDs: election.List{1, 2, 3}, Edges: [][2]int{{0, 1}, {1, 2}}}}, 0}, // which one decides first depends on the schedule
	} {
		test.o.Reduce = Confluence
		r, err := Program(test.program, test.o)
		if err != nil || r.Violation != nil || r.Confluent != test.confluent {
			t.Errorf("%s: %+v, %v", test.program.Name, r, err)
		}
	}
}

// Premises that only a run shows: where a step chooses, or asks to stop work, the search decides.
func TestARunThatChoosesIsLeftToTheSearch(t *testing.T) {
	r, err := Program(itairodeh.Program, Options{Size: 2, Reduce: AnyReduction, MaxStates: 2000})
	if err != nil || r.Confluent > 0 || r.States < 100 {
		t.Errorf("%+v, %v", r, err)
	}
	chooses, stops := forwarding(election.UnknownNeighbours, 1, 1), forwarding(election.UnknownNeighbours, 1, 1)
	chooses.Receive = func(_ *made, _ election.Port, _ election.Kind, _ token, out *election.Out[token]) {
		if out.Choose(2) == 1 {
			panic("no")
		}
	}
	stops.Receive = func(_ *made, _ election.Port, _ election.Kind, _ token, out *election.Out[token]) { out.StopWork() }
	stops.Command = func(*made, election.Command, *election.Out[token]) { panic("no") }
	for _, a := range []election.Algorithm[made, token]{chooses, stops} {
		if r, err := Run(a, Options{Size: 3, Reduce: Confluence}); err != nil || r.Confluent > 0 || r.Violation == nil || r.Violation.Property != Panicked {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// The schedule that is made of a ring begins with all processes.
func TestARingOnWhichOneInitiatesHasItsOwnCounts(t *testing.T) {
	o := Options{Setup: network.On(3, 2, 1), Initiators: []int{0}}
	whole, err := Run(lcr.Algorithm, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Reduce = AnyReduction
	if r, err := Run(lcr.Algorithm, o); err != nil || essence(t, r) != essence(t, whole) {
		t.Errorf("%+v, %v; the whole search finds %s", r, err, essence(t, whole))
	}
}
