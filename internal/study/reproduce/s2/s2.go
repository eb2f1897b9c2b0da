// Package s2 has the rows about S2: what an election is, on rings and on complete graphs, and its exercises.
package s2

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify"
)

// Rows are the statements of S2, in its order.
var Rows = reproduce.From("S2", s2Elections, s2LCR, s2Complete, s2LogicalRing, s2Exercises)

// s2Elections are the statements of section 2.1.
var s2Elections = []reproduce.Row{
	{
		Where: "section 2.1, definition", Claim: "an election designates a single process",
		How: "every algorithm of the catalogue that finds identifiers, or none: schedules of up to 3 processes, random ones of up to 40; the leader, and the cost", Check: electsOne,
	},
	{
		Where: "section 2.1, reason 1", Settled: true, Claim: "centralized control is a single point of failure",
		How: "the leader crashes: lcr, which no process starts again, and bully", Check: singlePointOfFailure,
	},
	{
		Where: "section 2.1, reason 2", Claim: "an election chooses a new leader upon failure of the existing one",
		How: "every algorithm that is said to: of 2 to 8 processes the leaders crash one after the other, as long as a majority is left where one is needed; random crashes and recoveries", Check: newLeader,
	},
	{
		Where: "section 2.1, when to elect", Claim: "there is an election at the beginning and when the leader fails, and no other",
		How: "messages of bully after each crash: of the leader, and of others", Check: whenToElect,
	},
	{
		Where: "section 2.1, timeout", Claim: "a process that gets no response from the leader for some time suspects it and starts an election",
		How: "the record of a run: when the leader crashes, and what those do that suspect it", Check: suspicionStarts,
	},
	{
		Where: "section 2.1, extrema-finding", Claim: "extrema-finding: each process has a fixed value, and the extreme one is elected",
		How: "every algorithm of the catalogue that declares so, on every order of 5 values that are not 1 to 5", Check: extremaFinding,
	},
	{
		Where: "section 2.1, preference-based", Claim: "preference-based: processes vote for the one that they prefer",
		How: "all votes of 4 processes, on a complete graph, with and without a collector, on a ring, a path and a star; each crashing and returning", Check: preferenceBased,
	},
	{
		Where: "section 2.1, lost token", Claim: "the process that regenerates a lost token must be elected",
		How: "a token on a ring is lost; lcr elects on the ring, and the leader makes a token", Check: lostToken,
	},
	{
		Where: "section 2.1, figure 2.1", Claim: "p(i) sends to p(i+1) and receives from p(i-1), modulo n; node 0 is n, 2n, … after rounds",
		How: "the ends of the links of rings of up to 64, and the processes that forward a message that goes round", Check: ringModuloN,
	},
	{
		Where: "section 2.1, process 2n+1", Claim: "process 2n+1 receives from 2n and sends to 2n+1",
		How: "lcr on rings of up to 64: the receivers of that process's messages", Check: sendsToItself,
	},
	{
		Where: "section 2.1, neighbours", Claim: "each process knows its neighbours and their uids",
		How: "what processes of lcr are given at birth, and whether they elect", Check: knowsNeighbours,
	},
	{
		Where: "section 2.1, one announces", Claim: "one process only announces that it is the leader",
		How: "leader messages that are not passed on, in the runs on every ring of up to 5, every set of initiators", Check: oneAnnounces,
	},
	{
		Where: "section 2.1, output", Claim: "in LCR only the leader performs an output",
		How: "decisions of lcr and lcr-synchronous on every ring of up to 6", Check: onlyTheLeaderOutputs,
	},
	{
		Where: "table 2.1, line 1", Claim: "after an election processes continue as long as the leader stays; for mutual exclusion they compete each time",
		How: "messages of lcr and bully after the election; of a token ring for each entry", Check: table21Competes,
	},
	{
		Where: "table 2.1, line 2", Claim: "an election must end soon; mutual exclusion must starve no process",
		How: "repeated elections on every ring of up to 5: times, and processes that are never leader; entries of each in a token ring", Check: table21Starves,
	},
	{
		Where: "table 2.1, line 3", Claim: "all must know the result of an election; no process need know which one is in the critical section",
		How: "decisions of lcr and of a token ring on rings of up to 8", Check: table21Knows,
	},
	{
		Where: "section 2.1, topologies", Claim: "topologies are complete, logical ring or tree",
		How: "bully, logical-ring and tree with 2 to 8 processes, each alone initiating", Check: topologies,
	},
	{
		Where: "section 2.1, tree topology", Claim: "an election on a tree",
		How: "with votes and without: paths, stars and binary trees of up to 15, one to all initiate; every schedule on the path of 4", Check: onTrees,
	},
}

