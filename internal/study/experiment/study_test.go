package experiment_test

import (
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/study/experiment"
	"ringleader.example/ringleader/internal/study/work"
	"ringleader.example/ringleader/internal/study/worktest"
)

// makeStudy is a study of these algorithms, with random orders unless others are named.
func makeStudy(t *testing.T, sizes string, runs uint64, labels ...string) *experiment.Study {
	t.Helper()
	s := experiment.Study{Orders: []string{"random"}, Runs: runs, Until: big.NewRat(1, 20), Seed: 7}
	var err error
	if s.Sizes, err = experiment.ParseSizes(sizes); err != nil {
		t.Fatal(err)
	}
	for _, label := range labels {
		subject, err := experiment.ParseSubject(all.Algorithms, label)
		if err != nil {
			t.Fatal(err)
		}
		s.Subjects = append(s.Subjects, subject)
	}
	made, err := experiment.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func measure(t *testing.T, s *experiment.Study, cores int) []*experiment.Point {
	t.Helper()
	m := s.Measuring()
	r, err := work.NewResults(m, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := work.Complete(t.Context(), work.Local{Cores: cores}, work.Job{}, m, r, nil); err != nil {
		t.Fatal(err)
	}
	return points(t, m, r.Parts())
}

// points returns the points of results.
func points(t *testing.T, m *experiment.Measuring, parts []work.Part) []*experiment.Point {
	t.Helper()
	var results [][]byte
	for _, part := range parts {
		results = append(results, part.Result)
	}
	all, err := m.Points(results...)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAveragesAgreeWithExactFormulas(t *testing.T) {
	s := makeStudy(t, "2..128", 1000, "lcr", "ring-bully", "hirschberg-sinclair", "ring-bully-simple")
	for i, p := range measure(t, s, 2) {
		exact := s.Subjects[i%4].Average().Mean(uint64(p.N))
		mean, _ := p.Election.Mean().Float64()
		if off := math.Abs(mean - exact); off > 4*p.Election.StandardError()+1e-9*exact {
			t.Errorf("%s at %d: %v ± %v, and exactly %v", p.Algorithm, p.N, mean, p.Election.HalfWidth(), exact)
		}
		if p.How != experiment.Counted || p.Runs() != 1000 || !p.Varies {
			t.Errorf("%s at %d: %s", p.Algorithm, p.N, p.Describe())
		}
	}
}

func TestEachPointNamesItsMethod(t *testing.T) {
	for _, c := range []struct{ order, label, says string }{
		{"decreasing", "lcr", "counted exactly"},
		{"decreasing", "preference-ring", "simulated once"},
		{"random", "lcr", "mean of 5 orders, each counted exactly"},
		{"random", "preference-ring", "mean of 5 orders, each simulated once"},
		{"random", "afek-gafni", "mean of 5 orders, each simulated"},
		{"random", "itai-rodeh", "mean of 5 runs, each simulated"},
		{"random", "bully", "mean of 5 runs, each simulated"},
		{"random", "preference", "simulated once"},
	} {
		s := makeStudy(t, "4", 5, c.label)
		s.Orders = []string{c.order}
		if p := measure(t, s, 1)[0]; p.Describe() != c.says {
			t.Errorf("%s, %s: %s, want %s", c.label, c.order, p.Describe(), c.says)
		}
	}
}

func TestMoreRunsAreMadeUntilTheIntervalIsNarrow(t *testing.T) {
	s := makeStudy(t, "4096", 0, "lcr")
	s.Until = big.NewRat(1, 200)
	p := measure(t, s, 2)[0]
	mean, _ := p.Election.Mean().Float64()
	if width := p.Election.HalfWidth(); width > mean/200 || p.Runs() <= 64 {
		t.Errorf("± %v of %v after %d runs", width, mean, p.Runs())
	}
}

func TestNothingDependsOnTheNumberOfCores(t *testing.T) {
	s := makeStudy(t, "4..64", 40, "peterson", "afek-gafni", "itai-rodeh", "stop-and-go-p2:a=3/2,c=2")
	one, many := measure(t, s, 1), measure(t, s, 7)
	if !reflect.DeepEqual(one, many) {
		t.Error("two results")
	}
}

func TestAverages(t *testing.T) {
	s := makeStudy(t, "3", 1000, "lcr") // 5 or 6 election messages, each in half of all orders
	p := measure(t, s, 1)[0]
	mean, _ := p.Election.Mean().Float64()
	deviation := math.Sqrt(1000.0 / 999 * (mean - 5) * (6 - mean))
	if got, want := p.Election.StandardError(), deviation/math.Sqrt(1000); math.Abs(got-want) > 1e-9 {
		t.Errorf("standard error %v, want %v", got, want)
	}
	if p.Election.Least.Int64() != 5 || p.Election.Most.Int64() != 6 {
		t.Errorf("from %v to %v", p.Election.Least, p.Election.Most)
	}
}

// Any cuts of the runs, in any order and twice, give the same points.
func TestPiecesOfAStudyInAnyOrderGiveTheSamePoints(t *testing.T) {
	s := makeStudy(t, "4..32", 40, "lcr", "peterson", "itai-rodeh", "preference")
	s.Orders = []string{"random", "increasing"}
	worktest.Same(t, s.Measuring(), 90, 20)
}

func TestWhatIsNoResultOfAStudyIsRefused(t *testing.T) {
	s := makeStudy(t, "4,8", 3, "lcr")
	m := s.Measuring()
	whole, err := m.Compute(t.Context(), work.Piece{From: 0, To: m.Units()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Join(whole, whole); err != nil {
		t.Error(err)
	}
	for _, change := range [][2]string{
		{`[{`, `{`},
		{`[{`, `[null,{`},
		{`"runs":3,`, ``},
		{`lcr`, `lrc`},
		{`"runs":3`, `"runs":2`},
		{`"squares":`, `"squares":-`},
		{`counted exactly`, `simulated`},
	} {
		text := strings.Replace(string(whole), change[0], change[1], 1)
		if _, err := m.Join(whole, []byte(text)); err == nil || text == string(whole) {
			t.Errorf("%s is taken", text)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string][]int{
		"16,64,256":     {16, 64, 256},
		"8..64":         {8, 16, 32, 64},
		"8..100":        {8, 16, 32, 64},
		"5, 4..16 ,3":   {3, 4, 5, 8, 16},
		"1..1":          {1},
		"4294967295":    {math.MaxUint32 & math.MaxInt},
		"3..4294967295": {3, 6, 12, 24, 48, 96, 192, 384, 768, 1536, 3072, 6144, 12288, 24576, 49152, 98304, 196608, 393216, 786432, 1572864, 3145728, 6291456, 12582912, 25165824, 50331648, 100663296, 201326592, 402653184, 805306368, 1610612736, 3221225472 & math.MaxInt},
	} {
		if got, err := experiment.ParseSizes(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "x", "8..", "..8", "8..4", "1,,2", "4294967296", "1e3", "2..4..8", "8,8", "8..32,16"} {
		if got, err := experiment.ParseSizes(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestCommandsNameTheStudy(t *testing.T) {
	s := makeStudy(t, "3,8..64,100,200", 0, "lcr", "stop-and-go-p2:c=4/2,a=1.5")
	const want = "ringleader compare lcr stop-and-go-p2:a=3/2,c=2 --n 3,8..64,100,200 --order random --until 5% --seed 7"
	if got := s.Command(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// With h = 2, 4, 8, …, messages on rings of 2^k and more than half of all time are known from S5's theorem 5.1.
func TestConstantsAreFitted(t *testing.T) {
	s := makeStudy(t, "16..1024", 5, "stop-and-go-p1", "lcr")
	fits := s.Fits(measure(t, s, 2))
	if len(fits) != 1 || fits[0].From != 16 || fits[0].To != 1024 {
		t.Fatalf("%+v", fits)
	}
	f := fits[0]
	for n := 16.0; n <= 1024; n *= 2 {
		if time := (2*n + n) / (2 * n); *f.Time < time { // elected at 2·h + n + 1 or later
			t.Errorf("time %v·c·n is less than %v at %v", *f.Time, time, n)
		}
	}
	if *f.Slope <= 0 || *f.Slope > 2 || *f.Most < *f.Slope || *f.Base < 1 {
		t.Errorf("%s", f.String())
	}
}
