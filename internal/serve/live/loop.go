package live

import (
	"container/heap"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"runtime/debug"
	"slices"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/book"
	"ringleader.example/ringleader/internal/serve/delays"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport"
)

// loop owns all mutable state. Its methods run in one goroutine.
type loop struct {
	member *Member
	groups []*group
	byKey  map[key]*group

	selfDial transport.Outgoing // dials our own address until it has reached us; nil if that is certain
	reached  bool               // our own address leads to us
	problem  string             // if not
	started  bool
	beatAt   time.Duration // when the next heartbeat is due
	startBy  time.Duration // the end of the wait for the first connections
	proven   []*peer       // dead lives of these are to be made known to the others

	leads int // how many groups this member leads

	due   due      // the groups by when they have something to do
	ready []*group // those with inputs that wait

	dirty   []*group      // what of these is to become durable
	after   []func()      // what waits until the member's record is durable
	saving  *saving       // what is becoming durable; nil: nothing
	retryAt time.Duration // when a save that has failed is tried again; Never: none has
	saver   chan []storage.Record

	book  *book.Keeper
	merge Merge // of the last list that the host has given; nil: the book is not used

	awaited *Listing // the list of members that waits; nil: none does
	awaits  uint64   // the voter that it lacks
	revoted bool     // voters have changed since

	joining  []joined // groups that are to be joined
	quitting int      // how many are to be left
	delays   *delays.Watch
	looked   time.Duration // when the loop read its clock last
	standstills
}

// awaits reports whether the last step of a group that is being saved waits for that, and not for the next flush, or for none.
func (g *group) awaits() bool { return g.pending != nil && !g.dirty }

// saving is a set of records that become durable together.
type saving struct {
	records []storage.Record
	groups  []*group
	after   []func()
	begun   time.Duration
	failed  bool // at least once
}

// The events of this package.
type (
	commanded struct {
		group   *Group
		command election.Command
		because view.Because // if it may end a tenure
	}
	saved   struct{ err error }
	leaving struct{ group *Group }
	joined  struct {
		config GroupConfig
		answer chan<- joinedAnswer
	}
	joinedAnswer struct {
		group *Group
		err   error
	}
)

// firstConnections is how long a member waits, before it starts, for members that are not connected with it. They may
// start at the same time, and a member that begins without them elects itself.
const firstConnections = 100 * time.Millisecond

// live runs the life of a member.
func (l *loop) live() {
	l.startBy, l.beatAt = l.member.now()+firstConnections, l.member.now()+l.member.config.Heartbeat
	for i, p := range l.member.peers {
		if p != nil && !l.member.members[i].Unlisted {
			p.out = l.member.transport.Dial(p.position, 0)
		}
	}
	if !l.reached {
		l.selfDial = l.member.transport.Dial(l.member.position, 0)
	}
	l.saver = make(chan []storage.Record)
	savers := make(chan struct{})
	go func() {
		defer close(savers)
		for records := range l.saver {
			err := l.member.Disks.Save(records...)
			l.member.post(saved{err})
		}
	}()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		l.member.Disks.Watch(l.member.ctx)
	}()
	l.member.transport.Serve()
	l.member.log.Info("listening", "address", l.member.transport.Address(), "incarnation", l.member.incarnation, "recovering", l.recovers())
	err := l.run()
	if l.member.config.Pulse != nil {
		l.member.config.Pulse.Close()
		l.member.config.Pulse = nil
	}
	l.member.cancel()
	for _, g := range l.groups {
		g.decision = network.Decision{Term: g.decision.Term}
		g.lease, g.because = process.Never, view.Because{Cause: view.Stopped}
		g.show() // it stops leading before the others hear of that
	}
	l.member.transport.Close()
	close(l.saver)
	abandoned, closed := l.member.Disks.Close(savers, watched)
	l.member.abandoned, l.member.err = abandoned, errors.Join(err, closed)
	for p := range l.member.others() {
		p.health, p.problem, p.difference, p.groups = unknown, "", "", nil
	}
	l.showAll()
	if err != nil {
		l.member.log.Error(view.EndedByError, "error", err)
	}
	l.member.recorder.Close(err)
	close(l.member.done)
	for _, g := range l.groups {
		close(g.handle.done)
	}
}

