package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"ringleader.example/ringleader/internal/study/secret"
)

// Access is how to reach a server.
type Access struct {
	URL         string // such as nats://host:4222 or tls://host:4222; several are separated by commas
	Credentials string // a file of them; may be empty
	Token       string // with which messages are sealed, too; may be empty
	Own         bool   // the token is that of [secret.Own]: a server that asks for none is one of others, and gets no seals
	CA          string // a PEM file with the authority of the server's certificate; empty: those of the system
	Certificate string // a PEM file for a server that asks for one; may be empty
	Key         string // … and its key

	Dial func() (net.Conn, error) `json:"-"` // connects to a server that this command has started; nil: the URL leads to the server
}

// plain is the URL of a server that Dial connects to: without TLS, whatever others need.
const plain = "nats://in-process"

type dialer func() (net.Conn, error)

// InProcessConn is that of a [nats.InProcessConnProvider].
func (d dialer) InProcessConn() (net.Conn, error) { return d() }

// Conn is a connection to a server with JetStream. It connects again for ever.
type Conn struct {
	nats   *nats.Conn
	js     jetstream.JetStream
	token  string // empty: messages have no seals
	name   string // of the server, for people
	notice func(string)

	mutex sync.Mutex
	era   context.Context // done at the next reconnection
	next  func()          // begins another era
	shown string          // the last error that was shown
}

const (
	reconnectWait = time.Second / 4  // between two attempts
	connectTime   = 5 * time.Second  // for a connection: a process of a busy machine may get no processor for two
	connectTries  = 3                // for a server that hangs up or pings
	pingInterval  = 2 * time.Second  // a connection without an answer to two pings is lost
	requestTime   = 20 * time.Second // for an answer of the server: one whose disk is busy takes seconds to flush
	retractTime   = 5 * time.Second  // for all pieces that are taken back, at the end of a command
)

// Connect connects to a server. Notice is called with one line when the connection is lost, or found again; it may be nil.
// An error is one line with the server's name.
func Connect(ctx context.Context, a Access, name string, notice func(string)) (*Conn, error) {
	if notice == nil {
		notice = func(string) {}
	}
	if a.Dial != nil {
		a.URL = plain
	}
	c := &Conn{name: a.shown(), token: a.Token, notice: notice}
	c.era, c.next = context.WithCancel(context.Background())
	options, err := a.options()
	options = append(options,
		nats.Name(name),
		nats.Timeout(connectTime),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectWait),
		nats.ReconnectJitter(reconnectWait, reconnectWait),
		nats.PingInterval(pingInterval),
		nats.MaxPingsOutstanding(2),
		nats.IgnoreAuthErrorAbort(), // a server with new credentials may come back with the old ones
		nats.NoCallbacksAfterClientClose(),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { c.lost(err) }),
		nats.ReconnectHandler(func(*nats.Conn) { c.found() }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { c.complain(err) }),
	)
	if err == nil {
		err = a.check()
	}
	if err != nil {
		return nil, c.explain(err)
	}
	connection, err := nats.Connect(a.URL, options...)
	for tries := 1; hungUp(err) && tries < connectTries && ctx.Err() == nil; tries++ {
		connection, err = nats.Connect(a.URL, options...)
	}
	if errors.Is(err, nats.ErrNkeysNotSupported) && a.Own {
		a.Token, a.Own = "", false
		return Connect(ctx, a, name, notice)
	}
	if err != nil {
		return nil, c.explain(err)
	}
	c.mutex.Lock() // handlers may run already
	c.nats = connection
	c.mutex.Unlock()
	if c.js, err = jetstream.New(c.nats, jetstream.WithDefaultTimeout(requestTime), jetstream.WithPublishAsyncErrHandler(func(_ jetstream.JetStream, _ *nats.Msg, err error) { c.complain(err) })); err == nil {
		_, err = c.js.AccountInfo(ctx)
	}
	if err != nil {
		c.nats.Close()
		return nil, c.explain(err)
	}
	return c, nil
}

// hungUp reports whether a server has ended a connection that it had accepted, or pings it before it has answered, which the client does not
// expect. It does so if a process does not say within two seconds who it is, such as one that gets no processor.
func hungUp(err error) bool {
	var network *net.OpError
	switch {
	case err == nil, errors.Is(err, nats.ErrTLS):
		return false
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrClosedPipe), strings.Contains(strings.ToLower(err.Error()), "authentication timeout"),
		strings.HasSuffix(err.Error(), "got 'PING'"):
		return true
	}
	return errors.As(err, &network) && network.Op != "dial" && !network.Timeout()
}

// check refuses URLs of other protocols.
func (a Access) check() error {
	for one := range strings.SplitSeq(a.URL, ",") {
		scheme, _, found := strings.Cut(strings.TrimSpace(one), "://")
		if found && !slices.Contains([]string{"nats", "tls", "ws", "wss"}, scheme) {
			return fmt.Errorf("a URL begins with nats:// or tls://, not %s://", scheme)
		}
	}
	return nil
}

