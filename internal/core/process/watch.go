package process

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"weak"
)

// underWay is a call of a function of the algorithm, by processes that are watched.
type underWay struct {
	edges    atomic.Uint64 // beginnings and ends of calls: odd while one is made
	position int
	function string // one that is no step; "": a checked step
	event    Event
	watched  bool
}

// begin notes that a call begins.
func (u *underWay) begin() {
	if u.watched {
		u.edges.Add(1)
	}
}

// end notes that it ends.
func (u *underWay) end() { u.begin() }

// watched are the processes whose steps are checked, and so their other functions.
var watched struct {
	mu  sync.Mutex
	all []weak.Pointer[Processes]
}

// watch adds processes to those that are watched, and drops those that are no more.
func (ps *Processes) watch() {
	ps.checker.underWay.watched = true
	watched.mu.Lock()
	defer watched.mu.Unlock()
	if len(watched.all) == cap(watched.all) {
		left := make([]weak.Pointer[Processes], 0, len(watched.all))
		for _, p := range watched.all {
			if p.Value() != nil {
				left = append(left, p)
			}
		}
		watched.all = append(make([]weak.Pointer[Processes], 0, 2*len(left)+16), left...)
	}
	watched.all = append(watched.all, weak.Make(ps))
}

// declared is a call of a function of a declaration that is under way.
type declared struct{ name string }

// calls are those calls.
var calls struct {
	mu       sync.Mutex
	underWay map[*declared]bool
}

// beginning notes that a call begins.
func beginning(name string) *declared {
	c := &declared{name}
	calls.mu.Lock()
	defer calls.mu.Unlock()
	if calls.underWay == nil {
		calls.underWay = map[*declared]bool{}
	}
	calls.underWay[c] = true
	return c
}

// end notes that it ends.
func (c *declared) end() {
	calls.mu.Lock()
	defer calls.mu.Unlock()
	delete(calls.underWay, c)
}

// lookAtCalls returns how often each call that is under way has been seen, and one that was seen too often.
func lookAtCalls(seen map[*declared]int) (next map[*declared]int, late *declared) {
	next = map[*declared]int{}
	calls.mu.Lock()
	defer calls.mu.Unlock()
	for c := range calls.underWay {
		if next[c] = seen[c] + 1; next[c] > looks {
			late = c
		}
	}
	return next, late
}

// looks is how often [Watch] looks at a step before it calls it stuck. It counts looks, and not time alone, since a program that is
// stopped makes no step.
const looks = 20

// Watch calls stuck once, with a sentence, if a checked step, New or Eligible of such a process, or a function of a declaration has not returned within a time: nothing else can end it, or the engine that waits for
// it. It watches until then, or until the program ends.
func Watch(limit time.Duration, stuck func(sentence string)) {
	go func() {
		seen := map[weak.Pointer[Processes]]sight{}
		var counts map[*declared]int
		for range time.Tick(limit / looks) {
			var late *declared
			if counts, late = lookAtCalls(counts); late != nil {
				stuck(fmt.Sprintf("%s has not returned after %v; it must end by itself", late.name, limit))
				return
			}
			next := map[weak.Pointer[Processes]]sight{}
			watched.mu.Lock()
			all := watched.all
			watched.mu.Unlock()
			for _, p := range all {
				ps := p.Value()
				if ps == nil {
					continue
				}
				s := sight{edges: ps.checker.underWay.edges.Load()}
				if s.edges%2 == 0 {
					continue
				}
				if before := seen[p]; before.edges == s.edges {
					s.times = before.times + 1
				}
				if s.times == looks {
					stuck(ps.stuck(limit))
					return
				}
				next[p] = s
			}
			seen = next
		}
	}()
}

// sight is what a look saw: the step that is made, and how often it was seen before.
type sight struct {
	edges uint64
	times int
}

// stuck describes a step that does not return. It does not read the state and the message, which that step may be changing.
func (ps *Processes) stuck(limit time.Duration) string {
	u := &ps.checker.underWay
	if u.function != "" {
		return fmt.Sprintf("%s: %s of %s has not returned after %v; it must end by itself", ps.Program.Name, u.function, ps.network.Name(u.position), limit)
	}
	what := ps.event(u.position, u.event, "")
	return fmt.Sprintf("%s: %s %s, and has not returned after %v; a step must end by itself", ps.Program.Name, ps.network.Name(u.position), what, limit)
}
