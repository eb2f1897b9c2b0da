package simulate

import (
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/trace"
)

// Result is what came of a run.
type Result struct {
	Timing    election.Timing
	Delay     uint64 // of a timed run
	Prepared  *election.Prepared
	Decisions []election.Decision // by position; of the dead, what they had decided
	Dead      []int               // positions that are dead in the end

	Starters int  // how many start by themselves
	Hurt     bool // a process crashed or was suspected wrongly on the way, or links did what the algorithm does not expect

	Leaders []int // live positions that claim to lead
	Decided int   // live processes that have decided
	Live    int
	Agreed  bool     // one leads, and whoever has to decide follows it
	Right   bool     // and it is the one that the declaration promises, and nobody did anything against the task
	Faults  []string // what processes did against their task; at most 10

	Messages   election.Messages
	ByPhase    []uint64 // election messages by phase; nil where there are no phases
	Deliveries uint64   // steps that received a message
	Lost       uint64   // messages that links lost; they are counted as sent
	Duplicated uint64   // messages that arrived twice; the second time is a delivery, and no message was sent for it
	Open       *Open    // under Burns' adversary; else nil
	Time       *Times   // nil where there is no clock
	Complete   bool     // the run came to its end, and no limit was reached
	Bytes      int      // of state, decisions and queues
	Record     *trace.Record
}

// Times are the moments of a run, in units of delay; with random delays in ticks, of which a message takes
// LeastDelay to LongestDelay.
type Times struct {
	Elected election.Ticks // the last time that a process became leader
	Decided election.Ticks // the last time that a decision changed
	Quiet   election.Ticks // when the last message arrived
}

func later(t, u election.Ticks) election.Ticks {
	if t.Less(u) {
		return u
	}
	return t
}

// Leader is the position of the one who leads, if just one claims to.
func (r *Result) Leader() (position int, ok bool) {
	if len(r.Leaders) != 1 {
		return 0, false
	}
	return r.Leaders[0], true
}

// judge compares what was decided with the task.
func (r *Result) judge(d *election.Declaration, dead []bool) {
	n := len(r.Decisions)
	best := -1
	for p := range n {
		if dead != nil && dead[p] {
			r.Dead = append(r.Dead, p)
			continue
		}
		r.Live++
		if r.Decisions[p].Role != election.Undecided {
			r.Decided++
		}
		if r.Decisions[p].Role == election.Leader {
			r.Leaders = append(r.Leaders, p)
		}
		if !r.Prepared.Local(p).Willing {
			continue
		}
		better := best < 0 || d.Winner == election.Largest && r.Prepared.ID(p) > r.Prepared.ID(best) ||
			d.Winner == election.Smallest && r.Prepared.ID(p) < r.Prepared.ID(best)
		if better {
			best = p
		}
	}
	leader, one := r.Leader()
	if !one {
		return
	}
	r.Agreed = d.Decides == election.LeaderOnly || r.Decided == r.Live
	for p, decision := range r.Decisions {
		if d.Decides == election.EveryProcess && (dead == nil || !dead[p]) && decision.Leader != 0 &&
			decision.Leader != r.Prepared.ID(leader) {
			r.Agreed = false
		}
	}
	r.Right = r.Agreed && len(r.Faults) == 0 && (d.Winner == election.Unspecified || r.Prepared.ID(leader) == r.Prepared.ID(best))
}

func (r *Result) fault(text string) {
	if len(r.Faults) < 10 && !slices.Contains(r.Faults, text) {
		r.Faults = append(r.Faults, text)
	}
}
