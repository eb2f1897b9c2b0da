package ringleader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"ringleader.example/ringleader/clock"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/book"
	"ringleader.example/ringleader/internal/serve/kept"
	"ringleader.example/ringleader/internal/serve/live"
	"ringleader.example/ringleader/internal/serve/live/bully"
	"ringleader.example/ringleader/internal/serve/live/quorumbully"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/internal/serve/warden"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport"
)

// MemberAddress determines a member of the group.
type MemberAddress struct {
	ID      uint64 // at least 1
	Address string // host:port, by which the other members reach it; see Config.SRV, too

	// Priority prefers a member: of the members that can lead, the one of highest priority does, and of several the
	// one with the largest ID. 0 stands for 1. [Bully] knows only IDs.
	Priority uint16

	// Witness marks a member that votes and never leads.
	Witness bool

	// Standby marks a member that has no vote at first. It follows the leader, and [Member.AddMember] gives it a vote. The
	// members on standby have the largest IDs. The marks count in the first life of a member. As soon as the members have
	// agreed on voters, only those count.
	Standby bool
}

// Algorithm is the name of an algorithm: [QuorumBully] or [Bully].
type Algorithm string

// The algorithms.
const (
	QuorumBully Algorithm = "quorum-bully" // package algorithms/quorumbully
	Bully       Algorithm = "bully"        // package algorithms/bully: it has no quorum
)

// Overrun is what happens when work has not returned by Timing.Margin before the end of its lease: [Exit], [Panic] or [Log]. Other
// members may elect a leader after that end.
type Overrun uint8

// What may happen.
const (
	Exit  Overrun = iota // the process ends, with status 70 and a line in the log; without a log, on standard error
	Panic                // the goroutine of Lead panics
	Log                  // a line in the log; two leaders may work at the same time
)

// String returns the name of the value in lower case.
func (o Overrun) String() string { return [...]string{"exit", "panic", "log"}[o] }

