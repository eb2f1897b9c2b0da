package order

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"ringleader.example/ringleader/internal/core/random"
)

// mostLen is the greatest length of an order on this machine. Where an int has 32 bits, it is that of an int.
const mostLen = min(MaxLen, math.MaxInt)

// A change of these values breaks every published seed.
func TestASeedMeansTheSameOrderForEver(t *testing.T) {
	for _, test := range []struct {
		n    int
		seed uint64
		want []uint64 // from position 0; then the position of the largest
	}{
		{8, 1, []uint64{4, 2, 1, 3, 7, 6, 8, 5, 6}},
		{8, 7, []uint64{1, 3, 4, 8, 5, 2, 6, 7, 3}},
		{1000, 1, []uint64{588, 133, 692, 654, 783, 418, 503, 622, 423}},
		{4096, 1<<64 - 1, []uint64{322, 2476, 3025, 376, 413, 89, 2764, 3401, 2554}},
		{4097, 0, []uint64{1038, 3260, 1584, 223, 3238, 1830, 1013, 916, 1263}},
		{8192, 1, []uint64{1893, 294, 4703, 6631, 6189, 997, 6349, 993, 6413}},
		{1_000_000, 7, []uint64{985223, 526111, 845051, 699216, 204692, 245244, 810866, 922311, 427689}},
		{1_000_000_000, 1, []uint64{705234189, 237288014, 292872389, 690799909, 89828918, 239896749, 496745287, 448782771, 731970401}},
		{mostLen, 1<<64 - 1, []uint64{182040205, 2979242378, 2585477352, 3362047389, 96484067, 1785487515, 685155137, 2179203451, 4280381438}},
	} {
		o := mustRandom(t, test.n, test.seed)
		var got []uint64
		for p := range min(test.n, 8) {
			got = append(got, o.At(p))
		}
		if got = append(got, uint64(o.Position(uint64(test.n)))); !slices.Equal(got, test.want) {
			t.Errorf("n = %d, seed %d: %d, want %d", test.n, test.seed, got, test.want)
		}
	}
}

func TestRandomIsMadeAsItsCommentStates(t *testing.T) {
	for _, n := range []int{2, 9, MaxTable} {
		want := make([]uint64, n)
		for i := range want {
			want[i] = uint64(i + 1)
		}
		numbers := random.New(42, 3)
		for i := n - 1; i >= 1; i-- {
			j := numbers.Below(uint64(i + 1))
			want[i], want[j] = want[j], want[i]
		}
		for p, id := range want {
			if got := mustRandom(t, n, 42).At(p); got != id {
				t.Fatalf("n = %d: %d at position %d, want %d", n, got, p, id)
			}
		}
	}
	for _, n := range []uint64{MaxTable + 1, 8192, 8193, 1 << 20, 1e9, 1 << 31, 1<<31 + 1, MaxLen} {
		k := uint64(0)
		for 1<<k < n {
			k++
		}
		modulus, half := uint64(1)<<k, uint64(1)<<((k+1)/2)
		numbers := rand.NewPCG(42, 3)
		var a, m [6]uint64
		for r := range a {
			a[r], m[r] = numbers.Uint64(), numbers.Uint64()|1
		}
		f := func(x uint64) uint64 { return x ^ x/half }
		permute := func(x uint64) uint64 {
			x = f(x)
			for r := range a {
				x = f((x + a[r]) * m[r] % modulus)
			}
			return x
		}
		o := mustRandom(t, int(n), 42)
		for p := uint64(0); p < n; p += n / 1000 {
			x := permute(p)
			for x >= n {
				x = permute(x)
			}
			if got := o.At(int(p)); got != x+1 {
				t.Fatalf("n = %d: %d at position %d, want %d", n, got, p, x+1)
			}
		}
	}
}

func TestSmallRandomOrdersAreUniformOverAllOrders(t *testing.T) {
	const seeds = 24 * 1000
	counts := map[[4]uint64]int{}
	for seed := range uint64(seeds) {
		o := mustRandom(t, 4, seed)
		counts[[4]uint64{o.At(0), o.At(1), o.At(2), o.At(3)}]++
	}
	square := 0.0
	for _, c := range counts {
		square += float64(c-1000) * float64(c-1000) / 1000
	}
	if len(counts) != 24 || square > 60 { // 23 degrees of freedom: probability 1/30 000
		t.Errorf("%d orders, χ² = %.1f", len(counts), square)
	}
}

