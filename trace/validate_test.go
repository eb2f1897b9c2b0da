package trace_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/property"
	"ringleader.example/ringleader/internal/study/tracetest"
	"ringleader.example/ringleader/trace"
)

// eventful returns a record of three processes with every event: message 1 arrives three times, once to be lost, and
// process 2 crashes and recovers.
func eventful() *trace.Record {
	wait := election.Units(5)
	r := &trace.Record{Header: trace.Header{
		Format: trace.Format, Algorithm: "any", Title: "Any", Topology: "complete graph", N: 3, IDs: []uint64{4, 2, 9}, Timing: "timed",
		Clock: true, Seed: 1, Parameters: map[string]string{"a": "1", "b": "2"},
		Kinds: []trace.Kind{{Name: "ask", Class: "election"}, {Name: "tell", Class: "announcement"}},
	}}
	for _, s := range []trace.Step{
		{
			Process: 0, Event: trace.Start, State: "awake", Timers: []trace.Timer{{Name: "late", After: &wait}},
			Sent: []trace.Sent{
				{Message: 1, To: 1, Port: math.MaxUint16, Kind: "ask", Text: "x", Copies: 2},
				{Message: 2, To: 2, Kind: "tell"},
			},
			Decided: []trace.Decision{{Role: "leader"}, {Role: "undecided"}, {Role: "follower"}},
		},
		{Process: 0, Event: trace.Fault, Text: "slow"},
		{Process: 1, Event: trace.Receive, Message: 1, From: 1, Port: math.MaxUint16, Kind: "ask"},
		{Process: 1, Event: trace.Lost, Message: 1, From: 1, Kind: "ask"},
		{Process: 1, Event: trace.Receive, Message: 1, From: 1, Port: 0, Kind: "ask", Sent: []trace.Sent{{Message: 3, To: 0, Kind: "tell"}}},
		{Process: 0, Event: trace.Heal, Text: "slow"},
		{Process: 1, Event: trace.Timeout, Text: "late"},
		{Process: 2, Event: trace.Crash},
		{Process: 2, Event: trace.Lost, Message: 2, From: 1, Kind: "tell"},
		{Process: 2, Event: trace.Fault, Text: "cut"},
		{Process: 2, Event: trace.Heal, Text: "cut"},
		{Process: 1, Event: trace.Suspect, From: 3},
		{Process: 2, Event: trace.Recover},
		{Process: 1, Event: trace.Trust, From: 3},
		{Process: 0, Event: trace.Command, Text: "resign"},
	} {
		s.Number, s.Time = len(r.Steps)+1, election.Units(uint64(len(r.Steps)))
		if !slices.Contains([]trace.Event{trace.Receive, trace.Suspect, trace.Trust}, s.Event) {
			s.Port = -1
		}
		r.Steps = append(r.Steps, s)
	}
	return r
}

// The steps of eventful at which corruptions are planted.
const (
	starts, slows, receives, loses, receivesCopy, heals, timesOut, crashes = 0, 1, 2, 3, 4, 5, 6, 7
	losesToTheDead, suspects, recovers, trusts, commands                   = 8, 11, 12, 13, 14
)

// refused reports whether a record is refused, for that reason.
func refused(t *testing.T, name string, r *trace.Record, reason string) {
	t.Helper()
	if err := r.Validate(); !errors.Is(err, trace.ErrRecord) || !strings.Contains(err.Error(), reason) {
		t.Errorf("%s: %v; want … %s …", name, err, reason)
	}
}

func TestWhatCanHappenIsARecord(t *testing.T) {
	if err := eventful().Validate(); err != nil {
		t.Error(err)
	}
	onTree := eventful()
	onTree.Topology, onTree.Edges = "tree", [][2]int{{0, 2}, {2, 1}}
	if err := onTree.Validate(); err != nil {
		t.Error(err)
	}
	many := eventful()
	for len(many.Kinds) < 16 {
		many.Kinds = append(many.Kinds, trace.Kind{Name: fmt.Sprint("kind ", len(many.Kinds)), Class: "overhead"})
	}
	if err := many.Validate(); err != nil {
		t.Error(err)
	}
	many.Kinds = append(many.Kinds, trace.Kind{Name: "one more", Class: "overhead"})
	refused(t, "17 kinds", many, "17 kinds")
}

