package variablespeeds_test

import (
	"errors"
	"math"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/variablespeeds"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
)

// ring is a ring that is simulated unit by unit, from the rules alone; it shares no code with the algorithm.
type ring struct {
	ids       []uint64
	wake      []int // -1: only on a message
	unwilling []bool
	together  bool // no phase 0
}

// letter is a message on a link.
type letter struct {
	kind int // 0: election started, 1: token, 2: elected
	id   uint64
}

type outcome struct {
	leader                    int
	sent                      [3]uint64
	elected, quiet, undecided int
}

// processor is the state of one processor in the simulation.
type processor struct {
	awake, takesPart, told bool
	best                   uint64
	holds                  bool // holds the token of best,
	count                  int  // for this number of units
}

// hold takes the token of an identifier.
func (p *processor) hold(id uint64) { p.best, p.holds, p.count = id, true, 1<<id }

// units is a simulation in progress.
type units struct {
	*ring
	t          *testing.T
	processors []processor
	next       [][]letter // by receiver
	now        int
	o          outcome
}

// play simulates a ring.
func (r *ring) play(t *testing.T) outcome {
	t.Helper()
	n := len(r.ids)
	u := &units{ring: r, t: t, processors: slices.Repeat([]processor{{best: math.MaxUint64}}, n), o: outcome{leader: -1}}
	for links := make([][]letter, n); ; u.now++ {
		u.next = make([][]letter, n)
		rest := true
		for q := range u.processors {
			u.read(q, links[q])
			u.wakes(q)
			u.passOn(q)
			p := &u.processors[q]
			rest = rest && !p.holds && (p.awake || r.wake[q] < u.now)
		}
		links = u.next
		if rest && !slices.ContainsFunc(links, func(m []letter) bool { return len(m) > 0 }) {
			for _, p := range u.processors {
				if !p.told {
					u.o.undecided++
				}
			}
			return u.o
		}
	}
}

func (u *units) send(q, kind int, id uint64) {
	u.t.Helper()
	to := (q + 1) % len(u.ids)
	u.next[to] = append(u.next[to], letter{kind, id})
	if link := u.next[to]; len(link) > 1 && (link[0].kind != 0 || id != 0) {
		u.t.Fatalf("%+v: two messages on a link at %d, and not election started and the token of 0", u.ring, u.now)
	}
	u.o.sent[kind]++
}

// read reads the messages that have arrived.
func (u *units) read(q int, letters []letter) {
	p, id, begins := &u.processors[q], u.ids[q], false
	for _, m := range letters {
		u.o.quiet = u.now
		switch {
		case m.kind == 0:
			if !p.awake {
				p.awake, p.takesPart = true, !u.unwilling[q]
				u.send(q, 0, 0)
			}
			begins = p.takesPart
		case m.kind == 2:
			p.told, p.holds = true, false
			if m.id != id {
				u.send(q, 2, m.id)
			}
		case m.id == id:
			u.o.leader, u.o.elected = q, u.now
			u.send(q, 2, id)
		case m.id < p.best:
			p.hold(m.id)
		}
		if begins && id < p.best {
			p.hold(id)
		}
	}
}

// wakes makes a processor initiate, if its time has come.
func (u *units) wakes(q int) {
	p := &u.processors[q]
	if p.awake || u.wake[q] != u.now {
		return
	}
	p.awake, p.takesPart = true, true
	switch {
	case !u.together:
		u.send(q, 0, 0)
	case !u.unwilling[q]:
		p.hold(u.ids[q])
	}
}

// passOn sends the token that a processor holds, if its time has come.
func (u *units) passOn(q int) {
	p := &u.processors[q]
	if !p.holds {
		return
	}
	if p.count--; p.count == 0 {
		p.holds = false
		u.send(q, 1, p.best)
	}
}

// random10 draws a ring of up to 10 processors.
func random10(source *random.Source) *ring {
	n := 1 + int(source.Below(10))
	r := &ring{wake: make([]int, n), unwilling: make([]bool, n), together: source.Below(3) == 0}
	for p := range n {
		for len(r.ids) == p {
			if id := source.Below(13); !slices.Contains(r.ids, id) {
				r.ids = append(r.ids, id)
			}
		}
		if !r.together {
			r.wake[p] = int(source.Below(uint64(2*n+1))) - 1
		}
		r.unwilling[p] = source.Below(3) == 0
	}
	if p := source.Below(uint64(n)); r.wake[p] < 0 {
		r.wake[p] = int(source.Below(4))
	}
	r.unwilling[source.Below(uint64(n))] = false
	return r
}

