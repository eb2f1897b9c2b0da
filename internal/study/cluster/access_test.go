package cluster

import (
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

// A server hangs up if a process does not get the processor to say in time who it is.
func TestAServerThatHangsUpIsAskedAgain(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	for _, c := range []struct{ ended, tries int }{{connectTries - 1, connectTries}, {connectTries, connectTries}} {
		tries := 0
		dial := func() (net.Conn, error) {
			conn, err := e.Dial()
			if tries++; err == nil && tries <= c.ended {
				conn.Close()
			}
			return conn, err
		}
		a := e.Access()
		a.Dial = dial
		if c.ended < connectTries {
			accepted(t, a)
		} else {
			refused(t, a, "closed")
		}
		if tries != c.tries {
			t.Errorf("of %d connections that end, %d are made", c.ended, tries)
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
