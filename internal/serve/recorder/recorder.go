package live

import (
	"fmt"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/framing"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/network"
)

// recorder writes what a member is given and does. Nil records nothing. Its methods belong to the loop, but for disk.
type recorder struct {
	member  *Member
	writer  *record.Writer
	changes *record.Writer // of the second record; nil: there is none
	values  bool           // that leaders publish
	state   []byte         // room for an encoded state
	step    record.Step    // likewise
	dialed  map[*peer]string
}

// Recording is where the record of a member goes.
type Recording struct {
	Sink           record.Sink
	Options        record.Options
	Changes        record.Sink // of changes of the leader alone; optional
	ChangesOptions record.Options
	Boot           string  // names this start of the operating system; optional
	Program        string  // the version of the program; optional
	Drift          float64 // by which part the clocks of members may be wrong
	Values         bool    // published values are recorded, too
}

// leastUnchecked is that one of so many steps that are as predicted has a check of the state, or one of as many as there are members, since its
// length grows with these, as their number of answers does. A check costs as much as all else of such a step.
const leastUnchecked = 8

// newRecorder begins the record of a member, if it is to have one.
func newRecorder(m *Member) *recorder {
	c := m.config.Record
	if c == nil {
		return nil
	}
	r := &recorder{member: m, values: c.Values, dialed: map[*peer]string{}}
	wall := time.Now().UnixNano()
	begun := record.Clocks{Monotonic: m.begun, Boottime: m.begunBoot}
	schema := record.SchemaOf(m.program)
	head := func() record.Head {
		h := record.Head{
			Group: m.config.Group, Member: m.config.ID, Incarnation: m.incarnation, Wall: wall, Begun: begun, Boot: c.Boot, Program: c.Program, Drift: c.Drift,
			Algorithm: m.program.Name, Schema: schema, Members: identifiers(m.members), Unit: m.config.Unit, Heartbeat: m.config.Heartbeat,
			Suspicion: m.config.Suspicion, Stall: m.config.Stall, Hang: m.config.Hang, Entitled: m.config.Entitled, Shortest: m.config.entitledAtLeast(), Every: max(leastUnchecked, len(m.members)),
		}
		if m.record.Store != [16]byte{} {
			h.Store = fmt.Sprintf("%x", m.record.Store)
		}
		return h
	}
	options := c.Options
	options.Stopped = func(err error) {
		m.log.Error("the record of this member stops; the member goes on", "error", err)
	}
	r.writer = record.NewWriter(c.Sink, head, options)
	if c.Changes != nil {
		c.ChangesOptions.Stopped = options.Stopped
		r.changes = record.NewWriter(c.Changes, func() record.Head {
			h := head()
			h.Changes = true
			return h
		}, c.ChangesOptions)
	}
	return r
}

// readings returns the readings of both clocks.
func (m *Member) readings() record.Clocks {
	return record.Clocks{Monotonic: m.now(), Boottime: m.boot()}
}

// add records an entry about a group, or about the member: then the name is empty.
func (r *recorder) add(group string, body record.Body) {
	r.writer.Add(r.member.readings(), group, body)
}

// start records the start of this life.
func (r *recorder) start(recovering bool) {
	if r != nil {
		r.add("", &record.Start{Recovering: recovering})
	}
}

// close ends the record.
func (r *recorder) close(err error) {
	if r == nil {
		return
	}
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	r.add("", &record.End{Reason: reason})
	r.writer.Close(lastRecord)
	if r.changes != nil {
		r.changes.Close(lastRecord)
	}
}

// lastRecord is how long the end of a member waits for its record.
const lastRecord = time.Second

// recordState records the state of a group, if its next step needs it, and what members it has, if that has changed.
func (g *group) recordState(ticks time.Duration) {
	r := g.member.recorder
	if r == nil {
		return
	}
	g.choices = g.choices[:0]
	switch first := r.writer.Wants(g.handle.name); {
	case first:
		setup := g.setup()
		r.state = g.machine.AppendState(r.state[:0], election.Units(uint64(ticks)))
		r.add(g.handle.name, &record.Snapshot{
			Members: identifiers(g.member.members), Position: g.member.position, Priorities: setup.Priorities, Parameters: setup.Parameters,
			Ticks: uint64(ticks), State: r.state, Decision: decisionOf(g),
		})
	case g.recorded != g.instance:
		setup := g.setup()
		r.add(g.handle.name, &record.Members{Members: identifiers(g.member.members), Priorities: setup.Priorities, Parameters: setup.Parameters})
	}
	g.recorded = g.instance
}

// shortState is the length of a state, in bytes, up to which each step has a check of it.
const shortState = 2 << 10

// recordStep records a step.
func (g *group) recordStep(boot, ticks time.Duration, in process.Input, effects *process.Output, durable bool) {
	r := g.member.recorder
	if r == nil {
		return
	}
	s := &r.step
	*s = record.Step{Input: in, Ticks: uint64(ticks), Choices: g.choices, Sent: s.Sent[:0], Effects: effects.Other, Durable: durable}
	for i := range effects.Sent {
		f := &effects.Sent[i]
		dropped := int(f.Port) != g.member.position && g.handle.drops(f.Kind)
		s.Sent = append(s.Sent, record.Message{Port: f.Port, Kind: f.Kind, Phase: f.Phase, Dropped: dropped, Payload: f.Frame[framing.HeadSize:]})
	}
	if len(r.state) <= shortState || r.writer.Checks() {
		if g.checks == nil {
			g.checks = g.checkState
		}
		s.Checks = g.checks
	}
	r.writer.Add(record.Clocks{Monotonic: boot - g.loop.suspended, Boottime: boot}, g.handle.name, s)
}

