package simulate_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/property"
	"ringleader.example/ringleader/internal/runners/bully"
	"ringleader.example/ringleader/internal/runners/hirschbergsinclair"
	"ringleader.example/ringleader/internal/runners/itairodeh"
	"ringleader.example/ringleader/internal/runners/logicalring"
	"ringleader.example/ringleader/internal/runners/stopandgo"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify"
)

func session(t property.TB, p program.Program, o simulate.Options) *simulate.Session {
	t.Helper()
	s, err := simulate.New(p).Session(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// lines returns a record as its file.
func lines(t property.TB, r *trace.Record) string {
	t.Helper()
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := r.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// look returns the visible part of a session: the number of steps, the last step, states and choices.
func look(s *simulate.Session, n int) string {
	steps := s.Record().Steps
	seen := fmt.Sprintln(len(steps), steps[max(0, len(steps)-1):], s.Choices(), s.Faults(), s.Now())
	for p := range n {
		seen += s.State(p) + "; "
	}
	return seen
}

// walk makes random choices until quiescence, some of them faults, and goes back from time to time.
func walk(t *property.T, s *simulate.Session, faults, most int) {
	var before []string // each event
	n := s.Record().N
	for choices := s.Choices(); len(choices) > 0 && len(before) < most; choices = s.Choices() {
		if bad := s.Faults(); faults > 0 && len(bad) > 0 && property.IntRange(0, 9).Draw(t, "fault") == 0 {
			choices = bad
			faults--
		}
		before = append(before, look(s, n))
		if err := s.Step(property.SampledFrom(choices).Draw(t, "choice")); err != nil {
			t.Fatal(err)
		}
		if property.IntRange(0, 9).Draw(t, "back") == 0 {
			for range property.IntRange(1, min(9, len(before))).Draw(t, "events") {
				last := len(before) - 1
				if !s.Back() || look(s, n) != before[last] {
					t.Fatalf("after going back one sees\n%s, and before\n%s", look(s, n), before[last])
				}
				before = before[:last]
			}
		}
	}
}

// again makes the same choices in a fresh session, which must end in the same state.
func again(t *property.T, s, fresh *simulate.Session) {
	for _, c := range s.Made() {
		if err := fresh.Step(c); err != nil {
			t.Fatal(err)
		}
	}
	one, other := s.Result(), fresh.Result()
	if lines(t, one.Record) != lines(t, other.Record) {
		t.Fatalf("the same choices made\n%s\nand, with ways back between them,\n%s", lines(t, other.Record), lines(t, one.Record))
	}
	one.Prepared, other.Prepared, one.Record, other.Record = nil, nil, nil, nil
	if !reflect.DeepEqual(one, other) {
		t.Fatalf("%+v and, with ways back between them, %+v", other, one)
	}
}

var long = flag.Bool("long", false, "draw more sessions, and deliver 100 million messages")

// some tests a property with fewer inputs than property.Check does by default, since each is a whole session that goes back and forth.
func some(t *testing.T, inputs int, holds func(*property.T)) {
	t.Helper()
	if *long {
		property.Check(t, holds)
		return
	}
	property.CheckSome(t, inputs, holds)
}

func TestAnyChoicesElectAndGoingBackLeavesNoTrace(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	check := func(name string, n func(*property.T) simulate.Options, begin func(*property.T, simulate.Options) *simulate.Session) {
		t.Run(name, func(t *testing.T) {
			some(t, 40, func(t *property.T) {
				o := n(t)
				s := begin(t, o)
				walk(t, s, 0, 200)
				if r := s.Result(); !r.Complete || !r.Right || len(r.Faults) > 0 || r.Disturbed {
					t.Fatalf("%+v", r)
				}
				again(t, s, begin(t, o))
			})
		})
	}
	options := func(t *property.T) simulate.Options {
		ids := property.Distinct(property.Uint64Range(1, 9), 1, 4).Draw(t, "ids")
		return simulate.Options{Setup: network.On(ids...), AnyTime: property.Bool().Draw(t, "any time"), Seed: 5}
	}
	synchronous := func(t *property.T) simulate.Options {
		o := options(t)
		o.AnyTime, o.Timing = false, election.Synchronous
		return o
	}
	check("lcr", options, func(t *property.T, o simulate.Options) *simulate.Session { return session(t, small(lcr.Algorithm), o) })
	check("hirschberg-sinclair", options, func(t *property.T, o simulate.Options) *simulate.Session {
		return session(t, hirschbergsinclair.Program, o)
	})
	check("itai-rodeh", options, func(t *property.T, o simulate.Options) *simulate.Session { return session(t, itairodeh.Program, o) })
	check("bully", options, func(t *property.T, o simulate.Options) *simulate.Session { return session(t, bully.Program, o) })
	check("stop-and-go", synchronous, func(t *property.T, o simulate.Options) *simulate.Session {
		o.AnyTime = false
		return session(t, stopandgo.P1, o)
	})
}

func TestFaultsAreChoicesToo(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	some(t, 30, func(t *property.T) {
		o := simulate.Options{Setup: network.On(1, 2, 3), AnyTime: true}
		o.Faults.Unordered = property.Bool().Draw(t, "unordered")
		s := session(t, bully.Program, o)
		walk(t, s, 6, 200)
		again(t, s, session(t, bully.Program, o))
	})
	some(t, 30, func(t *property.T) {
		o := simulate.Options{Setup: network.On(3, 1, 2)}
		s := session(t, logicalring.Program, o)
		walk(t, s, 3, 200)
		again(t, s, session(t, logicalring.Program, o))
	})
}

func TestASessionCanFollowAnySimulatedRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	for seed := range uint64(20) {
		o := simulate.Options{Setup: network.On(4, 2, 5, 1, 3), Schedule: simulate.Random, AnyTime: true, Seed: seed, Record: true}
		r := run(t, hirschbergsinclair.Program, o)
		if err := session(t, hirschbergsinclair.Program, o).Follow(r.Record); err != nil {
			t.Fatal(err)
		}
	}
}

func TestASessionCanFollowACounterexample(t *testing.T) {
	for _, parameters := range []map[string]string{{"answer-timeout": "2"}, {"bullying": "no"}} {
		i := network.Setup{IDs: election.List{1, 2, 3}, Parameters: parameters}
		o := verify.Options{Setup: i, Starts: verify.EverySet}
		if parameters["bullying"] == "no" {
			o.Starts, o.Crashes, o.Recoveries, o.Delay = verify.AnyTime, 1, 1, 2
		}
		report, err := verify.Program(bully.Program, o)
		if err != nil || report.Violation == nil {
			t.Fatalf("%+v, %v", report, err)
		}
		s := session(t, bully.Program, simulate.Options{Setup: i, AnyTime: true, Delay: uint64(max(1, o.Delay))})
		if err := s.Follow(&report.Violation.Record); err != nil {
			t.Fatal(err)
		}
		wrong := report.Violation.Record
		wrong.Steps = slices.Clone(wrong.Steps)
		wrong.Steps[len(wrong.Steps)-1].State = "another one"
		s = session(t, bully.Program, simulate.Options{Setup: i, AnyTime: true, Delay: uint64(max(1, o.Delay))})
		if err := s.Follow(&wrong); !errors.Is(err, simulate.ErrFollow) {
			t.Errorf("a record with another state: %v", err)
		}
	}
}

func TestAnEventThatCannotComeIsRefusedAndChangesNothing(t *testing.T) {
	s, err := simulate.NewSession(lcr.Algorithm, simulate.Options{Setup: network.On(2, 1)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []simulate.Choice{
		{What: simulate.Deliver},
		{What: simulate.Pass, Time: election.Units(1)},
		{What: simulate.Begin, Process: 7},
		{What: simulate.Begin, Process: -1},
		{What: simulate.Revive},
		{What: simulate.Expire},
		{What: simulate.Distrust},
	} {
		if err := s.Step(c); !errors.Is(err, simulate.ErrChoice) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if s.Back() || len(s.Made()) > 0 || len(s.Record().Steps) > 0 {
		t.Error("what was refused happened")
	}
	broken := lcr.Algorithm
	broken.Receive = func(_ *lcr.Process, _ election.Port, _ election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
		out.Send(1, 0, m)
	}
	s = session(t, small(broken), simulate.Options{Setup: network.On(2, 1)})
	for range 2 {
		if err := s.Step(s.Choices()[0]); err != nil {
			t.Fatal(err)
		}
	}
	before := lines(t, s.Record())
	if err := s.Step(s.Choices()[0]); !errors.Is(err, simulate.ErrBroken) {
		t.Errorf("a step that sends on a port that it declares not to use: %v", err)
	}
	if lines(t, s.Record()) != before || len(s.Made()) != 2 || len(s.Choices()) != 2 {
		t.Errorf("a step that failed left something: %v", s.Choices())
	}
}
