package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/record"
)

// mostBackoff is the longest pause before a command or a candidacy begins again.
const mostBackoff = time.Minute

// backoff is the pause after a command that has ended by itself. It doubles, and begins anew after a command that ran for
// longer than mostBackoff.
type backoff struct{ first, next time.Duration }

// after returns the pause after a command that ran for so long.
func (b *backoff) after(ran time.Duration) time.Duration {
	if ran > mostBackoff || b.next == 0 {
		b.next = b.first
	}
	pause := b.next
	b.next = min(2*b.next, mostBackoff)
	return pause
}

// errEnded reports that the command has ended by itself, and that this ends a tenure.
var errEnded = errors.New("the command has ended")

// executor runs the command of an agent.
type executor struct {
	*Agent
	backoff backoff
	status  int           // of the command that ended last without having been told to
	why     record.Reason // it has ended
	late    bool          // by its keeper, as its lease was about to end
	killed  bool          // with its keeper
	pause   time.Duration // after that

	mu      sync.Mutex
	tenures int // that have begun, and one more at the end of all
}

// Exec runs the command whenever the member leads, until ctx is done or the member has stopped. It returns the exit status of
// a command that has ended the life of the member by itself, and otherwise 0.
func (a *Agent) Exec(ctx context.Context) (status int, err error) {
	told := ctx
	ctx, end := context.WithCancelCause(context.WithoutCancel(told))
	defer context.AfterFunc(told, func() { end(record.Reason(context.Cause(told).Error())) })() // such as that a signal was received: the record has it
	e := &executor{Agent: a, backoff: backoff{first: a.config.Backoff}}
	e.keepers.prepare(e.config.Command)
	defer e.keepers.dismiss()
	defer e.hold()
	for {
		err := a.Lead(ctx, e.tenure)
		switch {
		case errors.Is(err, errEnded) && e.then() == Leave:
			return e.status, nil
		case errors.Is(err, errEnded):
			if !wait(ctx, e.pause) {
				return 0, nil
			}
		case ctx.Err() != nil:
			return 0, nil
		default:
			return 0, err
		}
	}
}

// wait waits, and reports false if ctx is done before.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// tenure runs the command in one tenure of the member.
func (e *executor) tenure(ctx context.Context, l ringleader.Leadership) error {
	e.hold()
	defer e.release()
	for {
		begun := time.Now()
		told, err := e.run(ctx, l)
		if err != nil || told {
			return err
		}
		if e.pause = 0; !e.late { // else there was nothing wrong with it
			e.pause = e.backoff.after(time.Since(begun))
		}
		e.log.Warn(string(e.why), "status", e.status, "term", l.Term(), "then", e.then())
		if e.then() != Restart {
			return fmt.Errorf("%w: %w", errEnded, e.why)
		}
		if !e.rest(ctx.Done(), l, e.pause) {
			return nil
		}
	}
}

// hold keeps what prepares a tenure from beginning, and ends what has begun.
func (e *executor) hold() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tenures++
	e.standby.hold()
}

// settled is how long after a tenure what prepares the next one waits, at most: for the length of a lease, if that is shorter. By then another member
// leads, and its command has begun. To start processes is work, which would delay that where members share a machine.
const settled = time.Second

// release lets begin what prepares the next tenure, a moment later, if there is none by then.
func (e *executor) release() {
	ended := e.tenures
	time.AfterFunc(min(settled, e.config.Member.Timing.WithDefaults().Lease), func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.tenures == ended {
			e.standby.release()
			e.keepers.prepare(e.config.Command)
		}
	})
}

// then returns what follows the end of a command. One that ended with its keeper, or by it, would have gone on, so no member leaves with it.
func (e *executor) then() OnExit {
	if e.late || e.killed && e.config.OnExit == Leave {
		return Resign
	}
	return e.config.OnExit
}

// EachOrder is the level of lines about each order of a keeper, below debug: there are forty in a second. Each has the end of
// the lease, a reading of the clock, before the keeper can know it.
const EachOrder = slog.LevelDebug - 4

// FirstOrder is the message of the line about the first order of a command.
const FirstOrder = "the keeper has its first order next"

const untilKey = "until"

