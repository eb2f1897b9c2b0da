package transport_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/transport"
	"ringleader.example/ringleader/transport/transporttest"
)

// authority issues certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{key: newKey(t)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: rand.Text()},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(1000 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return a
}

// issue returns a certificate for a member, which change may alter.
func (a *authority) issue(t *testing.T, group string, id uint64, change func(*x509.Certificate)) tls.Certificate {
	t.Helper()
	template, err := transport.CertificateTemplate(group, id)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(2)
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(100*time.Hour)
	if change != nil {
		change(template)
	}
	key := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// pool returns what trusts authorities.
func pool(authorities ...*authority) *x509.CertPool {
	p := x509.NewCertPool()
	for _, a := range authorities {
		p.AddCert(a.certificate)
	}
	return p
}

func fixed(c tls.Certificate, authorities *x509.CertPool) transport.TLS {
	return transport.NewTLS(func() (*transport.Credentials, error) {
		return &transport.Credentials{Certificate: c, Authorities: authorities}, nil
	})
}

// member returns TLS for a member.
func (a *authority) member(t *testing.T, id uint64) transport.TLS {
	t.Helper()
	return fixed(a.issue(t, "group", id, nil), pool(a))
}

// later makes a certificate valid in an hour.
func later(c *x509.Certificate) {
	c.NotBefore, c.NotAfter = time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
}

func within(d time.Duration) func(*x509.Certificate) {
	return func(c *x509.Certificate) { c.NotAfter = time.Now().Add(d) }
}

func TestMembersWithCertificatesExchangeFrames(t *testing.T) {
	for _, group := range []string{"group", "", "a/b", "..", "a:b?c#d%", "ü x"} {
		synctest.Test(t, func(t *testing.T) {
			n, ca := newLAN(t), newAuthority(t)
			var hosts []*host
			for id := range uint64(2) {
				c := config(id + 1)
				c.Name = group
				security := fixed(ca.issue(t, group, id+1, nil), pool(ca))
				hosts = append(hosts, open(t, n.tcp(id+1, security).Open, c))
				defer hosts[id].t.Close()
			}
			for id, h := range hosts {
				out, err := h.dials(t, uint64(2-id))
				if err != nil {
					t.Fatalf("group %q: %v", group, err)
				}
				out.Send(frame(1, "a"), 0)
				for range 3 { // more than a stranger may send
					out.Send(transport.AppendFrame(nil, 2, make([]byte, transport.MaxPayload)), 0)
				}
				out.Send(frame(3, "b"), 0)
			}
			for i, h := range hosts {
				got := noted(h, func() []string { return h.messages })
				if len(got) != 5 || got[0] != fmt.Sprintf("1 from %d: a", 2-i) || got[4] != fmt.Sprintf("3 from %d: b", 2-i) {
					t.Errorf("group %q: %q", group, got)
				}
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// usages returns a change of what a certificate is for.
func usages(of ...x509.ExtKeyUsage) func(*x509.Certificate) {
	return func(c *x509.Certificate) { c.ExtKeyUsage = of }
}

func alsoNames(t *testing.T, id uint64) func(*x509.Certificate) {
	other, err := transport.CertificateTemplate("group", id)
	if err != nil {
		t.Fatal(err)
	}
	return func(c *x509.Certificate) { c.URIs = append(c.URIs, other.URIs...) }
}

func nameless(c *x509.Certificate) { c.URIs = nil }

// A dialer that is member 2, as it claims, may connect to member 1; no other process may.
func TestAListenerAcceptsOnlyTheMemberThatTheCertificateNames(t *testing.T) {
	for _, test := range []struct {
		name    string
		foreign bool // it is by another authority
		none    bool
		group   string
		id      uint64
		change  func(*x509.Certificate)
		version uint16
		want    string // the reason
	}{
		{name: "right", group: "group", id: 2},
		{name: "by another authority", foreign: true, group: "group", id: 2, want: "remote error: tls: unknown certificate authority"},
		{name: "none", none: true, want: "remote error: tls: certificate required"},
		{name: "expired", group: "group", id: 2, change: within(-time.Minute), want: "remote error: tls: expired certificate"},
		{name: "for servers", group: "group", id: 2, change: usages(x509.ExtKeyUsageServerAuth), want: "remote error: tls: bad certificate"},
		{name: "of another member", group: "group", id: 3, want: "the certificate names ringleader:group/3, not ringleader:group/2"},
		{name: "of another group", group: "other", id: 2, want: "the certificate names ringleader:other/2, not ringleader:group/2"},
		{name: "of two members", group: "group", id: 2, change: alsoNames(t, 3), want: "the certificate names ringleader:group/2 and ringleader:group/3, not ringleader:group/2"},
		{name: "of no member", group: "group", id: 2, change: nameless, want: "the certificate names no member, not ringleader:group/2"},
		{name: "right, in TLS 1.2", group: "group", id: 2, version: tls.VersionTLS12, want: "remote error: tls: protocol version not supported"},
	} {
		synctest.Test(t, func(t *testing.T) {
			n, ca := newLAN(t), newAuthority(t)
			one := n.host(1, ca.member(t, 1))
			defer one.t.Close()
			c := &tls.Config{InsecureSkipVerify: true, MaxVersion: test.version}
			if issuer := ca; !test.none {
				if test.foreign {
					issuer = newAuthority(t)
				}
				certificate := issuer.issue(t, test.group, test.id, test.change)
				c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &certificate, nil }
			}
			conn := tls.Client(n.call(at(2), at(1)), c)
			defer conn.NetConn().Close()
			h := config(2)
			hello := h.Hello(1)
			_, err := conn.Write(hello.Encode())
			var answer transport.Hello
			var v transport.Verdict
			if err == nil {
				answer, err = transport.ReadHello(conn)
			}
			if err == nil {
				v, err = transport.ReadVerdict(conn)
			}
			if got := text(err) + v.Reason; got != test.want {
				t.Errorf("a certificate %s: %q, not %q", test.name, got, test.want)
			}
			if asked := noted(one, func() int { return one.asked }); (asked == 1) != (test.want == "") || asked == 0 && answer.Incarnation != 0 {
				t.Errorf("a certificate %s: the member is asked %d times, and answers %+v", test.name, asked, answer)
			}
		})
	}
}

// Only member 2 may answer where member 1 dials it.
func TestADialerAcceptsOnlyTheMemberThatItDials(t *testing.T) {
	for _, test := range []struct {
		name    string
		foreign bool
		group   string
		id      uint64
		change  func(*x509.Certificate)
		version uint16
		want    string
	}{
		{name: "right", group: "group", id: 2},
		{name: "by another authority", foreign: true, group: "group", id: 2, want: "its certificate is refused: it is signed by an unknown authority: give all members certificates of one authority"},
		{name: "expired", group: "group", id: 2, change: within(-time.Minute), want: "its certificate is refused: it has expired on 1999-12-31 23:59:00: renew it"},
		{name: "not valid yet", group: "group", id: 2, change: later, want: "its certificate is refused: it is not valid before 2000-01-01 01:00:00: set the clock of this machine, or wait"},
		{name: "for clients", group: "group", id: 2, change: usages(x509.ExtKeyUsageClientAuth), want: "its certificate is refused: x509: certificate specifies an incompatible key usage"},
		{name: "of another member", group: "group", id: 3, want: "its certificate is refused: it names ringleader:group/3, not ringleader:group/2: make one for that member"},
		{name: "of another group", group: "other", id: 2, want: "its certificate is refused: it names ringleader:other/2, not ringleader:group/2"},
		{name: "right, in TLS 1.2", group: "group", id: 2, version: tls.VersionTLS12, want: "refused: tls: protocol version not supported"},
	} {
		synctest.Test(t, func(t *testing.T) {
			n, ca := newLAN(t), newAuthority(t)
			one := n.host(1, ca.member(t, 1))
			defer one.t.Close()
			issuer := ca
			if test.foreign {
				issuer = newAuthority(t)
			}
			server := &tls.Config{
				Certificates: []tls.Certificate{issuer.issue(t, test.group, test.id, test.change)},
				MaxVersion:   test.version, ClientAuth: tls.RequireAnyClientCert,
			}
			listener := n.Listen(at(2))
			defer listener.Close()
			go answer(listener, func(conn net.Conn) net.Conn { return tls.Server(conn, server) }, transport.Verdict{})
			_, err := one.dials(t, 2)
			if got := text(err); got != test.want && (test.want == "" || !strings.HasPrefix(got, test.want)) {
				t.Errorf("a certificate %s: %q, not %q", test.name, got, test.want)
			}
		})
	}
}

// answer plays member 2 for the first process that connects: it accepts a Hello.
func answer(l net.Listener, secure func(net.Conn) net.Conn, v transport.Verdict) {
	raw, err := l.Accept()
	if err != nil {
		return
	}
	conn := secure(raw)
	if _, err := transport.ReadHello(conn); err == nil {
		c := config(2)
		h := c.Hello(1)
		conn.Write(append(h.Encode(), v.Encode()...))
		io.Copy(io.Discard, conn)
	}
	raw.Close()
}

func TestAMemberIsToldWhyItIsNotAccepted(t *testing.T) {
	for _, test := range []struct {
		name     string
		one, two func(ours, theirs *authority) transport.TLS
		want     string
	}{
		{
			"its authority is unknown",
			func(ours, theirs *authority) transport.TLS {
				return fixed(ours.issue(t, "group", 1, nil), pool(ours, theirs))
			},
			func(_, theirs *authority) transport.TLS { return theirs.member(t, 2) },
			"refused: the certificate of this member: tls: unknown certificate authority",
		},
		{
			"it alone uses TLS",
			func(ours, _ *authority) transport.TLS { return ours.member(t, 1) },
			func(_, _ *authority) transport.TLS { return nil },
			"it does not use TLS, and this member does",
		},
		{
			"it alone does not use TLS",
			func(_, _ *authority) transport.TLS { return nil },
			func(_, theirs *authority) transport.TLS { return theirs.member(t, 2) },
			"refused: member 2 takes only connections with TLS",
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			n, ours, theirs := newLAN(t), newAuthority(t), newAuthority(t)
			one, two := n.host(1, test.one(ours, theirs)), n.host(2, test.two(ours, theirs))
			defer one.t.Close()
			defer two.t.Close()
			if _, err := one.dials(t, 2); text(err) != test.want {
				t.Errorf("%s: %q", test.name, text(err))
			}
			if asked := noted(two, func() int { return two.asked }); asked != 0 {
				t.Errorf("%s: the other member is asked about it", test.name)
			}
		})
	}
}

// A process that listens at the address of a member could end the others otherwise.
func TestAProcessWithoutACertificateCannotReportADuplicate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, ca := newLAN(t), newAuthority(t)
		one := n.host(1, ca.member(t, 1))
		defer one.t.Close()
		listener := n.Listen(at(2))
		defer listener.Close()
		go func() {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			c := config(2)
			h := c.Hello(1)
			conn.Write(append(h.Encode(), transport.Verdict{Code: transport.RefusedDuplicate}.Encode()...))
			io.Copy(io.Discard, conn)
			conn.Close()
		}()
		var refusal *transport.Refusal
		if _, err := one.dials(t, 2); errors.As(err, &refusal) {
			t.Errorf("it is believed: %v", refusal)
		}
	})
}

func TestAnAuthenticatedMemberIsNoStranger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, ca := newLAN(t), newAuthority(t)
		one, two := n.host(1, ca.member(t, 1)), n.host(2, ca.member(t, 2))
		defer one.t.Close()
		defer two.t.Close()
		one.busy = true
		two.t.Dial(0, 0)
		answers := noted(one, func() []chan<- transport.Verdict { return one.verdicts })
		flood(n, at(2), transport.MostStrangers+1)
		answers[0] <- transport.Verdict{}
		if got := noted(one, func() int { return len(one.in) }); got != 1 {
			t.Errorf("it has %d connections after a flood from its host", got)
		}
	})
}

