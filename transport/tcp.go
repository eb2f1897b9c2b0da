package transport

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// TCP holds the options of a transport over TCP.
type TCP struct {
	Listen string // host:port to listen on; without a host it is all interfaces, as in package net; optional: the member's own address

	// TLS secures the connections. Without it they are in clear text, which any process on their way can read and
	// change. So the address to listen on and those of all members must be loopback then, unless Insecure is set.
	TLS      TLS
	Insecure bool

	// SRV is a name whose records have the hosts and ports of the members without a port in their addresses: such an address is
	// the target of its record, or the first labels of it. Empty: all addresses have ports.
	SRV string

	// Names are looked up by Resolver, each again after Refresh, and after an attempt to connect that has failed. Optional: the
	// resolver of the system, and 30 seconds. Found is told each new answer for a member; optional.
	Resolver *net.Resolver
	Refresh  time.Duration
	Found    func(id uint64, addresses []string)

	// For tests: a listener that is taken over, and net.Dialer.DialContext, which looks up names itself.
	Listener net.Listener
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
}

// tcp is a transport over connections.
type tcp struct {
	Config
	TCP
	looks     bool // it looks up names itself
	ctx       context.Context
	cancel    context.CancelFunc
	group     sync.WaitGroup
	senders   sync.WaitGroup  // they send a goodbye
	staying   context.Context // until they do
	leave     context.CancelFunc
	strangers strangers
	certified strangers
	welcomes  chan struct{} // has an element for each goroutine with a connection that is not confirmed
	list      atomic.Pointer[roster]
	proofs    chan struct{} // has an element for each proof of death that waits for the member
	refusals  refusals
}

// Open listens. Its error names the member.
func (t TCP) Open(c Config) (Transport, error) {
	self := c.Members[c.Self]
	looks := t.Dial == nil
	if looks {
		t.Dial = new(net.Dialer).DialContext // with TCP_NODELAY, Go's default
	}
	t.Refresh = cmp.Or(t.Refresh, refreshed)
	if t.Listen == "" {
		t.Listen = self.Address
	}
	if t.Listener != nil {
		t.Listen = t.Listener.Addr().String()
	}
	if t.TLS != nil {
		if err := t.TLS.bind(MemberName(c.Name, self.ID), c.Log); err != nil {
			return nil, fmt.Errorf("member %d: %w", self.ID, err)
		}
	}
	if err := t.secure(c.Members); err != nil {
		return nil, fmt.Errorf("member %d: %w", self.ID, err)
	}
	if t.Listener == nil {
		var err error
		if t.Listener, err = net.Listen("tcp", t.Listen); err != nil {
			return nil, fmt.Errorf("member %d cannot listen: %w", self.ID, cmp.Or(unscoped(err), err))
		}
	}
	member := &tcp{Config: c, TCP: t, looks: looks, welcomes: make(chan struct{}, mostWelcomes), proofs: make(chan struct{}, mostProofs)}
	member.take(c.Members)
	member.ctx, member.cancel = context.WithCancel(context.Background())
	member.staying, member.leave = context.WithCancel(member.ctx)
	return member, nil
}

// secure checks that clear text to these members is allowed, or that there is none.
func (t *TCP) secure(members []Member) error {
	if t.TLS != nil || t.Insecure {
		return nil
	}
	addresses := []string{t.Listen}
	for _, m := range members {
		if !m.Unlisted && m.Address != "" {
			addresses = append(addresses, m.Address)
		}
	}
	for _, address := range addresses {
		host := hostOf(address)
		if ip, err := netip.ParseAddr(host); !isLocalhost(host) && (err != nil || !ip.IsLoopback()) {
			return fmt.Errorf("%s is not a loopback address, and connections would be in clear text; use TLS, or allow clear text", address)
		}
	}
	return nil
}

// roster is a list of members, with where those are whose addresses are names. It is not changed any more.
type roster struct {
	members []Member
	places  []*place // by position; nil: the address is no name
}

// member returns the member at a position.
func (t *tcp) member(position int) Member { return t.list.Load().members[position] }

func (t *tcp) List(members []Member) error {
	if err := t.secure(members); err != nil {
		return err
	}
	t.take(members)
	return nil
}

// take takes a list of members. What is known about a name that it has still remains known.
func (t *tcp) take(members []Member) {
	before, now := t.list.Load(), &roster{members: slices.Clone(members)}
	for i, m := range members {
		var p *place
		switch {
		case m.Unlisted || m.Address == "" || !t.looks || !isName(m.Address):
		case before != nil && i < len(before.members) && before.members[i].Address == m.Address:
			p = before.places[i]
		default:
			p = &place{address: m.Address, id: m.ID}
		}
		now.places = append(now.places, p)
		if !m.Unlisted {
			t.strangers.isMember(m.Address)
		}
	}
	t.list.Store(now)
}

func (t *tcp) Address() string { return t.Listener.Addr().String() }

func (t *tcp) Serve() {
	t.group.Go(t.accept)
	if t.TLS != nil {
		t.group.Go(t.watchCertificates)
	}
	if t.looks {
		t.group.Go(t.refresh)
	}
}

func (t *tcp) Close() {
	t.leave()
	t.Listener.Close()
	overdue := time.AfterFunc(LastWords, t.cancel)
	t.senders.Wait()
	overdue.Stop()
	t.cancel()
	t.group.Wait()
}

// self returns the identifier of this member.
func (t *tcp) self() uint64 { return t.Members[t.Self].ID }