func (l *loop) recovers() bool {
	return slices.ContainsFunc(l.groups, func(g *group) bool { return g.recover })
}

// run ends with the life of the member, or with a failure, such as a panic in a step.
func (l *loop) run() (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			l.member.log.Error("panic", "fault", fault, "stack", string(debug.Stack()))
			err = fmt.Errorf("%w: %v", ErrPanic, fault)
		}
	}()
	alarm := l.member.clock.NewTimer()
	defer alarm.Stop()
	for l.member.ctx.Err() == nil {
		l.beat()
		l.leave()
		if err := l.join(); err != nil {
			return err
		}
		if err := l.retryList(); err != nil {
			return err
		}
		// Timers that expired before an event go first, so that a late step knows of them.
		if err := l.expire(); err != nil {
			return err
		}
		more, err := l.proceed()
		if err != nil {
			return err
		}
		l.flush()
		if more {
			continue
		}
		wait := l.next()
		now := l.member.now()
		l.look(now, 0)
		due := now + max(0, wait)
		alarm.Reset(wait)
		select {
		case <-l.member.ctx.Done():
		case <-alarm.C():
			l.resume(due)
		case event := <-l.member.inbox:
			l.resume(due)
			if err := l.expire(); err != nil { // it may have waited for long
				return err
			}
			if err := l.handle(event); err != nil {
				return err
			}
		}
	}
	return nil
}

// join joins groups. They read their records, so nothing may be written meanwhile.
func (l *loop) join() error {
	if l.saving != nil || len(l.joining) == 0 {
		return nil
	}
	all := l.joining
	l.joining = nil
	for _, j := range all {
		g, err := l.newGroup(j.config)
		if err == nil && l.byKey[g.handle.key] != nil {
			err = fmt.Errorf("%w: %q", ErrJoined, j.config.Group)
		}
		if err != nil {
			j.answer <- joinedAnswer{err: err}
			continue
		}
		l.add(g)
		j.answer <- joinedAnswer{group: g.handle}
		for p := range l.member.others() {
			g.announce(p)
		}
		if l.started {
			if err := g.start(); err != nil {
				return err
			}
		}
	}
	return nil
}

// add makes a group known to the loop.
func (l *loop) add(g *group) {
	l.groups = append(l.groups, g)
	l.byKey[g.handle.key] = g
	g.recordLimits()
}

// proceed lets each group whose state is durable take one event that waits. It reports whether there was any.
func (l *loop) proceed() (more bool, err error) {
	ready := l.ready
	l.ready = nil
	for _, g := range ready {
		g.queued = false
		if g.pending != nil || len(g.waiting) == 0 {
			continue
		}
		more = true
		if err := g.proceed(); err != nil {
			return more, err
		}
	}
	return more, nil
}

// flush begins to make durable what is to become so, all of it together, unless that is going on.
func (l *loop) flush() {
	if l.saving != nil {
		if l.member.now() >= l.retryAt {
			l.retryAt = process.Never
			l.saver <- l.saving.records
		}
		return
	}
	if len(l.dirty) == 0 && len(l.after) == 0 {
		return
	}
	s := &saving{groups: l.dirty, after: l.after, begun: l.member.now()}
	if len(l.after) > 0 {
		s.records = append(l.member.book.Changed(), l.member.record.Encode())
	}
	for _, g := range l.dirty {
		s.records = append(s.records, g.durable())
	}
	l.dirty, l.after, l.saving = nil, nil, s
	l.saver <- s.records
}

// retry is the pause after which a write that failed is tried again. Until it succeeds, the steps that need it have no
// effect: the member gives no answer.
const retry = 100 * time.Millisecond

// saved takes the end of a flush. After a failed flush nothing is known about what is durable, so the member ends.
func (l *loop) saved(err error) error {
	s := l.saving
	l.recordFlush(s, err)
	switch {
	case errors.Is(err, storage.ErrFlush):
		return err
	case err != nil:
		if !s.failed {
			l.member.log.Error("the state of the member cannot be written; it gives no answer until that succeeds", "error", err)
		}
		l.member.counts.add(func(c *view.Counts) { c.FailedSaves++ })
		s.failed, l.retryAt = true, l.member.now()+retry
		return nil
	case s.failed:
		l.member.log.Info("the state of the member can be written again", "after", l.member.now()-s.begun)
	}
	l.saving = nil
	took := l.member.now() - s.begun
	l.member.counts.add(func(c *view.Counts) { c.Saves.Add(took) })
	for _, f := range s.after {
		f()
	}
	for _, g := range s.groups {
		if !g.awaits() {
			continue
		}
		g.episode.Flushed(took, l.member.now())
		if err := g.apply(); err != nil {
			return err
		}
	}
	return nil
}

