package logicalring_test

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/logicalring"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/verify"
)

// lowest is three processes of which the lowest initiates, with a crash and a recovery.
var lowest = verify.Options{Size: 3, Initiators: []int{0}, Crashes: 1, Recoveries: 1}

func TestEverySchedule(t *testing.T) {
	for _, test := range []struct {
		o               verify.Options
		announce, delay string
	}{
		{verify.Options{Size: 3, Initiators: []int{0}, Crashes: 1}, "direct", "2"},
		{verify.Options{Size: 2, Initiators: []int{0}, Crashes: 1, Recoveries: 1}, "ring", "1"},
		{verify.Options{Size: 3, Initiators: []int{0}, Crashes: 1}, "ring", "1"},
		{verify.Options{Size: 3, Starts: verify.EverySet, Crashes: 1}, "direct", "1"},
		{lowest, "direct", "1"},
	} {
		parameters := map[string]string{"announce": test.announce, "delay": test.delay}
		if v := electiontest.Verify(t, logicalring.Algorithm, test.o, parameters).Violation; v != nil {
			t.Errorf("%+v, %v: %s: %s", test.o, parameters, v.Property, v.Detail)
		}
	}
}

// found expects that the checker finds a mutant.
func found(t *testing.T, mutant election.Algorithm[process, message], o verify.Options, parameters map[string]string, properties ...string) {
	t.Helper()
	if v := electiontest.Verify(t, mutant, o, parameters).Violation; v == nil || !slices.Contains(properties, v.Property) {
		t.Errorf("found %+v, want %v", v, properties)
	}
}

// The list is lost with its initiator, or with a process that waits to pass it on.
func TestSuspectingOnlyTheLeaderIsFound(t *testing.T) {
	mutant := logicalring.Algorithm
	mutant.Suspect = func(p *process, port election.Port, out *effects) {
		if election.From(port) == p.Coordinator {
			p.Suspect(port, out)
		}
	}
	found(t, mutant, verify.Options{Size: 3, Initiators: []int{0}, Crashes: 1}, nil, verify.Undecided)
}

// receiving returns the algorithm with a function that handles messages first.
func receiving(first func(p *process, kind election.Kind, m *message)) election.Algorithm[process, message] {
	mutant := logicalring.Algorithm
	mutant.Receive = func(p *process, port election.Port, kind election.Kind, m message, out *effects) {
		first(p, kind, &m)
		p.Receive(port, kind, m, out)
	}
	return mutant
}

// Then announcements of different times meet in one epoch, and elections follow elections.
func TestBelievingEarlierEpochsIsFound(t *testing.T) {
	mutant := receiving(func(p *process, kind election.Kind, m *message) {
		if kind == logicalring.Coordinator {
			m.Epoch = max(m.Epoch, p.Epoch)
		}
	})
	for seed := range uint64(4000) {
		o := script(seed)
		o.Limit = 2000
		if !run(t, mutant, o).Right && run(t, logicalring.Algorithm, o).Right {
			return
		}
	}
	t.Error("not found")
}

func TestBelievingTheSmallerOfOneEpochIsFound(t *testing.T) {
	found(t, receiving(func(p *process, kind election.Kind, m *message) {
		if kind == logicalring.Coordinator && m.Leader < p.Coordinator && m.Epoch == p.Since {
			p.Coordinator = 0
		}
	}), lowest, map[string]string{"announce": "direct"}, verify.TwoLeaders, verify.Disagreement, verify.NoLeader)
}

func TestListThatKeepsItsEpochIsFound(t *testing.T) {
	mutant := logicalring.Algorithm
	mutant.Receive = func(p *process, port election.Port, kind election.Kind, m message, out *effects) {
		latest := p.Epoch
		if kind == logicalring.Election {
			p.Epoch = min(p.Epoch, m.Epoch)
		}
		p.Receive(port, kind, m, out)
		p.Epoch = max(p.Epoch, latest)
	}
	found(t, mutant, lowest, map[string]string{"announce": "direct"}, verify.TwoLeaders, verify.Disagreement, verify.NoLeader)
}

func TestRecoveredProcessThatWaitsIsFound(t *testing.T) {
	mutant := logicalring.Algorithm
	mutant.Recover = func(*process, *effects) {}
	found(t, mutant, lowest, nil, verify.Undecided)
}

