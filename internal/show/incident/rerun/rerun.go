// Package rerun makes what the members of a group have recorded again, in a session of the simulator: so a record becomes a run that can be replayed, drawn,
// and searched for what else could have happened.
package rerun

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// Run is a part of a record as a run of the simulator, in lazy time: live timers are late, and live messages take any time.
type Run struct {
	Group   string
	From    time.Time // when it begins
	Steps   int       // of the members: after each, the state is as recorded, bit by bit
	Term    election.Term
	Options simulate.Options // with which a session begins
	Choices []simulate.Choice
}

// Of makes the part of a record around a change of the leader again. The error wraps [explain.ErrNotJoined], or is a [record.Difference].
func Of(g *explain.Group, change int, p *process.Program) (*Run, error) {
	joined, err := g.Joined(change)
	if err != nil {
		return nil, err
	}
	m := &maker{Joined: joined, program: p, net: len(joined.Members), run: &Run{Group: joined.Group, From: joined.From}}
	if err := m.read(); err != nil {
		return nil, err
	}
	if err := m.match(); err != nil {
		return nil, err
	}
	if err := m.begin(); err != nil {
		return nil, err
	}
	return m.run, m.make()
}

func wrong(format string, args ...any) error {
	return fmt.Errorf("%w: %w", explain.ErrNotJoined, fmt.Errorf(format, args...))
}

// maker makes a run.
type maker struct {
	*explain.Joined
	program *process.Program
	run     *Run
	net     int // members
	facts   []fact
	members []*member // by position
	clocks  []clock   // likewise
	session *simulate.Session

	sends   []send
	sent    map[int][]int    // by entry: the places of what it sends
	queues  map[uint32][]int // by link: the messages under way in the session, by their places in sends
	now     uint64           // the time of the session
	ordinal map[*explain.JoinedLife][]int
}

// fact is what an entry means for the run.
type fact struct {
	*explain.JoinedEntry
	step     *record.Step // nil: none
	position int
	folded   bool   // it is before the start of its life: that start has its effects
	born     bool   // it is that start
	before   []byte // … and the state before it
	after    []byte // the state after the step
	plain    []byte // the message that is received, without names
	message  int    // … its place among the sends; -1: none
}

// send is a message that was sent.
type send struct {
	from, to int
	port     election.Port
	kind     election.Kind
	payload  []byte
	dropped  bool
	sent     int // by the entry with this place
	received int // likewise; -1: by none
}

// member is what is known of a member while its record is read.
type member struct {
	life      *explain.JoinedLife // nil: it has none yet
	ended     bool
	begun     bool // the life has started
	known     bool // the replayer has a state
	last      uint64
	lastAt    time.Duration
	alarms    map[election.Timer]alarm
	decision  network.Decision
	until     uint64
	stopping  bool
	suspects  map[int]bool
	kept      []byte // the last state of the life before
	replayer  *record.Replayer
	parameter map[string]string
	priority  []uint16
}

// clock is that of a member in the session: what it read when, at the last step.
type clock struct{ now, read uint64 }

type alarm struct {
	at       uint64
	deadline bool
}

// read replays all entries.
func (m *maker) read() error {
	for range m.net {
		m.members = append(m.members, &member{})
		m.clocks = append(m.clocks, clock{})
	}
	m.facts = make([]fact, len(m.Entries))
	for i := range m.Entries {
		e := &m.Entries[i]
		f := fact{JoinedEntry: e, position: slices.Index(m.Members, e.Life.Head.Member), message: -1}
		switch unit := e.Life.Head.Unit; {
		case unit <= 0 || unit != m.Entries[0].Life.Head.Unit:
			return wrong("members count time in units of %s and %s", m.Entries[0].Life.Head.Unit, unit)
		case f.position < 0:
			return wrong("member %d is not one of those that others know", e.Life.Head.Member)
		}
		if i == m.Begins {
			if err := m.freeze(); err != nil {
				return err
			}
		}
		if err := m.take(&f, i); err != nil {
			return err
		}
		m.facts[i] = f
	}
	return nil
}

