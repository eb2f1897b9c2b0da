package drawing_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/drawing"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/study/tracetest"
	"ringleader.example/ringleader/trace"
)

func filmOf(t *testing.T, r *trace.Record, from, until uint64) []*drawing.Drawing {
	t.Helper()
	frames, err := drawing.Film(r, trace.Window{From: election.Units(from), Until: election.Units(until)})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(frames)
}

// flyingIn is the number of messages that a frame shows under way.
func flyingIn(d *drawing.Drawing) int { return len(of(d, "message", "flying")) }

// placesOf are the places of processes by their names.
func placesOf(d *drawing.Drawing) map[string]drawing.Point {
	places := map[string]drawing.Point{}
	for _, e := range of(d, "name") {
		places[e.Text] = e.At
	}
	return places
}

func TestAFilmHasTheNetworkAfterEachStep(t *testing.T) {
	r := tracetest.LCR(t, true, 3, 5, 1, 4)
	frames := filmOf(t, r, 0, 0)
	if len(frames) != len(r.Steps)+1 {
		t.Fatalf("%d frames of %d steps", len(frames), len(r.Steps))
	}
	flying := 0
	for i, d := range frames {
		if d.Width != frames[0].Width || d.Height != frames[0].Height {
			t.Errorf("frame %d is %v × %v, and the first one %v × %v", i, d.Width, d.Height, frames[0].Width, frames[0].Height)
		}
		if got, want := placesOf(d), placesOf(frames[0]); !maps.Equal(got, want) || len(got) != r.N {
			t.Errorf("frame %d: processes are at %v, and were at %v", i, got, want)
		}
		if i > 0 {
			if r.Steps[i-1].Event == trace.Receive {
				flying--
			}
			flying += len(r.Steps[i-1].Sent)
		}
		if got := flyingIn(d); got != flying {
			t.Errorf("frame %d shows %d messages under way; there are %d", i, got, flying)
		}
		if acting := len(of(d, "acting")); acting != min(i, 1) {
			t.Errorf("frame %d shows %d processes that act", i, acting)
		}
	}
	last, network := frames[len(frames)-1], networkOf(t, r)
	if got, want := len(of(last, "leader")), len(of(network, "leader")); got != want || want == 0 {
		t.Errorf("%d leaders in the end, and %d in the drawing of the network", got, want)
	}
	if got := of(frames[0], "event"); len(got) != 1 || got[0].Text != "before the first step" {
		t.Errorf("the first frame is of %v", got)
	}
}

func TestAFilmOfAWindowBeginsWhereTheRunIsThen(t *testing.T) {
	r := tracetest.LCR(t, true, 3, 5, 1, 4)
	from, until := r.Steps[6].Time.Lo, r.Steps[9].Time.Lo
	all, some := filmOf(t, r, 0, 0), filmOf(t, r, from, until)
	first := slices.IndexFunc(r.Steps, func(s trace.Step) bool { return s.Time.Lo >= from })
	if got, want := flyingIn(some[0]), flyingIn(all[first]); got != want || want == 0 {
		t.Errorf("%d messages under way, want %d", got, want)
	}
	if got := of(some[0], "event")[0].Text; !strings.HasPrefix(got, "after step ") {
		t.Errorf("it begins %q", got)
	}
}

// A step that does much has a caption of several lines: all of it is above the network.
func TestAFilmHasRoomForLongCaptions(t *testing.T) {
	longest, r := 0, tracetest.LCR(t, true, 3, 5, 1, 4)
	r.Steps[2].Sent[0].Text = strings.Repeat("and more ", 20)
	for i, d := range filmOf(t, r, 0, 0) {
		lines := append(of(d, "event"), of(d, "effects")...)
		longest = max(longest, len(lines))
		last := lines[len(lines)-1]
		for _, e := range lines {
			if e.At.Y > last.At.Y || strings.Contains(e.Text, "…") {
				t.Errorf("frame %d: %+v", i, e)
			}
		}
		for name, at := range placesOf(d) {
			if at.Y < last.At.Y+20 {
				t.Errorf("frame %d: %s is at %v, and %q at %v", i, name, at, last.Text, last.At)
			}
		}
	}
	if longest < 3 {
		t.Errorf("the longest caption has %d lines", longest)
	}
}

func TestAFilmIsLimited(t *testing.T) {
	long := tracetest.LCR(t, true, tracetest.Increasing(drawing.MaxFilmedSteps)...)
	if _, err := drawing.Film(long, trace.Window{}); !errors.Is(err, drawing.ErrTooLarge) || errors.Is(err, drawing.ErrTooLong) {
		t.Errorf("of too many processes: %v", err)
	}
	long = tracetest.LCR(t, true, tracetest.Increasing(120)...)
	if _, err := drawing.Film(long, trace.Window{}); !errors.Is(err, drawing.ErrTooLong) {
		t.Errorf("%d steps: %v", len(long.Steps), err)
	}
	if frames := filmOf(t, long, 1, 1); len(frames) < 2 {
		t.Errorf("%d frames", len(frames))
	}
	if _, err := drawing.Film(&trace.Record{}, trace.Window{}); !errors.Is(err, trace.ErrRecord) {
		t.Errorf("of no record: %v", err)
	}
}

func TestAFilmOfOneProcessAndOfTwo(t *testing.T) {
	for _, ids := range [][]uint64{{7}, {2, 9}} {
		for i, d := range filmOf(t, tracetest.LCR(t, true, ids...), 0, 0) {
			for _, e := range d.Elements {
				if e.At.X < 0 || e.At.X > d.Width || e.At.Y < 0 || e.At.Y > d.Height {
					t.Errorf("%v, frame %d: %+v is outside", ids, i, e)
				}
			}
		}
	}
}
