package simulate_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

type (
	lcrOut  = *election.Out[lcr.Message]
	receive = func(*lcr.Process, election.Port, election.Kind, lcr.Message, lcrOut)
)

// receiving returns LCR with another function to receive.
func receiving(f receive) election.Algorithm[lcr.Process, lcr.Message] {
	a := lcr.Algorithm
	a.Receive = f
	return a
}

// violation returns how a run breaks the contract, and its story.
func violation(t *testing.T, p program.Program, o simulate.Options) (v *simulate.Violation, story string) {
	t.Helper()
	_, err := simulate.New(p).Run(o)
	if !errors.As(err, &v) || !errors.Is(err, simulate.ErrBroken) {
		t.Fatalf("%s: %v; want a violation", p.Declared().Name, err)
	}
	if v.Record == nil {
		return v, ""
	}
	var b bytes.Buffer
	if err := v.Record.Story(&b); err != nil {
		t.Error(err)
	}
	return v, b.String()
}

func TestAStepThatBreaksTheContractIsTheLastOfItsStory(t *testing.T) {
	type process = lcr.Process
	calls := 0
	for how, f := range map[string]receive{
		"panics: line line":                                       func(*process, election.Port, election.Kind, lcr.Message, lcrOut) { panic("line\nline") },
		"sends on port 2; its ports are 0 to 1":                   func(_ *process, _ election.Port, _ election.Kind, m lcr.Message, out lcrOut) { out.Send(2, 0, m) },
		"sends on port 1, and is declared to send on port 0 only": func(_ *process, _ election.Port, _ election.Kind, m lcr.Message, out lcrOut) { out.Send(1, 0, m) },
		"sends a message of kind 16; there are at most 16 kinds":  func(_ *process, _ election.Port, _ election.Kind, m lcr.Message, out lcrOut) { out.Send(0, 16, m) },
		"sends a message of kind 9; 2 are declared":               func(_ *process, _ election.Port, _ election.Kind, m lcr.Message, out lcrOut) { out.Send(0, 9, m) },
		"uses timer 3; 0 are declared":                            func(_ *process, _ election.Port, _ election.Kind, _ lcr.Message, out lcrOut) { out.Stop(3) },
		"chooses from 0 values; Choose needs at least one":        func(_ *process, _ election.Port, _ election.Kind, _ lcr.Message, out lcrOut) { out.Choose(0) },
		"changes a field that is declared constant":               func(p *process, _ election.Port, _ election.Kind, _ lcr.Message, _ lcrOut) { p.Textbook = true },
		"does something else when the same step is made again; a step depends on its arguments and Choose only": func(_ *process, _ election.Port, _ election.Kind, m lcr.Message, out lcrOut) {
			if calls++; calls%2 == 0 {
				out.Send(0, 0, m)
			}
		},
	} {
		v, story := violation(t, small(receiving(f)), simulate.Options{Setup: network.On(1, 2), Check: true})
		want := "1  t=0  1  initiates                      sends ⟨election 1⟩ to 2\n" +
			"2  t=0  2  initiates                      sends ⟨election 2⟩ to 1\n" +
			"3  t=1  2  receives ⟨election 1⟩ from 1   BREAKS THE CONTRACT: " + how + "\n"
		if story != want || v.Property != violated(how) || v.Detail != "process 2 receives ⟨election 1⟩ from process 1 and "+how {
			t.Errorf("%s: %s\n%s", v.Property, v.Detail, story)
		}
		report, err := verify.Program(small(receiving(f)), verify.Options{Setup: network.On(1, 2)})
		if err != nil || report.Violation == nil || report.Violation.Property != v.Property {
			t.Errorf("%s, and the checker: %+v, %v", how, report, err)
		}
	}
}

// violated returns the property that a step violates.
func violated(how string) string {
	if strings.HasPrefix(how, "panics") {
		return process.Panicked
	}
	return process.BrokeContract
}

// list is a state and a message that hold a list.
type list struct{ IDs []election.ID }

func TestAStepThatWritesIntoAListOfOthersIsAViolation(t *testing.T) {
	a := election.Algorithm[list, list]{
		Declaration: election.Declaration{Name: "list", Topology: election.Ring, Kinds: []election.MessageKind{{Name: "list"}}},
		New:         func(l election.Local) list { return list{[]election.ID{l.ID}} },
		Start:       func(s *list, out *election.Out[list]) { out.Send(0, 0, *s) },
		Receive: func(_ *list, _ election.Port, _ election.Kind, m list, _ *election.Out[list]) {
			m.IDs[0]++
		},
	}
	for _, o := range []simulate.Options{{Check: true}, {Record: true}} {
		o.Setup = network.On(1, 2)
		if v, _ := violation(t, small(a), o); v.Detail != "process 2 receives ⟨list [1]⟩ from process 1 and "+process.ErrShared.Error() {
			t.Error(v.Detail)
		}
	}
}

