package trace_test

import (
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/trace"
)

func TestAWindowHoldsBothItsEnds(t *testing.T) {
	for _, c := range []struct {
		from, until uint64
		want        string // of the steps at 1, 2, 3, 4
	}{
		{0, 0, "1234"}, {2, 3, "23"}, {3, 0, "34"}, {0, 1, "1"}, {3, 2, ""}, {5, 9, ""},
	} {
		window := trace.Window{From: election.Units(c.from), Until: election.Units(c.until)}
		for _, clock := range []bool{false, true} {
			held := ""
			for at := uint64(1); at <= 4; at++ {
				step := trace.Step{Number: int(at), Time: election.Units(at)}
				if clock {
					step.Number += 10 // times count, not steps
				}
				if window.Holds(&trace.Header{Clock: clock}, &step) {
					held += string(rune('0' + at))
				}
			}
			if held != c.want {
				t.Errorf("from %d until %d, clock %v: holds %q, want %q", c.from, c.until, clock, held, c.want)
			}
		}
	}
}
