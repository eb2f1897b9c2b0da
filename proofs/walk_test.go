package proofs_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/study/finite"
	"ringleader.example/ringleader/internal/study/logic"
	"ringleader.example/ringleader/internal/study/models"
)

// scenario is how a model is walked at random on few things.
type scenario struct {
	interpretation func(m *logic.Model) (*finite.Interpretation, error)
	walks          int
	steps          int
	never          string             // an action that cannot happen in this instance
	weights        map[string]float64 // how often an action is preferred; the default is 1
	best           func(i *finite.Interpretation, s *finite.State) int
	least          int // what the best walk must reach
}

// ring returns the scenario of a ring: leaders are what counts.
func ring(integers finite.Range, weights map[string]float64, leaders string, ids ...int) scenario {
	return scenario{
		interpretation: func(m *logic.Model) (*finite.Interpretation, error) { return models.Ring(m, ids, integers) },
		walks:          30, steps: 200, weights: weights, least: 1,
		best: func(i *finite.Interpretation, s *finite.State) int { return count(i, s, leaders) },
	}
}

var none = finite.Range{}

var scenarios = map[string]scenario{
	"lcr":                 ring(none, nil, "leads", 2, 4, 1, 3),
	"hirschberg-sinclair": ring(none, nil, "leads", 2, 4, 1, 3),
	"ring-bully":          ring(none, nil, "leads", 2, 4, 1, 3),
	"lelann":              ring(none, nil, "leads", 2, 4, 1, 3),
	"franklin":            ring(finite.Range{Least: 0, Most: 3}, nil, "leads", 2, 4, 1, 3),
	"tree":                {interpretation: smallTree, never: "alone", walks: 30, steps: 60, best: func(i *finite.Interpretation, s *finite.State) int { return count(i, s, "leads") }, least: 1},
	"dolev-klawe-rodeh":   ring(finite.Range{Least: -1, Most: 3}, nil, "leads", 2, 4, 1, 3),
	"peterson":            ring(finite.Range{Least: -1, Most: 3}, nil, "leads", 2, 4, 1, 3),
	"bully":               {interpretation: fourProcesses, walks: 30, steps: 60, weights: map[string]float64{"crash": .1}, best: func(i *finite.Interpretation, s *finite.State) int { return count(i, s, "coordinator") }, least: 2},
	"verify-leader":       {interpretation: threeMembers, walks: 60, steps: 60, weights: map[string]float64{"renew": .3}, best: func(i *finite.Interpretation, s *finite.State) int { return count(i, s, "verified") }, least: 2},
	"quorum-bully":        {interpretation: fourMembers, walks: 120, steps: 150, weights: quorumBullyWeights, best: story, least: 1},
}

// count returns for how many arguments a state function of truth values is true.
func count(i *finite.Interpretation, s *finite.State, name string) (number int) {
	for _, f := range i.Facts(s, i.Initial()) {
		if f.Symbol.Name == name && f.Value == 1 {
			number++
		}
	}
	return number
}

// Random walks: each action happens, and each invariant holds in each state. So the axioms have a model, and no guard is impossible.
func TestEveryActionHappensAndEveryInvariantHolds(t *testing.T) {
	for _, name := range models.Names() {
		t.Run(name, func(t *testing.T) {
			sc, there := scenarios[name]
			if !there {
				t.Fatal("there is no scenario")
			}
			m := load(t, name)
			i, err := sc.interpretation(m)
			if err != nil {
				t.Fatal(err)
			}
			happened, best, states := map[string]int{}, 0, 0
			random := rand.New(rand.NewPCG(1, 2))
			for range sc.walks {
				s := i.Initial()
				var told []string
				for range sc.steps {
					action, args := sc.choose(i, s, random)
					if action == nil {
						break
					}
					told = append(told, fmt.Sprint(action.Name, args))
					happened[action.Name]++
					states++
					s = i.After(action, s, args...)
					if broken := i.Broken(s); len(broken) > 0 {
						t.Fatalf("%s does not hold after\n%s", logic.Names(broken), strings.Join(told, "\n"))
					}
					for _, l := range m.Lemmas {
						if !i.Holds(l, s) {
							t.Fatalf("the lemma %s does not hold after\n%s", l.Name, strings.Join(told, "\n"))
						}
					}
				}
				best = max(best, sc.best(i, s))
			}
			t.Logf("%d states, best %d, %v", states, best, happened)
			for _, a := range m.Actions {
				if happened[a.Name] == 0 && a.Name != sc.never {
					t.Errorf("%s never happens", a.Name)
				}
			}
			if best < sc.least {
				t.Errorf("the best walk reaches %d, want %d", best, sc.least)
			}
		})
	}
}

