package work_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/study/work"
	"ringleader.example/ringleader/internal/study/worktest"
)

var job = work.Job{Kind: "sums", Spec: json.RawMessage(`["sums"]`), Version: "test"}

// whole is the result of all units in one piece.
func whole(t *testing.T, task work.Task) []byte {
	t.Helper()
	result, err := task.Compute(t.Context(), work.Piece{From: 0, To: task.Units()})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func results(t *testing.T, task work.Task, earlier []work.Part, keep func(work.Part) error) *work.Results {
	t.Helper()
	r, err := work.NewResults(task, earlier, keep)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func joined(t *testing.T, r *work.Results) []byte {
	t.Helper()
	if missing := r.Missing(); len(missing) > 0 {
		t.Fatalf("missing: %v", missing)
	}
	result, err := r.Joined()
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestResultsOfAnyCutsInAnyOrderAndTwiceAreTheSameBytes(t *testing.T) {
	for _, task := range []work.Task{&sums{Of: 100}, &sums{Of: 100, ends: 40}, &heavier{sums{Of: 100}}} {
		worktest.Same(t, task, 9, 200)
	}
}

func TestAPieceThatIsThereIsNotTakenTwice(t *testing.T) {
	task, kept := &sums{Of: 10}, 0
	r := results(t, task, nil, func(work.Part) error { kept++; return nil })
	result, _ := task.Compute(t.Context(), work.Piece{From: 2, To: 5})
	for i, p := range []work.Piece{{From: 2, To: 5}, {From: 2, To: 5}, {From: 0, To: 3}, {From: 4, To: 10}, {From: 0, To: 10}, {From: 3, To: 4}} {
		taken, err := r.Take(p, result)
		if err != nil || taken != (i == 0) {
			t.Errorf("units %s: taken %v, %v", p, taken, err)
		}
	}
	if kept != 1 {
		t.Errorf("%d results are kept", kept)
	}
	for _, p := range []work.Piece{{From: 5, To: 5}, {From: 9, To: 11}, {From: 4, To: 3}} {
		if _, err := r.Take(p, result); err == nil {
			t.Errorf("units %d to %d are taken", p.From, p.To)
		}
	}
}

func TestOverlappingPartsAreChosenSoThatTheyCoverTheMost(t *testing.T) {
	task := &sums{Of: 30}
	var parts []work.Part
	for _, p := range []work.Piece{{From: 0, To: 11}, {From: 0, To: 10}, {From: 10, To: 20}, {From: 9, To: 21}, {From: 20, To: 30}, {From: 3, To: 4}} {
		result, _ := task.Compute(t.Context(), p)
		parts = append(parts, work.Part{Piece: p, Result: result})
	}
	if got, want := joined(t, results(t, task, parts, nil)), whole(t, task); !bytes.Equal(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestNothingDependsOnTheNumberOfCores(t *testing.T) {
	for _, task := range []work.Task{&sums{Of: 3000}, &sums{Of: 3000, ends: 1234}, &heavier{sums{Of: 3000}}, &sums{Of: 1}, &sums{}} {
		want := whole(t, task)
		for cores := range 5 {
			r := results(t, task, nil, nil)
			var last work.Progress
			if err := (work.Local{Cores: cores}).Run(t.Context(), job, task, r, func(p work.Progress) { last = p }); err != nil {
				t.Fatal(err)
			}
			if task.Units() == 0 {
				continue
			}
			if got := joined(t, r); !bytes.Equal(got, want) {
				t.Errorf("%d cores: %s, want %s", cores, got, want)
			}
			if last.Done != last.Units {
				t.Errorf("%d cores: progress ends with %+v", cores, last)
			}
		}
	}
}

func TestTheErrorOfTheLowestUnitEndsARun(t *testing.T) {
	task := &sums{Of: 3000, fails: 700}
	r := results(t, task, nil, nil)
	if err := (work.Local{Cores: 3}).Run(t.Context(), job, task, r, nil); !errors.Is(err, errSums) {
		t.Error(err)
	}
	full := errors.New("full")
	r = results(t, &sums{Of: 3000}, nil, func(work.Part) error { return full })
	if err := (work.Local{Cores: 3}).Run(t.Context(), job, &sums{Of: 3000}, r, nil); !errors.Is(err, full) {
		t.Error(err)
	}
}

// panics panics in its third unit.
type panics struct{ sums }

func (p *panics) Compute(ctx context.Context, piece work.Piece) ([]byte, error) {
	if piece.To > 2 {
		panic("oh")
	}
	return p.sums.Compute(ctx, piece)
}

func TestAPanicReachesTheCaller(t *testing.T) {
	defer func() {
		if bug := recover(); bug != "oh" {
			t.Errorf("%v", bug)
		}
	}()
	task := &panics{sums{Of: 100}}
	_ = work.Local{Cores: 2}.Run(t.Context(), job, task, results(t, task, nil, nil), nil)
	t.Error("nothing was thrown")
}

// keeping computes a job with a file, and returns the file's text. It stops after that many pieces; 0: never.
func keeping(t *testing.T, task work.Task, path string, stopAfter int) []byte {
	t.Helper()
	f, err := work.OpenFile(path, job, task, work.Shard{}, "ringleader sums")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	added := 0
	r := results(t, task, f.Parts, func(part work.Part) error {
		if added++; added == stopAfter {
			stop()
		}
		return f.Add(part)
	})
	err = work.Local{Cores: 2}.Run(ctx, job, task, r, nil)
	if err = errors.Join(err, f.Close()); err != nil && (stopAfter == 0 || !errors.Is(err, context.Canceled)) {
		t.Fatal(err)
	}
	if len(r.Missing()) == 0 {
		text, err := f.Text(r.Parts())
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

func TestAJobThatWasStoppedEndsWithTheSameBytes(t *testing.T) {
	task, folder := &sums{Of: 300}, t.TempDir()
	want := keeping(t, task, filepath.Join(folder, "whole"), 0)
	path := filepath.Join(folder, "stopped")
	for after := 1; after <= 3; after++ {
		keeping(t, task, path, after)
	}
	if got := keeping(t, task, path, 0); !bytes.Equal(got, want) {
		t.Errorf("ends with\n%s\nwant\n%s", got, want)
	}
}

func TestAFileThatWasCutAnywhereIsResumed(t *testing.T) {
	task, path := &sums{Of: 9}, filepath.Join(t.TempDir(), "cut")
	want := keeping(t, task, path, 0)
	f, err := work.OpenFile(path, job, task, work.Shard{}, "ringleader sums")
	if err != nil {
		t.Fatal(err)
	}
	var long []byte    // a line for each unit
	var last work.Part // of the last unit
	for u := range task.Of {
		p := work.Piece{From: u, To: u + 1}
		result, _ := task.Compute(t.Context(), p)
		last = work.Part{Piece: p, Result: result}
		text, err := f.Text([]work.Part{last})
		if err != nil {
			t.Fatal(err)
		}
		if head := bytes.IndexByte(text, '\n') + 1; u > 0 {
			text = text[head:]
		}
		long = append(long, text...)
	}
	f.Close()
	for cut := 0; cut < len(long); cut += 3 {
		if err := os.WriteFile(path, long[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		again, err := work.OpenFile(path, job, task, work.Shard{}, "ringleader sums") // and stopped a second time
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(again.Add(last), again.Close()); err != nil {
			t.Fatal(err)
		}
		if got := keeping(t, task, path, 0); !bytes.Equal(got, want) {
			t.Fatalf("cut after %d bytes, it ends with\n%s\nwant\n%s", cut, got, want)
		}
	}
}

func TestAFileOfSomethingElseIsLeftAlone(t *testing.T) {
	task, path := &sums{Of: 9}, filepath.Join(t.TempDir(), "file")
	text := string(keeping(t, task, path, 0))
	head, lines, _ := strings.Cut(text, "\n")
	sealed := func(text string) string { return string(worktest.Seal([]byte(text))) }
	for text, says := range map[string]string{
		"my diary\n":                            "holds something else",
		"x":                                     "holds something else",
		"{}\n" + lines:                          "holds something else",
		text + "{}\n":                           "line 3 of",
		head + "\n\n":                           "line 2 of",
		strings.Replace(text, "test", "old", 1): "keeps those of version old, and this is version test: ringleader sums",
		strings.Replace(text, "[\"", "[\"x", 1): "another job",
		sealed(head + "\n" + `{"from":0,"to":10,"result":{"sum":1}}` + "\n"): "line 2 of",
		sealed(head + "\n" + `{"from":3,"to":3,"result":{"sum":1}}` + "\n"):  "line 2 of",
		sealed(head + "\n" + `{"from":0,"to":3,"result":{}}` + "\n"):         "is no result of this job",
		strings.Replace(text, `"result":{"sum":`, `"result":{"sum":1`, 1):    "a damaged result in line 2 of",
		strings.Replace(text, `"to":`, `"to":1`, 1):                          "a damaged result in line 2 of",
		strings.Replace(text, `"version"`, `"shard":"1/2","version"`, 1):     "shard 1/2",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := work.OpenFile(path, job, task, work.Shard{}, "ringleader sums")
		if !errors.Is(err, work.ErrFile) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %s", text, err, says)
		}
		if there, _ := os.ReadFile(path); string(there) != text {
			t.Errorf("%q was changed into %q", text, there)
		}
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	shard, err := work.ParseShard("1/2")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := work.OpenFile(path, job, task, shard, "ringleader sums"); !errors.Is(err, work.ErrFile) || !strings.Contains(err.Error(), "those of the whole of this job") {
		t.Errorf("a shard gets %v", err)
	}
}

func TestShardsShareAllUnits(t *testing.T) {
	for _, units := range []uint64{1, 5, 64, 1000, 12345, 1 << 63} {
		for _, of := range []uint64{1, 2, 3, 16, 100} {
			var all work.Ranges
			total := uint64(0)
			for number := range of {
				for _, p := range (work.Shard{Number: number + 1, Of: of}).Pieces(units) {
					if all.Meets(p) {
						t.Fatalf("%d units, %d shards: units %s are in two shards", units, of, p)
					}
					all.Add(p)
					total += p.Len()
				}
			}
			if total != units || len(all.Missing(units)) > 0 {
				t.Errorf("%d units, %d shards: %d units, missing %v", units, of, total, all.Missing(units))
			}
		}
	}
	if s, err := work.ParseShard("0/4"); err != nil || s != (work.Shard{Number: 4, Of: 4}) {
		t.Errorf("%v, %v", s, err)
	}
	for _, text := range []string{"", "3", "0", "0/0", "/4", "5/4", "1/0", "x/2", "1/2/3", "-1/2", "1/65537"} {
		if s, err := work.ParseShard(text); err == nil {
			t.Errorf("%q: %v", text, s)
		}
	}
}

// The oracle of ranges is a list of booleans.
func TestRangesAreThoseOfAListOfBooleans(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 2))
		var r work.Ranges
		there := make([]bool, 24)
		for range 8 {
			from := random.Uint64N(24)
			p := work.Piece{From: from, To: min(24, from+random.Uint64N(6))}
			if got, want := r.Meets(p), slices.Contains(there[p.From:p.To], true); got != want {
				t.Fatalf("seed %d: %v meets %s: %v, want %v", seed, r, p, got, want)
			}
			r.Add(p)
			for u := p.From; u < p.To; u++ {
				there[u] = true
			}
			left := make([]bool, 24)
			for u := range left {
				left[u] = true
			}
			for _, m := range r.Missing(24) {
				for u := m.From; u < m.To; u++ {
					left[u] = false
				}
			}
			if fmt.Sprint(left) != fmt.Sprint(there) {
				t.Fatalf("seed %d: %v, missing %v, want %v", seed, r, r.Missing(24), there)
			}
		}
	}
}

func TestAKeyNamesAJob(t *testing.T) {
	keys := map[string]bool{}
	for _, j := range []work.Job{job, {Kind: "sum", Spec: job.Spec, Version: "test"}, {Kind: "sums", Spec: job.Spec, Version: "2"}, {Kind: "sums", Spec: []byte(`[]`), Version: "test"}} {
		keys[j.Key()] = true
	}
	if len(keys) != 4 || !keys[job.Key()] {
		t.Error(keys)
	}
}
