package afekgafni_test

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/afekgafni"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

type algorithm = election.Algorithm[afekgafni.Process, afekgafni.Claim]

func run(t *testing.T, a algorithm, o simulate.Options) *simulate.Result {
	t.Helper()
	r := electiontest.Run(t, a, o)
	return r
}

func check(t *testing.T, a algorithm, o verify.Options) *verify.Report {
	t.Helper()
	report, err := verify.Run(a, o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestConformance(t *testing.T) {
	electiontest.Conform(t, afekgafni.Algorithm, electiontest.Options{})
}

// upTo returns the identifiers 1 … n in increasing or decreasing order.
func upTo(n int, rising bool) election.List {
	ids := make(election.List, n)
	for p := range ids {
		ids[p] = uint64(p) + 1
	}
	if !rising {
		slices.Reverse(ids)
	}
	return ids
}

// The oldest message is delivered first, and all initiate in the order of positions.
func TestVectorsOfTheFIFOSchedule(t *testing.T) {
	for n := uint64(1); n <= 60; n++ {
		type vector struct {
			what    string
			o       simulate.Options
			kinds   []uint64
			elected uint64
		}
		others := n - 1
		vectors := []vector{
			{"one starts", simulate.Options{Setup: network.Setup{IDs: upTo(int(n), true)}, Initiators: []int{int(n / 2)}}, []uint64{others, others, 0, 0, others}, 2 * others},
			{"rising", simulate.Options{Setup: network.Setup{IDs: upTo(int(n), true)}}, []uint64{2 * others, others, 0, 0, others}, 2 * others},
		}
		if n >= 3 {
			vectors = append(vectors, vector{
				"falling",
				simulate.Options{Setup: network.Setup{IDs: upTo(int(n), false)}},
				[]uint64{2 * others, 2*n - 3, n - 2, n - 2, others},
				4*n - 6,
			})
		}
		for _, v := range vectors {
			for _, timing := range []election.Timing{election.Asynchronous, election.Synchronous} {
				v.o.Timing = timing
				r := run(t, afekgafni.Algorithm, v.o)
				if !slices.Equal(r.Messages.ByKind, v.kinds) || r.Time.Elected != election.Units(v.elected) {
					t.Errorf("n=%d, %s, %s: %v, elected at %s; want %v and %d", n, v.what, timing, r.Messages.ByKind, r.Time.Elected, v.kinds, v.elected)
				}
				quiet := v.elected + 1
				if n == 1 {
					quiet = 0
				}
				if !r.Agreed || v.what != "one starts" && r.Prepared.Real(r.Leaders[0]) != n || r.Time.Quiet != election.Units(quiet) {
					t.Errorf("n=%d, %s, %s: leader at %v, quiet at %s", n, v.what, timing, r.Leaders, r.Time.Quiet)
				}
			}
		}
	}
}

// portOrders visits every order of the ports of n <= 3 processes.
func portOrders(n int, visit func([][]int)) {
	if n < 3 {
		visit(nil)
		return
	}
	for set := range 1 << n {
		ports := make([][]int, n)
		for p := range ports {
			ports[p] = []int{set >> p & 1, 1 - set>>p&1}
		}
		visit(ports)
	}
}

// starting returns the algorithm in which only these identifiers initiate, each when the schedule decides, and
// perhaps too late to be a candidate.
func starting(ids ...election.ID) algorithm {
	a := afekgafni.Algorithm
	a.Starts = election.AllStart
	a.Start = func(p *afekgafni.Process, out *election.Out[afekgafni.Claim]) {
		if slices.Contains(ids, p.ID) {
			p.Start(out)
		}
	}
	return a
}

// Every schedule, without FIFO, every order of identifiers and of ports, every set of initiators.
func TestExtremesOfTwoAndThree(t *testing.T) {
	want := map[[2]int][2]uint64{{1, 1}: {0, 0}, {2, 1}: {2, 2}, {2, 2}: {2, 3}, {3, 1}: {4, 4}, {3, 2}: {4, 8}, {3, 3}: {4, 9}}
	found := map[[2]int][2]uint64{}
	for n := 1; n <= 3; n++ {
		for set := 1; set < 1<<n; set++ {
			var starters []election.ID
			for p := range n {
				if set>>p&1 == 1 {
					starters = append(starters, election.ID(p)+1)
				}
			}
			portOrders(n, func(ports [][]int) {
				report := check(t, starting(starters...), verify.Options{
					Size: n, Setup: network.Setup{Ports: ports}, Starts: verify.AnyTime, Unordered: true,
				})
				if report.Violation != nil || !report.Complete {
					t.Fatalf("n=%d, ports %v, starters %v: %+v", n, ports, starters, report.Violation)
				}
				if factorial := []int{1, 1, 2, 6}[n]; report.Orders != factorial {
					t.Fatalf("n=%d: %d orders of identifiers, want %d", n, report.Orders, factorial)
				}
				k := [2]int{n, len(starters)}
				least, most := report.MinMessages.Election, report.MaxMessages.Election
				if f, ok := found[k]; ok {
					least, most = min(least, f[0]), max(most, f[1])
				}
				found[k] = [2]uint64{least, most}
			})
		}
	}
	for k, w := range want {
		if found[k] != w {
			t.Errorf("n=%d, %d start: %d election messages, want %d", k[0], k[1], found[k], w)
		}
	}
}

func TestExtremesOfFour(t *testing.T) {
	for _, v := range []struct {
		ids         election.List
		least, most uint64
	}{{upTo(4, true), 6, 12}, {upTo(4, false), 6, 15}} { // found by exhaustive simulation of all schedules; port k of p leads to p+1+k
		report := check(t, starting(1, 2, 3, 4), verify.Options{Setup: network.Setup{IDs: v.ids}, Starts: verify.AnyTime, Unordered: true})
		if report.Violation != nil || !report.Complete {
			t.Fatalf("%v: %+v", v.ids, report.Violation)
		}
		if least, most := report.MinMessages.Election, report.MaxMessages.Election; least != v.least || most != v.most {
			t.Errorf("%v: %d to %d election messages, want %d to %d", v.ids, least, most, v.least, v.most)
		}
	}
}

// The reason for the low cost: k+1 candidates reach level l only if (k+1)(l+1) <= n.
func TestFewReachHighLevels(t *testing.T) {
	for seed := range uint64(10_000) {
		n := 1 + int(seed%24)
		reached := make([]int, n) // by level: the number of candidates
		counted := afekgafni.Algorithm
		counted.Start = func(p *afekgafni.Process, out *election.Out[afekgafni.Claim]) {
			p.Start(out)
			if p.Alive {
				reached[0]++
			}
		}
		counted.Receive = func(p *afekgafni.Process, port election.Port, kind election.Kind, m afekgafni.Claim, out *election.Out[afekgafni.Claim]) {
			before := p.Level
			p.Receive(port, kind, m, out)
			if p.Level > before {
				reached[p.Level]++
			}
		}
		schedule := []simulate.Schedule{simulate.LIFO, simulate.Random, simulate.RandomDelay}[seed%3]
		r := run(t, counted, simulate.Options{
			Setup: electiontest.Setup(&afekgafni.Algorithm.Declaration, n, seed), Schedule: schedule,
			Faults: faults.Script{Unordered: true}, AnyTime: seed%2 == 0, Seed: seed,
		})
		if bound := afekgafni.Algorithm.Bound(election.Worst).Value(uint64(n)); !r.Agreed || r.Messages.Election > bound {
			t.Fatalf("n=%d, seed %d: leaders at %v, %d election messages of %d", n, seed, r.Leaders, r.Messages.Election, bound)
		}
		for level, candidates := range reached {
			if candidates*(level+1) > n {
				t.Fatalf("n=%d, seed %d: %d candidates reach level %d", n, seed, candidates, level)
			}
		}
	}
}

// receive is a mutant's reaction to a message. It returns false to leave the message to the algorithm.
type receive func(*afekgafni.Process, election.Port, election.Kind, afekgafni.Claim, *election.Out[afekgafni.Claim]) bool

func mutant(does receive) algorithm {
	a := afekgafni.Algorithm
	a.Receive = func(p *afekgafni.Process, port election.Port, kind election.Kind, m afekgafni.Claim, out *election.Out[afekgafni.Claim]) {
		if !does(p, port, kind, m, out) {
			p.Receive(port, kind, m, out)
		}
	}
	return a
}

func TestSlipsAreFound(t *testing.T) {
	for _, slip := range []struct {
		name     string
		does     receive
		size     int
		property string
	}{
		{"B1: a candidate does not own itself", func(p *afekgafni.Process, port election.Port, kind election.Kind, m afekgafni.Claim, out *election.Out[afekgafni.Claim]) bool {
			accepts := kind == afekgafni.Capture && p.Father == afekgafni.Self
			if accepts {
				p.Owner, p.Father, p.Port = m, afekgafni.Other, port
				out.Send(port, afekgafni.Accept, m)
			}
			return accepts
		}, 2, verify.TwoLeaders},
		{"B2: a candidate owns itself by its first claim", func(p *afekgafni.Process, _ election.Port, kind election.Kind, _ afekgafni.Claim, _ *election.Out[afekgafni.Claim]) bool {
			if kind == afekgafni.Capture && p.Father == afekgafni.Self {
				p.Owner.Level = 0
			}
			return false
		}, 3, verify.Undecided},
		{"B6, B7: the claim that is answered is not compared", func(p *afekgafni.Process, port election.Port, kind election.Kind, m afekgafni.Claim, out *election.Out[afekgafni.Claim]) bool {
			switch kind {
			case afekgafni.Yield:
				p.Father, p.Port = afekgafni.Other, p.Potential
				out.Send(p.Potential, afekgafni.Accept, m)
				return true
			case afekgafni.Accept:
				m = p.Claim
				p.Receive(port, kind, m, out)
				return true
			}
			return false
		}, 4, verify.Irrevocable},
		{"B7: a candidate that has lost continues", func(p *afekgafni.Process, _ election.Port, kind election.Kind, _ afekgafni.Claim, _ *election.Out[afekgafni.Claim]) bool {
			if kind == afekgafni.Accept {
				p.Alive = true
			}
			return false
		}, 3, verify.TwoLeaders},
	} {
		electiontest.Found(t, slip.name, mutant(slip.does), verify.Options{
			Setup: electiontest.Setup(&afekgafni.Algorithm.Declaration, slip.size, 1), Starts: verify.AnyTime, Unordered: true,
		}, slip.property)
	}
}
