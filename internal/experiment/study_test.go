package experiment_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/experiment"
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

func measure(t *testing.T, s *experiment.Study, o experiment.Options) []*experiment.Point {
	t.Helper()
	points, err := s.Measure(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return points
}

func TestAveragesAgreeWithExactFormulas(t *testing.T) {
	s := makeStudy(t, "2..128", 1000, "lcr", "ring-bully", "hirschberg-sinclair", "ring-bully-simple")
	for i, p := range measure(t, s, experiment.Options{Cores: 2}) {
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
		if p := measure(t, s, experiment.Options{Cores: 1})[0]; p.Describe() != c.says {
			t.Errorf("%s, %s: %s, want %s", c.label, c.order, p.Describe(), c.says)
		}
	}
}

func TestMoreRunsAreMadeUntilTheIntervalIsNarrow(t *testing.T) {
	s := makeStudy(t, "4096", 0, "lcr")
	s.Until = big.NewRat(1, 200)
	p := measure(t, s, experiment.Options{Cores: 2})[0]
	mean, _ := p.Election.Mean().Float64()
	if width := p.Election.HalfWidth(); width > mean/200 || p.Runs() <= 64 {
		t.Errorf("± %v of %v after %d runs", width, mean, p.Runs())
	}
}

func TestNothingDependsOnTheNumberOfCores(t *testing.T) {
	s := makeStudy(t, "4..64", 40, "peterson", "afek-gafni", "itai-rodeh", "stop-and-go-p2:a=3/2,c=2")
	one, many := measure(t, s, experiment.Options{Cores: 1}), measure(t, s, experiment.Options{Cores: 7})
	if !reflect.DeepEqual(one, many) {
		t.Error("two results")
	}
}

func TestAverages(t *testing.T) {
	s := makeStudy(t, "3", 1000, "lcr") // 5 or 6 election messages, each in half of all orders
	p := measure(t, s, experiment.Options{Cores: 1})[0]
	mean, _ := p.Election.Mean().Float64()
	deviation := math.Sqrt(1000.0 / 999 * (mean - 5) * (6 - mean))
	if got, want := p.Election.StandardError(), deviation/math.Sqrt(1000); math.Abs(got-want) > 1e-9 {
		t.Errorf("standard error %v, want %v", got, want)
	}
	if p.Election.Least.Int64() != 5 || p.Election.Most.Int64() != 6 {
		t.Errorf("from %v to %v", p.Election.Least, p.Election.Most)
	}
}

// keeping measures a study into a file, and returns the file's text. It stops after that many points; 0: never.
func keeping(t *testing.T, s *experiment.Study, path string, stopAfter int) []byte {
	t.Helper()
	k, err := s.OpenKeep(path, "test")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	finished := 0
	points, err := s.Measure(ctx, experiment.Options{Cores: 2, Durable: k.Points, Finished: func(p *experiment.Point) error {
		if finished++; finished == stopAfter {
			stop()
		}
		return k.Add(p)
	}})
	if errors.Is(err, context.Canceled) && stopAfter > 0 {
		points, err = nil, nil
	}
	if err = errors.Join(err, k.Close()); err != nil {
		t.Fatal(err)
	}
	if points != nil {
		text, err := k.Text(points)
		if err = errors.Join(err, os.WriteFile(path, text, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestAStudyThatWasStoppedEndsWithTheSameBytes(t *testing.T) {
	s, folder := makeStudy(t, "4..64", 10, "lcr", "peterson", "afek-gafni"), t.TempDir()
	want := keeping(t, s, filepath.Join(folder, "whole"), 0)
	path := filepath.Join(folder, "stopped")
	for after := 1; after <= 3; after++ {
		keeping(t, s, path, after)
	}
	if got := keeping(t, s, path, 0); !bytes.Equal(got, want) {
		t.Errorf("ends with\n%s\nwant\n%s", got, want)
	}
}

func TestAFileThatWasCutAnywhereIsResumed(t *testing.T) {
	s, folder := makeStudy(t, "4", 1, "lcr", "peterson"), t.TempDir()
	want := keeping(t, s, filepath.Join(folder, "whole"), 0)
	path := filepath.Join(folder, "cut")
	for cut := 0; cut < len(want); cut += 3 {
		if err := os.WriteFile(path, want[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		if got := keeping(t, s, path, 0); !bytes.Equal(got, want) {
			t.Fatalf("cut after %d bytes, it ends with\n%s\nwant\n%s", cut, got, want)
		}
	}
}

func TestTwoStudiesAtWorkOnOneFileEndWithTheSameBytes(t *testing.T) {
	s, path := makeStudy(t, "4,8", 3, "lcr"), filepath.Join(t.TempDir(), "file")
	want := string(keeping(t, s, path, 0))
	head, points, _ := strings.Cut(want, "\n")
	if err := os.WriteFile(path, []byte(head+"\n"+points+points), 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := s.OpenKeep(path, "test")
	if err != nil {
		t.Fatal(err)
	}
	if len(k.Points) != 2 || k.Close() != nil {
		t.Errorf("%d points are kept of 2", len(k.Points))
	}
	if got := string(keeping(t, s, path, 0)); got != want {
		t.Errorf("ends with\n%s\nwant\n%s", got, want)
	}
}

func TestAFileOfSomethingElseIsLeftAlone(t *testing.T) {
	s, path := makeStudy(t, "4,8", 3, "lcr"), filepath.Join(t.TempDir(), "file")
	whole := string(keeping(t, s, path, 0))
	head, points, _ := strings.Cut(whole, "\n")
	for text, says := range map[string]string{
		"my diary\n":                        "holds something else",
		"x":                                 "holds something else",
		"{}\n" + points:                     "holds something else",
		whole + "{}\n":                      "line 4 of",
		head + "\n\n":                       "line 2 of",
		strings.Replace(whole, "7", "8", 1): "another study",
		head + "\n" + strings.Replace(points, `"runs":3,`, "", 1):                "line 2 of",
		head + "\n" + strings.Replace(points, "lcr", "lrc", 1):                   "line 2 of",
		head + "\n" + strings.Replace(points, `"runs":3`, `"runs":2`, 1):         "line 2 of",
		head + "\n" + strings.Replace(points, `"squares":`, `"squares":-`, 1):    "line 2 of",
		head + "\n" + strings.Replace(points, "counted exactly", "simulated", 1): "line 2 of",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := s.OpenKeep(path, "test")
		if !errors.Is(err, experiment.ErrKeep) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %s", text, err, says)
		}
		if there, _ := os.ReadFile(path); string(there) != text {
			t.Errorf("%q was changed into %q", text, there)
		}
	}
}

func TestAPointThatCannotBeKeptEndsTheStudy(t *testing.T) {
	full := errors.New("full")
	s := makeStudy(t, "4..64", 3, "lcr")
	if _, err := s.Measure(t.Context(), experiment.Options{Cores: 2, Finished: func(*experiment.Point) error { return full }}); !errors.Is(err, full) {
		t.Error(err)
	}
}

func TestProgressEndsWithAllWork(t *testing.T) {
	s := makeStudy(t, "4..64", 3, "lcr", "peterson")
	done, total := 0.0, 1.0
	measure(t, s, experiment.Options{Cores: 3, Progress: func(d, of float64) {
		if d <= done || d > of {
			t.Errorf("%v of %v after %v", d, of, done)
		}
		done, total = d, of
	}})
	if done != total {
		t.Errorf("%v of %v in the end", done, total)
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string][]int{
		"16,64,256":     {16, 64, 256},
		"8..64":         {8, 16, 32, 64},
		"8..100":        {8, 16, 32, 64},
		"5, 4..16 ,3":   {3, 4, 5, 8, 16},
		"1..1":          {1},
		"4294967295":    {4294967295},
		"3..4294967295": {3, 6, 12, 24, 48, 96, 192, 384, 768, 1536, 3072, 6144, 12288, 24576, 49152, 98304, 196608, 393216, 786432, 1572864, 3145728, 6291456, 12582912, 25165824, 50331648, 100663296, 201326592, 402653184, 805306368, 1610612736, 3221225472},
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
	fits := s.Fits(measure(t, s, experiment.Options{Cores: 2}))
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
