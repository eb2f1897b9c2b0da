package server

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	nats "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"ringleader.example/ringleader/internal/study/broker"
	"ringleader.example/ringleader/internal/study/cluster"
)

// refused complains unless a command that connects gets an error of one line that has a text.
func refused(t *testing.T, a cluster.Access, says string) {
	t.Helper()
	c, err := cluster.Connect(t.Context(), a, "test", nil)
	if err == nil {
		c.Close()
		t.Errorf("connected, want %q", says)
		return
	}
	if !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%q, want %q in one line", err, says)
	}
}

func accepted(t *testing.T, a cluster.Access) {
	t.Helper()
	c, err := cluster.Connect(t.Context(), a, "test", nil)
	if err != nil {
		t.Error(err)
		return
	}
	c.Close()
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
	accounts := &nats.MemAccResolver{}
	if err := errors.Join(accounts.Store(accountName, accountText), accounts.Store(systemName, systemText)); err != nil {
		t.Fatal(err)
	}
	s := foreign(t, &nats.Options{
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
func foreign(t *testing.T, o *nats.Options) *nats.Server {
	t.Helper()
	o.Host, o.Port, o.NoSigs, o.NoLog = "127.0.0.1", nats.RANDOM_PORT, true, true
	s, err := nats.NewServer(o)
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
	accepted(t, cluster.Access{URL: url, Credentials: file})
	refused(t, cluster.Access{URL: url}, "refuses the credentials or the token")
	refused(t, cluster.Access{URL: url, Credentials: other}, "refuses the credentials or the token")
	refused(t, cluster.Access{URL: url, Credentials: file + "x"}, "user.credsx")
}

func TestAServerWithoutJetStream(t *testing.T) {
	t.Parallel()
	s := foreign(t, &nats.Options{})
	refused(t, cluster.Access{URL: s.ClientURL()}, "no JetStream")
}

func serve(t *testing.T, s broker.Settings) *Server {
	t.Helper()
	e, err := Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func settings(t *testing.T) broker.Settings {
	t.Helper()
	return broker.Settings{Listen: "127.0.0.1:0", Store: filepath.Join(t.TempDir(), "store"), Token: "a token"}
}

func TestAStoreHasOneServer(t *testing.T) {
	t.Parallel()
	s := settings(t)
	e := serve(t, s)
	if _, err := Start(t.Context(), s); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), s.Store) {
		t.Errorf("a second one: %v", err)
	}
	e.Close()
	serve(t, s)
}

func TestAServerThatIsNotWantedAnyMoreDoesNotStart(t *testing.T) {
	t.Parallel()
	s := settings(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Start(ctx, s); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	serve(t, s)
}

// With the secret a process is let in, and then needs what others need, but for a certificate.
func TestTheDoorOpensWithItsSecretAlone(t *testing.T) {
	t.Parallel()
	s := settings(t)
	s.Secret = "a secret of twenty-six cha"
	e := serve(t, s)
	for _, said := range []string{s.Secret, strings.Repeat("x", len(s.Secret))} {
		dial := func() (net.Conn, error) {
			c, err := net.Dial("tcp", e.Door())
			if err == nil {
				_, err = io.WriteString(c, said)
			}
			return c, err
		}
		if said == s.Secret {
			accepted(t, cluster.Access{Token: s.Token, Dial: dial})
			refused(t, cluster.Access{Token: "another token", Dial: dial}, "refuses the credentials or the token")
			continue
		}
		c, err := dial()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(c); len(got) > 0 {
			t.Errorf("with another secret it answers %q, %v", got, err)
		}
		c.Close()
	}
	if door := serve(t, settings(t)).Door(); door != "" {
		t.Errorf("without a secret there is a door: %s", door)
	}
}

// A process of a busy machine may take seconds to say who it is: more than the two of a server without settings.
func TestAProcessMayTakeItsTimeToSayWhoItIs(t *testing.T) {
	t.Parallel()
	s := settings(t)
	s.Secret = "a secret of twenty-six cha"
	e := serve(t, s)
	for _, address := range []string{strings.TrimPrefix(e.URL(), "nats://"), e.Door()} {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.SetReadDeadline(time.Now().Add(nats.AUTH_TIMEOUT + time.Second)); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(c); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the server has hung up: %q, %v", got, err)
		}
	}
}