func TestAMessageArrivesAsOftenAsThereAreCopiesOfIt(t *testing.T) {
	for copies := range 4 {
		for arrivals := range 6 {
			for lost := range 1 << arrivals { // which of them are lost
				r := eventful()
				r.Steps = r.Steps[:receives]
				r.Steps[starts].Sent[0].Copies = copies
				for i := range arrivals {
					s := trace.Step{Number: len(r.Steps) + 1, Time: election.Units(9), Process: 1, Event: trace.Receive, Message: 1, From: 1, Kind: "ask"}
					if lost>>i&1 != 0 {
						s.Event, s.Port = trace.Lost, -1
					}
					r.Steps = append(r.Steps, s)
				}
				name := fmt.Sprintf("%d copies, %d arrivals", copies, arrivals)
				if arrivals > copies+1 {
					refused(t, name, r, fmt.Sprintf("step %d: message 1 arrives a second time", 2+copies+2))
				} else if err := r.Validate(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

func TestWhatCrashedProcessesDoIsRefused(t *testing.T) {
	for _, event := range []trace.Event{trace.Start, trace.Timeout, trace.Crash, trace.Suspect, trace.Trust, trace.Command} {
		r := eventful()
		s := &r.Steps[losesToTheDead]
		*s = trace.Step{Number: s.Number, Time: s.Time, Process: 2, Event: event, Port: -1, Text: "text"}
		if event == trace.Suspect || event == trace.Trust {
			s.Port, s.From = 0, 1
		}
		refused(t, string(event), r, fmt.Sprintf("process 2 has crashed, and yet: %s", event))
	}
	r := eventful()
	r.Steps[losesToTheDead].Event, r.Steps[losesToTheDead].Port = trace.Receive, 0
	refused(t, "receive", r, "process 2 has crashed, and yet: receive")
	r = eventful()
	again := r.Steps[crashes]
	again.Number, again.Time = len(r.Steps)+1, election.Units(99)
	r.Steps = append(r.Steps, again)
	if err := r.Validate(); err != nil {
		t.Errorf("it dies in its second life: %v", err)
	}
	back := r.Steps[recovers]
	back.Number, back.Time, back.Process = again.Number+1, again.Time, 1
	r.Steps = append(r.Steps, back)
	refused(t, "another recovers", r, "process 1 recovers and had not crashed")
}

func TestWhatIsNoStepOfTheAlgorithmHasNoEffects(t *testing.T) {
	for _, at := range []int{slows, loses, heals, crashes, losesToTheDead} {
		for name, plant := range map[string]func(*trace.Step){
			"sends":   func(s *trace.Step) { s.Sent = []trace.Sent{{Message: 3, To: 0, Kind: "ask"}} },
			"sets":    func(s *trace.Step) { s.Timers = []trace.Timer{{Name: "late"}} },
			"decides": func(s *trace.Step) { s.Decided = []trace.Decision{{Role: "leader"}} },
			"runs":    func(s *trace.Step) { s.Lines = []int{1} },
		} {
			r := eventful()
			plant(&r.Steps[at])
			refused(t, fmt.Sprintf("%s %s", r.Steps[at].Event, name), r, fmt.Sprintf("event %s has effects", r.Steps[at].Event))
		}
	}
}

func TestWhatCannotHappenIsRefused(t *testing.T) {
	const beyond = math.MaxUint16 + 1
	for name, fault := range map[string]struct {
		plant  func(*trace.Record)
		reason string
	}{
		"a number used twice":           {func(r *trace.Record) { r.Steps[receivesCopy].Sent[0].Message = 2 }, "message 3 is numbered 2"},
		"a number used twice in a step": {func(r *trace.Record) { r.Steps[starts].Sent[1].Message = 1 }, "message 2 is numbered 1"},
		"a number skipped":              {func(r *trace.Record) { r.Steps[receivesCopy].Sent[0].Message = 4 }, "message 3 is numbered 4"},
		"two numbers exchanged": {func(r *trace.Record) {
			r.Steps[starts].Sent[0].Message, r.Steps[starts].Sent[1].Message = 2, 1
		}, "message 1 is numbered 2"},
		"no number":                    {func(r *trace.Record) { r.Steps[receives].Message = 0 }, "message 0 was never sent"},
		"a negative number":            {func(r *trace.Record) { r.Steps[receives].Message = -1 }, "message -1 was never sent"},
		"received before it is sent":   {func(r *trace.Record) { r.Steps[receives].Message = 3 }, "message 3 was never sent"},
		"lost and never sent":          {func(r *trace.Record) { r.Steps[loses].Message = 4 }, "message 4 was never sent"},
		"another message, lost":        {func(r *trace.Record) { r.Steps[loses].Message = 2 }, "was sent as"},
		"lost by another":              {func(r *trace.Record) { r.Steps[loses].Process = 0 }, "was sent as"},
		"lost from another":            {func(r *trace.Record) { r.Steps[loses].From = 3 }, "was sent as"},
		"lost as another kind":         {func(r *trace.Record) { r.Steps[loses].Kind = "tell" }, "was sent as"},
		"a copy of another kind":       {func(r *trace.Record) { r.Steps[receivesCopy].Kind = "tell" }, "was sent as"},
		"a kind of a timeout":          {func(r *trace.Record) { r.Steps[timesOut].Kind = "ask" }, "has message 0"},
		"a message of a crash":         {func(r *trace.Record) { r.Steps[crashes].Message = 2 }, "has message 2"},
		"fewer than no copies":         {func(r *trace.Record) { r.Steps[starts].Sent[1].Copies = -1 }, "-1 copies"},
		"sent on a port too many":      {func(r *trace.Record) { r.Steps[starts].Sent[0].Port = beyond }, "leaves on port 65536"},
		"received on a port too many":  {func(r *trace.Record) { r.Steps[receives].Port = beyond }, "port 65536 of event receive"},
		"suspected on no port":         {func(r *trace.Record) { r.Steps[suspects].Port = -1 }, "port -1 of event suspect"},
		"trusted on no port":           {func(r *trace.Record) { r.Steps[trusts].Port = -1 }, "port -1 of event trust"},
		"lost on a port":               {func(r *trace.Record) { r.Steps[loses].Port = 0 }, "port 0 of event lost"},
		"suspects no process":          {func(r *trace.Record) { r.Steps[suspects].From = 0 }, "is from 0"},
		"suspects one too many":        {func(r *trace.Record) { r.Steps[suspects].From = 4 }, "is from 4"},
		"a command of another":         {func(r *trace.Record) { r.Steps[commands].From = 1 }, "is from 1"},
		"a text with a control":        {func(r *trace.Record) { r.Steps[commands].Text = "\x00" }, "graphic"},
		"a state with a line break":    {func(r *trace.Record) { r.Steps[starts].State = "a\nb" }, "graphic"},
		"no UTF-8":                     {func(r *trace.Record) { r.Steps[starts].State = "\xff" }, "graphic"},
		"a message with a line break":  {func(r *trace.Record) { r.Steps[starts].Sent[0].Text = "a\nb" }, "graphic"},
		"a timer with a line break":    {func(r *trace.Record) { r.Steps[starts].Timers[0].Name = "a\nb" }, "graphic"},
		"time runs backwards":          {func(r *trace.Record) { r.Steps[crashes].Time = election.Units(5) }, "time 5, after 6"},
		"time runs backwards once":     {func(r *trace.Record) { r.Steps[starts].Time = election.Units(2) }, "step 2: time 1, after 2"},
		"an algorithm with a break":    {func(r *trace.Record) { r.Algorithm = "a\nb" }, "graphic"},
		"a timing with a break":        {func(r *trace.Record) { r.Timing = "a\nb" }, "graphic"},
		"a schedule with a break":      {func(r *trace.Record) { r.Schedule = "a\nb" }, "graphic"},
		"a parameter with a break":     {func(r *trace.Record) { r.Parameters["b"] = "a\nb" }, "graphic"},
		"a parameter's name with one":  {func(r *trace.Record) { r.Parameters["a\nb"] = "1" }, "graphic"},
		"a kind with a line break":     {func(r *trace.Record) { r.Kinds[1].Name = "a\nb" }, "graphic"},
		"a kind without a name":        {func(r *trace.Record) { r.Kinds[1].Name = "" }, "no name of its own"},
		"more identifiers":             {func(r *trace.Record) { r.IDs = append(r.IDs, 5) }, "4 identifiers for 3"},
		"a tree with too few edges":    {func(r *trace.Record) { r.Topology, r.Edges = "tree", [][2]int{{0, 1}} }, "1 edges"},
		"a graph with edges":           {func(r *trace.Record) { r.Edges = [][2]int{{0, 1}, {1, 2}} }, "2 edges"},
		"an edge from nowhere":         {func(r *trace.Record) { r.Topology, r.Edges = "tree", [][2]int{{3, 1}, {1, 2}} }, "edge 3-1"},
		"an edge from before nowhere":  {func(r *trace.Record) { r.Topology, r.Edges = "tree", [][2]int{{0, 1}, {-1, 2}} }, "edge -1-2"},
		"an event at a place too many": {func(r *trace.Record) { r.Steps[commands].Process = 3 }, "process 3"},
	} {
		r := eventful()
		fault.plant(r)
		refused(t, name, r, fault.reason)
	}
}

// Each arrival of any record is one too many if it comes once more at the end.
func TestNoArrivalOfAnyRecordCanBeRepeated(t *testing.T) {
	property.Check(t, func(t *property.T) {
		r := tracetest.Records.Draw(t, "record")
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
		if len(r.Steps) == 0 {
			return
		}
		last := r.Steps[len(r.Steps)-1]
		for _, s := range r.Steps {
			if s.Message == 0 {
				continue
			}
			again := *r
			s.Number, s.Time, s.Event, s.Port, s.Sent, s.Timers, s.Decided = last.Number+1, last.Time, trace.Lost, -1, nil, nil, nil
			again.Steps = append(slices.Clip(r.Steps), s)
			if err := again.Validate(); !errors.Is(err, trace.ErrRecord) || !strings.Contains(err.Error(), "a second time") {
				t.Fatalf("%+v once more: %v", s, err)
			}
		}
	})
}
