package bully_test

import (
	"fmt"
	"testing"

	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/simulate"
)

// expectLeader expects that all agree on that process.
func expectLeader(t *testing.T, what string, r *simulate.Result, leader int) {
	t.Helper()
	if !r.Right || r.Leaders[0] != leader-1 {
		t.Errorf("%s: leaders at %v, %d of %d decided, right %v; want %d", what, r.Leaders, r.Decided, r.Live, r.Right, leader)
	}
}

// S4, liveness: "the would-be leader failing after sending an Answer message but before sending a Coordinator message".
func TestWouldBeLeaderDiesBetweenAnswerAndCoordinator(t *testing.T) {
	patient := bully.Algorithm // without the parenthesis of rule 3
	patient.Timeout = func(p *bully.Process, timer election.Timer, out *election.Out[bully.Message]) {
		if timer != bully.VictoryTimeout {
			p.Timeout(timer, out)
		}
	}
	for n := 4; n <= 8; n++ {
		for i := 1; i < n-1; i++ {
			for at := uint64(1); at <= 5; at++ { // it answers from 1 on, and would win at 4
				o := among(n, nil)
				dead(&o, n)
				starting(&o, i)
				crash(&o, n-1, at)
				expectLeader(t, fmt.Sprintf("N=%d, %d starts, %d dies at %d", n, i, n-1, at), run(t, bully.Algorithm, o), n-2)
				if r := run(t, patient, o); at == 3 && r.Decided > 0 {
					t.Errorf("N=%d, %d starts: %d decided without a victory timeout", n, i, r.Decided)
				}
			}
		}
	}
}

// "Processes may fail at any time, including during execution of the algorithm": a leader crashes in the middle of
// its announcement, so that only some processes hear of it.
func TestLeaderDiesWhileAnnouncing(t *testing.T) {
	for n := 2; n <= 8; n++ {
		for i := 1; i <= n; i++ {
			for sends := range n - 1 {
				o := among(n, nil)
				starting(&o, i)
				if i == n { // else no other process may know that there is an election
					o.Initiators = nil
				}
				o.Faults.Crashes = []faults.Crash{{Process: n - 1, Amid: true, Sends: sends}}
				r := run(t, bully.Algorithm, o)
				expectLeader(t, fmt.Sprintf("N=%d, %d starts, %d dies after %d messages", n, i, n, sends), r, n-1)
				if len(r.Dead) != 1 {
					t.Errorf("N=%d, %d starts: %d does not die", n, i, n)
				}
			}
		}
	}
}

// S4, liveness: "If the failed process recovers in time, it simply sends a Coordinator message to all of the group."
// Only the highest of all does so. Any other process first asks the higher ones, by rule 1.
func TestWouldBeLeaderRecoversInTime(t *testing.T) {
	for n := 4; n <= 8; n++ {
		o := among(n, nil)
		dead(&o, n)
		starting(&o, 1)
		crash(&o, n-1, 3)
		recovers(&o, n-1, 5)
		r := run(t, bully.Algorithm, o)
		expectLeader(t, fmt.Sprintf("N=%d", n), r, n-1)
		if asked, once := r.Messages.ByKind[bully.Election], sum(1, n-1, func(j int) int { return n - j }); asked <= uint64(once) {
			t.Errorf("N=%d: %d election messages; %d were sent before the crash", n, asked, once)
		}
	}
}

func TestHighestThatRecoversAnnouncesItselfAndAsksNoProcess(t *testing.T) {
	for n := 2; n <= 10; n++ {
		o := among(n, nil)
		crash(&o, n, 100)
		before := run(t, bully.Algorithm, o)
		recovers(&o, n, 200)
		after := run(t, bully.Algorithm, o)
		expectLeader(t, fmt.Sprintf("N=%d", n), after, n)
		if more := after.Messages.Total - before.Messages.Total; more != uint64(n-1) {
			t.Errorf("N=%d: %d messages for the recovery, want %d", n, more, n-1)
		}
	}
}

// Coordinators crash one after the other, and recover in reverse order. Each crash costs as much as an election that
// all live processes initiate at once.
func TestRepeatedElections(t *testing.T) {
	for n := 2; n <= 8; n++ {
		o := among(n, nil)
		last := run(t, bully.Algorithm, o).Messages
		for left := n - 1; left >= 1; left-- {
			crash(&o, left+1, uint64(100*(n-left)))
			r := run(t, bully.Algorithm, o)
			expectLeader(t, fmt.Sprintf("N=%d, %d left", n, left), r, left)
			for kind, want := range []int{sum(1, left, func(j int) int { return n - j }), left * (left - 1) / 2, n - 1} {
				if sent := r.Messages.ByKind[kind] - last.ByKind[kind]; sent != uint64(want) {
					t.Errorf("N=%d, %d left: %d messages of kind %d, want %d", n, left, sent, kind, want)
				}
			}
			last = r.Messages
		}
		for back := 2; back <= n; back++ {
			recovers(&o, back, uint64(100*(n+back)))
			expectLeader(t, fmt.Sprintf("N=%d, %d is back", n, back), run(t, bully.Algorithm, o), back)
		}
	}
}

