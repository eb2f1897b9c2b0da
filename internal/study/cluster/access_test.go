package cluster

import (
	"bytes"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/certificates"
)

// refused complains unless Connect fails with one line that has a text.
func refused(t *testing.T, a Access, says string) error {
	t.Helper()
	c, err := Connect(t.Context(), a, "test", nil)
	if err == nil {
		c.Close()
		t.Errorf("connected, want %q", says)
		return nil
	}
	if !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "secret") {
		t.Errorf("%q, want %q in one line", err, says)
	}
	return err
}

func accepted(t *testing.T, a Access) {
	t.Helper()
	c, err := Connect(t.Context(), a, "test", nil)
	if err != nil {
		t.Error(err)
		return
	}
	c.Close()
}

func TestAServerThatIsNotThere(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	for _, url := range []string{"nats://" + address, "nats://user:secret@" + address, "nats://no.invalid:4222"} {
		if err := refused(t, Access{URL: url}, "no server answers there"); !errors.Is(err, ErrUnreachable) {
			t.Error(err)
		}
	}
	if err := refused(t, Access{URL: "http://" + address}, "not http://"); errors.Is(err, ErrUnreachable) {
		t.Error(err)
	}
}

// hasty is a connection of a server that pings its client before it has an answer.
type hasty struct {
	net.Conn
	begun, pinged bool
}

func (h *hasty) Read(b []byte) (n int, err error) {
	if h.begun && !h.pinged {
		h.pinged = true
		return copy(b, "PING\r\n"), nil
	}
	n, err = h.Conn.Read(b)
	h.begun = h.begun || bytes.Contains(b[:n], []byte("\n"))
	return n, err
}

// A server hangs up, or pings, if a process does not get the processor to say in time who it is.
func TestAServerThatHangsUpOrPingsIsAskedAgain(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	for way, c := range map[string]struct {
		waits func(net.Conn) net.Conn
		says  string
	}{
		"hangs up": {func(conn net.Conn) net.Conn { conn.Close(); return conn }, "closed"},
		"pings":    {func(conn net.Conn) net.Conn { return &hasty{Conn: conn} }, "got 'PING'"},
	} {
		for _, ended := range []int{connectTries - 1, connectTries} {
			tries := 0
			a := e.Access()
			a.Dial = func() (net.Conn, error) {
				conn, err := e.Dial()
				if tries++; err == nil && tries <= ended {
					conn = c.waits(conn)
				}
				return conn, err
			}
			if ended < connectTries {
				accepted(t, a)
			} else {
				refused(t, a, c.says)
			}
			if tries != connectTries {
				t.Errorf("of %d connections whose server %s, %d are made", ended, way, tries)
			}
		}
	}
}

func TestAToken(t *testing.T) {
	t.Parallel()
	s := settings(t)
	s.Token = "secret"
	e := serve(t, s)
	accepted(t, e.Access())
	accepted(t, Access{URL: e.URL(), Token: "secret"})
	for _, token := range []string{"", "wrong"} {
		if err := refused(t, Access{URL: e.URL(), Token: token}, "refuses the credentials or the token"); errors.Is(err, ErrUnreachable) {
			t.Error(err)
		}
	}
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	made := func() string {
		folder := t.TempDir()
		_, err := certificates.Make(certificates.Order{Directory: folder, Group: "g", IDs: []uint64{1}, Hosts: []string{"127.0.0.1"}, Operator: true, Lasts: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		return folder
	}
	ours, others := made(), made()
	s := settings(t)
	s.Certificate, s.Key = filepath.Join(ours, "1.pem"), filepath.Join(ours, "1.key")
	e := serve(t, s)
	if !strings.HasPrefix(e.URL(), "tls://") {
		t.Error(e.URL())
	}
	accepted(t, e.Access())
	accepted(t, Access{URL: e.URL(), CA: filepath.Join(ours, "ca.pem"), Token: token})
	refused(t, Access{URL: e.URL()}, "certificate")
	refused(t, Access{URL: e.URL(), CA: filepath.Join(others, "ca.pem")}, "certificate")
	refused(t, Access{URL: e.URL(), CA: filepath.Join(ours, "no.pem")}, "no.pem")

	s = settings(t)
	s.Certificate, s.Key, s.CA, s.Token = filepath.Join(ours, "1.pem"), filepath.Join(ours, "1.key"), filepath.Join(ours, "ca.pem"), ""
	strict := serve(t, s)
	accepted(t, strict.Access())
	access := Access{URL: strict.URL(), CA: s.CA, Certificate: filepath.Join(ours, "operator.pem"), Key: filepath.Join(ours, "operator.key")}
	accepted(t, access)
	access.Certificate, access.Key = filepath.Join(others, "operator.pem"), filepath.Join(others, "operator.key")
	refused(t, access, "certificate")
	refused(t, Access{URL: strict.URL(), CA: s.CA}, "certificate")
}