func TestEveryEventOfAViolationIsReported(t *testing.T) {
	type out = *election.Out[bully.Message]
	for want, change := range map[string]func(*election.Algorithm[bully.Process, bully.Message]){
		"process 2 hears its timer answer timeout and panics": func(a *election.Algorithm[bully.Process, bully.Message]) {
			a.Timeout = func(*bully.Process, election.Timer, out) { panic("so") }
		},
		"process 3 recovers and panics": func(a *election.Algorithm[bully.Process, bully.Message]) {
			a.Recover = func(*bully.Process, out) { panic("so") }
		},
		"suspects process 3 and panics": func(a *election.Algorithm[bully.Process, bully.Message]) {
			a.Suspect = func(*bully.Process, election.Port, out) { panic("so") }
		},
	} {
		a := bully.Algorithm
		a.Name = want
		change(&a)
		v, story := violation(t, small(a), simulate.Options{Setup: network.On(1, 2, 3), Initiators: []int{0}, Faults: faults.Script{
			Crashes:    []faults.Crash{{Process: 2, At: election.Units(0)}},
			Recoveries: []faults.Recovery{{Process: 2, At: election.Units(19)}},
		}})
		if !strings.Contains(v.Detail, want) || !strings.HasSuffix(story, "BREAKS THE CONTRACT: panics: so\n") {
			t.Errorf("%s\n%s", v.Detail, story)
		}
	}
}

func TestABirthThatPanicsIsAViolation(t *testing.T) {
	a := lcr.Algorithm
	a.New = func(l election.Local) lcr.Process { panic("no") }
	if v, story := violation(t, small(a), simulate.Options{Setup: network.On(7, 8)}); v.Detail != "New of process 7 panics: no" || v.Property != process.Panicked || story != "" {
		t.Errorf("%+v", v)
	}
}

// Engines for large networks do not check steps. A checking engine reports the panic of a large run.
func TestAViolationInALargeRunIsFound(t *testing.T) {
	const n, at = 1 << 13, 100
	a := receiving(func(p *lcr.Process, port election.Port, kind election.Kind, m lcr.Message, out lcrOut) {
		if p.ID == at {
			panic("here")
		}
		(*lcr.Process).Receive(p, port, kind, m, out)
	})
	ids, err := order.Parse("random", n, 1)
	if err != nil {
		t.Fatal(err)
	}
	schedules := []simulate.Schedule{simulate.FIFO, simulate.Sweep, simulate.Random, simulate.Tile}
	if testing.Short() {
		schedules = schedules[:1]
	}
	for _, schedule := range schedules {
		v, story := violation(t, whole(a), simulate.Options{Setup: network.Setup{IDs: ids}, Schedule: schedule, Cores: 2})
		if !strings.HasPrefix(v.Detail, "process 100 receives ⟨election ") || !strings.HasSuffix(v.Detail, " and panics: here") || !strings.HasSuffix(story, "panics: here\n") {
			t.Errorf("%s: %s", schedule, v.Detail)
		}
	}
}

func TestAPanicThatDoesNotComeAgainIsReportedAsSuch(t *testing.T) {
	first := true
	a := receiving(func(*lcr.Process, election.Port, election.Kind, lcr.Message, lcrOut) {
		if first {
			first = false
			panic("once")
		}
	})
	v, _ := violation(t, small(a), simulate.Options{Setup: network.On(1, 2)})
	if want := "a process panics: once; run again, it did not: steps depend on more than their arguments"; v.Detail != want || v.Record != nil {
		t.Errorf("%+v", v)
	}
}

func TestAPanicOutsideTheAlgorithmGoesOn(t *testing.T) {
	defer func() {
		if fault := recover(); fault != "mine" {
			t.Errorf("%v", fault)
		}
	}()
	setup := network.Setup{IDs: broken{}}
	_, err := simulate.Run(lcr.Algorithm, simulate.Options{Setup: setup})
	t.Error(err)
}

// broken is a list of identifiers that cannot be read.
type broken struct{ election.List }

func (broken) Len() int { panic("mine") }

func TestARunWithoutEndStopsAtTheDefaultLimit(t *testing.T) {
	forwarding := receiving(func(_ *lcr.Process, _ election.Port, _ election.Kind, m lcr.Message, out lcrOut) { out.Send(0, 0, m) })
	ids, err := order.Parse("random", 4096, 1)
	if err != nil {
		t.Fatal(err)
	}
	const few = 2_000_000
	limits := map[uint64]simulate.Options{few: {Setup: network.Setup{IDs: ids}, Schedule: simulate.Sweep, Cores: 1, Limit: few}}
	if *long { // 100 million messages
		limits[simulate.DefaultLimit(2)] = simulate.Options{Setup: network.On(1, 2)}
	}
	for limit, o := range limits {
		r, err := simulate.Run(forwarding, o)
		if err != nil || r.Complete || r.Deliveries < limit-2 || r.Deliveries > limit+1_000_000 {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

func TestTheDefaultLimitGrowsWithTheNetwork(t *testing.T) {
	for n, want := range map[int]uint64{1: 100_000_000, 292: 100_000_000, 293: 100_615_028, 1 << 20: 1 << 62, 1 << 27: 1 << 62} {
		if got := simulate.DefaultLimit(n); got != want {
			t.Errorf("%d processes: %d; want %d", n, got, want)
		}
	}
}
