package verify_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/internal/runners/bully"
	"ringleader.example/ringleader/internal/runners/franklin"
	"ringleader.example/ringleader/internal/runners/peterson"
	"ringleader.example/ringleader/internal/runners/ringbully"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// walk is a walk of a session, from where the checker looks ahead.
type walk struct {
	*simulate.Session
	t       *testing.T
	program *process.Program
	o       verify.Options // that begin as the session did
}

func walking(t *testing.T, a program.Program, o verify.Options) *walk {
	t.Helper()
	s, err := simulate.New(a).Session(simulate.Options{Setup: o.Setup, AnyTime: o.Starts == verify.AnyTime, Wardens: o.Wardens, Delay: uint64(o.Delay)})
	if err != nil {
		t.Fatal(err)
	}
	return &walk{s, t, process.Opened(a), o}
}

func (w *walk) ahead(goal verify.Goal) *verify.Continuation {
	w.t.Helper()
	a, err := verify.LookAhead(w.program, w.o, verify.Begun{Record: w.Record(), Now: w.Now()}, goal)
	if err != nil {
		w.t.Fatalf("%s after %+v: %v", w.program.Name, w.Made(), err)
	}
	return a
}

// way returns what the walk has done so far.
func (w *walk) way() string {
	var b strings.Builder
	if err := w.Record().Story(&b); err != nil {
		w.t.Fatal(err)
	}
	return b.String()
}

// split reports whether two processes lead, or, at an end, whether processes follow different ones.
func (w *walk) split(end bool) bool {
	leaders, followed := 0, map[election.ID]bool{}
	r := w.Result()
	for p, d := range r.Decisions {
		if d.Role == network.Leader {
			leaders++
			followed[r.Prepared.ID(p)] = true
		}
		if d.Leader != 0 {
			followed[d.Leader] = true
		}
	}
	return leaders > 1 || len(r.Faults) > 0 || end && len(followed) > 1
}

// sent returns the number of messages that have been sent.
func (w *walk) sent() (count uint64) { return w.Result().Messages.Total }

// key is all that determines what can follow: states, decisions, what can come next, and the messages under way in their order.
func (w *walk) key() string {
	var b strings.Builder
	r := w.Record()
	for p := range r.N {
		fmt.Fprintln(&b, w.State(p))
	}
	fmt.Fprintln(&b, w.Result().Decisions, w.Result().Faults, w.Choices())
	arrived := map[int]bool{}
	for i := range r.Steps {
		arrived[r.Steps[i].Message] = true
	}
	for i := range r.Steps {
		for _, m := range r.Steps[i].Sent {
			if !arrived[m.Message] {
				fmt.Fprintln(&b, r.Steps[i].Process, m.To, m.Port, m.Kind, m.Text)
			}
		}
	}
	return b.String()
}

// future is what brute force finds: whether a violation of safety can come, and the most messages.
type future struct {
	split bool
	most  uint64
}

// try tries all that can follow.
func (w *walk) try(known map[string]future) future {
	key := w.key()
	if f, found := known[key]; found {
		return f
	}
	all := w.Choices()
	f := future{split: w.split(len(all) == 0)}
	before := w.sent()
	for _, c := range all {
		if err := w.Step(c); err != nil {
			w.t.Fatal(err)
		}
		then := w.try(known)
		f.split, f.most = f.split || then.split, max(f.most, w.sent()-before+then.most)
		w.Back()
	}
	known[key] = f
	return f
}

// follow makes what was found, and takes it back after a look.
func (w *walk) follow(a *verify.Continuation, look func()) {
	w.t.Helper()
	before := len(w.Made())
	if err := w.Follow(&a.Record); err != nil {
		w.t.Fatal(err)
	}
	look()
	for len(w.Made()) > before {
		w.Back()
	}
}

// agrees compares what the checker finds with all that can follow.
func (w *walk) agrees(known map[string]future) future {
	w.t.Helper()
	want, before := w.try(known), w.sent()
	unsafe := w.ahead(verify.Unsafe)
	if !unsafe.Complete || unsafe.Found != want.split {
		w.t.Errorf("%s after %s: %+v; brute force finds %t", w.program.Name, w.way(), unsafe, want.split)
	}
	if unsafe.Found {
		w.follow(unsafe, func() {
			if !w.split(len(w.Choices()) == 0) {
				w.t.Errorf("%s: %s: %s, and in the session all agree", w.program.Name, unsafe.Property, unsafe.Detail)
			}
		})
		return want
	}
	most := w.ahead(verify.Costliest)
	if !most.Found || most.Messages != want.most {
		w.t.Errorf("%s after %s: %+v; brute force finds %d more messages", w.program.Name, w.way(), most, want.most)
	}
	w.follow(most, func() {
		must := slices.DeleteFunc(w.Choices(), func(c simulate.Choice) bool { return c.What == simulate.Begin })
		if w.sent() != before+want.most || len(must) > 0 {
			w.t.Errorf("%s: the costliest run sends %d messages, and not %d, and then %+v can follow", w.program.Name, w.sent(), before+want.most, must)
		}
	})
	return want
}

