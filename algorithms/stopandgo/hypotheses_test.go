package stopandgo_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/stopandgo"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
)

// given parses parameters written as on the command line.
func given(text string) map[string]string {
	all := map[string]string{}
	for pair := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(pair, "=")
		all[name] = value
	}
	return all
}

// hypotheses returns h_1, h_2, … for a ring of n.
func hypotheses(a *algorithm, parameters string, n uint64, bits uint) ([]*big.Int, error) {
	set, err := a.Set(given(parameters))
	if err != nil {
		return nil, err
	}
	return a.Sequence(set, n, bits)
}

// text writes numbers; it writes those of more than 128 bits as about 2^x.
func text(numbers []*big.Int) string {
	var words []string
	for _, h := range numbers {
		switch {
		case h == nil:
			words = append(words, "beyond")
		case h.BitLen() <= 128:
			words = append(words, h.String())
		case int(h.TrailingZeroBits()) == h.BitLen()-1:
			words = append(words, fmt.Sprintf("2^%d", h.BitLen()-1))
		default:
			x := new(big.Float).SetInt(h)
			mantissa, _ := x.SetMantExp(x, -h.BitLen()).Float64()
			words = append(words, fmt.Sprintf("~2^%.1f", float64(h.BitLen())+math.Log2(mantissa)))
		}
	}
	return strings.Join(words, " ")
}

func TestPublishedHypotheses(t *testing.T) {
	const far, further = 1<<32 - 1, 1<<32 + 1
	for _, c := range []struct {
		algorithm
		parameters string
		n          uint64
		want       string
	}{
		{stopandgo.P1, "c=2", 16, "2 4 8 16"},
		{stopandgo.P1, "c=3", 200, "3 9 27 81 243"},
		{stopandgo.P1, "c=10", 999, "10 100 1000"},
		{stopandgo.P1, "c=7/3", 100, "3 7 17 40 94 220"},
		{stopandgo.P2, "c=2 a=1.1", 8000, "2 3 4 5 6 8 10 13 17 23 32 46 68 104 166 277 487 905 1788 3781 8618"},
		{stopandgo.P2, "c=2 a=1.5", far, "2 3 6 15 59 454 9674 951501 928140821 28276184777782"},
		{stopandgo.P2, "c=2 a=2", further, "2 4 16 256 65536 4294967296 18446744073709551616"},
		{stopandgo.P2, "c=3 a=2", 43046721, "3 9 81 6561 43046721"},
		{stopandgo.P2, "c=2 a=3", far, "2 8 512 134217728 2417851639229258349412352"},
		{stopandgo.P3, "c=3", 28763197552548, "3 6 103 28763197552547 ~2^1998.9"},
		{stopandgo.P3, "c=4", far, "4 16 65536 2^256"},
		{stopandgo.P3, "c=5", far, "5 42 566337645 ~2^845.5"},
		{stopandgo.P3, "c=8", far, "8 512 2417851639229258349412352"},
		{stopandgo.P4, "c=2 epsilon=1", far, "2 4 16 65536 2^65536"},
		{stopandgo.P4, "c=2 epsilon=2", far, "2 16 2^256"},
		{stopandgo.P4, "c=2 epsilon=.54", far, "2 3 4 5 6 7 8 9 10 12 15 20 33 98 3802 64816029741375232390929530"},
		{stopandgo.P4, "c=2 epsilon=.6", far, "2 3 4 5 7 10 16 39 515 5693781622557"},
		{stopandgo.P4, "c=2 epsilon=.75", far, "2 4 8 28 4616 ~2^560.0"},
		{stopandgo.P4, "c=25 epsilon=.5", far, "25 32 51 142 3866 5214252759659501571"},
		{stopandgo.P4, "c=17 epsilon=.5", far, "17 18 19 21 24 30 45 105 1216 31424953274"},
	} {
		got, err := hypotheses(&c.algorithm, c.parameters, c.n, 1<<17)
		if err != nil || text(got) != c.want {
			t.Errorf("%s %s: %s, %v\nwant %s", c.Name, c.parameters, text(got), err, c.want)
		}
	}
}

// The oracle for P2 uses no logarithm: h is ⌈g^(p/q)⌉ if h^q is at least g^p and (h-1)^q is not.
func TestPowersAreRoundedUpExactly(t *testing.T) {
	power := func(base *big.Int, exponent int64) *big.Int { return new(big.Int).Exp(base, big.NewInt(exponent), nil) }
	for _, c := range []struct{ above, below int64 }{{11, 10}, {3, 2}, {2, 1}, {5, 2}, {5, 4}, {7, 3}, {101, 100}, {9, 1}} {
		for first := 2; first < 40; first++ {
			all, err := hypotheses(&stopandgo.P2, fmt.Sprintf("c=%d a=%d/%d", first, c.above, c.below), 1<<40, 1000)
			if err != nil {
				t.Fatal(err)
			}
			for m, h := range all[1:] {
				least := power(all[m], c.above)
				if power(h, c.below).Cmp(least) < 0 || power(new(big.Int).Sub(h, big.NewInt(1)), c.below).Cmp(least) >= 0 {
					t.Fatalf("c = %d, a = %d/%d: after %d comes %d", first, c.above, c.below, all[m], h)
				}
			}
		}
	}
}

