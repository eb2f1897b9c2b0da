package verify

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/verify/internal/model"
	"ringleader.example/ringleader/verify/internal/search"
)

// Chances holds exact probabilities and means over all random choices of an algorithm.
type Chances struct {
	States int
	// OneSchedule means that all schedules have the same probabilities and means, so that one was explored: a
	// synchronous run, or a ring on which each process receives on one FIFO link only.
	OneSchedule bool
	Ends        Range // the probability that a run ends; Least is nil if a schedule can prevent it
	Total       Range // the mean number of messages
	Election    Range
	Announced   Range
	Time        Range // the mean time until quiescence; zero without a clock
	Rounds      Range // the mean number of times that the leader chose; nil if it depends on the schedule
}

// Range is the least and the greatest value over all schedules and orders. Nil means that there is none, as a run may
// be endless.
type Range struct{ Least, Most *big.Rat }

// join widens a range.
func (r *Range) join(other Range) {
	if r.Least == nil || other.Least != nil && other.Least.Cmp(r.Least) < 0 {
		r.Least = other.Least
	}
	if r.Most == nil || other.Most != nil && other.Most.Cmp(r.Most) > 0 {
		r.Most = other.Most
	}
}

// Probabilities computes exact probabilities and means over all random choices, by solving the equations of all states.
// The least and the greatest are over all schedules, which know every choice that was made. An error that wraps
// [ErrOptions] reports faults, too many states, or a property that is violated.
func Probabilities(a program.Program, o Options) (*Chances, error) {
	program := process.Opened(a)
	return probabilities(program, o, oneSchedule)
}

func probabilities(program *process.Program, o Options, oneSchedule func(*model.Checker) bool) (all *Chances, err error) {
	defer model.Halted(&err)
	if o.Crashes+o.Recoveries+o.Losses+o.Duplicates+o.Cuts+o.Suspicions+o.Commands > 0 {
		return nil, fmt.Errorf("%w %s: probabilities are of runs without faults", ErrOptions, program.Name)
	}
	if err := o.check(program.Declaration, program.Functions); err != nil {
		return nil, err
	}
	for setup := range setups(program.Declaration, &o) {
		one, err := chancesOf(program, &o, setup, oneSchedule)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = one
			continue
		}
		all.States += one.States
		for i, r := range all.ranges() {
			r.join(*one.ranges()[i])
		}
	}
	return all, nil
}

func (c *Chances) ranges() []*Range {
	return []*Range{&c.Ends, &c.Total, &c.Election, &c.Announced, &c.Time, &c.Rounds}
}

// What a branch costs.
const (
	total = iota
	elections
	announcements
	units
	rewards
)

// branch is one outcome of a step: with this probability the run continues in a state.
type branch struct {
	to      uint32
	ways    uint64 // the probability is 1/ways
	costs   [rewards]uint64
	process int32  // the process that made the step
	chosen  uint32 // how often it chose
}

// action is something that a schedule can do next: its branches have a sum of 1.
type action []branch

// lottery is an election as a Markov decision process: the schedule picks an action, chance a branch of it.
type lottery struct {
	*model.Checker
	actions [][]action // by state; without any it is an end
	mayEnd  []bool     // by state: no action has to happen
	leaders []int32    // by state: the leader of an end, or -1
	numbers map[string]uint32
	single  bool // one action is explored of each state
	most    int  // states
	bytes   []byte
	states  []model.Configuration // nil once expanded
}

// mostChances limits the number of states, each of which takes a kilobyte or two.
const mostChances = 1 << 20

