package trace

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// ErrRecord reports that a record contradicts itself, or that a text is not the record of an execution.
var ErrRecord = errors.New("not a record of an execution")

const (
	maxPort  = 1<<16 - 1
	maxKinds = 16
)

// Validate returns an error if the record is impossible, as far as that is visible without the algorithm: positions,
// kinds and roles exist; steps and messages are numbered from 1 without a gap; a message that arrives was sent to
// that process and did not arrive before, except for announced copies; time does not decrease; a crashed process does
// nothing until it recovers (a process that is crashed from the beginning crashes in a step of its own); texts have
// only graphic characters and spaces. The error wraps ErrRecord.
func (r *Record) Validate() error {
	v, err := newValidator(&r.Header)
	if err != nil {
		return err
	}
	for i := range r.Steps {
		if err := v.step(&r.Steps[i]); err != nil {
			return err
		}
	}
	return nil
}

// validator follows a record step by step. It holds only the messages under way and the crashed processes, so it can
// check a file of any length.
type validator struct {
	header   *Header
	steps    int
	time     election.Ticks
	messages int
	underWay map[int]journey
	crashed  map[int]bool
}

type journey struct {
	from, to int
	kind     string
	copies   int // further arrivals after the next one
}

func newValidator(h *Header) (*validator, error) {
	if err := h.validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	return &validator{header: h, underWay: map[int]journey{}, crashed: map[int]bool{}}, nil
}

func (h *Header) validate() error {
	if h.Format != Format {
		return fmt.Errorf("its format is %d; this version reads and writes format %d", h.Format, Format)
	}
	for _, check := range []func() error{h.validateNetwork, h.validateKinds, h.validateTexts} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (h *Header) validateNetwork() error {
	if h.N < 1 || h.N > network.MaxRing {
		return fmt.Errorf("a record is of 1 to %d processes, not %d", network.MaxRing, h.N)
	}
	if len(h.IDs) != 0 && len(h.IDs) != h.N {
		return fmt.Errorf("it has %d identifiers for %d processes; none or one each", len(h.IDs), h.N)
	}
	if !slices.Contains([]string{ring, complete, tree, strangers}, h.Topology) {
		return fmt.Errorf("the topology is %s, %s, %s or %s, not %q", ring, complete, tree, strangers, h.Topology)
	}
	if len(h.Edges) != 0 && (h.Topology != tree || len(h.Edges) != h.N-1) {
		return fmt.Errorf("it has %d edges; only a tree has any, one fewer than processes", len(h.Edges))
	}
	for _, e := range h.Edges {
		if !h.has(e[0]) || !h.has(e[1]) {
			return fmt.Errorf("edge %d-%d leaves positions 0 to %d", e[0], e[1], h.N-1)
		}
	}
	return nil
}

func (h *Header) validateKinds() error {
	if len(h.Kinds) < 1 || len(h.Kinds) > maxKinds {
		return fmt.Errorf("it declares %d kinds of message; 1 to %d can be", len(h.Kinds), maxKinds)
	}
	for i, k := range h.Kinds {
		if k.Name == "" || h.KindIndex(k.Name) != i {
			return fmt.Errorf("kind of message %d has no name of its own: %q", i, k.Name)
		}
		if !slices.Contains(classes, k.Class) {
			return fmt.Errorf("the class of kind %q is one of %s, not %q", k.Name, strings.Join(classes, ", "), k.Class)
		}
		if err := graphic(k.Name); err != nil {
			return err
		}
	}
	return nil
}

func (h *Header) validateTexts() error {
	for _, name := range slices.Sorted(maps.Keys(h.Parameters)) {
		if err := graphic(name, h.Parameters[name]); err != nil {
			return err
		}
	}
	for _, name := range h.Changed {
		if _, found := h.Parameters[name]; !found {
			return fmt.Errorf("parameter %q is changed, and it has none of that name", name)
		}
	}
	return graphic(h.Algorithm, h.Title, h.Timing, h.Schedule)
}

// NetworkText returns the shape of the network and its size in words. The header must be valid.
func (h *Header) NetworkText() string {
	for t := range election.UnknownNeighbours + 1 {
		if t.String() == h.Topology {
			return t.Phrase(h.N)
		}
	}
	panic("trace: a topology that Validate knows and election does not: " + h.Topology)
}

// The names that the types of package election give themselves.
var (
	ring      = election.Ring.String()
	complete  = election.Complete.String()
	tree      = election.Tree.String()
	strangers = election.UnknownNeighbours.String()

	classes = []string{election.Election.String(), election.Announcement.String(), election.Overhead.String()}
	roles   = []string{network.Undecided.String(), network.Follower.String(), network.Leader.String()}
	events  = []Event{Start, Receive, Timeout, Crash, Recover, Suspect, Trust, Command, Fault, Heal, Lost}
)

func (h *Header) has(position int) bool { return position >= 0 && position < h.N }

// KindIndex returns the index of a declared kind of message, or -1.
func (h *Header) KindIndex(name string) int {
	return slices.IndexFunc(h.Kinds, func(k Kind) bool { return k.Name == name })
}

// graphic returns an error unless texts fit in a line of a story, and in XML.
func graphic(texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) }) {
			return fmt.Errorf("the text %q holds something that is not a graphic character", text)
		}
	}
	return nil
}

// Graphic returns a text with spaces in place of characters that a record may not have, such as line breaks.
func Graphic(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}

// step checks the next step. After an error the validator is invalid.
func (v *validator) step(s *Step) error {
	v.steps++
	for _, check := range []func(*Step) error{v.event, v.place, v.arrival, v.life, v.effects} {
		if err := check(s); err != nil {
			return fmt.Errorf("%w: step %d: %w", ErrRecord, v.steps, err)
		}
	}
	return nil
}