// choose returns an action that is possible and changes the state, and its arguments.
func (sc *scenario) choose(i *finite.Interpretation, s *finite.State, random *rand.Rand) (*logic.Action, []int) {
	actions := slices.Clone(i.Model.Actions)
	for len(actions) > 0 {
		sum := 0.0
		for _, a := range actions {
			sum += sc.weight(a)
		}
		at, r := 0, random.Float64()*sum
		for r -= sc.weight(actions[0]); r > 0 && at+1 < len(actions); r -= sc.weight(actions[at]) {
			at++
		}
		a := actions[at]
		var all [][]int
		i.Possible(a, s, func(args []int) bool {
			all = append(all, slices.Clone(args))
			return true
		})
		random.Shuffle(len(all), func(x, y int) { all[x], all[y] = all[y], all[x] })
		for _, args := range all {
			if sc.near(a, s, i, args) && !i.After(a, s, args...).Equal(s) {
				return a, args
			}
		}
		actions = slices.Delete(actions, at, at+1)
	}
	return nil, nil
}

func (sc *scenario) weight(a *logic.Action) float64 {
	if w, there := sc.weights[a.Name]; there {
		return w
	}
	return 1
}

// near reports whether times among the arguments are near the present, so that walks get somewhere.
func (sc *scenario) near(a *logic.Action, s *finite.State, i *finite.Interpretation, args []int) bool {
	now := i.Model.State("now")
	if now == nil {
		return true
	}
	for k, p := range a.Parameters {
		if t := args[k] - i.Value(s, now); p.Sort == logic.Int && (t > lease+1 || p.Name == "N" && t > 1) {
			return false
		}
	}
	return true
}

// fourProcesses is an instance of Bully.
func fourProcesses(m *logic.Model) (*finite.Interpretation, error) {
	return finite.New(m, map[string][]string{"Process": {"1", "2", "3", "4"}}, none, map[string]func([]int) int{
		"less": func(a []int) int { return map[bool]int{true: 1}[a[0] < a[1]] },
	})
}

// smallTree is a tree of a path 1 - 2 - 3 and a leaf 4 at 2.
func smallTree(m *logic.Model) (*finite.Interpretation, error) {
	truth := map[bool]int{true: 1}
	edge := func(p, q int) bool { return p != q && (p == 1 || q == 1) }
	toward := func(p, x int) int {
		if p == 1 {
			return x
		}
		return 1
	}
	return finite.New(m, map[string][]string{"Process": {"1", "2", "3", "4"}}, none, map[string]func([]int) int{
		"edge":   func(a []int) int { return truth[edge(a[0], a[1])] },
		"toward": func(a []int) int { return toward(a[0], a[1]) },
		"behind": func(a []int) int {
			return truth[edge(a[0], a[1]) && (a[0] == a[2] || a[1] != a[2] && toward(a[0], a[2]) != a[1])]
		},
		"less": func(a []int) int { return truth[a[0] < a[1]] },
	})
}

// threeMembers is an instance of VerifyLeader: its majorities are of two members or three.
func threeMembers(m *logic.Model) (*finite.Interpretation, error) {
	quorums := []int{0b011, 0b101, 0b110, 0b111}
	return finite.New(m, map[string][]string{"Member": {"1", "2", "3"}, "Quorum": {"12", "13", "23", "123"}, "Claim": {"A", "B", "C"}}, finite.Range{Least: 0, Most: 3}, map[string]func([]int) int{
		"among":  func(a []int) int { return quorums[a[1]] >> a[0] & 1 },
		"common": func(a []int) int { return bits.TrailingZeros(uint(quorums[a[0]] & quorums[a[1]])) },
		"term":   func(a []int) int { return a[0] + 1 },
	})
}

// The instance of quorum-bully: four members, and lives, claims and voters that are chosen beforehand.
const lease = 3 // of grants and of shares; the longest

type (
	voters struct {
		name          string
		term, version int
		maker         string
		members       uint // bits
	}
	claim struct {
		name, life string
		term       int
		base       string
	}
)

var (
	someVoters = []voters{
		{"f", 0, 0, "A", 0b0111},
		{"a0", 1, 0, "A", 0b0111},
		{"a1", 1, 1, "A", 0b1111},
		{"a2", 1, 2, "A", 0b1011},
		{"a3", 1, 3, "A", 0b1010},
		{"b0", 2, 1, "B", 0b1111},
		{"b1", 2, 2, "B", 0b1110},
		{"c0", 3, 0, "C", 0b0111},
		{"c1", 3, 1, "C", 0b0011},
	}
	someClaims = []claim{
		{"A", "l0", 1, "f"},
		{"A2", "l3", 1, "f"},
		{"B", "l1", 2, "a1"},
		{"C", "l2", 3, "f"},
		{"E", "l1", 4, "a2"},
		{"H", "l0", 4, "a3"},
		{"I", "l2", 5, "b1"},
	}
	someLives = []string{"l0", "l1", "l2", "l3"}

	quorumBullyWeights = map[string]float64{
		"tick": .4, "crash": .1, "die": .01, "release": .03, "stop-work": .05, "claim": .3, "unbind": .3, "adopt": .3, "rename": 9, "change": 9,
		"win": 5, "count": 3, "repeat-claim": .1, "grant-renew": .8, "tell-kept": 2, "renew": .3, "extend": .4, "answer-older": .05,
	}
)

