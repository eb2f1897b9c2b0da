package live

import (
	"bytes"
	"container/heap"
	"encoding/binary"
	"fmt"
	"log/slog"
	"sort"
	"sync"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/framing"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/delays"
	"ringleader.example/ringleader/internal/serve/kept"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport"
)

// Group is the part that a member takes in a group. Its methods may be called at any time, by any goroutine.
type Group struct {
	member *Member
	name   string
	key    key
	leased bool // its leader leads for as long as a lease runs
	log    *slog.Logger

	entitled time.Duration // how long an answered request prolongs a lease, at most
	longest  time.Duration // the length of such a lease
	resumed  chan struct{} // closed when the member goes on with what an earlier life has kept, or if there is nothing
	done     chan struct{} // closed when the member has left the group, or has stopped

	mu      sync.Mutex
	state   view.State
	span    time.Duration       // how long the lease that this member has, or follows, lasts from its request on; 0: that is not known
	until   time.Duration       // when leadership ends by itself, on the clock of deadlines; process.Never: it does not
	changed chan struct{}       // closed when state changes
	working bool                // work of the host runs
	asked   bool                // the work of this tenure is to stop, or has stopped
	round   time.Duration       // when the last Confirm was sent, on the clock of deadlines
	agreed  time.Duration       // until when the grants of those entitle that know of no higher term, on the clock of deadlines
	dispute bool                // too many of those that this member hears from know of one
	longer  chan struct{}       // closed when agreed, dispute or until changes; nil if no Confirm waits for that
	granted []election.Deadline // by rank - 1, of the last step; nil: this member does not lead
	timers  process.Timers
	counts  view.Counts // of this group
	muted   muted
	waits   []string                                     // what an election without a leader waits for
	shown   Shown                                        // where other processes see the lease; nil: nowhere
	told    func(term election.Term, ends time.Duration) // gets each end of the lease: see Renewed
}

// State returns the current state, and a channel that is closed when that has changed. A lease that only grew longer is
// no change.
func (g *Group) State() (view.State, <-chan struct{}) {
	now, boot := time.Now(), g.member.boot() // in this order: a pause between them makes the end early, not late
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.state
	if g.until != process.Never {
		s.Until = now.Add(g.until - boot)
	}
	if s.Role == network.Leader && !g.leads(boot) || g.stalls() {
		s.Role, s.Leader = network.Undecided, 0
		if g.until == 0 {
			s.Since = now // a step has just ended it, and is not shown yet
		} else if g.until != process.Never {
			s.Since = s.Until // it has led until then
		}
	}
	if s.Role == network.Leader && g.granted != nil {
		s.Granted = g.grants(s.Members, boot)
	}
	return s, g.changed
}

// Leads reports whether this member leads at this moment: its lease runs or, without leases, the others do not suspect it.
func (g *Group) Leads() bool {
	boot := g.member.boot()
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.leads(boot)
}

// leads is Leads, with mu held. It is true to the clock even if the loop is blocked.
func (g *Group) leads(boot time.Duration) bool {
	return g.left(g.state.Term, boot) > 0 && !g.stalls()
}

// stalls reports whether what this member knows may be out of date: there are no leases, and its loop has not run for long.
func (g *Group) stalls() bool { return !g.leased && g.member.Stall() > 0 }

// grants returns for how long the grants of members still run.
func (g *Group) grants(members []uint64, boot time.Duration) []time.Duration {
	left := make([]time.Duration, len(members))
	for i, id := range members {
		if rank, known := g.member.Rank(id); known && int(rank) <= len(g.granted) {
			ends := process.Moment(0, g.granted[rank-1].Left(election.Ticks{}), g.member.config.Unit)
			left[i] = max(0, ends-boot)
		}
	}
	return left
}

