package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"ringleader.example/ringleader/clock"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/book"
	"ringleader.example/ringleader/internal/serve/delays"
	"ringleader.example/ringleader/internal/serve/disk"
	"ringleader.example/ringleader/internal/serve/kept"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/serve/recorder"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport"
)

// Config determines the member that this process is. All fields are required unless marked optional.
type Config struct {
	ID      uint64
	Members []transport.Member // with this one; see Member.List, too

	Heartbeat time.Duration // the interval of heartbeats on a connection
	Suspicion time.Duration // how long it may be silent; several Heartbeats
	Unit      time.Duration // of the algorithm's time

	Storage   storage.Storage // optional: no state is persistent. The member closes it, also if Join fails
	Logger    *slog.Logger    // optional: nothing is logged
	Transport transport.Open  // optional: TCP, listening at this member's address
	Elsewhere bool            // it listens at another address than that in Members, which may or may not lead to it
	Clock     clock.Clock     // optional: that of the system
	Death     [32]byte        // the hash of the secret that proves the death of this life; optional

	// Stall is how long a use of Storage or of a path may last before it counts as failing; the default is a second.
	Stall time.Duration

	Prober storage.Prober // probes Storage; optional: Storage itself, if it can
	Paths  []disk.Path    // what the work of the host needs

	// Pulse watches that the loop works while this member leads: it may not stand still for Hang. Optional.
	Pulse Pulse
	Hang  time.Duration

	Record *recorder.Config // optional: nothing is recorded
	Shown  Shown            // optional: the lease of the group of GroupConfig, for other processes

	Merge Merge    // joins the address book of the group to Members; optional: there is no book
	Seeds []string // addresses at which other members may be. With them this member needs no other one in Members

	GroupConfig // the group that all members of Members belong to
}

// GroupConfig determines a group of members.
type GroupConfig struct {
	Group      string            // its name; optional
	Parameters map[string]string // of the algorithm; optional
	Priorities map[uint64]uint16 // by identifier; optional: all have priority 1
	Standing   *view.Standing    // of this member, at the beginning; optional: as Priorities have it

	// Entitled is how long an answered request for a lease of the length Lease prolongs it, in whole Units. [Group.Confirm] needs it. A leader may
	// ask for shorter leases, down to Shortest; 0: it does not.
	Entitled, Lease, Shortest time.Duration

	// Limits are the lengths that members of a group should have in common, in words, for example "lease 500ms". They
	// may differ while they are changed at one member after the other. Optional.
	Limits string
}

// entitledAtLeast returns how long an answered request for the shortest lease prolongs it.
func (c *GroupConfig) entitledAtLeast() time.Duration {
	if c.Shortest == 0 {
		return c.Entitled
	}
	return time.Duration(float64(c.Entitled) * float64(c.Shortest) / float64(c.Lease))
}

// ErrPanic reports that a step of the algorithm, or this package's handling of it, panicked.
var ErrPanic = errors.New("panic")

// Member is a member in this process. Its methods may be called at any time, by any goroutine.
type Member struct {
	Group *Group      // of Config
	Disks *disk.Disks // its storage, and the paths

	config      Config
	program     *process.Program
	log         *slog.Logger
	clock       clock.Clock
	incarnation uint64
	timing      transport.Timing
	members     []transport.Member // by position; see sorted
	listed      []uint64           // those in the list, in its order
	ranks       atomic.Pointer[map[uint64]election.ID]
	position    int     // in members
	peers       []*peer // by position; nil at our own
	transport   transport.Transport
	record      kept.Member
	book        book.Book

	ctx    context.Context
	cancel context.CancelFunc
	inbox  chan any // the events of package transport, and those of this package
	done   chan struct{}
	err    error // once done is closed

	abandoned error // likewise: what of the storage was left; nil: nothing

	begun, begunBoot time.Duration      // readings of the clocks
	turn             atomic.Int64       // when the loop ran last, on the monotonic clock since the start
	counts           counts             // of what concerns all groups
	recorder         *recorder.Recorder // nil: nothing is recorded
}

// Join starts a member. It lives until ctx is done, or Close, or a failure: see Err.
func Join[S, M any](ctx context.Context, a election.Algorithm[S, M], c Config) (*Member, error) {
	program, err := process.Of(&a)
	if err != nil {
		return nil, errors.Join(err, disk.Close(c.Storage))
	}
	return JoinProgram(ctx, program, c)
}

// JoinProgram is Join for an algorithm with hidden types.
func JoinProgram(ctx context.Context, a *process.Program, c Config) (*Member, error) {
	m, l, err := prepare(a, c)
	if err != nil {
		return nil, errors.Join(err, disk.Close(c.Storage))
	}
	m.ctx, m.cancel = context.WithCancel(ctx)
	m.transport, err = m.config.Transport(transport.Config{
		Self: m.position, Members: m.members, Name: c.Group, Algorithm: a.Name, Incarnation: m.incarnation,
		Store: m.record.Store, Death: c.Death,
		Group:  transport.GroupOf(c.Group, m.founders(), transport.DigestOf("%s %s %v", a.Name, a.Plans.Message.Schema(), a.Kinds)),
		Timing: m.timing, Log: m.log, Post: m.post,
	})
	if err == nil {
		// Not before it listens: a life that no member can reach does not count.
		if err = m.Disks.Save(append(m.book.Changed(), m.record.Encode())...); err != nil {
			m.transport.Close()
		}
	}
	if err != nil {
		m.cancel()
		return nil, errors.Join(err, disk.Close(c.Storage))
	}
	m.recorder = newRecorder(m)
	m.recorder.Entry("", &record.Start{Recovering: l.recovers()})
	for _, g := range l.groups {
		g.recordLimits()
	}
	go l.live()
	return m, nil
}

