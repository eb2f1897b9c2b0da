package ringleader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/serve/disk"
	"ringleader.example/ringleader/internal/serve/kernel"
	"ringleader.example/ringleader/internal/serve/live"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/internal/serve/warden"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/storage"
)

// Role is a member's role, in its own view: [Leader], [Follower] or [Electing].
type Role string

// The roles.
const (
	Leader   Role = "leader"
	Follower Role = "follower"
	Electing Role = "electing" // it knows no leader
)

// View is a member's knowledge of the leader.
type View struct {
	Leader uint64 // 0 if not Known
	Known  bool
	Term   uint64 // 0 with [Bully], which has none
	Role   Role   // of this member
	Since  time.Time

	// Value is what the leader has published in Term, such as the address of its service; empty: nothing, or it has not
	// arrived. See [Leadership.Publish].
	Value string
}

// Status is a member's knowledge of the group.
type Status struct {
	ID        uint64    `json:"id"`
	Algorithm Algorithm `json:"algorithm"`
	Role      Role      `json:"role"`
	Leader    *uint64   `json:"leader"` // null while no leader is known
	Term      uint64    `json:"term"`   // 0 with bully, which has none

	// Value is what the leader has published in Term: see [View].
	Value string `json:"value,omitempty"`

	// Quorum tells whether a majority of the members has granted the known leader a lease that runs, as far as this
	// member knows. It is always false with bully.
	Quorum bool `json:"quorum"`

	// Lease is the rest of this member's own lease, in seconds; null if it does not lead.
	Lease *float64 `json:"lease"`

	// LeaseLength is how long a lease the leader asks for at present, in seconds, as this member knows it; 0: it knows no leader, or there are no leases.
	LeaseLength float64 `json:"lease_length,omitempty"`

	Stopping bool `json:"stopping"` // it leads, and its work is about to stop

	// NotReady tells that it leads, and that its work has not told that it is ready: see Config.AwaitReady.
	NotReady bool `json:"not_ready,omitempty"`

	// LastChange is the last change of the leader, as far as this member knows; null: it has known none.
	LastChange *LeaderChange `json:"last_change,omitempty"`

	// CertificateExpires is when the certificate of this member expires, or an authority of it; null without TLS.
	CertificateExpires *time.Time `json:"certificate_expires,omitempty"`

	// CertificateProblem is why the latest certificate of this member cannot be used: it is another member's, for example, or has
	// expired. Those before stay in use until they expire. Empty: nothing is wrong, or there is no TLS.
	CertificateProblem string `json:"certificate_problem,omitempty"`

	// StorageProblem is why this member cannot keep what it promises: its disk gives no answer, or its directory is gone. It is
	// known within two seconds. Empty: nothing is wrong.
	StorageProblem string  `json:"storage_problem,omitempty"`
	StorageFailing float64 `json:"storage_failing,omitempty"` // for how long that has been so, in seconds

	// WorkProblem is why the work of this member makes no progress, so that it may not lead. Empty: nothing is known.
	WorkProblem string `json:"work_problem,omitempty"`

	// ProgressPaths has what is known of each of Config.ProgressPaths.
	ProgressPaths []PathStatus `json:"progress_paths,omitempty"`

	Members []MemberStatus `json:"members"`

	// ListLacks is the member that votes, as far as this one knows, and that the last list for [Member.SetMembers] lacks: that list waits until
	// the vote is removed. 0: no list waits.
	ListLacks uint64 `json:"list_lacks,omitempty"`

	// Voters has the members that vote, if not all do, always: if members are on standby, or the voters were changed.
	Voters *Voters `json:"voters,omitempty"`

	// Health is the result of the health check of this member; null: it has none.
	Health *HealthStatus `json:"health,omitempty"`

	// Confinement is Config.Confinement.
	Confinement string `json:"confinement,omitempty"`

	// Preemption is what Config.Preempt does at present; null: it is not set.
	Preemption *PreemptionStatus `json:"preemption,omitempty"`

	// Why has, while no leader is known, the reasons for that, for people: which members are missing, how long a wait
	// lasts, which certificate is refused.
	Why []string `json:"why,omitempty"`
}

// Voters is a member's knowledge of the members whose majority elects.
type Voters struct {
	Version uint64   `json:"version"` // how many changes there were; 0: those of the configuration
	Term    uint64   `json:"term"`    // of the leader that made or confirmed them; 0: no leader had to
	Members []uint64 `json:"members"`

	// Kept is how many of them are known to keep this durably, if this member leads and has changed it; otherwise 0. What a
	// majority keeps has happened for good.
	Kept int `json:"kept"`
}

