package transport

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// TCP holds the options of a transport over TCP.
type TCP struct {
	Listen string // host:port to listen on; no host is loopback; optional: the member's own address

	// For tests: a listener that is taken over, and net.Dialer.DialContext.
	Listener net.Listener
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
}

// tcp is a transport over connections.
type tcp struct {
	Config
	ctx       context.Context
	cancel    context.CancelFunc
	group     sync.WaitGroup
	senders   sync.WaitGroup  // they send a goodbye
	staying   context.Context // until they do
	leave     context.CancelFunc
	listener  net.Listener
	dialer    func(ctx context.Context, network, address string) (net.Conn, error)
	strangers strangers
}

// Open listens. Its error names the member.
func (t TCP) Open(c Config) (Transport, error) {
	if t.Dial == nil {
		t.Dial = new(net.Dialer).DialContext // with TCP_NODELAY, Go's default
	}
	if t.Listen == "" {
		t.Listen = c.Members[c.Self].Address
	}
	if t.Listener == nil {
		var err error
		if t.Listener, err = net.Listen("tcp", Loopback(t.Listen)); err != nil {
			return nil, fmt.Errorf("member %d cannot listen: %w", c.Members[c.Self].ID, err)
		}
	}
	member := &tcp{Config: c, listener: t.Listener, dialer: t.Dial}
	for _, m := range c.Members {
		member.strangers.isMember(Loopback(m.Address))
	}
	member.ctx, member.cancel = context.WithCancel(context.Background())
	member.staying, member.leave = context.WithCancel(member.ctx)
	return member, nil
}

func (t *tcp) Address() string { return t.listener.Addr().String() }

func (t *tcp) Serve() { t.group.Go(t.accept) }

func (t *tcp) Close() {
	t.leave()
	t.listener.Close()
	overdue := time.AfterFunc(LastWords, t.cancel)
	t.senders.Wait()
	overdue.Stop()
	t.cancel()
	t.group.Wait()
}

// self returns the identifier of this member.
func (t *tcp) self() uint64 { return t.Members[t.Self].ID }

// Loopback returns an address whose host, if it is missing, is loopback.
func Loopback(address string) string {
	if host, port, err := net.SplitHostPort(address); err == nil && host == "" {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}
