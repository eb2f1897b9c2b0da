// Package disk watches the storage of a member, and the directories that the work of its host needs.
//
// A member whose disk gives no answer still renews its lease, which needs no disk. So the disk is watched beside the loop: a
// probe while nothing is saved, and each save. The directories are watched likewise, by probes alone. What is
// found is shown, and told to the host, which decides whether the member may lead.
package disk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"ringleader.example/ringleader/clock"
	"ringleader.example/ringleader/storage"
)

const (
	// ProbeEvery is the time between two probes of a storage that saves nothing. Together with UsualStall it is shorter than that and a default lease.
	ProbeEvery = 400 * time.Millisecond

	// UsualStall is the default timeout of a read or write of the storage. The storage counts as failing when an operation exceeds it.
	UsualStall = time.Second

	// Enough is how many uses in a row have to succeed before a storage that has failed counts as one that works.
	Enough = 3
)

// Path is a directory that the work of the host needs.
type Path struct {
	Name string
	storage.Prober
}

// Config is what is watched, and how.
type Config struct {
	Storage storage.Storage // nil: only paths are watched
	Prober  storage.Prober  // probes it; nil: it does so itself, if it can
	Paths   []Path
	Stall   time.Duration // how long a use may last before it counts as failing; see UsualStall
	Clock   clock.Clock
	Now     func() time.Duration // a reading of the clock since a start; never 0
	Logger  *slog.Logger
	Changed func(problem string, lasts time.Duration) // is called when the storage begins or ceases to fail
}

// Disks are the storage of a member, and the paths. Its methods may be called at any time, by any goroutine.
type Disks struct {
	config  Config
	storage disk
	paths   []*disk

	mu   sync.Mutex // orders what is told
	tell func(Failures)
}

// disk is what is known of the storage, or of a path.
type disk struct {
	all    *Disks
	path   string         // empty: it is the storage
	prober storage.Prober // nil: there are no probes

	mu      sync.Mutex
	save    use
	probe   use
	good    int    // how many uses in a row have succeeded
	stalled string // what the host was told last; empty: nothing is wrong
}

// use is one kind of use of a disk.
type use struct {
	begun   time.Duration // of the one under way; 0: there is none
	ended   time.Duration // of the last one
	since   time.Duration // when the first of those failed that have failed in a row
	problem string        // of the last one; empty: it succeeded
}

// unanswered is the problem of a path before its first probe has ended.
const unanswered = "it has not answered yet"

// New returns the disks, which are not watched yet. A path fails until its first probe has succeeded.
func New(c Config) *Disks {
	d := &Disks{config: c}
	d.storage.all = d
	d.storage.prober, _ = c.Storage.(storage.Prober)
	if c.Prober != nil {
		d.storage.prober = c.Prober
	}
	for _, p := range c.Paths {
		d.paths = append(d.paths, &disk{all: d, path: p.Name, prober: p, stalled: unanswered, probe: use{problem: unanswered}, good: Enough - 1})
	}
	return d
}

// Save makes records durable, if there is a storage.
func (d *Disks) Save(records ...storage.Record) error {
	if d.config.Storage == nil {
		return nil
	}
	return d.storage.use(&d.storage.save, func() error { return d.config.Storage.Save(records) })
}

// use uses the disk, and notes how that ends.
func (d *disk) use(u *use, access func() error) error {
	c := &d.all.config
	d.mu.Lock()
	u.begun = c.Now()
	d.mu.Unlock()
	err := access()
	d.mu.Lock()
	defer d.mu.Unlock()
	lasted := c.Now() - u.begun
	u.begun, u.ended = 0, c.Now()
	if d.good++; err != nil || lasted >= c.Stall {
		d.good = 0
	}
	switch {
	case err == nil:
		u.problem = ""
		return nil
	case u.problem == "" || u.problem == unanswered:
		u.since = u.ended
	}
	u.problem = err.Error()
	return err
}

// Storage returns what is wrong with the storage, and for how long it is; an empty text if nothing is.
func (d *Disks) Storage() (problem string, lasts time.Duration) { return d.storage.problem() }

// PathState is what is known of a path.
type PathState struct {
	Name    string
	Problem string        // what is wrong with it; empty: nothing
	Lasts   time.Duration // for how long that has been so
}

// Paths returns what is wrong with each path, in their order.
func (d *Disks) Paths() (all []PathState) {
	for _, p := range d.paths {
		problem, lasts := p.problem()
		all = append(all, PathState{p.path, problem, lasts})
	}
	return all
}

// problem returns what is wrong, and for how long it is.
func (d *disk) problem() (problem string, lasts time.Duration) {
	now, most := d.all.config.Now(), d.all.config.Stall
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, u := range []*use{&d.save, &d.probe} {
		switch {
		case u.begun != 0 && now-u.begun >= most:
			lasts = now - u.begun
			problem = fmt.Sprintf("the disk has not answered for %.1f s", lasts.Seconds())
			if u == &d.probe && d.all.config.Prober != nil {
				problem += ", or the process that probes it stands still"
			}
			return problem, lasts
		case u.problem != "":
			return u.problem, now - u.since
		}
	}
	return "", 0
}

// LastAnswer is how long the end of a member waits for its storage.
const LastAnswer = 10 * time.Second

// ErrHangs reports that a use of the storage had not ended when the member ended, or left a group.
var ErrHangs = errors.New("the disk has not answered")

