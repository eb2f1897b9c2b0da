package transport_test

import (
	"crypto/tls"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/transport"
)

// No member dials another one here.
func TestAWrongCertificateIsNoticedWithoutAHandshakeAndSoIsItsRepair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, trusted, foreign := newLAN(t), newAuthority(t), newAuthority(t)
		dir := t.TempDir()
		mine := trusted.issue(t, "group", 1, within(time.Hour))
		cert, key, ca := save(t, dir, mine, trusted)
		security, err := transport.LoadTLS(cert, key, ca)
		if err != nil {
			t.Fatal(err)
		}
		if got := security.Problem(); got != "" {
			t.Errorf("before a member is opened: %q", got)
		}
		var said rig.Text
		c := config(1)
		c.Log = slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelWarn}))
		member, err := n.tcp(1, security).Open(c)
		if err != nil {
			t.Fatal(err)
		}
		member.Serve()
		defer member.Close()
		// told waits for the looks at the files, and expects one line in the log, and none after further looks.
		told := func(what, want string) {
			t.Helper()
			said.Reset()
			<-time.After(20 * time.Second)
			synctest.Wait()
			if lines := strings.Count(said.String(), "\n"); lines != 1 || !strings.Contains(said.String(), want) {
				t.Errorf("%s: the log has %d lines, and should have %q once:\n%s", what, lines, want, &said)
			}
		}
		for _, test := range []struct {
			what string
			use  tls.Certificate
			ca   *authority
			want string
		}{
			{"another member's", trusted.issue(t, "group", 2, nil), trusted, "it names ringleader:group/2, not ringleader:group/1"},
			{"of another authority", foreign.issue(t, "group", 1, nil), trusted, "it is signed by an unknown authority"},
			{"expired", trusted.issue(t, "group", 1, within(-time.Minute)), trusted, "has expired"},
			{"of another key", tls.Certificate{Certificate: mine.Certificate, PrivateKey: newKey(t)}, trusted, "private key does not match public key"},
		} {
			save(t, dir, test.use, test.ca)
			told(test.what, "the latest certificates of this member cannot be used; those before stay in use until they expire")
			if got := security.Problem(); !strings.Contains(got, test.want) {
				t.Errorf("%s: the problem is %q, want %q", test.what, got, test.want)
			}
			save(t, dir, mine, trusted)
			told("mended", "the certificates of this member can be used again")
			if got := security.Problem(); got != "" {
				t.Errorf("mended: the problem is %q", got)
			}
		}
		if err := os.WriteFile(cert, []byte("half of a certif"), 0o600); err != nil {
			t.Fatal(err)
		}
		told("half of a file", "cannot be used")
		save(t, dir, mine, trusted)
		told("mended", "can be used again")
		<-time.After(time.Hour)
		if got := security.Problem(); !strings.Contains(got, "the certificate of this member: it has expired on ") {
			t.Errorf("the one in use has expired: the problem is %q", got)
		}
	})
}
