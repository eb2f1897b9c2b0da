package verify

import (
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify/internal/model"
)

// trusting has a failure detector that withdraws what was wrong.
func trusting(timing election.Timing, start func(*caller, calls)) election.Algorithm[caller, call] {
	a := answering(timing, start)
	a.Trust = func(p *caller, port election.Port, _ calls) { p.Heard += 1000 + uint32(port) }
	return a
}

// recorded returns the record of the walk so far.
func (w *walk) recorded() trace.Record {
	w.Helper()
	r := w.c.Record(&model.Finding{Root: w.root, Path: w.path}).Record
	if err := r.Validate(); err != nil {
		w.Error(err)
	}
	return r
}

func TestALinkLosesItsNextMessageOrAnyOneIfItKeepsNoOrder(t *testing.T) {
	a := calling(election.Asynchronous, twice)
	w := newWalk(t, a, Options{Size: 2, Initiators: []int{0}, Losses: 1}).then("1 starts")
	w.can("due 2 receives ring on 1, fault 2 loses ring on 1")
	w.then("2 loses ring on 1").can("due 2 receives knock on 1")
	if g := w.c.Global(w.here); !g.Disturbed || g.Losses != 0 {
		t.Errorf("%+v", g)
	}
	w = newWalk(t, a, Options{Size: 2, Initiators: []int{0}, Losses: 2, Unordered: true}).then("1 starts")
	w.can("due 2 receives ring on 1, fault 2 loses ring on 1, due 2 receives knock on 1, fault 2 loses knock on 1")
	w.then("2 loses knock on 1", "2 loses ring on 1").can("")
	steps := w.recorded().Steps
	if last := steps[len(steps)-1]; last.Event != trace.Lost || last.Kind != "ring" || last.Message != 1 || last.From != 1 || last.Process != 1 {
		t.Errorf("%+v", last)
	}
}

func TestAMessageArrivesTwice(t *testing.T) {
	a := calling(election.Asynchronous, twice)
	w := newWalk(t, a, Options{Size: 2, Initiators: []int{0}, Duplicates: 1}).then("1 starts")
	w.can("due 2 receives ring on 1, fault 2 receives ring on 1 again")
	w.then("2 receives ring on 1 again").can("due 2 receives ring on 1") // the links keep order
	if g := w.c.Global(w.here); !g.Disturbed || g.Duplicates != 0 {
		t.Errorf("%+v", g)
	}
	w.then("2 receives ring on 1", "2 receives knock on 1").can("")
	if p := w.c.Values.StateText(w.c.Process(w.here, 1).State); p != "ID 2, Heard 4" {
		t.Errorf("the second process has %s", p)
	}
	if sent := w.recorded().Steps[0].Sent; sent[0].Copies != 1 || sent[1].Copies != 0 {
		t.Errorf("%+v", sent)
	}
}

// A crash comes amid the effects of a step too: what is durable is saved, and some of the messages have left.
func TestAProcessCrashesAmidTheMessagesOfAStep(t *testing.T) {
	w := newWalk(t, answering(election.Asynchronous, twice), Options{Size: 2, Initiators: []int{0}, Crashes: 1})
	w.can("fault 1 crashes, fault 2 crashes, due 1 starts, fault 1 starts and crashes after 0, fault 1 starts and crashes after 1")
	unheard := w.back().then("1 starts and crashes after 0")
	unheard.can("due 2 suspects 1, due 2 suspects 1")
	if g := unheard.c.Global(unheard.here); g.Begun { // nothing is heard of an election
		t.Errorf("%+v", g)
	}
	w.then("1 starts and crashes after 1").can("due 2 receives ring on 1, due 2 suspects 1")
	if g := w.c.Global(w.here); !g.Begun || !g.Disturbed || g.Crashes != 0 {
		t.Errorf("%+v", g)
	}
	steps := w.then("2 receives ring on 1", "2 suspects 1").recorded().Steps
	if len(steps[0].Sent) != 1 || steps[1].Event != trace.Crash || steps[1].Process != 0 || steps[1].Text != "after 1 of 2 messages" {
		t.Errorf("%+v", steps)
	}
	cut := newWalk(t, answering(election.Asynchronous, twice), Options{Size: 2, Initiators: []int{0}, Crashes: 1, Cuts: 1})
	cut.then("cut 1 -> 2", "1 starts and crashes after 1", "end of cut 1 -> 2").can("due 2 suspects 1, due 2 suspects 1")
}

func TestACutLosesWhatIsSentOrWouldArriveMeanwhile(t *testing.T) {
	const cut, end = "cut 1 -> 2", "end of cut 1 -> 2"
	w := newWalk(t, calling(election.Asynchronous, once), Options{Size: 3, Initiators: []int{0}, Cuts: 1})
	before := w.back().then("1 starts", cut)
	before.can("due end of cut 1 -> 2, due 2 loses ring on 1")
	before.back().then(end).can("due 2 receives ring on 1")
	before.then("2 loses ring on 1", end).can("")
	w.then(cut).can("due end of cut 1 -> 2, due 1 starts")
	w.then("1 starts").can("due end of cut 1 -> 2")
	w.then(end).can("")
	if g := w.c.Global(w.here); !g.Disturbed || g.Cuts != 0 || len(g.Cut) != 0 {
		t.Errorf("%+v", g)
	}
	var got []string
	for _, s := range w.recorded().Steps {
		got = append(got, strings.TrimSpace(string(s.Event)+" "+s.Text+s.Kind))
	}
	if want := []string{"fault cut 1 -> 2", "start", "lost 1ring", "heal cut 1 -> 2"}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}

