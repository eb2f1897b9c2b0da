package ringleader

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"ringleader.example/ringleader/internal/live"
	"ringleader.example/ringleader/transport"
)

// MemberAddress holds the identifier and the address of a member.
type MemberAddress struct {
	ID      uint64 // at least 1; the largest leads
	Address string // host:port; without a host it is loopback
}

// Config determines the group, and the member that this process is.
type Config struct {
	// Group is the name of the group: a member refuses peers with another name. The default is empty.
	Group string

	// ID is this member's identifier, one of those of Members.
	ID uint64

	// Members is the whole group, this member included. All members must have the same identifiers, in any order. The
	// spelling of an address may differ between them, provided that it leads to its member.
	Members []MemberAddress

	// Listen is the address to listen on, host:port; without a host it is loopback. The default is this
	// member's own address in Members. A member that listens elsewhere takes no part in elections until its own
	// address has reached it, from itself or from another member.
	Listen string

	// Data is the directory for state that must survive a crash. It is created if needed, and used by one process at a
	// time. The default is to keep nothing, so every start is a first one.
	Data string

	// MessageDelay is the longest time that a message takes, and its handling. A slower message may cause another
	// election. All members should have the same value. The default is 25 ms.
	MessageDelay time.Duration

	// Heartbeat is the interval at which a member shows the others that it is live. All members should have the same
	// Heartbeat and Suspicion. While these are changed at one member after the other, Status and the log name the
	// differences. The default is 50 ms.
	Heartbeat time.Duration

	// Suspicion is the silence after which a member is suspected to have crashed; a broken connection is seen at
	// once. It is at least three times Heartbeat. A member with rarer heartbeats than ours may miss three of its own.
	// The default is 400 ms, or eight times Heartbeat if that is given.
	Suspicion time.Duration

	// Logger gets the log; the default is to log nothing.
	Logger *slog.Logger

	transport transport.Open // for tests
}

// The errors of this package; the text states what is wrong, and what is valid.
var (
	ErrConfig = errors.New("configuration")
	ErrData   = live.ErrData  // the data directory cannot be used; the text names the file
	ErrWrite  = live.ErrWrite // an ErrData: the directory is valid, but the disk is, for example, full or broken
)

// unit is a tick of the algorithm's time.
const unit = time.Millisecond

// The limits of the durations in a Config; the upper ones keep sums far from overflow.
const (
	least = time.Millisecond
	most  = time.Hour
)

// complete sets the defaults and reports all errors.
func (c Config) complete() (Config, error) {
	var faults []error
	must := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("%w: %s", ErrConfig, fmt.Sprintf(format, args...)))
		}
	}

	must(c.ID != 0, "ID is missing; identifiers begin with 1")
	must(len(c.Members) > 0, "Members is empty; the group has this member at least")
	found := false
	ids, addresses := map[uint64]bool{}, map[string]uint64{}
	for i, m := range c.Members {
		must(m.ID != 0, "Members[%d] has no ID; identifiers begin with 1", i)
		must(m.ID == 0 || !ids[m.ID], "member %d is listed twice", m.ID)
		ids[m.ID] = true
		other, taken := addresses[m.Address]
		must(!taken || other == m.ID, "members %d and %d have the same address %s", other, m.ID, m.Address)
		addresses[m.Address] = m.ID
		if m.ID == c.ID {
			found = true
		}
		err := checkAddress(m.Address, false)
		must(err == nil, "the address of member %d: %v", m.ID, err)
	}
	must(found || c.ID == 0 || len(c.Members) == 0, "ID %d is not among the members", c.ID)
	if c.Listen != "" {
		err := checkAddress(c.Listen, true)
		must(err == nil, "Listen: %v", err)
	}

	if c.MessageDelay == 0 {
		c.MessageDelay = 25 * time.Millisecond
	}
	if c.Heartbeat == 0 {
		c.Heartbeat = 50 * time.Millisecond
	}
	if c.Suspicion == 0 {
		c.Suspicion = 8 * c.Heartbeat
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"MessageDelay", c.MessageDelay}, {"Heartbeat", c.Heartbeat}, {"Suspicion", c.Suspicion}} {
		must(d.value >= least && d.value <= most, "%s is from %v to %v, not %v", d.name, least, most, d.value)
	}
	must(c.Suspicion >= 3*c.Heartbeat, "Suspicion (%v) is at least three times Heartbeat (%v): one that is late must not kill a member",
		c.Suspicion, c.Heartbeat)
	return c, errors.Join(faults...)
}

func checkAddress(address string, anyPort bool) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q is not host:port", address)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 && !anyPort {
		return fmt.Errorf("%q does not end in a port from 1 to 65535", address)
	}
	return nil
}