// Close closes the storage when none uses it any more: when all users have ended. What still hangs after LastAnswer is abandoned: it closes the
// storage itself when it ends. What it may still write are promises that no other member has heard of, so they harm nothing.
func (d *Disks) Close(users ...<-chan struct{}) (abandoned, err error) {
	closed := make(chan error, 1)
	go func() {
		for _, ended := range users {
			<-ended
		}
		closed <- Close(d.config.Storage)
	}()
	limit := time.NewTimer(LastAnswer)
	defer limit.Stop()
	select {
	case err := <-closed:
		return nil, err
	case <-limit.C:
	}
	abandoned = fmt.Errorf("%w for %v: a write is abandoned, and the storage is in use until it ends", ErrHangs, LastAnswer)
	d.config.Logger.Error("the member ends while its storage gives no answer", "error", abandoned)
	return abandoned, nil
}

// Close closes a storage, if there is one.
func Close(s storage.Storage) error {
	if s == nil {
		return nil
	}
	return s.Close()
}

// never is a time that does not come.
const never = time.Duration(math.MaxInt64)

// untilStall returns the time until a use that is under way has lasted for too long.
func (d *disk) untilStall() time.Duration {
	now, most := d.all.config.Now(), d.all.config.Stall
	d.mu.Lock()
	defer d.mu.Unlock()
	left := never
	for _, u := range []*use{&d.save, &d.probe} {
		if end := u.begun + most; u.begun != 0 && end > now {
			left = min(left, end-now)
		}
	}
	return left
}

// saved reports whether a save has succeeded after a moment: then the storage needs no probe.
func (d *disk) saved(after time.Duration) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.save.ended > after && d.save.problem == ""
}

// Watch watches the storage and the paths until the end of the member, which is that of ctx.
func (d *Disks) Watch(ctx context.Context) {
	var all sync.WaitGroup
	if d.config.Storage != nil {
		all.Go(func() { d.storage.watch(ctx) })
	}
	for _, p := range d.paths {
		all.Go(func() { p.watch(ctx) })
	}
	all.Wait()
}

// watch probes the disk until the end of the member, and logs when it begins and ceases to fail. A probe that never returns is left alone. A
// path is probed at once, and the storage was used at the start.
func (d *disk) watch(ctx context.Context) {
	c := &d.all.config
	alarm := c.Clock.NewTimer()
	defer alarm.Stop()
	var (
		running chan struct{} // closed when the probe under way has returned; nil: there is none
		failing bool
		last    = c.Now() // when the last look was
		first   = d.path != ""
	)
	wait := func(most time.Duration) (ends bool) {
		alarm.Reset(min(most, d.untilStall()))
		select {
		case <-running:
			running = nil
		case <-alarm.C():
		case <-ctx.Done():
			return true
		}
		return false
	}
	for ; ; first = false {
		for next := c.Now() + ProbeEvery; !first && c.Now() < next; { // a probe that has hung may end meanwhile
			if wait(next - c.Now()) {
				return
			}
			failing = d.tell(failing)
		}
		if running == nil && d.prober != nil && !d.saved(last) {
			returned := make(chan struct{})
			running = returned
			go func() {
				defer close(returned)
				_ = d.use(&d.probe, d.prober.Probe) // problem has the error
			}()
			if wait(c.Stall) {
				return
			}
		}
		if d.prober == nil {
			d.rested()
		}
		last = c.Now()
		failing = d.tell(failing)
	}
}

// rested counts a storage that cannot be probed, and that nothing uses, as if a probe had succeeded: else a member that has nothing to save would
// never be able again.
func (d *disk) rested() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.save.begun == 0 && d.save.problem == "" {
		d.good++
	}
}

// tell logs whether the disk fails, if that has changed, and lets the host know.
func (d *disk) tell(before bool) (failing bool) {
	problem, lasts := d.problem()
	if (problem != "") != before && d.path == "" {
		d.all.config.Changed(problem, lasts)
	}
	d.tellStalled(problem)
	log := d.all.config.Logger
	switch failing = problem != ""; {
	case failing == before:
	case d.path != "" && failing:
		log.Warn("a directory that the work of this member needs fails", "path", d.path, "problem", problem)
	case d.path != "":
		log.Warn("a directory that the work of this member needs works again", "path", d.path)
	case failing:
		log.Warn("the storage of this member fails; it cannot keep what it promises", "problem", problem)
	default:
		log.Warn("the storage of this member works again")
	}
	return failing
}

// Failures are what does not work; empty texts: nothing is wrong.
type Failures struct {
	Storage string
	Path    string // with its name
}

// Stalls lets tell know whenever the storage or a path ceases to work, and when it works again: when several uses in a row have succeeded. A
// path does not work before its first probe has succeeded.
func (d *Disks) Stalls(tell func(Failures)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tell = tell
	if now := d.Stalled(); len(d.paths) > 0 || now != (Failures{}) {
		tell(now)
	}
}

// Stalled returns what was told last.
func (d *Disks) Stalled() (f Failures) {
	f.Storage = d.storage.told()
	for _, p := range d.paths {
		if problem := p.told(); problem != "" {
			f.Path = p.path + ": " + problem
			break
		}
	}
	return f
}

func (d *disk) told() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stalled
}

// tellStalled tells the host whether the disk works, if that has changed.
func (d *disk) tellStalled(problem string) {
	d.mu.Lock()
	before, working := d.stalled, problem == "" && d.good >= Enough
	if before == "" && problem != "" || before == unanswered && problem != "" || before != "" && working {
		d.stalled = problem
	}
	same := before == d.stalled
	d.mu.Unlock()
	if same {
		return
	}
	d.all.mu.Lock()
	defer d.all.mu.Unlock()
	if d.all.tell != nil {
		d.all.tell(d.all.Stalled())
	}
}
