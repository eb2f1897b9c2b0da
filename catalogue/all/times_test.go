package all_test

import (
	"fmt"
	"math/big"
	"testing"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/outcome"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// timed returns the extremes of time of an algorithm on one small network, or nil if it has none there.
func timed(t *testing.T, e *catalogue.Entry, o verify.Options) *verify.Times {
	t.Helper()
	o.Extremes, o.Reduce = true, verify.AnyReduction
	r, err := e.Verify(o)
	if err != nil {
		t.Fatalf("%s: %v", e.Name, err)
	}
	if r.Extremes == nil {
		return nil
	}
	if (r.Extremes.Time == nil) != (r.Extremes.NoTime != "") {
		t.Errorf("%s: %+v, and why not: %q", e.Name, r.Extremes.Time, r.Extremes.NoTime)
	}
	return r.Extremes.Time
}

// small are networks of at most 3 processes for an algorithm.
func small(e *catalogue.Entry) (all []network.Setup) {
	for _, ids := range []election.List{{1}, {1, 2}, {3, 1, 2}, {3, 2, 1}} {
		switch {
		case e.Name == "odd-one-out" && len(ids) == 3:
			ids = election.List{2, 1, 1}
		case e.Name == "odd-pair" && len(ids) == 3:
			ids = election.List{7, 5, 5}
		}
		i := network.Setup{IDs: ids}
		if e.Topology == election.Tree {
			for p := 1; p < ids.Len(); p++ {
				i.Edges = append(i.Edges, [2]int{p - 1, p})
			}
		}
		all = append(all, i)
	}
	return all
}

// times are elected, decided and quiet.
func times(of *outcome.Times) [3]election.Ticks {
	return [3]election.Ticks{of.Elected, of.Decided, of.Quiet}
}

// everySchedule makes every run of a session, but for those that continue as another one does, and returns the least and the
// greatest times.
func everySchedule(s *simulate.Session, e *catalogue.Entry) (least, most [3]election.Ticks) {
	seen, ends := map[string]bool{}, 0
	var walk func()
	walk = func() {
		key := position(s, e)
		if seen[key] {
			return
		}
		seen[key] = true
		choices := s.Choices()
		for _, c := range choices {
			if s.Step(c) == nil {
				walk()
				s.Back()
			}
		}
		if len(choices) > 0 {
			return
		}
		for i, time := range times(s.Result().Time) {
			if ends == 0 || time.Less(least[i]) {
				least[i] = time
			}
			if most[i].Less(time) {
				most[i] = time
			}
		}
		ends++
	}
	walk()
	return least, most
}

// position returns all on which the rest of a run depends, with its times so far.
func position(s *simulate.Session, e *catalogue.Entry) string {
	key := fmt.Sprint(s.Now(), times(s.Result().Time), s.Result().Decisions)
	record := s.Record()
	for q := range record.N {
		key += "; " + s.State(q)
	}
	flying, running := map[int]string{}, map[string]string{}
	for _, step := range record.Steps {
		for _, m := range step.Sent {
			flying[m.Message] = fmt.Sprint(step.Process, m.To, m.Port, m.Kind, m.Text, step.Time)
		}
		delete(flying, step.Message)
		for _, timer := range step.Timers {
			running[fmt.Sprint(step.Process, timer.Name)] = ""
			if timer.After != nil {
				running[fmt.Sprint(step.Process, timer.Name)] = fmt.Sprint(*timer.After, step.Time)
			}
		}
		if step.Event == "timeout" {
			delete(running, fmt.Sprint(step.Process, step.Text))
		}
	}
	texts := []string{}
	for number := 1; number <= len(record.Steps)*record.N*record.N; number++ { // in the order of sending, which links keep
		if text, is := flying[number]; is {
			texts = append(texts, text)
		}
	}
	return fmt.Sprint(key, texts, running)
}

// repeats repeats the runs that attain the extremes.
func repeats(t *testing.T, e *catalogue.Entry, o simulate.Options, found *verify.Times) {
	t.Helper()
	for k, of := range []*verify.Extreme{&found.Elected, &found.Decided, &found.Quiet} {
		for _, a := range []*verify.Attained{&of.Min, &of.Max} {
			if a.Unbounded {
				continue
			}
			s, err := e.Session(o)
			if err == nil {
				err = s.Follow(&a.Record)
			}
			if err != nil {
				t.Fatalf("%s %v: %v", e.Name, o.Setup.IDs, err)
			}
			if !a.Record.Clock || a.Record.Timing != o.Timing.String() {
				t.Errorf("%s: the record is of a run that is %s, with a clock: %t", e.Name, a.Record.Timing, a.Record.Clock)
			}
			if got := times(s.Result().Time)[k]; got != a.Value {
				t.Errorf("%s %v: time %d of the run is %s; want %s", e.Name, o.Setup.IDs, k, got, a.Value)
			}
		}
	}
}

// The extremes of time are those of all runs of the simulator, and it repeats the runs that attain them.
func TestTheSimulatorTakesTheTimesThatTheCheckerFinds(t *testing.T) {
	checked := 0
	for _, e := range all.Algorithms {
		for _, i := range small(e) {
			o := simulate.Options{Setup: i, Timing: max(e.Timing, election.Timed)}
			if _, err := e.Session(o); e.Leased || err != nil {
				continue // it has no time, or does not run on this network
			}
			found := timed(t, e, verify.Options{Setup: i, MaxStates: 5000}) // some choose for ever
			if found == nil {
				continue
			}
			repeats(t, e, o, found)
			if e.Identifiers == election.Anonymous || e.Task != election.Once && e.Settles != nil || found.Quiet.Max.Unbounded {
				continue // it chooses at random, or goes on for ever
			}
			s, err := e.Session(o)
			if err != nil {
				t.Fatal(err)
			}
			least, most := everySchedule(s, e)
			for k, of := range []*verify.Extreme{&found.Elected, &found.Decided, &found.Quiet} {
				if of.Min.Value != least[k] || of.Max.Value != most[k] {
					t.Errorf("%s %v: time %d is %s to %s; the simulator's is %s to %s", e.Name, i.IDs, k, of.Min.Value, of.Max.Value, least[k], most[k])
				}
			}
			checked++
		}
	}
	if checked < 60 {
		t.Errorf("only %d networks are checked", checked)
	}
}

// counted returns the extremes of the closed form over all orders of 4 identifiers; nil if there is none.
func counted(t *testing.T, e *catalogue.Entry, set election.Parameters) (least, most [3]*big.Int) {
	t.Helper()
	for _, ids := range []election.List{{4, 1, 2, 3}, {4, 1, 3, 2}, {4, 2, 1, 3}, {4, 2, 3, 1}, {4, 3, 1, 2}, {4, 3, 2, 1}} {
		r, err := e.Count(t.Context(), ids, set, nil)
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		if r.Time == nil {
			continue
		}
		for k, time := range []*big.Int{r.Time.Elected, r.Time.Decided, r.Time.Quiet} {
			if least[k] == nil || time.Cmp(least[k]) < 0 {
				least[k] = time
			}
			if most[k] == nil || time.Cmp(most[k]) > 0 {
				most[k] = time
			}
		}
	}
	return least, most
}

// No schedule changes the times of the algorithms with a closed form of time, so its extremes over all orders are those of the checker.
func TestClosedFormsOfTimeHaveTheExtremesOfTheChecker(t *testing.T) {
	checked := 0
	for _, e := range all.Algorithms {
		if e.Count == nil || e.Identifiers == election.Anonymous || e.Name == "odd-one-out" || e.Name == "odd-pair" {
			continue
		}
		found := timed(t, e, verify.Options{Size: 4})
		set, err := e.Set(nil)
		if err != nil || found == nil {
			t.Fatalf("%s: %+v, %v", e.Name, found, err)
		}
		least, most := counted(t, e, set)
		for k, of := range []*verify.Extreme{&found.Elected, &found.Decided, &found.Quiet} {
			if least[k] != nil && (of.Min.Value.Big().Cmp(least[k]) != 0 || of.Max.Value.Big().Cmp(most[k]) != 0) {
				t.Errorf("%s: time %d is %s to %s; the closed form has %s to %s", e.Name, k, of.Min.Value, of.Max.Value, least[k], most[k])
			}
		}
		if least[0] != nil {
			checked++
		}
	}
	if checked < 6 {
		t.Errorf("only %d algorithms have a closed form of time", checked)
	}
}
