package reproduce

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"ringleader.example/ringleader/simulate"
)

// stated are the places in S1 and S3 where something is stated that can be tested.
var stated = map[string][]string{
	"S1": {
		"the problem", "the model, ring", "the model, identifiers",
		"simplified Bully, swallowing", "simplified Bully, complexity", "simplified Bully, constant fractions",
		"Bully, phases", "Bully, code lines 6-8", "Bully, code line 15", "Bully, after TERMINATE", "Bully, wake schedule",
		"Theorem 13.8", "Theorem 13.8, proof", "Lemma 13.9", "Lemma 13.9, proof",
		"Theorem 13.10", "Theorem 13.10, proof", "Theorem 13.10, highest phase", "Theorem 13.10, termination", "Theorem 13.11", "optimality",
		"exercise 13.3-1", "exercise 13.3-2",
	},
	"S3": {
		"section 1, the problem", "section 1, left and right",
		"section 2, stages", "section 2, return", "section 2, the leader", "section 2, O(n log n)",
		"section 3, from", "section 3, ok and no", "section 3, a no beside an ok", "section 3, received from",
		"section 4, participants", "section 4, each candidate", "section 4, the sum", "section 4, the terms",
	},
}

func TestWhatIsStatedHasARow(t *testing.T) {
	for source, places := range stated {
		for _, where := range places {
			if !slices.ContainsFunc(All(), func(r Row) bool { return r.Source == source && r.Where == where && !r.Thorough }) {
				t.Errorf("no quick row is about %s %s", source, where)
			}
		}
	}
}

func TestRowsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	last := 0
	for _, r := range All() {
		name := r.Source + " " + r.Where
		source := slices.IndexFunc(Sources, func(s Source) bool { return s.Mark == r.Source })
		if source < last {
			t.Errorf("%s is out of the order of the sources, or of none", name)
		}
		last = source
		if seen[name] || r.Where == "" || r.Claim == "" || r.How == "" || r.Check == nil {
			t.Errorf("%s is there twice, or has no claim, test or check", name)
		}
		seen[name] = true
	}
}

// committed are the verdicts on the page in docs, by source and place.
func committed(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/reproduction.md")
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]string{}
	source := ""
	for line := range strings.Lines(string(page)) {
		if mark, title := strings.CutPrefix(line, "## "); title {
			source, _, _ = strings.Cut(mark, " ")
		}
		if cells := strings.Split(line, " | "); len(cells) == 5 && strings.Contains(cells[4], "**") {
			where := strings.ReplaceAll(strings.TrimPrefix(cells[0], "| "), `\`, "")
			verdicts[source+" "+where] = strings.Split(cells[4], "**")[1]
		}
	}
	return verdicts
}

// The page is compared as a whole where generated files are; here, each verdict of a quick row.
func TestThePageHasEveryQuickRow(t *testing.T) {
	verdicts := committed(t)
	quick := 0
	for _, r := range All() {
		if r.Thorough {
			continue
		}
		quick++
		if verdicts[r.Source+" "+r.Where] == "" {
			t.Errorf("docs/reproduction.md has no verdict on %s %s; go generate ./... makes it", r.Source, r.Where)
		}
	}
	if len(verdicts) != quick {
		t.Errorf("docs/reproduction.md has %d verdicts, and there are %d quick rows", len(verdicts), quick)
	}
}

// row is one that finds what check does.
func row(where string, check func(*Bench) Finding) Row {
	return Row{Source: "S1", Where: where, Claim: "c", How: "h", Check: check}
}

func TestResultsComeInOrderAndAsSoonAsTheyAreThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		second, last := make(chan bool), make(chan bool)
		rows := []Row{
			row("a", func(*Bench) Finding { <-second; return Finding{Measured: "a"} }),
			row("b", func(*Bench) Finding { close(second); return Finding{Measured: "b"} }),
			row("c", func(*Bench) Finding { <-last; return Finding{Measured: "c"} }),
		}
		var got []string
		for r := range Run(t.Context(), rows, 2, nil) {
			if got = append(got, r.Measured); r.Where == "b" {
				close(last) // c ends only if b is here before it
			}
		}
		if !slices.Equal(got, []string{"a", "b", "c"}) {
			t.Errorf("got %v", got)
		}
	})
}

// In a bubble, a goroutine that is left behind is an error.
func TestNothingIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := make([]Row, 100)
		for i := range rows {
			rows[i] = row(fmt.Sprint(i), func(*Bench) Finding { return Finding{} })
		}
		for r := range Run(t.Context(), rows, 3, nil) {
			if r.Where == "5" {
				break
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		for r := range Run(ctx, rows, 3, nil) {
			if !errors.Is(r.Err, context.Canceled) {
				t.Errorf("row %s: %v", r.Where, r.Err)
			}
		}
	})
}

func TestHowAChecksEndIsTold(t *testing.T) {
	for _, test := range []struct {
		check   func(*Bench) Finding
		err     string
		verdict Verdict
	}{
		{func(*Bench) Finding { return Finding{Verdict: Corrected} }, "", Corrected},
		{func(b *Bench) Finding { b.algorithm("paxos"); return Finding{} }, `S1 x: unknown algorithm "paxos"`, Holds},
		{func(*Bench) Finding { panic("oh") }, "S1 x panicked: oh", Holds},
		{func(*Bench) Finding { must(0, fmt.Errorf("it %w", simulate.ErrBroken)); return Finding{} }, "", Fails},
	} {
		r := check(t.Context(), row("x", test.check), library)
		if r.Verdict != test.verdict || r.Err == nil != (test.err == "") || r.Err != nil && !strings.HasPrefix(r.Err.Error(), test.err) {
			t.Errorf("%v %v, want %v %q", r.Verdict, r.Err, test.verdict, test.err)
		}
	}
}

func TestAStatementThatNeedsACorrectionHasOneThatHolds(t *testing.T) {
	for _, test := range []struct {
		printed, right bool
		want           Verdict
	}{{true, true, Holds}, {false, true, Corrected}, {true, false, Fails}, {false, false, Fails}} {
		if f := corrected(test.printed, test.right, "so", "%d", 7); f.Verdict != test.want || f.Measured != "7" || f.Why == "" != (test.want == Holds) {
			t.Errorf("%+v: %+v", test, f)
		}
	}
	var d doubt
	if f := d.finding("%d", 7); f.Verdict != Holds || f.Measured != "7" {
		t.Errorf("%+v", f)
	}
	d.unless(true, "no")
	d.unless(false, "first")
	d.unless(false, "second")
	if f := d.finding("%d", 7); f.Verdict != Fails || f.Measured != "first" {
		t.Errorf("%+v", f)
	}
}

func TestRingsAreAllThatDiffer(t *testing.T) {
	want := 1
	for n := 1; n <= 6; n++ {
		seen := map[string]bool{}
		for ids := range rings(n) {
			sorted := slices.Sorted(slices.Values(ids))
			for i, id := range sorted {
				if id != uint64(i)+1 || ids[0] != uint64(n) {
					t.Fatalf("%v", ids)
				}
			}
			seen[fmt.Sprint(ids)] = true
		}
		if len(seen) != want {
			t.Errorf("n = %d: %d rings, want %d", n, len(seen), want)
		}
		want *= n
	}
}
