package verify

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/internal/runners/bully"
	"ringleader.example/ringleader/internal/runners/quorumbully"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/verify/internal/model"
)

// The events of a selector, one after another, are the transitions of a search, in the same order.
func TestASelectorMakesEachEventOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	for name, test := range map[string]struct {
		program *process.Program
		o       Options
	}{
		"faults": {bully.Program.Hidden(), Options{Size: 3, Crashes: 1, Recoveries: 1, Losses: 1, Duplicates: 1, Cuts: 1, Suspicions: 1, Unordered: true, Starts: AnyTime}},
		"lazy":   {quorumbully.Program.Hidden(), everyFault()},
		"none":   {process.Must(process.Of(&lcr.Algorithm)), Options{Size: 4, Starts: AnyTime}},
	} {
		if err := test.o.check(test.program.Declaration, test.program.Functions); err != nil {
			t.Fatal(err)
		}
		c, err := model.NewChecker(test.program, test.o.model(), test.o.Setup)
		if err != nil {
			t.Fatal(err)
		}
		source := random.New(1, 1)
		for range 40 {
			conf := c.Beginnings()[0]
			for range 60 {
				next := sameEvents(t, name, c, conf)
				if len(next) == 0 {
					break
				}
				conf = next[source.Below(uint64(len(next)))]
			}
		}
	}
}

// everyFault returns options for an algorithm with leases, with all kinds of fault.
func everyFault() Options {
	return Options{
		Size: 3, Lazy: true, ClockError: faults.Chance{Times: 1, Of: 10}, Crashes: 1, Recoveries: 1, Losses: 1, Duplicates: 1,
		Unordered: true, Cuts: 1, Suspicions: 1, Commands: 1,
	}
}

// sameEvents compares the events of a selector with the transitions of a search, and returns the configurations to which
// they lead.
func sameEvents(t *testing.T, name string, c *model.Checker, conf model.Configuration) (next []model.Configuration) {
	t.Helper()
	var kinds [2][]model.Configuration // what a search makes, by kind
	kind := model.Ordinary
	c.Transitions(conf, func(tr *model.Transition, to model.Configuration) {
		if !tr.Amid { // it is an outcome of the event before, which crashes amid
			if kind = model.Ordinary; tr.Class == model.ByFault {
				kind = model.Faulty
			}
		}
		kinds[kind] = append(kinds[kind], slices.Clone(to))
		if tr.Breach == nil {
			next = append(next, slices.Clone(to))
		}
	})
	var p model.EventSelector
	p.Visit(c, conf, model.Counting, func(*model.Transition, model.Configuration) { t.Errorf("%s: an event was made while counting", name) })
	counted := p.Met
	for kind, want := range kinds {
		var got []model.Configuration
		for index := range counted[kind] {
			p.Kind, p.Index = kind, index
			p.Visit(c, conf, model.Choosing, func(_ *model.Transition, to model.Configuration) { got = append(got, slices.Clone(to)) })
		}
		if !slices.EqualFunc(got, want, func(a, b model.Configuration) bool { return slices.Equal(a, b) }) {
			t.Fatalf("%s: the events of kind %d lead to %v; the transitions to %v", name, kind, got, want)
		}
	}
	return next
}

func TestAWalkWithoutAnEndEndsAfterACalm(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	const calm = 64
	program := quorumbully.Program.Hidden()
	r, err := Walks(program, everyFault(), 50, 1)
	if err != nil || r.Violation != nil || r.Depth >= 1000 || r.Depth < calm {
		t.Errorf("%+v, %v", r, err)
	}
	o := everyFault()
	o.Crashes, o.Recoveries, o.Losses, o.Duplicates, o.Cuts, o.Suspicions, o.Commands = 0, 0, 0, 0, 0, 0, 0
	if r, err := Walks(program, o, 5, 1); err != nil || r.Depth != calm || r.States != 5*calm {
		t.Errorf("without faults: %+v, %v", r, err)
	}
}

// An election that ends by itself is not cut short.
func TestAWalkOfAnElectionLastsToItsEnd(t *testing.T) {
	o := Options{Size: 12, SafetyOnly: false}
	o.Setup.IDs = election.List{12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}
	r, err := Walks(process.Must(process.Of(&lcr.Algorithm)), o, 3, 1)
	if want := 12 + 12*13/2 + 12; err != nil || r.Depth != want || r.States != 3*want { // starts, elections, announcements
		t.Errorf("%+v, %v", r, err)
	}
}

// Of an election that goes round for ever a walk is as long as a walk may be. If only safety is judged, that is so while faults may come.
func TestAWalkWithoutAnEndEndsAtTheLongestWalk(t *testing.T) {
	a := forwarding(election.Ring, 1, 0)
	a.Receive = func(_ *made, _ election.Port, _ election.Kind, m token, out *election.Out[token]) { out.Send(0, 0, m) }
	a.Command = func(*made, election.Command, *election.Out[token]) {}
	for _, o := range []Options{{Size: 3}, {Size: 3, SafetyOnly: true, Commands: 1000}} {
		if r, err := Walks(process.Must(process.Of(&a)), o, 3, 1); err != nil || r.Violation != nil || r.Depth != 1000 || r.States != 3000 {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// Each of these breaks in some of the walks.
func TestWalksTakeEveryBeginningOrderAndOutcome(t *testing.T) {
	for name, test := range map[string]struct {
		o      Options
		breaks func(p *made, before election.ID, chosen uint32) bool
	}{
		"the first process initiates": {Options{Setup: network.On(1, 2, 3), Starts: EverySet}, func(p *made, _ election.ID, _ uint32) bool { return p.ID == 1 }},
		"the last process initiates":  {Options{Setup: network.On(1, 2, 3), Starts: EverySet}, func(p *made, _ election.ID, _ uint32) bool { return p.ID == 3 }},
		"2 is after 1":                {Options{Size: 3}, func(p *made, before election.ID, _ uint32) bool { return p.ID == 2 && before == 1 }},
		"3 is after 1":                {Options{Size: 3}, func(p *made, before election.ID, _ uint32) bool { return p.ID == 3 && before == 1 }},
		"0 is chosen":                 {Options{Setup: network.On(1)}, func(_ *made, _ election.ID, chosen uint32) bool { return chosen == 0 }},
		"1 is chosen":                 {Options{Setup: network.On(1)}, func(_ *made, _ election.ID, chosen uint32) bool { return chosen == 1 }},
		"2 is chosen":                 {Options{Setup: network.On(1)}, func(_ *made, _ election.ID, chosen uint32) bool { return chosen == 2 }},
	} {
		a := forwarding(election.Ring, 0, 0)
		a.Start = func(p *made, out *election.Out[token]) {
			if out.Send(0, 0, token{Type: uint8(p.ID)}); test.breaks(p, 0, out.Choose(3)) {
				panic(name)
			}
		}
		a.Receive = func(p *made, _ election.Port, _ election.Kind, m token, _ *election.Out[token]) {
			if test.breaks(p, election.ID(m.Type), 3) {
				panic(name)
			}
		}
		test.o.SafetyOnly = true
		r, err := Walks(process.Must(process.Of(&a)), test.o, 50, 1)
		if err != nil || r.Violation == nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}