// With this many digits in a, h^a is so close to a whole number that 64 binary digits could not tell the side.
func TestPowersCloseToWholeNumbersAreRoundedUpExactly(t *testing.T) {
	const zeros = "000000000000000000000000000000000000000000000000000000000000"
	for _, c := range []struct{ a, want string }{
		{"2", "16"},
		{"2." + zeros + "1", "17"},
		{"1.99999999999999999999999999999999999999999999999999999999999999", "16"},
	} {
		got, err := hypotheses(&stopandgo.P2, "c=4 a="+c.a, 5, 128)
		if err != nil || got[1].String() != c.want {
			t.Errorf("4^%s rounded up: %s, %v; want %s", c.a, text(got), err, c.want)
		}
	}
}

func TestNoMoreIsComputedThanIsNeeded(t *testing.T) {
	for _, c := range []struct {
		algorithm
		parameters string
		n          uint64
		want       string
	}{
		{stopandgo.P4, "c=2", 65536, "2 4 16 65536"},                           // and not 2^65536
		{stopandgo.P4, "c=2", 65537, "2 4 16 65536 beyond"},                    // nor all of its digits for 128 bits of time
		{stopandgo.P3, "c=3", 28763197552548, "3 6 103 28763197552547 beyond"}, // 1999 digits
		{stopandgo.P4, "c=1000 epsilon=10", 1001, "1000 beyond"},               // 2^(10^30)
		{stopandgo.P4, "c=1000 epsilon=10.1", 1001, "1000 beyond"},
		{stopandgo.P2, "c=2 a=" + strings.Repeat("9", 90), 3, "2 beyond"},
		{stopandgo.P2, "c=3 a=" + strings.Repeat("9", 50) + ".5", 4, "3 beyond"},
		{stopandgo.P2, "c=1329227995784915872903807060280344575 a=2", 2, "1329227995784915872903807060280344575"}, // 2^120 - 1
	} {
		got, err := hypotheses(&c.algorithm, c.parameters, c.n, 128)
		if err != nil || text(got) != c.want {
			t.Errorf("%s %s: %s, %v\nwant %s", c.Name, c.parameters, text(got), err, c.want)
		}
	}
}

func TestElectionsThatCannotEndAreRefused(t *testing.T) {
	const growsP4 = "epsilon of at least 0.54 would do with any c, or c above the larger solution of c = 2^(c^epsilon), which is 16 for epsilon = 1/2"
	for _, c := range []struct {
		algorithm
		parameters string
		n          int
		want       string
	}{
		{stopandgo.P1, "c=1", 2, "parameter c is at least 2, not 1"},
		{stopandgo.P1, "c=5/3", 2, "parameter c is at least 2, not 5/3"},
		{stopandgo.P2, "c=5/2", 2, "parameter c is a whole number, not 5/2"},
		{stopandgo.P2, "a=1", 2, "parameter a is greater than 1, not 1"},
		{stopandgo.P2, "a=.5", 2, "parameter a is greater than 1, not .5"},
		{stopandgo.P4, "epsilon=0", 2, "parameter epsilon is greater than 0, not 0"},
		{stopandgo.P4, "epsilon=-1", 2, "parameter epsilon is greater than 0, not -1"},
		{stopandgo.P3, "c=2", 2, ""},
		{stopandgo.P3, "c=2", 3, "hypothesis h_2 = 2 is no larger than h_1 = 2, but n = 3 is, so the election would never end; c of at least 3 would do, or at most 2 processes"},
		{stopandgo.P4, "c=2 epsilon=1/2", 4, ""},
		{stopandgo.P4, "c=2 epsilon=1/2", 5, "hypothesis h_4 = 4 is no larger than h_3 = 4, but n = 5 is, so the election would never end; " + growsP4 + ", or at most 4 processes"},
		{stopandgo.P4, "c=10 epsilon=1/2", 11, "hypothesis h_2 = 9 is no larger than h_1 = 10, but n = 11 is, so the election would never end; " + growsP4 + ", or at most 10 processes"},
		{stopandgo.P4, "c=16 epsilon=1/2", 17, "hypothesis h_2 = 16 is no larger than h_1 = 16, but n = 17 is, so the election would never end; " + growsP4 + ", or at most 16 processes"},
		{stopandgo.P4, "c=65536 epsilon=1/4", 65537, "hypothesis h_2 = 65536 is no larger than h_1 = 65536, but n = 65537 is, so the election would never end; " + growsP4 + ", or at most 65536 processes"},
		{stopandgo.P4, "c=65537 epsilon=1/4", 65538, ""},
		{stopandgo.P2, "a=1.000001", 100_000, "hypothesis h_65536 = 65537 is still below n = 100000; more are not tried, and larger parameters need fewer"},
	} {
		ids := make(election.List, c.n)
		for q := range ids {
			ids[q] = uint64(q + 1)
		}
		_, err := network.Prepare(&c.Declaration, network.Setup{IDs: ids, Parameters: given(c.parameters)})
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s %s, n = %d: %v", c.Name, c.parameters, c.n, err)
		case c.want != "" && (err == nil || err.Error() != "cannot run "+c.Name+": "+c.want):
			t.Errorf("%s %s, n = %d: %v\nwant %s", c.Name, c.parameters, c.n, err, c.want)
		}
	}
}

