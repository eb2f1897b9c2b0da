package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/core/framing"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
)

// SchemaOf names the states and messages of an algorithm. See [Head.Schema].
func SchemaOf(p *process.Program) string { return p.Schema() }

// ErrMachine reports that a record is of another machine than the one that is to replay it.
var ErrMachine = errors.New("another version of the machine has made this record, and only that one can replay it")

// Difference is where a machine does something else than what was recorded.
type Difference struct {
	Entry *Entry
	What  string // what differs: what is recorded, and what the machine does
}

func (d *Difference) Error() string {
	return fmt.Sprintf("segment %d, block %d, entry %d, at %v: %s", d.Entry.Place.Segment, d.Entry.Place.Block, d.Entry.Place.Entry, d.Entry.At.Boottime, d.What)
}

// Replay is what was replayed.
type Replay struct {
	Steps     int // that the machine has made again, each effect bit by bit as recorded
	Checks    int // of these: the checksum of the state after the step was compared, too
	Snapshots int // states that were compared bit by bit
	Skipped   int // steps without a state to begin from, since parts are missing
	Damages   []*Damage
}

// Again replays a whole record. The error is the first [Difference], or an [ErrMachine].
func (l *Log) Again(ctx context.Context, p *process.Program) (Replay, error) {
	var all Replay
	var r *Replayer
	for i, s := range l.Segments {
		if err := ctx.Err(); err != nil {
			return all, err
		}
		if d := l.Missing(i); d != nil {
			all.Damages, r = append(all.Damages, d), nil
		}
		if r == nil || r.head.Incarnation != s.Head.Incarnation || r.head.Segment+1 != s.Head.Segment {
			fresh, err := NewReplayer(p, &s.Head)
			if err != nil {
				return all, err
			}
			r = fresh
		}
		r.head = &s.Head
		for e, damage := range s.Entries() {
			if damage != nil {
				all.Damages = append(all.Damages, damage)
				r.Forget()
				continue
			}
			if err := r.Take(e); err != nil {
				return all.with(r), err
			}
		}
		all = all.with(r)
		r.done = Replay{}
	}
	return all, nil
}

// with adds what a replayer has done.
func (r Replay) with(other *Replayer) Replay {
	r.Steps += other.done.Steps
	r.Checks += other.done.Checks
	r.Snapshots += other.done.Snapshots
	r.Skipped += other.done.Skipped
	return r
}

// Replayer gives a machine for each group what was recorded, and compares what it does.
type Replayer struct {
	program *process.Program
	head    *Head
	groups  map[string]*replayed
	done    Replay
}

// replayed is a group that is replayed.
type replayed struct {
	machine    *process.Machine
	members    []uint64
	priorities []uint16
	parameters map[string]string
	size       int // of the machine's network
	choices    []Choice
	wrong      string // about the choices of a step
}

// NewReplayer returns a replayer for the segments of one life.
func NewReplayer(p *process.Program, h *Head) (*Replayer, error) {
	if h.Schema != SchemaOf(p) {
		return nil, fmt.Errorf("%w: it ran %s in the program %q", ErrMachine, h.Algorithm, h.Program)
	}
	return &Replayer{program: p, head: h, groups: map[string]*replayed{}}, nil
}

// Done returns what was replayed so far.
func (r *Replayer) Done() Replay { return r.done }

// Forget forgets all states, since entries are missing. The next snapshot of each group is where it goes on.
func (r *Replayer) Forget() { clear(r.groups) }

// AppendState appends the encoding of the state of a group at a time; nothing if it is not known.
func (r *Replayer) AppendState(dst []byte, group string, ticks uint64) []byte {
	if g := r.groups[group]; g != nil {
		return g.machine.AppendState(dst, election.Units(ticks))
	}
	return dst
}

// Plain returns a message that the machine of a group has received as processes with the same identifiers send it: without names.
func (r *Replayer) Plain(group string, message []byte) ([]byte, error) {
	g := r.groups[group]
	if g == nil {
		return nil, errors.New("the machine is not known")
	}
	return g.machine.Plain(message)
}

