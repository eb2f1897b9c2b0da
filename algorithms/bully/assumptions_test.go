package bully_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// These tests drop S4's assumptions one by one. S4 as printed ends wrong without any one of them. The rules that this
// package adds heal the result once the disturbance has ended.

// printed returns S4 as printed, which has no rule for wrong suspicions.
func printed(parameters map[string]string) machine {
	m := machine{bully.Algorithm, map[string]string{"bullying": "no"}}
	m.algorithm.Trust = func(*bully.Process, election.Port, *election.Out[bully.Message]) {}
	maps.Copy(m.parameters, parameters)
	return m
}

// asItIs returns the algorithm of this package.
func asItIs(parameters map[string]string) machine { return machine{bully.Algorithm, parameters} }

type machine struct {
	algorithm  election.Algorithm[bully.Process, bully.Message]
	parameters map[string]string
}

// end returns how a run ended.
func end(r *simulate.Result) string {
	switch {
	case !r.Complete:
		return "it does not end"
	case len(r.Leaders) > 1:
		var ids []string
		for _, p := range r.Leaders {
			ids = append(ids, fmt.Sprint(p+1))
		}
		return strings.Join(ids, " and ") + " lead"
	case len(r.Leaders) == 0:
		return "no process leads"
	case r.Decided < r.Live:
		return "a process is undecided"
	case !r.Agreed:
		return "a process follows a non-leader"
	case !r.Right:
		return "a wrong process leads"
	}
	return "right"
}

// expectEnd runs 5 processes in a configuration.
func (m machine) expectEnd(t *testing.T, want string, world func(*simulate.Options)) {
	t.Helper()
	o := among(5, m.parameters)
	o.Limit = 10_000
	world(&o)
	if got := end(run(t, m.algorithm, o)); got != want {
		t.Errorf("with %v: %s; want: %s", m.parameters, got, want)
	}
}

// wrongEnd runs 5 processes in random configurations, up to the first run that ends wrong. It returns "right" if none
// of 1000 does.
func (m machine) wrongEnd(t *testing.T, world func(*simulate.Options)) string {
	t.Helper()
	for seed := range uint64(1000) {
		o := among(5, m.parameters)
		o.Seed, o.Limit = seed, 100_000
		world(&o)
		if got := end(run(t, m.algorithm, o)); got != "right" {
			return got
		}
	}
	return "right"
}

// "The system is synchronous": messages do not take longer than they may.
func TestWithoutSynchronyMessagesTakeLonger(t *testing.T) {
	late := func(o *simulate.Options) { o.Delay = 6 } // where 1 is promised
	if printed(nil).wrongEnd(t, late) == "right" {
		t.Error("S4 as printed always ends right")
	}
	for _, victory := range []string{"others", "lower"} {
		if wrong := asItIs(map[string]string{"victory": victory}).wrongEnd(t, late); wrong != "right" {
			t.Errorf("victory=%s: %s", victory, wrong)
		}
	}
}

// "The system is synchronous": processes handle what they receive at once.
func TestWithoutSynchronyTheHighestStandsStill(t *testing.T) {
	still := func(o *simulate.Options) {
		starting(o, 1)
		o.Faults.Slow = []faults.Slow{{Process: 4, Until: election.Units(50)}}
	}
	printed(nil).expectEnd(t, "no process leads", still) // 5 wins, and then reads that 4 has won
	asItIs(nil).expectEnd(t, "right", still)
}

// "The system is synchronous": clocks run alike. The clock of 4 is three times as fast, so 4 does not wait for 5.
func TestWithoutSynchronyAClockIsFast(t *testing.T) {
	fast := func(o *simulate.Options) {
		starting(o, 4)
		o.Faults.Drifts = []faults.Drift{{Process: 3, Times: 3, Of: 1}}
	}
	printed(nil).expectEnd(t, "no process leads", fast) // 4 and 5 follow each other
	asItIs(nil).expectEnd(t, "right", fast)
}

// "A process fails by stopping": 5 takes no step until all suspect it, and then continues in its old state.
func TestWithoutFailingByStopping(t *testing.T) {
	pause := func(until uint64) func(*simulate.Options) {
		return func(o *simulate.Options) {
			o.Faults.Slow = []faults.Slow{{Process: 4, At: election.Units(50), Until: election.Units(until)}}
			for p := range 4 {
				o.Faults.Suspicions = append(o.Faults.Suspicions,
					faults.Suspicion{Process: p, Of: 4, At: election.Units(55), Until: election.Units(until)})
			}
		}
	}
	printed(nil).expectEnd(t, "no process leads", pause(100))
	asItIs(nil).expectEnd(t, "right", pause(100))
	for _, m := range []machine{printed(nil), asItIs(nil)} {
		m.expectEnd(t, "4 and 5 lead", pause(0)) // it stays stopped
	}
}