// MemberStatus is a member's knowledge of another member, or of itself.
type MemberStatus struct {
	ID        uint64 `json:"id"`
	Address   string `json:"address"`
	Witness   bool   `json:"witness,omitempty"` // it votes, and never leads
	Standby   bool   `json:"standby,omitempty"` // it has no vote, so it never leads
	Removed   bool   `json:"removed,omitempty"` // it was removed from the address book, and votes until a leader has taken its vote
	Reachable bool   `json:"reachable"`         // it is heard from

	// Problem is the member's known problem: for example why it cannot be reached, or how its timing differs from
	// that of this member. Empty: none.
	Problem string `json:"problem,omitempty"`

	// Grant is for how long the vote of the member still counts for this one, which leads, in seconds; 0: it has run out. The lease of the
	// leader is the longest for which the votes of a majority count. Null: this member does not lead, the other one has no vote, or bully runs.
	Grant *float64 `json:"grant,omitempty"`

	// Weight is its priority at present, as far as it is known; 0: it is a witness, or bully runs.
	Weight uint16 `json:"weight,omitempty"`

	// Unable is why it may not lead at present: its health check fails, for example. Empty: it may.
	Unable string `json:"unable,omitempty"`

	// Warmth is how far it is prepared for the lead; empty: it has no Config.Prepare, or has not told.
	Warmth Warmth `json:"warmth,omitempty"`

	// WhyCold is the last error of its Config.Prepare; empty: there was none, or it has prepared since.
	WhyCold string `json:"why_cold,omitempty"`
}

// Member is a member of a group, in this process. Its methods may be called at any time, by any goroutine.
type Member struct {
	config Config
	group  *live.Group
	live   *live.Member // of this process: the members of all its groups share it
	first  *Member      // that [Join] made in this process; nil: this one

	places *places // of the first one

	changing chan struct{} // has room for one change of the voters
	standing sync.Mutex    // orders the commands about the weight
	weight   uint16
	down     bool     // it stands for election no more: Lead has returned, or Close was called
	pauses   pauses   // of preemption
	health   *monitor // of the process; nil: it has none

	work        work         // in this group
	preparation *preparation // in this group; nil: it has nothing to prepare

	failures atomic.Pointer[disk.Failures] // of the storage and the paths; nil: they are not known yet

	mu      sync.Mutex
	leading bool             // Lead runs
	began   election.Term    // the last term in which its work began, for Lead only: it begins once in a term
	left    bool             // the warden knows that it was closed
	leaves  sync.Once        // it runs before others no more
	cause   error            // of the next end of a tenure, if a method of Member is its cause
	within  election.Term    // the tenure that cause is about; 0: any
	others  map[*Member]bool // the first one only: those that its Join made
	crowded bool             // likewise: it has warned that they are many
}

// Join makes this process a member of the group, and returns as soon as it listens. It remains one until
// ctx is done, which is like Close, or Close, or a failure: see Done and Err. All errors of the configuration are reported at once, as
// [ErrConfig].
func Join(ctx context.Context, c Config) (*Member, error) {
	complete, err := c.complete()
	if err != nil {
		return nil, errors.Join(err, c.closeStorage())
	}
	c = complete
	if c.Data != "" {
		directory, err := storage.Open(c.Data, storage.Owner{Group: c.Group, Member: c.ID})
		if err != nil {
			return nil, err
		}
		c.Storage = directory
	}
	var health *monitor
	if c.Health.Check != nil {
		health = newMonitor(c.Health)
	}
	book := &addressBook{config: c, found: map[uint64][]string{}}
	c.found = book.note
	program, config := c.live()
	config.Standing = c.standing(health.unable())
	where := newPlaces(&complete, book)
	if c.Algorithm == QuorumBully {
		config.Merge = where.merge(&complete)
	}
	looks := c.watches(&config)
	if len(c.ProgressPaths) > 0 {
		config.Standing = c.standing(errUnanswered)
	}
	shown, err := c.show(&config) // when the directory is this process's: another one of this member may have a file
	if err != nil {
		looks.Close()
		return nil, errors.Join(err, c.closeStorage())
	}
	book.file = shown.Handle()
	config.Record = c.recording()
	c.watchLoop(&config)
	engine, err := live.JoinProgram(context.WithoutCancel(ctx), program, config) // the end of ctx is to release the lease
	if err != nil {
		looks.Close()
		return nil, errors.Join(err, shown.Close())
	}
	context.AfterFunc(engine.Context(), looks.Close)
	context.AfterFunc(engine.Context(), func() { _ = shown.Close() })
	if c.Algorithm == Bully {
		c.Logger.Warn("the algorithm has no quorum: each side of a partition has a leader", "algorithm", Bully)
	}
	tellRealTime(&c)
	if c.Algorithm == QuorumBully {
		tellMissing(&c, warden.Missing())
		if err := book.begin(); err != nil {
			c.Logger.Warn("the warden does not listen: the others will wait for the end of a lease", "member", c.ID, "error", err)
		}
	}
	if c.Data != "" {
		c.Storage = nil // the engine's
	}
	m := &Member{config: c, weight: c.weight(), health: health, group: engine.Group, live: engine, changing: make(chan struct{}, 1), others: map[*Member]bool{}, places: where}
	m.preparation = newPreparation(c.Prepare, c.weight() == 0)
	if health != nil {
		go health.watch(m.Done(), c.Clock, func() {
			if err := health.unable(); err != nil {
				c.Logger.Warn("this member may not lead", "member", c.ID, "error", err)
			} else {
				c.Logger.Info("this member may lead", "member", c.ID)
			}
			m.changeStanding()
		})
	}
	engine.Disks.Stalls(m.changeDisk)
	if m.preparation != nil {
		go m.prepares()
	}
	if config.Merge != nil {
		go m.agree()
	}
	context.AfterFunc(ctx, func() { m.Close() })
	return m, nil
}

