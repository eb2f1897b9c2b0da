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
// probe while nothing is saved, and each save. What is found is shown, and told to the host, which decides whether the member may lead.

const (
	// probeEvery is the time between two probes of a storage that saves nothing. With usualStall it is below two seconds.
	probeEvery = 800 * time.Millisecond

	// usualStall is how long a use of the storage may last before the storage counts as failing, if Config.Stall is 0.
	usualStall = time.Second

	// enough is how many uses in a row have to succeed before a storage that has failed counts as one that works.
	enough = 3
)

// disk is what is known of the storage.
type disk struct {
	mu    sync.Mutex
	save  use
	probe use
	good  int // how many uses in a row have succeeded

	tell    func(problem string) // of Stalls
	stalled string               // what it was told last; empty: nothing
}

// use is one kind of use of the storage.
type use struct {
	begun   time.Duration // of the one under way; 0: there is none
	ended   time.Duration // of the last one
	since   time.Duration // when the first of those failed that have failed in a row
	problem string        // of the last one; empty: it succeeded
}

// use uses the storage, and notes how that ends.
func (m *Member) use(u *use, access func() error) error {
	m.disk.mu.Lock()
	u.begun = m.now()
	m.disk.mu.Unlock()
	err := access()
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	lasted := m.now() - u.begun
	u.begun, u.ended = 0, m.now()
	if m.disk.good++; err != nil || lasted >= m.config.Stall {
		m.disk.good = 0
	}
	switch {
	case err == nil:
		u.problem = ""
		return nil
	case u.problem == "":
		u.since = u.ended
	}
	u.problem = err.Error()
	return err
}

// Disk returns what is wrong with the storage, and for how long it is; an empty text if nothing is.
func (m *Member) Disk() (problem string, lasts time.Duration) {
	d, now := &m.disk, m.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, u := range []*use{&d.save, &d.probe} {
		switch {
		case u.begun != 0 && now-u.begun >= m.config.Stall:
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

// stalls returns the time until a use that is under way has lasted for too long.
func (d *disk) stalls(now, most time.Duration) time.Duration {
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

// watchDisk probes the storage until the end of the member, and logs when it begins and ceases to fail. A probe that never
// returns is left alone.
func (m *Member) watchDisk() {
	prober, _ := m.config.Storage.(storage.Prober)
	alarm := m.clock.NewTimer()
	defer alarm.Stop()
	var (
		running chan struct{} // closed when the probe under way has returned; nil: there is none
		failing bool
		last    = m.now() // when the last look was
	)
	wait := func(d time.Duration) (ends bool) {
		alarm.Reset(min(d, m.disk.stalls(m.now(), m.config.Stall)))
		select {
		case <-running:
			running = nil
		case <-alarm.C():
		case <-m.ctx.Done():
			return true
		}
		return false
	}
	for {
		for next := m.now() + probeEvery; m.now() < next; { // a probe that has hung may end meanwhile
			if wait(next - m.now()) {
				return
			}
			failing = m.tellDisk(failing)
		}
		if running == nil && prober != nil && !m.disk.saved(last) {
			returned := make(chan struct{})
			running = returned
			go func() {
				defer close(returned)
				_ = m.use(&m.disk.probe, prober.Probe) // Disk has the error
			}()
			if wait(m.config.Stall) {
				return
			}
		}
		last = m.now()
		failing = m.tellDisk(failing)
	}
}

// tellDisk logs whether the storage fails, if that has changed.
func (m *Member) tellDisk(before bool) (failing bool) {
	problem, lasts := m.Disk()
	if (problem != "") != before {
		m.recorder.disk(problem, lasts)
	}
	m.tellStalled(problem)
	switch failing = problem != ""; {
	case failing && !before:
		m.log.Warn("the storage of this member fails; it cannot keep what it promises", "problem", problem)
	case before && !failing:
		m.log.Warn("the storage of this member works again")
	}
	return failing
}

// Stalls lets tell know whenever the storage ceases to work, and when it works again: when several uses in a row have succeeded. Tell gets the
// problem, or an empty text.
func (m *Member) Stalls(tell func(problem string)) {
	m.disk.mu.Lock()
	m.disk.tell = tell
	stalled := m.disk.stalled
	m.disk.mu.Unlock()
	if stalled != "" {
		tell(stalled)
	}
}

// tellStalled tells the host whether the storage works, if that has changed.
func (m *Member) tellStalled(problem string) {
	d := &m.disk
	d.mu.Lock()
	same := (problem == "") == (d.stalled == "") || problem == "" && d.good < enough
	if !same {
		d.stalled = problem
	}
	tell := d.tell
	d.mu.Unlock()
	if !same && tell != nil {
		tell(problem)
	}
}