// take replays an entry.
func (m *maker) take(f *fact, at int) (err error) {
	now := m.members[f.position]
	if now.life != f.Life {
		if now.known {
			now.kept = now.replayer.AppendState(nil, m.Group, now.last)
		}
		if err := now.live(m.program, f.Life); err != nil {
			return err
		}
		for _, other := range m.members {
			delete(other.suspects, f.position)
		}
	}
	if err := m.about(f, now, at); err != nil {
		return err
	}
	if err := now.replayer.Take(f.Entry); err != nil {
		return fmt.Errorf("member %d: %w", f.Life.Head.Member, err)
	}
	if f.step != nil {
		f.after = now.replayer.AppendState(nil, m.Group, f.step.Ticks)
		now.apply(f, m.run)
	}
	now.ended = f.Last
	return nil
}

// about notes what an entry means, before it is replayed.
func (m *maker) about(f *fact, now *member, at int) error {
	switch body := f.Body.(type) {
	case *record.Gap:
		now.known = false
		if at >= m.Begins {
			return wrong("a part of the record of member %d is missing there", f.Life.Head.Member)
		}
	case *record.Members:
		if at >= m.Begins || !slices.Equal(body.Members, m.Members) {
			return wrong("members were added meanwhile")
		}
	case *record.Snapshot:
		if !slices.Equal(body.Members, m.Members) {
			return wrong("member %d knows the members %v, and all are %v: members were added", f.Life.Head.Member, body.Members, m.Members)
		}
		if !now.known {
			now.resume(body)
		}
	case *record.Step:
		return m.steps(f, now, body, at)
	}
	return nil
}

// steps notes what a step means, before it is replayed.
func (m *maker) steps(f *fact, now *member, body *record.Step, at int) (err error) {
	if body.Ticks < now.last {
		return wrong("the clock of member %d goes back", f.Life.Head.Member)
	}
	if !now.known {
		if at >= m.Begins {
			return wrong("a part of the record of member %d is missing there", f.Life.Head.Member)
		}
		return nil
	}
	f.step = body
	f.born = !now.begun && (body.Input.What == process.Started || body.Input.What == process.Recovered)
	f.folded = !now.begun && !f.born
	if f.born {
		f.before = now.replayer.AppendState(nil, m.Group, body.Ticks)
		now.begun = true
	}
	if body.Input.What == process.Received {
		if f.plain, err = now.replayer.Plain(m.Group, body.Input.Message); err != nil {
			return fmt.Errorf("member %d: %w", f.Life.Head.Member, err)
		}
	}
	return nil
}

// live begins a life.
func (now *member) live(p *process.Program, life *explain.JoinedLife) error {
	replayer, err := record.NewReplayer(p, &life.Head)
	if err != nil {
		return fmt.Errorf("member %d: %w", life.Head.Member, err)
	}
	*now = member{life: life, begun: !life.Whole, kept: now.kept, replayer: replayer, alarms: map[election.Timer]alarm{}, suspects: map[int]bool{}, parameter: now.parameter, priority: now.priority}
	return nil
}

// resume begins with a snapshot.
func (now *member) resume(s *record.Snapshot) {
	now.known, now.parameter, now.priority, now.last = true, s.Parameters, s.Priorities, s.Ticks
	now.alarms, now.stopping, now.until = map[election.Timer]alarm{}, false, 0
	now.decision = network.Decision{Term: election.Term(s.Decision.Term), Leader: election.ID(slices.Index(s.Members, s.Decision.Leader) + 1)}
	switch s.Decision.Role {
	case network.Leader.String():
		now.decision.Role, now.until = network.Leader, uint64(s.Decision.Until/now.life.Head.Unit)
	case network.Follower.String():
		now.decision.Role = network.Follower
	}
}

// apply notes the effects of a step.
func (now *member) apply(f *fact, run *Run) {
	s := f.step
	now.last, now.lastAt = s.Ticks, f.At
	switch s.Input.What {
	case process.Expired:
		delete(now.alarms, s.Input.Timer)
	case process.Suspected:
		now.suspects[int(s.Input.Port)] = true
	case process.Trusted:
		delete(now.suspects, int(s.Input.Port))
	case process.Commanded:
		now.stopping = now.stopping && s.Input.Command.Order != election.Stopped
	}
	for _, e := range s.Effects {
		switch e.Op {
		case election.SetTimer:
			now.alarms[e.Timer] = alarm{s.Ticks + e.Ticks.Lo, e.Deadline}
		case election.StopTimer:
			delete(now.alarms, e.Timer)
		case election.StopWork:
			now.stopping = true
		case election.Lead:
			now.decision, now.until = network.Decision{Term: e.Term, Leader: election.ID(f.position + 1), Role: network.Leader}, s.Ticks+e.Ticks.Lo
		case election.Follow:
			now.decision = network.Decision{Term: e.Term, Leader: e.ID, Role: network.Follower}
		case election.NoLeader:
			now.decision = network.Decision{}
		}
		run.Term = max(run.Term, e.Term)
	}
	if now.decision.Role != network.Leader && !now.stopping {
		now.until = 0
	}
}

