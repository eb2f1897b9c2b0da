package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/process"
	"ringleader.example/ringleader/network"
)

// Address says where a member is reached.
type Address struct {
	ID      uint64
	Address string // host:port; no host is loopback
}

// Config says which member of which group this process is. All fields are obligatory except those that say
// otherwise.
type Config struct {
	ID      uint64
	Members []Address // with this one

	Parameters map[string]string // of the algorithm; optional
	Unit       time.Duration     // of the algorithm's time

	Heartbeat time.Duration // how often a connection shows that it lives
	Suspicion time.Duration // how long it may be silent; several Heartbeats

	Listen string       // host:port; no host is loopback; optional: this member's address
	Data   string       // the directory for what survives a crash; optional: nothing does
	Logger *slog.Logger // optional: nothing is logged

	// For tests: a listener that is taken over, and net.Dialer.DialContext.
	Listener net.Listener
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
}

// ErrDuplicate says that another live process has this member's identifier.
var ErrDuplicate = errors.New("two members with one identifier")

// State is what a member knows.
type State struct {
	Role      election.Role
	Leader    uint64 // 0 if not known
	Term      election.Term
	Since     time.Time // when this became so: Role, Leader and Term
	Until     time.Time // when it ends by itself, if it does: a lease
	Reachable []bool    // by the order of Config.Members: whether it is heard from
}

// Member is a member of a group in this process. Its methods may be called at any time, by any goroutine.
type Member struct {
	config      Config
	algorithm   string
	log         *slog.Logger
	shared      group
	incarnation uint64
	peers       []*peer // by position; nil at our own
	listener    net.Listener
	strangers   strangers

	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup
	inbox  chan any // asked, arrived, message, ended, dialed, broken, failed, election.Command
	done   chan struct{}
	err    error // once done is closed

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
	return join(ctx, program, c)
}

func join(ctx context.Context, a *process.Program, c Config) (*Member, error) {
	if a.Topology != election.Complete {
		return nil, fmt.Errorf("%w %s: it runs on a %s; only a group of known members runs live", network.ErrSetup, a.Name, a.Topology)
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
	sorted := slices.SortedFunc(slices.Values(c.Members), func(a, b Address) int {
		if a.ID < b.ID {
			return -1
		}
		return 1 // no two are equal
	})
	position := slices.IndexFunc(sorted, func(member Address) bool { return member.ID == c.ID })
	if position < 0 {
		return nil, fmt.Errorf("%w %s: %d is not among the members", network.ErrSetup, a.Name, c.ID)
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Dial == nil {
		c.Dial = new(net.Dialer).DialContext // with TCP_NODELAY, Go's default
	}
	if c.Listen == "" {
		c.Listen = sorted[position].Address
	}

	parameters := fmt.Sprintf("unit %v", c.Unit)
	for _, name := range prepared.Parameters.Names() {
		parameters += fmt.Sprintf(" %s %s", name, prepared.Parameters.Text(name))
	}
	m := &Member{
		config: c, algorithm: a.Name, log: c.Logger.With("member", c.ID),
		shared: group{
			Members:    digestOf("%v", sorted),
			Algorithm:  digestOf("%s %s %v", a.Name, a.Plans.Message.Schema(), a.Kinds),
			Parameters: digestOf("%s", parameters),
		},
		inbox: make(chan any, 256), done: make(chan struct{}), changed: make(chan struct{}),
	}
	l := &loop{Member: m, declaration: *a.Declaration, prepared: prepared, position: position}
	l.machine = a.NewMachine(prepared, position, choose)

	m.incarnation = newIncarnation()
	if c.Data != "" {
		slices.Sort(ids)
		schema := "nothing"
		if a.Plans.Durable != nil {
			schema = a.Plans.Durable.Schema()
		}
		var again bool
		group := digestOf("%v %s %s", ids, a.Name, schema)
		if l.store, again, err = openStore(c.Data, (*os.File).Sync, c.ID, group, l.machine.Durable()); err != nil {
			return nil, err
		}
		m.incarnation = l.store.record.Incarnation
		l.recover = again && a.Functions.Recover
		if err := l.machine.Restore(l.store.record.kept); err != nil {
			return nil, errors.Join(fmt.Errorf("%w %s: what the algorithm kept: %w", ErrData, c.Data, err), l.store.close())
		}
	}
	if m.listener = c.Listener; m.listener == nil {
		if m.listener, err = net.Listen("tcp", loopback(c.Listen)); err != nil {
			return nil, errors.Join(fmt.Errorf("member %d cannot listen: %w", c.ID, err), l.store.close())
		}
	}
	for q, member := range sorted {
		m.peers = append(m.peers, &peer{position: q, id: member.ID, address: loopback(member.Address)})
	}
	m.peers[position] = nil
	m.state = State{Since: time.Now(), Reachable: l.reachable()}
	m.ctx, m.cancel = context.WithCancel(ctx)
	go l.live()
	return m, nil
}

// loopback is an address whose host, if it is missing, is loopback.
func loopback(address string) string {
	if host, port, err := net.SplitHostPort(address); err == nil && host == "" {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}

// Close stops the member and waits until nothing of it is left. To the others it is a crash.
func (m *Member) Close() error {
	m.cancel()
	<-m.done
	return nil
}

// Done is closed when the member has stopped.
func (m *Member) Done() <-chan struct{} { return m.done }

// Err says why the member stopped by itself; nil while it lives, and after Close or the end of its context.
func (m *Member) Err() error {
	select {
	case <-m.done:
		return m.err
	default:
		return nil
	}
}

// Addr is where the member listens.
func (m *Member) Addr() net.Addr { return m.listener.Addr() }

// State is what the member knows now, and a channel that is closed when that has changed.
func (m *Member) State() (State, <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.state
	if !s.Until.IsZero() && !time.Now().Before(s.Until) { // whatever keeps the loop from saying so
		s.Role, s.Leader = election.Undecided, 0
	}
	return s, m.changed
}

// Command asks something of the algorithm.
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

// peerOf is the other member with that identifier, or nil.
func (m *Member) peerOf(id uint64) *peer {
	for _, p := range m.peers {
		if p != nil && p.id == id {
			return p
		}
	}
	return nil
}