func TestLookingAheadFindsWhatAllThatCanFollowHas(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	again := lcr.Algorithm
	again.Start = func(p *lcr.Process, out *election.Out[lcr.Message]) { // without the guard
		p.Participant = true
		out.Send(lcr.Right, lcr.Election, lcr.Message{ID: p.ID})
	}
	smallest := lcr.Algorithm
	smallest.Winner = election.Smallest
	equal := network.Setup{IDs: election.List{2, 1, 2}, Duplicates: true}
	ring := network.On(2, 3, 1)
	type test struct {
		w    *walk
		want string // whether, from where walks come to, there is a way to two leaders: some, none, or both
	}
	for _, test := range []test{
		{walking(t, hidden(lcr.Algorithm), verify.Options{Setup: equal}), "some"},
		{walking(t, hidden(lcr.Algorithm), verify.Options{Setup: equal, Reduce: verify.AnyReduction}), "some"},
		{walking(t, hidden(smallest), verify.Options{Setup: ring}), "none"},                      // another leader than the right one is safe
		{walking(t, hidden(again), verify.Options{Setup: ring, Starts: verify.AnyTime}), "both"}, // a process may start once more, until all have
		{walking(t, hidden(lcr.Algorithm), verify.Options{Setup: ring}), "none"},
		{walking(t, hidden(lcr.Algorithm), verify.Options{Setup: ring, Starts: verify.AnyTime, Reduce: verify.AnyReduction}), "none"},
		{walking(t, franklin.Program, verify.Options{Setup: ring}), "none"},
		{walking(t, peterson.Program, verify.Options{Setup: ring}), "none"},
		{walking(t, ringbully.Program, verify.Options{Setup: network.On(1, 2), Starts: verify.AnyTime}), "none"},
		{walking(t, hidden(lcr.Algorithm), verify.Options{Setup: network.On(7)}), "none"},
		{walking(t, franklin.Program, verify.Options{Setup: network.On(1, 2), Starts: verify.AnyTime}), "none"},
	} {
		known, found := map[string]future{}, map[bool]bool{}
		for source := random.New(0, random.Schedule); ; {
			found[test.w.agrees(known).split] = true
			all := test.w.Choices()
			if len(all) == 0 {
				break
			}
			if err := test.w.Step(all[source.Below(uint64(len(all)))]); err != nil {
				t.Fatal(err)
			}
		}
		if got := map[[2]bool]string{{true, true}: "both", {true, false}: "some", {false, true}: "none"}[[2]bool{found[true], found[false]}]; got != test.want {
			t.Errorf("%s on %v: %s, want %s", test.w.program.Name, test.w.o.Setup.IDs, got, test.want)
		}
	}
}

func TestTheCostliestRunFromTheStartIsTheExactExtreme(t *testing.T) {
	for _, test := range []struct {
		w *walk
	}{
		{walking(t, hidden(lcr.Algorithm), verify.Options{Setup: network.On(4, 3, 2, 1)})},
		{walking(t, franklin.Program, verify.Options{Setup: network.On(2, 4, 1, 3)})},
		{walking(t, bully.Program, verify.Options{Setup: network.On(1, 2, 3)})},
		{walking(t, hidden(lcr.Algorithm), verify.Options{Setup: network.On(3, 1, 2), Starts: verify.AnyTime})},
	} {
		r, err := verify.Program(test.w.program, test.w.o)
		if err != nil {
			t.Fatal(err)
		}
		one := test.w.ahead(verify.Costliest)
		if one.Messages != r.MaxMessages.Total || !one.Complete {
			t.Errorf("%s: %d messages, want %d", test.w.program.Name, one.Messages, r.MaxMessages.Total)
		}
		test.w.o.Cores = 3
		if three := test.w.ahead(verify.Costliest); !reflect.DeepEqual(one, three) {
			t.Errorf("%s: on three cores another run", test.w.program.Name)
		}
	}
}

// one makes the first event of a kind.
func (w *walk) one(from []simulate.Choice, what simulate.Happening) {
	w.t.Helper()
	for _, c := range from {
		if c.What == what {
			if err := w.Step(c); err != nil {
				w.t.Fatal(err)
			}
			return
		}
	}
	w.t.Fatalf("no %s among %+v", what, from)
}

