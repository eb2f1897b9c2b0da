package network

import (
	"errors"
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
)

// Verdict compares the decisions of a run with the task.
type Verdict struct {
	Dead    []int // positions that are dead in the end
	Leaders []int // live positions that claim to lead
	Decided int   // live processes that have decided
	Live    int
	Agreed  bool // one leads, and each process that has to decide follows it
	Right   bool // and it is the leader that the declaration promises, and no process violated its task
}

// Leader returns the position of the leader, if exactly one process claims to lead.
func (v *Verdict) Leader() (position int, ok bool) {
	if len(v.Leaders) != 1 {
		return 0, false
	}
	return v.Leaders[0], true
}

// Judge compares decisions, by position, with the task. dead marks the processes that are dead in the end; nil: none.
// stands reports whether a process may lead; nil: if it is willing.
func (p *Instance) Judge(decisions []Decision, dead []bool, stands func(position int) bool) (v Verdict) {
	d := p.d
	if stands == nil {
		stands = p.Willing
	}
	right := p.Right(func(q int) bool { return (dead == nil || !dead[q]) && stands(q) })
	for q := range decisions {
		if dead != nil && dead[q] {
			v.Dead = append(v.Dead, q)
			continue
		}
		v.Live++
		if decisions[q].Role != Undecided {
			v.Decided++
		}
		if decisions[q].Role == Leader {
			v.Leaders = append(v.Leaders, q)
		}
	}
	leader, one := v.Leader()
	if !one {
		return v
	}
	v.Agreed = d.Decides == election.LeaderOnly || v.Decided == v.Live
	for q, decision := range decisions {
		if d.Decides == election.EveryProcess && (dead == nil || !dead[q]) && decision.Leader != 0 && decision.Leader != p.ID(leader) {
			v.Agreed = false
		}
	}
	v.Right = v.Agreed && (right == 0 || p.ID(leader) == right)
	return v
}

// Initiators returns the default initiators, nil for all live processes: if any processes may start, unwilling ones
// are not among them, and a message wakes them.
func (p *Instance) Initiators(dead []int) []int {
	if len(p.unwilling) == 0 || p.Declaration().Starts != election.AnyStart {
		return nil
	}
	initiators := []int{}
	for q := range p.Size() {
		if p.Willing(q) && !slices.Contains(dead, q) {
			initiators = append(initiators, q)
		}
	}
	return initiators
}

// CheckStart returns the reason why a run cannot begin with these initiators (nil: all live processes) and these dead
// processes; with anyTime the schedule decides when each starts.
func (p *Instance) CheckStart(initiators, dead []int, anyTime bool) error {
	n := p.Size()
	if initiators != nil && len(initiators) < n { // a full list is checked by its use
		if err := p.inside(initiators, "start"); err != nil {
			return err
		}
	}
	if err := p.inside(dead, "be dead"); err != nil {
		return err
	}
	if len(dead) == n {
		return errors.New("all processes are dead; at least one must be live to lead")
	}
	starts := n - len(dead)
	if initiators != nil {
		starts = len(initiators)
		for _, q := range dead {
			if slices.Contains(initiators, q) {
				return fmt.Errorf("%s is dead and cannot start", p.Name(q))
			}
		}
	}
	switch {
	case starts == 0 && len(p.unwilling) == n:
		return errUnwilling
	case starts == 0:
		return errors.New("no process starts; at least one must")
	case p.d.Starts == election.Together && anyTime:
		return errors.New("all processes initiate at time 0; the schedule cannot decide when")
	case p.d.Starts != election.AnyStart && starts < n-len(dead):
		return fmt.Errorf("%s; none can be left out", p.d.Starts.Phrase())
	}
	return nil
}

// inside checks that each of these positions exists, and is named once.
func (p *Instance) inside(positions []int, what string) error {
	seen := make([]bool, p.Size())
	for _, q := range positions {
		if q < 0 || q >= len(seen) {
			return fmt.Errorf("there is no position %d to %s", q, what)
		}
		if seen[q] {
			return fmt.Errorf("position %d is to %s twice", q, what)
		}
		seen[q] = true
	}
	return nil
}