func singlePointOfFailure(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	once, service := reproduce.Among(5, "lcr").Run("crash 5 at 50"), reproduce.Among(5, "bully").Run("crash 5 at 50")
	dies(b, &wrong, once, "no leader")
	dies(b, &wrong, service, reproduce.Right)
	f := reproduce.HoldsUnless(wrong.First, "leader 5 crashes: with lcr there is no leader afterwards; with bully another election makes 4 leader")
	f.Replay = once.Replay()
	return f
}

// dies runs a trial with a crash, and expects such an end.
func dies(b *reproduce.Bench, wrong *reproduce.Doubt, t reproduce.Trial, want string) {
	r := b.Run(t)
	got := reproduce.End(r)
	wrong.Unless(got == want && len(r.Dead) == 1, "%s: %s; want: %s", t.Algorithm, got, want)
}

func whenToElect(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	for n := 3; n <= 8; n++ {
		t := reproduce.Among(n, "bully").Run()
		begin := b.Run(t).Messages
		for p := 1; p <= n; p++ {
			t.Faults = []string{fmt.Sprintf("crash %d at 100", p)}
			r := b.Run(t)
			more := r.Messages.Total - begin.Total
			wrong.Unless(reproduce.End(r) == reproduce.Right && (more > 0) == (p == n), "of %d, %d crashes: %d messages follow, %s", n, p, more, reproduce.End(r))
		}
	}
	return reproduce.HoldsUnless(wrong.First, "3 to 8 processes: the leader's crash causes messages, any other's none")
}

func suspicionStarts(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	t := reproduce.Among(5, "bully").Run("crash 5 at 50").Recorded()
	crash, suspicions := election.Units(0), 0
	for _, s := range b.Run(t).Record.Steps {
		switch s.Event {
		case trace.Crash:
			crash = s.Time
		case trace.Suspect:
			suspicions++
			wrong.Unless(crash.Less(s.Time), "%d suspects at %s, before anything is late", s.Process+1, s.Time)
			wrong.Unless(len(reproduce.SentOf(&s, "election")) == 4-s.Process, "%d suspects, and sends %v", s.Process+1, s.Sent)
		}
	}
	wrong.Unless(suspicions == 4, "%d suspect the leader", suspicions)
	f := reproduce.HoldsUnless(wrong.First, "5 crashes at %s; the %d others suspect it after the longest delay, and ask all above them", crash, suspicions)
	f.Replay = t.Replay() + " --story"
	return f
}

// across is the position to which a port leads.
func across(net *network.Network, p int, port election.Port) int {
	to, _ := net.End(net.Back(p, port))
	return to
}

func ringModuloN(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	for n := 1; n <= 64; n++ {
		net := reproduce.Must(network.NewRing(n, nil))
		for p := range n {
			to, from := across(net, p, 0), across(net, p, 1)
			wrong.Unless(to == (p+1)%n && from == (p+n-1)%n, "n = %d: %d sends to %d and receives from %d", n, p, to, from)
		}
	}
	for n := 1; n <= 16; n++ {
		ids := reproduce.UpTo(n)
		slices.Reverse(ids) // the largest stands at node 0; its uid goes round once, and then its leader message
		hop := 0
		for _, s := range b.Run(reproduce.Subject{Algorithm: "lcr", IDs: ids}.Starting(uint64(n)).Run().Recorded()).Record.Steps {
			wrong.Unless(s.Process == hop%n, "n = %d: hop %d is to %d", n, hop, s.Process)
			hop++
		}
		wrong.Unless(hop == 2*n+1, "n = %d: %d steps in two rounds", n, hop)
	}
	return reproduce.HoldsUnless(wrong.First, "n = 1 … 64: neighbours are i + 1 and i - 1 modulo n; hop k of what node 0 sends ends at k mod n")
}

func sendsToItself(b *reproduce.Bench) reproduce.Finding {
	printed, modulo, messages := true, true, 0
	for n := 2; n <= 64; n++ {
		p := (2*n + 1) % n
		r := b.Run(reproduce.Subject{Algorithm: "lcr", IDs: reproduce.UpTo(n)}.Run().Recorded())
		for i := range r.Record.Steps {
			for _, m := range r.Record.Steps[i].Sent {
				if r.Record.Steps[i].Process == p {
					messages++
					printed = printed && m.To == p
					modulo = modulo && m.To == (2*n+2)%n
				}
			}
		}
	}
	return reproduce.HoldsCorrected(printed && messages > 0, modulo && messages > 0, "a slip: it sends to 2n+2",
		"n = 2 … 64: %d messages of 2n+1, all to 2n+2, modulo n: %v", messages, modulo)
}