// Config determines the group, and the member that this process is.
type Config struct {
	// Group is the name of the group, of at most 249 bytes: a member refuses peers with another name. The default is empty.
	Group string

	// ID is this member's identifier, one of those of Members.
	ID uint64

	// Members is where the members are, this one included. At first all have the same list, with the same marks for those on
	// standby: members with different first voters refuse each other. Addresses may be spelled differently, and
	// each list has at least all members that vote. [Member.SetMembers] changes it while the member runs.
	Members []MemberAddress

	// Join is where other members of a group that runs may be: addresses, host:port, or names of SRV records. A name with several addresses, such as that of
	// a headless service, is fine, and so are addresses where none is. A member with Join needs no other member in Members: it learns of them, and the others
	// know it by [Member.AddAddress]. In its first life it has no vote, and none of Members has one as far as it knows, until the group tells it who votes.
	// Its own Address may be empty: then it is at that in the address book of the group.
	Join []string

	// SRV is a DNS name whose records have the hosts and ports of the members whose Address has no port. Such an Address is the
	// target of its record, or the first labels of it: "jobs-0" finds jobs-0.jobs.default.svc.cluster.local. Records of others
	// are ignored: an answer never changes who is a member.
	//
	// Hosts that are names, here and in Members, are looked up again after a failure to connect and each 30 seconds. An
	// answer that is empty, or none, changes nothing: the last good one counts.
	SRV string

	// Listen is the address to listen on, host:port; ":7001" is that port on all interfaces, as in package net. The default is this
	// member's own address in Members. A member that listens elsewhere takes no part in elections until its own
	// address has reached it, from itself or from another member.
	Listen string

	// TLS secures the connections between members: see [transport.LoadTLS]. Without it they are in clear text, which is
	// allowed only if all addresses are loopback, or if Insecure is set.
	TLS transport.TLS

	// Insecure allows connections in clear text to other machines. Any process on their way can read and change them.
	Insecure bool

	// Data is the directory for state that must survive a crash. [Init] makes it, once in the life of a member; one
	// process uses it at a time. A member must not vote without what it has promised before, so quorum-bully needs
	// Data or Storage.
	Data string

	// Storage is used instead of a directory. The member closes it, also if Join fails.
	Storage storage.Storage

	// Record is the flight recorder: what this member was given and did, for the analysis of an incident. It is on for a member with Data.
	Record Record

	// LeaseFile is a file that tells other processes of this machine whether this member leads, and until when; see package leasefile. It is for
	// quorum-bully on Linux. Before a warden proves the death of this process, it writes into the file that the member does not lead. A process with a
	// Death of its own has no LeaseFile. Where its disk is full, for example, Join returns an [ErrWrite].
	LeaseFile string

	// Timing holds all lengths of time. The default is [LAN].
	Timing Timing

	// Preempt lets a leader hand over to an able member of higher rank.
	Preempt bool

	// Weight is the priority of this member at the beginning, in place of that in Members: for a preference that the other
	// members need not know beforehand. 0 is that in Members. [Member.SetPriority] changes it.
	Weight uint16

	// Health finds out whether this process may lead. Without Health.Check it may. [Bully] knows no health.
	Health HealthCheck

	// Prepare prepares this process for the lead, so that a successor need not begin cold: it fills a cache, for example. It runs beside the member,
	// which is warm when it has returned nil, and again after each tenure. A member that has restarted beside a leader is not before it can vote
	// again, after LongestLease. An error is told, and it runs again after a pause, which doubles from a second to a minute.
	//
	// The lead goes to warm members first, then to those whose Prepare runs, and last to those that cannot become warm; priorities count among members
	// that are as warm. A leader that is to hand over waits for a warm member, for at most Timing.Handover. After a crash nothing waits.
	//
	// If the member leads before Prepare has returned, work begins at once: the context of Prepare ends, with the cause [ErrLeads], and it has to
	// return. Prepare must do nothing for which a member needs the lead. Set it at all members or at none; their priorities are up to 16383. Witnesses
	// prepare nothing. [Bully] does not know it.
	Prepare func(context.Context) error

	// AwaitReady lets a leader count as ready when its work tells that it is, by [Leadership.SetReady], and not when it begins: see Status.NotReady.
	AwaitReady bool

	// Overrun is what happens when work has not returned by Timing.Margin before the end of its lease. The default is
	// [Exit]: the process ends.
	Overrun Overrun

	// Algorithm is the algorithm. The default is [QuorumBully].
	Algorithm Algorithm

	// NoQuorum allows [Bully], with which each side of a partition has a leader.
	NoQuorum bool

	// ProgressPaths are directories that the work needs, each on a disk that may hang: a network file system, for example. The member writes
	// and flushes a file there, again and again. While one gives no answer for Timing.Stall, was removed or replaced, or cannot be
	// written, the member votes and takes no lead, and a leader hands over. The member may lead when each has answered once. [Bully] knows
	// none. [Warden] tells which process writes.
	ProgressPaths []string

	// Death is the SHA-256 of a secret that proves, when it is disclosed, that this process and all its work have ended.
	// The others then need not wait for the end of its lease. The default is that of the warden, if there is one: see [Warden]. A
	// process with a Death of its own has to disclose the secret itself: the warden's proves nothing then.
	Death [32]byte

	// Confinement is by what means the processes of the work end, for [Status], such as a namespace; empty: it is not known.
	Confinement string

	// Logger gets the log; the default is to log nothing. The member calls its handler in the goroutine in which it elects: a handler that blocks, as on
	// a pipe that no process reads, holds the member up, and a leader loses its lead.
	Logger *slog.Logger

	// Clock is for tests; the default is that of the system. See package clocktest, whose clocks a bubble of testing/synctest needs: there the boot
	// time of the system goes on while the bubble's time stands still, as if the machine were suspended.
	Clock clock.Clock

	// Transport replaces connections over TCP, and so Listen, TLS and Insecure; see package transport.
	Transport transport.Open

	found func(id uint64, addresses []string) // is told where members are

	systemClock bool                      // Clock is that of the system
	fuse        func() (fuseTimer, error) // nil: see newFuse
}

// The errors of this package; the text states what is wrong, and what is valid.
var (
	ErrConfig = errors.New("configuration")
	ErrData   = storage.ErrData   // the data directory cannot be used; the text names the file
	ErrExists = storage.ErrExists // an ErrData: Init has made the directory before
	ErrWrite  = storage.ErrWrite  // an ErrData: the directory is valid, but the disk is, for example, full
	ErrFlush  = storage.ErrFlush  // an ErrData: what is durable is unknown, and the process must end
)

// Init makes the data directory of a member. This is done once in the life of a member. A member that has lost its
// directory has forgotten what it has promised, and a new directory does not bring that back: see package storage. A
// second call is an [ErrExists], and changes nothing.
func Init(directory, group string, id uint64) error {
	return storage.Init(directory, storage.Owner{Group: group, Member: id}, storage.InitOptions{})
}

// InitIfMissing is Init for starts without an operator, as in a container. It changes nothing if the directory is one of that
// member already. The error is an [ErrData] if it is another member's, or cannot be used. If the directory has been lost, the others refuse
// the member with its new one.
func InitIfMissing(directory, group string, id uint64) error {
	_, err := storage.InitIfMissing(directory, storage.Owner{Group: group, Member: id}, storage.InitOptions{})
	return err
}

