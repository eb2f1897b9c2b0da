package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"ringleader.example/ringleader"
)

var _ resourcelock.Interface = (*Lock)(nil)

// ErrLost reports that the member has lost its lead, or has stopped, while the manager held the lock. The text tells why. The manager
// has ended, and cannot be started again: the program ends, too, and its supervisor restarts it.
var ErrLost = errors.New("the lead is lost, so the manager has ended")

// ErrNotHeld reports that this process does not hold the lock now: the lock refuses to be acquired or renewed.
var ErrNotHeld = errors.New("this process does not hold the lock")

// Lock is the lead of a member, as a lock of client-go. It is safe in [Lock.Run] only: outside of Run it refuses every request.
type Lock struct {
	// Left is called when the manager has failed while it held the lock: some of its work may still run. It returns when none does, and then
	// the lead is handed over. By default it writes the error to standard error, and the process ends with status 70. It is set before
	// Run.
	Left func(err error)

	member *ringleader.Member
	id     uint64

	mu       sync.Mutex
	changed  chan struct{} // is closed, and replaced, when something below has changed
	running  bool          // Run runs
	term     uint64        // in which Run leads; 0: it does not
	begun    time.Time
	held     bool      // client-go has acquired the lock in this Run
	answered uint64    // the other leader that Get has told last
	deadline time.Time // until which client-go renews in vain; zero: it does not
	gaveUp   bool      // client-go has given up: its manager then waits for no work, and may return nil
}

// New returns the lock of a member. The member has joined its group, and nothing else calls its method Lead. Each process has one lock for
// each manager, and a member, at least of a group, for each lock. The error is [ringleader.ErrConfig] for a member with
// [ringleader.Bully], which has no leases.
func New(member *ringleader.Member) (*Lock, error) {
	status := member.Status()
	if status.Algorithm == ringleader.Bully {
		return nil, fmt.Errorf("%w: a lock needs leases, and %s has none", ringleader.ErrConfig, status.Algorithm)
	}
	return &Lock{member: member, id: status.ID, changed: make(chan struct{})}, nil
}

// Run calls start, such as the method Start of a manager that has this lock, and returns when start has returned. The context of start is done when ctx is,
// and when the lead ends while the manager holds the lock: Timing.Grace and Timing.Margin before the lease ends. If start has not
// returned by Timing.Margin before that end, Config.Overrun of the member applies: by default the process ends.
//
// Start returns nil when all work that needs the lock has ended, and the lead is handed over at once. If it returns an error while it
// holds the lock, some of that work may still run: see Lock.Left. So it is if start panics. If the process does not end by that, the lead is handed
// over, and the panic goes on.
//
// The error is [ErrLost], also if start returns nil; the error of start; or why the member cannot lead. [ringleader.ErrConfig] is for a Run
// that begins before another one has ended.
func (l *Lock) Run(ctx context.Context, start func(context.Context) error) error {
	if !l.begin() {
		return fmt.Errorf("%w: Run runs already", ringleader.ErrConfig)
	}
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	candidate, withdraw := context.WithCancel(context.WithoutCancel(ctx)) // the lease is renewed while start returns
	finished := make(chan struct{})
	led := make(chan error, 1)
	var watch sync.WaitGroup
	watch.Go(func() {
		for range l.member.Observe(candidate) {
			l.change(func() {})
		}
	})
	go func() {
		err := l.member.Lead(candidate, func(ctx context.Context, leadership ringleader.Leadership) error {
			l.change(func() { l.term, l.begun = leadership.Term(), time.Now() })
			select {
			case <-ctx.Done():
			case <-finished:
			}
			var held bool
			l.change(func() {
				if held = l.held; !held {
					l.term = 0
				}
			})
			if held {
				stop(fmt.Errorf("%w: %w, in term %d", ErrLost, context.Cause(ctx), leadership.Term()))
				<-finished
			}
			return nil
		})
		stop(err) // the member has stopped, or cannot lead
		led <- err
	}()

	finish := func(err error) error {
		close(finished)
		withdraw()
		<-led
		watch.Wait()
		l.change(func() {
			l.running, l.held, l.term, l.answered, l.deadline, l.gaveUp = false, false, 0, 0, time.Time{}, false
		})
		return err
	}
	returned := false
	defer func() {
		if returned {
			return
		}
		value := recover() // nil: start has ended its goroutine
		stop(errPanicked)
		l.mu.Lock()
		held := l.held
		l.mu.Unlock()
		if held {
			l.left(fmt.Errorf("%w: %v\n%s", errPanicked, value, debug.Stack()))
		}
		_ = finish(nil)
		if value != nil {
			panic(value)
		}
	}()
	err := start(running)
	returned = true
	l.mu.Lock()
	held, gaveUp := l.held, l.gaveUp
	l.mu.Unlock()
	if gaveUp {
		err = errors.Join(errGaveUp, err)
	}
	if held && err != nil {
		l.left(err)
	}
	if cause := context.Cause(running); ctx.Err() == nil && cause != nil {
		err = errors.Join(cause, err)
	}
	return finish(err)
}

