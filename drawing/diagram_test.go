package drawing_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringleader.example/ringleader/drawing"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/property"
	"ringleader.example/ringleader/internal/study/tracetest"
	"ringleader.example/ringleader/trace"
)

func draw(t interface{ Fatal(...any) }, r *trace.Record) []byte {
	var b bytes.Buffer
	if err := diagram(t, r, 0, 0).SVG(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// node is an element of XML with its contents.
type node struct {
	XMLName  xml.Name
	Attr     []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []node     `xml:",any"`
}

func (n *node) attr(name string) string {
	for _, a := range n.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (n *node) number(t interface{ Fatal(...any) }, name string) (v float64) {
	if _, err := fmt.Sscan(n.attr(name), &v); err != nil {
		t.Fatal(name, err)
	}
	return v
}

// numbers returns all numbers of a path.
func (n *node) numbers(t interface{ Fatal(...any) }) (numbers []float64) {
	for _, text := range strings.FieldsFunc(n.attr("d"), func(r rune) bool { return strings.ContainsRune("MLQZ ", r) }) {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, v)
	}
	return numbers
}

// each visits the elements of that name and class.
func (n *node) each(name, class string, visit func(*node)) {
	if n.XMLName.Local == name && (class == "" || strings.Contains(" "+n.attr("class")+" ", " "+class+" ")) {
		visit(n)
	}
	for i := range n.Children {
		n.Children[i].each(name, class, visit)
	}
}

func parse(t interface{ Fatal(...any) }, svg []byte) *node {
	var root node
	in := xml.NewDecoder(bytes.NewReader(svg))
	if err := in.Decode(&root); err != nil {
		t.Fatal(err)
	}
	if rest := bytes.TrimSpace(svg[in.InputOffset():]); len(rest) > 0 {
		t.Fatal("there is something behind the drawing:", string(rest))
	}
	return &root
}

// arrows are the titles and ends of all messages: x, y, x, y.
func arrows(t interface{ Fatal(...any) }, root *node) (titles []string, ends [][4]float64) {
	root.each("path", "message", func(n *node) {
		if len(n.Children) == 0 { // of the legend
			return
		}
		titles = append(titles, n.Children[0].Text)
		d, end := n.attr("d"), [4]float64{}
		if _, err := fmt.Sscanf(d, "M%f %fL%f %f", &end[0], &end[1], &end[2], &end[3]); err != nil {
			var bend [2]float64
			if _, err := fmt.Sscanf(d, "M%f %fQ%f %f %f %f", &end[0], &end[1], &bend[0], &bend[1], &end[2], &end[3]); err != nil {
				t.Fatal(d, err)
			}
		}
		ends = append(ends, end)
	})
	return titles, ends
}

var update = flag.Bool("update", false, "write the drawing of testdata anew")

func TestDrawingOfLCR(t *testing.T) {
	const file = "testdata/lcr.svg"
	got := draw(t, tracetest.LCR(t, false, 3, 2, 1))
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; -update accepts it):\n%s", file, diff)
	}
}

func TestEveryRecordIsDrawnWithOneArrowAMessage(t *testing.T) {
	property.Check(t, func(t *property.T) {
		r := tracetest.Records.Draw(t, "record")
		svg := draw(t, r)
		if !bytes.Equal(svg, draw(t, r)) {
			t.Fatal("the same record is drawn differently")
		}
		root := parse(t, svg)
		messages, received, lost := 0, 0, 0
		for _, s := range r.Steps {
			messages += len(s.Sent)
			if s.Event == trace.Receive {
				received++
			}
			if s.Event == trace.Lost {
				lost++
			}
		}
		titles, ends := arrows(t, root)
		if len(titles) != messages {
			t.Fatalf("%d arrows for %d messages", len(titles), messages)
		}
		count := map[string]int{}
		for i, title := range titles {
			if !strings.HasPrefix(title, fmt.Sprintf("message %d, ", i+1)) {
				t.Fatalf("arrow %d is %q", i+1, title)
			}
			if ends[i][0] >= ends[i][2] {
				t.Fatalf("%q does not go forward in time: %v", title, ends[i])
			}
			for _, fate := range []string{"received in", "lost in", "still under way"} {
				if strings.Contains(title, fate) {
					count[fate]++
				}
			}
		}
		if count["received in"] != received || count["lost in"] != lost || count["still under way"] != messages-received-lost {
			t.Fatalf("%d received, %d lost of %d messages are drawn as %v", received, lost, messages, count)
		}
	})
}