// GroupConfig determines another group of the same processes; see [Member.Join].
type GroupConfig struct {
	// Group is the name of the group. Members of one process have different groups.
	Group string

	// Priorities has the priorities that members have in this group, by identifier, in place of those in Config.Members. So
	// each of several groups can prefer another leader. Witnesses are witnesses in all groups.
	Priorities map[uint64]uint16

	// Prepare is like Config.Prepare, for this group.
	Prepare func(context.Context) error
}

// perGroup is the part of Timing.Answers that a group needs, if all groups of a process elect at the same time: 100 groups
// managed with LAN on a loaded machine, and 1000 did not.
const perGroup = 50 * time.Microsecond

// Join makes this process a member of another group. Its processes are those of Config.Members, and each of them that calls Join
// with the same name takes part: a majority of all of them elects the leader of the group. All else is as in Config. The
// groups elect independently of each other, and share connections, heartbeats and flushes of the disk. So a process can be in
// thousands of groups.
//
// The result is like that of the function Join, and ends when ctx is done, or by Close, which leaves the other groups as they
// are. Close of the first member, that the function Join returned, closes all. A group that was left can be joined again.
func (m *Member) Join(ctx context.Context, g GroupConfig) (*Member, error) {
	if m.first != nil {
		return m.first.Join(ctx, g)
	}
	c := m.config
	c.Members = m.list()
	c, err := c.with(g)
	if err != nil {
		return nil, err
	}
	_, config := c.live()
	config.Standing = c.standing(m.unable())
	group, err := m.live.Join(config.GroupConfig)
	switch {
	case errors.Is(err, live.ErrJoined):
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	case errors.Is(err, live.ErrStopped):
		return nil, cmp.Or(m.Err(), ErrClosed)
	case err != nil:
		return nil, err
	}
	other := &Member{config: c, weight: c.weight(), health: m.health, group: group, live: m.live, changing: make(chan struct{}, 1), first: m, preparation: newPreparation(c.Prepare, c.weight() == 0)}
	m.mu.Lock()
	m.others[other] = true
	if n := len(m.others) + 1; c.Algorithm == QuorumBully && time.Duration(n)*perGroup > c.Timing.Answers && !m.crowded {
		m.crowded = true
		c.Logger.Warn("Timing.Answers may be too short for so many groups: an answer waits behind those of all others", "member", c.ID, "groups", n, "answers", c.Timing.Answers)
	}
	m.mu.Unlock()
	other.changeStanding() // what has changed since Standing was made
	if other.preparation != nil {
		go other.prepares()
	}
	context.AfterFunc(ctx, func() { other.Close() })
	return other, nil
}

func viewOf(s view.State) View {
	v := View{Leader: s.Leader, Known: s.Leader != 0, Term: uint64(s.Term), Role: Electing, Since: s.Since, Value: s.Value}
	switch s.Role {
	case network.Leader:
		v.Role = Leader
	case network.Follower:
		v.Role = Follower
	}
	return v
}

// View returns the member's current knowledge of the leader.
func (m *Member) View() View {
	s, _ := m.group.State()
	return viewOf(s)
}