// clocks returns the readings of both clocks.
func (m *Member) clocks() process.Now { return process.Now{Timers: m.now(), Deadlines: m.boot()} }

// beat shows that the loop runs: to who watches it, to callers in this process, and at each heartbeat to the other members.
func (l *loop) beat() {
	l.pulse()
	now := l.member.now()
	l.look(now, 0)
	l.member.turn.Store(int64(now))
	if now < l.beatAt {
		return
	}
	l.beatAt = now + l.member.config.Heartbeat
	l.seek(now)
	for _, p := range l.proven {
		l.passOn(p, len(l.member.peers))
	}
	l.proven = nil
	for _, g := range l.groups {
		g.look(now)
	}
	for p := range l.member.others() {
		if p.out == nil {
			continue
		}
		l.stays(p, now)
		quiet := l.quiet(p)
		if quiet && p.quiet && now < p.beatAt {
			continue
		}
		p.out.Beat(quiet)
		p.quiet, p.beatAt = quiet, now+l.member.config.Suspicion-l.member.config.Heartbeat/2
	}
}

// quiet reports whether few heartbeats to a peer are enough: neither of the two leads, and both have a leader. A large group has few other links. The
// end of a member that does not lead changes nothing but what the status of the others shows.
func (l *loop) quiet(p *peer) bool {
	for _, g := range l.groups {
		if !g.handle.leased || g.decision.Role != network.Follower || g.decision.Leader == election.ID(p.position+1) {
			return false
		}
	}
	return true
}

// next returns the time until beat, flush or expire are due.
func (l *loop) next() time.Duration {
	now := l.member.now()
	at := l.beatAt
	if !l.started && now < l.startBy { // after that, the awaited event comes by the inbox
		at = l.startBy
	}
	if len(l.due) > 0 {
		at = min(at, l.due[0].at)
	}
	wait := min(at, l.retryAt) - now
	if l.leads > 0 && l.member.config.Pulse != nil {
		wait = min(wait, l.betweenPulses())
	}
	return wait
}

// expire starts the algorithm when that is due, and fires expired timers.
func (l *loop) expire() error {
	if !l.started && l.mayStart() {
		if err := l.start(); err != nil {
			return err
		}
	}
	var due []*group
	for now := l.member.now(); len(l.due) > 0 && l.due[0].at <= now; {
		late := now - l.due[0].at
		l.member.counts.add(func(c *view.Counts) { c.Lateness.Add(late) })
		due = append(due, heap.Pop(&l.due).(*group))
	}
	for _, g := range due { // each once: timers that expire again and again must not starve messages
		if err := g.expire(); err != nil {
			return err
		}
		g.reschedule()
	}
	return nil
}

// resume notices that the loop wakes later than it was due. If the machine was suspended, the clock of deadlines has advanced more than
// that of timers, so deadlines come earlier than was thought. A pause of the process between the two readings makes the difference
// smaller, and the next look finds the rest.
func (l *loop) resume(due time.Duration) {
	boot := l.member.boot() // before the other clock
	now := l.member.now()
	l.look(now, due)
	l.delays.Woke(now, now-due)
	suspended := boot - now
	if suspended-l.suspended < leastSuspension {
		return
	}
	l.member.log.Warn("the machine was suspended", "for", suspended-l.suspended)
	l.member.recorder.Entry("", &record.Suspended{For: suspended - l.suspended})
	l.suspended = suspended
	for _, g := range l.groups {
		g.reschedule()
	}
}

// look notes for how long the loop has stood still: since it was due, or since its last look. It waits between two looks only until it is due.
func (l *loop) look(now, due time.Duration) {
	if late := now - max(l.looked, due); l.looked != 0 && late >= leastSuspension {
		l.delayed += late
		l.member.recorder.Entry("", &record.Late{By: late})
	}
	l.looked = now
}

