package s5

import (
	"fmt"
	"iter"
	"math/big"
	"slices"
	"strings"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/random"
	claims "ringleader.example/ringleader/internal/study/claims"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// schemes are S5's four protocols with some parameters.
var schemes = []reproduce.Subject{
	{Algorithm: "stop-and-go-p1", Set: []string{"c=2"}},
	{Algorithm: "stop-and-go-p1", Set: []string{"c=3"}},
	{Algorithm: "stop-and-go-p2", Set: []string{"c=2", "a=3/2"}},
	{Algorithm: "stop-and-go-p2", Set: []string{"c=2", "a=2"}},
	{Algorithm: "stop-and-go-p3", Set: []string{"c=3"}},
	{Algorithm: "stop-and-go-p4", Set: []string{"c=2", "epsilon=1"}},
}

// awakening is an election on a synchronous ring whose processors wake by themselves at different times, or by a
// message, when some are not willing.
type awakening struct {
	reproduce.Subject
	wake      []election.Ticks // nil: all at 0
	unwilling []int            // positions
}

func (a *awakening) options() simulate.Options {
	o := simulate.Options{Setup: a.Setup(), Wake: a.wake, Record: true}
	o.Setup.Unwilling = a.unwilling
	return o
}

// replay is the call that does the same.
func (a *awakening) replay() string {
	call := a.Call("run")
	if a.wake != nil {
		var times []string
		for _, at := range a.wake {
			if at == election.Forever {
				times = append(times, "-")
			} else {
				times = append(times, at.String())
			}
		}
		call = append(call, "--wake", strings.Join(times, ","))
	}
	if len(a.unwilling) > 0 {
		var ids []uint64
		for _, p := range a.unwilling {
			ids = append(ids, a.IDs[p])
		}
		call = append(call, "--unwilling", reproduce.Numbers(ids))
	}
	return strings.Join(call, " ")
}

// awakenings are every order of up to 4 identifiers that start together, and random ones: up to 12 processors with
// identifiers up to 24, which wake by themselves at different times or not at all, and some of which are unwilling.
func awakenings(s reproduce.Subject) iter.Seq[*awakening] {
	return func(yield func(*awakening) bool) {
		for n := 1; n <= 4; n++ {
			for ids := range reproduce.Rings(n) {
				a := &awakening{Subject: s}
				if a.IDs = ids; !yield(a) {
					return
				}
			}
		}
		source := source5(1)
		for range 60 {
			if !yield(drawn(s, source)) {
				return
			}
		}
	}
}

const awakeningsAre = "every order of up to 4 identifiers, and 60 random rings of up to 12 with random awakenings and unwilling processors"

// drawn is a random awakening.
func drawn(s reproduce.Subject, source *random.Source) *awakening {
	const most = 12
	a := &awakening{Subject: s}
	n := int(1 + source.Below(most))
	a.IDs = nil
	for len(a.IDs) < n {
		if id := 1 + source.Below(2*most); !slices.Contains(a.IDs, id) {
			a.IDs = append(a.IDs, id)
		}
	}
	for p := range n {
		at := election.Forever
		if source.Below(2) == 0 {
			at = election.Units(source.Below(uint64(2 * n)))
		}
		if a.wake = append(a.wake, at); p > 0 && source.Below(3) == 0 {
			a.unwilling = append(a.unwilling, p)
		}
	}
	a.wake[0] = election.Units(source.Below(uint64(n))) // at least one processor wakes
	return a
}

// round is a run of an awakening under one of the protocols.
type round struct {
	*awakening
	*simulate.Result
	hypotheses []election.Ticks
}

// everyRound runs all schemes.
func everyRound(b *reproduce.Bench) iter.Seq[*round] {
	return func(yield func(*round) bool) {
		for _, s := range schemes {
			for a := range awakenings(s) {
				if !yield(roundOf(b, a)) {
					return
				}
			}
		}
	}
}

func roundOf(b *reproduce.Bench, a *awakening) *round {
	r := b.Simulate(a.Algorithm, a.options())
	return &round{a, r, r.Prepared.Parameters.Sequence()}
}

// n is the size.
func (r *round) n() int { return len(r.Subject.IDs) }

// last is the hypothesis that is at least n.
func (r *round) last() election.Ticks { return r.hypotheses[len(r.hypotheses)-1] }

// claim returns what package claims finds about a statement in a run.
func claim(b *reproduce.Bench, r *round, s claims.Statement, d *reproduce.Doubt) catalogue.Claim {
	all, err := b.Algorithm(r.Algorithm).Check(r.Record, r.Prepared)
	d.Unless(err == nil, "%s: %v", r.replay(), err)
	c := catalogue.Claim{Measured: "nothing is claimed"}
	if i := slices.IndexFunc(all, func(c catalogue.Claim) bool { return c.Text == s.Text() }); i >= 0 {
		c = all[i]
	}
	d.Unless(c.Holds, "%s: %s", r.replay(), c.Measured)
	return c
}

// every finds that a statement of package claims holds in all rounds. What is measured is formatted with the number of
// rounds, and the sum and the greatest of what was counted in them.
func every(s claims.Statement, format string) func(*reproduce.Bench) reproduce.Finding {
	return each(everyRound, s, format)
}

// each is every, in these rounds. Where it counts cases, there has to be one.
func each(rounds func(*reproduce.Bench) iter.Seq[*round], s claims.Statement, format string) func(*reproduce.Bench) reproduce.Finding {
	return func(b *reproduce.Bench) reproduce.Finding {
		var d reproduce.Doubt
		elections, sum, most := 0, 0, 0
		replay := ""
		for r := range rounds(b) {
			c := claim(b, r, s, &d)
			if replay == "" && !c.Holds {
				replay = r.replay()
			}
			elections, sum, most = elections+1, sum+c.Count, max(most, c.Count)
		}
		d.Unless(sum > 0 || s == claims.LatestEntry, "there is no case of it in %d elections", elections)
		f := d.Finding("%s", fmt.Sprintf(format, elections, sum, most))
		f.Replay = replay
		return f
	}
}

// latecomers are the rounds, and elections in which one processor wakes last, behind one that wakes first and has a slightly
// larger identity: there an identity walks in a phase where another has walked before, which in most other elections
// none does.
func latecomers(b *reproduce.Bench) iter.Seq[*round] {
	return func(yield func(*round) bool) {
		for r := range everyRound(b) {
			if !yield(r) {
				return
			}
		}
		source := source5(2)
		for range 500 {
			if !yield(roundOf(b, latecomer(source))) {
				return
			}
		}
	}
}

const latecomersAre = awakeningsAre + "; and 500 of up to 24 in which the smallest wakes last, behind those that wake first and are next in size"

// latecomer is such an election: on a ring of 6 to 24, identity 1 is behind three of 2 to 6, of which the first wakes first.
func latecomer(source *random.Source) *awakening {
	n := 6 + int(source.Below(19))
	a := &awakening{Subject: reproduce.Subject{Algorithm: "stop-and-go-p1", Set: []string{fmt.Sprintf("c=%d", 2+source.Below(3))}}}
	for p := range n {
		a.IDs = append(a.IDs, uint64(p+1)%uint64(n)+1)
	}
	for p := range n - 1 {
		most := n - 1
		if p < 3 {
			most = min(6, most)
		}
		other := p + int(source.Below(uint64(most-p)))
		a.IDs[p], a.IDs[other] = a.IDs[other], a.IDs[p]
	}
	a.wake = slices.Repeat([]election.Ticks{election.Forever}, n)
	a.wake[0] = election.Units(0)
	for p := 1; p < n; p++ {
		if source.Below(6) == 0 {
			a.wake[p] = election.Units(source.Below(6))
		}
		if source.Below(5) == 0 {
			a.unwilling = append(a.unwilling, p)
		}
	}
	return a
}

// entered returns when each position entered phase 1, if it takes part.
func (r *round) entered() map[uint64]election.Ticks {
	t := map[uint64]election.Ticks{}
	for i := range r.Record.Steps {
		if s := &r.Record.Steps[i]; s.Event == trace.Receive && strings.HasSuffix(s.Kind, "started") && len(s.Timers) > 0 {
			t[r.Subject.IDs[s.Process]] = s.Time
		}
	}
	return t
}

// hop is a step of an identity, and when it was sent.
type hop struct {
	claims.Walk
	at election.Ticks
}

// hops returns the hops of all identities.
func (r *round) hops() (all []hop) {
	carried := reproduce.Must(claims.Walks(r.Record))
	for i := range r.Record.Steps {
		s := &r.Record.Steps[i]
		for _, m := range s.Sent {
			if h := (hop{carried[m.Message-1], s.Time}); h.Phase > 0 {
				all = append(all, h)
			}
		}
	}
	return all
}

// hypotheses returns the hypotheses of the parameters on a ring of n; nil if an election is impossible.
func hypotheses(b *reproduce.Bench, s reproduce.Subject, n int) []*big.Int {
	b.Reached(n)
	e, i := b.Algorithm(s.Algorithm), s.Setup()
	all, err := e.Sequence(reproduce.Must(e.Set(i.Parameters)), uint64(n), 1<<14)
	if err != nil {
		return nil
	}
	return all
}

// counted is the exact cost of an algorithm with parameters.
func counted(b *reproduce.Bench, s reproduce.Subject, ids election.Arrangement) *count.Result {
	e, i := b.Algorithm(s.Algorithm), s.Setup()
	b.Reached(ids.Len())
	return reproduce.Must(e.Count(b.Context, ids, reproduce.Must(e.Set(i.Parameters)), nil))
}

// source5 is the source of random awakenings.
func source5(seed uint64) *random.Source { return random.New(seed, random.Inputs) }
