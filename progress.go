package ringleader

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/canary"
	"ringleader.example/ringleader/internal/serve/disk"
	"ringleader.example/ringleader/internal/serve/live"
)

// ErrStalled is the cause of the end of a leadership whose work makes no progress: it has not called [Leadership.Alive] for Timing.Progress, or a
// directory of Config.ProgressPaths fails. The text has the reason. It is also why a member may not lead at present.
var ErrStalled = errors.New("the work makes no progress")

// Alive tells that the work of [Member.Lead] makes progress. With Timing.Progress the work has to call it more often than that. Otherwise its
// member leads no more, as if nothing renewed the lease any more. A call costs less than a microsecond. Without Timing.Progress, after the end
// of the leadership, and without Lead it does nothing.
func (l Leadership) Alive() {
	if l.member != nil {
		l.member.work.tell(l.term, l.member.config.Clock.Boottime())
	}
}

// mostPause is the longest time for which a member does not lead after its work has made no progress. A tenure that lasts longer shows that it does
// again.
const mostPause = time.Minute

// work is what a member knows of the progress of its work in a group.
type work struct {
	mu      sync.Mutex
	term    election.Term // of the work that runs; 0: none runs
	ready   bool          // it has told that it can serve
	told    time.Duration // when it told progress last, or began, on Boottime
	held    error         // why the member may not lead; nil: it may
	running bool          // the work that is the reason has not returned
	pauses  bool          // the pause after that goes on
	pause   time.Duration // the next one
}

// begin notes that work begins.
func (w *work) begin(term election.Term, now time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.term, w.told, w.ready = term, now, false
}

// tell notes that the work of a term makes progress.
func (w *work) tell(term election.Term, now time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.term == term {
		w.told = max(w.told, now)
	}
}

// excuse gives the work time in which this process did not run.
func (w *work) excuse(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told += d
}

// due returns when the work has to have told progress again.
func (w *work) due(most time.Duration) time.Duration {
	if most == 0 {
		return process.Never
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.told + most
}

// silent returns for how long the work has told no progress.
func (w *work) silent(now time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return now - w.told
}

// hold lets the member lead no more: until the work has returned and, with a pause, until that is over.
func (w *work) hold(why error, pauses bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held, w.running, w.pauses = why, true, pauses
}

// returned notes that the work of a tenure of that length has returned. It returns how long the member has to wait; 0: it may lead, as far as
// the work is concerned.
func (w *work) returned(lasted, first time.Duration) (pause time.Duration, changed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.term, w.running = 0, false
	if lasted > mostPause || w.pause == 0 {
		w.pause = first
	}
	switch {
	case w.held == nil:
		return 0, false
	case !w.pauses:
		w.held = nil
		return 0, true
	}
	pause = w.pause
	w.pause = min(2*w.pause, mostPause)
	return pause, true
}

// rested notes that the pause is over.
func (w *work) rested() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pauses = false; !w.running {
		w.held = nil
	}
}

// unable returns why the member may not lead, or nil.
func (w *work) unable() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.held
}

// runsOut reports whether the lease of a tenure that ends for a cause is to run out: its work may hang, and so never stop.
func runsOut(cause error) bool { return errors.Is(cause, ErrStalled) || errors.Is(cause, ErrStorage) }

// stalls lets the member lead no more since its work makes no progress, and returns the cause.
func (m *Member) stalls() error {
	err := fmt.Errorf("%w: it has told none for %s", ErrStalled, seconds(m.work.silent(m.config.Clock.Boottime())))
	m.work.hold(err, true)
	m.config.Logger.Warn("this member may not lead", "member", m.config.ID, "error", err)
	m.stand(err, func() {})
	return err
}

// ended notes that the work of a tenure has returned. The member waits before it may lead again, so that work that never makes progress does not
// change the leader again and again.
func (m *Member) ended(lasted time.Duration) {
	pause, changed := m.work.returned(lasted, max(m.config.Timing.Progress, m.config.Timing.Lease))
	if !changed {
		return
	}
	if pause == 0 {
		m.stand(nil, func() {})
		return
	}
	go func() {
		alarm := m.config.Clock.NewTimer()
		defer alarm.Stop()
		alarm.Reset(pause)
		select {
		case <-alarm.C():
			m.work.rested()
			m.stand(nil, func() {})
			m.config.Logger.Info("this member may lead again, as far as its work is concerned", "member", m.config.ID)
		case <-m.Done():
		}
	}()
}

// abandon releases the lead of a tenure whose work has not returned when its lease has run out, and returns the error of the work.
func (m *Member) abandon(term election.Term, until time.Duration, end func(), returned <-chan error) error {
	alarm := m.config.Clock.NewTimer()
	defer alarm.Stop()
	arm(m.config.Clock, alarm, until)
	select {
	case err := <-returned:
		return err
	case <-alarm.C():
	}
	m.work.hold(fmt.Errorf("%w: that of term %d has not returned", ErrStalled, term), m.work.paused())
	m.stand(nil, func() {})
	end()
	return <-returned
}

// paused reports whether a pause follows the return of the work.
func (w *work) paused() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pauses
}

// PathStatus is what a member knows of a directory of Config.ProgressPaths.
type PathStatus struct {
	Path    string  `json:"path"`
	Problem string  `json:"problem,omitempty"` // why the work cannot use it: the disk gives no answer, for example; empty: nothing is wrong
	Failing float64 `json:"failing,omitempty"` // for how long that has been so, in seconds
}

// paths returns the states of the directories.
func (m *Member) paths() (all []PathStatus) {
	for _, p := range m.live.Disks.Paths() {
		all = append(all, PathStatus{p.Name, p.Problem, p.Lasts.Seconds()})
	}
	return all
}

// stalled returns why the work of this member makes no progress, or nil.
func (m *Member) stalled() error {
	for _, p := range m.live.Disks.Paths() {
		if p.Problem != "" {
			return fmt.Errorf("%w: %s: %s", ErrStalled, p.Name, p.Problem)
		}
	}
	if problem := m.all().failures.Load(); problem != nil && problem.Path != "" {
		return fmt.Errorf("%w: %s", ErrStalled, problem.Path)
	}
	return m.work.unable()
}

// watches completes the configuration of the engine with what looks at the directories. A process of its own does that, if this program can
// start one: see [Warden].
func (c *Config) watches(l *live.Config) *canary.Canary {
	var places []canary.Place
	if own := c.Data != "" && canary.Able(); own {
		places = append(places, canary.Place{Kind: canary.Store, Path: c.Data, Identity: canary.Identity(c.Data)})
	}
	stores := len(places)
	for _, path := range c.ProgressPaths {
		places = append(places, canary.Place{Kind: canary.Path, Path: path, File: canary.FileOf(c.ID)})
	}
	all := canary.New(places...)
	for i, place := range places {
		if i < stores {
			l.Prober = all.Prober(i)
		} else {
			l.Paths = append(l.Paths, disk.Path{Name: place.Path, Prober: all.Prober(i)})
		}
	}
	return all
}

// errUnanswered is why a member with paths may not lead at its start.
var errUnanswered = fmt.Errorf("%w: a directory has not answered yet", ErrStalled)