// leastSuspension is more than what passes between the readings of two clocks. A shorter suspension, or delay, makes a timer late by as much.
const leastSuspension = 5 * time.Millisecond

// due are groups by the time at which they have something to do, as package heap wants them.
type due []*group

func (d due) Len() int           { return len(d) }
func (d due) Less(i, j int) bool { return d[i].at < d[j].at }
func (d due) Swap(i, j int)      { d[i], d[j] = d[j], d[i]; d[i].index, d[j].index = i, j }
func (d *due) Push(g any)        { g.(*group).index = len(*d); *d = append(*d, g.(*group)) }

func (d *due) Pop() any {
	last := len(*d) - 1
	g := (*d)[last]
	g.index, *d = -1, (*d)[:last]
	return g
}

// mayStart reports whether all members are connected, so that the first messages reach them; the wait is short,
// because some may have crashed. A member must not start if it cannot be reached, or if others take it for a second
// process with one identifier: it would lead beside the first.
func (l *loop) mayStart() bool {
	late := l.member.now() >= l.startBy
	for p := range l.member.others() {
		if p.out != nil && (p.duplicate || !p.connected && p.next == nil && !late) {
			return false
		}
	}
	return l.reached
}

func (l *loop) start() error {
	l.started = true
	for _, g := range l.groups {
		if err := g.start(); err != nil {
			return err
		}
	}
	for p := range l.member.others() {
		if err := l.admit(p); err != nil {
			return err
		}
	}
	return nil
}

func (l *loop) handle(event any) error {
	switch e := event.(type) {
	case transport.Asked:
		l.asked(e)
	case transport.Arrived:
		return l.arrived(e.In)
	case transport.Message:
		e.In.Taken()
		return l.message(e)
	case transport.Told:
		if p := l.member.peers[e.Out.Peer()]; p != nil && e.Out == p.out {
			return l.frame(p, e.Kind, e.Payload)
		}
	case transport.Ended:
		return l.ended(e)
	case transport.Dialed:
		return l.dialed(e)
	case transport.Broken:
		if p := l.member.peers[e.Out.Peer()]; p != nil && e.Out == p.out {
			l.member.log.Debug("connection to a member broke", "peer", p.id, "error", e.Err)
			return l.disconnect(p, "messages to it were lost: "+e.Err.Error())
		}
	case transport.Met:
		return l.meet(e)
	case transport.Died:
		taken, err := l.died(e.Proof)
		e.Taken <- taken
		return err
	case saved:
		return l.saved(e.err)
	case transport.Failed:
		return e.Err
	default:
		return l.obey(event)
	}
	return nil
}

// obey handles what the host asks for.
func (l *loop) obey(event any) error {
	switch e := event.(type) {
	case commanded:
		if g := l.byKey[e.group.key]; g != nil && g.handle == e.group && g.started {
			g.wanted = e.because
			return g.take(process.Input{What: process.Commanded, Command: e.command})
		}
	case publishing:
		l.published(e)
	case standsFor:
		return l.stand(e)
	case listing:
		err := l.relist(&e.Listing)
		e.answer <- err
		return fatal(err)
	case amending:
		return l.amend(e)
	case leaving:
		if g := l.byKey[e.group.key]; g != nil && g.handle == e.group && !g.quits {
			g.quits = true
			l.quitting++
		}
	case joined:
		l.joining = append(l.joining, e)
	}
	return nil
}

// showAll publishes the state of all groups.
func (l *loop) showAll() {
	for _, g := range l.groups {
		g.show()
	}
}

// newIncarnation returns the wall clock in nanoseconds, random in the last millisecond: two processes that are
// started together by mistake differ.
func newIncarnation() uint64 { return uint64(time.Now().UnixNano())>>20<<20 | below(1<<20) }

// choose returns one of 0 .. n-1, each with the same probability.
func choose(n uint32) uint32 { return uint32(below(uint64(n))) }

// below returns one of 0 .. n-1, each with the same probability, from the system's source of random numbers.
func below(n uint64) uint64 {
	i, err := rand.Int(rand.Reader, new(big.Int).SetUint64(n))
	if err != nil {
		panic(err) // the system's source never fails
	}
	return i.Uint64()
}