// Ends returns when the lease of a term ends, as a reading of the member's clock Boottime; [process.Never] if leadership has no
// end by itself. It reads no clock, so the moment may have passed. It reports false if this member does not lead in that term.
func (g *Group) Ends(term election.Term) (ends time.Duration, leads bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.state.Role != network.Leader || g.state.Term != term:
		return 0, false
	case g.until == process.Never:
		return process.Never, true
	}
	return g.member.begunBoot + g.until, true
}

// Left returns how long the lease of a term still runs; 0 if it is over, or belongs to another term. It is
// [process.Never] if leadership has no end by itself.
func (g *Group) Left(term election.Term) time.Duration {
	boot := g.member.boot()
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.left(term, boot)
}

func (g *Group) left(term election.Term, boot time.Duration) time.Duration {
	switch {
	case g.state.Role != network.Leader || g.state.Term != term:
		return 0
	case g.until == process.Never:
		return process.Never
	}
	return max(0, g.until-boot)
}

// Begin notes that the host begins its work as the leader in a term. It reports false if that may not begin any more, or
// if earlier work has not ended. Each Begin that reports true needs an End.
func (g *Group) Begin(term election.Term) bool {
	boot := g.member.boot()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.working || g.asked || g.left(term, boot) == 0 {
		return false
	}
	g.working = true
	return true
}

// End notes that the work has stopped.
func (g *Group) End() {
	g.mu.Lock()
	g.working = false
	asked := g.asked
	g.mu.Unlock()
	if asked {
		g.Command(election.Command{Order: election.Stopped})
	}
}

// Done is closed when the member has left the group, or has stopped.
func (g *Group) Done() <-chan struct{} { return g.done }

// Resumed is closed when the member goes on with what an earlier life has kept, or if there is nothing: [Group.Timer] tells whether it waits.
func (g *Group) Resumed() <-chan struct{} { return g.resumed }

// Command gives a command to the algorithm.
func (g *Group) Command(c election.Command) { g.CommandBecause(c, view.Because{}) }

// CommandBecause gives a command to the algorithm that may end a tenure, for a cause.
func (g *Group) CommandBecause(c election.Command, because view.Because) {
	g.member.post(commanded{g, c, because})
}

// stopWork asks the host to stop its work. It reports whether there is none.
func (g *Group) stopWork() (none bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = true
	return !g.working
}

// publish makes a state visible, with the end of leadership.
func (g *Group) publish(s view.State, until time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.move(until)
	if s.Role == network.Leader && (g.state.Role != network.Leader || g.state.Term != s.Term) {
		g.asked = false
	}
	s.Stopping = g.asked && s.Role == network.Leader
	g.counts.Change(&g.state, &s)
	g.state = s
	g.shows()
	close(g.changed)
	g.changed = make(chan struct{})
}

// extend moves the end of leadership.
func (g *Group) extend(until time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.move(until)
	g.shows()
}

// move sets the end of leadership. Only the loop calls it.
func (g *Group) move(until time.Duration) {
	g.until = until
	g.wake()
}

// wake lets Confirm look again.
func (g *Group) wake() {
	if g.longer != nil {
		close(g.longer)
		g.longer = nil
	}
}

// MaxLimits is the largest length of GroupConfig.Limits, in bytes.
const MaxLimits = transport.MaxOpaque - keySize

// key names a group in a frame: the beginning of the digest of its name.
type key [keySize]byte

const keySize = 8

func keyOf(name string) (k key) {
	digest := transport.DigestOf("%q", name)
	copy(k[:], digest[:])
	return k
}

// most is the number of inputs that may wait while the state of a group becomes durable.
const mostWaiting = 1024