// Take takes the next entry. The error is a [Difference].
func (r *Replayer) Take(e *Entry) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			_, how := process.Blame(fault)
			err = &Difference{e, "the machine " + how}
		}
	}()
	what := ""
	switch body := e.Body.(type) {
	case *Gap:
		r.Forget()
	case *Group: // it has a new machine
		delete(r.groups, e.Group)
	case *Snapshot:
		what = r.snapshot(e.Group, body)
	case *Members:
		if g := r.groups[e.Group]; g != nil {
			what = g.enlarge(r.program, body)
		}
	case *Step:
		g := r.groups[e.Group]
		if g == nil {
			r.done.Skipped++
			return nil
		}
		what = r.step(g, body)
	}
	if what != "" {
		return &Difference{e, what}
	}
	return nil
}

// mostMembers is more than a member knows.
const mostMembers = 1 << 10

// snapshot compares a state with the one that the machine has, or begins from it.
func (r *Replayer) snapshot(group string, s *Snapshot) (what string) {
	if g := r.groups[group]; g != nil && slices.Equal(g.members, s.Members) {
		if state := g.machine.AppendState(nil, election.Units(s.Ticks)); !bytes.Equal(state, s.State) {
			return fmt.Sprintf("the state has another byte %d of %d than that of the machine", firstDifference(state, s.State), len(s.State))
		}
		r.done.Snapshots++
		return ""
	}
	g := &replayed{members: s.Members, priorities: s.Priorities, parameters: s.Parameters, size: len(s.Members)}
	if s.Position < 0 || s.Position >= len(s.Members) || len(s.Members) > mostMembers {
		return fmt.Sprintf("a snapshot has the position %d of %d members", s.Position, len(s.Members))
	}
	instance, err := g.instance(r.program)
	if err != nil {
		return fmt.Sprintf("the setup of a snapshot: %v", err)
	}
	g.machine = r.program.NewMachine(instance, s.Position, g.choose, names{g, r.program})
	if err := g.machine.Resume(s.State, election.Units(s.Ticks)); err != nil {
		return fmt.Sprintf("the state of a snapshot: %v", err)
	}
	r.groups[group] = g
	return ""
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// instance returns the instance of the algorithm for the members that are known.
func (g *replayed) instance(p *process.Program) (*network.Instance, error) {
	setup := network.Setup{Parameters: g.parameters}
	ranks := election.List{}
	for i := range g.members {
		ranks = append(ranks, uint64(i+1))
	}
	setup.IDs = ranks
	if g.priorities != nil {
		setup.Priorities = slices.Clone(g.priorities)
		for len(setup.Priorities) < len(g.members) {
			setup.Priorities = append(setup.Priorities, 1)
		}
	}
	return network.Prepare(p.Declaration, setup)
}

// enlarge lets the machine know of members, unless a message has done that already.
func (g *replayed) enlarge(p *process.Program, m *Members) (what string) {
	if len(m.Members) < len(g.members) || !slices.Equal(m.Members[:len(g.members)], g.members) || len(m.Members) > mostMembers {
		return fmt.Sprintf("the members %v are not those of the machine, %v, and some more", m.Members, g.members)
	}
	g.members, g.priorities, g.parameters = m.Members, m.Priorities, m.Parameters
	return g.fit(p)
}

// fit gives the machine a network for all members that are known.
func (g *replayed) fit(p *process.Program) (what string) {
	if len(g.members) == g.size {
		return ""
	}
	instance, err := g.instance(p)
	if err != nil {
		return fmt.Sprintf("the setup of more members: %v", err)
	}
	g.machine.Enlarge(instance)
	g.size = len(g.members)
	return ""
}

// names relates ranks to the identifiers of a group that is replayed.
type names struct {
	*replayed
	program *process.Program
}

// Name implements [process.Names].
func (n names) Name(id election.ID) uint64 {
	if i := int(id) - 1; i >= 0 && i < len(n.members) {
		return n.members[i]
	}
	return 0
}

// ID implements [process.Names]. A member that was not known becomes known, as at the member that is replayed.
func (n names) ID(name uint64) (election.ID, error) {
	if i := slices.Index(n.members, name); i >= 0 {
		return election.ID(i + 1), nil
	}
	if len(n.members) >= mostMembers {
		return 0, errors.New("too many members")
	}
	n.members = append(slices.Clone(n.members), name)
	n.replayed.members = n.members
	if parameters := n.parameters; parameters["standby"] != "" { // it has no vote at first
		n.replayed.parameters = oneMoreOnStandby(parameters)
	}
	if what := n.fit(n.program); what != "" {
		return 0, errors.New(what)
	}
	return election.ID(len(n.members)), nil
}

// choose returns the recorded choices of a step, one after the other.
func (g *replayed) choose(n uint32) uint32 {
	if len(g.choices) == 0 {
		g.wrong = fmt.Sprintf("the machine chooses among %d, and no choice is recorded", n)
		return 0
	}
	c := g.choices[0]
	if g.choices = g.choices[1:]; c.Among != n || c.Value >= n {
		g.wrong = fmt.Sprintf("the machine chooses among %d; recorded is %d among %d", n, c.Value, c.Among)
		return 0
	}
	return c.Value
}

// step makes a step again.
func (r *Replayer) step(g *replayed, s *Step) (what string) {
	g.choices, g.wrong = s.Choices, ""
	if what := g.possible(r.program, &s.Input); what != "" {
		return what
	}
	out, err := g.machine.Step(s.Input, election.Units(s.Ticks))
	switch {
	case err != nil:
		return fmt.Sprintf("the message of the step: %v", err)
	case g.wrong != "":
		return g.wrong
	case len(g.choices) > 0:
		return "the machine does not make " + amount.Of(len(g.choices), "choice") + " that the record has"
	case len(out.Sent) != len(s.Sent):
		return fmt.Sprintf("the record has %s; the machine sends %d", amount.Of(len(s.Sent), "sent message"), len(out.Sent))
	case len(out.Other) != len(s.Effects):
		return fmt.Sprintf("the record has %s beside messages; the machine has %d", amount.Of(len(s.Effects), "effect"), len(out.Other))
	}
	for i := range out.Sent {
		f, m := &out.Sent[i], &s.Sent[i]
		switch payload := f.Frame[framing.HeadSize:]; {
		case f.Port != m.Port || f.Kind != m.Kind || f.Phase != m.Phase:
			return fmt.Sprintf("message %d is recorded as one of kind %d on port %d; the machine sends one of kind %d on port %d", i+1, m.Kind, m.Port, f.Kind, f.Port)
		case !bytes.Equal(payload, m.Payload):
			return fmt.Sprintf("message %d, %s on port %d, differs from byte %d on", i+1, r.program.Kinds[f.Kind].Name, f.Port, firstDifference(payload, m.Payload))
		}
	}
	for i, e := range out.Other {
		if e != s.Effects[i] {
			return fmt.Sprintf("effect %d is recorded as %+v; the machine has %+v", i+1, s.Effects[i], e)
		}
	}
	r.done.Steps++
	if s.Checked {
		r.done.Checks++
		if CheckOf(g.machine.AppendState(nil, election.Units(s.Ticks))) != s.Check {
			return "the state after the step is not that which is recorded"
		}
	}
	return ""
}

// possible returns what is wrong with an input that no host gives to a machine.
func (g *replayed) possible(p *process.Program, in *process.Input) (what string) {
	switch {
	case in.What > process.Commanded:
		return fmt.Sprintf("an event %d is recorded, which does not exist", in.What)
	case in.What == process.Received && int(in.Kind) >= len(p.Kinds):
		return fmt.Sprintf("a message of kind %d is recorded, which does not exist", in.Kind)
	case in.What == process.Expired && int(in.Timer) >= len(p.Timers):
		return fmt.Sprintf("a timer %d is recorded, which does not exist", in.Timer)
	case int(in.Port) >= g.size && (in.What == process.Received || in.What == process.Suspected || in.What == process.Trusted):
		return fmt.Sprintf("port %d is recorded, and the machine has %d", in.Port, g.size)
	}
	return ""
}

// oneMoreOnStandby returns the parameters for one more member that does not vote at first.
func oneMoreOnStandby(parameters map[string]string) map[string]string {
	more := maps.Clone(parameters)
	if n, err := strconv.Atoi(parameters["standby"]); err == nil {
		more["standby"] = strconv.Itoa(n + 1)
	}
	return more
}