// match finds for each message that is received where it was sent.
func (m *maker) match() error {
	type passage struct {
		from, to int
		kind     election.Kind
		payload  string
	}
	open := map[passage][]int{}
	m.sent = map[int][]int{}
	for i := range m.facts {
		f := &m.facts[i]
		if f.step == nil {
			continue
		}
		if in := &f.step.Input; in.What == process.Received {
			key := passage{slices.Index(m.Members, f.step.Peer), f.position, in.Kind, string(in.Message)}
			if all := open[key]; len(all) > 0 {
				f.message, open[key] = all[0], all[1:]
				m.sends[all[0]].received = i
			} else if i >= m.Begins {
				return wrong("member %d has received a message of member %d that its record does not have", m.Members[f.position], f.step.Peer)
			}
		}
		for _, s := range f.step.Sent {
			to := slices.Index(m.Members, s.Peer)
			if to < 0 {
				return wrong("member %d has sent a message to member %d, which others do not know", m.Members[f.position], s.Peer)
			}
			key := passage{f.position, to, s.Kind, string(s.Payload)}
			open[key] = append(open[key], len(m.sends))
			m.sent[i] = append(m.sent[i], len(m.sends))
			m.sends = append(m.sends, send{f.position, to, s.Port, s.Kind, s.Payload, s.Dropped, i, -1})
		}
	}
	return nil
}

// begin begins the session.
func (m *maker) begin() error {
	o := &m.run.Options
	setup := &o.Setup
	setup.IDs = election.List(m.Members)
	for _, now := range m.members {
		if setup.Parameters == nil && now.parameter != nil {
			setup.Parameters, setup.Priorities = now.parameter, now.priority
		}
	}
	lease, err := strconv.ParseUint(setup.Parameters["lease"], 10, 64)
	if err != nil {
		return wrong("the length of leases is not known")
	}
	o.Pace, o.AnyTime = max(1, lease/paces), true
	moment := o.Moment
	if err := m.states(moment); err != nil {
		return err
	}
	m.queues = map[uint32][]int{}
	for i := range m.sends {
		s := &m.sends[i]
		if s.sent >= m.Begins || s.received < m.Begins {
			continue
		}
		moment.UnderWay = append(moment.UnderWay, trace.Flight{From: s.from, Port: int(s.port), Kind: s.kind, Content: m.facts[s.received].plain})
		m.queues[m.link(i)] = append(m.queues[m.link(i)], i)
	}
	o.Faults.Unordered = m.overtakes()
	m.session, err = simulate.New(m.program).Session(*o)
	if err == nil {
		m.session.Forget()
		err = m.session.BeLazy(faults.Chance{})
	}
	return err
}

// states gives members that start or recover later the states in which they do.
func (m *maker) states(moment *trace.Moment) error {
	for i := m.Begins; i < len(m.facts); i++ {
		f := &m.facts[i]
		if now := &moment.Processes[f.position]; f.born && now.State == nil {
			now.State, now.Life = f.before, f.Life.Head.Incarnation
		}
		if f.step != nil && f.step.Input.What == process.Commanded && f.step.Input.Command.Order == election.Died {
			m.run.Options.Wardens = true
			m.proof(f.step.Input.Command)
		}
	}
	for i := m.Begins; i < len(m.facts); i++ { // of lives that end before they start
		s, is := m.facts[i].Body.(*record.Snapshot)
		if now := &moment.Processes[m.facts[i].position]; is && now.State == nil {
			now.State, now.Life = s.State, m.facts[i].Life.Head.Incarnation
		}
	}
	for q := range moment.Processes {
		if s := &moment.Processes[q]; s.State == nil && s.Crashed {
			return wrong("no record has the state of member %d", m.Members[q])
		}
	}
	return nil
}

// paces is in how many steps a lease passes in lazy time, for those who go on from the run: as the checker's parameters of quorum-bully have it.
const paces = 6

// proof adds a proof of death of before the moment.
func (m *maker) proof(c election.Command) {
	later := slices.ContainsFunc(m.facts[m.Begins:], func(f fact) bool {
		return f.Last && f.position == int(c.Member)-1 && f.Life.Head.Incarnation == c.Number
	})
	d := trace.Death{Member: c.Member, Number: c.Number}
	if moment := m.run.Options.Moment; !later && !slices.Contains(moment.Proofs, d) {
		moment.Proofs = append(moment.Proofs, d)
	}
}