// A member with a certificate may flood, too. It closes its own connections, and no others.
func TestAFloodOfOneMemberLeavesTheOthersIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, ca := newLAN(t), newAuthority(t)
		one := n.host(1, ca.member(t, 1))
		defer one.t.Close()
		call := func(id uint64, from string) *tls.Conn {
			certificate := ca.issue(t, "group", id, nil)
			conn := tls.Client(n.call(from, at(1)), &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{certificate}})
			t.Cleanup(func() { conn.NetConn().Close() })
			c := config(id)
			h := c.Hello(1)
			conn.Write(h.Encode())
			synctest.Wait()
			return conn
		}
		standing := call(3, at(3))
		standing.Write(transport.HeartbeatFrame)
		noted(one, func() any { one.busy = true; return nil })
		waiting := call(2, at(2))
		var flood []*tls.Conn
		for i := range transport.MostStrangers + 1 {
			flood = append(flood, call(3, fmt.Sprintf("host%d:1", i)))
		}
		for _, test := range []struct {
			name string
			conn *tls.Conn
		}{{"of 2", waiting}, {"that stands", standing}} {
			if isClosed(test.conn.NetConn()) {
				t.Errorf("the connection %s is closed", test.name)
			}
		}
		closed := 0
		for _, conn := range flood {
			if isClosed(conn.NetConn()) {
				closed++
			}
		}
		if closed != len(flood)+1-transport.MostStrangers {
			t.Errorf("of %d connections of 3, %d are closed", len(flood), closed)
		}
	})
}