func TestNothingIsDrawnOutsideTheDrawing(t *testing.T) {
	property.Check(t, func(t *property.T) {
		root := parse(t, draw(t, tracetest.Records.Draw(t, "record")))
		var width, height float64
		if _, err := fmt.Sscan(root.attr("width"), &width); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(root.attr("height"), &height); err != nil {
			t.Fatal(err)
		}
		inside := func(what string, x, y float64) {
			if !(x >= 0 && x <= width && y >= 0 && y <= height) {
				t.Fatalf("%s at %v, %v in %v × %v", what, x, y, width, height)
			}
		}
		_, ends := arrows(t, root)
		for _, e := range ends {
			inside("an arrow starts", e[0], e[1])
			inside("an arrow ends", e[2], e[3])
		}
		for _, name := range []string{"use", "text"} {
			root.each(name, "", func(n *node) {
				var x, y float64 // of a symbol that is drawn smaller, where there is little room
				if _, err := fmt.Sscanf(n.attr("transform"), "translate(%f %f)", &x, &y); err != nil {
					x, y = n.number(t, "x"), n.number(t, "y")
				}
				inside(name+" "+n.Text, x, y)
			})
		}
	})
}

func TestClockwiseMessagesGoOneLineDown(t *testing.T) {
	for n := 1; n <= 5; n++ {
		_, ends := arrows(t, parse(t, draw(t, tracetest.LCR(t, false, tracetest.Increasing(n)...))))
		for _, e := range ends {
			if down := e[3] - e[1]; down < 45 || down > 60 {
				t.Errorf("n = %d: an arrow goes down by %v, where lines are 60 apart", n, down)
			}
		}
	}
}

func TestCounterClockwiseMessagesGoOneLineUp(t *testing.T) {
	for n := 1; n <= 5; n++ {
		titles, ends := arrows(t, parse(t, draw(t, tracetest.RingBully(t, false, tracetest.Increasing(n)...))))
		for i, e := range ends {
			if up := e[1] - e[3]; strings.Contains(titles[i], "terminate") && (up < 45 || up > 60) {
				t.Errorf("n = %d: %s goes up by %v, where lines are 60 apart", n, titles[i], up)
			}
		}
	}
}

func TestLabelsDoNotOverlap(t *testing.T) {
	for name, r := range map[string]*trace.Record{
		"lcr":        tracetest.LCR(t, false, 5, 4, 3, 2, 1),
		"ring-bully": tracetest.RingBully(t, true, 3, 8, 1, 6, 2, 7, 5, 4),
		"bully":      tracetest.Bully(t, tracetest.Options{Clock: true}, 5),
	} {
		type place struct {
			x, y, width float64
			text        string
		}
		var places []place
		parse(t, draw(t, r)).each("text", "label", func(n *node) {
			p := place{text: n.Text, width: 0.55 * drawing.Small * float64(len(n.Text))}
			if _, err := fmt.Sscan(n.attr("x"), &p.x); err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Sscan(n.attr("y"), &p.y); err != nil {
				t.Fatal(err)
			}
			for _, q := range places {
				if dx, dy := p.x-q.x, p.y-q.y; 2*max(dx, -dx) < p.width+q.width && max(dy, -dy) < drawing.Small {
					t.Errorf("%s: %q stands on %q", name, p.text, q.text)
				}
			}
			places = append(places, p)
		})
		if name == "lcr" && len(places) != 20 {
			t.Errorf("of the 20 messages of a small run of lcr %d have labels", len(places))
		}
	}
}

// One process has many steps at the last moment, and another has few: the drawing ends behind both.
func TestDrawingEndsBehindAllStepsOfTheLastMoment(t *testing.T) {
	r := with(tracetest.LCR(t, true, 2, 1), 11, 0)
	for i := range r.Steps[:10] {
		r.Steps[i].Process = 0
	}
	r.Steps[9].Sent = []trace.Sent{{Message: 1, To: 1, Kind: "election"}}
	r.Steps[10].Process = 1
	_, ends := arrows(t, parse(t, draw(t, r)))
	if len(ends) != 1 || ends[0][0] >= ends[0][2] {
		t.Errorf("the message that is under way goes from %v", ends)
	}
}