func (v *validator) event(s *Step) error {
	switch {
	case s.Number != v.steps:
		return fmt.Errorf("it is numbered %d", s.Number)
	case !v.header.Clock && !s.Time.IsZero():
		return fmt.Errorf("time %s, where there is no clock", s.Time)
	case s.Time.Less(v.time):
		return fmt.Errorf("time %s, after %s", s.Time, v.time)
	case !v.header.has(s.Process):
		return fmt.Errorf("process %d; positions are 0 to %d", s.Process, v.header.N-1)
	case !slices.Contains(events, s.Event):
		return fmt.Errorf("no event is called %q", s.Event)
	case s.Event == Timeout && s.Text == "":
		return errors.New("a timeout names no timer")
	}
	v.time = s.Time
	return nil
}

// place checks the port and the other process of an event.
func (v *validator) place(s *Step) error {
	onPort := s.Event == Receive || s.Event == Suspect || s.Event == Trust
	if onPort && (s.Port < 0 || s.Port > maxPort) || !onPort && s.Port != -1 {
		return fmt.Errorf("port %d of event %s; 0 to %d where something is received, suspected or trusted, else -1", s.Port, s.Event, maxPort)
	}
	ofOther := onPort || s.Event == Lost
	if ofOther && !v.header.has(s.From-1) || !ofOther && s.From != 0 {
		return fmt.Errorf("event %s is from %d; 1 to %d where there is another process, else 0", s.Event, s.From, v.header.N)
	}
	return graphic(s.Text, s.State, s.Broken)
}

func (v *validator) arrival(s *Step) error {
	if s.Event != Receive && s.Event != Lost {
		if s.Message != 0 || s.Kind != "" {
			return fmt.Errorf("event %s has message %d of kind %q; only what is received or lost has", s.Event, s.Message, s.Kind)
		}
		return nil
	}
	j, found := v.underWay[s.Message]
	switch {
	case !found && s.Message >= 1 && s.Message <= v.messages:
		return fmt.Errorf("message %d arrives a second time", s.Message)
	case !found:
		return fmt.Errorf("message %d was never sent", s.Message)
	case j != journey{s.From - 1, s.Process, s.Kind, j.copies}:
		return fmt.Errorf("message %d is %q from %d to %d, and was sent as %q from %d to %d",
			s.Message, s.Kind, s.From-1, s.Process, j.kind, j.from, j.to)
	}
	if j.copies--; j.copies < 0 {
		delete(v.underWay, s.Message)
	} else {
		v.underWay[s.Message] = j
	}
	return nil
}

func (v *validator) life(s *Step) error {
	crashed := v.crashed[s.Process]
	switch {
	case s.Event == Recover && !crashed:
		return fmt.Errorf("process %d recovers and had not crashed", s.Process)
	case crashed && !slices.Contains([]Event{Recover, Lost, Fault, Heal}, s.Event):
		return fmt.Errorf("process %d has crashed, and yet: %s", s.Process, s.Event)
	case s.Event == Crash:
		v.crashed[s.Process] = true
	case s.Event == Recover:
		delete(v.crashed, s.Process)
	}
	return nil
}

// passive reports whether a step is not one of the algorithm.
func (s *Step) passive() bool { return slices.Contains([]Event{Crash, Lost, Fault, Heal}, s.Event) }

func (v *validator) effects(s *Step) error {
	if s.passive() && len(s.Drew)+len(s.Sent)+len(s.Timers)+len(s.Decided)+len(s.Lines) > 0 {
		return fmt.Errorf("event %s has effects", s.Event)
	}
	for _, d := range s.Drew {
		if d.Value >= d.Among {
			return fmt.Errorf("a choice of %d among %d values; they are counted from 0", d.Value, d.Among)
		}
	}
	for i, line := range s.Lines {
		if line < 1 || i > 0 && line <= s.Lines[i-1] {
			return fmt.Errorf("lines %d; they are numbered from 1, and in order", s.Lines)
		}
	}
	if err := v.sent(s); err != nil {
		return err
	}
	for _, t := range s.Timers {
		if t.Name == "" {
			return errors.New("a timer has no name")
		}
		if err := graphic(t.Name); err != nil {
			return err
		}
	}
	for _, d := range s.Decided {
		if !slices.Contains(roles, d.Role) {
			return fmt.Errorf("a role is one of %s, not %q", strings.Join(roles, ", "), d.Role)
		}
	}
	return nil
}

// sent takes the messages of a step.
func (v *validator) sent(s *Step) error {
	for _, m := range s.Sent {
		v.messages++
		switch {
		case m.Message != v.messages:
			return fmt.Errorf("message %d is numbered %d", v.messages, m.Message)
		case !v.header.has(m.To):
			return fmt.Errorf("message %d goes to %d; positions are 0 to %d", m.Message, m.To, v.header.N-1)
		case m.Port < 0 || m.Port > maxPort:
			return fmt.Errorf("message %d leaves on port %d; ports are 0 to %d", m.Message, m.Port, maxPort)
		case v.header.KindIndex(m.Kind) < 0:
			return fmt.Errorf("message %d is of kind %q, which is not declared", m.Message, m.Kind)
		case m.Copies < 0:
			return fmt.Errorf("message %d has %d copies", m.Message, m.Copies)
		}
		if err := graphic(m.Text); err != nil {
			return err
		}
		v.underWay[m.Message] = journey{s.Process, m.To, m.Kind, m.Copies}
	}
	return nil
}
