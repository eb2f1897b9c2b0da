package verify_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"testing"

	"ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify"
)

var elects = process.Must(process.Of(&quorumbully.Algorithm))

// fewClaims are members that take clocks for right. Up to a term there are few states.
func fewClaims(terms string, ids ...uint64) network.Setup {
	i := network.On(ids...)
	i.Parameters = map[string]string{
		"terms": terms, "renewals": "1", "lease": "6", "rho": "0", "renewal": "2", "answer-timeout": "1", "deferral": "1", "claim-timeout": "2", "asking": "no",
	}
	return i
}

// lazily begins a session in lazy time.
func lazily(t *testing.T, a election.Algorithm[quorumbully.Process, quorumbully.Message], o simulate.Options, err faults.Chance) *simulate.Session {
	t.Helper()
	o.AnyTime = true
	s, wrong := simulate.Must(simulate.OfSmall(&a)).Session(o)
	if wrong == nil {
		wrong = s.BeLazy(err)
	}
	if wrong != nil {
		t.Fatal(wrong)
	}
	return s
}

// saved returns a moment as a file has it.
func saved(t *testing.T, m *trace.Moment) *trace.Moment {
	t.Helper()
	text, err := json.Marshal(m)
	read := new(trace.Moment)
	if err == nil {
		err = json.Unmarshal(text, read)
	}
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// wander makes some events by chance, without cuts.
func wander(s *simulate.Session, events int, luck *random.Source, also ...*simulate.Session) error {
	for range events {
		all := slices.DeleteFunc(append(s.Choices(), s.Faults()...), func(c simulate.Choice) bool { return c.What == simulate.Sever })
		if luck.Below(2) == 0 {
			all = s.Choices()
		}
		if len(all) == 0 {
			return nil
		}
		c := all[luck.Below(uint64(len(all)))]
		c.Draw = 1
		for _, s := range append(also, s) {
			if err := s.Step(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestARunGoesOnFromAMomentAsFromTheBeginning(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	for seed := range uint64(30) {
		luck := random.New(seed, random.Choices)
		o := simulate.Options{Setup: fewClaims("0", 1, 2, 3), Wardens: seed%2 == 0}
		first := lazily(t, quorumbully.Algorithm, o, faults.Chance{Times: 1, Of: 10})
		if err := wander(first, int(luck.Below(120)), luck); err != nil {
			t.Fatal(err)
		}
		o.Moment = saved(t, first.Moment())
		second := lazily(t, quorumbully.Algorithm, o, faults.Chance{Times: 1, Of: 10})
		for range 40 {
			a, _ := json.Marshal(first.Moment())
			b, _ := json.Marshal(second.Moment())
			if !bytes.Equal(a, b) {
				t.Fatalf("seed %d: after %+v\n%s\n%s", seed, second.Made(), a, b)
			}
			if err := wander(first, 1, luck, second); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		if err := second.Record().Validate(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// leads returns a session of members, of which one leads, and the next term.
func leads(t *testing.T, a election.Algorithm[quorumbully.Process, quorumbully.Message], ids ...uint64) (s *simulate.Session, next string) {
	t.Helper()
	s = lazily(t, a, simulate.Options{Setup: fewClaims("0", ids...)}, faults.Chance{})
	for range 200 {
		for _, d := range s.Result().Decisions {
			if d.Role == network.Leader {
				return s, strconv.Itoa(int(d.Term) + 1)
			}
		}
		if err := s.Step(s.Choices()[0]); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("no member leads")
	return nil, ""
}

func TestTheCheckerGoesOnFromAMoment(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	s, next := leads(t, quorumbully.Algorithm, 1, 2)
	o := verify.Options{Setup: fewClaims(next, 1, 2), Lazy: true, Moment: saved(t, s.Moment()), Crashes: 1, Cores: 2}
	safe, err := verify.Program(elects, o)
	if err != nil || !safe.Complete || safe.Violation != nil || safe.States < 100 {
		t.Fatalf("%+v, %v", safe, err)
	}
	o.Pace = 2
	coarse, err := verify.Program(elects, o)
	if err != nil || !coarse.Complete || coarse.Violation != nil || coarse.States >= safe.States {
		t.Fatalf("%+v after %d states, %v", coarse, safe.States, err)
	}

	o.Recoveries = 1
	recovered, err := verify.Program(elects, o)
	if err != nil || !recovered.Complete || recovered.Violation != nil || recovered.States <= coarse.States {
		t.Fatalf("%+v after %d states, %v", recovered, coarse.States, err)
	}

	o.Pace, o.Crashes, o.Recoveries, o.ClockError = 0, 0, 0, faults.Chance{Times: 1, Of: 2} // they take clocks for right
	found, err := verify.Program(elects, o)
	if err != nil || found.Violation == nil || found.Violation.Property != verify.TwoLeases {
		t.Fatalf("%+v, %v", found, err)
	}
	if err := found.Violation.Record.Validate(); err != nil {
		t.Error(err)
	}
	again := lazily(t, quorumbully.Algorithm, simulate.Options{Setup: o.Setup, Moment: o.Moment}, o.ClockError)
	if err := again.Follow(&found.Violation.Record); err != nil {
		t.Error(err)
	}
	if faults := again.Result().Faults; len(faults) == 0 {
		t.Error("the session finds nothing wrong with the run")
	}
}

// A mutant whose leaders count on a lease for twice as long makes two leaders from where one leads.
func TestTheCheckerFindsAMutantFromAMoment(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	mutant := quorumbully.Algorithm
	mutant.New = func(l election.Local) quorumbully.Process {
		p := quorumbully.Algorithm.New(l)
		p.Settings.Entitled *= 2
		return p
	}
	s, next := leads(t, mutant, 1, 2, 3)
	o := verify.Options{Setup: fewClaims(next, 1, 2, 3), Lazy: true, Moment: s.Moment(), Cores: 2, MaxStates: 300_000}
	r, err := verify.Program(process.Must(process.Of(&mutant)), o)
	if err != nil || r.Violation == nil {
		t.Fatalf("%+v, %v", r, err)
	}
}

func TestAMomentOfAnotherRunIsRefused(t *testing.T) {
	s, _ := leads(t, quorumbully.Algorithm, 1, 2)
	good := s.Moment()
	for name, spoil := range map[string]func(m *trace.Moment){
		"another version":        func(m *trace.Moment) { m.Schema = "0" },
		"a process less":         func(m *trace.Moment) { m.Processes = m.Processes[:1] },
		"a state that is cut":    func(m *trace.Moment) { m.Processes[0].State = m.Processes[0].State[:9] },
		"a timer that is not":    func(m *trace.Moment) { m.Processes[0].Alarms = []trace.Alarm{{Timer: 100}} },
		"a port that is not":     func(m *trace.Moment) { m.Processes[0].Suspects = []int{-1} },
		"a leader that is not":   func(m *trace.Moment) { m.Processes[0].Leader = 3 },
		"dead and asleep":        func(m *trace.Moment) { m.Processes[0].Crashed, m.Processes[0].Asleep = true, true },
		"a sender that is not":   func(m *trace.Moment) { m.UnderWay = []trace.Flight{{From: 2}} },
		"a link that is not":     func(m *trace.Moment) { m.UnderWay = []trace.Flight{{Port: 2}} },
		"a kind that is not":     func(m *trace.Moment) { m.UnderWay = []trace.Flight{{Port: 1, Kind: 15}} },
		"a message that is cut":  func(m *trace.Moment) { m.UnderWay = []trace.Flight{{Port: 1, Content: []byte{1}}} },
		"the proof of no member": func(m *trace.Moment) { m.Proofs = []trace.Death{{}} },
	} {
		m := saved(t, good)
		spoil(m)
		if _, err := simulate.New(elects).Session(simulate.Options{Setup: fewClaims("0", 1, 2), Moment: m}); !errors.Is(err, simulate.ErrMoment) {
			t.Errorf("%s: a session says %v", name, err)
		}
		if _, err := verify.Program(elects, verify.Options{Setup: fewClaims("2", 1, 2), Lazy: true, Moment: m}); !errors.Is(err, verify.ErrOptions) {
			t.Errorf("%s: the checker says %v", name, err)
		}
	}
	if _, err := verify.Program(elects, verify.Options{Setup: fewClaims("2", 1, 2), Moment: good}); !errors.Is(err, verify.ErrOptions) {
		t.Errorf("without lazy time it says %v", err)
	}
}
