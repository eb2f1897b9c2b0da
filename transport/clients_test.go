package transport_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/transport"
)

// echo serves clients by what secures a listener, and sends each one line back.
func echo(t *testing.T, secure func(net.Listener) net.Listener) (address string) {
	t.Helper()
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l, ended := secure(plain), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			var b [1]byte
			if _, err := io.ReadFull(conn, b[:]); err == nil {
				_, _ = conn.Write(b[:])
			}
			conn.Close()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-ended
	})
	return plain.Addr().String()
}

// exchange dials, and sends one byte there and back.
func exchange(security transport.TLS, address string) error {
	conn, err := transport.DialClient(context.Background(), security, address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Write([]byte{'x'}); err != nil {
		return err
	}
	_, err = io.ReadFull(conn, make([]byte, 1))
	return err
}

func unnamed(c *x509.Certificate) { c.URIs = nil }

func TestAClientAndAMemberNeedCertificatesOfTheAuthority(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	security := ca.member(t, 1)
	c := config(1)
	c.Name = "group"
	h := open(t, transport.TCP{Listener: l, TLS: security}.Open, c)
	defer h.t.Close()
	address := echo(t, func(l net.Listener) net.Listener { return transport.Clients(l, security) })
	for _, test := range []struct {
		what     string
		security transport.TLS
		says     string
	}{
		{"a member", ca.member(t, 2), ""},
		{"an operator", fixed(ca.issue(t, "group", 2, unnamed), pool(ca)), ""},
		{"an expired certificate", fixed(ca.issue(t, "group", 2, within(-time.Minute)), pool(ca)), "tls: "},
		{"another authority", fixed(other.issue(t, "group", 2, nil), pool(ca)), "tls: "},
		{"a client that trusts another authority", fixed(ca.issue(t, "group", 2, nil), pool(other)), "its certificate is refused: it is signed by an unknown authority"},
	} {
		err := exchange(test.security, address)
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", test.what, err, test.says)
		}
	}
	impostor := echo(t, func(l net.Listener) net.Listener {
		return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{ca.issue(t, "group", 9, unnamed)}})
	})
	if err := exchange(ca.member(t, 2), impostor); err == nil || !strings.Contains(err.Error(), "it names no member") {
		t.Errorf("a server whose certificate names no member: %v", err)
	}
}

func TestACertificateIsCheckedForItsMember(t *testing.T) {
	ca := newAuthority(t)
	name := transport.MemberName("group", 2)
	if expires, err := transport.CheckTLS(ca.member(t, 2), name); err != nil || time.Until(expires) < time.Hour {
		t.Errorf("%v, it expires at %v", err, expires)
	}
	for want, security := range map[string]transport.TLS{
		"it names ringleader:group/3": ca.member(t, 3), "expired": fixed(ca.issue(t, "group", 2, within(-time.Minute)), pool(ca)),
	} {
		if _, err := transport.CheckTLS(security, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
