package refine

import (
	"ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/trace"
)

// Step is a step of a member, as an engine or a wrapper of the algorithm sees it.
type Step struct {
	At            int // the real time
	Member        election.ID
	Event         trace.Event // Start, Receive, Timeout, Recover, Suspect or Command
	From          election.ID // Receive
	Kind          election.Kind
	Message       *quorumbully.Message
	Timer         election.Timer
	Command       election.Command
	Before, After *quorumbully.Process
	Sent          []Sent
	Effects       []election.Effect
	Shares        []int // by member - 1: how far After.Share is from now, on the member's clock
}

// Sent is a message that a step sends.
type Sent struct {
	To      election.ID
	Kind    election.Kind
	Message *quorumbully.Message
}

// shares returns how far the shares of a state are from a time of its member's clock.
func shares(p *quorumbully.Process, now election.Ticks) (left []int) {
	for _, s := range p.Share {
		left = append(left, int(s.Left(now).Lo))
	}
	return left
}

// timer returns for how long a timer was set last, in units of the member's clock; -1: the step has not set it.
func (s *Step) timer(t election.Timer) int {
	all := s.timers(t)
	return all[len(all)-1]
}

// timers returns for how long a timer was set, in units of the member's clock, each time; -1, once: the step has not set it.
func (s *Step) timers(t election.Timer) (all []int) {
	for i := range s.Effects {
		if e := &s.Effects[i]; e.Op == election.SetTimer && e.Timer == t {
			all = append(all, int(e.Ticks.Lo))
		}
	}
	if all == nil {
		return []int{-1}
	}
	return all
}

// owes reports whether the step begins with the grant of the member's own claim, which it has made in the step before.
func (s *Step) owes() bool {
	b := s.Before
	return b.Role == quorumbully.Candidate && b.Kept.Promise < b.Term && b.Kept.Incarnation == s.After.Kept.Incarnation
}

// unbinds reports whether the step ended the grant in memory, or its own one of the same step.
func (s *Step) unbinds() bool {
	for i := range s.Effects {
		if e := &s.Effects[i]; e.Op == election.StopTimer && e.Timer == quorumbully.Bound {
			return s.Before.Given.Holder != 0 || s.owes()
		}
	}
	return false
}

// leadsFor returns for how long the member leads, as the step has said last, in units of its clock; -1: it has not.
func (s *Step) leadsFor() int {
	left := -1
	for i := range s.Effects {
		if e := &s.Effects[i]; e.Op == election.Lead {
			left = int(e.Ticks.Lo)
		}
	}
	return left
}

func leads(p *quorumbully.Process) bool {
	return p.Role == quorumbully.Leader || p.Role == quorumbully.Stopping
}

// ends reports whether the claim or tenure before the step is over.
func (s *Step) ends() bool {
	b, a := s.Before, s.After
	return b.Role != quorumbully.Follower && (a.Role == quorumbully.Follower || a.Term != b.Term || a.Kept.Incarnation != b.Kept.Incarnation)
}
