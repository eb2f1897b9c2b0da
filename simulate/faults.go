package simulate

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// Faults is what goes wrong in a run. The zero Faults is nothing. Processes are positions; times are on the
// clock of the run. What lasts from At until Until is over at Until; with Until 0 it is never over.
// [Faults.Lines] writes faults down, and [ReadFault] reads them.
type Faults struct {
	Dead       []int // they never run; what is sent to them is counted and lost; failure detectors say so at the start
	Crashes    []Crash
	Recoveries []Fault // with what Durable points to; without a Recover of the algorithm, as a new one that starts
	Cuts       []Cut
	Slow       []Slow
	Suspicions []Suspicion
	Drifts     []Drift

	Lose      Chance // a message never arrives; it is counted as sent
	Duplicate Chance // one that arrives does so twice; the network's copy is not counted as sent
	Unordered bool   // messages on one link may overtake each other

	Random Budget // more of them, drawn from the seed; Result.Script has them
}

// Fault is something that happens to a process at a given time.
type Fault struct {
	Process int // position
	At      election.Ticks
}

// Crash stops a process, between two of its steps. With Amid it comes in the middle of one: of the first step,
// from At on, that sends more than Sends messages. What is kept is durable by then, and the first Sends
// messages leave; the others do not, and nobody sees what the step decided. A recovery before there is such a
// step calls it off.
type Crash struct {
	Process int
	At      election.Ticks
	Amid    bool
	Sends   int
}

// Cut parts groups of processes: what a process of one group sends to one of another is lost, if the link is cut
// when the message is sent or when it would arrive. Processes of no group keep all links, so that a cut may
// part some pairs only. With OneWay there are two groups, and what the second sends to the first arrives.
//
// A failure detector that hears nothing of a process for the longest delay suspects it, and trusts it again when the cut is over.
type Cut struct {
	Groups    [][]int
	OneWay    bool
	At, Until election.Ticks
}

// Slow makes a process slow: each message that it sends takes Factor times the delay that it would have. With
// Factor 0 the process stands still, and what happens to it meanwhile, messages and timers, it learns at Until. It may
// crash all the same.
type Slow struct {
	Process   int
	Factor    uint64
	At, Until election.Ticks
}

// Suspicion is a mistake of a failure detector: Process suspects Of, which lives, until it hears of it, or until Until.
type Suspicion struct {
	Process, Of int
	At, Until   election.Ticks
}

// Drift is a clock that runs wrong: while Of units pass, the clock of Process, which counts its timers and
// deadlines, counts Times.
type Drift struct {
	Process   int
	Times, Of uint64
}

// FaultError says what is wrong with one of the faults of a run.
type FaultError struct {
	Line string // the fault, as [Faults.Lines] writes it
	Why  string // it cannot be, and what could
}

func (e *FaultError) Error() string {
	const most = 200 // a line may name thousands
	if len(e.Line) > most {
		return e.Line[:most] + "…: " + e.Why
	}
	return e.Line + ": " + e.Why
}

// Partition cuts all links between groups of processes, from at until until.
func Partition(at, until election.Ticks, groups ...[]int) Cut {
	return Cut{Groups: groups, At: at, Until: until}
}

// Unclaimed are the faults that an algorithm does not claim to survive, in words.
func (f *Faults) Unclaimed(d *election.Declaration) (all []string) {
	hurts := func(c Crash) bool { // it is not made good by a recovery that is claimed
		return d.Survives&election.Recovery == 0 || !slices.ContainsFunc(f.Recoveries, func(r Fault) bool {
			return r.Process == c.Process && c.At.Less(r.At)
		})
	}
	paused := func(s Slow) bool { return s.Factor == 0 }
	slow := func(s Slow) bool { return s.Factor != 0 }
	lasting := func(c Cut) bool { return c.Until.IsZero() }
	timed := d.Timing != election.Asynchronous // to the others, every delay that ends is as good as any
	for _, u := range []struct {
		is   bool
		name string
	}{
		{d.Survives&election.Crash == 0 && (len(f.Dead) > 0 || slices.ContainsFunc(f.Crashes, hurts)), "crashes"},
		{len(f.Recoveries) > 0 && d.Survives&election.Recovery == 0, "recoveries"},
		{len(f.Cuts) > 0 && d.Survives&election.Partition == 0, "partitions"},
		{slices.ContainsFunc(f.Cuts, lasting) && d.Survives&election.Partition != 0, "partitions that are never over"},
		{slices.ContainsFunc(f.Slow, slow) && timed, "slow processes"},
		{slices.ContainsFunc(f.Slow, paused) && timed, "pauses"},
		{len(f.Suspicions) > 0, "wrong suspicions"},
		{len(f.Drifts) > 0, "clocks that drift"},
		{f.Lose.Times > 0, "loss"},
		{f.Duplicate.Times > 0, "duplication"},
		{f.Unordered && d.FIFO, "reordering"},
	} {
		if u.is {
			all = append(all, u.name)
		}
	}
	return all
}

