package logicalring_test

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/logicalring"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/faults"
)

type (
	process = logicalring.Process
	message = logicalring.Message
	effects = election.Out[message]
)

func TestConformance(t *testing.T) {
	electiontest.Conform(t, logicalring.Algorithm, electiontest.Options{
		Runs: 10, Verify: -1, Parameters: []map[string]string{nil, {"announce": "direct"}, {"delay": "2"}},
	})
}

func TestCountsForEveryDeadSetAndEveryInitiatorSet(t *testing.T) {
	for n := 1; n <= 8; n++ {
		for dead := range 1<<n - 1 {
			for starters := 1; starters < 1<<n; starters++ {
				if starters&dead != 0 || n > 6 && len(set(starters)) > 2 {
					continue
				}
				costs(t, n, set(dead), set(starters), "ring")
				costs(t, n, set(dead), set(starters), "direct")
			}
		}
	}
}

// The lists and announcements that are delivered, and the number of missing acknowledgements: 2m or 2m-1 messages for
// each initiator, and one timeout for each traversal and dead successor.
func TestExamplesOfAlgorithmsSection4(t *testing.T) {
	for _, example := range []struct {
		dead, starters                 []int
		lists, ring, direct            uint64
		timeoutsOfRing, timeoutsDirect uint64
	}{
		{[]int{7}, []int{0}, 7, 7, 6, 2, 1},
		{[]int{7}, []int{0, 4}, 14, 14, 12, 4, 2},
		{[]int{1, 2, 7}, []int{0}, 5, 5, 4, 6, 3},
		{[]int{0, 1, 2, 3, 5, 6, 7}, []int{4}, 1, 1, 0, 14, 7}, // a single member
	} {
		for _, announce := range []string{"ring", "direct"} {
			told, timeouts := example.ring, example.timeoutsOfRing
			if announce == "direct" {
				told, timeouts = example.direct, example.timeoutsDirect
			}
			o := options(8, map[string]string{"announce": announce})
			o.Faults.Dead, o.Initiators = example.dead, example.starters
			a, sum := counting(logicalring.Algorithm)
			r := run(t, a, o)
			lists, announcements := sum.delivered[logicalring.Election], sum.delivered[logicalring.Coordinator]
			if missed := r.Messages.Total - lists - announcements; lists != example.lists || announcements != told || missed != timeouts || !r.Right {
				t.Errorf("dead %v, %v start, %s: delivered %d and %d, %d missed; want %d and %d, %d; right %v", example.dead, example.starters,
					announce, lists, announcements, missed, example.lists, told, timeouts, r.Right)
			}
		}
	}
}

func TestARecoveredLeaderLeadsAgainForOneListAndOneAnnouncement(t *testing.T) {
	for n := 2; n <= 8; n++ {
		o := options(n, nil)
		o.Initiators = []int{0}
		o.Faults.Crashes = []faults.Crash{{Process: n - 1, At: election.Units(100)}}
		before := run(t, logicalring.Algorithm, o)
		o.Faults.Recoveries = []faults.Recovery{{Process: n - 1, At: election.Units(200)}}
		after := run(t, logicalring.Algorithm, o)
		if cost := after.Messages.Total - before.Messages.Total; cost != uint64(2*n) || !before.Right || !after.Right {
			t.Errorf("n=%d: %d messages, want %d; right %v, then %v", n, cost, 2*n, before.Right, after.Right)
		}
	}
}

// one is a single process that a test feeds with events.
type one struct {
	process
	c election.Collector[message]
}

func newOne(t *testing.T, id election.ID) *one {
	t.Helper()
	set, err := logicalring.Algorithm.Set(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &one{process: logicalring.Algorithm.New(election.Local{ID: id, Degree: 4, Parameters: set})}
}

// hears delivers an announcement, and reports whether an election follows.
func (p *one) hears(from, leader election.ID, epoch uint32) (elects bool) {
	p.c.Reset()
	p.Receive(election.To(from), logicalring.Coordinator, message{List: []election.ID{from}, Leader: leader, Epoch: epoch}, p.c.Out())
	return slices.ContainsFunc(p.c.Sent(), func(s election.Sent[message]) bool { return s.Kind() == logicalring.Election })
}

func TestAnnouncementOfAnEarlierEpochIsNotBelieved(t *testing.T) {
	p := newOne(t, 2)
	if p.hears(1, 3, 5); p.Coordinator != 3 || p.Epoch != 5 {
		t.Errorf("follows %d in epoch %d, want 3 in 5", p.Coordinator, p.Epoch)
	}
	if elects := p.hears(1, 4, 4); elects || p.Coordinator != 3 || len(p.c.Sent()) != 2 {
		t.Errorf("an earlier one: elects %v, follows %d, sends %v; want 3, and that it is passed on", elects, p.Coordinator, p.c.Sent())
	}
	if elects := p.hears(1, 3, 5); elects || len(p.c.Effects()) != 1 { // a timer
		t.Errorf("the same again: elects %v, does %v", elects, p.c.Effects())
	}
	if elects := p.hears(1, 4, 5); elects || p.Coordinator != 4 {
		t.Errorf("a greater one of that epoch: elects %v, follows %d", elects, p.Coordinator)
	}
}

func TestAnnouncementOfASmallerLeaderMeansAnElection(t *testing.T) {
	if p := newOne(t, 3); !p.hears(1, 2, 1) {
		t.Error("smaller than itself: no election")
	}
	p := newOne(t, 1)
	if p.hears(4, 3, 1); !p.hears(4, 2, 1) {
		t.Error("smaller than the one that it follows: no election")
	}
}

// If it forgot its epoch, a recovered process would believe what was announced before it crashed.
func TestEpochSurvivesACrash(t *testing.T) {
	for _, forgets := range []bool{false, true} {
		old, reborn := newOne(t, 1), newOne(t, 1)
		old.hears(4, 3, 5)
		if !forgets {
			*logicalring.Algorithm.Durable(&reborn.process).(*uint32) = *logicalring.Algorithm.Durable(&old.process).(*uint32)
		}
		logicalring.Algorithm.Recover(&reborn.process, reborn.c.Out())
		if reborn.hears(4, 3, 5); (reborn.Coordinator == 3) != forgets {
			t.Errorf("forgets %v: follows %d", forgets, reborn.Coordinator)
		}
	}
}

// Timeouts of any length fit into a process's clock, or are refused.
func TestLongestTimeouts(t *testing.T) {
	const longest = "1000000000000000000000000000000000000" // not much below 2^120
	for _, good := range []map[string]string{{"delay": "4611686018427387904"}, {"timeout": longest}} {
		set, err := logicalring.Algorithm.Set(good)
		if err != nil {
			t.Fatal(err)
		}
		logicalring.Algorithm.New(election.Local{ID: 1, Degree: 2, Parameters: set})
	}
	for name, bad := range map[string]string{"delay": "4611686018427387905", "timeout": longest + "9"} {
		if _, err := logicalring.Algorithm.Set(map[string]string{name: bad}); err == nil {
			t.Errorf("%s may be %s", name, bad)
		}
	}
}