// group is a group as the loop sees it.
type group struct {
	handle     *Group // that the host has
	loop       *loop
	member     *Member // the loop's
	limits     string
	parameters map[string]string
	instance   *network.Instance // for all members that are known
	machine    *process.Machine
	recover    bool // this is not the first life

	started  bool
	timers   process.Timers
	waiting  []process.Input // messages to ourselves, and what came while the state became durable
	decision network.Decision
	lease    time.Duration   // when our leadership ends by itself, on the clock of deadlines
	ended    time.Time       // when our leadership ended; zero: that is shown, or it has not
	durably  bool            // there is durable state
	kept     []byte          // it, as last saved or as it is being saved; nil: in no life yet
	pending  *process.Output // the effects that wait until kept is durable; nil: none
	begun    time.Duration   // when the step of pending began, in whole units

	input    process.Input // of the step of pending, without its message
	ending   *view.Because // why the work of this tenure is to stop; nil: it is not
	wanted   view.Because  // why the host has given its last command
	because  view.Because  // why the leader that show is to show no more is known no more
	episode  delays.Episode
	toldLate time.Duration            // when a late renewal was logged last; 0: never
	renewals map[uint64]time.Duration // by a member that has not answered: when it was asked for a renewal first
	renewed  standstills              // when the lease was renewed last that this member has, or follows

	dirty  bool              // it is in loop.dirty
	reign  kept.Reign        // the leader of the highest term that was led, as far as this member knows
	rivals map[uint64]string // by a leader: what is wrong with its term; none: nothing

	voters election.Membership // as the algorithm has them
	quits  bool                // the host wants to leave it
	leads  bool                // this member leads it, as counted by lead
	value  published

	priorities map[uint64]uint16 // by identifier; nil: the algorithm knows none
	standing   *view.Standing    // of this member, once it has been another one than in the configuration; nil: never

	at     time.Duration // when it has something to do, on the clock of timers
	index  int           // in loop.due; -1: in none
	queued bool          // it is in loop.ready

	recorded *network.Instance // that the record knows
	epoch    uint64            // of the record, in which it has a snapshot
	choices  []record.Choice   // of the step that is made, for the record
	checks   func() uint8      // checkState
}

// newGroup makes a group of which no member has heard, from its record in the storage.
func (l *loop) newGroup(c GroupConfig) (g *group, err error) {
	a := l.member.program
	g = &group{
		handle: &Group{
			member: l.member, name: c.Group, leased: a.Leased, log: l.member.log, until: process.Never,
			state: view.State{Since: time.Now()}, changed: make(chan struct{}), resumed: make(chan struct{}), done: make(chan struct{}),
			entitled: c.Entitled, longest: c.Lease,
		},
		loop: l, member: l.member, limits: c.Limits, parameters: c.Parameters, lease: process.Never, index: -1,
		standing: c.Standing, priorities: c.Priorities,
	}
	if g.instance, err = g.prepare(); err != nil {
		return nil, err
	}
	if c.Group == l.member.config.Group {
		g.handle.shown = l.member.config.Shown
	} else { // it is not the only one
		g.handle.log = l.member.log.With("group", c.Group)
	}
	g.handle.key = keyOf(c.Group)
	g.machine = a.NewMachine(g.instance, l.member.position, g.choose, g)
	if g.durably = a.Plans.Durable != nil && l.member.config.Storage != nil; g.durably {
		if err := g.load(); err != nil {
			return nil, err
		}
	}
	if !g.recover {
		close(g.handle.resumed)
	}
	g.voters = g.machine.Membership()
	g.others(&g.handle.state)
	g.handle.state.Voters = g.votersNow()
	return g, nil
}

// load takes over what an earlier life has kept.
func (g *group) load() error {
	record, err := g.member.config.Storage.Load(kept.GroupPrefix + g.handle.name)
	if err != nil || record == nil {
		return err
	}
	schema, with := g.schema(), g.written()
	var state []byte
	switch {
	case bytes.HasPrefix(record, with[:]) && len(record) >= len(with)+kept.ReignSize:
		state = record[len(with)+kept.ReignSize:]
		g.reign = kept.DecodeReign(record[len(with):])
	case bytes.HasPrefix(record, schema[:]): // of a version that kept no reign
		state = record[len(schema):]
	default:
		return fmt.Errorf("%w: the state that was kept belongs to a group of other members, or to another algorithm", storage.ErrData)
	}
	if err := g.machine.Restore(state); err != nil {
		return fmt.Errorf("%w: what the algorithm kept: %w", storage.ErrData, err)
	}
	g.kept = append([]byte{}, state...)
	g.recover = g.member.program.Functions.Recover
	g.voters = g.machine.Membership()
	return g.knowsVoters()
}

