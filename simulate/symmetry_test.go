package simulate_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/runners/bully"
	"ringleader.example/ringleader/internal/runners/franklin"
	"ringleader.example/ringleader/internal/runners/itairodeh"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/simulate"
)

func symmetric(t *testing.T, p program.Program, o simulate.Options) *simulate.Symmetry {
	t.Helper()
	s, err := simulate.New(p).Symmetric(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// likes computes the expected Alike from rotations and reflections: p is like q if one of them takes p to q, and
// every process to one with the same identifier and the same ports.
func likes(ids []uint64, flipped []bool) (classes [][]int) {
	n := len(ids)
	class := slices.Repeat([]int{-1}, n)
	for p := range n {
		for q := range p {
			for _, mirrored := range []bool{false, true} {
				fits := true
				for d := range n { // d steps clockwise from p
					image := (q + d) % n
					if mirrored {
						image = (q - d + n) % n
					}
					from := (p + d) % n
					fits = fits && ids[from] == ids[image] && (flipped[from] == flipped[image]) != mirrored
				}
				if fits && class[p] < 0 {
					class[p] = class[q]
				}
			}
		}
		if class[p] < 0 {
			class[p] = len(classes)
			classes = append(classes, nil)
		}
		classes[class[p]] = append(classes[class[p]], p)
	}
	return classes
}

func TestProcessesThatATurnOrAReflectionExchangesAreAlike(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	for n := 1; n <= 6; n++ {
		for word := range 1 << n {
			ids, flipped := make([]uint64, n), make([]bool, n)
			for p := range ids {
				ids[p] = uint64(1 + word>>p&1)
			}
			for orientation := range 1 << n {
				for p := range flipped {
					flipped[p] = orientation>>p&1 == 1
				}
				i := network.Setup{IDs: election.List(ids), Flipped: flipped}
				s := symmetric(t, franklin.Program, simulate.Options{Setup: i, Limit: 1000})
				if want := likes(ids, flipped); !reflect.DeepEqual(s.Alike, want) || s.Apart != nil {
					t.Fatalf("%v, exchanged %v: %v are alike, want %v; %+v", ids, flipped, s.Alike, want, s)
				}
			}
		}
	}
}

// S2's exercise 4(b) for two equal odd processes. On an oriented ring only opposite ones defeat every algorithm.
// Without orientation a reflection also defeats it if both gaps between them are odd.
func TestWhichOddPairsDefeatEveryAlgorithm(t *testing.T) {
	for n := 2; n <= 8; n++ {
		for gap := 1; gap < n; gap++ {
			ids := slices.Repeat([]uint64{1}, n)
			ids[0], ids[gap] = 2, 2
			s := symmetric(t, small(lcr.Algorithm), simulate.Options{Setup: network.On(ids...), Limit: 1000})
			if opposite := 2*gap == n; s.Alone() == opposite {
				t.Errorf("oriented %v: %v are alike", ids, s.Alike)
			}
			alone := true // under every orientation
			for orientation := range 1 << n {
				flipped := make([]bool, n)
				for p := range flipped {
					flipped[p] = orientation>>p&1 == 1
				}
				alone = alone && len(likes(ids, flipped)) == n
			}
			if defeated := 2*gap == n || gap%2 == 1 && (n-gap)%2 == 1; alone == defeated {
				t.Errorf("unoriented %v: each process can always be told apart: %v", ids, alone)
			}
		}
	}
}

func equals(n int) network.Setup {
	return network.Setup{IDs: election.List(slices.Repeat([]uint64{1}, n))}
}

// carousel passes a message round for ever, and counts to 5.
var carousel = election.Algorithm[int, int]{
	Declaration: election.Declaration{Name: "carousel", OneWay: true, Kinds: []election.MessageKind{{Name: "horse"}}},
	New:         func(election.Local) int { return 0 },
	Start:       func(_ *int, out *election.Out[int]) { out.Send(0, 0, 0) },
	Receive: func(s *int, _ election.Port, _ election.Kind, m int, out *election.Out[int]) {
		*s = (*s + 1) % 5
		out.Send(0, 0, m)
	},
}

func TestARunThatComesBackToWhereItWasIsEnded(t *testing.T) {
	s := symmetric(t, small(carousel), simulate.Options{Setup: equals(3)})
	if s.Repeats == nil || *s.Repeats != (simulate.Repeat{From: election.Units(0), To: election.Units(5)}) || !s.Complete || s.Rounds != 6 || len(s.Leaders) > 0 {
		t.Errorf("%+v, repeats %+v", s, s.Repeats)
	}
	counted := carousel
	counted.Receive = func(_ *int, _ election.Port, _ election.Kind, m int, out *election.Out[int]) { out.Send(0, 0, m+1) }
	if s = symmetric(t, small(counted), simulate.Options{Setup: equals(3), Limit: 300}); s.Repeats != nil || s.Complete || s.Rounds != 100 {
		t.Errorf("messages that differ are taken for the same: %+v", s)
	}
}

func TestTimersAreAPartOfWhereARunIs(t *testing.T) {
	clock := carousel
	clock.Timing, clock.Timers = election.Timed, []string{"tick", "tock"}
	clock.Start = func(_ *int, out *election.Out[int]) {
		out.After(0, election.Units(2))
		out.After(1, election.Units(3))
	}
	clock.Timeout = func(_ *int, timer election.Timer, out *election.Out[int]) {
		out.After(timer, election.Units(2+uint64(timer)))
	}
	s := symmetric(t, small(clock), simulate.Options{Setup: equals(4)})
	if s.Repeats == nil || *s.Repeats != (simulate.Repeat{From: election.Units(0), To: election.Units(6)}) {
		t.Errorf("%+v, repeats %+v", s, s.Repeats)
	}
	clock.Timeout = func(_ *int, timer election.Timer, out *election.Out[int]) { out.After(timer, election.Forever) }
	if _, err := simulate.New(small(clock)).Symmetric(simulate.Options{Setup: equals(4)}); !errors.Is(err, election.ErrTime) {
		t.Errorf("timers that never expire: %v", err)
	}
}

func TestChanceIsSeenAndSoIsWhatOnlyLooksLikeIt(t *testing.T) {
	s := symmetric(t, itairodeh.Program, simulate.Options{Setup: equals(5), Seed: 1})
	if !s.Chance || s.Apart == nil || !s.Apart.At.IsZero() || !s.Right {
		t.Errorf("%+v", s)
	}
	turn := 0
	impure := carousel
	impure.Start = func(s *int, _ *election.Out[int]) { turn++; *s = turn }
	if _, err := simulate.New(small(impure)).Symmetric(simulate.Options{Setup: equals(2)}); !errors.Is(err, simulate.ErrBroken) {
		t.Errorf("steps that depend on something else: %v", err)
	}
}

func TestSymmetryIsForRings(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	_, err := simulate.New(bully.Program).Symmetric(simulate.Options{Setup: equals(2)})
	if !errors.Is(err, simulate.ErrOptions) {
		t.Error(err)
	}
	if _, err = simulate.Symmetric(lcr.Algorithm, simulate.Options{}); !errors.Is(err, network.ErrSetup) {
		t.Error(err)
	}
	if s := symmetric(t, small(lcr.Algorithm), simulate.Options{Setup: network.On(3, 1, 2)}); !s.Alone() || !s.Right || s.Rounds != 7 {
		t.Errorf("with different identifiers: %+v", s)
	}
	if s := symmetric(t, small(lcr.Algorithm), simulate.Options{Setup: equals(100_000)}); s.Alone() || len(s.Leaders) != 100_000 {
		t.Errorf("%d of 100000 lead", len(s.Leaders))
	}
}
