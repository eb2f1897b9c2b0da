package agent

import (
	"context"
	"net"
	"time"

	"ringleader.example/ringleader"
)

// Ready is how a command of the leader becomes ready: by one of these. Until then the leader counts as not ready.
type Ready struct {
	Command string // of a shell: its exit status is 0
	Address string // host:port that takes a connection
	Notify  bool   // it tells READY=1 by sd_notify(3), on Linux
}

// The intervals between two looks whether a command is ready. A connection costs little, and its delay is part of each handover.
const (
	connectInterval = 5 * time.Millisecond
	checkInterval   = 50 * time.Millisecond
)

// mostCheck is how long a look may take.
const mostCheck = time.Second

// ready notes that the command of a tenure is ready.
func (a *Agent) ready(l ringleader.Leadership) {
	l.SetReady(true)
	a.log.Info("the command is ready", "term", l.Term())
}

// awaitReady looks whether a command is ready, until it is, or has ended.
func (a *Agent) awaitReady(l ringleader.Leadership, ended <-chan struct{}) {
	check, interval := a.config.Ready.check(a)
	if check == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if check(ctx) == nil && ctx.Err() == nil {
			a.ready(l)
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

// check returns a function that looks whether a command is ready; nil: it tells, or is ready at once.
func (r Ready) check(a *Agent) (check func(context.Context) error, interval time.Duration) {
	switch {
	case r.Command != "":
		return func(ctx context.Context) error {
			return runCheck(ctx, a.keepers, r.Command, a.identity(), mostCheck)
		}, checkInterval
	case r.Address != "":
		dialer := net.Dialer{Timeout: mostCheck}
		return func(ctx context.Context) error {
			conn, err := dialer.DialContext(ctx, "tcp", r.Address)
			if err != nil {
				return err
			}
			return conn.Close()
		}, connectInterval
	}
	return nil, 0
}
