package simulate

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/codec"
	"ringleader.example/ringleader/internal/core/process"
)

// Symmetry is the result of a run in which indistinguishable processes are compared.
//
// Angluin (1980): if everything takes one unit, such processes do the same for ever, unless they choose; so all of
// them lead or none does. If every process has another one like it, no process can be elected.
type Symmetry struct {
	*Result
	Alike   [][]int // the classes of indistinguishable positions, a lone process in a class of its own; in the order of their first
	Rounds  uint64  // the number of units with an event: after each all were compared
	Chance  bool    // processes chose
	Apart   *Apart  // how choices first distinguished two processes of a class; nil: all classes are still equal
	Repeats *Repeat // the run returned to an earlier configuration, and was ended; nil: it became quiescent, or a limit stopped it
}

// Apart names two processes that differ after a unit of time.
type Apart struct {
	At             election.Ticks
	Process, Other int
}

// Repeat is two moments between which all events repeat.
type Repeat struct{ From, To election.Ticks }

// Alone reports whether every process is in a class of its own: then nothing prevents an election.
func (s *Symmetry) Alone() bool { return len(s.Alike) == len(s.Decisions) }

// Symmetric runs an election on a ring where all start together and every message takes one unit. After each unit it
// compares the processes that have the same identifiers, willingness and votes on both their sides, as far as they
// can see. It uses the options Setup, on which identifiers may repeat, seed, limit and Progress.
func Symmetric[S, M any](a election.Algorithm[S, M], o Options) (*Symmetry, error) {
	runner, err := Of(&a)
	if err != nil {
		return nil, err
	}
	return runner.Symmetric(o)
}

// Symmetric is the function of that name.
func (g *Runner) Symmetric(o Options) (*Symmetry, error) { return told(o, g.symmetric) }

func (g *Runner) symmetric(o Options) (symmetry *Symmetry, err error) {
	d := g.program.Declaration
	if d.Topology != election.Ring {
		return nil, fmt.Errorf("%w %s: it runs on a %s, and the argument from symmetry is made for rings", ErrOptions, d.Name, d.Topology.Phrase(0))
	}
	defer g.refuses(&err)
	o = Options{Setup: o.Setup, Timing: election.Synchronous, Seed: o.Seed, Limit: o.Limit, Progress: o.Progress, Record: o.Record}
	o.Setup.Duplicates = true
	r, err := g.newRun(o)
	if err != nil {
		return nil, err
	}
	r.processes()
	w := &mirror{run: r, seen: Symmetry{Result: r.result}, first: map[int]int{}, been: map[[sha256.Size]byte]election.Ticks{}}
	w.seen.Alike = r.Alike()
	for k, same := range w.seen.Alike {
		w.first[same[0]] = k
	}
	w.timers = make([]election.Ticks, len(w.seen.Alike)*len(d.Timers))
	r.Watcher = w
	r.Processes.Choices(func(n uint32) uint32 {
		w.seen.Chance = true
		return r.choose(n)
	})
	r.attempt(newClocked(r).play)
	if r.result.Complete { // else it was stopped during a unit
		w.compare()
	}
	r.result.Complete = r.result.Complete || w.seen.Repeats != nil
	r.finish()
	return &w.seen, nil
}

// mirror compares a run between its units of time. While the processes of a class are equal, the first of each stands
// for all.
type mirror struct {
	*run
	seen    Symmetry
	first   map[int]int // the first ones, with their index in Alike
	stepped bool
	at      election.Ticks                       // the unit of the last step
	sent    []byte                               // the messages that the first ones have sent in it
	timers  []election.Ticks                     // of the first ones, by timer: when it expires; 0: it does not run
	been    map[[sha256.Size]byte]election.Ticks // earlier configurations, with their times
}

// Before compares if a unit has ended when a step of the process at p comes.
func (w *mirror) Before(p int, e process.Event) {
	if w.stepped && w.at != w.Now {
		w.compare()
	}
	if k, first := w.first[p]; first && e.What == process.Expired {
		w.timers[k*len(w.Declaration.Timers)+int(e.Timer)] = election.Ticks{}
	}
	w.stepped, w.at = true, w.Now
}

// After records the messages that a step of a first one has sent.
func (w *mirror) After(p int) {
	k, first := w.first[p]
	if !first {
		return
	}
	for i := range w.Effects.Sent {
		m := &w.Effects.Sent[i]
		w.sent = binary.AppendUvarint(w.sent, uint64(k))
		w.sent = binary.AppendUvarint(w.sent, uint64(m.Link&31)) // the port, and the kind
		w.sent = w.Processes.AppendMessage(w.sent, m.Message)
	}
	for _, e := range w.Effects.Other {
		if int(e.Timer) >= len(w.Declaration.Timers) {
			continue // a decision, or a mistake that the engine reports
		}
		timer := k*len(w.Declaration.Timers) + int(e.Timer)
		switch e.Op {
		case election.SetTimer:
			w.timers[timer] = election.Forever
			if e.Ticks.Less(election.Forever.Sub(w.Now)) {
				w.timers[timer] = w.Now.Add(e.Ticks)
			}
		case election.StopTimer:
			w.timers[timer] = election.Ticks{}
		}
	}
}

// compare compares the processes of each class, and the configuration with earlier ones.
func (w *mirror) compare() {
	w.seen.Rounds++
	sent := w.sent
	w.sent = w.sent[:0]
	if w.seen.Apart != nil || w.seen.Alone() {
		return
	}
	var all, state []byte
	for _, same := range w.seen.Alike {
		before := len(all)
		all = w.Processes.AppendState(all, same[0], w.at, codec.Whole)
		for _, p := range same[1:] {
			state = w.Processes.AppendState(state[:0], p, w.at, codec.Whole)
			if !bytes.Equal(state, all[before:]) || w.Decisions[p].Role != w.Decisions[same[0]].Role {
				w.seen.Apart = &Apart{w.at, same[0], p}
				if !w.seen.Chance {
					w.violates(process.BrokeContract, fmt.Sprintf("%s and %s were alike, and differ after unit %s without any choice; steps depend on their arguments only",
						w.Instance.Name(same[0]), w.Instance.Name(p), w.at))
				}
				return
			}
		}
	}
	for _, expires := range w.timers {
		if !expires.IsZero() && expires != election.Forever {
			expires = expires.Sub(w.at)
		}
		all = binary.LittleEndian.AppendUint64(all, expires.Lo)
		all = binary.LittleEndian.AppendUint64(all, expires.Hi)
	}
	key := sha256.Sum256(append(all, sent...))
	if from, again := w.been[key]; again && !w.seen.Chance {
		w.seen.Repeats = &Repeat{from, w.at}
		w.result.Complete = false // it need not continue
		return
	}
	w.been[key] = w.at
}