// isClosed reports whether the other end has closed a connection.
func isClosed(conn net.Conn) bool {
	conn.SetWriteDeadline(time.Now().Add(1))
	_, err := conn.Write([]byte{0})
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// flood begins handshakes with member 1 from a host, and returns the connections.
func flood(n lan, from string, count int) (conns []net.Conn) {
	for range count {
		conn := n.call(from, at(1))
		conn.Write([]byte{0x16, 3, 1, 1, 0, 1, 0, 0, 0xfc, 3, 3})
		conns = append(conns, conn)
		n.t.Cleanup(func() { conn.Close() })
	}
	synctest.Wait()
	return conns
}

func TestAFloodOfHandshakesLeavesRoomForMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, ca := newLAN(t), newAuthority(t)
		one, two := n.host(1, ca.member(t, 1)), n.host(2, ca.member(t, 2))
		defer one.t.Close()
		defer two.t.Close()
		open := 0
		for _, conn := range flood(n, "flood:1", 3*transport.MostStrangers) {
			conn.SetReadDeadline(time.Now().Add(1))
			if _, err := conn.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
				open++
			}
		}
		if open != transport.MostStrangers {
			t.Errorf("%d handshakes are under way", open)
		}
		if _, err := two.dials(t, 1); err != nil {
			t.Errorf("a member meanwhile: %v", err)
		}
	})
}

func TestAStrangerCannotSendMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, ca := newLAN(t), newAuthority(t)
		one := n.host(1, ca.member(t, 1))
		defer one.t.Close()
		conn, begun := n.call("stranger:1", at(1)), time.Now()
		defer conn.Close()
		record := append([]byte{0x16, 3, 1, 0x40, 0}, make([]byte, 1<<14)...)
		copy(record[5:], []byte{1, 0, 0xff, 0xff}) // the beginning of a ClientHello of 65 kB
		sent := 0
		for {
			k, err := conn.Write(record)
			sent += k
			if err != nil {
				break
			}
			clear(record[5:])
		}
		if most := 1<<15 + 2*transporttest.Buffer; sent > most || time.Since(begun) != 0 {
			t.Errorf("it sent %d bytes, and was left after %v", sent, time.Since(begun))
		}
	})
}

// changing is a source whose credentials a test changes.
type changing struct {
	now atomic.Pointer[transport.Credentials]
}

func (c *changing) use(certificate tls.Certificate, authorities *x509.CertPool) transport.TLS {
	c.now.Store(&transport.Credentials{Certificate: certificate, Authorities: authorities})
	return transport.NewTLS(func() (*transport.Credentials, error) {
		if now := c.now.Load(); now.Authorities != nil {
			return now, nil
		}
		return nil, errors.New("no certificates at the moment")
	})
}

