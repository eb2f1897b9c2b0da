package transport_test

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/transport"
	"ringleader.example/ringleader/transport/transporttest"
)

// named is a member on real loopback, whose peer is found by its name.
type named struct {
	t      *testing.T
	member transport.Transport
	events chan any
}

// openNamed opens a member of a group of two. The other one's address is that which is given.
func openNamed(t *testing.T, id uint64, incarnation uint64, listen, other string, names server, refresh ...time.Duration) *named {
	t.Helper()
	h := &named{t: t, events: make(chan any, 1000)}
	members := []transport.Member{{ID: 1, Address: "127.0.0.1:1"}, {ID: 2, Address: "127.0.0.1:1"}}
	members[2-id].Address = other
	c := transport.Config{
		Self: int(id - 1), Members: members, Incarnation: incarnation, Log: slog.New(slog.DiscardHandler),
		Timing: transport.Timing{Heartbeat: time.Hour, Suspicion: time.Minute}, Post: h.post,
	}
	o := transport.TCP{Listen: listen, Insecure: true, SRV: "_ring._tcp.example", Resolver: names.Resolver(), Refresh: append(refresh, 10*time.Millisecond)[0]}
	var err error
	if h.member, err = o.Open(c); err != nil {
		t.Fatal(err)
	}
	h.member.Serve()
	t.Cleanup(h.member.Close)
	return h
}

func (h *named) post(event any) {
	switch e := event.(type) {
	case transport.Asked:
		e.Answer <- transport.Verdict{}
	case transport.Arrived:
		e.In.Admit(true)
	}
	select {
	case h.events <- event:
	default: // the test does not look at so many
	}
}

// await waits for an event that has a property.
func (h *named) await(what string, is func(any) bool) {
	h.t.Helper()
	overdue := time.After(time.Minute)
	for {
		select {
		case e := <-h.events:
			if is(e) {
				return
			}
		case <-overdue:
			h.t.Fatalf("never: %s", what)
		}
	}
}

func connected(e any) bool {
	d, is := e.(transport.Dialed)
	return is && d.Err == nil
}

func broken(e any) bool {
	_, is := e.(transport.Broken)
	return is
}

// refusedWith reports whether an attempt has failed for a reason.
func refusedWith(reason string) func(any) bool {
	return func(e any) bool {
		d, is := e.(transport.Dialed)
		return is && d.Err != nil && strings.Contains(d.Err.Error(), reason)
	}
}

// server is a name server of a test.
type server struct{ *transporttest.Names }

// await waits until so many questions have come.
func (s server) await(t *testing.T, questions int) {
	t.Helper()
	ticker, overdue := time.NewTicker(time.Millisecond), time.After(time.Minute)
	defer ticker.Stop()
	for s.Asked() < questions {
		select {
		case <-ticker.C:
		case <-overdue:
			t.Fatalf("there are no %d questions", questions)
		}
	}
}

func names(t *testing.T) server {
	t.Helper()
	n, err := transporttest.NewNames()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return server{n}
}

// free returns an address that is free, and its port.
func free(t *testing.T) (address string, port uint16) {
	t.Helper()
	addresses, err := rig.FreeAddresses(1)
	if err != nil {
		t.Fatal(err)
	}
	return addresses[0], netip.MustParseAddrPort(addresses[0]).Port()
}

func TestTheLastGoodAnswerCountsWhileNamesCannotBeLookedUp(t *testing.T) {
	for _, mood := range []transporttest.Mood{transporttest.Empty, transporttest.Failing, transporttest.Silent} {
		n := names(t)
		address, _ := free(t)
		_, port, _ := net.SplitHostPort(address)
		second := openNamed(t, 2, 100, address, "127.0.0.1:1", n)
		first := openNamed(t, 1, 1, "127.0.0.1:0", "two.example:"+port, n)
		first.member.Dial(1, 0)
		first.await("an attempt fails, as the name is not known", refusedWith("two.example"))
		n.Set("two.example", transporttest.Record{IP: "127.0.0.1"})
		first.await("a connection", connected)
		n.Become(mood)
		questions := 3 // of two lookups, so the first has been answered
		if mood == transporttest.Silent {
			questions = 1 // the second lookup would follow after five seconds
		}
		n.await(t, n.Asked()+questions)
		second.member.Close()
		first.await("the end of the connection", broken)
		openNamed(t, 2, 101, address, "127.0.0.1:1", n)
		first.member.Dial(1, 0)
		first.await("a connection without an answer", connected)
		first.member.Close()
	}
}

