package cluster

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"ringleader.example/ringleader/internal/study/work"
)

// crowd is the workers that a commander hears of.
type crowd struct {
	version string
	notice  func(string)
	genuine func(subject string, header nats.Header, data []byte) bool

	mutex   sync.Mutex
	workers map[string]heard // by their IDs
	refused []string         // other versions, and processes with other tokens
}

// heard is what was heard of a worker, and when by the own clock.
type heard struct {
	work.WorkerState
	at time.Time
}

// hear takes an announcement of a worker.
func (c *crowd) hear(m *nats.Msg) {
	var w work.WorkerState
	if json.Unmarshal(m.Data, &w) != nil {
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	switch {
	case w.Version != c.version:
		c.refuse(w.Version, fmt.Sprintf("the worker on %s is refused: it is of version %s, and this program of version %s", w.Process, w.Version, c.version))
	case !c.genuine(m.Subject, m.Header, m.Data):
		c.refuse("", fmt.Sprintf("the worker on %s is refused: it has not the token of this command", w.Process))
	default:
		c.workers[w.ID] = heard{w, time.Now()}
	}
}

// refuse shows once why workers get no pieces.
func (c *crowd) refuse(which, why string) {
	if !slices.Contains(c.refused, which) && len(c.refused) < mostRefused {
		c.refused = append(c.refused, which)
		c.notice(why)
	}
}

// list returns the workers that are there.
func (c *crowd) list() (all []work.WorkerState) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for id, w := range c.workers {
		if w.Slots == 0 || time.Since(w.at) > fresh {
			delete(c.workers, id)
		} else {
			all = append(all, w.WorkerState)
		}
	}
	slices.SortFunc(all, func(a, b work.WorkerState) int {
		return cmp.Or(cmp.Compare(a.Process, b.Process), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// slots returns how many pieces they compute at the same time.
func (c *crowd) slots() (slots int) {
	for _, w := range c.list() {
		slots += w.Slots
	}
	return slots
}