// checkState returns the check of the state after a step that is recorded now.
func (g *group) checkState() uint8 {
	r := g.member.recorder
	r.state = g.machine.AppendState(r.state[:0], election.Units(r.step.Ticks))
	return record.CheckOf(r.state)
}

// choose makes a random choice of the machine, and notes it for the record.
func (g *group) choose(n uint32) uint32 {
	value := choose(n)
	if g.member.recorder != nil {
		g.choices = append(g.choices, record.Choice{Among: n, Value: value})
	}
	return value
}

// decisionOf returns the decision of a group, and the end of its lease.
func decisionOf(g *group) record.Decision {
	d := record.Decision{Role: g.decision.Role.String(), Leader: g.Name(g.decision.Leader), Term: uint64(g.decision.Term)}
	if g.lease != process.Never {
		d.Until = g.lease
	}
	return d
}

// recordDecision records a decision that differs from the one before.
func (g *group) recordDecision(before network.Decision) {
	if r := g.member.recorder; r != nil && g.decision != before {
		d := decisionOf(g)
		r.add(g.handle.name, &d)
	}
}

// recordChange records a change of the leader.
func (g *group) recordChange(c view.Change) {
	r := g.member.recorder
	if r == nil {
		return
	}
	change := &record.Change{Time: c.Time, From: c.From, To: c.To, Term: uint64(g.decision.Term), Cause: c.Cause.String(), Detail: c.Detail}
	r.add(g.handle.name, change)
	if r.changes != nil {
		change.Since = int64(r.member.incarnation)
		r.changes.Add(r.member.readings(), g.handle.name, change)
	}
}

func (r *recorder) group(g *group) {
	if r != nil {
		r.add(g.handle.name, &record.Group{Limits: g.limits, Entitled: g.handle.entitled})
	}
}

func (r *recorder) flush(s *saving, took time.Duration, err error) {
	if r == nil {
		return
	}
	f := &record.Flush{Took: took, Groups: len(s.groups)}
	for _, one := range s.records {
		f.Bytes += len(one.Data)
	}
	if err != nil {
		f.Error = err.Error()
	}
	r.add("", f)
}

func (r *recorder) lapse(g *group) {
	if r != nil {
		r.add(g.handle.name, &record.Lapse{Until: g.lease})
	}
}

func (r *recorder) voters(g *group) {
	if r != nil {
		v := g.votersNow()
		r.add(g.handle.name, &record.Voters{Term: uint64(v.Term), Version: v.Version, Members: v.Members, Kept: v.Kept})
	}
}

func (r *recorder) connected(p *peer, wrongly bool) {
	if r != nil {
		r.add("", &record.Connected{Peer: p.id, Incarnation: p.incarnation, Wrongly: wrongly})
	}
}

func (r *recorder) lost(p *peer) {
	if r != nil {
		lost := &record.Lost{Peer: p.id, Reason: p.lost}
		if p.heardAt != 0 {
			lost.Silent = r.member.now() - p.heardAt
		}
		r.add("", lost)
	}
}

// dial records the outcome of an attempt to connect, unless it is that of the last one. The texts of two errors may take turns, so only the first of
// those that were told since the last success is recorded.
func (r *recorder) dial(p *peer, news bool) {
	if r == nil || !news && (p.problem != "" || r.dialed[p] == "") {
		return
	}
	r.dialed[p] = p.problem
	r.add("", &record.Dialed{Peer: p.id, Error: p.problem})
}

func (r *recorder) proof(p *peer) {
	if r != nil {
		r.add("", &record.Proof{Peer: p.id, Incarnation: p.dead})
	}
}

func (r *recorder) told(group string, peer uint64, term election.Term, because view.Because) {
	if r != nil {
		r.add(group, &record.Told{Peer: peer, Term: uint64(term), Cause: because.Cause.String(), Detail: because.Detail})
	}
}

func (r *recorder) stands(g *group, peer uint64, s view.Standing) {
	if r != nil {
		r.add(g.handle.name, &record.Standing{Peer: peer, Weight: s.Weight, Unable: s.Unable})
	}
}

// disk records whether the storage works. Any goroutine may call it.
func (r *recorder) disk(problem string, lasts time.Duration) {
	if r != nil {
		r.add("", &record.Disk{Problem: problem, Lasts: lasts})
	}
}

func (r *recorder) late(by time.Duration) {
	if r != nil && by >= leastSuspension {
		r.add("", &record.Late{By: by})
	}
}

func (r *recorder) suspended(by time.Duration) {
	if r != nil {
		r.add("", &record.Suspended{For: by})
	}
}

func (r *recorder) published(g *group, peer uint64, v published) {
	if r == nil {
		return
	}
	p := &record.Published{Peer: peer, Term: uint64(v.term), Length: len(v.text)}
	if r.values {
		p.Value = v.text
	}
	r.add(g.handle.name, p)
}

// note records anything else that is worth it.
func (r *recorder) note(from, text string) {
	if r != nil {
		r.add("", &record.Note{From: from, Text: text})
	}
}

// Note adds a line to the record of this member, if it has one: from is the part of the program that says it.
func (m *Member) Note(from, text string) { m.recorder.note(from, text) }

// Records writes what waits, so that the files of the record have all that has happened.
func (m *Member) Records() {
	if m.recorder != nil {
		m.recorder.writer.Sync()
	}
}
