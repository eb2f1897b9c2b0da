package reproduce_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/internal/study/work"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// row is one that finds what check does.
func row(where string, check func(*reproduce.Bench) reproduce.Finding) reproduce.Row {
	return reproduce.Row{Source: "S1", Where: where, Claim: "c", How: "h", Check: check}
}

func TestResultsAreShownInOrderAndAsSoonAsTheyAreThere(t *testing.T) {
	var rows []reproduce.Row
	for i := range 4 {
		rows = append(rows, row(fmt.Sprint(i), func(*reproduce.Bench) reproduce.Finding {
			if i == 2 {
				panic("oh")
			}
			return reproduce.Finding{Verdict: reproduce.Fails, Measured: fmt.Sprint(i), Why: "<w>", Replay: "r"}
		}))
	}
	j := reproduce.Judging{Rows: rows}
	var shown []string
	show := j.InOrder(func(r reproduce.Result) {
		shown = append(shown, fmt.Sprint(r.Where, r.Verdict, r.Measured, r.Why, r.Replay, r.Err))
	})
	for _, step := range []struct {
		piece work.Piece
		shown int
	}{{work.Piece{From: 1, To: 2}, 0}, {work.Piece{From: 3, To: 4}, 0}, {work.Piece{From: 0, To: 1}, 2}, {work.Piece{From: 2, To: 3}, 4}} {
		result, err := j.Compute(t.Context(), step.piece)
		if err == nil {
			err = show(result)
		}
		if err != nil || len(shown) != step.shown {
			t.Fatalf("after %s: %q, %v", step.piece, shown, err)
		}
	}
	want := []string{"0fails0<w>r<nil>", "1fails1<w>r<nil>", "2holdsS1 2 panicked: oh", "3fails3<w>r<nil>"}
	if !slices.Equal(shown, want) {
		t.Errorf("%q, want %q", shown, want)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if result, err := j.Compute(ctx, work.Piece{From: 0, To: 4}); !errors.Is(err, context.Canceled) {
		t.Errorf("%s, %v", result, err)
	}
}

func TestOnlyASettledRowHolds(t *testing.T) {
	for _, verdict := range []reproduce.Verdict{reproduce.Holds, reproduce.Corrected, reproduce.Fails, reproduce.Unchecked} {
		settled := row("x", func(*reproduce.Bench) reproduce.Finding { return reproduce.Finding{Verdict: verdict} })
		settled.Settled = true
		for r := range reproduce.Run(t.Context(), []reproduce.Row{settled}, nil) {
			if r.Verdict != verdict {
				t.Errorf("%s became %s", verdict, r.Verdict)
			}
		}
	}
}

func TestHowAChecksEndIsReported(t *testing.T) {
	for _, test := range []struct {
		check   func(*reproduce.Bench) reproduce.Finding
		err     string
		verdict reproduce.Verdict
	}{
		{func(*reproduce.Bench) reproduce.Finding { return reproduce.Finding{Verdict: reproduce.Corrected} }, "", reproduce.CorrectedUnrefuted},
		{func(*reproduce.Bench) reproduce.Finding { return reproduce.Finding{} }, "", reproduce.Unrefuted},
		{func(*reproduce.Bench) reproduce.Finding { return reproduce.Finding{Verdict: reproduce.Unchecked} }, "", reproduce.Unchecked},
		{func(b *reproduce.Bench) reproduce.Finding { b.Algorithm("paxos"); return reproduce.Finding{} }, `S1 x: unknown algorithm "paxos"`, reproduce.Holds},
		{func(*reproduce.Bench) reproduce.Finding { panic("oh") }, "S1 x panicked: oh", reproduce.Holds},
		{func(*reproduce.Bench) reproduce.Finding {
			reproduce.Must(0, fmt.Errorf("it %w", simulate.ErrBroken))
			return reproduce.Finding{}
		}, "", reproduce.Fails},
	} {
		var r reproduce.Result
		for r = range reproduce.Run(t.Context(), []reproduce.Row{row("x", test.check)}, nil) {
		}
		if r.Verdict != test.verdict || r.Err == nil != (test.err == "") || r.Err != nil && !strings.HasPrefix(r.Err.Error(), test.err) {
			t.Errorf("%v %v, want %v %q", r.Verdict, r.Err, test.verdict, test.err)
		}
	}
}

func TestASearchTellsWhereItEnded(t *testing.T) {
	ring := func(n int) simulate.Options { return simulate.Options{Setup: network.On(reproduce.UpTo(n)...)} }
	simulated := func(b *reproduce.Bench, sizes ...int) {
		for _, n := range sizes {
			b.Simulate("lcr", ring(n))
		}
	}
	explored := func(b *reproduce.Bench, n, states int) {
		b.Verify("lcr", verify.Options{Size: n, MaxStates: states, Reduce: verify.NoReduction})
	}
	for _, test := range []struct {
		settled bool
		search  func(*reproduce.Bench)
		want    string
	}{
		{false, func(*reproduce.Bench) {}, "no counterexample"},
		{false, func(b *reproduce.Bench) { simulated(b, 3, 7, 5) }, "no counterexample up to n = 7"},
		{false, func(b *reproduce.Bench) { explored(b, 3, 0) }, "no counterexample up to n = 3, under every schedule"},
		{false, func(b *reproduce.Bench) { simulated(b, 7); explored(b, 3, 0) }, "no counterexample up to n = 7, and under every schedule up to n = 3"},
		{false, func(b *reproduce.Bench) { simulated(b, 2); explored(b, 3, 0); explored(b, 4, 10) }, "no counterexample up to n = 3, under every schedule"},
		{true, func(b *reproduce.Bench) { simulated(b, 7) }, "holds"},
	} {
		one := row("x", func(b *reproduce.Bench) reproduce.Finding { test.search(b); return reproduce.Finding{} })
		one.Settled = test.settled
		for r := range reproduce.Run(t.Context(), []reproduce.Row{one}, all.Algorithms) {
			if got := r.Judgement(); r.Err != nil || got != test.want {
				t.Errorf("%s, %v; want %s", got, r.Err, test.want)
			}
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
