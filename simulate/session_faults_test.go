package simulate_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/property"
	"ringleader.example/ringleader/internal/runners/itairodeh"
	"ringleader.example/ringleader/internal/runners/quorumbully"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify"
)

func TestCutsCommandsAndProofsOfDeathAreChoices(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	some(t, 30, func(t *property.T) {
		o := simulate.Options{Setup: network.On(1, 2, 3), AnyTime: true, Delay: 2, Wardens: property.Bool().Draw(t, "wardens")}
		s := session(t, quorumbully.Program, o)
		walk(t, s, 12, 40)
		again(t, s, session(t, quorumbully.Program, o))
	})
}

func TestASessionCanFollowACounterexampleWithCutsAndCopies(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	for _, o := range []verify.Options{
		{Cuts: 1},
		{Cuts: 1, Delay: 2, Duplicates: 1, Starts: verify.AnyTime},
		{Cuts: 1, Suspicions: 1},
	} {
		o.Setup = network.On(1, 2, 3)
		r, err := verify.Program(small(bully.Algorithm), o)
		if err != nil || r.Violation == nil {
			t.Fatalf("%+v, %v", r, err)
		}
		if !slices.ContainsFunc(r.Violation.Record.Steps, func(s trace.Step) bool { return s.Event == trace.Fault || s.Event == trace.Suspect }) {
			t.Errorf("%+v: a run without a cut", o)
		}
		s := session(t, small(bully.Algorithm), simulate.Options{Setup: o.Setup, AnyTime: true, Delay: uint64(max(1, o.Delay))})
		if err := s.Follow(&r.Violation.Record); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// A process that believes what it hears first, and not what comes behind, is wrong only if a crash falls between two messages.
func TestASessionCanFollowACrashAmidAStep(t *testing.T) {
	a := bully.Algorithm
	a.Timeout = func(p *bully.Process, timer election.Timer, out *election.Out[bully.Message]) {
		if a.Timers[timer] != "victory timeout" { // it does not start again when no victory comes
			bully.Algorithm.Timeout(p, timer, out)
		}
	}
	r, err := verify.Program(small(a), verify.Options{Setup: network.On(1, 2), Starts: verify.AnyTime, Crashes: 1})
	if err != nil || r.Violation == nil {
		t.Fatalf("%+v, %v", r, err)
	}
	s := session(t, small(a), simulate.Options{Setup: network.On(1, 2), AnyTime: true, Delay: 1})
	if err := s.Follow(&r.Violation.Record); err != nil {
		t.Fatal(err)
	}
	if made := s.Made(); !slices.ContainsFunc(made, func(c simulate.Choice) bool { return c.Dies > 0 }) {
		t.Errorf("no crash amid a step: %+v", made)
	}
	for s.Back() {
	}
	if err := s.Follow(&r.Violation.Record); err != nil {
		t.Errorf("after all was taken back: %v", err)
	}
}

// The values that a step chose are found among all that it could choose.
func TestASessionCanFollowARunWithOtherChoices(t *testing.T) {
	i := network.Setup{IDs: make(election.List, 3)}
	r := run(t, itairodeh.Program, simulate.Options{Setup: i, Seed: 3, Record: true})
	for _, seed := range []uint64{3, 4, 5} {
		o := simulate.Options{Setup: i, Seed: seed}
		s := session(t, itairodeh.Program, o)
		if err := s.Follow(r.Record); err != nil {
			t.Fatal(err)
		}
		drawn := slices.ContainsFunc(s.Made(), func(c simulate.Choice) bool { return c.Draw > 0 })
		if drawn != (seed != 3) {
			t.Errorf("seed %d: values from elsewhere: %v", seed, drawn)
		}
		fresh := session(t, itairodeh.Program, o)
		for _, c := range s.Made() {
			if err := fresh.Step(c); err != nil {
				t.Fatal(err)
			}
		}
		if lines(t, fresh.Record()) != lines(t, s.Record()) {
			t.Errorf("seed %d: the choices make another run", seed)
		}
	}
}

// During a cut what is sent, and what would arrive, is lost at once; afterwards messages arrive again.
func TestACutLosesWhatIsSentAndWhatWouldArrive(t *testing.T) {
	s := session(t, small(bully.Algorithm), simulate.Options{Setup: network.On(1, 2, 3), AnyTime: true})
	step := func(c simulate.Choice) {
		t.Helper()
		if err := s.Step(c); err != nil {
			t.Fatal(err)
		}
	}
	lost := func() (of []int) {
		for _, step := range s.Record().Steps {
			if step.Event == trace.Lost {
				of = append(of, step.Message)
			}
		}
		return of
	}
	step(simulate.Choice{What: simulate.Begin, Process: 0}) // messages 1 and 2
	cut, err := s.Cut("cut 1,2 -> others")
	if err != nil || cut.Cut != "cut 1,2 -> 3" {
		t.Fatalf("%+v, %v", cut, err)
	}
	step(cut)
	if err := s.Step(cut); !errors.Is(err, simulate.ErrChoice) {
		t.Errorf("a cut that is in force: %v", err)
	}
	step(simulate.Choice{What: simulate.Begin, Process: 1}) // message 3, which is lost
	if got := lost(); !slices.Equal(got, []int{3}) {
		t.Errorf("lost when sent: %v", got)
	}
	step(simulate.Choice{What: simulate.Pass, Time: election.Units(1)})
	for _, c := range s.Choices() {
		if c.What == simulate.Deliver && c.Process == 2 {
			step(c)
		}
	}
	if got := lost(); !slices.Equal(got, []int{3, 2}) || s.Result().Lost != 2 {
		t.Errorf("lost when they arrive: %v", got)
	}
	step(simulate.Choice{What: simulate.Mend, Process: 0, Cut: cut.Cut})
	step(simulate.Choice{What: simulate.Begin, Process: 2})
	if got := lost(); len(got) != 2 || len(s.Record().Steps[len(s.Record().Steps)-1].Sent) != 2 {
		t.Errorf("lost after the cut: %v", got)
	}
}

func TestACutThatCannotBeIsRefused(t *testing.T) {
	s := session(t, small(bully.Algorithm), simulate.Options{Setup: network.On(1, 2, 3), AnyTime: true})
	for line, why := range map[string]string{
		"partition 1 | 2 from 3": "without times",
		"crash 1 at 0":           "without times",
		"cut 1 -> 9":             "there is no process 9",
		"":                       "no fault begins",
	} {
		if _, err := s.Cut(line); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v; want %s", line, err, why)
		}
	}
	for _, c := range []simulate.Choice{
		{What: simulate.Sever, Process: 1, Cut: "partition 1 | 2"}, // not the first one that it names
		{What: simulate.Sever, Cut: "partition 1 | others"},        // not as Text writes it
		{What: simulate.Mend, Cut: "partition 1 | 2"},
		{What: simulate.Ask, Command: election.Command{Order: election.Weigh}}, // Bully obeys no command
	} {
		if err := s.Step(c); !errors.Is(err, simulate.ErrChoice) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	s = session(t, quorumbully.Program, simulate.Options{Setup: network.On(1, 2, 3), AnyTime: true, Wardens: true})
	died := simulate.Choice{What: simulate.Ask, Process: 1, Command: election.Command{Order: election.Died, Member: 1, Number: 1}}
	if err := s.Step(died); !errors.Is(err, simulate.ErrChoice) {
		t.Errorf("a proof of a death that has not come: %v", err)
	}
	for _, c := range []simulate.Choice{
		{What: simulate.Begin, Process: 1},
		{What: simulate.Begin, Process: 2},
		{What: simulate.Fail},
		died,
		{What: simulate.Ask, Process: 2, Command: election.Command{Order: election.Weigh, Number: 7}},
	} {
		if err := s.Step(c); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if !strings.Contains(s.State(2), "Weight 7") || !strings.Contains(s.State(1), "Finished") {
		t.Errorf("%s, %s", s.State(1), s.State(2))
	}
}