// Observe yields the member's knowledge of the leader: first the current one, and then each change. A slow consumer
// misses intermediate changes, but never the last one, and delays no other code. The sequence ends when ctx is done,
// and when the member has stopped, after saying that it knows no leader.
func (m *Member) Observe(ctx context.Context) iter.Seq[View] {
	return func(yield func(View) bool) {
		var last View
		for {
			s, changed := m.group.State()
			if v := viewOf(s); v != last {
				last = v
				if !yield(v) {
					return
				}
			}
			select {
			case <-changed:
			case <-m.Done(): // all changes came before that
				if s, _ := m.group.State(); viewOf(s) == last {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// IsLeader reports whether this member leads at this moment: under a lease that runs, or with [Bully] as far as it knows. It sends no
// message. Between the call and what follows it the process may be paused for any time: see [Leadership.Valid].
func (m *Member) IsLeader() bool { return m.group.Leads() }

// WaitLeader returns as soon as a leader is known. The error is that of ctx, or the reason why the member has stopped.
func (m *Member) WaitLeader(ctx context.Context) (View, error) {
	for v := range m.Observe(ctx) {
		if v.Known {
			return v, nil
		}
	}
	return View{Role: Electing}, cmp.Or(ctx.Err(), m.Err(), ErrClosed)
}

// Status returns the member's current knowledge of the group.
func (m *Member) Status() Status {
	s, _ := m.group.State()
	v := viewOf(s)
	status := Status{ID: m.config.ID, Algorithm: m.config.Algorithm, Role: v.Role, Term: v.Term, Value: v.Value, Stopping: s.Stopping, LastChange: lastChange(&s.Last)}
	status.Quorum = v.Known && m.config.Algorithm == QuorumBully
	if v.Known {
		status.Leader = &v.Leader
	}
	status.NotReady = v.Role == Leader && m.config.AwaitReady && !m.work.isReady(s.Term)
	if v.Role == Leader && m.config.Algorithm == QuorumBully {
		left := m.group.Left(s.Term).Seconds()
		status.Lease = &left
	}
	status.LeaseLength = m.group.Length().Seconds()
	if m.config.TLS != nil {
		if expires := m.config.TLS.Expires(); !expires.IsZero() {
			status.CertificateExpires = &expires
		}
		status.CertificateProblem = m.config.TLS.Problem()
	}
	problem, lasts := m.live.Disks.Storage()
	status.StorageProblem, status.StorageFailing = problem, lasts.Seconds()
	if err := m.stalled(); err != nil {
		status.WorkProblem = err.Error()
	}
	status.ProgressPaths = m.paths()
	list := m.list()
	for i, id := range s.Members {
		member, _ := find(list, id) // it may have changed meanwhile
		status.Members = append(status.Members, MemberStatus{
			ID: id, Address: member.Address, Witness: member.Witness, Standby: !slices.Contains(s.Voters.Members, id), Removed: m.removed(id), Reachable: s.Reachable[i], Problem: s.Problems[i],
			Weight: s.Standings[i].Weight, Warmth: warmths[s.Standings[i].Warmth], WhyCold: s.Standings[i].Cold,
		})
		if s.Reachable[i] { // what it told before may be over
			status.Members[i].Unable = s.Standings[i].Unable
		}
		if s.Granted != nil && slices.Contains(s.Voters.Members, id) {
			left := s.Granted[i].Seconds()
			status.Members[i].Grant = &left
		}
	}
	for _, id := range s.Voters.Members {
		if !slices.Contains(s.Members, id) {
			status.Members = append(status.Members, MemberStatus{ID: id, Problem: "it votes, and the list of this member lacks it"})
		}
	}
	sort.Slice(status.Members, func(i, j int) bool { return status.Members[i].ID < status.Members[j].ID })
	status.ListLacks, status.Voters = s.ListLacks, m.voters(&s)
	if m.health != nil {
		health := m.health.state()
		status.Health = &health
	}
	status.Preemption, status.Confinement = m.preemption(), m.config.Confinement
	if !v.Known {
		status.Why = m.why(&status)
	}
	return status
}

// ErrDisputed reports that [Member.VerifyLeader] cannot confirm a leader until its next term: too many of the members that it hears from have
// promised their vote in a higher one. The claim to that may have failed, and then this member leads by its lease as before; or another leader was
// elected, if clocks differ by more than Timing.Drift. [Member.Resign] or [Member.Transfer] begins another term.
var ErrDisputed = live.ErrDisputed

// VerifyLeader asks all members at once whether this one still leads. It returns nil as soon as a majority has confirmed it:
// then this member led, with a valid lease, at a moment after the call began. So what it knew before the call was not out
// of date then, and a read of that is linearizable. The answer needs no assumption about clocks: it counts only members that
// have promised no higher term. While voters are changed, it does need those of the package comment.
//
// The error is [ErrNotLeader] if this member does not lead, or loses its lead meanwhile; [ErrDisputed]; the cause of ctx, if it is
// done before a majority has answered; and [ErrConfig] with [Bully], which has no majority.
func (m *Member) VerifyLeader(ctx context.Context) error {
	if m.config.Algorithm == Bully {
		return fmt.Errorf("%w: %s has no quorum that could confirm the leader", ErrConfig, Bully)
	}
	v := m.View()
	if v.Role != Leader {
		return notLeader(v)
	}
	leads, err := m.group.Confirm(ctx, election.Term(v.Term))
	switch {
	case errors.Is(err, ErrDisputed):
		return fmt.Errorf("%w: this one leads in term %d", ErrDisputed, v.Term)
	case err != nil:
		return fmt.Errorf("no majority has confirmed the leader of term %d: %w", v.Term, err)
	case !leads:
		return fmt.Errorf("%w any more: its lease in term %d has ended before a majority has confirmed it", ErrNotLeader, v.Term)
	}
	return nil
}

// Close stops the member: it resigns if it leads, waits until its work has returned, and leaves its group. Before it resigns it waits for a
// warm member, as Resign does. A majority renews the lease until the work has returned, so work that does not return keeps Close waiting. Without a
// majority, Close waits no longer than the lease. The first member of a process closes the others, too, sends a goodbye to the other
// processes, and waits until all its goroutines have ended. Further calls do nothing.
//
// The error is [ErrStorage] if the storage does not answer: Close waits ten seconds for it. A write that has not ended then is abandoned with
// its goroutine, which the log says, and the storage is in use until it ends. Otherwise the error is nil.
func (m *Member) Close() error {
	if m.first != nil {
		m.resign()
		err := m.group.Leave()
		m.preparation.wait()
		m.first.mu.Lock()
		delete(m.first.others, m)
		m.first.mu.Unlock()
		return ofStorage(err)
	}
	m.mu.Lock()
	all := append(slices.Collect(maps.Keys(m.others)), m)
	m.mu.Unlock()
	var resigned sync.WaitGroup
	for _, member := range all {
		resigned.Go(member.resign)
	}
	resigned.Wait()
	return m.leave()
}

// resign lets the member lead no more, and waits until it does not: its work has returned, or its lease has ended.
func (m *Member) resign() {
	_, _ = m.awaitSuccessor(context.Background(), 0) // no error without an end of the context
	m.standDown(ErrClosed)
	for m.config.Algorithm == QuorumBully {
		s, _ := m.group.State()
		if s.Role != network.Leader {
			return
		}
		_ = m.waitForEnd(context.Background(), s.Term) // no error without an end of the context
	}
}

// ofStorage returns the error of a storage that gives no answer as an ErrStorage, and nil for nil.
func ofStorage(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrStorage, err)
}

// leave stops the process's part in all groups, of which it leads none. What it leaves to its warden needs no proof.
func (m *Member) leave() error {
	m.leaves.Do(func() { realTime.leaves(kernel.RelaxAll) })
	err := m.live.Close()
	if m.health != nil {
		<-m.health.ended
	}
	m.preparation.wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.left {
		m.left = true
		_ = warden.Left(m.config.ID) // if the warden does not hear it, it proves the death to no harm
	}
	return ofStorage(err)
}

// ErrStorage reports that a member cannot keep what it promises: its disk gives no answer, or its directory is gone. The text
// has the reason.
var ErrStorage = errors.New("the storage fails")

// Health returns nil while the member works. Otherwise the error is the reason: it has stopped, it has stalled for
// longer than Timing.Suspicion, so that the others suspect it, its storage fails, an [ErrStorage], or its work makes no progress, an [ErrStalled].
// A member whose storage fails, or whose work makes no progress, leads no more.
func (m *Member) Health() error {
	select {
	case <-m.Done():
		return cmp.Or(m.Err(), ErrClosed)
	default:
	}
	if stall := m.live.Stall(); stall > 0 {
		return fmt.Errorf("it has stood still for %v", stall)
	}
	if problem, _ := m.live.Disks.Storage(); problem != "" {
		return fmt.Errorf("%w: %s", ErrStorage, problem)
	}
	return m.stalled()
}

// Done returns a channel that is closed when the member has stopped, for any reason.
func (m *Member) Done() <-chan struct{} { return m.group.Done() }

// Err returns why the member stopped by itself: [ErrData], for example. It is nil while the member runs, and after
// Close or the end of its context.
func (m *Member) Err() error { return m.live.Err() }
