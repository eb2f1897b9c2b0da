package modifiedbully_test

import (
	"fmt"
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/modifiedbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

type (
	process = modifiedbully.Process
	message = modifiedbully.Message
	effects = election.Out[message]
)

func TestConformance(t *testing.T) {
	electiontest.Conform(t, modifiedbully.Algorithm, electiontest.Options{
		Parameters: []map[string]string{nil, {"victory": "lower"}},
	})
	electiontest.Conform(t, modifiedbully.Algorithm, electiontest.Options{
		Parameters: []map[string]string{{"delay": "2"}}, Verify: 2, // TestEverySchedule goes further
	})
}

func TestMessagesByFormulaForEveryInitiatorAndEveryDeadSet(t *testing.T) {
	for n := 1; n <= 10; n++ {
		for dead := range 1 << n {
			winner := highest(n, dead)
			for i := 1; i <= winner; i++ { // processes are 1 … n, positions one less
				if dead>>(i-1)&1 == 1 || n > 7 && dead != 1<<(n-1) && dead != 0 {
					continue
				}
				answer, grant := 0, 0
				for j := i + 1; j <= winner; j++ {
					answer += 1 - dead>>(j-1)&1
					grant = 1
				}
				for _, victory := range []string{"others", "lower"} {
					told := n - 1
					if victory == "lower" {
						told = winner - 1
					}
					for _, delay := range []uint64{1, 3} {
						want := []uint64{uint64(n - i), uint64(answer), uint64(grant), uint64(told)}
						r := run(t, n, dead, []int{i - 1}, victory, delay)
						if !slices.Equal(r.Messages.ByKind, want) || !r.Right {
							t.Fatalf("N=%d, dead %b, %d starts, victory %s, delay %d: %v, want %v; right %v",
								n, dead, i, victory, delay, r.Messages.ByKind, want, r.Right)
						}
					}
				}
			}
		}
	}
}

// highest returns the largest of 1 … n whose bit is not set; 0 if all are.
func highest(n, dead int) int {
	for n > 0 && dead>>(n-1)&1 == 1 {
		n--
	}
	return n
}

func run(t *testing.T, n, dead int, starters []int, victory string, delay uint64) *simulate.Result {
	t.Helper()
	ids := make(election.List, n)
	o := simulate.Options{Initiators: starters, Seed: uint64(n * dead)}
	for p := range ids {
		ids[p] = uint64(p) + 1
		if dead>>p&1 == 1 {
			o.Faults.Dead = append(o.Faults.Dead, p)
		}
	}
	o.Setup = network.Setup{IDs: ids, Parameters: map[string]string{"victory": victory, "delay": fmt.Sprint(delay)}}
	r := electiontest.Run(t, modifiedbully.Algorithm, o)
	return r
}

func TestTotalsOfAlgorithmsSection6(t *testing.T) {
	for n := 2; n <= 10; n++ {
		dead := 1 << (n - 1) // process n
		for i := 1; i < n; i++ {
			want, total := 3*n-2*i-2, run(t, n, dead, []int{i - 1}, "lower", 1).Messages.Total
			if i == n-1 { // no process answers, and none is granted
				want = n - 1
			}
			if total != uint64(want) {
				t.Errorf("N=%d, %d starts: %d messages, want %d", n, i, total, want)
			}
		}
		if n > 2 {
			lower, others := run(t, n, dead, []int{0}, "lower", 1).Messages.Total, run(t, n, dead, []int{0}, "others", 1).Messages.Total
			if lower != uint64(3*n-4) || others != uint64(3*n-3) {
				t.Errorf("N=%d, 1 starts: %d and %d messages, want 3N-4 and 3N-3", n, lower, others)
			}
		}
	}
}

// All live processes detect at once: they ask as often as in Bully, but the winner announces itself once.
func TestAllDetectAtOnce(t *testing.T) {
	for n := 2; n <= 10; n++ {
		starters := make([]int, n-1)
		for p := range starters {
			starters[p] = p
		}
		want := []uint64{uint64(n * (n - 1) / 2), uint64((n - 1) * (n - 2) / 2), uint64(n - 2), uint64(n - 1)}
		if r := run(t, n, 1<<(n-1), starters, "others", 1); !slices.Equal(r.Messages.ByKind, want) || !r.Right {
			t.Errorf("N=%d: %v, want %v; right %v", n, r.Messages.ByKind, want, r.Right)
		}
	}
}

func TestTimeIsT1AndAGrantAndAnAnnouncement(t *testing.T) {
	const t1 = 3 // 2·delay + 1
	for n := 3; n <= 10; n++ {
		for i := 1; i < n; i++ {
			want := election.Units(t1 + 2)
			if i == n-1 {
				want = election.Units(t1 + 1)
			}
			if r := run(t, n, 1<<(n-1), []int{i - 1}, "lower", 1); r.Time.Decided != want {
				t.Errorf("N=%d, %d starts: decided at %s, want %s", n, i, r.Time.Decided, want)
			}
		}
	}
}

func check(t *testing.T, a election.Algorithm[process, message], o verify.Options, delay, victory string) *verify.Report {
	t.Helper()
	return electiontest.Verify(t, a, o, map[string]string{"delay": delay, "victory": victory})
}

func TestEverySchedule(t *testing.T) {
	for i, o := range []verify.Options{
		{Size: 3, Starts: verify.EverySet, Crashes: 1, Recoveries: 1},
		{Size: 3, Starts: verify.AllFirst, Crashes: 2, Recoveries: 1}, // two crashes may stop all initiators
		{Size: 4, Starts: verify.EverySet, Crashes: 1},
	} {
		for d, delay := range []string{"1", "2"} {
			for v, victory := range []string{"others", "lower"} {
				if o.Size == 4 && delay == "2" {
					continue // millions of states
				}
				if o.Size == 3 && (i+d+v)%2 == 1 {
					continue // each two of these meet all the same
				}
				if report := check(t, modifiedbully.Algorithm, o, delay, victory); report.Violation != nil {
					t.Errorf("%d processes, %d crash, delay %s, victory %s: %s: %s",
						o.Size, o.Crashes, delay, victory, report.Violation.Property, report.Violation.Detail)
				}
			}
		}
	}
}

// step replaces Receive for one message. It returns false if Receive is to handle the message.
type step func(p *process, port election.Port, kind election.Kind, out *effects) bool

func instead(do step) election.Algorithm[process, message] {
	mutant := modifiedbully.Algorithm
	mutant.Receive = func(p *process, port election.Port, kind election.Kind, m message, out *effects) {
		if !do(p, port, kind, out) {
			p.Receive(port, kind, m, out)
		}
	}
	return mutant
}

// found expects that the checker finds a mutant with three processes, one crash and one recovery.
func found(t *testing.T, mutant election.Algorithm[process, message], delay, victory, property string) {
	t.Helper()
	report := check(t, mutant, verify.Options{Size: 3, Starts: verify.EverySet, Crashes: 1, Recoveries: 1}, delay, victory)
	if report.Violation == nil || report.Violation.Property != property {
		t.Errorf("found %+v, want %s", report.Violation, property)
	}
}

func TestAnswererThatDoesNotWaitIsFound(t *testing.T) {
	mutant := modifiedbully.Algorithm
	mutant.Receive = func(p *process, port election.Port, kind election.Kind, m message, out *effects) {
		before := p.Stage
		if p.Receive(port, kind, m, out); kind == modifiedbully.Election && before == modifiedbully.Normal {
			p.Stage = modifiedbully.Normal
			out.Stop(modifiedbully.VictoryTimeout)
		}
	}
	found(t, mutant, "1", "others", verify.Undecided)
}

func TestAskerThatDoesNotWaitIsFound(t *testing.T) {
	mutant := modifiedbully.Algorithm
	mutant.Timeout = func(p *process, timer election.Timer, out *effects) {
		if p.Timeout(timer, out); p.Stage == modifiedbully.Waiting {
			p.Stage = modifiedbully.Normal
			out.Stop(modifiedbully.VictoryTimeout)
		}
	}
	found(t, mutant, "1", "others", verify.Undecided)
}

// Here a coordinator answers OK like any other process, and announces itself again if it is granted.
func TestCoordinatorThatAnswersOKIsFound(t *testing.T) {
	found(t, instead(func(p *process, port election.Port, kind election.Kind, out *effects) bool {
		if p.Coordinator != p.ID {
			return false
		}
		switch kind {
		case modifiedbully.Election:
			out.Send(port, modifiedbully.OK, message{})
			return true
		case modifiedbully.Grant:
			p.Coordinator = 0
		}
		return false
	}), "2", "others", verify.Disagreement)
}

func TestGrantThatIsAlwaysTakenIsFound(t *testing.T) {
	found(t, instead(func(p *process, _ election.Port, kind election.Kind, _ *effects) bool {
		if kind == modifiedbully.Grant {
			p.Coordinator = 0
		}
		return false
	}), "1", "lower", verify.TwoLeaders)
}

func TestBelievingALowerCoordinatorIsFound(t *testing.T) {
	found(t, instead(func(p *process, port election.Port, kind election.Kind, out *effects) bool {
		j := election.From(port)
		if kind != modifiedbully.Coordinator || j > p.ID {
			return false
		}
		p.Coordinator, p.Stage = j, modifiedbully.Normal
		out.Stop(modifiedbully.AnswerTimeout)
		out.Stop(modifiedbully.VictoryTimeout)
		out.Follow(j, 0)
		return true
	}), "1", "others", verify.NoLeader)
}

func TestBelievingADeposedCoordinatorIsFound(t *testing.T) {
	found(t, instead(func(p *process, port election.Port, kind election.Kind, _ *effects) bool {
		if kind == modifiedbully.Coordinator && election.From(port) > p.ID {
			p.Coordinator = 0
		}
		return false
	}), "1", "others", verify.Disagreement)
}

// 2·delay is not enough: with the timer before the last answer, a process takes over from a live one.
func TestImpatientProcessIsFound(t *testing.T) {
	for delay, exact := range map[string]string{"1": "2", "2": "4"} {
		o := verify.Options{Size: 3, Starts: verify.EverySet}
		o.Setup.Parameters = map[string]string{"delay": delay, "answer-timeout": exact}
		report, err := verify.Run(modifiedbully.Algorithm, o)
		if err != nil {
			t.Fatal(err)
		}
		if report.Violation == nil || report.Violation.Property != verify.WrongLeader {
			t.Errorf("delay %s, answer-timeout %s: found %+v, want a wrong leader", delay, exact, report.Violation)
		}
	}
}

// Timeouts of any length fit into a process's clock.
func TestLongestTimeouts(t *testing.T) {
	for _, parameters := range []map[string]string{
		{"delay": "1152921504606846976", "answer-timeout": "4611686018427387904"},
		{"victory-timeout": "9223372036854775807"},
	} {
		set, err := modifiedbully.Algorithm.Set(parameters)
		if err != nil {
			t.Fatal(err)
		}
		modifiedbully.Algorithm.New(election.Local{ID: 1, Degree: 2, Parameters: set})
	}
}

func TestHealsWhateverTheTimeout(t *testing.T) {
	premature := 0
	for seed := range uint64(3000) {
		i := network.On(1, 2, 3, 4, 5)
		i.Parameters = map[string]string{"delay": "2", "answer-timeout": "3"}
		o := simulate.Options{Setup: i, Faults: faults.Script{Dead: []int{4}}, Seed: seed, Initiators: []int{int(seed % 4)}}
		r := electiontest.Run(t, modifiedbully.Algorithm, o)
		if !r.Right {
			t.Fatalf("seed %d: leaders at %v", seed, r.Leaders)
		}
		if r.Messages.ByKind[modifiedbully.Coordinator] > 4 {
			premature++
		}
	}
	if premature == 0 {
		t.Error("no process was impatient")
	}
}

// A failure detector that makes mistakes is outside the assumptions. Agreement returns when it stops making them.
func TestAgreesAfterWrongSuspicionsAndCrashes(t *testing.T) {
	for seed := range uint64(10_000) {
		source := random.New(seed, random.Choices)
		n := 2 + int(source.Below(6))
		ids := make(election.List, n)
		for p := range ids {
			ids[p] = uint64(p) + 1
		}
		o := simulate.Options{Setup: network.Setup{IDs: ids, Parameters: map[string]string{"delay": fmt.Sprint(1 + seed%3)}}, Seed: seed}
		for range 1 + source.Below(3) {
			p, at := int(source.Below(uint64(n))), source.Below(60)
			o.Faults.Suspicions = append(o.Faults.Suspicions, faults.Suspicion{
				Process: p, Of: (p + 1 + int(source.Below(uint64(n-1)))) % n,
				At: election.Units(at), Until: election.Units(at + 1 + source.Below(30)),
			})
		}
		if seed%2 == 1 {
			f := faults.Crash{Process: int(source.Below(uint64(n))), At: election.Units(source.Below(60))}
			o.Faults.Crashes = []faults.Crash{f}
			back := f.At.Add(election.Units(1 + source.Below(60)))
			o.Faults.Recoveries = []faults.Recovery{{Process: f.Process, At: back}}
		}
		r := electiontest.Run(t, modifiedbully.Algorithm, o)
		if !r.Right || len(r.Faults) > 0 {
			t.Fatalf("seed %d: leaders at %v, faults %v\n%+v", seed, r.Leaders, r.Faults, o)
		}
	}
}