// overtakes reports whether a message has overtaken another one on its link.
func (m *maker) overtakes() bool {
	last := map[[2]int]int{}
	for i := range m.sends {
		s := &m.sends[i]
		if s.received < m.Begins {
			continue
		}
		key := [2]int{s.from, s.to}
		if s.received < last[key] {
			return true
		}
		last[key] = s.received
	}
	return false
}

// make makes all steps.
func (m *maker) make() error {
	m.ordinal = map[*explain.JoinedLife][]int{}
	for i := m.Begins; i < len(m.facts); i++ {
		if f := &m.facts[i]; f.step != nil && !f.folded {
			m.ordinal[f.Life] = append(m.ordinal[f.Life], i)
		}
	}
	for i := m.Begins; i < len(m.facts); i++ {
		f := &m.facts[i]
		if f.step != nil {
			if err := m.step(i, f); err != nil {
				return fmt.Errorf("the step of member %d at %s: %w", m.Members[f.position], f.At, err)
			}
		}
		if f.Last {
			if err := m.end(i, f); err != nil {
				return fmt.Errorf("the end of member %d at %s: %w", m.Members[f.position], f.At, err)
			}
		}
	}
	return nil
}

// choose makes an event of the session.
func (m *maker) choose(c simulate.Choice) error {
	if err := m.session.Step(c); err != nil {
		return wrong("the simulator cannot make it: %w", err)
	}
	m.run.Choices = append(m.run.Choices, c)
	return nil
}

// step makes a step.
func (m *maker) step(i int, f *fact) error {
	if f.folded {
		if f.message >= 0 {
			return m.lose(f.message)
		}
		return nil
	}
	if err := m.pass(i, f); err != nil {
		return err
	}
	c, err := m.choice(i, f)
	if err != nil {
		return err
	}
	if c.Draw, err = draw(f.step.Choices); err != nil {
		return err
	}
	if !m.unheard(&c) {
		if err := m.choose(c); err != nil {
			return err
		}
	}
	m.run.Steps++
	if !bytes.Equal(m.session.Encoding(f.position), f.after) {
		return wrong("the simulator comes to another state than what is recorded")
	}
	for _, k := range m.sent[i] {
		link := m.link(k)
		m.queues[link] = append(m.queues[link], k)
		if m.sends[k].dropped {
			if err := m.lose(k); err != nil {
				return err
			}
		}
	}
	return nil
}

// link returns the link of a message.
func (m *maker) link(message int) uint32 {
	s := &m.sends[message]
	return uint32(s.from*m.net) + uint32(s.port)
}

// draw returns the random choices of a step as a number.
func draw(all []record.Choice) (uint64, error) {
	var draws []trace.Draw
	for _, c := range all {
		draws = append(draws, trace.Draw{Value: c.Value, Among: c.Among})
	}
	number := trace.Drawn(draws)
	if number == 0 && len(all) > 0 {
		return 0, wrong("the step chooses among too much")
	}
	return number, nil
}

// pass lets time pass before a step, up to the step's place on the time line. It stops earlier where a member's clock would pass the reading at its next
// step. The clock of this step's member then gains what it lacks.
func (m *maker) pass(i int, f *fact) error {
	unit := f.Life.Head.Unit
	last := &m.clocks[f.position]
	to := uint64(max(0, f.At/unit))
	for life, all := range m.ordinal {
		for len(all) > 0 && all[0] < i {
			all = all[1:]
		}
		if m.ordinal[life] = all; len(all) == 0 {
			continue
		}
		next := &m.facts[all[0]]
		if c := m.clocks[next.position]; !next.born {
			to = min(to, c.now+next.step.Ticks-c.read)
		}
	}
	if to > m.now {
		if err := m.choose(simulate.Choice{What: simulate.Pass, Time: election.Units(to - m.now)}); err != nil {
			return err
		}
		m.now = to
	}
	if gained := f.step.Ticks - last.read - (m.now - last.now); !f.born && gained > 0 {
		if err := m.choose(simulate.Choice{What: simulate.Gain, Process: f.position, Time: election.Units(gained)}); err != nil {
			return err
		}
	}
	*last = clock{m.now, f.step.Ticks}
	return nil
}
