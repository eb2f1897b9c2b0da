package stopandgo_test

import (
	"math/big"
	"reflect"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/stopandgo"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

type algorithm = election.Algorithm[stopandgo.Process, stopandgo.Message]

var protocols = []algorithm{stopandgo.P1, stopandgo.P2, stopandgo.P3, stopandgo.P4}

// vectors come from an independent simulation unit by unit.
var vectors = []struct {
	algorithm
	parameters map[string]string
	ring
	hypotheses []uint64
	want       outcome
}{
	{stopandgo.P1, map[string]string{"c": "2"}, ring{[]uint64{1}, nil, nil}, []uint64{2}, outcome{1, []uint64{1, 1}, 1, 6, 7}},
	{stopandgo.P1, map[string]string{"c": "2"}, ring{[]uint64{1, 2}, nil, nil}, []uint64{2}, outcome{1, []uint64{2, 2}, 2, 7, 9}},
	{stopandgo.P1, map[string]string{"c": "2"}, ring{[]uint64{1, 2, 3}, nil, nil}, []uint64{2, 4}, outcome{1, []uint64{3, 2, 1}, 3, 12, 15}},
	{stopandgo.P1, map[string]string{"c": "2"}, ring{[]uint64{1, 2, 3, 4}, nil, nil}, []uint64{2, 4}, outcome{1, []uint64{4, 2, 2}, 4, 13, 17}},
	{stopandgo.P1, map[string]string{"c": "2"}, ring{[]uint64{3, 1, 4, 2, 5}, nil, nil}, []uint64{2, 4, 8}, outcome{1, []uint64{5, 2, 2, 1}, 5, 22, 27}},
	{stopandgo.P1, map[string]string{"c": "2"}, ring{[]uint64{3, 1, 4, 2, 5}, []int{0, -1, -1, -1, -1}, []int{1}}, []uint64{2, 4, 8}, outcome{2, []uint64{5, 3, 2, 1}, 5, 40, 45}},
	{stopandgo.P1, map[string]string{"c": "2"}, ring{[]uint64{6, 5, 4, 3, 2, 1}, nil, nil}, []uint64{2, 4, 8}, outcome{1, []uint64{6, 3, 2, 2}, 6, 23, 29}},
	{stopandgo.P1, map[string]string{"c": "2"}, ring{[]uint64{5, 2, 7, 1, 8, 3, 6, 4}, nil, nil}, []uint64{2, 4, 8}, outcome{1, []uint64{8, 5, 2, 4}, 8, 25, 33}},
	{stopandgo.P1, map[string]string{"c": "2"}, ring{[]uint64{8, 7, 6, 5, 4, 3, 2, 1}, []int{0, 1, 2, 3, 4, 5, 6, 7}, nil}, []uint64{2, 4, 8}, outcome{1, []uint64{8, 5, 2, 4}, 8, 31, 39}},
	{stopandgo.P2, map[string]string{"c": "2", "a": "2"}, ring{[]uint64{5, 2, 7, 1, 8, 3, 6, 4}, nil, nil}, []uint64{2, 4, 16}, outcome{1, []uint64{8, 5, 2, 4}, 8, 41, 49}},
	{stopandgo.P3, map[string]string{"c": "3"}, ring{[]uint64{5, 2, 7, 1, 8, 3, 6, 4}, nil, nil}, []uint64{3, 6, 103}, outcome{1, []uint64{8, 5, 3, 2}, 8, 215, 223}},
	{stopandgo.P4, map[string]string{"c": "2", "epsilon": "1"}, ring{[]uint64{5, 2, 7, 1, 8, 3, 6, 4}, nil, nil}, []uint64{2, 4, 16}, outcome{1, []uint64{8, 5, 2, 4}, 8, 41, 49}},
	{stopandgo.P4, map[string]string{"c": "17", "epsilon": ".5"}, ring{[]uint64{5, 2, 7, 1, 8, 3, 6, 4}, nil, nil}, []uint64{17}, outcome{1, []uint64{8, 8}, 8, 43, 51}},
	{stopandgo.P1, map[string]string{"c": "2"}, ring{[]uint64{12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, nil, nil}, []uint64{2, 4, 8, 16}, outcome{1, []uint64{12, 6, 2, 4, 4}, 12, 45, 57}},
	{stopandgo.P4, map[string]string{"c": "2", "epsilon": "1"}, ring{[]uint64{9, 4, 16, 1, 13, 7, 11, 3, 15, 6, 10, 2, 14, 8, 12, 5}, nil, nil}, []uint64{2, 4, 16}, outcome{1, []uint64{16, 9, 4, 12}, 16, 49, 65}},
}

// wide is a ring on which a phase takes more than n messages, with hypotheses of no published protocol; any rule is
// valid.
var (
	wide = ring{
		[]uint64{6, 5, 3, 4, 11, 7, 2, 13},
		[]int{8, -1, 0, -1, 3, -1, 5, 5},
		[]int{1},
	}
	wideHypotheses = []int64{3, 5, 6, 9}
	wideOutcome    = outcome{2, []uint64{8, 9, 3, 1, 2}, 8, 48, 56}
)

// listed returns the scheme with these hypotheses.
func listed(hypotheses ...int64) algorithm {
	return stopandgo.With(election.Declaration{Name: "listed", Title: "listed", Source: "S5", About: "listed", Year: 1987},
		func(_ election.Parameters, before *big.Int, _ uint) *big.Int {
			for _, h := range hypotheses {
				if before == nil || big.NewInt(h).Cmp(before) > 0 {
					return big.NewInt(h)
				}
			}
			return before
		}, "a longer list would do")
}

func simulated(t testing.TB, a algorithm, o simulate.Options) outcome {
	t.Helper()
	r := electiontest.Run(t, a, o)
	position, one := r.Leader()
	if !one || !r.Right {
		t.Fatalf("%v with %v: leaders at %v, agreed %v, right %v", a.Name, o, r.Leaders, r.Agreed, r.Right)
	}
	return outcome{r.Prepared.Real(position), r.ByPhase, r.Messages.Announcement, r.Time.Elected.Lo, r.Time.Quiet.Lo}
}

func TestEngineAndUnitByUnitGiveThePublishedVectors(t *testing.T) {
	for _, v := range vectors {
		if got := simulated(t, v.algorithm, v.options(v.parameters)); !reflect.DeepEqual(got, v.want) {
			t.Errorf("%s%v on %v: %v, want %v", v.Name, v.parameters, v.ids, got, v.want)
		}
		if got := unitByUnit(t, v.ring, v.hypotheses); !reflect.DeepEqual(got, v.want) {
			t.Errorf("%s%v on %v, unit by unit: %v, want %v", v.Name, v.parameters, v.ids, got, v.want)
		}
	}
	if got := simulated(t, listed(wideHypotheses...), wide.options(nil)); !reflect.DeepEqual(got, wideOutcome) {
		t.Errorf("a wide phase: %v, want %v", got, wideOutcome)
	}
}

// counted returns the result of package count for the same election.
func counted(t testing.TB, a algorithm, o simulate.Options) outcome {
	t.Helper()
	set, err := a.Set(o.Setup.Parameters)
	if err != nil {
		t.Fatal(err)
	}
	ids := o.Setup.IDs
	if o.Wake != nil {
		ids = count.Woken{Arrangement: ids, Wake: o.Wake, Unwilling: o.Setup.Unwilling}
	}
	r, err := count.StopAndGo(a.Sequence)(t.Context(), ids, set, nil)
	if err != nil {
		t.Fatal(err)
	}
	return outcome{r.Leader, r.ByPhase, r.Messages.Announcement, r.Time.Elected.Uint64(), r.Time.Quiet.Uint64()}
}

func TestCountGivesThePublishedVectors(t *testing.T) {
	for _, v := range vectors {
		if got := counted(t, v.algorithm, v.options(v.parameters)); !reflect.DeepEqual(got, v.want) {
			t.Errorf("%s%v on %v: %v, want %v", v.Name, v.parameters, v.ids, got, v.want)
		}
	}
	if got := counted(t, listed(wideHypotheses...), wide.options(nil)); !reflect.DeepEqual(got, wideOutcome) {
		t.Errorf("a wide phase: %v, want %v", got, wideOutcome)
	}
}

func TestLargerPublishedVectors(t *testing.T) {
	for _, v := range []struct {
		n int
		algorithm
		parameters map[string]string
		want       outcome
	}{
		{64, stopandgo.P1, map[string]string{"c": "2"}, outcome{1, []uint64{64, 20, 13, 16, 22, 16, 32}, 64, 193, 257}},
		{64, stopandgo.P2, map[string]string{"c": "2", "a": "2"}, outcome{1, []uint64{64, 28, 15, 45, 48}, 64, 577, 641}},
		{64, stopandgo.P3, map[string]string{"c": "3"}, outcome{1, []uint64{64, 42, 30, 58}, 64, 271, 335}},
		{1000, stopandgo.P1, map[string]string{"c": "2"}, outcome{1, []uint64{1000, 34, 34, 68, 136, 256, 308, 192, 384, 512, 488}, 1000, 3049, 4049}},
		{1000, stopandgo.P3, map[string]string{"c": "3"}, outcome{1, []uint64{1000, 269, 163, 890, 897}, 1000, 57526395106095, 57526395107095}},
	} {
		var r ring
		for k := range v.n {
			r.ids = append(r.ids, uint64((17*k+5)%v.n+1))
		}
		o := r.options(v.parameters)
		if got := simulated(t, v.algorithm, o); !reflect.DeepEqual(got, v.want) {
			t.Errorf("%s with n = %d: %v, want %v", v.Name, v.n, got, v.want)
		}
		if got := counted(t, v.algorithm, o); !reflect.DeepEqual(got, v.want) {
			t.Errorf("%s with n = %d, counted: %v, want %v", v.Name, v.n, got, v.want)
		}
	}
}

// randomRing returns a ring of up to ten processors with identifiers up to 15, of which some wake by themselves and
// some are unwilling: they do not initiate but take part.
func randomRing(source *random.Source) ring {
	below := func(n int) int { return int(source.Below(uint64(n))) }
	n := 1 + below(10)
	all := make([]uint64, 15)
	for i := range all {
		all[i] = uint64(i + 1)
	}
	for i := range n {
		k := i + below(len(all)-i)
		all[i], all[k] = all[k], all[i]
	}
	r := ring{ids: all[:n]}
	if below(4) == 0 {
		return r
	}
	r.wakes = make([]int, n)
	for q := range r.wakes {
		if r.wakes[q] = below(2 * n); below(3) == 0 {
			r.wakes[q] = -1
		}
	}
	r.wakes[below(n)] = 0
	for q := range n - 1 {
		if below(3) == 0 {
			r.unwilling = append(r.unwilling, q)
		}
	}
	return r
}

// settings have hypotheses that are small enough for a simulation unit by unit.
var settings = []struct {
	algorithm
	parameters map[string]string
	hypotheses []uint64
}{
	{stopandgo.P1, map[string]string{"c": "2"}, []uint64{2, 4, 8, 16}},
	{stopandgo.P1, map[string]string{"c": "3"}, []uint64{3, 9, 27}},
	{stopandgo.P2, map[string]string{"c": "2", "a": "3/2"}, []uint64{2, 3, 6, 15}},
	{stopandgo.P2, map[string]string{"c": "2", "a": "1.1"}, []uint64{2, 3, 4, 5, 6, 8, 10}},
	{stopandgo.P3, map[string]string{"c": "3"}, []uint64{3, 6, 103}},
	{stopandgo.P4, map[string]string{"c": "2"}, []uint64{2, 4, 16}},
	{stopandgo.P4, map[string]string{"c": "2", "epsilon": ".54"}, []uint64{2, 3, 4, 5, 6, 7, 8, 9, 10}},
	{listed(1, 2, 3, 7, 11), nil, []uint64{1, 2, 3, 7, 11}},
}

func Test10000ElectionsAreTheSameInTheEngineUnitByUnitAndCounted(t *testing.T) {
	source := random.New(1, random.Network)
	for k := range 10_000 {
		s, r := settings[k%len(settings)], randomRing(source)
		o := r.options(s.parameters)
		want := unitByUnit(t, r, s.hypotheses)
		if got := simulated(t, s.algorithm, o); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s%v on %+v: simulated %v, unit by unit %v", s.Name, s.parameters, r, got, want)
		}
		if got := counted(t, s.algorithm, o); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s%v on %+v: counted %v, unit by unit %v", s.Name, s.parameters, r, got, want)
		}
	}
}

