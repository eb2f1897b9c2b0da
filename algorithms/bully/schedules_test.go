package bully_test

import (
	"flag"
	"math"
	"math/big"
	"testing"

	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/verify"
)

var long = flag.Bool("long", false, "check every schedule with a delay of two units for the usual setting, too")

func check(t *testing.T, a election.Algorithm[bully.Process, bully.Message], o verify.Options, parameters map[string]string) *verify.Report {
	t.Helper()
	if o.Size == 0 {
		o.Size = 3
	}
	return electiontest.Verify(t, a, o, parameters)
}

func TestThreeProcessesUnderEverySchedule(t *testing.T) {
	for _, victory := range []string{"others", "lower"} {
		for _, dead := range []string{"asked", "skipped", "decides"} {
			for _, asked := range []string{"elects", "tells"} {
				for _, delay := range []string{"1", "2"} {
					if delay == "2" && dead != "asked" && (asked == "elects" || victory == "others") {
						continue // millions of states, with both more than 10 million
					}
					if delay == "2" && (dead == "skipped" || dead == "asked" && (asked == "tells") != (victory == "lower")) {
						continue // three settings stand for six
					}
					if delay == "2" && victory == "others" && !*long {
						continue // half a million states, more than the two others have
					}
					parameters := map[string]string{"delay": delay, "victory": victory, "known-dead": dead, "asked-coordinator": asked}
					o := verify.Options{Starts: verify.EverySet, Crashes: 1, Recoveries: 1}
					if v := check(t, bully.Algorithm, o, parameters).Violation; v != nil {
						t.Errorf("%v: %s: %s", parameters, v.Property, v.Detail)
					}
				}
			}
		}
	}
}

// A process that is known to be dead may recover without the knowledge of all: two crashes and a recovery.
func TestStaleKnowledgeOfCrashesDoesNoHarm(t *testing.T) {
	for _, victory := range []string{"others", "lower"} {
		for _, dead := range []string{"skipped", "decides"} {
			parameters := map[string]string{"victory": victory, "known-dead": dead, "asked-coordinator": "tells"}
			o := verify.Options{Starts: verify.AllFirst, Crashes: 2, Recoveries: 1} // two crashes may stop all initiators
			if v := check(t, bully.Algorithm, o, parameters).Violation; v != nil {
				t.Errorf("%v: %s: %s", parameters, v.Property, v.Detail)
			}
		}
	}
}

// S4 as printed, under all its assumptions: messages of one delay, a failure detector without mistakes, processes
// that restart. It tolerates two crashes, but not a crash and a recovery: then a process follows a non-leader for
// ever.
func TestS4AsPrintedSurvivesCrashesAndNoRecovery(t *testing.T) {
	for victory, property := range map[string]string{"others": verify.NoLeader, "lower": verify.Disagreement} {
		printed := map[string]string{"bullying": "no", "victory": victory}
		crashes := verify.Options{Starts: verify.AllFirst, Crashes: 2}
		if v := check(t, bully.Algorithm, crashes, printed).Violation; v != nil {
			t.Errorf("victory=%s, two crashes: %s: %s", victory, v.Property, v.Detail)
		}
		recovery := verify.Options{Starts: verify.EverySet, Crashes: 1, Recoveries: 1}
		if v := check(t, bully.Algorithm, recovery, printed).Violation; v == nil || v.Property != property {
			t.Errorf("victory=%s, a recovery: found %+v, want: %s", victory, v, property)
		}
	}
	for parameter, recoveries := range map[string]bool{"yes": true, "no": false} {
		set, err := bully.Algorithm.Set(map[string]string{"bullying": parameter})
		if err != nil {
			t.Fatal(err)
		}
		if claims := bully.Algorithm.With(set).Survives; claims&election.Recovery != 0 != recoveries || claims&election.Crash == 0 {
			t.Errorf("bullying=%s declares that it tolerates %b", parameter, claims)
		}
	}
}

// believer contests coordinators below itself, as older versions of S4 do, but believes those below the one that it
// follows.
func believer(p *bully.Process, port election.Port, kind election.Kind, m bully.Message, out *election.Out[bully.Message]) {
	if kind == bully.Coordinator && election.From(port) > p.ID {
		p.Coordinator = 0
	}
	p.Receive(port, kind, m, out)
}

func TestBelievingADeposedCoordinatorIsFound(t *testing.T) {
	mutant := bully.Algorithm
	mutant.Receive = believer
	o := verify.Options{Starts: verify.EverySet, Crashes: 1, Recoveries: 1}
	if report := check(t, mutant, o, map[string]string{"delay": "2"}); report.Violation == nil || report.Violation.Property != verify.Disagreement {
		t.Errorf("found %+v, want a disagreement at the end", report.Violation)
	}
}

// A process that waits for exactly the time of question and answer takes over from a live one, if the timer comes
// before the message when both are due.
func TestImpatientProcessIsFound(t *testing.T) {
	for _, delay := range []string{"1", "2"} {
		exact := map[string]string{"1": "2", "2": "4"}[delay]
		o := verify.Options{Starts: verify.EverySet}
		if report := check(t, bully.Algorithm, o, map[string]string{"delay": delay, "answer-timeout": exact}); report.Violation == nil {
			t.Errorf("delay %s, answer-timeout %s: not found", delay, exact)
		}
		if report := check(t, bully.Algorithm, o, map[string]string{"delay": delay}); report.Violation != nil {
			t.Errorf("delay %s, one unit longer: %s: %s", delay, report.Violation.Property, report.Violation.Detail)
		}
	}
}

// The declared bounds are met exactly, without a fault and with messages of one unit: S4's n(n-1) is 12 for 4
// processes.
func TestAnElectionForEachQuestion(t *testing.T) {
	for _, test := range []struct {
		bound int
		o     verify.Options
		most  uint64
	}{
		{0, verify.Options{Size: 3, Initiators: []int{0}}, 6},
		{0, verify.Options{Size: 4, Initiators: []int{0}}, 14},
		{1, verify.Options{Size: 2, Starts: verify.AnyTime}, 2},
		{1, verify.Options{Size: 3, Starts: verify.AnyTime}, 8}, // 22 for 4, in 4 seconds
	} {
		most, bound := check(t, bully.Algorithm, test.o, nil).MaxMessages.Election, bully.Algorithm.Bounds[test.bound]
		if most != test.most || bound.Value(uint64(test.o.Size)) != most {
			t.Errorf("%d processes: at most %d election messages, want %d; %s = %d",
				test.o.Size, most, test.most, bound.Formula, bound.Value(uint64(test.o.Size)))
		}
	}
}

func TestBoundsOfLargeGroups(t *testing.T) {
	for i, last := range []uint64{64, 63} { // the last that is below 2^64
		b := bully.Algorithm.Bounds[i]
		for n := uint64(1); n <= last; n++ {
			two := new(big.Int).Lsh(big.NewInt(1), uint(n))
			want := new(big.Int).Sub(two, big.NewInt(2))
			if i == 1 {
				want.Sub(two.Add(two, two), new(big.Int).SetUint64(2*n+2))
			}
			if got := b.Value(n); !want.IsUint64() || got != want.Uint64() {
				t.Errorf("%s is %d for %d processes, want %s", b.Formula, got, n, want)
			}
		}
		if got := b.Value(last + 1); got != math.MaxUint64 {
			t.Errorf("%s is %d for %d processes; it is more", b.Formula, got, last+1)
		}
	}
}
