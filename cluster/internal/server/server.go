// Package server is a NATS server with JetStream for the jobs of ringleader, and a door for the command that has started it.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"ringleader.example/ringleader/internal/study/broker"
	"ringleader.example/ringleader/internal/study/secret"
)

// Server is a NATS server with JetStream in this process.
type Server struct {
	nats     *server.Server
	settings broker.Settings
	door     *door // nil: none
	lock     io.WriteCloser
	failed   chan error
	closing  chan struct{}
	once     sync.Once // for Close
	watching sync.WaitGroup
}

// ErrLocked reports that another server uses the store.
var ErrLocked = errors.New("another server uses it")

// mostPayload is the size in bytes of the largest result of a piece.
const mostPayload = 8 << 20

// startTime is how long a server may take to read its store.
const startTime = time.Minute

// Start starts a server, unless ctx is done before it is ready. An error is one line.
func Start(ctx context.Context, s broker.Settings) (*Server, error) {
	options, err := options(s)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.Store, 0o700); err != nil {
		return nil, err
	}
	e := &Server{settings: s, failed: make(chan error, 1), closing: make(chan struct{})}
	if e.lock, err = lock(filepath.Join(s.Store, "lock")); err != nil {
		return nil, fmt.Errorf("store %s: %w", s.Store, err)
	}
	if e.nats, err = server.NewServer(options); err != nil {
		e.lock.Close()
		return nil, fmt.Errorf("embedded NATS server: %w", err)
	}
	var log errorLog
	e.nats.SetLogger(&log, false, false)
	e.nats.Start()
	for began := time.Now(); !e.nats.ReadyForConnections(time.Second/10) && !log.fatal() && time.Since(began) < startTime && ctx.Err() == nil; {
	}
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case log.fatal() || !e.nats.JetStreamEnabled():
		err = fmt.Errorf("embedded NATS server: %s", log.last("it did not start"))
	case s.Secret != "":
		e.door, err = newDoor(s.Secret, e.nats)
	}
	if err != nil {
		e.end()
		return nil, err
	}
	_, _ = io.WriteString(e.lock, e.URL()) // for the error of another server; a full disk is found by watch
	e.watching.Go(func() { e.watch(&log) })
	return e, nil
}

func options(s broker.Settings) (*server.Options, error) {
	host, text, err := net.SplitHostPort(s.Listen)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(text)
	if err != nil || port < 0 || port > 1<<16-1 {
		return nil, fmt.Errorf("%q has no port such as 4222", s.Listen)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	o := &server.Options{
		ServerName: "ringleader", Host: host, Port: port,
		JetStream: true, StoreDir: s.Store, SyncInterval: syncInterval, DisableJetStreamBanner: true,
		AuthTimeout: patience.Seconds(), MaxPayload: mostPayload, NoSigs: true, NoSystemAccount: true,
	}
	if secret.IsOwn(s.Token) {
		_, name, err := secret.Key(s.Token)
		if err != nil {
			return nil, err
		}
		o.Nkeys = []*server.NkeyUser{{Nkey: name}}
	} else {
		o.Authorization = s.Token
	}
	if s.Certificate != "" {
		o.TLS, o.TLSVerify = true, s.CA != ""
		o.TLSConfig, err = server.GenTLSConfig(&server.TLSConfigOpts{CertFile: s.Certificate, KeyFile: s.Key, CaFile: s.CA, Verify: o.TLSVerify})
		if err != nil {
			return nil, fmt.Errorf("certificate %s: %w", s.Certificate, err)
		}
	}
	return o, nil
}

// patience is how long a process may take to say who it is. One of a busy machine may get no processor for seconds.
const patience = 30 * time.Second

// syncInterval is how often the server makes its store durable. A crash of the machine, not of the server, loses that
// much, and commanders find what is lost.
const syncInterval = 2 * time.Second

// URL returns the server's URL.
func (e *Server) URL() string {
	scheme := "nats"
	if e.settings.Certificate != "" {
		scheme = "tls"
	}
	return scheme + "://" + e.nats.Addr().String()
}

// Door returns the address where the command connects that has started this process.
func (e *Server) Door() string {
	if e.door == nil {
		return ""
	}
	return e.door.listener.Addr().String()
}

// Traffic returns what the server has received and sent since it began.
func (e *Server) Traffic() (broker.Traffic, error) {
	v, err := e.nats.Varz(nil)
	if err != nil {
		return broker.Traffic{}, err
	}
	return broker.Traffic{MessagesIn: v.InMsgs, MessagesOut: v.OutMsgs, BytesIn: v.InBytes, BytesOut: v.OutBytes}, nil
}

// Failed returns a channel with the error that has ended the server's store, such as a full disk.
func (e *Server) Failed() <-chan error { return e.failed }

// Close ends the server. Its store remains. A second call does nothing.
func (e *Server) Close() {
	e.once.Do(func() {
		close(e.closing)
		e.watching.Wait()
		e.end()
	})
}

// end ends the server, and lets go of its store.
func (e *Server) end() {
	if e.door != nil {
		e.door.close()
	}
	e.nats.Shutdown()
	e.nats.WaitForShutdown()
	e.lock.Close()
}

// watch waits until the server cannot write. It takes no results then, until it is started again.
func (e *Server) watch(log *errorLog) {
	ticker := time.NewTicker(time.Second / 2)
	defer ticker.Stop()
	var full error
	for e.nats.JetStreamEnabled() && !log.has("write error") && full == nil {
		select {
		case <-e.closing:
			return
		case <-ticker.C:
			full = e.probe()
		}
	}
	reason := log.last("is its disk full?")
	if full != nil {
		reason = full.Error()
	}
	reason = reason[strings.LastIndex(reason, ": ")+1:] // without the name of a stream and a file
	e.failed <- fmt.Errorf("the NATS server cannot write to its store %s: %s", e.settings.Store, strings.TrimSpace(reason))
}

// probe returns an error if the store takes no more. The server itself may go on with what it has, and take nothing. The file goes again: one
// that stays keeps its block, and the next probe would find room there.
func (e *Server) probe() error {
	const block = 4 << 10
	name := filepath.Join(e.settings.Store, "probe")
	defer os.Remove(name)
	return os.WriteFile(name, make([]byte, block), 0o600)
}

// errorLog keeps the last error that a server reports.
type errorLog struct {
	mutex sync.Mutex
	text  string
	ended bool // the server ends
}

func (l *errorLog) keep(ends bool, format string, v ...any) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.text, _, _ = strings.Cut(fmt.Sprintf(format, v...), "\n")
	l.ended = l.ended || ends
}

// fatal reports whether the server has ended itself.
func (l *errorLog) fatal() bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.ended
}

// has reports whether the last error has a text.
func (l *errorLog) has(text string) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return strings.Contains(l.text, text)
}

// last returns the last error, or that text.
func (l *errorLog) last(other string) string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return cmp.Or(l.text, other)
}

// Noticef drops a message.
func (l *errorLog) Noticef(string, ...any) {}

// Warnf drops a message.
func (l *errorLog) Warnf(string, ...any) {}

// Debugf drops a message.
func (l *errorLog) Debugf(string, ...any) {}

// Tracef drops a message.
func (l *errorLog) Tracef(string, ...any) {}

// Errorf keeps a message.
func (l *errorLog) Errorf(format string, v ...any) { l.keep(false, format, v...) }

// Fatalf keeps a message. The server ends by itself.
func (l *errorLog) Fatalf(format string, v ...any) { l.keep(true, format, v...) }