func TestAConnectionEndsWithTheFirstCertificateThatExpires(t *testing.T) {
	for _, test := range []struct {
		name     string
		one, two time.Duration // validity of their certificates
	}{{"of the dialer", 10 * time.Second, time.Hour}, {"of the listener", time.Hour, 10 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			n, ca := newLAN(t), newAuthority(t)
			var sources [2]changing
			one := n.host(1, sources[0].use(ca.issue(t, "group", 1, within(test.one)), pool(ca)))
			two := n.host(2, sources[1].use(ca.issue(t, "group", 2, within(test.two)), pool(ca)))
			defer one.t.Close()
			defer two.t.Close()
			out, err := one.dials(t, 2)
			if err != nil {
				t.Fatal(err)
			}
			sources[0].use(ca.issue(t, "group", 1, nil), pool(ca)) // handshakes from now on take these
			sources[1].use(ca.issue(t, "group", 2, nil), pool(ca))
			begun := time.Now()
			for time.Since(begun) <= 10*time.Second {
				if got := noted(one, func() int { return len(one.broken) }) + noted(two, func() int { return len(two.ended) }); got > 0 {
					t.Fatalf("%s: it has ended after %v", test.name, time.Since(begun))
				}
				out.Beat(false)
				<-time.After(beat)
			}
			out.Beat(false)
			if got := noted(one, func() []error { return one.broken }); len(got) != 1 || !strings.Contains(text(got[0]), "has expired") {
				t.Errorf("%s: it ends for its dialer with %v", test.name, got)
			}
			if got := noted(two, func() int { return len(two.ended) }); got != 1 {
				t.Errorf("%s: it does not end for its listener", test.name)
			}
			next, err := one.dials(t, 2)
			if err != nil {
				t.Errorf("%s: with new certificates: %v", test.name, err)
			}
			<-time.After(beat)
			next.Beat(false)
			if got := noted(one, func() int { return len(one.broken) }); got != 1 {
				t.Errorf("%s: the next connection ends, too", test.name)
			}
		})
	}
}

