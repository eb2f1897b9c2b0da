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
	"ringleader.example/ringleader/internal/random"
	"ringleader.example/ringleader/simulate"
)

// ring is a ring that is simulated unit by unit, from the rules and from nothing that the algorithm shares.
type ring struct {
	ids       []uint64
	wake      []int // -1: only on a message
	unwilling []bool
	together  bool // no phase 0
}

// letter is what is on a link.
type letter struct {
	kind int // 0: election started, 1: token, 2: elected
	id   uint64
}

type outcome struct {
	leader                    int
	sent                      [3]uint64
	elected, quiet, undecided int
}

// play simulates.
func (r *ring) play(t *testing.T) outcome {
	t.Helper()
	n := len(r.ids)
	const none = -1
	awake, takesPart, told := make([]bool, n), make([]bool, n), make([]bool, n)
	best, count, holds := slices.Repeat([]uint64{math.MaxUint64}, n), make([]int, n), make([]bool, n)
	links := make([][]letter, n) // by receiver
	o := outcome{leader: none}
	for now := 0; ; now++ {
		next := make([][]letter, n)
		send := func(p, kind int, id uint64) {
			to := (p + 1) % n
			if next[to] = append(next[to], letter{kind, id}); len(next[to]) > 1 && (next[to][0].kind != 0 || id != 0) {
				t.Fatalf("%+v: two messages on a link at %d, and not election started and the token of 0", r, now)
			}
			o.sent[kind]++
		}
		rest := true
		for p, id := range r.ids {
			begins := false
			for _, m := range links[p] {
				o.quiet = now
				switch {
				case m.kind == 0:
					if !awake[p] {
						awake[p], takesPart[p] = true, !r.unwilling[p]
						send(p, 0, 0)
					}
					begins = takesPart[p]
				case m.kind == 2:
					told[p] = true
					if holds[p] = false; m.id != id {
						send(p, 2, m.id)
					}
				case m.id == id:
					o.leader, o.elected = p, now
					send(p, 2, id)
				case m.id < best[p]:
					best[p], holds[p], count[p] = m.id, true, 1<<m.id
				}
				if begins && id < best[p] {
					best[p], holds[p], count[p] = id, true, 1<<id
				}
			}
			if !awake[p] && r.wake[p] == now {
				awake[p], takesPart[p] = true, true
				switch {
				case !r.together:
					send(p, 0, 0)
				case !r.unwilling[p]:
					best[p], holds[p], count[p] = id, true, 1<<id
				}
			}
			if holds[p] {
				if count[p]--; count[p] == 0 {
					holds[p] = false
					send(p, 1, best[p])
				}
			}
			rest = rest && !holds[p] && (awake[p] || r.wake[p] < now)
		}
		links = next
		if rest && !slices.ContainsFunc(links, func(m []letter) bool { return len(m) > 0 }) {
			for p := range told {
				if !told[p] {
					o.undecided++
				}
			}
			return o
		}
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

// options are those of the simulator for the same run.
func (r *ring) options() simulate.Options {
	o := simulate.Options{Instance: election.On(r.ids...)}
	for p := range r.ids {
		o.Wake = append(o.Wake, election.Forever)
		if r.wake[p] >= 0 {
			o.Wake[p] = election.Units(uint64(r.wake[p]))
		}
		if r.unwilling[p] {
			o.Instance.Unwilling = append(o.Instance.Unwilling, p)
		}
	}
	if !r.together {
		o.Instance.Parameters = anyTime
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

// counted says that the closed form counts what a run has cost.
func counted(t *testing.T, o simulate.Options, r *simulate.Result) {
	t.Helper()
	ids := o.Instance.IDs
	if o.Wake != nil {
		ids = count.Woken{Arrangement: ids, Wake: o.Wake, Unwilling: o.Instance.Unwilling}
	}
	exact, err := count.VariableSpeeds(t.Context(), ids, r.Prepared.Parameters, nil)
	if err != nil {
		t.Fatal(err)
	}
	leader, _ := r.Leader()
	if !reflect.DeepEqual(exact.Messages, r.Messages) || exact.Position != leader || exact.Leader != ids.At(leader) ||
		exact.Time.Elected.Cmp(r.Time.Elected.Big()) != 0 || exact.Time.Decided.Cmp(r.Time.Decided.Big()) != 0 || exact.Time.Quiet.Cmp(r.Time.Quiet.Big()) != 0 {
		t.Fatalf("%v, waking %v, unwilling %v: counted %+v at %+v, ran %+v at %+v", ids, o.Wake, o.Instance.Unwilling, exact.Messages, exact.Time, r.Messages, r.Time)
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
		o := simulate.Options{Instance: election.On(ids...)}
		if source.Below(2) == 0 {
			o.Instance.Parameters = anyTime
			for range n {
				o.Wake = append(o.Wake, election.Units(source.Below(uint64(n))))
			}
			for p := range n - 1 {
				if source.Below(2) == 0 {
					o.Wake[p] = election.Forever
				}
				if source.Below(4) == 0 {
					o.Instance.Unwilling = append(o.Instance.Unwilling, p)
				}
			}
		}
		r, err := simulate.Run(variablespeeds.Algorithm, o)
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
