package live

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/storage"
)

// A member whose disk gives no answer still renews its lease, which needs no disk. So the disk is watched beside the loop: a
// probe while nothing is saved, and each save. The directories that the work of the host needs are watched likewise, by probes alone. What is
// found is shown, and told to the host, which decides whether the member may lead.

const (
	// probeEvery is the time between two probes of a storage that saves nothing. Together with usualStall it is shorter than that and a default lease.
	probeEvery = 400 * time.Millisecond

	// usualStall is how long a use of the storage may last before the storage counts as failing, if Config.Stall is 0.
	usualStall = time.Second

	// enough is how many uses in a row have to succeed before a storage that has failed counts as one that works.
	enough = 3
)

// Path is a directory that the work of the host needs.
type Path struct {
	Name string
	storage.Prober
}

// disk is what is known of the storage, or of a path.
type disk struct {
	member *Member
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

// prepareDisks prepares the storage and the paths. A path fails until its first probe has succeeded.
func (m *Member) prepareDisks() {
	m.disk.member = m
	m.disk.prober, _ = m.config.Storage.(storage.Prober)
	if m.config.Prober != nil {
		m.disk.prober = m.config.Prober
	}
	for _, p := range m.config.Paths {
		m.paths = append(m.paths, &disk{member: m, path: p.Name, prober: p, stalled: unanswered, probe: use{problem: unanswered}, good: enough - 1})
	}
}

// use uses the disk, and notes how that ends.
func (d *disk) use(u *use, access func() error) error {
	m := d.member
	d.mu.Lock()
	u.begun = m.now()
	d.mu.Unlock()
	err := access()
	d.mu.Lock()
	defer d.mu.Unlock()
	lasted := m.now() - u.begun
	u.begun, u.ended = 0, m.now()
	if d.good++; err != nil || lasted >= m.config.Stall {
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

// Disk returns what is wrong with the storage, and for how long it is; an empty text if nothing is.
func (m *Member) Disk() (problem string, lasts time.Duration) { return m.disk.problem() }

// PathState is what is known of a path.
type PathState struct {
	Name    string
	Problem string        // what is wrong with it; empty: nothing
	Lasts   time.Duration // for how long that has been so
}

// Paths returns what is wrong with each path, in their order.
func (m *Member) Paths() (all []PathState) {
	for _, d := range m.paths {
		problem, lasts := d.problem()
		all = append(all, PathState{d.path, problem, lasts})
	}
	return all
}

// problem returns what is wrong, and for how long it is.
func (d *disk) problem() (problem string, lasts time.Duration) {
	now, most := d.member.now(), d.member.config.Stall
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, u := range []*use{&d.save, &d.probe} {
		switch {
		case u.begun != 0 && now-u.begun >= most:
			lasts = now - u.begun
			return fmt.Sprintf("the disk has not answered for %.1f s", lasts.Seconds()), lasts
		case u.problem != "":
			return u.problem, now - u.since
		}
	}
	return "", 0
}

// lastAnswer is how long the end of a member waits for its storage.
const lastAnswer = 10 * time.Second

// ErrHangs reports that a use of the storage had not ended when the member ended, or left a group.
var ErrHangs = errors.New("the disk has not answered")

// closeDisk closes the storage when no goroutine of the member uses it any more. What still hangs after lastAnswer is abandoned: it closes the
// storage itself when it ends. What it may still write are promises that no other member has heard of, so they harm nothing.
func (m *Member) closeDisk(users ...<-chan struct{}) error {
	closed := make(chan error, 1)
	go func() {
		for _, ended := range users {
			<-ended
		}
		closed <- closeStorage(m.config.Storage)
	}()
	limit := time.NewTimer(lastAnswer)
	defer limit.Stop()
	select {
	case err := <-closed:
		return err
	case <-limit.C:
	}
	m.abandoned = fmt.Errorf("%w for %v: a write is abandoned, and the storage is in use until it ends", ErrHangs, lastAnswer)
	m.log.Error("the member ends while its storage gives no answer", "error", m.abandoned)
	return nil
}

// untilStall returns the time until a use that is under way has lasted for too long.
func (d *disk) untilStall() time.Duration {
	now, most := d.member.now(), d.member.config.Stall
	d.mu.Lock()
	defer d.mu.Unlock()
	left := process.Never
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

// watchDisks watches the storage and the paths until the end of the member.
func (m *Member) watchDisks() {
	var all sync.WaitGroup
	if m.config.Storage != nil {
		all.Go(m.disk.watch)
	}
	for _, d := range m.paths {
		all.Go(d.watch)
	}
	all.Wait()
}

// watch probes the disk until the end of the member, and logs when it begins and ceases to fail. A probe that never returns is left alone. A
// path is probed at once, and the storage was used at the start.
func (d *disk) watch() {
	m := d.member
	alarm := m.clock.NewTimer()
	defer alarm.Stop()
	var (
		running chan struct{} // closed when the probe under way has returned; nil: there is none
		failing bool
		last    = m.now() // when the last look was
		first   = d.path != ""
	)
	wait := func(most time.Duration) (ends bool) {
		alarm.Reset(min(most, d.untilStall()))
		select {
		case <-running:
			running = nil
		case <-alarm.C():
		case <-m.ctx.Done():
			return true
		}
		return false
	}
	for ; ; first = false {
		for next := m.now() + probeEvery; !first && m.now() < next; { // a probe that has hung may end meanwhile
			if wait(next - m.now()) {
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
			if wait(m.config.Stall) {
				return
			}
		}
		if d.prober == nil {
			d.rested()
		}
		last = m.now()
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
		d.member.recorder.disk(problem, lasts)
	}
	d.tellStalled(problem)
	log := d.member.log
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
func (m *Member) Stalls(tell func(Failures)) {
	m.stalls.mu.Lock()
	defer m.stalls.mu.Unlock()
	m.stalls.tell = tell
	if now := m.stalled(); len(m.paths) > 0 || now != (Failures{}) {
		tell(now)
	}
}

// stalls is who is told what does not work.
type stalls struct {
	mu   sync.Mutex // orders what is told
	tell func(Failures)
}

// stalled returns what the disks have told.
func (m *Member) stalled() (s Failures) {
	s.Storage = m.disk.told()
	for _, d := range m.paths {
		if problem := d.told(); problem != "" {
			s.Path = d.path + ": " + problem
			break
		}
	}
	return s
}

func (d *disk) told() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stalled
}

// tellStalled tells the host whether the disk works, if that has changed.
func (d *disk) tellStalled(problem string) {
	d.mu.Lock()
	before, working := d.stalled, problem == "" && d.good >= enough
	if before == "" && problem != "" || before == unanswered && problem != "" || before != "" && working {
		d.stalled = problem
	}
	same := before == d.stalled
	d.mu.Unlock()
	if same {
		return
	}
	s := &d.member.stalls
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tell != nil {
		s.tell(d.member.stalled())
	}
}