// "... and returns from failure by restarting": another process of the same identifier replaces 5, before any process
// suspects 5. The new process does not know that it has to begin by rule 1.
func TestWithoutRestarting(t *testing.T) {
	replaced := func(o *simulate.Options) {
		crash(o, 5, 50)
		recovers(o, 5, 51)
	}
	for _, m := range []machine{printed(nil), asItIs(nil)} {
		m.expectEnd(t, "right", replaced)
		m.algorithm.Recover = func(*bully.Process, *election.Out[bully.Message]) {}
		m.expectEnd(t, "no process leads", replaced) // and all follow 5
	}
}

// "There is a failure detector which detects failed processes."
func TestWithoutAFailureDetector(t *testing.T) {
	for _, m := range []machine{printed(nil), asItIs(nil)} {
		m.algorithm.Suspect, m.algorithm.Trust = nil, nil
		m.expectEnd(t, "no process leads", func(o *simulate.Options) { crash(o, 5, 50) })
	}
}

// The failure detector of 4 errs: it suspects 5. It helps to ask 5 all the same, and also to announce to it the
// victory.
func TestWithAFailureDetectorThatErrs(t *testing.T) {
	errs := func(o *simulate.Options) {
		o.Faults.Suspicions = []faults.Suspicion{{Process: 3, Of: 4, At: election.Units(50)}}
	}
	lower := map[string]string{"known-dead": "skipped", "victory": "lower"}
	printed(nil).expectEnd(t, "right", errs)
	printed(map[string]string{"known-dead": "skipped"}).expectEnd(t, "a wrong process leads", errs)
	printed(lower).expectEnd(t, "4 and 5 lead", errs)
	asItIs(map[string]string{"known-dead": "skipped"}).expectEnd(t, "right", errs)
	asItIs(lower).expectEnd(t, "right", errs) // the others contest it
}

// "Message delivery between processes is reliable": no message is lost. No added rule heals a loss: a process that
// has not heard of the coordinator, and never asked, waits for ever.
func TestWithoutReliableDeliveryMessagesAreLost(t *testing.T) {
	for _, m := range []machine{printed(nil), asItIs(nil)} {
		if m.wrongEnd(t, func(o *simulate.Options) {
			starting(o, 1)
			o.Faults.Lose = faults.Chance{Times: 1, Of: 5}
		}) == "right" {
			t.Errorf("with %v: every end is right", m.parameters)
		}
	}
}

func TestWithoutReliableDeliveryAPartitionHasTwoLeaders(t *testing.T) {
	parted := func(until uint64) func(*simulate.Options) {
		return func(o *simulate.Options) {
			o.Faults.Cuts = []faults.Cut{faults.Partition(election.Units(50), election.Units(until), []int{0, 1}, []int{2, 3, 4})}
		}
	}
	for _, m := range []machine{printed(nil), asItIs(nil)} {
		m.expectEnd(t, "2 and 5 lead", parted(0))
	}
	printed(nil).expectEnd(t, "2 and 5 lead", parted(100)) // though it has healed
	asItIs(nil).expectEnd(t, "right", parted(100))
}

// No process hears 5, and 5 hears all.
func TestWithoutReliableDeliveryALinkIsCutOneWay(t *testing.T) {
	unheard := func(until uint64) func(*simulate.Options) {
		return func(o *simulate.Options) {
			o.Faults.Cuts = []faults.Cut{{
				Groups: [][]int{{4}, {0, 1, 2, 3}}, OneWay: true, At: election.Units(50), Until: election.Units(until),
			}}
		}
	}
	printed(nil).expectEnd(t, "a wrong process leads", unheard(0)) // 5 follows 4
	asItIs(nil).expectEnd(t, "4 and 5 lead", unheard(0))
	asItIs(nil).expectEnd(t, "right", unheard(100))
}