// The deviations of a keyed permutation from a uniformly random one must look random: over many seeds, no statistic
// is more than four standard deviations from its mean, and neither is its variance.
func TestLargeRandomOrdersAreLikeUniformOnes(t *testing.T) {
	for _, n := range []int{4097, 6000, 8192, 16384} { // the last two do not walk, which hides weakness
		for name, z := range deviations(t, n, func(o *Order, p int) uint64 { return o.At(p) - 1 }) {
			if math.Abs(z) > 4 {
				t.Errorf("n = %d: %s is %.1f standard deviations off", n, name, z)
			}
		}
	}
}

func TestFewerRoundsAreFoundOut(t *testing.T) {
	const n = 8192
	for rounds := 1; rounds <= 4; rounds++ {
		worst := 0.0
		for _, z := range deviations(t, n, func(o *Order, p int) uint64 {
			x := uint64(p)
			for _, k := range o.permute.keys[:rounds] {
				x = (x + k.add) * k.multiply & o.permute.mask
				x ^= x >> o.permute.shift
			}
			return x
		}) {
			worst = max(worst, math.Abs(z))
		}
		if worst < 8 {
			t.Errorf("%d rounds are only %.1f standard deviations off", rounds, worst)
		}
	}
}

// deviations compares statistics over many seeds with their values for uniformly random orders, in standard
// deviations of the mean and of the variance.
func deviations(t *testing.T, n int, at func(o *Order, p int) uint64) map[string]float64 {
	const seeds = 300
	type moments struct{ sum, squares, kurtosis float64 }
	all := map[string]moments{}
	add := func(name string, z, kurtosis float64) {
		m := all[name]
		all[name] = moments{m.sum + z, m.squares + z*z, kurtosis}
	}
	x := make([]float64, n)
	size := float64(n)
	for seed := range uint64(seeds) {
		o := mustRandom(t, n, seed)
		fixed, rising := 0.0, 0.0
		for p := range x {
			id := at(o, p)
			x[p] = (float64(id) - (size-1)/2) / math.Sqrt((size*size-1)/12)
			if id == uint64(p) {
				fixed++
			}
		}
		for p := range x {
			if x[p] < x[(p+1)%n] {
				rising++
			}
		}
		add("number of fixed points", fixed-1, 4) // Poisson
		add("number of rises", (rising-size/2)/math.Sqrt(size/12), 3)
		add("first identifier", x[0], 1.8) // uniform
		add("last identifier", x[n-1], 1.8)
		for name, lag := range map[string]int{"1": 1, "2": 2, "64": 64, "128": 128, "1024": 1024, "n/2": n / 2} {
			product := 0.0
			for p := range x {
				product += x[p] * x[(p+lag)%n]
			}
			variance := size
			if 2*lag == n { // every pair twice
				variance *= 2
			}
			add("correlation at distance "+name, product/math.Sqrt(variance), 3)
		}
	}
	z := map[string]float64{}
	for name, m := range all {
		z["the mean "+name] = m.sum / math.Sqrt(seeds)
		z["the variance of the "+name] = (m.squares - seeds) / math.Sqrt(seeds*(m.kurtosis-1))
	}
	return z
}

func TestIdentifiersAreUniformAtEveryTenthOfALargeOrder(t *testing.T) {
	for _, n := range []int{1e6, 1e9, mostLen} {
		const seeds, bins = 200, 16
		for tenth := range 10 {
			var counts [bins]float64
			for seed := range uint64(seeds) {
				o := mustRandom(t, n, seed)
				for i := range 16 { // neighbours
					counts[(o.At(n/10*tenth+i)-1)*bins/uint64(n)]++
				}
			}
			square := 0.0
			for _, c := range counts {
				square += (c - seeds) * (c - seeds) / seeds
			}
			if square > 45 { // 15 degrees of freedom: probability 1/13 000
				t.Errorf("n = %d: χ² = %.1f at position %d", n, square, n/10*tenth)
			}
		}
	}
}

func mustRandom(t *testing.T, n int, seed uint64) *Order {
	t.Helper()
	o, err := Random(n, seed)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