// run runs the command once. Told reports that it was told to end.
func (e *executor) run(ctx context.Context, l ringleader.Leadership) (told bool, err error) {
	d := e.deadlines()
	if !d.renew(l) {
		return true, nil
	}
	signs, err := e.follow(l)
	if err != nil {
		return false, err
	}
	defer signs.close()
	variables := append(e.environment(ringleader.Leader, e.config.Member.ID, l.Term()), signs.variables...)
	e.log.Log(ctx, EachOrder, FirstOrder, "term", l.Term(), untilKey, d.until)
	command, err := e.keepers.lease(e.config.Command, variables, d.order())
	if err != nil {
		return false, err
	}
	e.log.Info("the command runs", "term", l.Term(), "keeper", command.command.Process.Pid)
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		e.awaitReady(l, command.ended)
	}()
	defer func() {
		<-looked // it ends with the command
		l.SetReady(false)
	}()
	ticker := time.NewTicker(d.each())
	defer ticker.Stop()
	done, disobeys := ctx.Done(), false
	for {
		select {
		case <-command.ended:
			e.status, e.late, e.killed = command.status, now() >= d.order().Stop, command.killed
			e.why = command.why(e.late)
			if told = ctx.Err() != nil; told {
				e.log.Info("the command has stopped", "term", l.Term(), "status", e.status, "because", context.Cause(ctx))
			}
			return told, nil
		case <-done:
			done = nil
			d.stop(context.Cause(ctx))
		case <-ticker.C:
		}
		d.renew(l)
		stands := command.stands()
		e.log.Log(ctx, EachOrder, "the keeper has its order next", "term", l.Term(), untilKey, d.until)
		command.order(d.order())
		if !disobeys && (stands || now() >= d.hard()) {
			disobeys = true
			e.log.Warn("the keeper of the command does not obey, and is killed", "term", l.Term())
			command.kill()
		}
	}
}

// deadlines are the moments at which a command has to end.
type deadlines struct {
	timing ringleader.Timing
	most   time.Duration // from the moment at which it was asked to end
	asked  time.Duration // that moment; 0: it was not asked
	until  time.Duration // the end of the lease, as last known
	frozen bool          // nothing prolongs it any more
}

// stop begins the end of the command. One that may hang gets no more time than at the end of a lease that nothing renews.
func (d *deadlines) stop(cause error) {
	d.asked = now()
	if errors.Is(cause, ringleader.ErrStalled) || errors.Is(cause, ringleader.ErrStorage) {
		d.frozen, d.most = true, min(d.most, d.timing.Grace)
	}
}

func (a *Agent) deadlines() *deadlines {
	return &deadlines{timing: a.config.Member.Timing.WithDefaults(), most: a.config.StopTimeout}
}

// each is how often the keeper gets an order: twice between renewals of the shortest lease, and four times between those of the longest.
func (d *deadlines) each() time.Duration {
	t := &d.timing
	return min(t.Renewal/4, time.Duration(float64(t.Renewal)*float64(t.ShortestLease)/float64(t.Lease))/2)
}

// renew takes the end of the lease. It reports whether the lease runs.
func (d *deadlines) renew(l ringleader.Leadership) bool {
	if d.frozen {
		return true
	}
	at := now()
	end := l.Deadline()
	if end.IsZero() {
		return false
	}
	d.extend(at + time.Until(end))
	return true
}

// extend moves the end of the lease. All roundings and delays make an end early, and a lease is never shortened: so of two ends the later one
// is right, and a member that gets no processor between two readings takes no time from its command.
func (d *deadlines) extend(until time.Duration) { d.until = max(d.until, until) }

// order returns what the keeper has to do. It kills a quarter of Grace before Margin begins, so that all is reaped by
// then; if it does not, the kernel kills it. By itself it asks later than the member, by a quarter of Grace, too: a renewal
// may be on its way to it.
func (d *deadlines) order() order {
	dead, quarter := d.until-d.timing.Margin, d.timing.Grace/4
	o := order{Stop: dead - 3*quarter, Kill: dead - quarter, Dead: dead}
	if d.asked != 0 {
		o.Stop, o.Kill, o.End = min(o.Stop, d.asked), min(o.Kill, d.asked+d.most), true
	}
	return o
}

// hard is when the member kills the keeper, which has not obeyed. Margin is left for that.
func (d *deadlines) hard() time.Duration {
	return min(d.until-d.timing.Margin, d.order().Kill+d.timing.Margin)
}