// 4 and 5 do not hear each other, and the others hear both. Where a lower coordinator is contested, the two win in
// turn until the cut is healed. If processes that are known to be dead are skipped, the messages multiply in every
// turn, so even healing does not help. Two things end it: a coordinator that announces itself only to the asker, and followers that
// are loyal to a coordinator that they hear.
func TestWithoutReliableDeliveryAPartialPartitionIsContestedForEver(t *testing.T) {
	parted := func(until uint64) func(*simulate.Options) {
		return func(o *simulate.Options) {
			o.Faults.Cuts = []faults.Cut{faults.Partition(election.Units(50), election.Units(until), []int{3}, []int{4})}
		}
	}
	for _, test := range []struct {
		machine
		cut, healed string
	}{
		{printed(nil), "4 and 5 lead", "4 and 5 lead"},
		{asItIs(nil), "it does not end", "right"},
		{asItIs(map[string]string{"known-dead": "skipped"}), "it does not end", "it does not end"},
		{asItIs(map[string]string{"asked-coordinator": "tells"}), "4 and 5 lead", "right"},
		{asItIs(map[string]string{"known-dead": "skipped", "asked-coordinator": "tells"}), "4 and 5 lead", "right"},
		{asItIs(map[string]string{"known-dead": "decides"}), "4 and 5 lead", "right"},
		{asItIs(map[string]string{"known-dead": "decides", "asked-coordinator": "tells"}), "4 and 5 lead", "right"},
	} {
		test.expectEnd(t, test.cut, parted(0))
		test.expectEnd(t, test.healed, parted(400))
	}
}

// The added rules tolerate messages that come twice, or overtake each other within delay: FIFO is more than they
// need.
func TestRepeatedAndReorderedMessagesDoNoHarm(t *testing.T) {
	m := asItIs(map[string]string{"delay": "4"})
	if wrong := m.wrongEnd(t, func(o *simulate.Options) {
		storm(o, 5, random.New(o.Seed, random.Choices))
		o.Faults.Unordered, o.Faults.Duplicate = true, faults.Chance{Times: 1, Of: 3}
	}); wrong != "right" {
		t.Error(wrong)
	}
	o := verify.Options{Starts: verify.EverySet, Crashes: 1, Recoveries: 1, Unordered: true}
	if v := check(t, bully.Algorithm, o, nil).Violation; v != nil {
		t.Errorf("%s: %s", v.Property, v.Detail)
	}
}

// A message that comes after the suspicion of its sender does harm. The contract excludes it.
func TestAMessageOfACrashedProcessIsBelieved(t *testing.T) {
	p := newProcess(1, 3, nil)
	p.hears(bully.Coordinator, 3)
	p.suspects(3)
	expect(t, "a late victory", p.hears(bully.Coordinator, 3), nil, election.StopTimer, election.StopTimer, election.Follow)
	expect(t, "its successor", p.hears(bully.Coordinator, 2), []sent{{bully.Election, 2}, {bully.Election, 3}}, election.NoLeader, election.SetTimer)
	p = newProcess(1, 3, nil)
	p.suspects(3)
	p.hears(bully.Coordinator, 2)
	p.hears(bully.Coordinator, 3)
	if p.Coordinator != 3 {
		t.Errorf("follows %d; a message of 3, which has crashed, came last", p.Coordinator)
	}
}

// "Each process knows its own process id and address, and that of every other process": 4 does not know 5.
func TestWithoutKnowingEveryOther(t *testing.T) {
	alone := func(o *simulate.Options) { starting(o, 4) }
	later := func(o *simulate.Options) { // followers of 5 hear that 4 has won
		starting(o, 5)
		crash(o, 4, 50)
		recovers(o, 4, 60)
	}
	for _, test := range []struct {
		machine
		later string
	}{{printed(nil), "4 and 5 lead"}, {asItIs(nil), "it does not end"}} {
		test.expectEnd(t, "right", alone)
		test.expectEnd(t, "right", later)
		test.algorithm.New = func(l election.Local) bully.Process {
			if l.ID == 4 {
				l.Degree = 4
			}
			return bully.New(l)
		}
		test.expectEnd(t, "a process is undecided", alone)
		test.expectEnd(t, test.later, later)
	}
}

// "Each process knows its own process id": two processes have the same.
func TestTwoOfOneIdentifierAreRefused(t *testing.T) {
	_, err := simulate.Must(simulate.OfSmall(&bully.Algorithm)).Run(simulate.Options{Setup: network.On(1, 2, 2)})
	if err == nil || !strings.Contains(err.Error(), "identifier 2 occurs twice") {
		t.Errorf("got %v", err)
	}
}