func chancesOf(program *process.Program, o *Options, setup network.Setup, oneSchedule func(*model.Checker) bool) (*Chances, error) {
	c, err := model.NewChecker(program, o.model(), setup)
	if err != nil {
		return nil, err
	}
	l := &lottery{Checker: c, numbers: map[string]uint32{}, single: oneSchedule(c), most: cmp.Or(min(o.MaxStates, mostChances), mostChances)}
	memory := search.NewMonitor(o.search(), 1)
	c.Look = func() error {
		if memory.Scarce(0) {
			return fmt.Errorf("%s %w: one step has more outcomes than the memory holds", program.Name, ErrLimit)
		}
		return l.goes(o)
	}
	roots := c.Beginnings()
	if len(roots) > 1 {
		return nil, fmt.Errorf("%w %s: probabilities are for one set of initiators", ErrOptions, c.Declaration.Name)
	}
	l.number(roots[0])
	for state := 0; state < len(l.states); state++ {
		if err := l.expand(state); err != nil {
			return nil, err
		}
		if state%(1<<12) == 0 {
			if err := l.goes(o); err != nil {
				return nil, err
			}
		}
	}
	return l.chances(), nil
}

// goes tells the progress, and returns an error if the caller ends the exploration.
func (l *lottery) goes(o *Options) error {
	done := len(l.actions)
	if o.Progress != nil && !o.Progress(Progress{States: done, Frontier: len(l.states) - done, Orders: 1}) {
		return fmt.Errorf("%w %s: stopped after %d states", ErrOptions, l.Declaration.Name, done)
	}
	return nil
}

// oneSchedule reports whether all schedules have the same probabilities and means. If all initiators come first, a
// synchronous run has one schedule. And where each process receives on one FIFO link only, its inputs come in one
// order whatever the schedule is, so it makes the same steps and the same choices in any (Kahn 1974).
func oneSchedule(c *model.Checker) bool {
	first := c.Options.Initiators != nil && c.Declaration.Starts != election.AllStart || c.Options.Initiators == nil && c.Options.Starts == model.AllFirst
	fifo := c.Declaration.Timing == election.Asynchronous && c.Declaration.OneWay && !c.Options.Unordered
	return first && (fifo || c.Declaration.Timing == election.Synchronous)
}

// number returns the number of a configuration.
func (l *lottery) number(conf model.Configuration) uint32 {
	l.bytes = l.bytes[:0]
	for _, part := range conf {
		l.bytes = append(l.bytes, byte(part), byte(part>>8), byte(part>>16), byte(part>>24))
	}
	number, found := l.numbers[string(l.bytes)]
	if !found {
		number = uint32(len(l.states))
		l.numbers[string(l.bytes)] = number
		l.states = append(l.states, slices.Clone(conf))
	}
	return number
}

// expand adds the actions of a state.
func (l *lottery) expand(state int) error {
	conf := l.states[state]
	l.states[state] = nil
	var actions []action
	var last model.Transition
	var wrong *model.Breach
	end, unlikely := true, false
	l.Transitions(conf, func(t *model.Transition, next model.Configuration) {
		same := t.Event == last.Event && t.Process == last.Process && t.At == last.At && t.Link == last.Link && t.Place == last.Place && len(actions) > 0
		if l.single && len(actions) == 1 && !same {
			return
		}
		end = end && t.Class != model.Due
		if t.Breach != nil {
			wrong = t.Breach
			return
		}
		b := branch{ways: 1, to: l.number(next), process: int32(t.Process)}
		if t.Event == model.Waits {
			b.costs[units] = t.Time.Lo
		}
		if o := t.Outcome; o != nil {
			cost := l.Checker.Costs[o.Cost]
			b.costs[total], b.costs[elections], b.costs[announcements] = cost.Election+cost.Announcement, cost.Election, cost.Announcement
			b.ways, b.chosen = o.Ways, uint32(len(o.Drew))
			unlikely = unlikely || o.Ways == 0
		}
		if !same {
			actions = append(actions, nil)
		}
		last = *t
		actions[len(actions)-1] = append(actions[len(actions)-1], b)
	})
	switch {
	case wrong != nil:
		return fmt.Errorf("%w %s: %s, %s; verify without --probabilities shows the run", ErrOptions, l.Declaration.Name, wrong.Property, wrong.Detail)
	case unlikely:
		return fmt.Errorf("%w %s: a step chooses one of more than 2^64 vectors of values", ErrOptions, l.Declaration.Name)
	case len(l.states) > l.most:
		return fmt.Errorf("%s %w: more than %d states, too many for exact equations", l.Declaration.Name, ErrLimit, l.most)
	}
	leader := int32(-1)
	for q := range l.N {
		if l.Process(conf, q).Decision.Role == network.Leader {
			leader = int32(q)
		}
	}
	l.actions, l.mayEnd, l.leaders = append(l.actions, actions), append(l.mayEnd, end), append(l.leaders, leader)
	return nil
}

