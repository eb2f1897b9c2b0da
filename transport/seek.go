package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// mostSought is how many addresses of a name are asked at most.
const mostSought = 64

func (t *tcp) Seek(address string) {
	t.group.Go(func() {
		ctx, cancel := context.WithTimeout(t.ctx, lookupTime)
		defer cancel()
		found, err := t.sought(ctx, address)
		if err != nil {
			t.Post(Met{Address: address, Err: err})
		}
		for _, at := range found[:min(len(found), mostSought)] {
			id, err := t.ask(at)
			t.Post(Met{Address: at, ID: id, Err: err})
		}
	})
}

// sought returns the addresses for one that is sought.
func (t *tcp) sought(ctx context.Context, address string) (found []string, err error) {
	switch {
	case !t.looks || !isName(address):
		return []string{address}, nil
	case strings.Contains(address, ":"):
		return t.Lookup(ctx, address)
	}
	resolver := t.Resolver
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	_, records, err := resolver.LookupSRV(ctx, "", "", address)
	for _, r := range records {
		more, e := lookupHost(ctx, resolver, r.Target, strconv.Itoa(int(r.Port)))
		found = append(found, more...)
		if e != nil && err == nil {
			err = e
		}
	}
	switch {
	case len(found) > 0:
		return found, nil
	case err == nil:
		err = fmt.Errorf("lookup of %s: %w", address, errEmpty)
	}
	return nil, err
}

// ask asks which member is at an address. The name in its certificate must be of this group.
func (t *tcp) ask(address string) (id uint64, err error) {
	if err := t.secure([]Member{{Address: address}}); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(t.ctx, t.Timing.Suspicion)
	defer cancel()
	raw, err := t.TCP.Dial(ctx, "tcp", address)
	if err != nil {
		return 0, unreached(err, t.Timing.Suspicion)
	}
	defer raw.Close()
	defer context.AfterFunc(ctx, func() { raw.Close() })()
	raw.SetDeadline(time.Now().Add(t.Timing.Suspicion))
	var conn net.Conn = &guarded{Conn: raw, left: strangerBytes}
	if t.TLS != nil {
		if conn, err = t.TLS.client(conn, strings.TrimSuffix(MemberName(t.Name, 0), "0")); err != nil {
			return 0, err
		}
	}
	ours := t.Hello(0)
	if _, err := conn.Write(ours.Encode()); err != nil {
		return 0, err
	}
	h, err := ReadHello(conn)
	var v Verdict
	if err == nil {
		v, err = ReadVerdict(conn)
	}
	switch {
	case errors.As(err, new(*Refusal)): // by TLS
		return 0, err
	case err != nil:
		return 0, fmt.Errorf("no answer: %w", err)
	case v.Code == Introduced || v.Code == RefusedSelf && h.Incarnation == ours.Incarnation:
		return h.From, nil
	}
	return 0, (*Refusal)(&v)
}