// someStart makes a random set of processes below n initiate.
func someStart(o *simulate.Options, below int, seed uint64) {
	source := random.New(seed, random.Choices)
	set := 1 + int(source.Below(1<<below-1))
	for p := range below {
		if set>>p&1 == 1 {
			o.Initiators = append(o.Initiators, p)
		}
	}
}

// wrongEnds counts the runs that end without agreement on the right leader, of 3000 runs of 5 processes with 5 dead.
// If any is wanted, it stops at the first.
func wrongEnds(t *testing.T, a election.Algorithm[bully.Process, bully.Message], delay, t1 int, victory, bullying string, wanted bool) (wrong int) {
	t.Helper()
	parameters := map[string]string{
		"delay": fmt.Sprint(delay), "answer-timeout": fmt.Sprint(t1), "victory": victory, "bullying": bullying,
	}
	for seed := range uint64(3000) {
		o := among(5, parameters)
		o.Seed = seed
		dead(&o, 5)
		someStart(&o, 4, seed)
		if r := run(t, a, o); !r.Right {
			wrong++
		}
		if wanted && wrong > 0 {
			break
		}
	}
	return wrong
}

// A process that waits for too short a time wins over a live higher one. With S4 as printed that stays. If the winner
// announces itself to all others, the higher process contests it, and the result heals. If only to the lower ones, healing
// needs processes that contest a coordinator below the one that they follow.
func TestTooShortAnAnswerTimeout(t *testing.T) {
	older := bully.Algorithm
	older.Receive = believer
	for _, test := range []struct{ delay, t1 int }{{2, 3}, {2, 4}, {3, 6}} {
		for _, machine := range []struct {
			name, victory, bullying string
			a                       election.Algorithm[bully.Process, bully.Message]
			wrong                   bool
		}{
			{"as it is", "others", "yes", bully.Algorithm, false},
			{"as it is", "lower", "yes", bully.Algorithm, false},
			{"the older statements of S4", "others", "yes", older, false},
			{"the older statements of S4", "lower", "yes", older, true},
			{"S4 as printed", "others", "no", bully.Algorithm, true},
			{"S4 as printed", "lower", "no", bully.Algorithm, true},
		} {
			wrong := wrongEnds(t, machine.a, test.delay, test.t1, machine.victory, machine.bullying, machine.wrong)
			if wrong > 0 != machine.wrong {
				t.Errorf("delay %d, T1=%d, %s, victory=%s: %d wrong ends", test.delay, test.t1, machine.name, machine.victory, wrong)
			}
		}
	}
}

// A timer that is due together with the answer expires first, so 2·delay is too short, and one unit more is enough.
func TestOneUnitMoreThanTheRoundTripIsEnough(t *testing.T) {
	for _, delay := range []int{2, 3} {
		for _, victory := range []string{"others", "lower"} {
			if wrong := wrongEnds(t, bully.Algorithm, delay, 2*delay+1, victory, "no", false); wrong > 0 {
				t.Errorf("delay %d, victory=%s: %d wrong ends", delay, victory, wrong)
			}
		}
	}
}

// storm makes processes crash at random, some of them during a broadcast, and most recover, within S4's assumptions.
func storm(o *simulate.Options, n int, source *random.Source) {
	for p := 1; p <= n; p++ {
		at := source.Below(40)
		for range source.Below(3) {
			crash(o, p, at)
			if source.Below(3) == 0 {
				last := &o.Faults.Crashes[len(o.Faults.Crashes)-1]
				last.Amid, last.Sends = true, int(source.Below(uint64(n)))
			}
			at += 1 + source.Below(30)
			if p != 1 && source.Below(4) == 0 { // one process must live to lead
				break
			}
			recovers(o, p, at)
			at += 1 + source.Below(30)
		}
	}
}

func TestTenThousandRandomRunsAgree(t *testing.T) {
	known, asked := []string{"asked", "skipped", "decides"}, []string{"elects", "tells"}
	crashes, told := 0, uint64(0)
	for seed := range uint64(10_000) {
		source := random.New(seed, random.Choices)
		n := 2 + int(source.Below(6))
		parameters := map[string]string{
			"delay": fmt.Sprint(1 + source.Below(4)), "known-dead": known[seed%3], "asked-coordinator": asked[seed/3%2],
		}
		o := among(n, parameters)
		o.Seed = seed
		storm(&o, n, source)
		r := run(t, bully.Algorithm, o)
		if !r.Right {
			t.Fatalf("seed %d, N=%d, %v: leaders at %v, %d of %d decided\n%+v", seed, n, parameters, r.Leaders, r.Decided, r.Live, o)
		}
		crashes += len(o.Faults.Crashes)
		told += r.Messages.ByKind[bully.Coordinator]
	}
	if crashes < 10_000 || told < 100_000 {
		t.Errorf("%d crashes and %d messages of coordinators: these runs prove little", crashes, told)
	}
}