func TestAMemberIsFoundByItsRecordAndFollowedWhereItGoes(t *testing.T) {
	n := names(t)
	here, port := free(t)
	there, next := free(t)
	for next == port {
		there, next = free(t)
	}
	for _, host := range []string{"one.example", "ring-2.example", "ring-20.example"} {
		n.Set(host, transporttest.Record{IP: "127.0.0.1"})
	}
	others := []transporttest.Record{{Target: "one.example", Port: 1}, {Target: "ring-20.example", Port: 2}, {Target: "missing.example", Port: 3}}
	n.Set("_ring._tcp.example", others...)
	second := openNamed(t, 2, 100, here, "127.0.0.1:1", n)
	first := openNamed(t, 1, 1, "127.0.0.1:0", "ring-2", n)
	first.member.Dial(1, 0)
	first.await("no record", refusedWith("no record of _ring._tcp.example has the target ring-2"))
	n.Set("_ring._tcp.example", append(others, transporttest.Record{Target: "ring-2.example", Port: port})...)
	first.await("a connection", connected)
	second.member.Close()
	first.await("the end of the connection", broken)
	openNamed(t, 2, 101, there, "127.0.0.1:1", n)
	first.member.Dial(1, 0)
	first.await("the old place", refusedWith("refused"))
	n.Set("_ring._tcp.example", transporttest.Record{Target: "RING-2.example", Port: next})
	first.await("a connection to the new place", connected)
}

func TestANameMayHaveSeveralAddresses(t *testing.T) {
	n := names(t)
	address, _ := free(t)
	_, port, _ := net.SplitHostPort(address)
	n.Set("two.example", transporttest.Record{IP: "127.0.0.77"}, transporttest.Record{IP: "127.0.0.78"}, transporttest.Record{IP: "127.0.0.1"})
	openNamed(t, 2, 100, address, "127.0.0.1:1", n)
	first := openNamed(t, 1, 1, "127.0.0.1:0", "two.example:"+port, n)
	first.member.Dial(1, 0)
	first.await("a connection", connected)
	found, err := transport.TCP{Resolver: n.Resolver()}.Lookup(context.Background(), "two.example:7")
	if err != nil || len(found) != 3 {
		t.Errorf("%q, %v", found, err)
	}
}

func TestAFailureToConnectLooksANameUpAgain(t *testing.T) {
	n := names(t)
	address, _ := free(t)
	_, port, _ := net.SplitHostPort(address)
	openNamed(t, 2, 100, address, "127.0.0.1:1", n)
	n.Set("two.example", transporttest.Record{IP: "127.0.0.77"}) // where no member listens
	first := openNamed(t, 1, 1, "127.0.0.1:0", "two.example:"+port, n, time.Hour)
	first.member.Dial(1, 0)
	first.await("the wrong place", refusedWith("refused"))
	n.Set("two.example", transporttest.Record{IP: "127.0.0.1"})
	first.await("a connection", connected)
}

// Name servers give several addresses in another order each time. That is no news.
func TestAddressesInAnotherOrderAreNoNews(t *testing.T) {
	n := names(t)
	one, two := transporttest.Record{IP: "127.0.0.77"}, transporttest.Record{IP: "127.0.0.78"}
	told := make(chan []string, 1000)
	o := transport.TCP{
		Listen: "127.0.0.1:0", Insecure: true, Resolver: n.Resolver(), Refresh: time.Millisecond,
		Found: func(_ uint64, addresses []string) { told <- addresses },
	}
	n.Set("two.example", one, two)
	member, err := o.Open(transport.Config{
		Members: []transport.Member{{ID: 1, Address: "127.0.0.1:1"}, {ID: 2, Address: "two.example:7"}}, Log: slog.New(slog.DiscardHandler),
		Timing: transport.Timing{Heartbeat: time.Hour, Suspicion: time.Minute}, Post: func(any) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	member.Serve()
	defer member.Close()
	if first := <-told; len(first) != 2 {
		t.Fatal(first)
	}
	for range 3 {
		n.Set("two.example", two, one)
		n.await(t, n.Asked()+6)
		n.Set("two.example", one, two)
		n.await(t, n.Asked()+6)
	}
	n.Set("two.example", two)
	if next := <-told; len(next) != 1 {
		t.Errorf("the same addresses in another order are told: %v", next)
	}
}

// A scope belongs to an address: without it, no connection to a link-local one is possible. The file of hosts of a machine may give it.
func TestALookupKeepsTheScopeOfAnAddress(t *testing.T) {
	for address, want := range map[string]string{
		"[fe80::1%lo]:7001":      "[fe80::1%lo]:7001",
		"[::ffff:10.0.0.1]:7001": "10.0.0.1:7001",
		"[fd00::1]:7001":         "[fd00::1]:7001",
	} {
		if found, err := (transport.TCP{}).Lookup(t.Context(), address); err != nil || len(found) != 1 || found[0] != want {
			t.Errorf("%s leads to %v, %v; want %s", address, found, err, want)
		}
	}
}

// Names have no case, and a dot at the end means the same name.
func TestClearTextIsAllowedToThisMachineByName(t *testing.T) {
	for address, want := range map[string]bool{"localhost:1": true, "LocalHost:1": true, "localhost.:1": true, "localhost.example:1": false, "mylocalhost:1": false} {
		member, err := transport.TCP{Listen: "LOCALHOST:0"}.Open(transport.Config{
			Members: []transport.Member{{ID: 1, Address: "127.0.0.1:1"}, {ID: 2, Address: address}}, Log: slog.New(slog.DiscardHandler),
			Timing: transport.Timing{Heartbeat: time.Hour, Suspicion: time.Minute}, Post: func(any) {},
		})
		if (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
		if err == nil {
			member.Close()
		}
	}
}
