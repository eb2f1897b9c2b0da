package cluster

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Jobs of a version share its workers by time: a job that has had more of it than another one publishes no pieces, until the
// other has caught up. The queue cannot do that, since it gives each job as many pieces as another, and pieces may take from
// milliseconds to hours.
//
// Each commander announces the time that its job has had, with an estimate for its pieces in the queue. A job that joins others
// begins at the least time of them, so the time before counts for none. A job that has published all its pieces holds up no other.

// lead is how far a job may be ahead of another, in time of each core of the workers: so far it may get between two announcements.
const lead = time.Second / 4

// account is the time of workers that a job has had.
type account struct {
	base  time.Duration // of other jobs, when this one joined them
	spent time.Duration
	mean  time.Duration // of a piece
	waits bool          // there are more pieces than the queue may have
}

// spend notes a piece that has taken that time.
func (a *account) spend(took time.Duration) {
	a.spent += took
	if a.mean == 0 {
		a.mean = took
	}
	a.mean += (took - a.mean) / 4
}

// used returns the time, with that of so many pieces in the queue.
func (a *account) used(queued int) time.Duration {
	return a.base + a.spent + time.Duration(queued)*a.mean
}

// rivals are the jobs that wait for the same workers.
type rivals struct {
	mutex        sync.Mutex
	key, version string // of the own job
	heard        map[string]rival
}

type rival struct {
	used time.Duration
	at   time.Time // by the own clock
}

// hear takes the announcement of a job.
func (r *rivals) hear(m *nats.Msg) {
	var a announcement
	if json.Unmarshal(m.Data, &a) != nil || a.Key == r.key || a.Version != r.version {
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if a.Waits {
		r.heard[a.Key] = rival{a.Used, time.Now()}
	} else {
		delete(r.heard, a.Key)
	}
}

// least returns the least time that a rival has had. It reports false if there are none.
func (r *rivals) least() (least time.Duration, found bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for key, one := range r.heard {
		switch {
		case time.Since(one.at) > fresh:
			delete(r.heard, key)
		case !found || one.used < least:
			least, found = one.used, true
		}
	}
	return least, found
}

// turn reports whether the job may publish another piece, with so many in the queue, for workers with so many cores.
func (c *Commander) turn(queued, slots int) bool {
	least, found := c.rivals.least()
	if found && !c.joined {
		c.account.base += max(0, least-c.account.used(queued))
	}
	c.joined = found && c.account.waits
	return !found || c.account.used(queued) <= least+time.Duration(slots)*lead
}