// Check reports all errors of the configuration at once, as [ErrConfig]. Join does that, too.
func (c Config) Check() error {
	_, err := c.complete()
	return err
}

// complete sets the defaults and reports all errors.
func (c Config) complete() (Config, error) {
	var faults []error
	must := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("%w: %s", ErrConfig, fmt.Sprintf(format, args...)))
		}
	}
	c.Timing, c.Algorithm = c.Timing.complete(), cmp.Or(c.Algorithm, QuorumBully)
	if c.Clock == nil {
		c.Clock, c.systemClock = clock.System(), true
		if warden.Hash() != [32]byte{} {
			c.fuse = kernelFuse
		}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}

	must(len(c.Group) <= kept.MaxGroup, "the name %.20q… of the group has %d bytes, and at most %d are kept", c.Group, len(c.Group), kept.MaxGroup)
	must(utf8.ValidString(c.Group), "the name %q of the group is not in UTF-8", c.Group)
	must(c.ID != 0, "ID is missing; identifiers begin with 1")
	if len(c.Join) > 0 {
		c.Members = slices.Clone(c.Members)
		for i := range c.Members {
			c.Members[i].Standby = true
		}
	}
	c.checkMembers(must)
	must(c.TLS == nil || !c.Insecure, "TLS and Insecure are both given; Insecure allows clear text")
	must(c.Record.Size == 0 || c.Record.Size >= record.LeastSize, "Record.Size is %d; a record has at least %d bytes", c.Record.Size, record.LeastSize)
	must(c.LeaseFile == "" || c.Algorithm == QuorumBully, "LeaseFile is given; %s has no lease", c.Algorithm)
	must(c.LeaseFile == "" || c.Death == [32]byte{}, "LeaseFile and Death are both given; a proof of death does not end what others read in the file")
	c.checkPrepare(must)
	must(c.Data == "" || c.Storage == nil, "Data (%s) and Storage are both given; one of them is used", c.Data)
	c.Timing.check(must)
	c.Health.check(must)
	for i, path := range c.ProgressPaths {
		must(path != "", "ProgressPaths[%d] is empty; it is a directory", i)
	}
	switch c.Algorithm {
	case QuorumBully:
		must(!c.NoQuorum, "NoQuorum allows %s; %s has a quorum", Bully, QuorumBully)
		must(c.Data != "" || c.Storage != nil, "Data is missing: %s needs a directory that Init has made, since a member that forgets its votes might vote twice", QuorumBully)
	case Bully:
		must(c.Weight == 0 && c.Health.Check == nil, "%s knows neither Weight nor Health", Bully)
		must(c.Timing.Progress == 0 && len(c.ProgressPaths) == 0, "%s knows neither Timing.Progress nor ProgressPaths", Bully)
		must(len(c.Join) == 0, "%s does not know Join: its members are always the same", Bully)
		must(c.NoQuorum, "%s has no quorum, so each side of a partition has a leader; NoQuorum allows that", Bully)
	default:
		must(false, "Algorithm is %s or %s, not %q", QuorumBully, Bully, c.Algorithm)
	}
	return c, errors.Join(faults...)
}

// checkPrepare reports what does not go together with Prepare.
func (c *Config) checkPrepare(must func(ok bool, format string, args ...any)) {
	if c.Prepare == nil {
		return
	}
	must(c.Algorithm != Bully, "%s does not know Prepare", Bully)
	must(c.Weight <= view.MaxPreparedWeight, "Weight is %d; with Prepare it is up to %d", c.Weight, view.MaxPreparedWeight)
	for _, m := range c.Members {
		must(m.Priority <= view.MaxPreparedWeight, "the priority of member %d is %d; with Prepare it is up to %d", m.ID, m.Priority, view.MaxPreparedWeight)
	}
}