func knowsNeighbours(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	e, known := b.Algorithm("lcr"), false
	for n := 1; n <= 6; n++ {
		for ids := range reproduce.Rings(n) {
			p := reproduce.Must(network.Prepare(e.Declaration, network.On(ids...)))
			for q := range n {
				l := p.Local(q)
				known = known || l.N != 0 || l.Vote != 0 || l.ID != p.ID(q)
			}
			r := b.Run(reproduce.Subject{Algorithm: "lcr", IDs: ids}.Run())
			wrong.Unless(reproduce.End(r) == reproduce.Right, "on %v: %s", ids, reproduce.End(r))
		}
	}
	f := reproduce.HoldsCorrected(known, wrong.First == "", "none of it is needed, and n is not, either: a process knows its own uid and its two links",
		"every ring of up to 6: the largest is elected, though each process knows only its own uid")
	if wrong.First != "" {
		f.Why = wrong.First
	}
	return f
}

func oneAnnounces(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	runs := 0
	for r := range lcrRuns(b, &wrong, 5) {
		runs++
		announce := 0
		for i := range r.Record.Steps {
			if s := &r.Record.Steps[i]; s.Kind != "leader" && len(reproduce.SentOf(s, "leader")) > 0 {
				announce++
			}
		}
		wrong.Unless(announce == 1, "on %v: %d announce themselves", r.Record.IDs, announce)
	}
	return reproduce.HoldsUnless(wrong.First, "%d runs: one begins the leader messages, and all others pass them on", runs)
}

func onlyTheLeaderOutputs(b *reproduce.Bench) reproduce.Finding {
	outputs := func(name string, all bool) bool {
		for n := 1; n <= 6; n++ {
			for ids := range reproduce.Rings(n) {
				r := b.Run(reproduce.Subject{Algorithm: name, IDs: ids}.Run())
				want := 1
				if all {
					want = n
				}
				if reproduce.End(r) != reproduce.Right || r.Decided != want {
					return false
				}
			}
		}
		return true
	}
	printed, code, trans := outputs("lcr", false), outputs("lcr", true), outputs("lcr-synchronous", false)
	f := reproduce.HoldsCorrected(printed, code && trans, "by the leader messages of its lines 11 to 13 all n set leader-id, as line 3 of table 2.1 wants it; "+
		"only the leader performs an output in trans, section 2.3.1",
		"every ring of up to 6: lcr, all n decide: %v; lcr-synchronous, only the leader: %v", code, trans)
	f.Replay = "ringleader run lcr-synchronous --n 5"
	return f
}

func topologies(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	runs := 0
	for n := 2; n <= 8; n++ {
		for id := 1; id <= n; id++ {
			for _, name := range []string{"bully", "logical-ring", "tree"} {
				i := network.On(reproduce.UpTo(n)...)
				if name == "tree" {
					i.Edges = path(n)
				}
				r := b.Simulate(name, simulate.Options{Setup: i, Initiators: []int{id - 1}})
				runs++
				wrong.Unless(reproduce.End(r) == reproduce.Right, "%s of %d, %d initiates: %s", name, n, id, reproduce.End(r))
			}
		}
	}
	return reproduce.HoldsUnless(wrong.First, "%d runs: on each the largest is elected", runs)
}

// onTrees checks the count of saturation, with and without votes; S2 states none.
func onTrees(b *reproduce.Bench) reproduce.Finding {
	var wrong reproduce.Doubt
	runs, states := 0, 0
	for _, name := range []string{"tree", "preference-tree"} {
		for n := 2; n <= 15; n++ {
			binary := make([][2]int, n-1)
			for p := 1; p < n; p++ {
				binary[p-1] = [2]int{(p - 1) / 2, p}
			}
			for _, edges := range [][][2]int{path(n), starTree(n), binary} {
				for k := 1; k <= n; k++ {
					o := simulate.Options{Setup: network.On(reproduce.UpTo(n)...)}
					o.Setup.Edges = edges
					for p := range k {
						o.Initiators = append(o.Initiators, p)
					}
					r := b.Simulate(name, o)
					runs++
					wrong.Unless(reproduce.End(r) == reproduce.Right && r.Messages.Total == uint64(3*n+k-4), "%s on %v, %d initiate: %d messages, %s", name, edges, k, r.Messages.Total, reproduce.End(r))
				}
			}
		}
		o := verify.Options{Setup: network.On(reproduce.UpTo(4)...), Starts: verify.AnyTime}
		o.Setup.Edges = path(4)
		r := b.Verify(name, o)
		wrong.Verified(r, "%s on the path of 4", name)
		states += r.States
	}
	f := reproduce.HoldsUnless(wrong.First, "%d runs, and %d states: the largest is elected; 3n + k - 4 messages with k initiators", runs, states)
	f.Replay = "ringleader run tree --n 7 --topology binary"
	return f
}