// S5's slip 1: count begins with 0, and is decremented before it is compared with 0.
func TestIdentifier0WaitsForEverAsPrinted(t *testing.T) {
	h := []uint64{2, 4}
	if got := unitByUnit(t, ring{ids: []uint64{0}}, h); got.leader != 0 || got.quiet != 0 || len(got.byPhase) != 1 {
		t.Errorf("identifier 0 leaves: %+v", got)
	}
	_, err := simulate.Must(simulate.OfSmall(&stopandgo.P1)).Run(ring{ids: []uint64{0, 3}}.options(nil))
	if err == nil || !strings.Contains(err.Error(), "identifiers start at 1") {
		t.Errorf("identifier 0: %v", err)
	}
}

// S5's slip 2: send <i, h_m, w+1> where <j, h_m, w+1> is meant.
func TestSendingTheOwnIdentityAsPrintedIsWrong(t *testing.T) {
	mutant := stopandgo.P1
	mutant.Receive = func(p *stopandgo.Process, port election.Port, kind election.Kind, m stopandgo.Message, out *election.Out[stopandgo.Message]) {
		if kind == stopandgo.Identity && m.ID != p.ID && (p.Best == 0 || m.ID < p.Best) && election.Units(uint64(m.Walked)).Less(p.Hypotheses[m.Phase-1]) {
			p.Best, p.Waiting = m.ID, 0
			out.Stop(stopandgo.Stop)
			out.Send(stopandgo.Right, stopandgo.Identity, stopandgo.Message{ID: p.ID, Phase: m.Phase, Walked: m.Walked + 1})
			return
		}
		stopandgo.P1.Receive(p, port, kind, m, out)
	}
	r := electiontest.Run(t, mutant, ring{ids: []uint64{1, 2, 3}}.options(nil))
	if r.Right {
		t.Errorf("leaders at %v, which is right", r.Leaders)
	}
}

func TestConformance(t *testing.T) {
	for _, a := range protocols {
		t.Run(a.Name, func(t *testing.T) { electiontest.Conform(t, a, electiontest.Options{}) })
	}
}

// If all are unwilling and a single processor initiates, the checker expects that processor to win.
func TestTheRightLeaderOfTheUnwillingIsTheOneThatWokeByItself(t *testing.T) {
	o := verify.Options{Setup: network.Setup{IDs: election.List{4, 2, 5}, Unwilling: []int{0, 1, 2}}, Initiators: []int{2}}
	if r, err := verify.Run(stopandgo.P1, o); err != nil || r.Violation != nil || !r.Complete {
		t.Errorf("%+v, %v", r, err)
	}
	confused := stopandgo.P1
	confused.Eligible = func(p *stopandgo.Process) bool { return p.ID != 5 }
	if r, err := verify.Run(confused, o); err != nil || r.Violation == nil || r.Violation.Property != verify.WrongLeader {
		t.Errorf("5 leads and does not take part: %+v, %v", r, err)
	}
}
