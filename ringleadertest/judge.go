package ringleadertest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"ringleader.example/ringleader"
)

// tick is how often the judge looks, in the time of the bubble.
const tick = time.Millisecond

// judge watches the leases of all members of a group, in true time.
type judge struct {
	cluster *Cluster
	group   string
	mu      sync.Mutex
	lives   []*life
	term    uint64 // the highest one that was led
	holder  *life  // of that term
	story   []string
	failed  bool
}

// life is one life of a member.
type life struct {
	id     uint64
	number int
	member *ringleader.Member // nil if it is dead or stopped
	still  *ringleader.Member // of a stopped one
	until  time.Time          // of one that is dead or stopped: when its lease ends at the latest
	leads  bool
}

func (j *judge) tell(format string, args ...any) {
	j.story = append(j.story, time.Now().Format("04:05.000 ")+fmt.Sprintf(format, args...))
}

func (j *judge) begins(id uint64, m *ringleader.Member) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.tell("%d starts", id)
	j.lives = append(j.lives, &life{id: id, number: j.cluster.hosts[id].lives, member: m})
}

// current returns the last life of a member, or nil.
func (j *judge) current(id uint64) *life {
	for i := len(j.lives) - 1; i >= 0; i-- {
		if j.lives[i].id == id {
			return j.lives[i]
		}
	}
	return nil
}

// freeze notes until when the lease of a life may run that is not asked any more.
func (j *judge) freeze(l *life) {
	if l.member == nil {
		return
	}
	if lease := l.member.Status().Lease; lease != nil {
		l.until = time.Now().Add(j.cluster.hosts[l.id].Clock.True(time.Duration(*lease * float64(time.Second))))
	}
	l.member = nil
}

func (j *judge) ends(id uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.tell("%d is killed", id)
	if l := j.current(id); l != nil {
		j.freeze(l)
		l.still = nil
	}
}

func (j *judge) proven(id uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.tell("the death of %d is proven", id)
	if l := j.current(id); l != nil {
		l.until = time.Time{}
	}
}

// leaves notes that a member has closed its part in the group.
func (j *judge) leaves(id uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.tell("%d leaves", id)
	if l := j.current(id); l != nil {
		l.member, l.still = nil, nil
	}
}

func (j *judge) stops(id uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if l := j.current(id); l != nil && l.member != nil {
		j.tell("%d is stopped", id)
		l.still = l.member
		j.freeze(l)
	}
}

func (j *judge) continues(id uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if l := j.current(id); l != nil && l.still != nil {
		j.tell("%d continues", id)
		l.member, l.still, l.until = l.still, nil, time.Time{}
	}
}

// stopped reports whether a member is.
func (j *judge) stopped(id uint64) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	l := j.current(id)
	return l != nil && l.still != nil
}

// watch looks until the cluster is closed.
func (j *judge) watch() {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-j.cluster.done:
			return
		case <-ticker.C:
			j.look()
		}
	}
}

// look judges this moment.
func (j *judge) look() {
	j.mu.Lock()
	defer j.mu.Unlock()
	var holders []holder
	for _, l := range j.lives {
		switch {
		case l.member == nil && time.Now().Before(l.until):
			holders = append(holders, holder{l, 0})
		case l.member != nil && l.member.Err() != nil:
			j.fail("%d has stopped: %v", l.id, l.member.Err())
		case l.member != nil:
			v := l.member.View()
			leads := v.Role == ringleader.Leader
			if leads {
				holders = append(holders, holder{l, v.Term})
				j.led(l, v.Term)
			}
			if leads != l.leads {
				l.leads = leads
				j.tell("%d %s, term %d", l.id, map[bool]string{true: "leads", false: "leads no more"}[leads], v.Term)
			}
		}
	}
	// Members go on while they are looked at one after the other: the first may have handed over to the last at this very moment. One that
	// leads still has led all the time.
	if len(holders) > 1 {
		holders = slices.DeleteFunc(holders, holder.gone)
	}
	if len(holders) > 1 {
		var texts []string
		for _, h := range holders {
			texts = append(texts, h.String())
		}
		j.fail("two leases run at the same time: those of %s", strings.Join(texts, " and "))
	}
}

// holder is a life that has a lease.
type holder struct {
	*life
	term uint64 // 0: it is dead or stopped
}

// gone reports whether it leads no more in its term.
func (h holder) gone() bool {
	if h.member == nil {
		return false
	}
	v := h.member.View()
	return v.Role != ringleader.Leader || v.Term != h.term
}

func (h holder) String() string {
	if h.member == nil {
		return fmt.Sprintf("%d, which is dead or stopped,", h.id)
	}
	return fmt.Sprintf("%d in term %d", h.id, h.term)
}

// led notes that a life leads in a term.
func (j *judge) led(l *life, term uint64) {
	switch {
	case term > j.term:
		j.term, j.holder = term, l
	case term < j.term:
		j.fail("%d leads in term %d after term %d was led", l.id, term, j.term)
	case l != j.holder:
		j.fail("%d leads in term %d, as %d did", l.id, term, j.holder.id)
	}
}

// history lists what has happened.
func (j *judge) history() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(j.story, "\n\t")
}

func (j *judge) fail(format string, args ...any) {
	if j.failed {
		return
	}
	j.failed = true
	j.tell(format, args...)
	j.cluster.t.Errorf("group %q: %s\n\t%s", j.group, fmt.Sprintf(format, args...), strings.Join(j.story, "\n\t"))
}