// Each pair both ways and one way, and each division into two sides, once.
func TestCutsAreOfALinkOrASide(t *testing.T) {
	var got []string
	for n := range 4 {
		w := newWalk(t, answering(election.Asynchronous, silent), Options{Size: n + 1, Cuts: min(n, 1)})
		for _, cut := range w.c.Cuts {
			got = append(got, cut.Text(w.c.Network))
		}
		got = append(got, "")
	}
	want := []string{
		"", "partition 1 | 2", "cut 1 -> 2", "cut 2 -> 1", "", // … and of three each pair, and one from the others
		"partition 1 | 2", "cut 1 -> 2", "partition 1 | 3", "cut 1 -> 3", "cut 2 -> 1", "partition 2 | 3", "cut 2 -> 3", "cut 3 -> 1", "cut 3 -> 2",
		"partition 1 | 2,3", "partition 2 | 1,3", "partition 1,2 | 3", "",
	}
	if !slices.Equal(got[:len(want)], want) {
		t.Errorf("%q; want %q", got[:len(want)], want)
	}
	if four := got[len(want):]; !slices.Contains(four, "partition 1,2 | 3,4") || !slices.Contains(four, "partition 1,3 | 2,4") {
		t.Errorf("of four processes: %q", four)
	}
}

func TestAProcessThatIsCutOffMayBeSuspectedAndIsTrustedAgain(t *testing.T) {
	const cut, end = "cut 1 -> 2", "end of cut 1 -> 2"
	a := trusting(election.Asynchronous, once)
	o := Options{Size: 3, Initiators: []int{0}, Cuts: 1}
	w := newWalk(t, a, o).then("1 starts", cut)
	w.can("due end of cut 1 -> 2, due 2 loses ring on 1, free 2 suspects 1")
	w.back().then(end).can("due 2 receives ring on 1")
	w.then("2 suspects 1").can("due end of cut 1 -> 2")
	w.then(end).can("due 2 trusts 1") // before its message
	w.then("2 trusts 1").can("due 2 receives ring on 1")
	w.then("2 receives ring on 1")
	if p := w.c.Values.StateText(w.c.Process(w.here, 1).State); p != "ID 2, Heard 1013" {
		t.Errorf("the second process has %s", p)
	}
	if steps := w.recorded().Steps; steps[4].Event != trace.Trust || steps[4].From != 1 || steps[4].Port != 1 {
		t.Errorf("%+v", steps[4])
	}
	a.Trust = nil
	w = newWalk(t, a, o).then("1 starts", cut, "2 suspects 1", end, "2 trusts 1", "2 receives ring on 1")
	if p := w.c.Values.StateText(w.c.Process(w.here, 1).State); p != "ID 2, Heard 12" || len(w.recorded().Steps) != 5 {
		t.Errorf("without Trust the second process has %s", p)
	}
}

func TestALiveProcessMayBeSuspectedByMistake(t *testing.T) {
	a := trusting(election.Asynchronous, once)
	w := newWalk(t, a, Options{Size: 2, Initiators: []int{0}, Suspicions: 1, Crashes: 1, Recoveries: 1}).then("1 starts")
	w.can("fault 1 crashes, fault 1 suspects 2, fault 1 suspects 2, fault 2 crashes, fault 2 suspects 1, fault 2 suspects 1, due 2 receives ring on 1")
	// The second port of each leads to the other one, too.
	w.then("2 suspects 1").can("fault 1 crashes, fault 2 crashes, due 2 receives ring on 1, due 2 trusts 1")
	if g := w.c.Global(w.here); !g.Disturbed || g.Suspicions != 0 {
		t.Errorf("%+v", g)
	}
	three := newWalk(t, a, Options{Size: 3, Initiators: []int{0}, Suspicions: 1, Crashes: 1, Recoveries: 1}).then("1 starts", "2 suspects 1")
	three.can("fault 1 crashes, fault 2 crashes, fault 3 crashes, due 2 trusts 1")
	// It crashes after all, and its message is still to come: so it is suspected again, afterwards.
	crashed := three.back().then("1 crashes")
	crashed.can("fault 1 recovers, due 2 trusts 1, due 3 suspects 1")
	crashed.back().then("1 recovers").can("due 2 receives ring on 1")
	crashed.then("2 trusts 1").can("fault 1 recovers, due 2 receives ring on 1, due 3 suspects 1")
	crashed.then("2 receives ring on 1").can("fault 1 recovers, due 2 suspects 1, due 3 suspects 1")
	// With no message to come the suspicion was right, if early.
	three.then("2 trusts 1", "2 receives ring on 1").can("fault 1 crashes, fault 2 crashes, fault 3 crashes")
	late := newWalk(t, a, Options{Size: 3, Initiators: []int{0}, Suspicions: 1, Crashes: 1}).then("1 starts", "2 receives ring on 1", "2 suspects 1", "1 crashes")
	late.can("due 3 suspects 1")
}

