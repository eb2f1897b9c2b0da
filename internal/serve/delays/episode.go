package delays

import (
	"fmt"
	"time"
)

// SlowFlush is what no flush should take that votes wait for.
const SlowFlush = 100 * time.Millisecond

// Episode is a time without a known leader. An election needs quick disks and members that answer. What is slow is noted for as long as
// no leader is known: a member that has answered late once is likely to do so again, and the next claim waits for it, too. In the zero Episode a
// leader is known.
type Episode struct {
	begun time.Duration              // 0: a leader is known
	asked map[question]time.Duration // when the first question was asked that is not answered
	slow  map[uint64]delay           // by a member that answers: the longest time that it took, if that is much
	flush delay                      // the longest flush of this member
	told  map[string]bool            // what was logged
}

// delay is how long something took, and when. It counts for a while only: what was slow may be quick again.
type delay struct{ took, at time.Duration }

// delayLasts is for how long a delay counts.
const delayLasts = 15 * time.Second

// last returns the longer one of a delay and what took that long just now.
func (d delay) last(took, now time.Duration) delay {
	if took > d.took || now-d.at > delayLasts {
		return delay{took, now}
	}
	return d
}

// length returns how long it took; 0: it counts no more.
func (d delay) length(now time.Duration) time.Duration {
	if now-d.at > delayLasts {
		return 0
	}
	return d.took
}

// question is what a member was asked: whether it is free, or for its vote.
type question struct {
	member uint64
	claim  bool
}

// Begin returns an episode that begins now.
func Begin(now time.Duration) Episode {
	return Episode{begun: now, asked: map[question]time.Duration{}, slow: map[uint64]delay{}, told: map[string]bool{}}
}

// Runs reports whether no leader is known.
func (e *Episode) Runs() bool { return e.begun != 0 }

// Lasts returns for how long no leader is known.
func (e *Episode) Lasts(now time.Duration) time.Duration { return now - e.begun }

// Asked notes that a member was asked whether it is free, or for its vote: a claim.
func (e *Episode) Asked(member uint64, claim bool, now time.Duration) {
	if q := (question{member, claim}); e.Runs() && e.asked[q] == 0 {
		e.asked[q] = now
	}
}

// Answered notes the answer of a member. One that took as long as slow counts.
func (e *Episode) Answered(member uint64, claim bool, now, slow time.Duration) {
	q := question{member, claim}
	at := e.asked[q]
	if at == 0 {
		return
	}
	delete(e.asked, q)
	if now-at >= slow {
		e.slow[member] = e.slow[member].last(now-at, now)
	}
}

// Flushed notes how long a flush has taken.
func (e *Episode) Flushed(took, now time.Duration) { e.flush = e.flush.last(took, now) }

// Flush returns how long a flush has taken lately, and what there is to say about it; empty: nothing. One is under way for so far; 0: none is.
func (e *Episode) Flush(now, soFar time.Duration) (took time.Duration, wait string) {
	took = e.flush.length(now)
	switch {
	case soFar >= SlowFlush:
		return max(took, soFar), "the disk of this member is slow: a flush has lasted for " + InSeconds(soFar) + " so far"
	case took >= SlowFlush:
		return took, "the disk of this member is slow: a flush took " + InSeconds(took)
	}
	return took, ""
}

// Member returns what there is to say about a member that is connected; empty: nothing. One that has not answered for as long as slow is slow.
func (e *Episode) Member(id uint64, now, slow time.Duration) (wait string) {
	since := now - min(e.since(question{id, false}, now), e.since(question{id, true}, now))
	switch took := e.slow[id].length(now); {
	case since >= slow:
		return fmt.Sprintf("member %d is connected, and has not answered for %s", id, InSeconds(since))
	case took > 0:
		return fmt.Sprintf("member %d is slow, or its disk: an answer took %s", id, InSeconds(took))
	}
	return ""
}

// since returns since when a question waits for its answer; now: none does.
func (e *Episode) since(q question, now time.Duration) time.Duration {
	if at := e.asked[q]; at != 0 {
		return at
	}
	return now
}

// Once reports whether a text was not told yet in this episode.
func (e *Episode) Once(text string) bool {
	if e.told[text] {
		return false
	}
	e.told[text] = true
	return true
}