// options returns the simulator's options for the same run.
func (r *ring) options() simulate.Options {
	o := simulate.Options{Setup: network.On(r.ids...)}
	for p := range r.ids {
		o.Wake = append(o.Wake, election.Forever)
		if r.wake[p] >= 0 {
			o.Wake[p] = election.Units(uint64(r.wake[p]))
		}
		if r.unwilling[p] {
			o.Setup.Unwilling = append(o.Setup.Unwilling, p)
		}
	}
	if !r.together {
		o.Setup.Parameters = anyTime
	}
	return o
}

func TestTheEngineIsASimulationUnitByUnit(t *testing.T) {
	const runs = 10_000
	for seed := range uint64(runs) {
		r := random10(random.New(seed, random.Network))
		want := r.play(t)
		got := run(t, r.options())
		leader, _ := got.Leader()
		o := outcome{leader: leader, elected: int(got.Time.Elected.Lo), quiet: int(got.Time.Quiet.Lo), undecided: len(r.ids) - got.Decided}
		copy(o.sent[:], got.Messages.ByKind)
		if o != want {
			t.Fatalf("%+v: %+v, unit by unit %+v", r, o, want)
		}
		counted(t, r.options(), got)
		n := len(r.ids)
		if started := o.sent[variablespeeds.Started]; started != uint64(n) && !r.together || o.sent[variablespeeds.Elected] != uint64(n) {
			t.Fatalf("%+v: %v messages by kind", r, o.sent)
		}
	}
}

// counted expects that the closed form gives the cost of a run.
func counted(t *testing.T, o simulate.Options, r *simulate.Result) {
	t.Helper()
	ids := o.Setup.IDs
	if o.Wake != nil {
		ids = count.Woken{Arrangement: ids, Wake: o.Wake, Unwilling: o.Setup.Unwilling}
	}
	exact, err := count.VariableSpeeds(t.Context(), ids, r.Prepared.Parameters, nil)
	if err != nil {
		t.Fatal(err)
	}
	leader, _ := r.Leader()
	if !reflect.DeepEqual(exact.Messages, r.Messages) || exact.Position != leader || exact.Leader != ids.At(leader) ||
		exact.Time.Elected.Cmp(r.Time.Elected.Big()) != 0 || exact.Time.Decided.Cmp(r.Time.Decided.Big()) != 0 || exact.Time.Quiet.Cmp(r.Time.Quiet.Big()) != 0 {
		t.Fatalf("%v, waking %v, unwilling %v: counted %+v at %+v, ran %+v at %+v", ids, o.Wake, o.Setup.Unwilling, exact.Messages, exact.Time, r.Messages, r.Time)
	}
}

func TestLargeIdentifiersAreCountedAsTheyRun(t *testing.T) {
	for seed := range uint64(2000) {
		source := random.New(seed, random.Network)
		n := 1 + int(source.Below(300))
		ids := electiontest.Random(t, n, seed)
		low := source.Below(118)
		for p := range ids {
			ids[p] += low
		}
		o := simulate.Options{Setup: network.On(ids...)}
		if source.Below(2) == 0 {
			o.Setup.Parameters = anyTime
			for range n {
				o.Wake = append(o.Wake, election.Units(source.Below(uint64(n))))
			}
			for p := range n - 1 {
				if source.Below(2) == 0 {
					o.Wake[p] = election.Forever
				}
				if source.Below(4) == 0 {
					o.Setup.Unwilling = append(o.Setup.Unwilling, p)
				}
			}
		}
		r, err := simulate.Must(simulate.OfSmall(&variablespeeds.Algorithm)).Run(o)
		if errors.Is(err, election.ErrTime) && low > 100 {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		counted(t, o, r)
	}
}

func TestCountsBeyondAllTimesThatRuns(t *testing.T) {
	set, err := variablespeeds.Algorithm.Set(nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := count.VariableSpeeds(t.Context(), election.List{math.MaxUint32 - 1, 1 << 20, 1<<20 + 1}, set, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := new(big.Int).Lsh(big.NewInt(3), 1<<20)
	if r.Messages.Election != 3 || r.Leader != 1<<20 || r.Time.Elected.Cmp(want) != 0 {
		t.Errorf("leader %d after %d messages", r.Leader, r.Messages.Election)
	}
	if _, err := count.VariableSpeeds(t.Context(), election.List{math.MaxUint32 - 1, 1 << 31}, set, nil); !errors.Is(err, count.ErrRing) {
		t.Errorf("a time of 2^31 digits: %v", err)
	}
}
