package faults

import (
	"iter"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// Script holds the faults of a run. The zero Script has none. Processes are positions; times are on the clock of the
// run, in units of delay, or in ticks if delays are random. A fault with At and Until holds from At until Until; with
// Until 0 it never ends.
type Script struct {
	Dead       []int // never run; messages to them are counted and lost; failure detectors suspect them from the beginning
	Crashes    []Crash
	Recoveries []Recovery
	Cuts       []Cut
	Slow       []Slow
	Suspicions []Suspicion
	Drifts     []Drift

	Lose      Chance // that a message never arrives; it is counted as sent
	Duplicate Chance // that a message arrives twice; the network's copy is not counted as sent
	Unordered bool   // messages on one link may overtake each other

	Random Budget // further faults, for Draw to draw from a seed
}

// Crash stops a process between two of its steps. With Amid it stops the process during a step: the first step, from
// At on, that sends more than Sends messages. The durable part of the state is durable by then, and the first Sends
// messages leave. The others do not leave, and the decision of the step is not seen. A recovery before such a step
// cancels the crash.
type Crash struct {
	Process int
	At      election.Ticks
	Amid    bool
	Sends   int
}

// Recovery restarts a crashed process with the durable part of its state. If the algorithm has no Recover, the
// process starts anew.
type Recovery struct {
	Process int
	At      election.Ticks
}

// Cut separates groups of processes: a message from a process of one group to a process of another is lost if the
// link is cut when the message is sent or when it would arrive. Processes of no group keep all links, so that a cut
// may separate some pairs only. With OneWay there are two groups, and messages from the second to the first arrive.
//
// A failure detector that hears nothing of a process for the longest delay suspects it, and trusts it again when the
// cut ends.
type Cut struct {
	Groups    [][]int
	OneWay    bool
	At, Until election.Ticks
}

// Slow makes a process slow: each message that it sends takes Factor times its usual delay. With Factor 0 the process
// is paused, and receives at Until the messages and timeouts that came meanwhile. It may crash all the same.
type Slow struct {
	Process   int
	Factor    uint64
	At, Until election.Ticks
}

// Suspicion is a mistake of a failure detector: Process suspects Of, which is live, until Process hears of it or
// until Until, whichever comes first.
type Suspicion struct {
	Process, Of int
	At, Until   election.Ticks
}

// Drift is a clock with a wrong rate: while Of units pass, the clock of Process, which runs its timers and deadlines,
// advances by Times.
type Drift struct {
	Process   int
	Times, Of uint64
}

// Chance is a probability: Times of Of. The zero Chance means never.
type Chance struct{ Times, Of uint64 }

// Possible reports whether the chance is at most 1.
func (c Chance) Possible() bool { return c.Times <= c.Of }

// Partition returns a cut of all links between groups of processes, from at until until.
func Partition(at, until election.Ticks, groups ...[]int) Cut {
	return Cut{Groups: groups, At: at, Until: until}
}

// Timed reports whether the script has faults that come at a time or last for a time.
func (s *Script) Timed() bool {
	return len(s.Crashes)+len(s.Recoveries)+len(s.Cuts)+len(s.Slow)+len(s.Suspicions)+len(s.Drifts) > 0 || s.Random.any()
}

// Lossy reports whether links lose or duplicate messages at random.
func (s *Script) Lossy() bool { return s.Lose.Times+s.Duplicate.Times > 0 }

// Last returns the last time at which a fault begins or ends.
func (s *Script) Last() election.Ticks {
	times := []election.Ticks{{}}
	for _, c := range s.Crashes {
		times = append(times, c.At)
	}
	for _, r := range s.Recoveries {
		times = append(times, r.At)
	}
	for _, c := range s.Cuts {
		times = append(times, c.At, c.Until)
	}
	for _, w := range s.Slow {
		times = append(times, w.At, w.Until)
	}
	for _, w := range s.Suspicions {
		times = append(times, w.At, w.Until)
	}
	return slices.MaxFunc(times, election.Ticks.Compare)
}

// Links returns the links that the cut cuts.
func (c *Cut) Links(net *network.Network) iter.Seq[uint32] {
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

// Links returns the links from Process to Of.
func (s *Suspicion) Links(net *network.Network) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for port := range net.Degree(s.Process) {
			link := net.First(s.Process) + uint32(port)
			if end, _ := net.End(link); end == s.Of && !yield(link) {
				return
			}
		}
	}
}

// Unclaimed returns, in words, the faults of the script that are outside an algorithm's fault model.
func (s *Script) Unclaimed(d *election.Declaration) (all []string) {
	hurts := func(c Crash) bool { // no claimed recovery repairs it
		return d.Survives&election.Recovery == 0 || !slices.ContainsFunc(s.Recoveries, func(r Recovery) bool {
			return r.Process == c.Process && c.At.Less(r.At)
		})
	}
	paused := func(w Slow) bool { return w.Factor == 0 }
	slow := func(w Slow) bool { return w.Factor != 0 }
	lasting := func(c Cut) bool { return c.Until.IsZero() }
	timed := d.Timing != election.Asynchronous // an asynchronous algorithm takes any finite delay
	for _, u := range []struct {
		is   bool
		name string
	}{
		{d.Survives&election.Crash == 0 && (len(s.Dead) > 0 || slices.ContainsFunc(s.Crashes, hurts)), "crashes"},
		{len(s.Recoveries) > 0 && d.Survives&election.Recovery == 0, "recoveries"},
		{len(s.Cuts) > 0 && d.Survives&election.Partition == 0, "partitions"},
		{slices.ContainsFunc(s.Cuts, lasting) && d.Survives&election.Partition != 0, "partitions that never end"},
		{slices.ContainsFunc(s.Slow, slow) && timed, "slow processes"},
		{slices.ContainsFunc(s.Slow, paused) && timed, "pauses"},
		{len(s.Suspicions) > 0, "wrong suspicions"},
		{len(s.Drifts) > 0, "clocks that drift"},
		{s.Lose.Times > 0, "loss"},
		{s.Duplicate.Times > 0, "duplication"},
		{s.Unordered && d.FIFO, "reordering"},
	} {
		if u.is {
			all = append(all, u.name)
		}
	}
	return all
}