func (a Access) options() (options []nats.Option, err error) {
	if a.Credentials != "" {
		options = append(options, nats.UserCredentials(a.Credentials))
	}
	if secret.IsOwn(a.Token) {
		pair, name, err := secret.Key(a.Token)
		if err != nil {
			return nil, err
		}
		options = append(options, nats.Nkey(name, pair.Sign))
	} else if a.Token != "" {
		options = append(options, nats.Token(a.Token))
	}
	if a.CA != "" {
		options = append(options, nats.RootCAs(a.CA))
	}
	if a.Certificate != "" {
		options = append(options, nats.ClientCert(a.Certificate, a.Key))
	}
	if a.Dial != nil {
		options = append(options, nats.InProcessServer(dialer(a.Dial)))
	}
	return options, nil
}

// shown returns the servers' URLs without passwords.
func (a Access) shown() string {
	if a.Dial != nil {
		return "of this command"
	}
	var shown []string
	for one := range strings.SplitSeq(a.URL, ",") {
		one = strings.TrimSpace(one)
		if u, err := url.Parse(one); err == nil && u.User != nil {
			u.User = nil
			one = u.String()
		}
		shown = append(shown, one)
	}
	return strings.Join(shown, ",")
}

// ErrUnreachable reports that no server answers.
var ErrUnreachable = errors.New("no server answers there")

// explain returns an error of the server as one line.
func (c *Conn) explain(err error) error {
	reason := err
	var network *net.OpError
	switch {
	case errors.Is(err, nats.ErrNoServers):
		reason = ErrUnreachable
	case errors.Is(err, nats.ErrTimeout), errors.As(err, &network) && network.Op == "dial":
		reason = fmt.Errorf("%w: %w", ErrUnreachable, err)
	case errors.Is(err, nats.ErrTLS):
		reason = fmt.Errorf("%w; it may ask for another certificate", err)
	case errors.Is(err, nats.ErrNkeysNotSupported):
		reason = errors.New("it asks for no token that a command has made")
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		reason = errors.New("it refuses the credentials or the token")
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), errors.Is(err, nats.ErrNoResponders):
		reason = errors.New("it has no JetStream; nats-server -js has, if its disk is not full")
	}
	return fmt.Errorf("NATS server %s: %w", c.name, reason)
}

// Close ends the connection.
func (c *Conn) Close() {
	c.nats.Close()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.next()
}

func (c *Conn) lost(err error) {
	reason := ""
	if err != nil {
		reason = ": " + err.Error()
	}
	c.notice(fmt.Sprintf("the connection to NATS server %s is lost%s; trying again", c.name, reason))
}

func (c *Conn) found() {
	c.mutex.Lock()
	c.next()
	c.era, c.next = context.WithCancel(context.Background())
	c.mutex.Unlock()
	c.notice(fmt.Sprintf("connected to NATS server %s again", c.name))
}

// complain shows an error of the server, once. The work that meets it is tried again.
func (c *Conn) complain(err error) {
	line := c.explain(err).Error()
	c.mutex.Lock()
	fresh := line != c.shown && c.nats != nil && c.nats.IsConnected() && !errors.Is(err, context.Canceled)
	if fresh {
		c.shown = line
	}
	c.mutex.Unlock()
	if fresh {
		c.notice(line + "; trying again")
	}
}

// content notes that the server works.
func (c *Conn) content() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.shown = ""
}

// reconnected returns a channel that is closed at the next reconnection.
func (c *Conn) reconnected() <-chan struct{} {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.era.Done()
}

// connected returns a context that is done at the next reconnection: what was asked before may have no answer, and the
// server may be another one then.
func (c *Conn) connected(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	unlink := context.AfterFunc(c.era, stop)
	return ctx, func() {
		unlink()
		stop()
	}
}

// queue returns the work queue, which it makes if there is none.
func (c *Conn) queue(ctx context.Context) (jetstream.Stream, error) {
	s, err := c.js.Stream(ctx, queueStream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		s, err = c.js.CreateStream(ctx, queueConfig())
	}
	return s, err
}

// mostPurges is how many requests to remove pieces a server gets at the same time.
const mostPurges = 16

// unqueue removes pieces from the work queue: those of some subjects. It returns one of the errors.
func (c *Conn) unqueue(ctx context.Context, subjects ...string) error {
	queue, err := c.js.Stream(ctx, queueStream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	next, failed := make(chan string, len(subjects)), make(chan error, len(subjects))
	for _, subject := range subjects {
		next <- subject
	}
	close(next)
	var purges sync.WaitGroup
	for range min(mostPurges, len(subjects)) {
		purges.Go(func() {
			for subject := range next {
				if err := queue.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
					failed <- err
					return // the others will fail, too
				}
			}
		})
	}
	purges.Wait()
	close(failed)
	return <-failed
}

// wait waits for that time. It reports false if ctx is done before.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