// Each side looks at both certificates: the other one may not.
func TestEachSideEndsAConnectionWithAnExpiredCertificate(t *testing.T) {
	for _, test := range []struct {
		name     string
		one, two time.Duration
	}{{"of the dialer", 10 * time.Second, time.Hour}, {"of the listener", time.Hour, 10 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			n, ca := newLAN(t), newAuthority(t)
			two := n.host(2, fixed(ca.issue(t, "group", 2, within(test.two)), pool(ca)))
			defer two.t.Close()
			conn := tls.Client(n.call(at(1), at(2)), &tls.Config{
				InsecureSkipVerify: true, Certificates: []tls.Certificate{ca.issue(t, "group", 1, within(test.one))},
			})
			defer conn.NetConn().Close()
			c := config(1)
			h := c.Hello(2)
			conn.Write(h.Encode())
			if _, err := io.ReadFull(conn, make([]byte, transport.HelloSize+2)); err != nil {
				t.Fatal(err)
			}
			for range 220 {
				conn.Write(transport.HeartbeatFrame)
				<-time.After(beat)
			}
			if got := noted(two, func() []error { return two.ended }); len(got) != 1 || !strings.Contains(text(got[0]), "has expired") {
				t.Errorf("%s: its end for the listener: %v", test.name, got)
			}
		})
		synctest.Test(t, func(t *testing.T) {
			n, ca := newLAN(t), newAuthority(t)
			one := n.host(1, fixed(ca.issue(t, "group", 1, within(test.one)), pool(ca)))
			defer one.t.Close()
			server := &tls.Config{
				Certificates: []tls.Certificate{ca.issue(t, "group", 2, within(test.two))}, ClientAuth: tls.RequireAnyClientCert,
			}
			listener := n.Listen(at(2))
			defer listener.Close()
			go answer(listener, func(conn net.Conn) net.Conn { return tls.Server(conn, server) }, transport.Verdict{})
			out, err := one.dials(t, 2)
			if err != nil {
				t.Fatal(err)
			}
			<-time.After(10*time.Second + beat)
			out.Beat(false)
			if got := noted(one, func() []error { return one.broken }); len(got) != 1 || !strings.Contains(text(got[0]), "has expired") {
				t.Errorf("%s: its end for the dialer: %v", test.name, got)
			}
		})
	}
}

// tickets counts the sessions that a client could resume.
type tickets int

func (k *tickets) Get(string) (*tls.ClientSessionState, bool) { return nil, false }

func (k *tickets) Put(_ string, s *tls.ClientSessionState) {
	if s != nil {
		*k++
	}
}

func TestNoSessionCanBeResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, ca := newLAN(t), newAuthority(t)
		one := n.host(1, ca.member(t, 1))
		defer one.t.Close()
		var resumable tickets
		conn := tls.Client(n.call(at(2), at(1)), &tls.Config{
			InsecureSkipVerify: true, Certificates: []tls.Certificate{ca.issue(t, "group", 2, nil)},
			ClientSessionCache: &resumable, ServerName: "member1",
		})
		defer conn.NetConn().Close()
		c := config(2)
		h := c.Hello(1)
		conn.Write(h.Encode())
		if _, err := transport.ReadHello(conn); err != nil || resumable > 0 {
			t.Errorf("%d sessions can be resumed, %v", resumable, err)
		}
	})
}

// TLS would otherwise wait for its own last words to be read.
func TestAPeerWithTLSThatReadsNothingIsLeftAtTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, ca := newLAN(t), newAuthority(t)
		one := n.host(1, ca.member(t, 1))
		defer one.t.Close()
		server := &tls.Config{
			Certificates: []tls.Certificate{ca.issue(t, "group", 2, nil)}, ClientAuth: tls.RequireAnyClientCert,
		}
		listener := n.Listen(at(2))
		defer listener.Close()
		go answer(listener, func(conn net.Conn) net.Conn { return tls.Server(conn, server) }, transport.Verdict{})
		out, err := one.dials(t, 2)
		if err != nil {
			t.Fatal(err)
		}
		n.Stop(at(2), true)
		defer n.Stop(at(2), false)
		for range 3 {
			out.Send(transport.AppendFrame(nil, 1, make([]byte, transporttest.Buffer)), 0)
		}
		<-time.After(suspicion)
		if got := noted(one, func() int { return len(one.broken) }); got != 1 {
			t.Error("it is still there")
		}
	})
}