// chances solves the equations.
func (l *lottery) chances() *Chances {
	c := &Chances{States: len(l.states), OneSchedule: l.single}
	one := big.NewRat(1, 1)
	if l.endless() {
		c.Ends.Most = l.reaches()
		if l.single { // the only schedule
			c.Ends.Least = c.Ends.Most
		}
		return c
	}
	c.Ends = Range{one, one}
	for reward, r := range [rewards]*Range{total: &c.Total, elections: &c.Election, announcements: &c.Announced, units: &c.Time} {
		mean := func(b *branch) *big.Rat { return new(big.Rat).SetUint64(b.costs[reward]) }
		*r = Range{Least: l.best(mean, -1)}
		if r.Most = r.Least; !l.single {
			r.Most = l.best(mean, 1)
		}
	}
	if l.single {
		rounds := l.rounds()
		c.Rounds = Range{rounds, rounds}
	}
	return c
}

// endless reports whether a schedule can keep a run from ending, with some probability: whether there are states that
// some action never leaves, or from which no end can be reached.
func (l *lottery) endless() bool {
	stays := make([]bool, len(l.actions))
	for s := range stays {
		stays[s] = len(l.actions[s]) > 0
	}
	for changed := true; changed; {
		changed = false
		for s := range stays {
			if stays[s] && !slices.ContainsFunc(l.actions[s], func(a action) bool {
				return !slices.ContainsFunc(a, func(b branch) bool { return !stays[b.to] })
			}) {
				stays[s], changed = false, true
			}
		}
	}
	return slices.Contains(stays, true)
}

// reaches returns the probability that a run of the only schedule ends, or nil if there are several schedules.
func (l *lottery) reaches() *big.Rat {
	if !l.single {
		return nil
	}
	can := make([]bool, len(l.actions)) // reach an end
	for changed := true; changed; {
		changed = false
		for s := range can {
			if !can[s] && (len(l.actions[s]) == 0 || slices.ContainsFunc(l.actions[s][0], func(b branch) bool { return can[b.to] })) {
				can[s], changed = true, true
			}
		}
	}
	values := l.solve(func(s int) []branch {
		if len(l.actions[s]) == 0 || !can[s] {
			return nil
		}
		return l.actions[s][0]
	}, func(s int) *big.Rat {
		if can[s] && len(l.actions[s]) == 0 {
			return big.NewRat(1, 1)
		}
		return new(big.Rat)
	})
	return values[0]
}

// rounds returns the mean number of times that the leader chose. With h(s) for the probability that a process leads
// in the end, its own choices count g(s) = Σ p·(g(t) + chosen·h(t)), and the processes' g add up.
func (l *lottery) rounds() *big.Rat {
	sum := new(big.Rat)
	symmetric := l.Declaration.Identifiers == election.Anonymous && l.Options.Initiators == nil
	for q := range int32(l.N) {
		leads := l.solve(l.only, func(s int) *big.Rat {
			if len(l.actions[s]) == 0 && l.leaders[s] == q {
				return big.NewRat(1, 1)
			}
			return new(big.Rat)
		})
		chose := l.solve(l.only, func(s int) *big.Rat {
			mean := new(big.Rat)
			for _, b := range l.only(s) {
				if b.process == q && b.chosen > 0 {
					mean.Add(mean, new(big.Rat).Mul(b.probability(), new(big.Rat).Mul(leads[b.to], big.NewRat(int64(b.chosen), 1))))
				}
			}
			return mean
		})
		if symmetric { // the processes are alike, and so are their means
			return sum.Mul(chose[0], big.NewRat(int64(l.N), 1))
		}
		sum.Add(sum, chose[0])
	}
	return sum
}

