package verify

import (
	"errors"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/verify/internal/model"
)

// choosy is an algorithm that one process runs, and that chooses when it starts.
func choosy(start func(out calls)) election.Algorithm[caller, call] {
	a := calling(election.Asynchronous, func(_ *caller, out calls) { start(out) })
	a.Decides = election.LeaderOnly
	return a
}

// That the checker cannot try every value is no violation.
func TestAStepWithTooManyChoicesEndsTheSearchWithoutAVerdict(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	until := func(suits uint32) func(calls) {
		return func(out calls) {
			for out.Choose(4) != suits {
			}
		}
	}
	for _, test := range []struct {
		start func(calls)
		want  string
	}{
		{until(0), "chooses more than 64 times; the checker tries every value of at most so many choices a step"},
		{until(3), "chooses more than 64 times; the checker tries every value of at most so many choices a step"},
		{func(out calls) {
			for {
				out.Choose(1)
			}
		}, "chooses more than 64 times; the checker tries every value of at most so many choices a step"},
		{func(out calls) { out.Choose(1<<16 + 1) }, "chooses one of 65537 values; the checker tries each of at most 65536"},
		{func(out calls) { out.Choose(4); out.Choose(1 << 16); out.Choose(2) }, "has more than 262144 outcomes; the checker tries each of at most so many a step"},
	} {
		a, o := choosy(test.start), Options{Size: 1, SafetyOnly: true, Reduce: AnyReduction}
		want := a.Name + " is beyond the limits of the checker: process 1 starts and " + test.want
		if r, err := Run(a, o); !errors.Is(err, ErrLimit) || err.Error() != want {
			t.Errorf("%+v, %v; want %s", r, err, want)
		}
	}
}

func TestEverySearchEndsAtAStepWithTooManyChoices(t *testing.T) {
	a := choosy(func(out calls) {
		for out.Choose(2) == 1 {
		}
	})
	p, o := process.Must(process.Of(&a)), Options{Size: 1, Cores: 2}
	x, err := NewOrders(p, o)
	if err != nil {
		t.Fatal(err)
	}
	for name, search := range map[string]func() error{
		"orders":        func() error { _, err := x.Explore(t.Context(), 0, 1); return err },
		"walks":         func() error { _, err := Walks(p, o, 10, 1); return err },
		"probabilities": func() error { _, err := Probabilities(p, o); return err },
		"watch":         func() error { _, _, err := Watch(p, o, func(*Move) bool { return true }); return err },
		"model":         func() error { _, err := ModelOf(p, decreasing(1)); return err },
	} {
		if err := search(); !errors.Is(err, ErrLimit) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The caller need not wait for all outcomes of a step.
func TestASearchEndsAmidAStepOfManyOutcomes(t *testing.T) {
	made := 0
	a := choosy(func(out calls) {
		made++
		out.Choose(1 << 16)
	})
	p := process.Must(process.Of(&a))
	o := Options{Size: 1, SafetyOnly: true, Progress: func(Progress) bool { return false }}
	for name, search := range map[string]func() bool{
		"search": func() bool { r, err := Program(p, o); return err == nil && !r.Complete && r.Violation == nil },
		"walks": func() bool {
			o := o
			first := true
			o.Progress = func(Progress) bool { goes := first; first = false; return goes }
			r, err := Walks(p, o, 1, 1)
			return err == nil && r.Stopped
		},
		"probabilities": func() bool {
			o := o
			first := true
			o.Progress = func(Progress) bool { goes := first; first = false; return goes }
			_, err := Probabilities(p, o)
			return errors.Is(err, ErrOptions)
		},
	} {
		if made = 0; !search() || made > 1<<15 {
			t.Errorf("%s: the step was made %d times", name, made)
		}
	}
}

// A few states may have very long queues, each of which takes long to make.
func TestASearchEndsAmidAStepOfManyMessages(t *testing.T) {
	a := calling(election.Asynchronous, func(_ *caller, out calls) {
		for number := range 500 {
			out.Send(0, ring, call{uint32(number)})
		}
	})
	p := process.Must(process.Of(&a))
	o := Options{Size: 2, SafetyOnly: true, Progress: func(Progress) bool { return false }}
	for _, o.Unordered = range []bool{false, true} {
		if r, err := Program(p, o); err != nil || r.Complete || r.States > 1 {
			t.Errorf("reordered: %t: %+v, %v", o.Unordered, r, err)
		}
	}
}

// A search that is to end while the run to a violation is repeated has found it.
func TestWhatIsFoundIsToldAlthoughTheSearchIsToEnd(t *testing.T) {
	a := choosy(func(out calls) { out.Choose(1 << 13) })
	p := process.Must(process.Of(&a))
	o := Options{Size: 1, SafetyOnly: true}
	c, err := model.NewChecker(p, o.model(), (&walks{program: p, o: &o}).setup(0))
	if err != nil {
		t.Fatal(err)
	}
	looks := 0
	c.Look = func() error { looks++; return errStopped }
	v := c.Violation(&model.Finding{Breach: model.Breach{Property: "found"}, Path: []int{0}})
	if v.Property != "found" || looks > 0 || c.Look() == nil {
		t.Errorf("%+v, after %d looks", v, looks)
	}
}
