package live

import (
	"fmt"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/framing"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/book"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/serve/recorder"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/network"
)

// leastUnchecked is that one of so many steps that are as predicted has a check of the state, or one of as many as there are members, since its
// length grows with these, as their number of answers does. A check costs as much as all else of such a step.
const leastUnchecked = 8

// newRecorder begins the record of a member, if it is to have one.
func newRecorder(m *Member) *recorder.Recorder {
	c := m.config.Record
	if c == nil {
		return nil
	}
	wall := recorder.BeganAt(m.boot, time.Now)
	begun := record.Clocks{Monotonic: m.begun, Boottime: m.begunBoot}
	schema := record.SchemaOf(m.program)
	head := func() record.Head {
		h := record.Head{
			Group: m.config.Group, Member: m.config.ID, Incarnation: m.incarnation, Wall: wall, Begun: begun,
			Algorithm: m.program.Name, Schema: schema, Members: book.IDs(m.members), Unit: m.config.Unit, Heartbeat: m.config.Heartbeat,
			Suspicion: m.config.Suspicion, Stall: m.config.Stall, Hang: m.config.Hang, Entitled: m.config.Entitled, Shortest: m.config.entitledAtLeast(), Every: max(leastUnchecked, len(m.members)),
		}
		if m.record.Store != [16]byte{} {
			h.Store = fmt.Sprintf("%x", m.record.Store)
		}
		return h
	}
	return recorder.New(c, m.log, m.readings, head)
}

// readings returns the readings of both clocks.
func (m *Member) readings() record.Clocks {
	return record.Clocks{Monotonic: m.now(), Boottime: m.boot()}
}

// recordState records the state of a group, if its next step needs it, and what members it has, if that has changed.
func (g *group) recordState(ticks time.Duration) {
	r := g.member.recorder
	if r == nil {
		return
	}
	g.choices = g.choices[:0]
	switch first := r.Writer.Wants(g.handle.name, &g.epoch); {
	case first:
		setup := g.setup()
		r.State = g.machine.AppendState(r.State[:0], election.Units(uint64(ticks)))
		r.Entry(g.handle.name, &record.Snapshot{
			Members: book.IDs(g.member.members), Position: g.member.position, Priorities: setup.Priorities, Parameters: setup.Parameters,
			Ticks: uint64(ticks), State: r.State, Decision: decisionOf(g), Voters: recorder.VotersOf(g.votersNow()),
		})
	case g.recorded != g.instance:
		setup := g.setup()
		r.Entry(g.handle.name, &record.Members{Members: book.IDs(g.member.members), Priorities: setup.Priorities, Parameters: setup.Parameters})
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
	s := &r.Step
	*s = record.Step{Input: in, Ticks: uint64(ticks), Choices: g.choices, Sent: s.Sent[:0], Effects: effects.Other, Durable: durable}
	for i := range effects.Sent {
		f := &effects.Sent[i]
		dropped := int(f.Port) != g.member.position && g.handle.drops(f.Kind)
		s.Sent = append(s.Sent, record.Message{Port: f.Port, Kind: f.Kind, Phase: f.Phase, Dropped: dropped, Payload: f.Frame[framing.HeadSize:]})
	}
	if len(r.State) <= shortState || r.Writer.Checks() {
		if g.checks == nil {
			g.checks = g.checkState
		}
		s.Checks = g.checks
	}
	monotonic := min(boot-g.loop.suspended, g.member.now()) // the loop may not know yet that the machine was suspended
	r.Writer.Add(record.Clocks{Monotonic: monotonic, Boottime: boot}, g.handle.name, s)
}

// checkState returns the check of the state after a step that is recorded now.
func (g *group) checkState() uint8 {
	r := g.member.recorder
	r.State = g.machine.AppendState(r.State[:0], election.Units(r.Step.Ticks))
	return record.CheckOf(r.State)
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
		r.Entry(g.handle.name, &d)
	}
}

// recordChange records a change of the leader.
func (g *group) recordChange(c view.Change) {
	g.member.recorder.Change(g.handle.name, g.member.incarnation, &record.Change{
		Time: c.Time, From: c.From, To: c.To, Term: uint64(g.decision.Term), Cause: c.Cause.String(), Detail: c.Detail,
	})
}

// recordLimits records the limits of a group.
func (g *group) recordLimits() {
	g.member.recorder.Entry(g.handle.name, &record.Group{Limits: g.limits, Entitled: g.handle.entitled})
}

// recordFlush records the end of a flush.
func (l *loop) recordFlush(s *saving, err error) {
	f := &record.Flush{Took: l.member.now() - s.begun}
	for _, g := range s.groups {
		if g.awaits() {
			f.Groups++
		}
	}
	for _, one := range s.records {
		f.Bytes += len(one.Data)
	}
	if err != nil {
		f.Error = err.Error()
	}
	l.member.recorder.Entry("", f)
}

// Note appends a line of text to the record of this member, if the member has a record. from names the component that writes the line.
func (m *Member) Note(from, text string) { m.recorder.Entry("", &record.Note{From: from, Text: text}) }

// Records writes what waits, so that the files of the record have all that has happened.
func (m *Member) Records() { m.recorder.Sync() }
