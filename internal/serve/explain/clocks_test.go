package explain_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/record"
)

// drifting are the records of two machines over some hours. The clock of the second one runs at a rate, and jumps once by some milliseconds.
func drifting(rate float64, jump int) []byte {
	one, two := byHand(1, "a", 0), byHand(2, "b", time.Hour)
	at := func(real int) int { return 1000 + int(float64(real)*rate) }
	const incidents = 12
	for n := range incidents {
		begins := n * 1_200_000
		one.leads(begins, 1, uint64(2*n+1), begins+600)
		two.add(at(begins+2), &record.Decision{Role: "follower", Leader: 1, Term: uint64(2*n + 1)})
		for i := range 40 { // requests and answers
			now, late := begins+10+i*100, 0
			if n == incidents/2 && i > 20 {
				late = jump
			}
			one.sends(now, 2, 3, fmt.Sprint("request", n, i))
			two.receives(at(now+1)+late, 1, 3, fmt.Sprint("request", n, i))
			two.sends(at(now+2)+late, 1, 4, fmt.Sprint("answer", n, i))
			one.receives(now+3, 2, 4, fmt.Sprint("answer", n, i))
		}
		one.add(begins+5000, &record.Decision{Role: "undecided", Term: uint64(2*n + 1)})
		two.leads(at(begins+5600), 2, uint64(2*n+2), at(begins+6200))
		one.add(begins+5602, &record.Decision{Role: "follower", Leader: 2, Term: uint64(2*n + 2)})
		two.add(at(begins+9000), &record.Decision{Role: "undecided", Term: uint64(2*n + 2)})
	}
	return archived(one, two)
}

// Clocks that drift within the bound of Timing contradict nothing, however long the record is, and whatever the drift adds up to.
func TestADriftWithinTheBoundIsNoContradiction(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	for _, rate := range []float64{0.951, 0.999, 1, 1.00005, 1.049} {
		g := explain.Of(record.Parse("test", drifting(rate, 0))).Groups[0]
		if len(g.Violations) > 0 {
			t.Errorf("rate %v: %+v", rate, g.Violations)
		}
		text := strings.Join(g.Clocks, "\n")
		if strings.Contains(text, "contradicts") || !strings.Contains(text, "is known within") {
			t.Errorf("rate %v: %s", rate, text)
		}
		for i := range g.Changes {
			if c := &g.Changes[i]; c.Cause == explain.Clock {
				t.Errorf("rate %v: %+v", rate, c)
			}
			for _, a := range g.Scene(i).Arrows {
				if a.Received < a.Sent {
					t.Errorf("rate %v: %+v", rate, a)
				}
			}
		}
	}
}

// A clock that jumps amid an incident is told, with its time.
func TestAClockThatJumpsIsTold(t *testing.T) {
	for _, jump := range []int{900, -900} {
		g := explain.Of(record.Parse("test", drifting(1.00001, jump))).Groups[0]
		if text := strings.Join(g.Clocks, "\n"); strings.Count(text, "contradicts the others by") != 1 {
			t.Errorf("a jump of %d ms: %s", jump, text)
		}
	}
}
