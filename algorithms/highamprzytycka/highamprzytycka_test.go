package highamprzytycka_test

import (
	"testing"

	"ringleader.example/ringleader/algorithms/highamprzytycka"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

type (
	algorithm = election.Algorithm[highamprzytycka.Process, highamprzytycka.Message]
	process   = highamprzytycka.Process
	message   = highamprzytycka.Message
	out       = election.Out[message]
)

func TestConformance(t *testing.T) {
	electiontest.Conform(t, highamprzytycka.Algorithm, electiontest.Options{Verify: 5})
}

func TestVectors(t *testing.T) { // election messages; the announcement has n
	for _, v := range []struct {
		ids  []uint64
		want uint64
	}{
		{[]uint64{1}, 1},
		{[]uint64{2, 1}, 4},
		{[]uint64{3, 2, 1}, 6},
		{[]uint64{1, 2, 3}, 8},
		{[]uint64{4, 3, 2, 1}, 8},
		{[]uint64{5, 4, 3, 2, 1}, 10},
		{[]uint64{3, 1, 4, 2, 5}, 14},
		{[]uint64{8, 7, 6, 5, 4, 3, 2, 1}, 16},
		{[]uint64{1, 2, 3, 4, 5, 6, 7, 8}, 28},
		{[]uint64{1, 5, 3, 7, 2, 6, 4, 8}, 30},
	} {
		electiontest.Counts(t, highamprzytycka.Algorithm, 1, network.On(v.ids...), v.want, uint64(len(v.ids)))
	}
}

// fibonacci has F(1) = F(2) = 1.
var fibonacci = []uint64{0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584, 4181}

// entered returns the algorithm with a count of the envelopes that enter each round.
func entered(a algorithm, entrants []uint64) algorithm {
	counted := a
	counted.Start = func(p *process, out *out) {
		if p.Round == 0 {
			entrants[1]++
		}
		a.Start(p, out)
	}
	counted.Receive = func(p *process, port election.Port, kind election.Kind, m message, out *out) {
		counted.Start(p, out)
		a.Receive(p, port, kind, m, out)
		if kind == highamprzytycka.Envelope && p.Last == m.ID && p.Round == m.Round+1 {
			entrants[p.Round]++
		}
	}
	return counted
}

// inequalities returns the inequality of the proof that does not hold, or "".
func inequalities(n uint64, entrants, byRound []uint64) (broken string) {
	for i := 1; i < len(entrants); i += 2 {
		if entrants[i]*fibonacci[i] > n {
			return "more than n/F(i) envelopes enter an odd round i"
		}
	}
	for i := 2; i < len(byRound); i += 2 {
		cost := byRound[i]
		if i+1 < len(byRound) {
			cost += byRound[i+1]
		}
		if cost*fibonacci[i+3] > 2*n*fibonacci[i+3]-n*fibonacci[i] {
			return "an even round i and the next cost more than 2n - nF(i)/F(i+3)"
		}
	}
	return ""
}

func TestExtremesOverAllOrdersAndBothInequalities(t *testing.T) {
	most := []uint64{0, 1, 4, 8, 11, 18, 22, 26, 34}
	least := []uint64{0, 1, 4, 6, 8, 10, 12, 14, 16}
	for n := 1; n <= 8; n++ {
		var entrants [16]uint64
		a := entered(highamprzytycka.Algorithm, entrants[:])
		gotLeast, gotMost := electiontest.Extremes(t, a, n, func(ids []uint64, r *simulate.Result) {
			if broken := inequalities(uint64(n), entrants[:], r.ByPhase); broken != "" {
				t.Fatalf("%v: %s: %v entrants, %v messages by round", ids, broken, entrants, r.ByPhase)
			}
			clear(entrants[:])
			if n >= 2 && ids[r.Leaders[0]] == uint64(n) {
				t.Fatalf("%v: the largest wins; round 1 destroys it", ids)
			}
			if r.ByPhase[1] != uint64(n) {
				t.Fatalf("%v: round 1 costs %d messages, want n", ids, r.ByPhase[1])
			}
		})
		if gotLeast != least[n] || gotMost != most[n] {
			t.Errorf("n=%d: %d to %d election messages, want %d to %d", n, gotLeast, gotMost, least[n], most[n])
		}
	}
}

func TestRandomRingsKeepBothInequalitiesAndTheBound(t *testing.T) {
	worst := highamprzytycka.Algorithm.Bound(election.Worst).Value
	for n := 2; n <= 128; n++ {
		for seed := range uint64(4) {
			var entrants [16]uint64
			r := electiontest.Elect(t, entered(highamprzytycka.Algorithm, entrants[:]), simulate.Options{
				Setup: network.On(electiontest.Random(t, n, seed)...), Schedule: simulate.Random, Seed: seed, AnyTime: true,
			})
			if broken := inequalities(uint64(n), entrants[:], r.ByPhase); broken != "" {
				t.Errorf("n=%d, seed %d: %s: %v entrants, %v messages by round", n, seed, broken, entrants, r.ByPhase)
			}
			if r.Messages.Election > worst(uint64(n)) {
				t.Errorf("n=%d, seed %d: %d messages, at most %d may be", n, seed, r.Messages.Election, worst(uint64(n)))
			}
		}
	}
}

// The constant comes from large n: two rounds more allow a ring φ² times as large.
func TestBoundGrowsLike1271NLgN(t *testing.T) {
	worst := highamprzytycka.Algorithm.Bound(election.Worst).Value
	for n, factor := range map[uint64]float64{1 << 10: 1.60, 1 << 20: 1.44, 1 << 30: 1.39, 1 << 50: 1.345} {
		lg := float64(election.CeilLog(n))
		if got := float64(worst(n)) / (float64(n) * lg); got > factor || got < 1.271 {
			t.Errorf("n=%d: the bound is %.3f n lg n, want 1.271 to %.3f", n, got, factor)
		}
	}
}

func TestDistancesNeverOverflow(t *testing.T) {
	for _, round := range []uint32{2, 40, 44, 46, 92, 1000} { // even, and the envelope is promoted by comparison
		p := process{ID: 1, Last: 1, Round: round}
		var c election.Collector[message]
		p.Receive(1, highamprzytycka.Envelope, message{ID: 2, Round: round}, c.Out())
		sent := c.Sent()[0].M
		want := uint64(1<<32 - 2)
		if round+3 <= 47 { // F(47) is the last below 2³²
			want = 2
			for before, k := uint64(1), uint32(3); k < round+3; k++ {
				before, want = want, before+want
			}
			want--
		}
		if sent.Round != round+1 || uint64(sent.Hops) != want {
			t.Errorf("promoted from round %d to %d with %d hops, want %d", round, sent.Round, sent.Hops, want)
		}
	}
}

func TestOvertakingMessagesElectTwo(t *testing.T) {
	for seed := range uint64(1000) {
		r := electiontest.Run(t, highamprzytycka.Algorithm, simulate.Options{
			Setup: network.On(6, 5, 1, 7, 3, 4, 2), Schedule: simulate.Random, Faults: faults.Script{Unordered: true}, Seed: seed, Limit: 10_000,
		})
		if len(r.Leaders) == 2 {
			t.Logf("seed %d: positions %v lead", seed, r.Leaders)
			return
		}
	}
	t.Error("none of 1000 runs without order elects two, so FIFO need not be declared")
}

// The rules about rounds only save messages: without them one leader is elected all the same. So the inequalities
// must fail.
func TestInequalitiesFindBrokenPromotions(t *testing.T) {
	for name, change := range map[string]func(p *process, m *message){ // sees an envelope before it is received
		"by distance, never":               func(_ *process, m *message) { m.Hops += 1000 },
		"by distance, at the first chance": func(_ *process, m *message) { m.Hops = 0 },
		"by witness, for any smaller label": func(p *process, m *message) {
			if m.Round%2 == 0 && p.Round == m.Round-1 {
				p.Last = 0
			}
		},
		"by witness, never": func(p *process, m *message) {
			if m.Round%2 == 0 && p.Round == m.Round-1 {
				p.Last = m.ID + 1
			}
		},
	} {
		a := highamprzytycka.Algorithm
		a.Receive = func(p *process, port election.Port, kind election.Kind, m message, out *out) {
			a.Start(p, out)
			if kind == highamprzytycka.Envelope {
				change(p, &m)
			}
			highamprzytycka.Algorithm.Receive(p, port, kind, m, out)
		}
		broken := 0
		for n := 2; n <= 128; n++ {
			var entrants [32]uint64
			r := electiontest.Elect(t, entered(a, entrants[:]), simulate.Options{Setup: network.On(electiontest.Random(t, n, 1)...)})
			known := len(fibonacci) - 3
			if inequalities(uint64(n), entrants[:known], r.ByPhase[:min(known, len(r.ByPhase))]) != "" {
				broken++
			}
		}
		if broken == 0 {
			t.Errorf("promotion %s: both inequalities hold on all rings", name)
		}
		t.Logf("promotion %s: broken on %d of 127 rings", name, broken)
	}
}

// Public programs begin with round 0. They elect, too, but take 31 messages where ELECT takes at most 26.
func TestRoundsFromZeroCostMore(t *testing.T) {
	// A process keeps its round plus 1, since 0 means asleep; otherwise the rules are the same.
	send := func(p *process, m message, out *out) {
		p.Last, p.Round = m.ID, m.Round+1
		out.Send(highamprzytycka.Right, highamprzytycka.Envelope, m)
	}
	a := highamprzytycka.Algorithm
	a.Start = func(p *process, out *out) {
		if p.Round == 0 {
			send(p, message{ID: p.ID}, out)
		}
	}
	a.Receive = func(p *process, port election.Port, kind election.Kind, m message, out *out) {
		a.Start(p, out)
		round := p.Round - 1
		odd, greater := m.Round%2 == 1, m.ID > p.Last
		switch {
		case kind == highamprzytycka.Leader, m.Round == round && m.ID == p.Last:
			highamprzytycka.Algorithm.Receive(p, port, kind, message{ID: m.ID, Round: p.Round}, out)
		case m.Round == round && odd == greater:
		case m.Round == round, odd && m.Hops == 0, !odd && round == m.Round-1 && greater:
			m.Round++
			send(p, message{m.ID, m.Round, uint32(fibonacci[m.Round+2]) - 1}, out)
		default:
			m.Hops--
			send(p, m, out)
		}
	}
	if _, most := electiontest.Extremes(t, a, 7, nil); most != 31 {
		t.Errorf("at most %d messages, want 31", most)
	}
}

func TestWhatIsPassedOnIsRemembered(t *testing.T) {
	p := process{ID: 5, Last: 5, Round: 1}
	var c election.Collector[message]
	p.Receive(1, highamprzytycka.Envelope, message{ID: 3, Round: 2}, c.Out()) // no witness: 3 < 5
	if want := (process{ID: 5, Last: 3, Round: 2}); p != want || len(c.Sent()) != 1 || c.Sent()[0].M != (message{ID: 3, Round: 2}) {
		t.Errorf("the state is %+v after %+v, want %+v", p, c.Sent(), want)
	}
}

func TestBrokenRulesAreFound(t *testing.T) {
	receive := highamprzytycka.Algorithm.Receive
	for name, mutant := range map[string]struct {
		property string
		receive  func(p *process, m message, kind election.Kind, out *out)
	}{
		"the process that finds out leads, and announces the label all the same": {verify.TwoLeaders, func(p *process, m message, kind election.Kind, out *out) {
			if kind == highamprzytycka.Envelope && m.Round == p.Round && m.ID == p.Last {
				p.Decided = true
				out.Lead(0)
				out.Send(highamprzytycka.Right, highamprzytycka.Leader, m)
				return
			}
			receive(p, 1, kind, m, out)
		}},
		"sleepers relay": {verify.Irrevocable, func(p *process, m message, kind election.Kind, out *out) {
			if kind == highamprzytycka.Envelope && p.Round == 0 {
				out.Send(highamprzytycka.Right, kind, m)
				return
			}
			receive(p, 1, kind, m, out)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			a := highamprzytycka.Algorithm
			a.Receive = func(p *process, _ election.Port, kind election.Kind, m message, out *out) {
				mutant.receive(p, m, kind, out)
			}
			for n := 1; n <= 5; n++ {
				report, err := verify.Run(a, verify.Options{Size: n, Starts: verify.AnyTime})
				if err != nil {
					t.Fatal(err)
				}
				if v := report.Violation; v != nil {
					if v.Property != mutant.property {
						t.Errorf("n=%d: found %s: %s; want %s", n, v.Property, v.Detail, mutant.property)
					}
					return
				}
			}
			t.Errorf("not found with up to 5 processes; want %s", mutant.property)
		})
	}
}
