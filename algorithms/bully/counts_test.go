package bully_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
)

// among returns the options of a run among processes 1 … n with these parameters.
func among(n int, parameters map[string]string) simulate.Options {
	ids := make(election.List, n)
	for p := range ids {
		ids[p] = uint64(p) + 1
	}
	return simulate.Options{Setup: network.Setup{IDs: ids, Parameters: parameters}}
}

// dead makes processes dead from the beginning, by identifier.
func dead(o *simulate.Options, ids ...int) {
	for _, id := range ids {
		o.Faults.Dead = append(o.Faults.Dead, id-1)
	}
}

// crash makes a process crash, by identifier.
func crash(o *simulate.Options, id int, at uint64) {
	o.Faults.Crashes = append(o.Faults.Crashes, faults.Crash{Process: id - 1, At: election.Units(at)})
}

// recovers makes a process recover, by identifier.
func recovers(o *simulate.Options, id int, at uint64) {
	o.Faults.Recoveries = append(o.Faults.Recoveries, faults.Recovery{Process: id - 1, At: election.Units(at)})
}

// starting makes only these processes initiate, by identifier.
func starting(o *simulate.Options, ids ...int) {
	for _, id := range ids {
		o.Initiators = append(o.Initiators, id-1)
	}
}

func run(t *testing.T, a election.Algorithm[bully.Process, bully.Message], o simulate.Options) *simulate.Result {
	t.Helper()
	r := electiontest.Run(t, a, o)
	return r
}

// sum returns the sum of f over from … to.
func sum(from, to int, f func(int) int) (total int) {
	for j := from; j <= to; j++ {
		total += f(j)
	}
	return total
}

// told returns the number of processes to which a winner announces itself.
func told(n, winner int, victory string) int {
	if victory == "lower" {
		return winner - 1
	}
	return n - 1
}

func expectCounts(t *testing.T, what string, r *simulate.Result, winner, elections, answers, coordinators int) {
	t.Helper()
	want := []uint64{uint64(elections), uint64(answers), uint64(coordinators)}
	if !slices.Equal(r.Messages.ByKind, want) || !r.Right || r.Leaders[0] != winner-1 {
		t.Fatalf("%s: messages %v, want %v; leaders at %v, right %v", what, r.Messages.ByKind, want, r.Leaders, r.Right)
	}
}

// One process i asks first: every live process j >= i asks all higher ones, and answers all live processes that are
// lower. The highest of all wins again for each question, or announces itself to the asker only. Any other winner wins once.
func TestMessagesForEveryInitiatorAndEverySetOfCrashedProcesses(t *testing.T) {
	largest := 8
	if *long {
		largest = 10
	}
	for n := 1; n <= largest; n++ {
		for set := range 1<<n - 1 {
			isDead := func(id int) bool { return set>>(id-1)&1 == 1 }
			for i := 1; i <= n; i++ {
				if isDead(i) {
					continue
				}
				winner, living, elections := i, 0, 0
				for j := i; j <= n; j++ {
					if !isDead(j) {
						winner, living, elections = j, living+1, elections+n-j
					}
				}
				for _, victory := range []string{"others", "lower"} {
					for _, asked := range []string{"elects", "tells"} {
						if asked == "tells" && victory == "lower" {
							continue // nothing new
						}
						coordinators := told(n, winner, victory)
						if winner == n && winner > i {
							again := told(n, winner, victory)
							if asked == "tells" {
								again = 1
							}
							coordinators += (living - 2) * again
						}
						o := among(n, map[string]string{"victory": victory, "asked-coordinator": asked})
						for j := 1; j <= n; j++ {
							if isDead(j) {
								dead(&o, j)
							}
						}
						starting(&o, i)
						what := fmt.Sprintf("N=%d, dead %b, %d starts, victory=%s, asked-coordinator=%s", n, set, i, victory, asked)
						expectCounts(t, what, run(t, bully.Algorithm, o), winner, elections, living*(living-1)/2, coordinators)
					}
				}
			}
		}
	}
}

// The formulas and numbers of the literature, with N dead and not known to be dead.
func TestStatedMessages(t *testing.T) {
	for n := 2; n <= 10; n++ {
		for i := 1; i < n; i++ {
			o := among(n, map[string]string{"victory": "lower"})
			dead(&o, n)
			starting(&o, i)
			expectCounts(t, fmt.Sprintf("N=%d, %d starts", n, i), run(t, bully.Algorithm, o),
				n-1, (n-i)*(n-i+1)/2, (n-1-i)*(n-i)/2, n-2)
		}
	}
	o := among(10, nil)
	dead(&o, 8, 9, 10)
	starting(&o, 1)
	expectCounts(t, "N=10, 8 to 10 dead, 1 starts", run(t, bully.Algorithm, o), 7, 42, 21, 9)
}

var totalsAtOnce = []int{2: 1, 5, 11, 19, 29, 41, 55, 71, 89}

func TestAllStartAtOnce(t *testing.T) {
	for n := 2; n <= 10; n++ {
		for _, victory := range []string{"others", "lower"} {
			o := among(n, map[string]string{"victory": victory})
			dead(&o, n)
			r := run(t, bully.Algorithm, o)
			expectCounts(t, fmt.Sprintf("N=%d, victory=%s", n, victory), r, n-1, n*(n-1)/2, (n-1)*(n-2)/2, told(n, n-1, victory))
			if victory == "lower" && r.Messages.Total != uint64(totalsAtOnce[n]) {
				t.Errorf("N=%d: %d messages, want %d", n, r.Messages.Total, totalsAtOnce[n])
			}
		}
	}
}