// checkMembers reports what is wrong with the list of members, and with this one in it.
func (c *Config) checkMembers(must func(ok bool, format string, args ...any)) {
	must(len(c.Members) > 0, "Members is empty; the group has this member at least")
	found, own, candidates, largest := false, "", 0, c.lastVoter()
	ids, addresses := map[uint64]bool{}, map[string]uint64{}
	for i, m := range c.Members {
		must(m.ID != 0, "Members[%d] has no ID; identifiers begin with 1", i)
		must(m.ID == 0 || !ids[m.ID], "member %d is listed twice", m.ID)
		ids[m.ID] = true
		other, taken := addresses[m.Address]
		must(!taken || other == m.ID, "members %d and %d have the same address %s", other, m.ID, m.Address)
		addresses[m.Address] = m.ID
		if m.ID == c.ID {
			found, own = true, m.Address
			must(!m.Witness || c.Weight == 0, "member %d is a witness, and Weight (%d) is for one that may lead", m.ID, c.Weight)
		}
		if !m.Witness && !m.Standby {
			candidates++
		}
		must(!m.Standby || m.ID > largest, "member %d is on standby, and member %d is not: members on standby have the largest identifiers", m.ID, largest)
		err := c.checkPlace(m.Address)
		must(err == nil || c.learns(&m), "the address of member %d: %v", m.ID, err)
		must(c.Algorithm != Bully || m.Priority == 0 && !m.Witness && !m.Standby, "member %d has a priority, is a witness or is on standby, which %s does not know", m.ID, Bully)
	}
	must(found || c.ID == 0 || len(c.Members) == 0, "ID %d is not among the members", c.ID)
	must(candidates > 0 || len(c.Members) == 0 || c.joins(), "all members are witnesses or on standby, so none can lead")
	must(c.Listen != "" || !found || strings.Contains(own, ":"), "Listen is missing: the address %q of member %d has no port", own, c.ID)
	c.checkJoin(must)
}

// lastVoter returns the largest identifier of a member that is not on standby.
func (c *Config) lastVoter() (largest uint64) {
	for _, m := range c.Members {
		if !m.Standby {
			largest = max(largest, m.ID)
		}
	}
	return largest
}

// joins reports whether this member joins a group that runs, and learns reports whether it learns from that where it is itself.
func (c *Config) joins() bool { return len(c.Join) > 0 }

func (c *Config) learns(m *MemberAddress) bool { return c.joins() && m.ID == c.ID && m.Address == "" }

// checkJoin reports what is wrong with Join and Listen.
func (c *Config) checkJoin(must func(ok bool, format string, args ...any)) {
	if c.Listen != "" {
		_, err := checkAddress(c.Listen, true)
		must(err == nil, "Listen: %v", err)
	}
	for _, seed := range c.Join {
		if strings.Contains(seed, ":") {
			err := cmp.Or(c.checkPlace(seed), book.Elsewhere(seed))
			must(err == nil, "Join: %v", err)
		} else {
			_, notNumeric := netip.ParseAddr(seed)
			must(notNumeric != nil, "Join: %q has no port; without one it is a name of SRV records", seed)
			must(seed != "" && !strings.ContainsAny(seed, "/ "), "Join: %q is neither host:port nor a name", seed)
		}
	}
}

// checkPlace checks the address of a member. With SRV it may be a name.
func (c *Config) checkPlace(address string) error {
	if c.SRV != "" && address != "" && !strings.ContainsAny(address, ":/ ") {
		return nil
	}
	host, err := checkAddress(address, false)
	if err == nil && host == "" {
		return fmt.Errorf("%q has no host, so other members cannot connect to it", address)
	}
	return err
}

func checkAddress(address string, anyPort bool) (host string, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("%q is not host:port", address)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 && !anyPort {
		return "", fmt.Errorf("%q does not end in a port from 1 to 65535", address)
	}
	if _, err := netip.ParseAddr(host); err != nil && strings.ContainsAny(host, " \t,/:%") { // it would be looked up for ever
		return "", fmt.Errorf("the host of %q is neither an address nor a name", address)
	}
	return host, nil
}

// program returns the algorithm, the unit of its time, and its parameters.
func (c *Config) program() (p *process.Program, unit time.Duration, parameters map[string]string) {
	t := &c.Timing
	if c.Algorithm == Bully {
		unit = time.Millisecond
		return bully.Program, unit, map[string]string{
			"delay": units(t.MessageDelay, unit), "known-dead": "decides", "asked-coordinator": "tells",
		}
	}
	unit = time.Microsecond
	preemption := "no"
	if c.Preempt {
		preemption = "yes"
	}
	return quorumbully.Program, unit, map[string]string{
		"delay": units(t.Answers/5, unit), "lease": units(t.Lease, unit), "shortest-lease": units(t.ShortestLease, unit), "longest-lease": units(t.LongestLease, unit),
		"rho":     fmt.Sprintf("%d/1000000", t.millionths()),
		"renewal": units(t.Renewal, unit), "answer-timeout": units(t.Answers, unit), "deferral": units(t.Defer, unit),
		"claim-timeout": units(t.Claim, unit), "preemption": preemption, "preempt-delay": units(t.Preempt, unit),
	}
}