// With wardens the work of a dead life has ended, and each other process hears of that, at any time and once; one that is dead
// itself when it lives again.
func TestADeathIsProvenToEachOtherProcess(t *testing.T) {
	a := answering(election.Timed, func(p *caller, out calls) {
		p.Until = out.Deadline(election.Units(9))
		out.LeadUntil(p.Until, 1)
	})
	a.Task, a.Leased, a.Winner, a.Suspect = election.Service, true, election.Unspecified, nil
	a.Durable = func(p *caller) any { return &p.Heard }
	a.Recover = func(p *caller, _ calls) { p.Heard++ }
	a.Incarnation = func(p *caller) uint64 { return 7 + uint64(p.Heard) }
	a.Command = func(p *caller, c election.Command, _ calls) { p.Heard += 10*uint32(c.Member) + 100*uint32(c.Number) }
	o := Options{Size: 3, Initiators: []int{1}, Crashes: 3, Recoveries: 1, Wardens: true}
	w := newWalk(t, a, o).then("2 starts", "2 crashes")
	if p := w.c.Process(w.here, 1); !left(p.Orphan).IsZero() || p.Proofs != nil {
		t.Errorf("of the dead there is %+v", p)
	}
	w.can("fault 1 crashes, fault 2 recovers, fault 3 crashes, due 1 obeys, due 3 obeys")
	w.then("1 obeys").can("fault 1 crashes, fault 2 recovers, fault 3 crashes, due 3 obeys")
	if p := w.c.Values.StateText(w.c.Process(w.here, 0).State); p != "ID 1, Heard 720" {
		t.Errorf("the first process has %s", p)
	}
	if text := w.recorded().Steps[2].Text; text != "note that 2 is dead, incarnation 7" {
		t.Errorf("%q", text)
	}
	w.back().then("3 crashes").can("fault 1 crashes, fault 2 recovers, fault 3 recovers, due 1 obeys")
	w.back().then("3 crashes", "3 recovers").can("fault 1 crashes, fault 3 crashes, due 1 obeys, due 3 obeys")
	again := w.then("2 recovers", "2 crashes")
	again.can("fault 1 crashes, fault 3 crashes, due 1 obeys, due 3 obeys, due 3 obeys")
	if text := again.then("1 obeys").recorded().Steps[5].Text; text != "note that 2 is dead, incarnation 8" {
		t.Errorf("%q", text)
	}
	a.Incarnation = nil
	if _, err := Run(a, o); err == nil || !strings.Contains(err.Error(), "it takes no proofs of death, so wardens mean nothing") {
		t.Error(err)
	}
}

func TestAFaultOutsideTheModelIsNamed(t *testing.T) {
	report := holds(t, lcr.Algorithm, Options{Size: 2})
	if report.Outside != nil {
		t.Errorf("%q", report.Outside)
	}
	for _, test := range []struct {
		o               Options
		outside, unsafe []string
	}{
		{Options{Size: 2, Losses: 1, Crashes: 1}, []string{"crashes", "loss"}, []string{"crashes"}},
		{Options{Size: 2, Losses: 1, Duplicates: 1}, []string{"loss", "duplication"}, []string{"loss"}},
		{Options{Size: 2, Cuts: 1}, []string{"partitions"}, []string{"partitions"}},
	} {
		report, err := Run(lcr.Algorithm, test.o)
		if err != nil || report.Violation == nil {
			t.Fatalf("%+v, %v", report, err)
		}
		if !slices.Equal(report.Outside, test.outside) || !slices.Equal(report.Violation.Outside, test.unsafe) {
			t.Errorf("%q, and the run %q; want %q and %q", report.Outside, report.Violation.Outside, test.outside, test.unsafe)
		}
		if err := report.Violation.Record.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// Workers meet deaths in different orders, and agree on the states.
func TestWorkersAgreeOnProvenDeaths(t *testing.T) {
	a := answering(election.Timed, silent)
	a.Durable = func(p *caller) any { return &p.Heard }
	a.Recover, a.Suspect = func(p *caller, _ calls) { p.Heard++ }, nil
	a.Task = election.Service
	a.Incarnation = func(p *caller) uint64 { return uint64(p.Heard) }
	a.Command = func(p *caller, c election.Command, _ calls) {
		p.Heard |= uint32(c.Member)<<8 | uint32(c.Number)<<16 | 1<<31
	}
	o := Options{Size: 3, Initiators: []int{1}, Crashes: 3, Recoveries: 1, Wardens: true, SafetyOnly: true}
	var states []int
	for cores := range 3 {
		o.Cores = cores + 1
		states = append(states, holds(t, a, o).States)
	}
	if states[0] < 100 || states[1] != states[0] || states[2] != states[0] {
		t.Errorf("%d states", states)
	}
}
