package trace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringleader.example/ringleader/drawing"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/property"
	"ringleader.example/ringleader/internal/study/tracetest"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/trace"
)

func write(t interface{ Fatal(...any) }, r *trace.Record) []byte {
	var b bytes.Buffer
	n, err := r.WriteTo(&b)
	if err != nil {
		t.Fatal(err)
	}
	if n != int64(b.Len()) {
		t.Fatal("WriteTo says that it wrote", n, "bytes, and wrote", b.Len())
	}
	return b.Bytes()
}

func TestFileIsALineAStep(t *testing.T) {
	golden(t, "lcr.jsonl", write(t, tracetest.LCR(t, false, 5, 4, 3, 2, 1)))
}

func TestEveryRecordIsReadAsItWasWritten(t *testing.T) {
	property.Check(t, func(t *property.T) {
		r := tracetest.Records.Draw(t, "record")
		file := write(t, r)
		again, err := trace.Read(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, again); diff != "" {
			t.Fatalf("(-written +read)\n%s", diff)
		}
	})
}

func TestWriterWritesTheSameBytesAsWriteTo(t *testing.T) {
	r := tracetest.Bully(t, tracetest.Options{Clock: true}, 3)
	var b bytes.Buffer
	w, err := trace.NewWriter(&b, r.Header)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Steps {
		if err := w.Step(&r.Steps[i]); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(write(t, r)), b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestFileShowsTextsAsTheyAre(t *testing.T) {
	r := tracetest.LCR(t, false, 2, 1)
	r.Title = "<&> ½ → é"
	if file := write(t, r); !bytes.Contains(file, []byte(r.Title)) {
		t.Errorf("%s", bytes.SplitAfter(file, []byte("\n"))[0])
	}
}

func TestWriterReportsWhatItCouldNotWrite(t *testing.T) {
	full := errors.New("disk full")
	if _, err := tracetest.LCR(t, false, 2, 1).WriteTo(failing{full}); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	if _, err := trace.Read(io.MultiReader(bytes.NewReader(write(t, tracetest.LCR(t, false, 2, 1))), failing{full})); !errors.Is(err, full) || errors.Is(err, trace.ErrRecord) {
		t.Errorf("got %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
func (f failing) Read([]byte) (int, error)  { return 0, f.err }

func TestLinesAreReadAsTheyWereWritten(t *testing.T) {
	r := tracetest.LCR(t, false, 2, 1)
	plain := write(t, r)
	r.Steps[0].Lines = []int{3, 81}
	file := write(t, r)
	if !bytes.Contains(file, []byte(`,"lines":[3,81]}`)) || bytes.Contains(plain, []byte("lines")) {
		t.Errorf("%s", file)
	}
	again, err := trace.Read(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, again); diff != "" {
		t.Error(diff)
	}
	for _, other := range []string{"[]", "null", "[3, 81]", "[81,3]", `"3"`} {
		changed := bytes.Replace(file, []byte("[3,81]"), []byte(other), 1)
		if _, err := trace.Read(bytes.NewReader(changed)); !errors.Is(err, trace.ErrRecord) {
			t.Errorf("lines %s: %v", other, err)
		}
	}
}

func TestReadRefusesFilesThatWereCutOff(t *testing.T) {
	file := write(t, tracetest.LCR(t, false, 2, 1))
	for n := range file {
		whole := n > 0 && file[n-1] == '\n' // a shorter execution
		_, err := trace.Read(bytes.NewReader(file[:n]))
		if whole != (err == nil) || !whole && !errors.Is(err, trace.ErrRecord) {
			t.Errorf("%d of %d bytes: %v", n, len(file), err)
		}
	}
}

// Each fault is planted in LCR's run on 5 4 3 2 1. Line 11 is step 10, in which 5 receives message 5.
func TestContradictionsAreRefusedWithTheirLine(t *testing.T) {
	for name, fault := range map[string]struct {
		plant func(*trace.Record)
		want  string
	}{
		"another format":        {func(r *trace.Record) { r.Format = 2 }, "line 1: "},
		"no processes":          {func(r *trace.Record) { r.N, r.IDs = 0, nil }, "line 1: "},
		"too many processes":    {func(r *trace.Record) { r.N, r.IDs = network.MaxRing+1, nil }, "line 1: "},
		"too few identifiers":   {func(r *trace.Record) { r.IDs = r.IDs[1:] }, "4 identifiers for 5 processes"},
		"unknown topology":      {func(r *trace.Record) { r.Topology = "star" }, `not "star"`},
		"edges of a ring":       {func(r *trace.Record) { r.Edges = [][2]int{{0, 1}} }, "1 edges"},
		"an edge to nowhere":    {func(r *trace.Record) { tree(r, 5) }, "edge 0-5"},
		"no kinds":              {func(r *trace.Record) { r.Kinds = nil }, "0 kinds"},
		"kinds of one name":     {func(r *trace.Record) { r.Kinds[1].Name = "election" }, "no name of its own"},
		"unknown class":         {func(r *trace.Record) { r.Kinds[1].Class = "other" }, `not "other"`},
		"a line break":          {func(r *trace.Record) { r.Title = "a\nb" }, "not a graphic character"},
		"a control character":   {func(r *trace.Record) { r.Steps[9].Text = "\x1b[31m" }, "line 11: "},
		"a gap in the numbers":  {func(r *trace.Record) { r.Steps[9].Number = 11 }, "step 10: it is numbered 11"},
		"time without a clock":  {func(r *trace.Record) { r.Steps[9].Time = election.Units(1) }, "no clock"},
		"time runs backwards":   {func(r *trace.Record) { r.Clock, r.Steps[8].Time = true, election.Units(1) }, "time 0, after 1"},
		"no such process":       {func(r *trace.Record) { r.Steps[9].Process = 5 }, "positions are 0 to 4"},
		"negative process":      {func(r *trace.Record) { r.Steps[9].Process = -1 }, "positions are 0 to 4"},
		"unknown event":         {func(r *trace.Record) { r.Steps[9].Event = "sleep" }, `"sleep"`},
		"a timeout of nothing":  {func(r *trace.Record) { r.Steps[0].Event = trace.Timeout }, "names no timer"},
		"a port of a start":     {func(r *trace.Record) { r.Steps[0].Port = 0 }, "port 0 of event start"},
		"no port":               {func(r *trace.Record) { r.Steps[9].Port = -1 }, "port -1 of event receive"},
		"no sender":             {func(r *trace.Record) { r.Steps[9].From = 0 }, "from 0"},
		"a sender of a start":   {func(r *trace.Record) { r.Steps[0].From = 1 }, "from 1"},
		"a message of a start":  {func(r *trace.Record) { r.Steps[0].Message = 1 }, "message 1"},
		"never sent":            {func(r *trace.Record) { r.Steps[9].Message = 99 }, "line 11: not a record of an execution: step 10: message 99 was never sent"},
		"received twice":        {func(r *trace.Record) { r.Steps[9].Message = 1 }, "message 1 arrives a second time"},
		"a copy too many":       {func(r *trace.Record) { copied(r, 1) }, "message 1 arrives a second time"},
		"less than no copy":     {func(r *trace.Record) { r.Steps[0].Sent[0].Copies = -1 }, "-1 copies"},
		"from another sender":   {func(r *trace.Record) { r.Steps[9].From = 1 }, "was sent as"},
		"at another receiver":   {func(r *trace.Record) { r.Steps[9].Process = 1 }, "was sent as"},
		"of another kind":       {func(r *trace.Record) { r.Steps[9].Kind = "leader" }, "was sent as"},
		"active while crashed":  {func(r *trace.Record) { happen(r, trace.Crash, trace.Start) }, "line 28: not a record of an execution: step 27: process 0 has crashed, and yet: start"},
		"crashed twice":         {func(r *trace.Record) { happen(r, trace.Crash, trace.Crash) }, "has crashed, and yet: crash"},
		"recovers from nothing": {func(r *trace.Record) { r.Steps[0].Event = trace.Recover }, "had not crashed"},
		"line 0":                {func(r *trace.Record) { r.Steps[9].Lines = []int{0} }, "numbered from 1"},
		"lines out of order":    {func(r *trace.Record) { r.Steps[9].Lines = []int{7, 3} }, "in order"},
		"a line twice":          {func(r *trace.Record) { r.Steps[9].Lines = []int{3, 3} }, "in order"},
		"a crash that sends":    {func(r *trace.Record) { r.Steps[0].Event = trace.Crash }, "has effects"},
		"message out of order":  {func(r *trace.Record) { r.Steps[0].Sent[0].Message = 2 }, "message 1 is numbered 2"},
		"sent to nowhere":       {func(r *trace.Record) { r.Steps[0].Sent[0].To = 5 }, "goes to 5"},
		"sent on no port":       {func(r *trace.Record) { r.Steps[0].Sent[0].Port = -1 }, "port -1"},
		"undeclared kind":       {func(r *trace.Record) { r.Steps[0].Sent[0].Kind = "x" }, "not declared"},
		"nameless timer":        {func(r *trace.Record) { r.Steps[0].Timers = []trace.Timer{{}} }, "no name"},
		"unknown role":          {func(r *trace.Record) { r.Steps[24].Decided[0].Role = "king" }, `not "king"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := tracetest.LCR(t, false, 5, 4, 3, 2, 1)
			fault.plant(r)
			if err := r.Validate(); !errors.Is(err, trace.ErrRecord) {
				t.Errorf("Validate: %v", err)
			}
			if _, err := r.WriteTo(io.Discard); !errors.Is(err, trace.ErrRecord) {
				t.Errorf("WriteTo: %v", err)
			}
			_, err := trace.Read(bytes.NewReader(unchecked(t, r)))
			if !errors.Is(err, trace.ErrRecord) || !strings.Contains(err.Error(), fault.want) {
				t.Errorf("Read: %v; want … %s …", err, fault.want)
			}
		})
	}
}

// unchecked writes a record that the package refuses to write.
func unchecked(t *testing.T, r *trace.Record) []byte {
	t.Helper()
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	if err := out.Encode(r.Header); err != nil {
		t.Fatal(err)
	}
	for i := range r.Steps {
		if err := out.Encode(r.Steps[i]); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// happen adds events of process 0 to the end.
func happen(r *trace.Record, events ...trace.Event) {
	for _, e := range events {
		r.Steps = append(r.Steps, trace.Step{Number: len(r.Steps) + 1, Event: e, Port: -1})
	}
}

// copied makes a link copy message 1, and lets more copies than that arrive.
func copied(r *trace.Record, copies int) {
	r.Steps[0].Sent[0].Copies = copies
	for i := range r.Steps {
		if arrival := r.Steps[i]; arrival.Message == 1 {
			arrival.Sent, arrival.Timers, arrival.Decided = nil, nil, nil
			for range copies + 1 {
				arrival.Number = len(r.Steps) + 1
				r.Steps = append(r.Steps, arrival)
			}
			return
		}
	}
}

func tree(r *trace.Record, last int) {
	r.Topology, r.Edges = "tree", [][2]int{{0, 1}, {0, 2}, {0, 3}, {0, last}}
}

func TestReadRefusesWhatWriterWouldNotWrite(t *testing.T) {
	file := string(write(t, tracetest.LCR(t, false, 2, 1)))
	for name, fault := range map[string]struct{ old, new, want string }{
		"an unknown field":  {`"seed":1`, `"seed":1,"speed":2`, `line 1: not a record of an execution: json: unknown field "speed"`},
		"a field twice":     {`"seed":1`, `"seed":1,"seed":1`, `column`},
		"another case":      {`"seed":1`, `"Seed":1`, `column`},
		"a space":           {`"seed":1`, `"seed": 1`, `column`},
		"an empty line":     {"\n", "\n\n", "line 2: not a record of an execution: the line is empty"},
		"a Windows file":    {"\n", "\r\n", "line 1"},
		"two steps a line":  {"}\n{\"step\":2", "}{\"step\":2", "line 2: not a record of an execution: column"},
		"no text at all":    {file, "", "line 1: not a record of an execution: there is no header"},
		"no JSON":           {`{"format"`, `format`, "invalid character"},
		"a negative number": {`"seed":1`, `"seed":-1`, "cannot unmarshal"},
		"a fraction":        {`"time":0`, `"time":0.5`, "whole number of ticks"},
		"a null":            {`"time":0`, `"time":null`, "whole number of ticks"},
	} {
		t.Run(name, func(t *testing.T) {
			broken := strings.Replace(file, fault.old, fault.new, 1)
			if broken == file {
				t.Fatal("the fault was not planted")
			}
			_, err := trace.Read(strings.NewReader(broken))
			if !errors.Is(err, trace.ErrRecord) || !strings.Contains(err.Error(), fault.want) {
				t.Errorf("%v; want … %s …", err, fault.want)
			}
		})
	}
}

func TestReadBoundsItsLines(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a line's memory")
	}
	endless := io.MultiReader(strings.NewReader(`{"format":1,"algorithm":"`), io.LimitReader(letters{}, trace.MaxLine))
	if _, err := trace.Read(endless); !errors.Is(err, trace.ErrRecord) || !strings.Contains(err.Error(), "longer than") {
		t.Error(err)
	}
}

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// FuzzRead is run with -fuzzminimizetime 1x, or Go spends its time on making whole files smaller, and with a
// number of executions (-fuzztime 500000x): a duration can end in a failure that is Go's own (golang/go#75804).
func FuzzRead(f *testing.F) {
	for _, r := range []*trace.Record{
		tracetest.LCR(f, false, 5, 4, 3, 2, 1),
		tracetest.Bully(f, tracetest.Options{Clock: true, Crashes: []tracetest.Fault{{Position: 2, Time: 1}}, Recovers: []tracetest.Fault{{Position: 2, Time: 9}}}, 3),
	} {
		f.Add(write(f, r))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := trace.Read(bytes.NewReader(file))
		if err != nil {
			if !errors.Is(err, trace.ErrRecord) {
				t.Fatal(err)
			}
			return
		}
		if again := write(t, r); !bytes.Equal(file, again) {
			t.Fatalf("read\n%q\nwritten\n%q", file, again)
		}
		if err := r.Story(io.Discard); err != nil {
			t.Fatal(err)
		}
		if _, err := drawing.Diagram(r, trace.Window{}); err != nil && !errors.Is(err, drawing.ErrTooLarge) {
			t.Fatal(err)
		}
	})
}