// A process that waits for exactly the time of a message and its acknowledgement skips live ones.
func TestImpatientProcessSkipsLiveProcesses(t *testing.T) {
	for delay, exact := range map[string]string{"1": "2", "2": "4"} {
		for _, timeout := range []string{"", exact} {
			o := options(3, map[string]string{"delay": delay})
			if o.Initiators, o.Limit = []int{0}, 100; timeout != "" {
				o.Setup.Parameters["timeout"] = timeout
			}
			skipped := false
			for o.Seed = range uint64(100) {
				skipped = skipped || run(t, logicalring.Algorithm, o).Messages.Total > 6
			}
			if skipped != (timeout == exact) {
				t.Errorf("delay %s, timeout %q: skipped %v", delay, timeout, skipped)
			}
		}
	}
}

// Without acknowledgements, as in S2, a list that is sent to a dead member ends the election.
func TestNoProcessSkipsCrashedOnesWithoutAcknowledgements(t *testing.T) {
	mutant := logicalring.Algorithm
	mutant.Timeout = func(*process, election.Timer, *effects) {}
	o := options(3, nil)
	o.Faults.Dead, o.Initiators = []int{2}, []int{0}
	if r := run(t, mutant, o); r.Decided != 0 {
		t.Errorf("%d have decided", r.Decided)
	}
}

// If a process waited for one acknowledgement only, it would lose lists that arrive one after the other.
func TestListsThatWaitTogetherAreAllPassedOn(t *testing.T) {
	mutant := logicalring.Algorithm
	mutant.Receive = func(p *process, port election.Port, kind election.Kind, m message, out *effects) {
		p.Receive(port, kind, m, out)
		p.Pending = p.Pending[max(0, len(p.Pending)-1):]
	}
	for _, test := range []struct {
		a    election.Algorithm[process, message]
		want bool
	}{{logicalring.Algorithm, true}, {mutant, false}} {
		o := options(5, nil)
		o.Faults.Dead = []int{4}
		a, sum := counting(test.a)
		if run(t, a, o); (sum.delivered[logicalring.Election] == 16) != test.want {
			t.Errorf("%d lists delivered; four lists of four: %v", sum.delivered[logicalring.Election], test.want)
		}
	}
}

// If its initiator has crashed, a list or announcement would go round for ever.
func TestWhatADeadInitiatorLeavesIsDropped(t *testing.T) {
	for kind, crash := range map[election.Kind]uint64{logicalring.Election: 1, logicalring.Coordinator: 5} {
		mutant := receiving(func(p *process, k election.Kind, m *message) {
			if k == kind && m.List[0] != p.ID && slices.Contains(m.List, p.ID) {
				m.List = m.List[:1]
			}
		})
		o := options(4, nil)
		o.Initiators, o.Limit = []int{0}, 10_000
		o.Faults.Crashes = []faults.Crash{{Process: 0, At: election.Units(crash)}}
		if r := run(t, logicalring.Algorithm, o); !r.Complete || !r.Right {
			t.Errorf("kind %d: complete %v, right %v", kind, r.Complete, r.Right)
		}
		if r := run(t, mutant, o); r.Complete {
			t.Errorf("kind %d: what is not dropped goes round, but the run has ended", kind)
		}
	}
}

// Here there is no failure detector. The elected process has crashed after it was put on the list, and its missing
// acknowledgement is the only sign.
func TestUndeliverableAnnouncementIsAnElection(t *testing.T) {
	deaf := logicalring.Algorithm
	deaf.Suspect, deaf.Trust = nil, nil
	mutant := deaf
	mutant.Timeout = func(p *process, timer election.Timer, out *effects) {
		if t := p.Pending[0]; t.Kind == logicalring.Coordinator && t.To == t.Message.Leader {
			p.Pending = p.Pending[1:]
			return
		}
		p.Timeout(timer, out)
	}
	for _, announce := range []string{"ring", "direct"} {
		o := options(3, map[string]string{"announce": announce})
		o.Initiators = []int{0}
		o.Faults.Crashes = []faults.Crash{{Process: 2, At: election.Units(3)}}
		if r := run(t, deaf, o); !r.Right {
			t.Errorf("%s: leaders at %v, want 2", announce, r.Leaders)
		}
		if r := run(t, mutant, o); len(r.Leaders) > 0 || r.Decided != 2 {
			t.Errorf("%s: leaders at %v, %d decided; want that both follow the crashed process", announce, r.Leaders, r.Decided)
		}
	}
}
