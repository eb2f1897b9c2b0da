package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/transport"
)

// Config determines the group, and the member that this process is. All fields are required unless marked optional.
type Config struct {
	Group   string // its name; optional
	ID      uint64
	Members []transport.Member // with this one

	Parameters map[string]string // of the algorithm; optional
	Unit       time.Duration     // of the algorithm's time

	Heartbeat time.Duration // the interval of heartbeats on a connection
	Suspicion time.Duration // how long it may be silent; several Heartbeats

	Data      string         // the directory for persistent state; optional: no state is persistent
	Logger    *slog.Logger   // optional: nothing is logged
	Transport transport.Open // optional: TCP, listening at this member's address
	Elsewhere bool           // it listens at another address than that in Members, which may or may not lead to it
}

// ErrPanic reports that a step of the algorithm, or this package's handling of it, panicked.
var ErrPanic = errors.New("panic")

// State is the visible state of a member.
type State struct {
	Role      network.Role
	Leader    uint64 // 0 if not known
	Term      election.Term
	Since     time.Time // when Role, Leader and Term last changed
	Until     time.Time // when it ends by itself, if it does: a lease
	Reachable []bool    // in the order of Config.Members: whether the member is heard from
	Problems  []string  // in the same order: the member's known problem; empty: none
}

// Member is a member of a group in this process. Its methods may be called at any time, by any goroutine.
type Member struct {
	config      Config
	algorithm   string
	log         *slog.Logger
	incarnation uint64
	timing      transport.Timing
	peers       []*peer // by position; nil at our own
	transport   transport.Transport

	ctx    context.Context
	cancel context.CancelFunc
	inbox  chan any // the events of package transport, and election.Command
	done   chan struct{}
	err    error // once done is closed

	begun time.Time
	turn  atomic.Int64 // when the loop ran last: nanoseconds since begun

	mu      sync.Mutex
	state   State
	changed chan struct{} // closed when state changes
}

// Join starts a member. It lives until ctx is done, or Close, or a failure: see Err.
func Join[S, M any](ctx context.Context, a election.Algorithm[S, M], c Config) (*Member, error) {
	program, err := process.Of(&a)
	if err != nil {
		return nil, err
	}
	return JoinProgram(ctx, program, c)
}