// timed says whether there are faults that come at a time, or last for one.
func (f *Faults) timed() bool {
	return len(f.Crashes)+len(f.Recoveries)+len(f.Cuts)+len(f.Slow)+len(f.Suspicions)+len(f.Drifts) > 0 || f.Random.any()
}

// last is the last moment at which a fault begins or is over.
func (f *Faults) last() (last election.Ticks) {
	for _, c := range f.Crashes {
		last = later(last, c.At)
	}
	for _, r := range f.Recoveries {
		last = later(last, r.At)
	}
	for i := range f.Cuts {
		last = later(later(last, f.Cuts[i].At), f.Cuts[i].Until)
	}
	for i := range f.Slow {
		last = later(later(last, f.Slow[i].At), f.Slow[i].Until)
	}
	for i := range f.Suspicions {
		last = later(later(last, f.Suspicions[i].At), f.Suspicions[i].Until)
	}
	return last
}

// links says whether links lose or repeat messages by chance.
func (f *Faults) links() bool { return f.Lose.Times+f.Duplicate.Times > 0 }

// check says whether the faults can happen: on this network, and one after the other.
func (f *Faults) check(d *election.Declaration, p *network.Instance, detects bool) error {
	if len(f.Dead) == 0 && !f.timed() {
		return nil
	}
	c := checker{Faults: f, d: d, p: p, write: newWriter(p)}
	for _, check := range []func() error{c.dead, c.crashes, c.cuts, c.slow, c.drifts} {
		if err := check(); err != nil {
			return err
		}
	}
	return c.suspicions(detects)
}

type checker struct {
	*Faults
	d     *election.Declaration
	p     *network.Instance
	write *writer
}

func wrongFault(line, format string, args ...any) error {
	return &FaultError{line, fmt.Sprintf(format, args...)}
}

// has says whether there is a process at a position.
func (c *checker) has(q int, line string) error {
	if q < 0 || q >= c.p.Size() {
		return wrongFault(line, "there is no position %d; they are 0 to %d", q, c.p.Size()-1)
	}
	return nil
}

// span says whether times are in order.
func span(at, until election.Ticks, line string) error {
	if !until.IsZero() && !at.Less(until) {
		return wrongFault(line, "it is over before it begins; until is later than from")
	}
	return nil
}

func (c *checker) dead() error {
	line, seen := "dead "+c.write.list(c.Dead), map[int]bool{}
	for _, q := range c.Dead {
		if err := c.has(q, line); err != nil {
			return err
		}
		if seen[q] {
			return wrongFault(line, "process %s is dead twice; once is enough", c.write.name(q))
		}
		seen[q] = true
	}
	if len(seen) == c.p.Size() {
		return wrongFault(line, "all processes are dead; somebody must live to lead")
	}
	return nil
}

// turn is a crash or a recovery.
type turn struct {
	process int
	at      election.Ticks
	back    bool
	line    string
}

// turns are the crashes and recoveries, by process and time. Of one moment, crashes come first.
func (c *checker) turns() []turn {
	turns := make([]turn, 0, len(c.Crashes)+len(c.Recoveries))
	for _, f := range c.Crashes {
		turns = append(turns, turn{f.Process, f.At, false, c.write.crash(f)})
	}
	for _, f := range c.Recoveries {
		turns = append(turns, turn{f.Process, f.At, true, c.write.recovery(f)})
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return cmp.Or(a.process-b.process, a.at.Compare(b.at)) })
	return turns
}

func (c *checker) crashes() error {
	for _, f := range c.Crashes {
		if f.Sends < 0 {
			return wrongFault(c.write.crash(f), "it cannot have sent less than nothing; after 0 sends is the least")
		}
	}
	n := c.p.Size()
	down := make(map[int]bool, len(c.Dead)) // dead at the moment
	for _, q := range c.Dead {
		down[q] = true
	}
	for _, t := range c.turns() {
		name := c.write.name(t.process)
		switch err := c.has(t.process, t.line); {
		case err != nil:
			return err
		case t.back && !down[t.process]:
			return wrongFault(t.line, "process %s has not crashed before; crash %s at an earlier time, or leave this out", name, name)
		case !t.back && down[t.process]:
			return wrongFault(t.line, "process %s is down then; it can crash again once it has recovered", name)
		}
		down[t.process] = !t.back
	}
	alive := 0
	for q := range n {
		if !down[q] {
			alive++
		}
	}
	if alive == 0 && len(c.Crashes) > 0 {
		return wrongFault(c.write.crash(c.Crashes[len(c.Crashes)-1]), "then all are dead for ever; somebody must live, or recover, to lead")
	}
	return nil
}

