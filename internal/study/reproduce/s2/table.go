package s2

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
)

// Table 2.1 compares an election with mutual exclusion, here in its simplest form, a token on a ring. The process
// with the token enters the critical section, as a leader for a term, leaves it and passes the token on. It is not an
// election and not in the catalogue, but engines run it.

// turn is the token: how many have entered, and how many may still do so.
type turn struct{ Entered, Left uint32 }

// member is a process of the ring: how often it has entered.
type member struct{ Entered uint32 }

// entriesEach is how often each process wants to enter.
const entriesEach = 3

// tokenRing is mutual exclusion among n processes. An initiator makes a token.
func tokenRing(n int) election.Algorithm[member, turn] {
	enter := func(m *member, t turn, out *election.Out[turn]) {
		m.Entered++
		out.Lead(election.Term(t.Entered) + 1)
		out.NoLeader()
		if t.Left > 0 {
			out.Send(0, 0, turn{t.Entered + 1, t.Left - 1})
		}
	}
	return election.Algorithm[member, turn]{
		Declaration: election.Declaration{
			Name: "token-ring", Title: "Mutual exclusion by a token on a ring", Topology: election.Ring, OneWay: true,
			Task: election.Service, Kinds: []election.MessageKind{{Name: "token", Class: election.Election}},
		},
		New:   func(election.Local) member { return member{} },
		Start: func(m *member, out *election.Out[turn]) { enter(m, turn{0, uint32(entriesEach*n - 1)}, out) },
		Receive: func(m *member, _ election.Port, _ election.Kind, t turn, out *election.Out[turn]) {
			enter(m, t, out)
		},
	}
}

// exclusion is a run of the token ring.
type exclusion struct {
	*simulate.Result
	entries []int // by position
	follows int   // how often a process learns which one is in the critical section
	atOnce  bool  // two were in it in one term
}

// exclude runs the token ring. The token begins at these positions.
func exclude(n int, makers []int, lose faults.Chance) exclusion {
	o := simulate.Options{Setup: network.On(reproduce.UpTo(n)...), Initiators: makers, Record: true}
	o.Faults.Lose = lose
	e := exclusion{Result: reproduce.Variant(tokenRing(n), o), entries: make([]int, n)}
	var terms []uint64
	for i := range e.Record.Steps {
		s := &e.Record.Steps[i]
		for _, d := range s.Decided {
			switch d.Role {
			case "leader":
				e.entries[s.Process]++
				e.atOnce = e.atOnce || slices.Contains(terms, d.Term)
				terms = append(terms, d.Term)
			case "follower":
				e.follows++
			}
		}
	}
	return e
}

func lostToken(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	rings5 := 0
	for n := 2; n <= 5; n++ {
		for ids := range reproduce.Rings(n) {
			rings5++
			lost := exclude(n, []int{0}, faults.Chance{Times: 1, Of: 1})
			wrong.Unless(slices.Max(lost.entries) == 1 && lost.Lost == 1, "n = %d: %v enter without a token", n, lost.entries)
			r := b.Run(reproduce.Subject{Algorithm: "lcr", IDs: ids}.Run())
			again := exclude(n, r.Leaders, faults.Chance{})
			wrong.Unless(reproduce.End(r) == reproduce.Right && !again.atOnce && slices.Min(again.entries) == entriesEach, "on %v: %s; then %v enter", ids, reproduce.End(r), again.entries)
		}
	}
	return reproduce.HoldsUnless(wrong.First, "%d rings: no process enters without the token; one is elected, its token is the only one, and all enter again", rings5)
}

func table21Competes(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	for n := 2; n <= 8; n++ {
		for _, name := range []string{"lcr", "bully"} {
			t := reproduce.Among(n, name).Run()
			once := b.Run(t)
			wrong.Unless(reproduce.End(once) == reproduce.Right && once.Complete, "%s of %d: %s", name, n, reproduce.End(once))
			// Another process that initiates after the end has nothing left to do.
			wrong.Unless(once.Time.Quiet.Less(election.Units(uint64(3*n+10))), "%s of %d: messages until %s", name, n, once.Time.Quiet)
		}
		e := exclude(n, []int{0}, faults.Chance{})
		wrong.Unless(e.Messages.Total == uint64(entriesEach*n-1), "token ring of %d: %d messages for %d entries", n, e.Messages.Total, entriesEach*n)
	}
	return reproduce.HoldsUnless(wrong.First, "2 to 8 processes: no message after an election while the leader lives; in the token ring one for each entry")
}

func table21Starves(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	most := 0
	for n := 2; n <= 5; n++ {
		for ids := range reproduce.Rings(n) {
			led := make([]int, n)
			for seed := range uint64(entriesEach) {
				t := reproduce.Subject{Algorithm: "lcr", IDs: ids}.Run()
				t.Seed, t.Schedule = seed, simulate.RandomDelay
				r := b.Run(t)
				longest := election.Units(2 * uint64(n) * simulate.LongestDelay)
				wrong.Unless(reproduce.End(r) == reproduce.Right && !longest.Less(r.Time.Quiet), "on %v: %s at %s", ids, reproduce.End(r), r.Time.Quiet)
				if p, one := r.Leader(); one {
					led[p]++
				}
			}
			never := 0
			for _, times := range led {
				if times == 0 {
					never++
				}
			}
			wrong.Unless(never == n-1, "on %v: leaders %v", ids, led)
			most = max(most, never)
		}
		e := exclude(n, []int{0}, faults.Chance{})
		wrong.Unless(slices.Min(e.entries) == entriesEach && slices.Max(e.entries) == entriesEach && !e.atOnce, "token ring of %d: %v enter", n, e.entries)
	}
	return reproduce.HoldsUnless(wrong.First, "elections end within 2n longest delays, and n - 1 processes (up to %d) are never leader, however often; in the token ring each enters %d times",
		most, entriesEach)
}

func table21Knows(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	for n := 2; n <= 8; n++ {
		r := b.Run(reproduce.Among(n, "lcr").Run().Recorded())
		told := 0
		for _, s := range r.Record.Steps {
			for _, d := range s.Decided {
				if d.Leader != nil && *d.Leader == uint64(n) {
					told++
				}
			}
		}
		wrong.Unless(told == n, "lcr of %d: %d know that %d is leader", n, told, n)
		e := exclude(n, []int{0}, faults.Chance{})
		wrong.Unless(e.follows == 0 && slices.Min(e.entries) > 0, "token ring of %d: a process learns %d times which process is in", n, e.follows)
	}
	return reproduce.HoldsUnless(wrong.First, "2 to 8 processes: all n learn the leader; no process ever learns which one is in the critical section")
}

// exercise1 puts the three lines of the table together.
func exercise1(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	measured := ""
	for _, check := range []func(*reproduce.Bench) reproduce.Finding{table21Competes, table21Starves, table21Knows} {
		f := check(b)
		wrong.Unless(f.Verdict == reproduce.Holds, "%s", f.Why)
	}
	n := 5
	r, e := b.Run(reproduce.Among(n, "lcr").Run()), exclude(n, []int{0}, faults.Chance{})
	measured = fmt.Sprintf("of %d: an election, %d messages once, %d decisions, %d leader; the token ring, %d messages, no decision, %v entries",
		n, r.Messages.Total, r.Decided, len(r.Leaders), e.Messages.Total, e.entries)
	return reproduce.HoldsUnless(wrong.First, "%s", measured)
}
