package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

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

// operated starts a server that asks for credentials, and returns its URL and a file with valid ones.
func operated(t *testing.T) (url, file string) {
	t.Helper()
	pair := func(create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
		k, err := create()
		if err != nil {
			t.Fatal(err)
		}
		public, err := k.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		return k, public
	}
	operator, operatorName := pair(nkeys.CreateOperator)
	_, systemName := pair(nkeys.CreateAccount)
	systemText, err := jwt.NewAccountClaims(systemName).Encode(operator)
	if err != nil {
		t.Fatal(err)
	}
	account, accountName := pair(nkeys.CreateAccount)
	user, userName := pair(nkeys.CreateUser)
	claims := jwt.NewAccountClaims(accountName)
	claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	accountText, err := claims.Encode(operator)
	if err != nil {
		t.Fatal(err)
	}
	userText, err := jwt.NewUserClaims(userName).Encode(account)
	if err != nil {
		t.Fatal(err)
	}
	accounts := &server.MemAccResolver{}
	if err := errors.Join(accounts.Store(accountName, accountText), accounts.Store(systemName, systemText)); err != nil {
		t.Fatal(err)
	}
	s := foreign(t, &server.Options{
		JetStream: true, StoreDir: t.TempDir(),
		TrustedOperators: []*jwt.OperatorClaims{jwt.NewOperatorClaims(operatorName)}, SystemAccount: systemName, AccountResolver: accounts,
	})
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.FormatUserConfig(userText, seed)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "user.creds")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return s.ClientURL(), file
}

// foreign starts a server that is not embedded.
func foreign(t *testing.T, o *server.Options) *server.Server {
	t.Helper()
	o.Host, o.Port, o.NoSigs, o.NoLog = "127.0.0.1", server.RANDOM_PORT, true, true
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(startTime) {
		t.Fatal("the server does not start")
	}
	return s
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	url, file := operated(t)
	_, other := operated(t)
	accepted(t, Access{URL: url, Credentials: file})
	refused(t, Access{URL: url}, "refuses the credentials or the token")
	refused(t, Access{URL: url, Credentials: other}, "refuses the credentials or the token")
	refused(t, Access{URL: url, Credentials: file + "x"}, "user.credsx")
}

func TestAServerWithoutJetStream(t *testing.T) {
	t.Parallel()
	s := foreign(t, &server.Options{})
	refused(t, Access{URL: s.ClientURL()}, "no JetStream")
}

func TestAServerThatCannotStart(t *testing.T) {
	t.Parallel()
	s := settings(t)
	e := serve(t, s)
	if _, err := Embed(s); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), s.Store) {
		t.Errorf("a store that is in use: %v", err)
	}
	other := settings(t)
	other.Listen = e.nats.Addr().String()
	if _, err := Embed(other); err == nil || !strings.Contains(err.Error(), other.Listen) {
		t.Errorf("an address that is in use: %v", err)
	}
	for _, wrong := range []Settings{{Listen: "127.0.0.1", Store: t.TempDir()}, {Listen: "127.0.0.1:x", Store: t.TempDir()}, {Listen: "127.0.0.1:0", Store: t.TempDir(), Certificate: "no.pem"}} {
		if _, err := Embed(wrong); err == nil {
			t.Errorf("%+v starts", wrong)
		}
	}
	e.Close()
	again, err := Embed(s)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}