// Theorem 5.1 bounds the number of phases and the last hypothesis. The real sequences are never above the sequences
// that are rounded up.
func TestPhasesAndHypothesesKeepTheorem51(t *testing.T) {
	lg := math.Log2
	for n := uint64(4); n < 5000; n += 7 {
		for _, c := range []struct {
			algorithm
			parameters string
			phases     float64
			last       float64 // lg of it
		}{
			{stopandgo.P1, "c=2", lg(float64(n)) + 1, lg(float64(n)) + 1},
			{stopandgo.P1, "c=3", lg(float64(n))/lg(3) + 1, lg(float64(n)) + lg(3)},
			{stopandgo.P2, "c=2 a=3/2", lg(lg(float64(n)))/lg(1.5) + 2, 1.5 * lg(float64(n))},
			{stopandgo.P2, "c=3 a=2", lg(lg(float64(n))/lg(3)) + 2, 2 * lg(float64(n))},
			{stopandgo.P3, "c=3", lg(lg(lg(float64(n)))) - lg(lg(lg(3))) + 2, lg(float64(n)) * lg(float64(n))},
			{stopandgo.P4, "c=2", 5, float64(n)},
		} {
			all, err := hypotheses(&c.algorithm, c.parameters, n, 1<<17)
			if err != nil {
				t.Fatal(err)
			}
			last, _ := new(big.Float).SetInt(all[len(all)-1]).Float64()
			if float64(len(all)) > c.phases+1e-9 || lg(last) > c.last+1e-9 && len(all) > 1 && !math.IsInf(last, 1) {
				t.Errorf("%s %s, n = %d: %d phases, at most %g; h_t = %g, lg at most %g", c.Name, c.parameters, n, len(all), c.phases, last, c.last)
			}
		}
	}
}

func TestTimeBeyond128BitsIsRefusedOnlyIfTheElectionNeedsIt(t *testing.T) {
	o := ring{ids: []uint64{9, 5, 7}}.options(given("c=2 epsilon=8")) // h_2 = 2^256
	_, err := simulate.Must(simulate.OfSmall(&stopandgo.P4)).Run(o)
	const want = "simulating stop-and-go-p4: time passes 2^128 units; count goes further where it has a closed form"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}

	// 2·1000·2^120 units exceed 2^128, and 2·5·2^120 do not: 1000 waits for ever, until it is killed.
	large := new(big.Int).Lsh(big.NewInt(1), 120)
	a := stopandgo.With(election.Declaration{Name: "large"}, func(_ election.Parameters, before *big.Int, _ uint) *big.Int {
		if before == nil {
			return big.NewInt(1)
		}
		return large
	}, "")
	o = ring{ids: []uint64{9, 1000, 5, 7}}.options(nil)
	r := electiontest.Run(t, a, o)
	elected := new(big.Int).Mul(large, big.NewInt(10))
	if elected.Add(elected, big.NewInt(5)); !r.Right || r.Time.Elected.Big().Cmp(elected) != 0 {
		t.Errorf("elected at %s, want %s", r.Time.Elected, elected)
	}
	if c, err := count.StopAndGo(a.Sequence)(t.Context(), o.Setup.IDs, election.Parameters{}, nil); err != nil || c.Time.Elected.Cmp(elected) != 0 {
		t.Errorf("counted %+v, %v; want %s", c, err, elected)
	}
}

// A user's own rule may be wrong: P2 rounded down stays at 2.
func TestAPowerThatIsRoundedDownIsRefused(t *testing.T) {
	down := stopandgo.With(election.Declaration{Name: "down"}, func(_ election.Parameters, before *big.Int, _ uint) *big.Int {
		if before == nil {
			return big.NewInt(2)
		}
		cube := new(big.Int).Exp(before, big.NewInt(3), nil)
		return cube.Sqrt(cube)
	}, "rounding up would do")
	const want = "cannot run down: hypothesis h_2 = 2 is no larger than h_1 = 2, but n = 3 is, so the election would never end; " +
		"rounding up would do, or at most 2 processes"
	if _, err := network.Prepare(&down.Declaration, network.On(1, 2, 3)); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