func (c *checker) cuts() error {
	side := make([]int, c.p.Size())
	for i := range c.Cuts {
		cut := &c.Cuts[i]
		line := c.write.cut(cut)
		for _, q := range slices.Concat(cut.Groups...) {
			if err := c.has(q, line); err != nil {
				return err
			}
		}
		if err := span(cut.At, cut.Until, line); err != nil {
			return err
		}
		if len(cut.Groups) < 2 || cut.OneWay && len(cut.Groups) > 2 {
			return wrongFault(line, "a partition has two groups or more, as in 1,2 | 3, and a cut two, as in 1 -> 2")
		}
		clear(side)
		for g, group := range cut.Groups {
			if len(group) == 0 {
				return wrongFault(line, "a group is empty; each has at least one process")
			}
			for _, q := range group {
				if side[q] != 0 {
					return wrongFault(line, "process %s is there twice; each is in one group", c.write.name(q))
				}
				side[q] = g + 1
			}
		}
		none := true
		for range cut.links(c.p.Network) {
			none = false
			break
		}
		if none {
			return wrongFault(line, "no link leads there, on this %s; only neighbours can be parted", c.d.Topology)
		}
	}
	return nil
}

// links are the links that a cut cuts.
func (c *Cut) links(net *network.Network) func(yield func(uint32) bool) {
	return func(yield func(uint32) bool) {
		side := make([]int, net.Size())
		for g, group := range c.Groups {
			for _, q := range group {
				side[q] = g + 1
			}
		}
		senders := c.Groups
		if c.OneWay {
			senders = c.Groups[:1]
		}
		for _, group := range senders {
			for _, p := range group {
				for port := range net.Degree(p) {
					link := net.First(p) + uint32(port)
					to, _ := net.End(link)
					if side[to] != 0 && side[to] != side[p] && !yield(link) {
						return
					}
				}
			}
		}
	}
}

func (c *checker) slow() error {
	last := map[int]int{}
	order := make([]int, len(c.Slow))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return c.Slow[i].At.Compare(c.Slow[j].At) })
	for _, i := range order {
		s := &c.Slow[i]
		line := c.write.slow(s)
		if err := c.has(s.Process, line); err != nil {
			return err
		}
		if err := span(s.At, s.Until, line); err != nil {
			return err
		}
		if s.Factor == 1 {
			return wrongFault(line, "that is its usual speed; slow by 2 is the least")
		}
		if before, found := last[s.Process]; found && (c.Slow[before].Until.IsZero() || s.At.Less(c.Slow[before].Until)) {
			return wrongFault(line, "it is slow then already; let one be over before the next begins")
		}
		last[s.Process] = i
	}
	return nil
}

func (c *checker) drifts() error {
	seen := map[int]bool{}
	for i := range c.Drifts {
		d := &c.Drifts[i]
		line := c.write.drift(d)
		if err := c.has(d.Process, line); err != nil {
			return err
		}
		switch {
		case d.Times == 0 || d.Of == 0:
			return wrongFault(line, "a clock that stands still or jumps does not drift; a rate is such as 11/10 or 0.9")
		case seen[d.Process]:
			return wrongFault(line, "process %s has one clock; one rate will do", c.write.name(d.Process))
		case len(c.d.Timers) == 0:
			return wrongFault(line, "%s looks at no clock: it has no timers", c.d.Name)
		}
		seen[d.Process] = true
	}
	return nil
}

func (c *checker) suspicions(detects bool) error {
	for i := range c.Suspicions {
		s := &c.Suspicions[i]
		line := c.write.suspicion(s)
		for _, q := range []int{s.Process, s.Of} {
			if err := c.has(q, line); err != nil {
				return err
			}
		}
		if err := span(s.At, s.Until, line); err != nil {
			return err
		}
		if !detects {
			return wrongFault(line, "%s has no failure detector; bully has", c.d.Name)
		}
		linked := false
		for range linksTo(c.p.Network, s.Process, s.Of) {
			linked = true
		}
		if s.Process == s.Of || !linked {
			return wrongFault(line, "no link leads from the one to the other; a process can suspect its neighbours")
		}
	}
	return nil
}

// linksTo are the links from one process to another.
func linksTo(net *network.Network, from, to int) func(yield func(uint32) bool) {
	return func(yield func(uint32) bool) {
		for port := range net.Degree(from) {
			link := net.First(from) + uint32(port)
			if end, _ := net.End(link); end == to && !yield(link) {
				return
			}
		}
	}
}

// real is how long it takes, on the clock of the run, until this clock has counted that much: never less.
func (d *Drift) real(local election.Ticks) election.Ticks {
	return scaled(local, d.Of, d.Times, true)
}

// local is what this clock says at a time of the run.
func (d *Drift) local(now election.Ticks) election.Ticks { return scaled(now, d.Times, d.Of, false) }

// scaled is t · times / of, rounded.
func scaled(t election.Ticks, times, of uint64, up bool) election.Ticks {
	product := new(big.Int).Mul(t.Big(), new(big.Int).SetUint64(times))
	quotient, rest := product.QuoRem(product, new(big.Int).SetUint64(of), new(big.Int))
	if up && rest.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	ticks, ok := election.TicksOf(quotient)
	if !ok {
		panic(election.ErrTime)
	}
	return ticks
}