// JoinProgram is Join for an algorithm with hidden types.
func JoinProgram(ctx context.Context, a *process.Program, c Config) (*Member, error) {
	if a.Topology != election.Complete {
		return nil, fmt.Errorf("%w %s: it runs on a %s; only a group of known members runs live", network.ErrSetup, a.Name, a.Topology.Phrase(0))
	}
	if a.Functions.Incarnation {
		return nil, fmt.Errorf("%w %s: it needs a host that stops work and proves deaths, which a live member does not have yet; a simulation has", network.ErrSetup, a.Name)
	}
	ids := make(election.List, len(c.Members))
	for i, member := range c.Members {
		ids[i] = member.ID
	}
	prepared, err := network.Prepare(a.Declaration, network.Setup{IDs: ids, Parameters: c.Parameters})
	if err != nil {
		return nil, err
	}
	sorted := slices.SortedFunc(slices.Values(c.Members), func(a, b transport.Member) int {
		if a.ID < b.ID {
			return -1
		}
		return 1 // no two are equal
	})
	position := slices.IndexFunc(sorted, func(member transport.Member) bool { return member.ID == c.ID })
	if position < 0 {
		return nil, fmt.Errorf("%w %s: %d is not among the members", network.ErrSetup, a.Name, c.ID)
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Transport == nil {
		c.Transport = transport.TCP{}.Open
	}

	m := &Member{
		config: c, algorithm: a.Name, log: c.Logger.With("member", c.ID),
		timing: transport.Timing{
			Heartbeat: c.Heartbeat, Suspicion: c.Suspicion,
			Delay: process.Moment(0, a.LongestDelay(prepared.Parameters), c.Unit),
		},
		inbox: make(chan any, 256), done: make(chan struct{}), changed: make(chan struct{}),
	}
	l := &loop{Member: m, declaration: *a.Declaration, prepared: prepared, position: position, reached: !c.Elsewhere}
	l.machine = a.NewMachine(prepared, position, choose)

	slices.Sort(ids)
	m.incarnation = newIncarnation()
	if c.Data != "" {
		schema := "nothing"
		if a.Plans.Durable != nil {
			schema = a.Plans.Durable.Schema()
		}
		var again bool
		group := transport.DigestOf("%s%v %s %s", c.Group, ids, a.Name, schema)
		if l.store, again, err = openStore(c.Data, (*os.File).Sync, c.ID, group, l.machine.Durable()); err != nil {
			return nil, err
		}
		m.incarnation = l.store.record.Incarnation
		l.recover = again && a.Functions.Recover
		if err := l.machine.Restore(l.store.record.kept); err != nil {
			return nil, errors.Join(fmt.Errorf("%w %s: what the algorithm kept: %w", ErrData, c.Data, err), l.store.close())
		}
	}
	m.begun = time.Now()
	m.ctx, m.cancel = context.WithCancel(ctx)
	m.transport, err = c.Transport(transport.Config{
		Self: position, Members: sorted, Algorithm: a.Name, Incarnation: m.incarnation,
		Group: transport.Group{
			Members:   transport.DigestOf("%q %v", c.Group, ids),
			Algorithm: transport.DigestOf("%s %s %v", a.Name, a.Plans.Message.Schema(), a.Kinds),
		},
		Timing: m.timing, Log: m.log, Post: m.post,
	})
	if err != nil {
		m.cancel()
		return nil, errors.Join(err, l.store.close())
	}
	if err := l.store.begin(); err != nil { // not before it listens: an unreachable life does not count
		m.transport.Close()
		m.cancel()
		return nil, errors.Join(err, l.store.close())
	}
	for q, member := range sorted {
		m.peers = append(m.peers, &peer{position: q, id: member.ID})
	}
	m.peers[position] = nil
	m.state = State{Since: time.Now()}
	m.state.Reachable, m.state.Problems = l.members()
	go l.live()
	return m, nil
}

// Close stops the member, sends a goodbye to the others, and waits until all its goroutines have ended.
func (m *Member) Close() error {
	m.cancel()
	<-m.done
	return nil
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

// Address returns where the member listens.
func (m *Member) Address() string { return m.transport.Address() }

// State returns the member's current state, and a channel that is closed when that has changed.
func (m *Member) State() (State, <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.state
	ended := !s.Until.IsZero() && !time.Now().Before(s.Until) // even if the loop is blocked
	if ended || m.Stall() > 0 {
		s.Role, s.Leader = network.Undecided, 0
	}
	return s, m.changed
}

// Stall returns for how long the loop has not run; 0 while that is at most the suspicion timeout. After that time the
// others suspect this member.
func (m *Member) Stall() time.Duration {
	if stall := m.now() - time.Duration(m.turn.Load()); stall > m.config.Suspicion {
		return stall
	}
	return 0
}

// now returns the time since the start, on the monotonic clock.
func (m *Member) now() time.Duration { return time.Since(m.begun) }

// Command gives a command to the algorithm.
func (m *Member) Command(c election.Command) { m.post(c) }

// post puts an event into the inbox, unless the member is stopping.
func (m *Member) post(event any) {
	select {
	case m.inbox <- event:
	case <-m.ctx.Done():
	}
}

func (m *Member) publish(s State) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state = s
	close(m.changed)
	m.changed = make(chan struct{})
}

// peerOf returns the other member with that identifier, or nil.
func (m *Member) peerOf(id uint64) *peer {
	for _, p := range m.peers {
		if p != nil && p.id == id {
			return p
		}
	}
	return nil
}