// only returns the only action of a state.
func (l *lottery) only(s int) []branch {
	if len(l.actions[s]) == 0 {
		return nil
	}
	return l.actions[s][0]
}

func (b *branch) probability() *big.Rat {
	return new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).SetUint64(b.ways))
}

// best returns the least (-1) or greatest (1) mean of a reward, by policy iteration: from any choice of actions it
// improves each state's until none improves. All choices end, so the result is exact. A run may also end where no
// action has to happen.
func (l *lottery) best(reward func(*branch) *big.Rat, sign int) *big.Rat {
	policy := make([]int, len(l.actions))
	taken := func(s int) []branch {
		if policy[s] < 0 || len(l.actions[s]) == 0 {
			return nil
		}
		return l.actions[s][policy[s]]
	}
	mean := func(branches []branch, of func(*branch) *big.Rat) *big.Rat {
		sum := new(big.Rat)
		for i := range branches {
			sum.Add(sum, new(big.Rat).Mul(branches[i].probability(), of(&branches[i])))
		}
		return sum
	}
	for {
		values := l.solve(taken, func(s int) *big.Rat { return mean(taken(s), reward) })
		improved := false
		for s, actions := range l.actions {
			best := values[s]
			for i, a := range actions {
				v := mean(a, func(b *branch) *big.Rat { return new(big.Rat).Add(reward(b), values[b.to]) })
				if v.Cmp(best)*sign > 0 {
					best, policy[s], improved = v, i, true
				}
			}
			if zero := new(big.Rat); l.mayEnd[s] && zero.Cmp(best)*sign > 0 {
				policy[s], improved = -1, true
			}
		}
		if !improved {
			return values[0]
		}
	}
}

// solve returns x with x(s) = constant(s) + Σ p·x(t) over the branches of each state. From each state an end must be
// reachable. States have numbers in the order of a breadth-first search, so most branches lead to a larger number: these
// are replaced first, from the last state on, until each row has smaller states only.
func (l *lottery) solve(branches func(s int) []branch, constant func(s int) *big.Rat) []*big.Rat {
	type term struct {
		state  uint32
		factor *big.Rat
	}
	values, rows := make([]*big.Rat, len(l.actions)), make([][]term, len(l.actions)) // x = value + Σ factor·x(state)
	factors := map[uint32]*big.Rat{}
	for s := len(rows) - 1; s >= 0; s-- {
		var larger []uint32
		add := func(t uint32, factor *big.Rat) {
			if old, found := factors[t]; found {
				old.Add(old, factor)
				return
			}
			factors[t] = new(big.Rat).Set(factor)
			if t > uint32(s) {
				larger = append(larger, t)
			}
		}
		for _, b := range branches(s) {
			add(b.to, b.probability())
		}
		value := constant(s)
		for len(larger) > 0 {
			t := slices.Max(larger)
			larger = slices.DeleteFunc(larger, func(u uint32) bool { return u == t })
			factor := factors[t]
			delete(factors, t)
			value.Add(value, new(big.Rat).Mul(factor, values[t]))
			for _, u := range rows[t] {
				add(u.state, new(big.Rat).Mul(factor, u.factor))
			}
		}
		scale := big.NewRat(1, 1)
		if loop, found := factors[uint32(s)]; found { // x = loop·x + rest
			delete(factors, uint32(s))
			scale.Inv(scale.Sub(scale, loop))
		}
		values[s] = value.Mul(value, scale)
		for _, t := range slices.Sorted(maps.Keys(factors)) {
			rows[s] = append(rows[s], term{t, factors[t].Mul(factors[t], scale)})
		}
		clear(factors)
	}
	for s := range rows {
		for _, t := range rows[s] {
			values[s].Add(values[s], new(big.Rat).Mul(t.factor, values[t.state]))
		}
	}
	return values
}
