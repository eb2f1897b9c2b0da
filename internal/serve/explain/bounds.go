package explain

import (
	"fmt"
	"slices"
	"time"

	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/record"
)

// prevents is what would have prevented a change, or made it cheaper.
var prevents = map[Cause]string{
	Killed:     "Find what killed it: the output of its warden has the signal, the log of the kernel an out-of-memory kill. With a warden the others need not wait for the lease.",
	Hung:       "Find what it did: a stack at the next time (SIGQUIT). --hang decides how long nobody leads.",
	StoodStill: "Nothing may stop the process: a signal, a debugger, a frozen control group, or a paused virtual machine.",
	Starved:    "Give it more of the processor: a higher CPU weight, no limit that throttles it, or a less busy machine. A longer lease bears longer delays.",
	Suspended:  "Do not suspend the machines of members, or hand over before.",
	Disk:       "Use a disk with quick flushes, for members alone. ringleader doctor measures it; --stall decides how long a leader waits for it.",
	Links:      "Repair the links named above. A longer lease bears longer losses.",
	Followers:  "Members that vote belong on machines that do not fail together. More voters bear more failures.",
	Clock:      "Repair the clock, or allow more drift: leases are safe only within the bound.",
	Health:     "Repair what the check has found.",
	Progress:   "Repair what stopped the work, or allow it more time.",
	Voters:     "Add members that vote only when they are connected, and remove those that are gone.",
	Restarted:  "Restart the members one after the other: a majority that did not restart need not wait.",
	Preempted:  "Nothing is wrong. ringleader pause-preemption, or no --preempt, prevents it.",
	Failed:     "Repair what the error names.",
	Duplicate:  "Stop the other process.",
}

// bounds tells what the time without a leader consisted of.
func (l *line) bounds(c *Change, t, next *tenure) {
	add := func(format string, args ...any) { c.Bounded = append(c.Bounded, fmt.Sprintf(format, args...)) }
	if next == nil {
		add("no record has a later leader")
		return
	}
	if next.begun <= t.ended {
		return
	}
	begun := int64(0) // when the next leader asked first
	if next.life != nil {
		for n := range next.life.facts {
			f := &next.life.facts[n]
			step, is := f.body.(*record.Step)
			if !is || f.at < t.ended || f.at > next.begun || next.life.head.Algorithm != quorumBully {
				continue
			}
			for _, m := range step.Sent {
				if begun == 0 && (m.Kind == claim || m.Kind == election) {
					begun = f.at
				}
			}
		}
	}
	proof := int64(0)
	if t.life != nil {
		proof = l.dead(t.life)
	}
	nobody := time.Duration(next.begun - t.ended)
	switch {
	case proof != 0 && proof <= next.begun && proof >= t.ended:
		add("%s until the proof of its death", lasts(time.Duration(proof-t.ended)))
		add("%s from the proof to the next leader", lasts(time.Duration(next.begun-proof)))
	case c.Cause == Killed || c.Cause == Links || c.Cause == StoodStill || c.Cause == Unknown || c.Cause == Starved:
		if begun != 0 {
			add("%s until the next leader asked for votes: the promises to member %d ran, or nobody suspected it", lasts(time.Duration(begun-t.ended)), t.leader)
			add("%s of election", lasts(time.Duration(next.begun-begun)))
		} else {
			add("the promises of the others to member %d, and an election", t.leader)
		}
	case begun != 0:
		add("%s until the next leader asked for votes, and %s of election", lasts(time.Duration(begun-t.ended)), lasts(time.Duration(next.begun-begun)))
	}
	for _, v := range l.lives {
		flush := time.Duration(0)
		for n := range v.facts {
			f := &v.facts[n]
			if b, is := f.body.(*record.Flush); is && f.at >= t.ended && f.at <= next.begun+int64(b.Took) {
				flush = max(flush, b.Took)
			}
		}
		if flush > nobody/3 && flush > 5*time.Millisecond {
			add("a flush of member %d took %s of it", v.member(), lasts(flush))
		}
		if v.recovering && v.begun > t.ended-int64(2*max(v.head.Entitled, time.Second)) && v.begun < next.begun {
			add("member %d had restarted at %s: it granted and claimed nothing for the length of a lease", v.member(), clockOf(v.begun))
		}
	}
}

// violations returns the leases that ran at the same time.
func (l *line) violations() (all []Violation) {
	for i, a := range l.tenures {
		for _, b := range l.tenures[i+1:] {
			if a.leader == b.leader || a.life == nil || b.life == nil || a.term == 0 {
				continue
			}
			ends := a.ended
			if a.until != 0 && a.until < ends {
				ends = a.until
			}
			if !a.over {
				ends = max(a.until, a.life.last)
			}
			overlap := time.Duration(ends - b.begun)
			if a.term == b.term {
				all = append(all, Violation{wall(b.begun), fmt.Sprintf("members %d and %d both led in term %d", a.leader, b.leader, a.term), l.breaker(a, b), true})
				continue
			}
			unsure := max(0, a.life.base.uncertainty) + max(0, b.life.base.uncertainty)
			if a.life.base != b.life.base && (a.life.base.uncertainty < 0 || b.life.base.uncertainty < 0) {
				unsure = time.Hour
			}
			if overlap <= 0 || b.ended != 0 && b.over && b.ended < a.begun {
				continue
			}
			sure := a.life.base == b.life.base || overlap > unsure
			what := fmt.Sprintf("member %d began to lead in term %d while the lease of member %d in term %d ran for %s more", b.leader, b.term, a.leader, a.term, lasts(overlap))
			if !sure {
				what += fmt.Sprintf("; the clocks are known within %s only", lasts(unsure))
			}
			if sure || unsure < time.Hour {
				all = append(all, Violation{wall(b.begun), what, l.breaker(a, b), sure})
			}
		}
	}
	return all
}

// breaker returns the step that broke a rule: a voter that granted the lead of b while its grant to a ran.
func (l *line) breaker(a, b *tenure) string {
	for _, v := range l.lives {
		var last, lastTerm int64
		for n := range v.facts {
			f := &v.facts[n]
			step, is := f.body.(*record.Step)
			if !is || v.head.Algorithm != quorumBully {
				continue
			}
			for _, m := range step.Sent {
				switch {
				case m.Kind != grant || f.at > b.begun:
				case m.Peer == a.leader:
					last, lastTerm = f.at, int64(a.term)
				case m.Peer == b.leader && last != 0 && f.at > a.begun && step.Input.What == process.Received:
					promise := int64(v.head.Entitled)
					if f.at-last < promise {
						return fmt.Sprintf("member %d granted member %d at %s, in tick %d, %s after it had granted member %d in term %d for at least %s", v.member(), b.leader, clockOf(f.at), step.Ticks, lasts(time.Duration(f.at-last)), a.leader, lastTerm, lasts(v.head.Entitled))
					}
				}
			}
		}
	}
	if a.until != 0 && a.over && a.ended > a.until {
		return fmt.Sprintf("member %d led until %s; its lease had ended at %s", a.leader, clockOf(a.ended), clockOf(a.until))
	}
	var without []uint64
	for _, id := range l.members {
		if !slices.ContainsFunc(l.lives, func(v *life) bool { return v.member() == id }) {
			without = append(without, id)
		}
	}
	if len(without) > 0 {
		return "no record that is here has the step; those missing are of " + plural(without)
	}
	return ""
}