// isMajority reports whether some of them are a majority of all.
func isMajority(some, all uint) bool {
	return some&^all == 0 && 2*bits.OnesCount(some) > bits.OnesCount(all)
}

// haveMeetingMajorities reports whether each majority of some members has one in common with each majority of the others, of n in all.
func haveMeetingMajorities(a, b uint, n int) bool {
	for q := range uint(1) << n {
		for r := range uint(1) << n {
			if isMajority(q, a) && isMajority(r, b) && q&r == 0 {
				return false
			}
		}
	}
	return true
}

// Any two sets of voters that differ by one member have meeting majorities: the assumption of that name, for up to seven members.
func TestMajoritiesMeetIfVotersDifferByOneMember(t *testing.T) {
	const n = 7
	for a := uint(1); a < 1<<n; a++ {
		for x := range n {
			b := a ^ 1<<x
			// The smallest majorities decide: others contain one of them.
			if b != 0 && bits.OnesCount(a)/2+1+bits.OnesCount(b)/2+1 <= bits.OnesCount(a|b) {
				t.Errorf("%b and %b", a, b)
			}
		}
	}
	for a := uint(1); a < 1<<4; a++ { // and the dumb way
		for x := range 4 {
			if b := a ^ 1<<x; b != 0 && !haveMeetingMajorities(a, b, 4) {
				t.Errorf("%b and %b", a, b)
			}
		}
	}
}

func fourMembers(m *logic.Model) (*finite.Interpretation, error) {
	names := map[string][]string{"Member": {"1", "2", "3", "4"}, "Life": someLives}
	for q := uint(1); q < 1<<4; q++ {
		names["Quorum"] = append(names["Quorum"], fmt.Sprintf("%04b", q))
	}
	claims, versions := map[string]int{}, map[string]int{}
	for k, v := range someVoters {
		names["Voters"] = append(names["Voters"], v.name)
		versions[v.name] = k
	}
	for k, c := range someClaims {
		names["Claim"] = append(names["Claim"], c.name)
		claims[c.name] = k
	}
	truth := map[bool]int{true: 1}
	return finite.New(m, names, finite.Range{Least: 0, Most: 16}, map[string]func([]int) int{
		"among":    func(a []int) int { return (a[1] + 1) >> a[0] & 1 },
		"majority": func(a []int) int { return truth[isMajority(uint(a[0]+1), someVoters[a[1]].members)] },
		"meets": func(a []int) int {
			return truth[haveMeetingMajorities(someVoters[a[0]].members, someVoters[a[1]].members, 4)]
		},
		"common":     func(a []int) int { return bits.TrailingZeros(uint((a[0]+1)&(a[1]+1)|1<<3)) % 4 },
		"same":       func(a []int) int { return truth[someVoters[a[0]].members == someVoters[a[1]].members] },
		"term-of":    func(a []int) int { return someVoters[a[0]].term },
		"version-of": func(a []int) int { return someVoters[a[0]].version },
		"maker":      func(a []int) int { return claims[someVoters[a[0]].maker] },
		"first":      func([]int) int { return 0 },
		"term":       func(a []int) int { return someClaims[a[0]].term },
		"life":       func(a []int) int { return slices.Index(someLives, someClaims[a[0]].life) },
		"base":       func(a []int) int { return versions[someClaims[a[0]].base] },
		"length":     func(a []int) int { return lengthOf(a[0], a[1]) },
		"varies":     func(a []int) int { return truth[vary(a[0])] },
		"share-end":  func(a []int) int { return a[1] + lengthOf(a[0], a[1]) },
	})
}

// vary reports whether requests of a claim have different lengths.
func vary(claim int) bool { return claim%2 == 0 }

// lengthOf returns that of the request of a claim that leaves at a time. None ends before an earlier one.
func lengthOf(claim, at int) int {
	if vary(claim) && at%2 == 1 {
		return lease - 1
	}
	return lease
}

// story returns 1 for a walk with a crash and a second leader, in which a leader has given its term to its voters and has then changed them.
func story(i *finite.Interpretation, s *finite.State) int {
	crashed := false
	for v := range 4 {
		crashed = crashed || i.Value(s, i.Model.State("wait-end"), v) > 0
	}
	if crashed && count(i, s, "won") >= 2 && count(i, s, "made") >= 3 {
		return 1
	}
	return 0
}
