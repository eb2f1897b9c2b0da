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
	seldom          = time.Second // when it has not become ready for overdue
)

// overdue is after how long a log has that a command is not ready.
const overdue = 5 * time.Second

// mostCheck is how long a look may take.
const mostCheck = time.Second

// ready notes that the command of a tenure is ready.
func (a *Agent) ready(l ringleader.Leadership) {
	l.SetReady(true)
	a.log.Info("the command is ready", "term", l.Term())
}

// awaitReady looks whether a command is ready, until it is, or has ended.
func (a *Agent) awaitReady(l ringleader.Leadership, ended <-chan struct{}) {
	if check, interval := a.config.Ready.check(a); check != nil {
		a.await(l, ended, interval, check)
	}
}

// await looks again and again, in intervals.
func (a *Agent) await(l ringleader.Leadership, ended <-chan struct{}, interval time.Duration, check func(context.Context) error) {
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
	begun, told := time.Now(), false
	for ctx.Err() == nil {
		err := check(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			a.ready(l)
			return
		case !told && time.Since(begun) >= overdue:
			told = true
			a.log.Warn("the command is not ready yet, and this member leads", "term", l.Term(), "after", overdue, "because", err)
			ticker.Reset(seldom)
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
