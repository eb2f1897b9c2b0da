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
	"tree":                {interpretation: models.SmallTree, never: "alone", walks: 30, steps: 60, best: func(i *finite.Interpretation, s *finite.State) int { return count(i, s, "leads") }, least: 1},
	"dolev-klawe-rodeh":   ring(finite.Range{Least: -1, Most: 3}, nil, "leads", 2, 4, 1, 3),
	"peterson":            ring(finite.Range{Least: -1, Most: 3}, nil, "leads", 2, 4, 1, 3),
	"bully":               {interpretation: models.FourProcesses, walks: 30, steps: 60, weights: map[string]float64{"crash": .1}, best: func(i *finite.Interpretation, s *finite.State) int { return count(i, s, "coordinator") }, least: 2},
	"verify-leader":       {interpretation: models.ThreeMembers, walks: 60, steps: 60, weights: map[string]float64{"renew": .3}, best: func(i *finite.Interpretation, s *finite.State) int { return count(i, s, "verified") }, least: 2},
	"address-book":        {interpretation: models.ThreeBooks, walks: 60, steps: 80, weights: addressBookWeights, best: func(i *finite.Interpretation, s *finite.State) int { return count(i, s, "added") }, least: 3},
	"quorum-bully":        {interpretation: models.FourMembers, walks: 120, steps: 150, weights: quorumBullyWeights, best: story, least: 1},
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
		if t := args[k] - i.Value(s, now); p.Sort == logic.Int && (t > models.Lease+1 || p.Name == "N" && t > 1) {
			return false
		}
	}
	return true
}

var addressBookWeights = map[string]float64{"put-back": .2, "forget": .2, "start": .3, "stop": .1, "connect": .3, "deliver": .3, "crash": .5, "take": 2, "save": 2, "tell": 2}

var quorumBullyWeights = map[string]float64{
	"tick": .4, "crash": .1, "die": .01, "release": .03, "stop-work": .05, "claim": .3, "unbind": .3, "adopt": .3, "rename": 9, "change": 9,
	"win": 5, "count": 3, "repeat-claim": .1, "grant-renew": .8, "tell-kept": 2, "renew": .3, "extend": .4, "answer-older": .05,
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
			if b := a ^ 1<<x; b != 0 && !models.HaveMeetingMajorities(a, b, 4) {
				t.Errorf("%b and %b", a, b)
			}
		}
	}
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