// units returns a length of time in units, rounded up.
func units(d, unit time.Duration) string { return strconv.FormatInt(int64((d+unit-1)/unit), 10) }

// with returns the configuration of the member in another group.
func (c Config) with(g GroupConfig) (Config, error) {
	c.Group, c.Members, c.Prepare = g.Group, slices.Clone(c.Members), g.Prepare
	for i := range c.Members {
		if priority, given := g.Priorities[c.Members[i].ID]; given {
			c.Members[i].Priority = priority
			if c.Members[i].ID == c.ID {
				c.Weight = 0
			}
		}
	}
	var faults []error
	for _, id := range slices.Sorted(maps.Keys(g.Priorities)) {
		if !slices.ContainsFunc(c.Members, func(m MemberAddress) bool { return m.ID == id }) {
			faults = append(faults, fmt.Errorf("%w: Priorities has member %d, which is not among the members", ErrConfig, id))
		}
	}
	_, err := c.complete()
	return c, errors.Join(append(faults, err)...)
}

// live returns the configuration of the engine.
func (c *Config) live() (*process.Program, live.Config) {
	program, unit, parameters := c.program()
	l := live.Config{
		ID: c.ID, Heartbeat: c.Timing.Heartbeat, Suspicion: c.Timing.Suspicion, Stall: c.Timing.Stall, Unit: unit,
		Storage: c.Storage, Logger: c.Logger, Transport: c.Transport, Clock: c.Clock, Death: c.Death,
		Seeds: c.Join, GroupConfig: live.GroupConfig{Group: c.Group, Parameters: parameters},
	}
	if c.Algorithm == QuorumBully {
		if l.Death == [32]byte{} {
			l.Death = warden.Hash()
		}
		l.Entitled, l.Lease, l.Shortest = c.Timing.entitled(), c.Timing.Lease, c.Timing.ShortestLease
		l.Limits, l.Priorities = c.limits(), map[uint64]uint16{}
		for i := range c.Members {
			l.Priorities[c.Members[i].ID] = c.Members[i].weight()
		}
	}
	for _, m := range c.Members {
		l.Members = append(l.Members, transport.Member{ID: m.ID, Address: m.Address, Standby: m.Standby})
		if m.ID == c.ID {
			l.Elsewhere = c.Listen != "" && c.Listen != m.Address
		}
	}
	if l.Transport == nil {
		l.Transport = transport.TCP{Listen: c.Listen, TLS: c.TLS, Insecure: c.Insecure, SRV: c.SRV, Found: c.found}.Open
	}
	return program, l
}

// standing returns how this member stands for election at the beginning; nil: as Members have it.
func (c *Config) standing(unable error) *view.Standing {
	s := view.Standing{Weight: c.weight()}
	if unable != nil {
		s.Unable = unable.Error()
	}
	if c.Prepare != nil && s.Weight != 0 {
		s.Warmth = view.Warming
	}
	if s == (view.Standing{Weight: s.Weight}) && c.Weight == 0 {
		return nil
	}
	return &s
}

// limits returns, for people, what should be the same at all members, in at most live.MaxLimits bytes. Safety does not
// depend on it: each member has a lease of the length that it asked for, and the priority that it presents.
func (c *Config) limits() string {
	t := &c.Timing
	text := fmt.Sprintf("lease %v, shortest lease %v, longest lease %v, drift %v, renewal %v, preemption %v", t.Lease, t.ShortestLease, t.LongestLease, t.Drift, t.Renewal, c.Preempt)
	weights := map[uint64]uint16{}
	for i := range c.Members {
		weights[c.Members[i].ID] = c.Members[i].weight()
	}
	var priorities []string
	for _, id := range slices.Sorted(maps.Keys(weights)) {
		if w := weights[id]; w != 1 {
			priorities = append(priorities, fmt.Sprintf("%d:%d", id, w))
		}
	}
	if len(priorities) == 0 {
		return text
	}
	list := strings.Join(priorities, " ")
	if with := text + ", priorities " + list; len(with) <= live.MaxLimits {
		return with
	}
	return fmt.Sprintf("%s, %d priorities with the digest %x", text, len(priorities), transport.DigestOf("%s", list))
}

// weight returns the weight with which this member stands for election, at the beginning.
func (c *Config) weight() uint16 {
	if c.Weight != 0 {
		return c.Weight
	}
	return c.Members[slices.IndexFunc(c.Members, func(m MemberAddress) bool { return m.ID == c.ID })].weight()
}

// weight returns the weight that a member has by the configuration.
func (m *MemberAddress) weight() uint16 {
	if m.Witness {
		return 0
	}
	return max(1, m.Priority)
}