// start starts the algorithm.
func (g *group) start() error {
	g.started = true
	g.elects(true)
	g.logVoters()
	in := process.Input{What: process.Started}
	if g.recover {
		in.What = process.Recovered
	}
	return g.take(in)
}

// take gives an event to the algorithm, now or when its state is durable.
func (g *group) take(in process.Input) error {
	g.answered(in)
	if g.pending != nil || len(g.waiting) > 0 {
		g.wait(in)
		return nil
	}
	return g.step(in)
}

// wait puts an event behind those that wait.
func (g *group) wait(in process.Input) {
	g.waiting = append(g.waiting, in)
	g.queue()
}

// queue lets the loop know that events wait.
func (g *group) queue() {
	if !g.queued && len(g.waiting) > 0 && g.pending == nil {
		g.queued = true
		g.loop.ready = append(g.loop.ready, g)
	}
}

// proceed takes the next event that waits.
func (g *group) proceed() error {
	in := g.waiting[0]
	g.waiting = g.waiting[1:]
	err := g.step(in)
	if in.What == process.Received && int(in.Port) != g.member.position {
		err = g.loop.closeMalformed(g.member.peers[in.Port], err)
	}
	g.queue()
	return err
}

// step gives an event to the algorithm. Its effects follow when its state is durable. An error, except for a malformed
// message, stops the member.
func (g *group) step(in process.Input) error {
	g.loop.pulse() // a member may have thousands of groups
	if err := g.fit(); err != nil {
		return err
	}
	unit, boot := g.member.config.Unit, g.member.boot()
	ticks := boot / unit
	g.recordState(ticks)
	effects, err := g.machine.Step(in, election.Units(uint64(ticks)))
	if err != nil {
		return err
	}
	g.pending, g.begun, g.input = &effects, ticks*unit, in
	g.input.Message = nil
	higher := g.reigns(effects.Other)
	kept := g.machine.Durable()
	waits := g.durably && (g.kept == nil || !bytes.Equal(kept, g.kept))
	g.recordStep(boot, ticks, in, &effects, waits)
	if g.durably && (waits || higher) && !g.dirty {
		g.dirty = true
		g.loop.dirty = append(g.loop.dirty, g)
	}
	if !waits {
		return g.apply()
	}
	g.kept = append([]byte{}, kept...)
	return nil
}

// apply applies the effects of the last step, in the promised order: its state is durable.
func (g *group) apply() error {
	effects, first, lease, changed := g.pending, g.decision, g.lease, false
	g.pending = nil
	if g.decision.Role == network.Leader && effects.EndsLead() {
		g.ended = time.Now()            // and not later: the others may hear of it before it is shown
		if g.lease <= g.member.boot() { // the step came before expire
			g.handle.lapse()
		}
		g.because = g.ownEnd(g.input)
		g.handle.extend(0)
	}
	g.send(effects.Sent)
	g.timers.Apply(effects.Other, g.begun, g.member.now(), g.member.config.Unit)
	for _, e := range effects.Other {
		switch e.Op {
		case election.SetTimer, election.StopTimer:
		case election.StopWork:
			changed = true
			if g.decision.Role == network.Leader {
				g.endedBy(g.input)
			}
			if g.handle.stopWork() {
				g.wait(process.Input{What: process.Commanded, Command: election.Command{Order: election.Stopped}})
			}
		default:
			before := g.decision
			if err := g.decision.Apply(g.member.program.Task, e, g.instance.ID(g.member.position)); err != nil {
				return fmt.Errorf("%s is wrong: %w", g.member.program.Name, err)
			}
			changed = changed || g.decision != before
			g.lease = process.Never
			if e.Op == election.Lead && e.Deadline {
				g.lease = process.Moment(g.begun, e.Ticks, g.member.config.Unit)
			}
		}
	}
	renewed := g.lease != lease
	late := renewed && g.handle.until-g.member.boot() < g.handle.lasts()/2 // less than half of the lease is left
	g.reason(first, renewed, late)
	g.recordDecision(first)
	switch {
	case g.votersChanged(), changed:
		g.show()
	case renewed:
		g.handle.renew(g.lease, late)
	}
	g.queue()
	g.reschedule()
	if g.input.What == process.Recovered {
		close(g.handle.resumed)
	}
	return nil
}

