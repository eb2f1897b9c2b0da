package leadergocron

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-co-op/gocron/v2"

	"ringleader.example/ringleader"
)

// ErrRuns reports that the last run of the same job has not ended.
var ErrRuns = errors.New("the last run of this job has not ended")

// Locker is a gocron.Locker for the schedulers of one process. A job runs while this member leads, and the lead ends after its runs.
// Make it with [NewLocker], and call Run.
//
// Gocron locks the name of a job, and a name runs once at a time. So each job needs a name of its own, by gocron.WithName: the default is
// that of its function, which all jobs share that a loop makes of one function literal. While one of them runs, the others are skipped.
type Locker struct {
	member *ringleader.Member

	mu     sync.Mutex
	tenure *tenure // nil: no job may begin
}

// tenure is a time in which this member leads, and jobs may run.
type tenure struct {
	ctx        context.Context // ends when the runs have to end
	leadership ringleader.Leadership
	keys       map[string]bool // of the runs at present
	runs       sync.WaitGroup
}

// NewLocker returns the locker of a member, which locks nothing before Run is called.
func NewLocker(member *ringleader.Member) *Locker { return &Locker{member: member} }

// Run lets jobs run whenever this member leads, until ctx is done. It is ringleader.Member.Lead with the runs as work: when the
// lead has to end, no run begins, and those that have begun must end. The error is that of Lead.
func (l *Locker) Run(ctx context.Context) error { return l.member.Lead(ctx, l.lead) }

// lead lets jobs run until the lead has to end, and waits for them.
func (l *Locker) lead(ctx context.Context, leadership ringleader.Leadership) error {
	t := &tenure{ctx: ctx, leadership: leadership, keys: map[string]bool{}}
	l.set(t)
	<-ctx.Done()
	l.set(nil)
	t.runs.Wait()
	return nil
}

func (l *Locker) set(t *tenure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tenure = t
}

// Lock implements gocron.Locker. The error is ringleader.ErrNotLeader if this member does not lead, or has to stop, and [ErrRuns].
// It does not wait.
func (l *Locker) Lock(_ context.Context, key string) (gocron.Lock, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.tenure
	switch {
	case t == nil || !t.leadership.Valid():
		return nil, fmt.Errorf("job %q does not run here: %w", key, ringleader.ErrNotLeader)
	case t.keys[key]:
		return nil, fmt.Errorf("job %q: %w", key, ErrRuns)
	}
	t.keys[key] = true
	t.runs.Add(1)
	return &lock{locker: l, tenure: t, key: key}, nil
}

// Leadership is for a job, while it runs. It returns a context that ends when the lead has to end, or ctx does, and the lead itself, whose
// term is a fencing token. A job that takes long has to return when that context is done. Without a run the lead is not valid, and the
// context is done. Call stop when the job returns.
func (l *Locker) Leadership(ctx context.Context) (within context.Context, lead ringleader.Leadership, stop context.CancelFunc) {
	l.mu.Lock()
	t := l.tenure
	l.mu.Unlock()
	within, cancel := context.WithCancelCause(ctx)
	if t == nil {
		cancel(ringleader.ErrNotLeader)
		return within, ringleader.Leadership{}, func() {}
	}
	unlink := context.AfterFunc(t.ctx, func() { cancel(context.Cause(t.ctx)) })
	return within, t.leadership, func() { unlink(); cancel(nil) }
}

// lock is one run of a job.
type lock struct {
	locker *Locker
	tenure *tenure
	key    string
	once   sync.Once
}

// Unlock implements gocron.Lock: the run has ended.
func (k *lock) Unlock(context.Context) error {
	k.once.Do(func() {
		k.locker.mu.Lock()
		defer k.locker.mu.Unlock()
		delete(k.tenure.keys, k.key)
		k.tenure.runs.Done()
	})
	return nil
}
