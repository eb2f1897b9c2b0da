package transport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Addresses of members may be names. Each is looked up before it is first dialled, after an attempt to connect that has failed,
// and periodically. The last good answer counts: one that is empty, and a failure, change nothing. So members find each
// other also while DNS does not answer. What is found are addresses of known members: the list of members, and the
// majority, are never those of an answer.

const (
	lookupTime = 5 * time.Second  // how long a lookup may take
	refreshed  = 30 * time.Second // the time between lookups of a name
	relooked   = time.Second      // the least time between the beginnings of two lookups of a name
)

// place is where a member is, whose address is a name.
type place struct {
	address string // in the list of members
	id      uint64

	mu    sync.Mutex
	known []string      // the last good answer, as numeric addresses; empty: there is none
	err   error         // of the last lookup
	begun time.Time     // when it began
	busy  bool          // it is under way
	ended chan struct{} // closed at its end; nil: none has begun
}

// isName reports whether an address has to be looked up.
func isName(address string) bool {
	host := hostOf(address)
	_, err := netip.ParseAddr(host)
	return err != nil && !isLocalhost(host)
}

// isLocalhost reports whether a host is the name that every machine has for itself. Case and a dot at the end do not count in names.
func isLocalhost(host string) bool {
	return strings.EqualFold(strings.TrimSuffix(host, "."), "localhost")
}

var errUnlisted = errors.New("it is not in the list of members")

// connect connects to the member at a position.
func (t *tcp) connect(ctx context.Context, to int) (net.Conn, error) {
	list := t.list.Load()
	p, member := list.places[to], &list.members[to]
	switch {
	case member.Unlisted:
		return nil, errUnlisted
	case p == nil:
		return t.TCP.Dial(ctx, "tcp", member.Address)
	}
	known, _ := p.answer()
	if len(known) == 0 {
		select {
		case <-t.look(p):
		case <-ctx.Done():
			return nil, fmt.Errorf("lookup of %s: %w", p.address, ctx.Err())
		}
		var err error
		if known, err = p.answer(); len(known) == 0 {
			return nil, err
		}
	}
	return t.dialAny(ctx, known)
}

// dialAny connects to the first of some addresses that answers, each within its part of the time.
func (t *tcp) dialAny(ctx context.Context, addresses []string) (net.Conn, error) {
	end, limited := ctx.Deadline()
	var first error
	for i, address := range addresses {
		within, cancel := ctx, context.CancelFunc(func() {})
		if limited {
			within, cancel = context.WithTimeout(ctx, time.Until(end)/time.Duration(len(addresses)-i))
		}
		conn, err := t.TCP.Dial(within, "tcp", address)
		cancel()
		if err == nil {
			return conn, nil
		}
		first = cmp.Or(first, err)
	}
	return nil, first
}

// answer returns the last good answer, and the error of the last lookup.
func (p *place) answer() ([]string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known, p.err
}

// look begins a lookup, unless one has begun just before. Its end closes the channel.
func (t *tcp) look(p *place) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy || p.ended != nil && time.Since(p.begun) < min(relooked, t.Refresh) {
		return p.ended
	}
	ended := make(chan struct{})
	p.begun, p.busy, p.ended = time.Now(), true, ended
	t.group.Go(func() {
		defer close(ended)
		ctx, cancel := context.WithTimeout(t.ctx, lookupTime)
		defer cancel()
		addresses, err := t.Lookup(ctx, p.address)
		t.found(p, addresses, err)
	})
	return ended
}

// found takes an answer, if it is a good one.
func (t *tcp) found(p *place, addresses []string, err error) {
	p.mu.Lock()
	before, failed := p.known, p.err != nil
	p.busy, p.err = false, err
	if err == nil {
		p.known = addresses
	}
	p.mu.Unlock()
	switch {
	case t.ctx.Err() != nil:
	case err != nil && !failed:
		t.Log.Warn("the address of a member cannot be looked up", "peer", p.id, "address", p.address, "known", before, "error", err)
	case err == nil && !slices.Equal(slices.Sorted(slices.Values(before)), slices.Sorted(slices.Values(addresses))): // name servers change the order
		t.Log.Info("the address of a member was looked up", "peer", p.id, "address", p.address, "found", addresses)
		for _, address := range addresses {
			t.strangers.isMember(address)
		}
		if t.Found != nil {
			t.Found(p.id, addresses)
		}
	}
}

// errEmpty reports an answer without an address.
var errEmpty = errors.New("it has no address")

// Lookup returns the numeric addresses for the address of a member, by Resolver and SRV. There is at least one, or an error.
func (t TCP) Lookup(ctx context.Context, address string) (addresses []string, err error) {
	resolver := cmp.Or(t.Resolver, net.DefaultResolver)
	host, port, err := net.SplitHostPort(address)
	if err == nil {
		return lookupHost(ctx, resolver, host, port)
	}
	_, records, err := resolver.LookupSRV(ctx, "", "", t.SRV)
	if len(records) == 0 {
		return nil, cmp.Or(err, fmt.Errorf("lookup of %s: %w", t.SRV, errEmpty))
	}
	err = fmt.Errorf("no record of %s has the target %s", t.SRV, address)
	for _, r := range records {
		if !isTarget(r.Target, address) {
			continue
		}
		var more []string
		more, err = lookupHost(ctx, resolver, r.Target, strconv.Itoa(int(r.Port)))
		addresses = append(addresses, more...)
	}
	if len(addresses) == 0 {
		return nil, err
	}
	slices.Sort(addresses) // records of one priority come in a random order
	return addresses, nil
}

// isTarget reports whether the target of a record is a name, or begins with its labels.
func isTarget(target, name string) bool {
	whole := func(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) + "." }
	return strings.HasPrefix(whole(target), whole(name))
}

// lookupHost returns the addresses of a host, with a port.
func lookupHost(ctx context.Context, r *net.Resolver, host, port string) (addresses []string, err error) {
	all, err := r.LookupIPAddr(ctx, host) // not LookupNetIP, which drops the scope of a link-local address
	for _, a := range all {
		addresses = append(addresses, net.JoinHostPort(a.String(), port))
	}
	if len(addresses) == 0 {
		return nil, cmp.Or(err, fmt.Errorf("lookup of %s: %w", host, errEmpty))
	}
	return addresses, nil
}

// refresh looks all names up again and again.
func (t *tcp) refresh() {
	ticker := time.NewTicker(t.Refresh)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-t.ctx.Done():
			return
		}
		for _, p := range t.list.Load().places {
			if p != nil {
				t.look(p)
			}
		}
	}
}