func TestFaultsThatMayStillComeAreThoseThatAreAskedFor(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	w := walking(t, bully.Program, verify.Options{Setup: network.On(1, 2, 3), Delay: 1})
	for range 3 {
		w.one(w.Choices(), simulate.Begin)
	}
	if a := w.ahead(verify.Unsafe); a.Found || !a.Complete {
		t.Errorf("without faults: %+v", a)
	}
	w.o.Cuts = 1
	a := w.ahead(verify.Unsafe)
	if !a.Found || a.Property != verify.TwoLeaders {
		t.Errorf("with a cut: %+v", a)
	}
	w.follow(a, func() {
		if len(w.Result().Leaders) < 2 {
			t.Errorf("it has leaders %v", w.Result().Leaders)
		}
	})
	w.o.Cuts = 0
	cut, err := w.Cut("partition 3 | 1,2")
	if err == nil {
		err = w.Step(cut)
	}
	if err != nil {
		t.Fatal(err)
	}
	if a := w.ahead(verify.Unsafe); !a.Found || a.Property != verify.TwoLeaders { // the cut that has begun is enough
		t.Errorf("after a cut: %+v", a)
	}
}

func TestAnElectionThatDoesNotEndWellIsSafe(t *testing.T) {
	w := walking(t, hidden(lcr.Algorithm), verify.Options{Setup: network.On(2, 3, 1), Losses: 1})
	w.one(w.Choices(), simulate.Begin)
	if a := w.ahead(verify.Unsafe); a.Found || !a.Complete {
		t.Errorf("with a lost message: %+v", a)
	}
}

func TestTwoLeadersThatAreThereNeedNoSearch(t *testing.T) {
	w := walking(t, hidden(lcr.Algorithm), verify.Options{Setup: network.Setup{IDs: election.List{2, 1, 2}, Duplicates: true}})
	a := w.ahead(verify.Unsafe)
	if err := w.Follow(&a.Record); err != nil {
		t.Fatal(err)
	}
	again := w.ahead(verify.Unsafe)
	if !again.Found || again.Property != a.Property || again.Detail != a.Detail || again.States != 0 || len(again.Record.Steps) != len(a.Record.Steps) {
		t.Errorf("%+v, then %+v", a, again)
	}
	if most := w.ahead(verify.Costliest); most.Found || most.Complete || most.Property != a.Property {
		t.Errorf("the costliest run behind a violation: %+v", most)
	}
	w.Back()
	if most := w.ahead(verify.Costliest); most.Found || most.Complete || most.Property != a.Property {
		t.Errorf("the costliest run before a violation: %+v", most)
	}
}

func TestASearchAheadThatALimitEndsProvesNothing(t *testing.T) {
	w := walking(t, franklin.Program, verify.Options{Setup: network.On(1, 2, 3, 4, 5), MaxStates: 100})
	for _, goal := range []verify.Goal{verify.Unsafe, verify.Costliest} {
		if a := w.ahead(goal); a.Found || a.Complete || a.Limit != verify.StateLimit || a.States != 100 {
			t.Errorf("goal %d: %+v", goal, a)
		}
	}
	w = walking(t, franklin.Program, verify.Options{Setup: network.On(1, 2, 3, 4, 5, 6), Progress: func(verify.Progress) bool { return false }})
	if a := w.ahead(verify.Unsafe); a.Found || a.Complete || a.Limit != verify.NoLimit {
		t.Errorf("stopped: %+v", a)
	}
}

func TestARunThatTheCheckerDoesNotMakeIsRefused(t *testing.T) {
	w := walking(t, hidden(lcr.Algorithm), verify.Options{Setup: network.On(2, 3, 1)})
	w.one(w.Choices(), simulate.Begin)
	for name, change := range map[string]func(*verify.Options, *verify.Begun){
		"another order":    func(o *verify.Options, _ *verify.Begun) { o.Setup = network.On(3, 2, 1) },
		"another size":     func(o *verify.Options, _ *verify.Begun) { o.Setup = network.On(1, 2) },
		"every order":      func(o *verify.Options, _ *verify.Begun) { o.Setup, o.Size = network.Setup{}, 3 },
		"another starts":   func(o *verify.Options, _ *verify.Begun) { o.Initiators = []int{1} },
		"another state":    func(_ *verify.Options, b *verify.Begun) { b.Record.Steps[0].State = "ID=9" },
		"another message":  func(_ *verify.Options, b *verify.Begun) { b.Record.Steps[0].Sent[0].Text = "ID=9" },
		"an impossible":    func(_ *verify.Options, b *verify.Begun) { b.Record.Steps[0].Process = 7 },
		"negative budgets": func(o *verify.Options, _ *verify.Begun) { o.Losses = -1 },
	} {
		o, record := w.o, *w.Record()
		record.Steps = append(record.Steps[:0:0], record.Steps...)
		record.Steps[0].Sent = append(record.Steps[0].Sent[:0:0], record.Steps[0].Sent...)
		begun := verify.Begun{Record: &record}
		change(&o, &begun)
		if a, err := verify.LookAhead(w.program, o, begun, verify.Unsafe); err == nil || name != "an impossible" && !errors.Is(err, verify.ErrOptions) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}
