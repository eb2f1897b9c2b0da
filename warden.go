package ringleader

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"ringleader.example/ringleader/internal/serve/canary"
	"ringleader.example/ringleader/internal/serve/live"
	"ringleader.example/ringleader/internal/serve/warden"
)

// ErrNoWarden reports that this process runs without a warden.
var ErrNoWarden = warden.ErrNone

// Warden lets the program run under a warden, so that a crash of a leader costs milliseconds and not the rest of its lease.
// It is called at the start of main, before anything else happens:
//
//	func main() {
//		ringleader.Warden()
//		…
//
// The first call in a process starts the program again, as a child with the same arguments, environment and open files,
// and never returns: this process is the warden. It passes on SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1 and SIGUSR2. When the
// child has ended, it kills all that the child has started and left, and proves to the other members that this life and
// its work are dead. A member that was closed needs no proof. The warden then ends with the status of the child: 128 and
// the number of the signal that killed it, if one did. If the warden is killed, the kernel kills the child, and the
// others wait for the end of the lease.
//
// In the child, Warden returns nil. It returns [ErrNoWarden], with the reason, if there is none: outside Linux, or if the
// child cannot be started. The program then runs without one, and [Join] says so in the log.
//
// With a call of Warden, also where there is none, the store and Config.ProgressPaths are watched in a process of its own, which is this program
// again and never returns from the call. A disk that hangs then holds up neither the end of this process nor the proof of its death. Without a
// call they are watched in this process.
//
// The proof covers only descendants of this process: not, for example, a container that a daemon runs for it.
func Warden() error {
	canary.Be()
	return warden.Start()
}

// watchLoop lets the warden watch that the loop of a member works. It kills the process of one that does nothing.
func (c *Config) watchLoop(l *live.Config) {
	if c.Algorithm != QuorumBully || c.Timing.Hang == 0 || !c.systemClock {
		return
	}
	if pulse := warden.NewPulse(); pulse != nil {
		l.Pulse, l.Hang = pulse, c.Timing.Hang
	}
}

// tellMissing says that there is no warden, although the program has asked for one.
func tellMissing(c *Config, err error) {
	if err != nil {
		c.Logger.Warn("this process has no warden: if it crashes, the others wait for the end of its lease", "member", c.ID, "error", err)
	}
}

// addressBook tells the warden where the others are, as last known: at the death of this process a lookup may fail.
type addressBook struct {
	config Config
	file   string // the handle of the lease file; empty: none

	mu    sync.Mutex
	told  bool // the warden knows of this member
	found map[uint64][]string
}

// begin tells the warden of this member.
func (b *addressBook) begin() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.told = true
	return b.tell()
}

// note takes new addresses of a member.
func (b *addressBook) note(id uint64, addresses []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.found[id] = addresses
	if b.told {
		_ = b.tell() // Join has warned if the warden does not listen
	}
}

// relist takes the list of members that holds now.
func (b *addressBook) relist(list func() []MemberAddress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.config.Members = list()
	if b.told {
		_ = b.tell()
	}
}

func (b *addressBook) tell() error {
	return warden.Joined(b.config.ID, b.others(), b.config.Timing.Lease, b.file)
}

// others returns where the other members listen. The warden tells them in this order, so those that may lead next come first: in a group of 25 on
// one machine the last one heard of a death 19 ms after the first.
func (b *addressBook) others() (addresses []string) {
	members := slices.Clone(b.config.Members)
	slices.SortStableFunc(members, func(x, y MemberAddress) int {
		return cmp.Or(cmp.Compare(y.weight(), x.weight()), cmp.Compare(y.ID, x.ID))
	})
	for _, m := range members {
		switch found := b.found[m.ID]; {
		case m.ID == b.config.ID:
		case found != nil:
			addresses = append(addresses, found...)
		case strings.Contains(m.Address, ":"): // else it was never found
			addresses = append(addresses, m.Address)
		}
	}
	return addresses
}