// A tick's place is its time, except where the axis is cut.
func TestTimeIsToScale(t *testing.T) {
	r := &trace.Record{Header: trace.Header{
		Format: trace.Format, Title: "sleepers", Topology: "ring", N: 1, Timing: "synchronous", Clock: true,
		Kinds: []trace.Kind{{Name: "token", Class: "election"}},
	}}
	for i, time := range []election.Ticks{{}, election.Units(1), election.Units(2), election.Units(4), election.Units(5), election.Units(10), election.Power(100)} {
		r.Steps = append(r.Steps, trace.Step{Number: i + 1, Time: time, Event: trace.Command, Text: "wait", Port: -1})
	}
	root := parse(t, draw(t, r))
	at := map[string]float64{}
	root.each("text", "tick", func(n *node) { at[n.Text] = n.number(t, "x") })
	unit := at["1"] - at["0"]
	if unit <= 0 || at["2"] != at["1"]+unit || at["4"] != at["2"]+2*unit || at["5"] != at["4"]+unit || at["10"] != at["5"]+2*unit || at["2^100"] != at["10"]+2*unit {
		t.Errorf("ticks are at %v", at)
	}
	cuts := 0
	root.each("path", "break", func(*node) { cuts++ })
	if cuts != 2 {
		t.Errorf("the axis is cut %d times, not before 10 and before 2^100", cuts)
	}
}

func TestLinesShowWhoLeadsAndWhoIsDead(t *testing.T) {
	// 2 leads from its start, is crashed from 4 to 9, and leads again; 1 leads meanwhile.
	r := tracetest.Bully(t, tracetest.Options{Clock: true, Crashes: []tracetest.Fault{{Position: 1, Time: 4}}, Recovers: []tracetest.Fault{{Position: 1, Time: 9}}}, 2)
	at := map[string]float64{}
	type stretch struct{ from, to float64 }
	root := parse(t, draw(t, r))
	root.each("text", "tick", func(n *node) { at[n.Text] = n.number(t, "x") })
	heights := map[float64]bool{}
	for _, class := range []string{"alive", "leads", "dead"} {
		root.each("path", class, func(n *node) { heights[n.numbers(t)[1]] = true })
	}
	rows := slices.Sorted(maps.Keys(heights))
	if len(rows) != 2 {
		t.Fatalf("lines of two processes at %v", rows)
	}
	stretches := func(class string, row int) (of []stretch) {
		root.each("path", class, func(n *node) {
			if ends := n.numbers(t); ends[1] == rows[row] {
				of = append(of, stretch{ends[0], ends[2]})
			}
		})
		return of
	}
	if got, want := stretches("dead", 1), []stretch{{at["4"], at["9"]}}; !slices.Equal(got, want) || len(stretches("dead", 0)) > 0 {
		t.Errorf("dead: %v, want %v", got, want)
	}
	second := stretches("leads", 1)
	if len(second) != 2 || second[0] != (stretch{at["0"], at["4"]}) || second[1].from != at["9"] || second[1].to <= at["9"] {
		t.Errorf("2 leads at %v; ticks are at %v", second, at)
	}
	if first := stretches("leads", 0); len(first) != 1 {
		t.Errorf("1 leads at %v, not once", first)
	}
}

func TestLargeRecordsAreRefusedNotCut(t *testing.T) {
	r := tracetest.LCR(t, false, tracetest.Increasing(drawing.MaxProcesses)...)
	draw(t, r)
	for name, r := range map[string]*trace.Record{
		"processes": tracetest.LCR(t, false, tracetest.Increasing(drawing.MaxProcesses+1)...),
		"steps":     with(r, drawing.MaxSteps+1, 0),
		"messages":  with(r, 1, drawing.MaxMessages+1),
	} {
		if _, err := drawing.Diagram(r, trace.Window{}); !errors.Is(err, drawing.ErrTooLarge) || !strings.Contains(err.Error(), name) {
			t.Errorf("too many %s: %v", name, err)
		}
	}
	draw(t, with(r, drawing.MaxSteps, 0))
	draw(t, with(r, drawing.MaxMessages/2, 2))
}

// with returns a record of that many steps and messages a step.
func with(like *trace.Record, steps, messages int) *trace.Record {
	r := &trace.Record{Header: like.Header}
	sent := 0
	for i := range steps {
		s := trace.Step{Number: i + 1, Process: i % r.N, Event: trace.Command, Text: "continue", Port: -1}
		for range messages {
			sent++
			s.Sent = append(s.Sent, trace.Sent{Message: sent, To: (s.Process + 1) % r.N, Kind: r.Kinds[0].Name})
		}
		r.Steps = append(r.Steps, s)
	}
	return r
}

func TestDrawingsOfContradictionsAreRefused(t *testing.T) {
	r := tracetest.LCR(t, false, 2, 1)
	r.Steps[2].Message = 99
	if _, err := drawing.Diagram(r, trace.Window{}); !errors.Is(err, trace.ErrRecord) {
		t.Errorf("Diagram: %v", err)
	}
	if _, err := drawing.Network(r, trace.Window{}); !errors.Is(err, trace.ErrRecord) {
		t.Errorf("Network: %v", err)
	}
}