// Otherwise the system may drop the reason.
func TestAListenerLetsThePeerThatItRefusesCloseTheConnection(t *testing.T) {
	hello, clientHello := (&transport.Hello{From: 2, To: 1}).Encode(), []byte{0x16, 3, 1, 0, 4, 1, 0, 0, 0}
	for _, test := range []struct {
		name   string
		secure bool
		says   []byte
		gets   bool // an answer
		linger bool
	}{
		{"clear text to TLS", true, hello, true, true},
		{"TLS to clear text", false, clientHello, true, true},
		{"malformed TLS", true, clientHello, true, true},
		{"another protocol", true, []byte("GET / HTTP/1.1"), false, false},
		{"another protocol", false, []byte(strings.Repeat("GET / HTTP/1.1", 20)), false, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := newLAN(t)
			var security transport.TLS
			if test.secure {
				security = newAuthority(t).member(t, 1)
			}
			one := n.host(1, security)
			defer one.t.Close()
			conn, begun := n.call("stranger:1", at(1)), time.Now()
			defer conn.Close()
			conn.Write(test.says)
			got, err := io.ReadAll(conn)
			if (len(got) > 0) != test.gets || (time.Since(begun) == transport.MostHandshake) != test.linger {
				t.Errorf("%s, TLS %v: after %v, %q and %v", test.name, test.secure, time.Since(begun), got, err)
			}
		})
	}
}

func TestCertificatesThatCannotBeUsedChangeNothing(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(t *testing.T, s *changing, ca *authority)
		want   string
	}{
		{"the source fails", func(_ *testing.T, s *changing, _ *authority) { s.now.Store(&transport.Credentials{}) }, "no certificates at the moment"},
		{
			"of another member",
			func(t *testing.T, s *changing, ca *authority) { s.use(ca.issue(t, "group", 2, nil), pool(ca)) },
			"it names ringleader:group/2, not ringleader:group/1",
		},
		{
			"expired",
			func(t *testing.T, s *changing, ca *authority) {
				s.use(ca.issue(t, "group", 1, within(-time.Minute)), pool(ca))
			},
			"has expired",
		},
		{
			"for clients only",
			func(t *testing.T, s *changing, ca *authority) {
				s.use(ca.issue(t, "group", 1, usages(x509.ExtKeyUsageClientAuth)), pool(ca))
			},
			"incompatible key usage",
		},
		{
			"for servers only",
			func(t *testing.T, s *changing, ca *authority) {
				s.use(ca.issue(t, "group", 1, usages(x509.ExtKeyUsageServerAuth)), pool(ca))
			},
			"incompatible key usage",
		},
		{"none", func(_ *testing.T, s *changing, ca *authority) { s.use(tls.Certificate{}, pool(ca)) }, "there is no certificate"},
	} {
		synctest.Test(t, func(t *testing.T) {
			n, ca := newLAN(t), newAuthority(t)
			var source changing
			security := source.use(ca.issue(t, "group", 1, nil), pool(ca))
			one, two := n.host(1, security), n.host(2, ca.member(t, 2))
			defer one.t.Close()
			defer two.t.Close()
			test.change(t, &source, ca)
			if err := security.Reload(); !strings.Contains(text(err), test.want) {
				t.Errorf("%s: %v", test.name, err)
			}
			if _, err := one.dials(t, 2); err != nil {
				t.Errorf("%s: with the old ones: %v", test.name, err)
			}
			three, err := n.tcp(3, security).Open(config(1))
			if err == nil {
				three.Close()
			}
			if !strings.Contains(text(err), test.want) || !strings.HasPrefix(text(err), "member 1: ") {
				t.Errorf("%s: a member starts with them: %v", test.name, err)
			}
		})
	}
}

func TestANewAuthorityIsTrustedThoughTheCertificateStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, old, latest := newLAN(t), newAuthority(t), newAuthority(t)
		var source changing
		certificate := old.issue(t, "group", 1, nil)
		one := n.host(1, source.use(certificate, pool(old)))
		two := n.host(2, fixed(latest.issue(t, "group", 2, nil), pool(old, latest)))
		defer one.t.Close()
		defer two.t.Close()
		if _, err := one.dials(t, 2); err == nil {
			t.Error("an unknown authority is trusted")
		}
		source.use(certificate, pool(old, latest))
		if _, err := one.dials(t, 2); err != nil {
			t.Error(err)
		}
	})
}

