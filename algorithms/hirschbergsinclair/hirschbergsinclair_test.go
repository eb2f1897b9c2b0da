package hirschbergsinclair_test

import (
	"math"
	"slices"
	"testing"

	hs "ringleader.example/ringleader/algorithms/hirschbergsinclair"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

type out = election.Out[hs.Message]

// on returns a ring with an orientation of each processor, a bit each; 0 is the common orientation.
func on(ids []uint64, orientation int) network.Setup {
	i := network.On(ids...)
	if orientation > 0 {
		i.Flipped = electiontest.Setup(&hs.Algorithm.Declaration, len(ids), uint64(orientation)).Flipped
	}
	return i
}

func TestConformance(t *testing.T) {
	electiontest.Conform(t, hs.Algorithm, electiontest.Options{Parameters: []map[string]string{
		nil, {"announce": "no"}, {"withdraw": "early"}, {"withdraw": "early", "announce": "no"},
	}})
}

// vectors are messages from, ok and no.
var vectors = []struct {
	ids          []uint64
	from, ok, no uint64
}{
	{[]uint64{1}, 2, 0, 0},
	{[]uint64{2, 1}, 8, 2, 2},
	{[]uint64{3, 2, 1}, 16, 7, 3},
	{[]uint64{1, 2, 3}, 16, 7, 3},
	{[]uint64{4, 3, 2, 1}, 20, 8, 4},
	{[]uint64{5, 4, 3, 2, 1}, 32, 17, 5},
	{[]uint64{3, 1, 4, 2, 5}, 36, 19, 7},
	{[]uint64{8, 7, 6, 5, 4, 3, 2, 1}, 44, 20, 8},
	{[]uint64{1, 2, 3, 4, 5, 6, 7, 8}, 44, 20, 8},
	{[]uint64{1, 5, 3, 7, 2, 6, 4, 8}, 64, 24, 24},
}

func TestVectorsUnderEveryScheduleAndOrientation(t *testing.T) {
	for _, v := range vectors {
		for o := range electiontest.Schedules(&hs.Algorithm.Declaration, 3) {
			for orientation := range 4 {
				o.Setup = on(v.ids, orientation)
				r := electiontest.Run(t, hs.Algorithm, o)
				if want := []uint64{v.from, v.ok, v.no, uint64(len(v.ids))}; !slices.Equal(r.Messages.ByKind, want) || !r.Right {
					t.Errorf("%v, %s %s: %v, want %v", v.ids, o.Timing, o.Schedule, r.Messages.ByKind, want)
				}
				o.Setup.Parameters = map[string]string{"announce": "no"}
				r = electiontest.Run(t, hs.Algorithm, o)
				if want := []uint64{v.from, v.ok, v.no, 0}; !slices.Equal(r.Messages.ByKind, want) || !r.Right || r.Decided != 1 {
					t.Errorf("%v, %s %s, not announced: %v, want %v", v.ids, o.Timing, o.Schedule, r.Messages.ByKind, want)
				}
			}
		}
	}
}

func TestExtremesAndMeanOverAllOrders(t *testing.T) {
	// The least and most messages of all orders of n = 1, 2, …, by exhaustive simulation.
	extremes := [][2]uint64{{2, 2}, {12, 12}, {26, 26}, {32, 40}, {54, 62}, {60, 80}, {66, 96}, {72, 112}}
	bounds := []uint64{4, 16, 36, 48, 84, 112, 116, 128, 212, 256}
	for i, bound := range bounds {
		if got := hs.Algorithm.Bound(election.Worst).Value(uint64(i) + 1); got != bound {
			t.Errorf("n=%d: the bound is %d, want %d", i+1, got, bound)
		}
	}
	for i, want := range extremes {
		n := uint64(i) + 1
		sum, orders := uint64(0), uint64(0)
		least, most := electiontest.Extremes(t, hs.Algorithm, int(n), func(_ []uint64, r *simulate.Result) {
			sum += r.Messages.Election
			orders++
		})
		if got := [2]uint64{least, most}; got != want || hs.Algorithm.Bound(election.Best).Value(n) != want[0] {
			t.Errorf("n=%d: %v, want %v", n, got, want)
		}
		if mean := hs.Algorithm.Bound(election.Average).Mean(n); math.Abs(float64(sum)/float64(orders)-mean) > 1e-9 {
			t.Errorf("n=%d: %d messages over %d orders, want %g on average", n, sum, orders, mean)
		}
	}
}

func TestMean(t *testing.T) {
	mean := hs.Algorithm.Bound(election.Average).Mean
	for n, want := range map[uint64]float64{4: 34.6667, 8: 93.8667, 16: 240.8404, 32: 592.5054, 64: 1411.6094, 100: 2563.7117, 1000: 36466.4135} {
		if got := mean(n); math.Abs(got-want) > 0.0001 {
			t.Errorf("n=%d: %.4f, want %.4f", n, got, want)
		}
	}
}

// The closed form, from the distances to the nearest greater identifiers.
func TestExactCountsOfRandomRings(t *testing.T) {
	for n := 1; n <= 64; n++ {
		ring, err := order.Random(n, uint64(n))
		if err != nil {
			t.Fatal(err)
		}
		from, ok := uint64(0), uint64(0)
		for p := range n {
			distance := [2]uint64{}
			for side, step := range []int{1, n - 1} {
				at := p
				for distance[side] = 1; int(distance[side]) < n; distance[side]++ {
					if at = (at + step) % n; ring.At(at) > ring.At(p) {
						break
					}
				}
			}
			last := uint64(1) << election.CeilLog(min(distance[0], distance[1]))
			from += 2 * (last - 1)
			ok += 2 * (last - 1)
			for _, d := range distance {
				from += min(last, d)
				if d > last {
					ok += last
				}
			}
		}
		size := uint64(n)
		o := simulate.Options{Setup: network.Setup{IDs: ring}, Schedule: simulate.Random, Faults: faults.Script{Unordered: true}, AnyTime: true}
		r := electiontest.Run(t, hs.Algorithm, o)
		if want := []uint64{from, ok, from - 2*size - ok, size}; !slices.Equal(r.Messages.ByKind, want) {
			t.Errorf("n=%d: %v, want %v", n, r.Messages.ByKind, want)
		}
	}
}

func TestBitReversalOrderCosts4NLgNPlus2N(t *testing.T) {
	for k, want := range map[uint64][2]uint64{ // bit-reversal orders of n = 2^k: 4n lg n + 2n messages in all
		2: {24, 16}, 3: {64, 48}, 4: {160, 128}, 5: {384, 320}, 6: {896, 768}, 7: {2048, 1792},
	} {
		n := uint64(1) << k
		ring, err := order.BitReversal(int(n))
		if err != nil {
			t.Fatal(err)
		}
		m := electiontest.Run(t, hs.Algorithm, simulate.Options{Setup: network.Setup{IDs: ring}}).Messages
		if got := [2]uint64{m.ByKind[hs.From], m.ByKind[hs.Ok] + m.ByKind[hs.No]}; got != want || m.Election != 4*n*k+2*n {
			t.Errorf("n=%d: %v, want %v", n, got, want)
		}
	}
}

func TestCandidatesOfEachStageKeepTheBound(t *testing.T) {
	for n := 1; n <= 100; n++ {
		ring, err := order.Random(n, uint64(n))
		if err != nil {
			t.Fatal(err)
		}
		var candidates [30]int
		counted := hs.Algorithm
		counted.Receive = func(p *hs.Process, port election.Port, kind election.Kind, m hs.Message, out *out) {
			before := p.Stage
			p.Receive(port, kind, m, out)
			if p.Stage > before {
				candidates[p.Stage]++
			}
		}
		r := electiontest.Run(t, counted, simulate.Options{Setup: network.Setup{IDs: ring}})
		for stage := 1; stage < len(candidates); stage++ {
			if most := n / (1<<(stage-1) + 1); candidates[stage] > most {
				t.Errorf("n=%d: %d candidates in stage %d, at most %d can be", n, candidates[stage], stage, most)
			}
		}
		if last := len(r.ByPhase) - 1; last != int(election.CeilLog(uint64(n))) {
			t.Errorf("n=%d: the last stage is %d, want ⌈lg n⌉ = %d", n, last, election.CeilLog(uint64(n)))
		}
	}
}

func TestSynchronousTimes(t *testing.T) {
	for n := uint64(1); n <= 33; n++ {
		ids := make([]uint64, n)
		for p := range ids {
			ids[p] = uint64(p*7+3) % 101
		}
		elected := 2*(1<<election.CeilLog(n)-1) + n // the same as with probes
		o := simulate.Options{Setup: on(ids, 1), Timing: election.Synchronous}
		r := electiontest.Run(t, hs.Algorithm, o)
		got := [3]uint64{r.Time.Elected.Lo, r.Time.Decided.Lo, r.Time.Quiet.Lo}
		if want := [3]uint64{elected, elected + n - 1, elected + n}; got != want {
			t.Errorf("n=%d: %v, want %v", n, got, want)
		}
		o.Setup.Parameters = map[string]string{"announce": "no"}
		if r = electiontest.Run(t, hs.Algorithm, o); r.Time.Quiet.Lo != elected {
			t.Errorf("n=%d, not announced: quiet at %s, want %d", n, r.Time.Quiet, elected)
		}
	}
}

func TestEarlyWithdrawalCostsNeverMoreAndDependsOnTheSchedule(t *testing.T) {
	early := map[string]string{"withdraw": "early"}
	for _, v := range vectors {
		n, all := uint64(len(v.ids)), v.from+v.ok+v.no
		least := all
		for seed := range uint64(3000) {
			o := simulate.Options{Setup: on(v.ids, int(seed%3)), Schedule: simulate.Random, Seed: seed, Faults: faults.Script{Unordered: seed%2 == 1}}
			o.Setup.Parameters = early
			r := electiontest.Run(t, hs.Algorithm, o)
			m := r.Messages
			if !r.Right || m.Election > all || m.ByKind[hs.Ok]+m.ByKind[hs.No] != m.ByKind[hs.From]-2*n {
				t.Fatalf("%v, seed %d: leaders %v, %v", v.ids, seed, r.Leaders, m.ByKind)
			}
			least = min(least, m.Election)
		}
		// If all start first, the least is the cost of the largest and two messages of every other. That is reached.
		if want := hs.Algorithm.Bound(election.Best).Value(n); least != want {
			t.Errorf("%v: %d to %d messages, want from %d", v.ids, least, all, want)
		}
	}
}

func TestEarlyWithdrawalReachesItsBestCase(t *testing.T) {
	for n := 1; n <= 3; n++ {
		o := verify.Options{Size: n, Starts: verify.AnyTime, Unordered: true}
		o.Setup.Parameters = map[string]string{"withdraw": "early"}
		report, err := verify.Run(hs.Algorithm, o)
		if err != nil {
			t.Fatal(err)
		}
		if want := 2*uint64(n) - 4 + 4<<election.CeilLog(uint64(n)); report.MinMessages == nil || report.MinMessages.Election != want {
			t.Errorf("n=%d: %+v, want at least %d election messages", n, report, want)
		}
	}
}

func TestNoHarmFromMessagesThatOvertake(t *testing.T) {
	for _, parameters := range []map[string]string{nil, {"withdraw": "early"}} {
		for seed := range uint64(10_000) {
			setup := electiontest.Setup(&hs.Algorithm.Declaration, 2+int(seed%8), seed)
			setup.Parameters = parameters
			o := simulate.Options{Setup: setup, Seed: seed, Schedule: simulate.Random, Faults: faults.Script{Unordered: true}, AnyTime: seed%2 == 1}
			if r := electiontest.Run(t, hs.Algorithm, o); !r.Right {
				t.Fatalf("seed %d %v: leaders %v, %d decided", seed, parameters, r.Leaders, r.Decided)
			}
		}
	}
}

func TestEveryScheduleOfFour(t *testing.T) { // and of fewer in every orientation: the conformance
	report, err := verify.Run(hs.Algorithm, verify.Options{Size: 4, Unordered: true})
	if err != nil {
		t.Fatal(err)
	}
	if report.Violation != nil || !report.Complete {
		t.Errorf("%+v", report)
	}
	if most, least := report.MaxMessages.Election, report.MinMessages.Election; most != 40 || least != 32 { // the extremes of all orders of 4
		t.Errorf("%d to %d election messages, want 32 to 40", least, most)
	}
}

func TestBrokenVariantsAreFound(t *testing.T) {
	for _, broken := range []struct {
		how     string
		size    int
		found   string
		receive func(p *hs.Process, port election.Port, kind election.Kind, m hs.Message, out *out)
	}{
		{
			"R2 before C5: where 2^i = n, the owner answers itself", 1, verify.BoundBroken,
			func(p *hs.Process, port election.Port, kind election.Kind, m hs.Message, out *out) {
				if kind == hs.From && m.ID >= p.ID && m.X+1 == m.Y {
					out.Send(port, hs.Ok, hs.Message{ID: m.ID, Y: m.Y})
					return
				}
				p.Receive(port, kind, m, out)
			},
		},
		{
			"both messages that return make a leader", 1, verify.Irrevocable,
			func(p *hs.Process, port election.Port, kind election.Kind, m hs.Message, out *out) {
				p.Elected = false
				p.Receive(port, kind, m, out)
			},
		},
		{
			"a processor that has withdrawn goes silent", 3, verify.Undecided,
			func(p *hs.Process, port election.Port, kind election.Kind, m hs.Message, out *out) {
				if !p.Withdrawn {
					p.Receive(port, kind, m, out)
				}
			},
		},
		{
			"an answer to pass on goes back", 3, verify.NeverEnds,
			func(p *hs.Process, port election.Port, kind election.Kind, m hs.Message, out *out) {
				if kind != hs.From && m.ID != p.ID {
					port = 1 - port
				}
				p.Receive(port, kind, m, out)
			},
		},
	} {
		mutant := hs.Algorithm
		mutant.Receive = broken.receive
		electiontest.Found(t, broken.how, mutant, verify.Options{Size: broken.size}, broken.found)
	}
}

// If answers of both kinds count, the smaller of two asks ever farther.
func TestTakingANoForAnOkNeverEnds(t *testing.T) {
	mutant := hs.Algorithm
	mutant.Receive = func(p *hs.Process, port election.Port, kind election.Kind, m hs.Message, out *out) {
		if kind == hs.No {
			kind = hs.Ok
		}
		p.Receive(port, kind, m, out)
	}
	if r := electiontest.Run(t, mutant, simulate.Options{Setup: network.On(2, 1), Limit: 100}); r.Complete {
		t.Errorf("it ends after %d messages", r.Messages.Total)
	}
}
