package reproduce_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"ringleader.example/ringleader/internal/reproduce"
	"ringleader.example/ringleader/simulate"
)

// row is one that finds what check does.
func row(where string, check func(*reproduce.Bench) reproduce.Finding) reproduce.Row {
	return reproduce.Row{Source: "S1", Where: where, Claim: "c", How: "h", Check: check}
}

func TestResultsComeInOrderAndAsSoonAsTheyAreThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		second, last := make(chan bool), make(chan bool)
		rows := []reproduce.Row{
			row("a", func(*reproduce.Bench) reproduce.Finding { <-second; return reproduce.Finding{Measured: "a"} }),
			row("b", func(*reproduce.Bench) reproduce.Finding { close(second); return reproduce.Finding{Measured: "b"} }),
			row("c", func(*reproduce.Bench) reproduce.Finding { <-last; return reproduce.Finding{Measured: "c"} }),
		}
		var got []string
		for r := range reproduce.Run(t.Context(), rows, 2, nil) {
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
		rows := make([]reproduce.Row, 100)
		for i := range rows {
			rows[i] = row(fmt.Sprint(i), func(*reproduce.Bench) reproduce.Finding { return reproduce.Finding{} })
		}
		for r := range reproduce.Run(t.Context(), rows, 3, nil) {
			if r.Where == "5" {
				break
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		for r := range reproduce.Run(ctx, rows, 3, nil) {
			if !errors.Is(r.Err, context.Canceled) {
				t.Errorf("row %s: %v", r.Where, r.Err)
			}
		}
	})
}

func TestHowAChecksEndIsReported(t *testing.T) {
	for _, test := range []struct {
		check   func(*reproduce.Bench) reproduce.Finding
		err     string
		verdict reproduce.Verdict
	}{
		{func(*reproduce.Bench) reproduce.Finding { return reproduce.Finding{Verdict: reproduce.Corrected} }, "", reproduce.Corrected},
		{func(b *reproduce.Bench) reproduce.Finding { b.Algorithm("paxos"); return reproduce.Finding{} }, `S1 x: unknown algorithm "paxos"`, reproduce.Holds},
		{func(*reproduce.Bench) reproduce.Finding { panic("oh") }, "S1 x panicked: oh", reproduce.Holds},
		{func(*reproduce.Bench) reproduce.Finding {
			reproduce.Must(0, fmt.Errorf("it %w", simulate.ErrBroken))
			return reproduce.Finding{}
		}, "", reproduce.Fails},
	} {
		var r reproduce.Result
		for r = range reproduce.Run(t.Context(), []reproduce.Row{row("x", test.check)}, 1, nil) {
		}
		if r.Verdict != test.verdict || r.Err == nil != (test.err == "") || r.Err != nil && !strings.HasPrefix(r.Err.Error(), test.err) {
			t.Errorf("%v %v, want %v %q", r.Verdict, r.Err, test.verdict, test.err)
		}
	}
}

func TestAStatementThatNeedsACorrectionHasOneThatHolds(t *testing.T) {
	for _, test := range []struct {
		printed, right bool
		want           reproduce.Verdict
	}{{true, true, reproduce.Holds}, {false, true, reproduce.Corrected}, {true, false, reproduce.Fails}, {false, false, reproduce.Fails}} {
		if f := reproduce.HoldsCorrected(test.printed, test.right, "so", "%d", 7); f.Verdict != test.want || f.Measured != "7" || f.Why == "" != (test.want == reproduce.Holds) {
			t.Errorf("%+v: %+v", test, f)
		}
	}
	var d reproduce.Doubt
	if f := d.Finding("%d", 7); f.Verdict != reproduce.Holds || f.Measured != "7" {
		t.Errorf("%+v", f)
	}
	d.Unless(true, "no")
	d.Unless(false, "first")
	d.Unless(false, "second")
	if f := d.Finding("%d", 7); f.Verdict != reproduce.Fails || f.Measured != "first" {
		t.Errorf("%+v", f)
	}
}

func TestRingsAreAllThatDiffer(t *testing.T) {
	want := 1
	for n := 1; n <= 6; n++ {
		seen := map[string]bool{}
		for ids := range reproduce.Rings(n) {
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