// send sends messages, those to this member itself too, in the order of [Member.others].
func (g *group) send(all []process.Frame) {
	sort.SliceStable(all, func(i, j int) bool { return all[i].Port > all[j].Port })
	for _, s := range all {
		switch {
		case int(s.Port) == g.member.position:
			g.wait(process.Input{What: process.Received, Port: s.Port, Kind: s.Kind, Message: s.Frame[framing.HeadSize:]})
		case !g.handle.drops(s.Kind):
			g.asks(s)
			p, frame := g.member.peers[s.Port], g.frame(s)
			p.send(frame, g.slot(s.Kind))
			g.tell(p, frame)
		}
	}
}

// slot returns the slot for messages of a kind in the queue of a connection: a newer one of some kinds replaces an older
// one that has not left.
func (g *group) slot(kind election.Kind) uint64 {
	if !g.member.program.Kinds[kind].Latest {
		return 0
	}
	return g.handle.key.slot(uint8(kind))
}

// slot returns the slot of frames of a kind in a group.
func (k key) slot(kind uint8) uint64 { return max(1, binary.LittleEndian.Uint64(k[:])+uint64(kind)) }

// expire ends a lease whose deadline has passed, and fires expired timers.
func (g *group) expire() error {
	if g.lease != process.Never && g.lease <= g.member.boot() {
		g.because = g.ownEnd(process.Input{What: process.Expired})
		g.member.recorder.Entry(g.handle.name, &record.Lapse{Until: g.lease})
		g.lease = process.Never
		g.decision = network.Decision{Term: g.decision.Term}
		g.handle.lapse()
		g.show()
	}
	clocks := g.member.clocks()
	for range g.member.program.Timers { // and no more: a timer that is repeatedly set to 0 must not starve messages
		timer, wait := g.timers.Next(clocks)
		if wait > 0 || g.pending != nil {
			break
		}
		g.timers.Stop(timer)
		if err := g.step(process.Input{What: process.Expired, Timer: timer}); err != nil {
			return err
		}
	}
	return nil
}

// reschedule notes when there is something to do: a timer to fire, or a lease to end.
func (g *group) reschedule() {
	clocks, wait := g.member.clocks(), process.Never
	g.handle.mu.Lock()
	g.handle.timers, g.handle.granted = g.timers, g.voters.Granted
	g.handle.mu.Unlock()
	if g.pending == nil {
		_, wait = g.timers.Next(clocks)
	}
	if g.lease != process.Never {
		wait = min(wait, g.lease-clocks.Deadlines)
	}
	switch {
	case wait == process.Never && g.index < 0:
	case wait == process.Never:
		heap.Remove(&g.loop.due, g.index)
	case g.index < 0:
		g.at = clocks.Timers + wait
		heap.Push(&g.loop.due, g)
	default:
		g.at = clocks.Timers + wait
		heap.Fix(&g.loop.due, g.index)
	}
}

// announce tells a peer that this member is in the group, and the limits of that.
func (g *group) announce(p *peer) {
	p.send(transport.AppendFrame(nil, announces, g.handle.key[:], []byte(g.limits)), 0)
}

// frame returns a frame of this group, with its key before the message.
func (g *group) frame(s process.Frame) []byte {
	return framing.Append(nil, uint8(s.Kind), func(dst []byte) []byte {
		return append(append(dst, g.handle.key[:]...), s.Frame[framing.HeadSize:]...)
	})
}