// S2's exercise 5(b): all detect at one moment that their coordinator has crashed. The messages are those of an
// election that all initiate at once.
func TestAllDetectACrashAtOnce(t *testing.T) {
	for n := 2; n <= 10; n++ {
		o := among(n, map[string]string{"victory": "lower"})
		first := run(t, bully.Algorithm, o)
		crash(&o, n, 100)
		second := run(t, bully.Algorithm, o)
		if sent := second.Messages.Total - first.Messages.Total; sent != uint64(totalsAtOnce[n]) || !second.Right {
			t.Errorf("N=%d: %d messages after the crash, want %d; right %v", n, sent, totalsAtOnce[n], second.Right)
		}
	}
}

// The trap of skipping processes that are known to be dead: N-1 wins at once, and again for each later question,
// unless a coordinator that is asked announces itself to the asker only.
func TestKnownDeadAreSkippedAndTheWinnerWinsAgain(t *testing.T) {
	for n := 2; n <= 10; n++ {
		for i := 1; i < n; i++ {
			questions := n - 1 - i // that N-1 receives
			for _, victory := range []string{"others", "lower"} {
				all := told(n, n-1, victory)
				for asked, coordinators := range map[string]int{
					"elects": max(1, questions) * all, "tells": all + max(0, questions-1),
				} {
					o := among(n, map[string]string{"known-dead": "skipped", "victory": victory, "asked-coordinator": asked})
					dead(&o, n)
					starting(&o, i)
					what := fmt.Sprintf("N=%d, %d starts, victory=%s, asked-coordinator=%s", n, i, victory, asked)
					expectCounts(t, what, run(t, bully.Algorithm, o), n-1, questions*(n-i)/2, questions*(n-i)/2, coordinators)
				}
			}
		}
	}
	for _, test := range []struct {
		i, coordinators int
		parameters      map[string]string
	}{
		{1, 9, map[string]string{"victory": "lower"}},
		{1, 12, map[string]string{"victory": "others"}},
		{1, 5, map[string]string{"victory": "lower", "asked-coordinator": "tells"}},
		{1, 6, map[string]string{"victory": "others", "asked-coordinator": "tells"}},
		{4, 3, map[string]string{"victory": "lower"}}, // the best case, commonly stated as N-2
	} {
		test.parameters["known-dead"] = "skipped"
		o := among(5, test.parameters)
		dead(&o, 5)
		starting(&o, test.i)
		if sent := run(t, bully.Algorithm, o).Messages.ByKind[bully.Coordinator]; sent != uint64(test.coordinators) {
			t.Errorf("%d starts, %v: %d coordinator messages, want %d", test.i, test.parameters, sent, test.coordinators)
		}
	}
}

func TestTimes(t *testing.T) {
	for n := 3; n <= 10; n++ {
		for _, t1 := range []int{3, 4, 17} {
			o := among(n, map[string]string{"answer-timeout": fmt.Sprint(t1)})
			dead(&o, n)
			for what, test := range map[string]struct{ starters, after []int }{
				"a lower one starts": {[]int{1}, []int{2}}, "the highest living one starts": {[]int{n - 1}, []int{1}}, "all start": {nil, []int{1}},
			} {
				o := o
				starting(&o, test.starters...)
				r := run(t, bully.Algorithm, o)
				if want := election.Units(uint64(t1 + test.after[0])); r.Time.Decided != want || !r.Right {
					t.Errorf("N=%d, T1=%d, %s: decided at %s, want %s", n, t1, what, r.Time.Decided, want)
				}
			}
		}
	}
}

// S2 figures 2.7 and 2.8: 7 has failed, and 4 notices. Tanenbaum's group, from which the figures are, begins with 0.
func TestFigures27And28(t *testing.T) {
	for _, test := range []struct {
		first        uint64
		victory      string
		coordinators int
	}{{1, "lower", 5}, {1, "others", 6}, {0, "lower", 6}, {0, "others", 7}} {
		var ids []uint64
		for id := test.first; id <= 7; id++ {
			ids = append(ids, id)
		}
		at := func(id uint64) int { return int(id - test.first) }
		i := network.On(ids...)
		i.Parameters = map[string]string{"victory": test.victory}
		o := simulate.Options{Setup: i, Initiators: []int{at(4)}, Record: true}
		o.Faults.Dead = []int{at(7)}
		r := run(t, bully.Algorithm, o)
		expectCounts(t, fmt.Sprintf("identifiers from %d, victory=%s", test.first, test.victory), r, at(6)+1, 6, 3, test.coordinators)

		var story bytes.Buffer
		if err := r.Record.Story(&story); err != nil {
			t.Fatal(err)
		}
		rest := strings.Join(strings.Fields(story.String()), " ")
		for _, step := range []string{
			"4 initiates sends ⟨election⟩ to 5, 6 and 7",                                    // 2.7(a)
			"5 receives ⟨election⟩ from 4 sends ⟨answer⟩ to 4; sends ⟨election⟩ to 6 and 7", // (b) and (c)
			"6 receives ⟨election⟩ from 4 sends ⟨answer⟩ to 4; sends ⟨election⟩ to 7",       // likewise
			"6 receives ⟨election⟩ from 5 sends ⟨answer⟩ to 5",                              // 2.8(d)
			"6 answer timer expires sends ⟨coordinator⟩ to " + fmt.Sprint(test.first) + ",", // (e)
		} {
			_, after, found := strings.Cut(rest, step)
			if !found {
				t.Fatalf("no step %q where it should be in:\n%s", step, story.String())
			}
			rest = after
		}
	}
}