// prepare makes a member and its loop, which do not run yet.
func prepare(a *process.Program, c Config) (*Member, *loop, error) {
	if a.Topology != election.Complete {
		return nil, nil, fmt.Errorf("%w %s: it runs on a %s; only a group of known members runs live", network.ErrSetup, a.Name, a.Topology.Phrase(0))
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Transport == nil {
		c.Transport = transport.TCP{}.Open
	}
	if c.Clock == nil {
		c.Clock = clock.System()
	}
	c.Stall = cmp.Or(c.Stall, disk.UsualStall)
	m := &Member{
		config: c, program: a, log: c.Logger.With("member", c.ID), clock: c.Clock,
		begun: c.Clock.Monotonic() - 1, begunBoot: c.Clock.Boottime(),
		inbox: make(chan any, 256), done: make(chan struct{}),
	}
	if !slices.ContainsFunc(c.Members, func(member transport.Member) bool { return member.ID == c.ID }) {
		return nil, nil, fmt.Errorf("%w %s: %d is not among the members", network.ErrSetup, a.Name, c.ID)
	}
	m.Disks = disk.New(disk.Config{
		Storage: c.Storage, Prober: c.Prober, Paths: c.Paths, Stall: c.Stall, Clock: c.Clock, Now: m.now, Logger: m.log,
		Changed: func(problem string, lasts time.Duration) {
			m.recorder.Entry("", &record.Disk{Problem: problem, Lasts: lasts})
		},
	})
	var err error
	if m.record, err = kept.Load(c.Storage, book.Founders(c.Members), !a.Functions.Membership, newIncarnation()); err != nil {
		return nil, nil, err
	}
	m.incarnation = m.record.Incarnation
	own := c.Members[slices.IndexFunc(c.Members, func(member transport.Member) bool { return member.ID == c.ID })].Address
	keeper := &book.Keeper{Book: &m.book, Self: c.ID, Own: own, Seeds: c.Seeds, Log: m.log}
	if c.Merge != nil {
		if err := keeper.Arrive(c.Storage, c.Priorities[c.ID], &m.record.Place); err != nil {
			return nil, nil, err
		}
		list := c.Merge(&m.book, func(uint64) bool { return true })
		c.Members, c.Priorities, c.Limits = list.Members, list.Priorities, list.Limits
	}
	m.listed = book.IDs(c.Members)
	m.know(book.Sorted(c.Members, m.record.Founders))
	rank, _ := m.Rank(c.ID)
	m.position = int(rank) - 1

	l := &loop{member: m, reached: !c.Elsewhere, byKey: map[key]*group{}, delays: delays.New(m.log, c.Suspicion), merge: c.Merge, book: keeper, revoted: true, retryAt: process.Never}
	g, err := l.newGroup(c.GroupConfig)
	if err != nil {
		return nil, nil, err
	}
	l.add(g)
	m.Group = g.handle
	m.timing = transport.Timing{
		Heartbeat: c.Heartbeat, Suspicion: c.Suspicion,
		Delay: process.Moment(0, a.LongestDelay(g.instance.Parameters), c.Unit),
	}
	return m, l, nil
}

// founders returns the first voters, if this member is one of them.
func (m *Member) founders() []uint64 {
	if slices.Contains(m.record.Founders, m.config.ID) {
		return m.record.Founders
	}
	return nil
}

// ErrJoined reports that the member is in a group of that name already.
var ErrJoined = errors.New("this process is in the group already")

// ErrStopped reports that the member has stopped.
var ErrStopped = errors.New("the member has stopped")

// Join joins another group of the same members.
func (m *Member) Join(c GroupConfig) (*Group, error) {
	answer := make(chan joinedAnswer, 1)
	m.post(joined{c, answer})
	select {
	case a := <-answer:
		return a.group, a.err
	case <-m.done:
		return nil, ErrStopped
	}
}

// Close stops the member, sends a goodbye to the others, and waits until all its goroutines have ended. The error is [disk.ErrHangs] if a
// use of the storage has not ended within ten seconds. Its goroutine is left, and closes the storage when it ends.
func (m *Member) Close() error {
	m.cancel()
	<-m.done
	return m.abandoned
}

// Done is closed when the member has stopped.
func (m *Member) Done() <-chan struct{} { return m.done }

// Err returns why the member stopped by itself; nil while it runs, and after Close or the end of its context.
func (m *Member) Err() error {
	select {
	case <-m.done:
		return m.err
	default:
		return nil
	}
}

// Context ends when the member stops.
func (m *Member) Context() context.Context { return m.ctx }

// Address returns where the member listens.
func (m *Member) Address() string { return m.transport.Address() }

// Stall returns for how long the loop has not run; 0 while that is at most the suspicion timeout. After that time the
// others suspect this member.
func (m *Member) Stall() time.Duration {
	if stall := m.now() - time.Duration(m.turn.Load()); stall > m.config.Suspicion {
		return stall
	}
	return 0
}

// now returns the time since the start, on the monotonic clock. It is never 0, so that a moment of 0 is none.
func (m *Member) now() time.Duration { return m.clock.Monotonic() - m.begun }

// boot returns the time since the start, on the clock that goes on during suspension.
func (m *Member) boot() time.Duration { return m.clock.Boottime() - m.begunBoot }

// post puts an event into the inbox, unless the member is stopping.
func (m *Member) post(event any) {
	select {
	case m.inbox <- event:
	case <-m.ctx.Done():
	}
}
