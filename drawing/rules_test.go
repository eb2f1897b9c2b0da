package drawing_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/drawing"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/property"
	"ringleader.example/ringleader/internal/study/tracetest"
	"ringleader.example/ringleader/trace"
)

// readme is the width in pixels at which a page shows a drawing.
const readme = 830

func diagram(t interface{ Fatal(...any) }, r *trace.Record, from, until uint64) *drawing.Drawing {
	d, err := drawing.Diagram(r, trace.Window{From: election.Units(from), Until: election.Units(until)})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func networkOf(t interface{ Fatal(...any) }, r *trace.Record) *drawing.Drawing {
	d, err := drawing.Network(r, trace.Window{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// of are the elements that have all these roles.
func of(d *drawing.Drawing, roles ...string) (found []drawing.Element) {
	for _, e := range d.Elements {
		if !slices.ContainsFunc(roles, func(role string) bool { return !slices.Contains(strings.Fields(e.Role), role) }) {
			found = append(found, e)
		}
	}
	return found
}

// ends are the left and the right one of a path.
func ends(e drawing.Element) (left, right float64) {
	left, right = math.Inf(1), math.Inf(-1)
	for _, m := range e.Path {
		if m.Op != drawing.Close {
			left, right = min(left, m.To.X), max(right, m.To.X)
		}
	}
	return left, right
}

// sizes are of small runs and of large ones.
var sizes = []int{1, 2, 5, 16, 23, 24, 64, 200, drawing.MaxProcesses}

// ticks are the places of the times on the axis.
func ticks(d *drawing.Drawing) map[string]float64 {
	at := map[string]float64{}
	for _, e := range of(d, "tick") {
		at[e.Text] = e.At.X
	}
	return at
}

func TestNoDrawingIsWiderOrHigherThan2000Pixels(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, d *drawing.Drawing) {
		if !(d.Width < 2000 && d.Height < 2000) {
			t.Fatalf("%s: %v × %v", d.Title, d.Width, d.Height)
		}
		if shown := drawing.Small * min(1, readme/d.Width); shown < 10 {
			t.Fatalf("%s: its small text is %.1f pixels high on a page", d.Title, shown)
		}
	}
	for _, n := range sizes {
		check(t, diagram(t, tracetest.LCR(t, n%2 == 0, tracetest.Increasing(n)...), 0, 0))
		check(t, networkOf(t, tracetest.LCR(t, true, tracetest.Increasing(n)...)))
	}
	check(t, diagram(t, with(tracetest.LCR(t, true, 2, 1), 1000, 1), 0, 0))
	property.Check(t, func(t *property.T) {
		r := tracetest.Records.Draw(t, "record")
		r.Title = strings.Repeat("long title ", property.IntRange(1, 30).Draw(t, "words"))
		check(t, diagram(t, r, 0, 0))
		check(t, networkOf(t, r))
	})
}

// A drawing is no wider than its contents, except for the margin and overestimated widths of texts.
func TestADrawingHasNoEmptySide(t *testing.T) {
	for _, n := range sizes {
		for _, r := range []*trace.Record{tracetest.LCR(t, true, tracetest.Increasing(n)...), tracetest.LCR(t, false, tracetest.Increasing(n)...)} {
			d := diagram(t, r, 0, 0)
			filled := 0.0
			for _, e := range d.Elements {
				_, right := ends(e)
				filled = max(filled, right, e.At.X+(1-e.Anchor)*e.Size*0.55*float64(len(e.Text)))
			}
			if filled < 0.8*d.Width {
				t.Errorf("n = %d: filled to %v of %v", n, filled, d.Width)
			}
		}
	}
}

func TestLongWaitsTakeLessThanAThirdOfTheAxis(t *testing.T) {
	r := with(tracetest.LCR(t, true, 3, 2, 1), 12, 0)
	for i := range r.Steps {
		r.Steps[i].Time = election.Units(uint64(i + i/4*1000)) // two waits of a thousand units
	}
	d := diagram(t, r, 0, 0)
	at := ticks(d)
	if wait, all := 2*(at["1004"]-at["3"]), at["2011"]-at["0"]; !(wait > 0 && wait < all*0.4) {
		t.Errorf("waits take %v of %v: %v", wait, all, at)
	}
}

func TestArrowsHaveLabelsBelow24ProcessesOnly(t *testing.T) {
	for n, want := range map[int]bool{2: true, 5: true, 23: true, 24: false, 64: false} {
		r := with(tracetest.LCR(t, false, tracetest.Increasing(n)...), 4, 1)
		if got := len(of(diagram(t, r, 0, 0), "label")) > 0; got != want {
			t.Errorf("n = %d: labels: %v", n, got)
		}
	}
}

// cutRecord has steps at times 0 to 9, and at two times also faults.
func cutRecord(t testing.TB, text string, begin, end int) *trace.Record {
	r := with(tracetest.LCR(t, true, 3, 2, 1), 0, 0)
	for time := range 10 {
		add := func(event trace.Event, text string) {
			r.Steps = append(r.Steps, trace.Step{
				Number: len(r.Steps) + 1, Time: election.Units(uint64(time)), Process: 1, Event: event, Text: text, Port: -1,
			})
		}
		add(trace.Command, "continue")
		if time == begin {
			add(trace.Fault, text)
		}
		if time == end {
			add(trace.Heal, text)
		}
	}
	return r
}

func TestACutIsShadedForItsTimeAndNamed(t *testing.T) {
	for _, c := range []struct {
		text, name string
		begin, end int
		lines      bool // over all lines
	}{
		{"partition 1,2,3 | 4,5", "partition 1–3 | 4,5", 2, 5, true},
		{"cut 1 -> 2", "cut 1 -> 2", 0, 9, true},
		{"partition 1 | 2", "partition 1 | 2", 4, -1, true}, // for ever
		{"pause 2", "pause 2", 3, 6, false},
	} {
		d := diagram(t, cutRecord(t, c.text, c.begin, c.end), 0, 0)
		shades, names, at := of(d, "fault"), of(d, "fault-name"), ticks(d)
		if len(shades) != 1 || len(names) != 1 || names[0].Text != c.name {
			t.Errorf("%s: %d shades, names %+v", c.text, len(shades), names)
			continue
		}
		left, right := ends(shades[0])
		from, line := at[fmt.Sprint(c.begin)], of(d, "alive")
		_, to := ends(line[0])
		if c.end >= 0 {
			to = at[fmt.Sprint(c.end)]
		}
		if math.Abs(left-from) > 20 || left < from || math.Abs(right-to) > 20 || right < to {
			t.Errorf("%s: shaded from %v to %v; it lasts from %v to %v", c.text, left, right, from, to)
		}
		top, bottom := shades[0].Path[0].To.Y, shades[0].Path[2].To.Y
		first, last := line[0].Path[0].To.Y, line[len(line)-1].Path[0].To.Y
		if all := top < first && bottom > last; all != c.lines {
			t.Errorf("%s: shaded from %v to %v; lines are at %v to %v", c.text, top, bottom, first, last)
		}
		if len(of(d, "fault", "of-process")) == 1 == c.lines {
			t.Errorf("%s: shaded as a fault of the wrong kind", c.text)
		}
	}
}

func TestNamesOfCutsDoNotTouch(t *testing.T) {
	r := cutRecord(t, "partition 1,3 | 2 and some more words", 2, 8)
	for i := range r.Steps { // a second one, while the first one lasts
		if s := &r.Steps[i]; s.Time == election.Units(3) {
			s.Event, s.Text = trace.Fault, "cut 3 -> 1"
		}
	}
	names := of(diagram(t, r, 0, 0), "fault-name")
	if len(names) != 2 || math.Abs(names[0].At.Y-names[1].At.Y) < drawing.Small {
		t.Errorf("names %+v", names)
	}
}

func TestTheSubtitleHasOnlyParametersThatWereChanged(t *testing.T) {
	r := tracetest.LCR(t, true, 3, 2, 1)
	r.Parameters = map[string]string{"delay": "4", "timeout": "9"}
	for _, c := range []struct {
		changed []string
		want    string
	}{
		{nil, "asynchronous ring of 3 · seed 1"},
		{[]string{"timeout"}, "asynchronous ring of 3 · seed 1 · timeout 9"},
		{[]string{"delay", "timeout"}, "asynchronous ring of 3 · seed 1 · delay 4 · timeout 9"},
	} {
		r.Changed = c.changed
		if subtitle := of(diagram(t, r, 0, 0), "subtitle"); len(subtitle) != 1 || subtitle[0].Text != c.want {
			t.Errorf("%v: %+v, want %q", c.changed, subtitle, c.want)
		}
	}
	r.Changed, r.Seed = nil, 0 // as the checker writes it
	if subtitle := of(diagram(t, r, 0, 0), "subtitle"); subtitle[0].Text != "asynchronous ring of 3" {
		t.Errorf("without a seed: %+v", subtitle)
	}
}

func TestAChangedParameterIsOneOfTheRecord(t *testing.T) {
	r := tracetest.LCR(t, true, 3, 2, 1)
	r.Changed = []string{"delay"}
	if err := r.Validate(); err == nil || !strings.Contains(err.Error(), `"delay"`) {
		t.Error(err)
	}
}

func TestAWindowShowsWhatHappensInIt(t *testing.T) {
	property.Check(t, func(t *property.T) {
		r := tracetest.Records.Draw(t, "record")
		window := trace.Window{From: election.Units(property.Uint64Range(0, 20).Draw(t, "from"))}
		window.Until = window.From.Add(election.Units(property.Uint64Range(1, 20).Draw(t, "for")))
		in := map[int]bool{} // messages that are sent or arrive
		for i := range r.Steps {
			if s := &r.Steps[i]; window.Holds(&r.Header, s) {
				in[s.Message] = true
				for _, sent := range s.Sent {
					in[sent.Message] = true
				}
			}
		}
		delete(in, 0)
		d, err := drawing.Diagram(r, window)
		if err != nil {
			t.Fatal(err)
		}
		drawn := map[int]bool{}
		for _, e := range of(d, "message") {
			var number int
			if _, err := fmt.Sscanf(e.About, "message %d,", &number); err == nil { // not of the legend
				drawn[number] = true
			}
		}
		if len(drawn) != len(in) {
			t.Fatalf("messages %v are drawn, and %v are in the window", drawn, in)
		}
		for number := range drawn {
			if !in[number] {
				t.Fatalf("message %d is drawn, and not in the window", number)
			}
		}
	})
}

// 2 leads from its start, is crashed from 4 to 9, and leads again.
func TestAWindowKnowsWhatCameBeforeIt(t *testing.T) {
	r := tracetest.Bully(t, tracetest.Options{Clock: true, Crashes: []tracetest.Fault{{Position: 1, Time: 4}}, Recovers: []tracetest.Fault{{Position: 1, Time: 9}}}, 2)
	for _, c := range []struct {
		from, until uint64
		class       string
		final       string
	}{
		{2, 3, "leads", "leader"}, {5, 8, "dead", "crashed"}, {5, 0, "dead", "leader"},
	} {
		d := diagram(t, r, c.from, c.until)
		second := of(d, c.class)
		if len(second) == 0 {
			t.Errorf("from %d: no line is %s", c.from, c.class)
			continue
		}
		left, _ := ends(of(d, "alive")[0])
		for _, e := range slices.Concat(of(d, "alive"), of(d, "leads"), of(d, "dead")) {
			if begin, end := ends(e); begin >= end {
				t.Errorf("from %d: a part of a line from %v to %v", c.from, begin, end)
			}
		}
		if begin, _ := ends(second[0]); begin != left {
			t.Errorf("from %d: the line is %s from %v on; lines begin at %v", c.from, c.class, begin, left)
		}
		if !slices.ContainsFunc(d.Elements, func(e drawing.Element) bool { return e.Text == c.final && e.Bold == (c.final == "leader") }) {
			t.Errorf("from %d until %d: nothing is %s in the end", c.from, c.until, c.final)
		}
		subtitle := ""
		for _, line := range of(d, "subtitle") {
			subtitle += line.Text + " "
		}
		if !strings.Contains(subtitle, fmt.Sprintf("time from %d", c.from)) && !strings.Contains(subtitle, fmt.Sprintf("time %d to %d", c.from, c.until)) {
			t.Errorf("the subtitle is %q", subtitle)
		}
	}
}

// Kinds of messages differ without colour: by dashes, width or head.
func TestKindsOfMessagesDifferInGrey(t *testing.T) {
	r := tracetest.LCR(t, true, 3, 2, 1)
	for i, class := range []string{"election", "election", "election", "election", "announcement", "announcement", "overhead", "overhead"} {
		r.Kinds = append(r.Kinds, trace.Kind{Name: fmt.Sprint(i), Class: class})
	}
	seen := map[string]string{}
	for i := range r.Kinds {
		samples := of(diagram(t, with(r, 1, 0), 0, 0), "sample", fmt.Sprintf("kind-%d", i))
		if len(samples) != 1 {
			t.Fatalf("kind %d has %d samples in the legend", i, len(samples))
		}
		look := fmt.Sprint(samples[0].Dashes, samples[0].Width, samples[0].Head)
		if other := seen[look]; other != "" && i > 1 {
			t.Errorf("kinds %d and %s both are %s", i, other, look)
		}
		seen[look] = fmt.Sprint(i)
	}
}

func TestTheNetworkHasEachProcessOnceAtAPlaceOfItsOwn(t *testing.T) {
	for _, n := range sizes {
		for _, topology := range []string{"ring", "complete graph", "tree"} {
			r := tracetest.LCR(t, true, tracetest.Increasing(n)...)
			r.Topology, r.Edges = topology, nil
			for q := 1; topology == "tree" && q < n; q++ { // some branches, some long
				r.Edges = append(r.Edges, [2]int{q, max(0, q/2-q%7)})
			}
			d := networkOf(t, r)
			places := map[drawing.Point]bool{}
			for _, role := range []string{"leader", "follower"} {
				for _, e := range of(d, role) {
					place := e.At
					for _, m := range e.Path { // a circle
						place = drawing.At(place.X+m.To.X/24, place.Y+m.To.Y/24)
					}
					places[drawing.At(math.Round(place.X*10), math.Round(place.Y*10))] = true
				}
			}
			if len(places) != n {
				t.Errorf("%s of %d: %d places", topology, n, len(places))
			}
			if leaders := of(d, "leader"); len(leaders) != 1 {
				t.Errorf("%s of %d: %d leaders", topology, n, len(leaders))
			}
			if n > 1 && !slices.ContainsFunc(of(d, "name"), func(e drawing.Element) bool { return e.Text == fmt.Sprint(n) }) {
				t.Errorf("%s of %d: the leader %d has no name", topology, n, n)
			}
			want := map[string]int{"ring": n, "complete graph": n * (n - 1) / 2, "tree": n - 1}[topology]
			if links := of(d, "links"); n > 1 && (len(links) != 1 || len(links[0].Path) != 2*want) {
				t.Errorf("%s of %d: not %d links", topology, n, want)
			}
			for _, e := range d.Elements {
				if !(e.At.X >= 0 && e.At.X <= d.Width && e.At.Y >= 0 && e.At.Y <= d.Height) {
					t.Errorf("%s of %d: %+v is outside of %v × %v", topology, n, e, d.Width, d.Height)
				}
			}
		}
	}
}

func TestNamesInANetworkDoNotOverlap(t *testing.T) {
	for _, n := range sizes {
		names := of(networkOf(t, tracetest.LCR(t, true, tracetest.Increasing(n)...)), "name")
		for i, p := range names {
			for _, q := range names[:i] {
				if math.Abs(p.At.X-q.At.X)*2 < 7*float64(len(p.Text)+len(q.Text)) && math.Abs(p.At.Y-q.At.Y) < drawing.Small {
					t.Errorf("n = %d: %s stands on %s", n, p.Text, q.Text)
				}
			}
		}
		if len(names) < min(n, 50) {
			t.Errorf("n = %d: %d names", n, len(names))
		}
	}
}

// A long name that stands beside its process is in the drawing as a whole.
func TestLongNamesInANetworkAreWhole(t *testing.T) {
	for _, n := range []int{2, 4, 9, 24, 200} {
		for _, topology := range []string{"ring", "tree"} {
			ids := make([]uint64, n)
			for p := range ids {
				ids[p] = math.MaxUint64 - uint64(n-1-p)
			}
			r := tracetest.LCR(t, true, ids...)
			for q := 1; topology == "tree" && q < n; q++ {
				r.Topology, r.Edges = topology, append(r.Edges, [2]int{0, q})
			}
			d := networkOf(t, r)
			names := of(d, "name")
			for _, e := range names {
				if half := drawing.TextWidth(e.Text, e.Size) / 2; e.At.X < half || e.At.X > d.Width-half || e.At.Y < 0 || e.At.Y > d.Height {
					t.Errorf("%s of %d: %s at %v is not whole in %v × %v", topology, n, e.Text, e.At, d.Width, d.Height)
				}
			}
			if len(names) == 0 {
				t.Errorf("%s of %d: no names", topology, n)
			}
		}
	}
}