func TestTheExpiryIsThatOfTheCertificateForTheNextHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, ca := newLAN(t), newAuthority(t)
		var source changing
		security := source.use(ca.issue(t, "group", 1, within(time.Hour)), pool(ca))
		if e := security.Expires(); !e.IsZero() {
			t.Errorf("before a member is opened, its certificate expires at %v", e)
		}
		one := n.host(1, security)
		defer one.t.Close()
		in := func(want time.Duration) {
			t.Helper()
			if left := time.Until(security.Expires()).Round(time.Minute); left != want {
				t.Errorf("it expires in %v, want %v", left, want)
			}
		}
		in(time.Hour)
		source.use(ca.issue(t, "group", 1, within(2*time.Hour)), pool(ca))
		in(2 * time.Hour)
		source.use(ca.issue(t, "group", 1, within(-time.Hour)), pool(ca)) // is not used
		in(2 * time.Hour)
	})
}

func TestCertificatesServeOneMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, ca := newLAN(t), newAuthority(t)
		security := new(changing).use(ca.issue(t, "group", 1, nil), pool(ca))
		one := n.host(1, security)
		defer one.t.Close()
		two, err := n.tcp(2, security).Open(config(2))
		if err == nil {
			two.Close()
		}
		if want := "it names ringleader:group/1, not ringleader:group/2"; !strings.Contains(text(err), want) {
			t.Errorf("%v", err)
		}
	})
}

// save writes a certificate, its key and the authority's certificate to files.
func save(t *testing.T, dir string, c tls.Certificate, ca *authority) (certFile, keyFile, caFile string) {
	t.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return file("cert.pem", "CERTIFICATE", c.Certificate[0]), file("key.pem", "PRIVATE KEY", key), file("ca.pem", "CERTIFICATE", ca.certificate.Raw)
}

func TestFilesAreReadAgainWhenTheyChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, old, latest := newLAN(t), newAuthority(t), newAuthority(t)
		dir := t.TempDir()
		cert, key, ca := save(t, dir, old.issue(t, "group", 1, nil), old)
		security, err := transport.LoadTLS(cert, key, ca)
		if err != nil {
			t.Fatal(err)
		}
		one, two := n.host(1, security), n.host(2, latest.member(t, 2))
		defer one.t.Close()
		defer two.t.Close()
		if _, err := one.dials(t, 2); err == nil {
			t.Error("it trusts an unknown authority")
		}
		save(t, dir, latest.issue(t, "group", 1, nil), latest)
		if _, err := one.dials(t, 2); err != nil {
			t.Errorf("with new files: %v", err)
		}
		if err := os.WriteFile(cert, []byte("half of a certif"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := security.Reload(); !strings.Contains(text(err), cert) {
			t.Errorf("a bad file: %v", err)
		}
		if _, err := two.dials(t, 1); err != nil {
			t.Errorf("after a bad file: %v", err)
		}
	})
}

func TestFilesThatCannotBeUsedAreNamed(t *testing.T) {
	a, dir, other := newAuthority(t), t.TempDir(), t.TempDir()
	cert, key, ca := save(t, dir, a.issue(t, "group", 1, nil), a)
	_, otherKey, _ := save(t, other, a.issue(t, "group", 1, nil), a)
	missing := filepath.Join(dir, "missing")
	for _, test := range []struct {
		files [3]string
		names string
	}{
		{[3]string{cert, key, ca}, ""},
		{[3]string{missing, key, ca}, missing},
		{[3]string{cert, missing, ca}, missing},
		{[3]string{cert, key, missing}, missing},
		{[3]string{cert, otherKey, ca}, otherKey},
		{[3]string{cert, key, key}, key},
	} {
		_, err := transport.LoadTLS(test.files[0], test.files[1], test.files[2])
		if (err == nil) != (test.names == "") || !strings.Contains(text(err), test.names) {
			t.Errorf("%v: %v", slices.Clone(test.files[:]), err)
		}
	}
}