var errPanicked = errors.New("start has not returned")

// errGaveUp is why a manager that returns nil is not believed.
var errGaveUp = errors.New("client-go has not renewed the lock for RenewDeadline")

// exitLeft is the status with which a process ends whose manager has left work behind: EX_SOFTWARE, as for an overrun.
const exitLeft = 70

func (l *Lock) left(err error) {
	if l.Left != nil {
		l.Left(err)
		return
	}
	fmt.Fprintf(os.Stderr, "ringleader: %s: the manager failed, and its work may still run; the process ends, so that no two leaders work at the same time: %v\n", l.Identity(), err)
	os.Exit(exitLeft)
}

// begin reports whether Run may run.
func (l *Lock) begin() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running {
		return false
	}
	l.running = true
	return true
}

// change changes what Get waits for.
func (l *Lock) change(set func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	set()
	close(l.changed)
	l.changed = make(chan struct{})
}

// Get returns a record of what the member knows. The holder is the leader, the transitions are its term.
//
// Client-go asks again only after RetryPeriod. So Get waits, while it has nothing new to tell, until this member leads, another
// one does, or ctx is done.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	for {
		record, changed := l.look()
		if record != nil {
			// Each answer differs from the one before, as that of a holder who renews: the member itself knows when the lease ends.
			return record, fmt.Appendf(nil, "%s in term %d at %d", record.HolderIdentity, record.LeaderTransitions, record.RenewTime.UnixNano()), nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

// look returns a record, or what to wait for.
func (l *Lock) look() (*resourcelock.LeaderElectionRecord, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	view := l.member.View()
	now := metav1.Now()
	record := &resourcelock.LeaderElectionRecord{LeaseDurationSeconds: 1, RenewTime: now, AcquireTime: metav1.NewTime(view.Since), LeaderTransitions: int(view.Term)}
	other := view.Known && view.Leader != l.id
	switch {
	case l.term != 0 && !(l.held && other):
		record.HolderIdentity, record.AcquireTime, record.LeaderTransitions = identity(l.id), metav1.NewTime(l.begun), int(l.term)
	case l.running && !l.held && (!other || view.Leader == l.answered):
		return nil, l.changed
	case other:
		record.HolderIdentity, l.answered = identity(view.Leader), view.Leader
	}
	return record, nil
}

// Create is Update: what Get returns is always there.
func (l *Lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.Update(ctx, record)
}

// Update acquires or renews the lock: if this member leads in the term of Run, and a majority has confirmed that, see
// [ringleader.Member.VerifyLeader]. Else it returns [ErrNotHeld]. A manager that stops holds the lock while the member leads.
//
// A record without a holder releases the lock, and changes nothing: the return of start hands over. A manager releases also if
// its work has not ended within GracefulShutdownTimeout.
func (l *Lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	switch record.HolderIdentity {
	case "":
		return nil
	case l.Identity():
	default:
		return fmt.Errorf("%w: %s cannot hold it for %s", ErrNotHeld, l.Identity(), record.HolderIdentity)
	}
	verified := l.member.VerifyLeader(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.refusal(verified)
	if err == nil {
		l.held, l.deadline = true, time.Time{}
	} else {
		l.deadline, _ = ctx.Deadline()
	}
	return err
}

// refusal tells why the lock is not held, after a majority was asked. With l.mu locked.
func (l *Lock) refusal(verified error) error {
	switch {
	case !l.running:
		return fmt.Errorf("%w: start the manager within Lock.Run", ErrNotHeld)
	case verified != nil:
		return fmt.Errorf("%w: %w", ErrNotHeld, verified)
	case l.term == 0 || l.member.View().Term != l.term:
		return fmt.Errorf("%w: the term has changed", ErrNotHeld)
	}
	return nil
}

// RecordEvent notes whether client-go stops because it has given up. It logs nothing: the member's log tells who leads.
func (l *Lock) RecordEvent(event string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if event == "stopped leading" && !l.deadline.IsZero() && !time.Now().Before(l.deadline) {
		l.gaveUp = true
	}
}

// Identity returns the name of this member, "member-2".
func (l *Lock) Identity() string { return identity(l.id) }

func identity(id uint64) string { return fmt.Sprintf("member-%d", id) }

// Describe returns the name of the lock in logs.
func (l *Lock) Describe() string { return "ringleader " + l.Identity() }
