package simulate

import (
	"errors"
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/trace"
)

// Faults are the faults and commands that can come next. Of cuts, those of one link, one way or both, and those of one
// process from all others are listed; Step takes any other division, too. It also takes any weight.
func (s *Session) Faults() (all []Choice) {
	r := s.run
	for p, dead := range r.Dead {
		switch {
		case dead:
			all = append(all, Choice{What: Revive, Process: p})
			continue
		case r.Functions.Command:
			all = append(all, Choice{What: Abdicate, Process: p})
		}
		all = append(all, Choice{What: Fail, Process: p})
		all = append(all, s.suspicions(p)...)
	}
	for link, queue := range s.queues {
		to, _ := r.Network.End(uint32(link))
		for place := range queue {
			all = append(all, Choice{What: Lose, Process: to, Link: uint32(link), Place: place},
				Choice{What: Duplicate, Process: to, Link: uint32(link), Place: place})
		}
	}
	return slices.Concat(all, s.commands(), s.possibleCuts(), s.hasteners())
}

// suspicions returns what the failure detector of a live process can report.
func (s *Session) suspicions(p int) (all []Choice) {
	r := s.run
	if !r.Functions.Suspect {
		return nil
	}
	for port := range r.Network.Degree(p) {
		link := r.Network.First(p) + uint32(port)
		q, back := r.Network.End(link)
		over := r.Dead[q] && len(s.queues[r.Network.Back(q, back)]) == 0 // its messages arrive first
		switch {
		case q == p:
		case !s.suspect[link] && (!r.Dead[q] || over):
			all = append(all, Choice{What: Distrust, Process: p, Link: link})
		case s.suspect[link] && !over:
			all = append(all, Choice{What: Trust, Process: p, Link: link})
		}
	}
	return all
}

// commands returns the commands with an argument that can come next, except weights.
func (s *Session) commands() (all []Choice) {
	r := s.run
	for p, dead := range r.Dead {
		if dead || !r.Functions.Command {
			continue
		}
		for q := range r.Instance.Size() {
			if q != p {
				all = append(all, Choice{What: Ask, Process: p, Command: election.Command{Order: election.Transfer, Member: r.Instance.ID(q)}})
			}
		}
		for _, proof := range s.proofs {
			if proof.Member != r.Instance.ID(p) {
				all = append(all, Choice{What: Ask, Process: p, Command: proof})
			}
		}
	}
	return all
}

// weighs reports whether a choice gives a live member a weight.
func (s *Session) weighs(c Choice) bool {
	p := c.Process
	return p >= 0 && p < s.run.Instance.Size() && !s.run.Dead[p] && s.run.Functions.Command &&
		c == Choice{What: Ask, Process: p, Command: election.Command{Order: election.Weigh, Number: c.Command.Number}}
}

// possibleCuts returns cuts of one link, one way and both, and of one process from all others; and the ends of cuts.
func (s *Session) possibleCuts() (all []Choice) {
	r := s.run
	for _, line := range s.cuts {
		c, _ := s.readCut(line)
		all = append(all, Choice{What: Mend, Process: c.Groups[0][0], Cut: line})
	}
	offered := map[string]bool{}
	for _, line := range s.cuts {
		offered[line] = true
	}
	offer := func(c faults.Cut) {
		if line := c.Text(r.Instance); !offered[line] {
			offered[line] = true
			all = append(all, Choice{What: Sever, Process: c.Groups[0][0], Cut: line})
		}
	}
	for p := range r.Instance.Size() {
		var others []int
		for q := range r.Instance.Size() {
			if q != p {
				others = append(others, q)
			}
		}
		for port := range r.Network.Degree(p) {
			q, _ := r.Network.End(r.Network.First(p) + uint32(port))
			if q == p {
				continue
			}
			if p < q {
				offer(faults.Cut{Groups: [][]int{{p}, {q}}})
			}
			offer(faults.Cut{Groups: [][]int{{p}, {q}}, OneWay: true})
		}
		if len(others) > 1 {
			offer(faults.Cut{Groups: [][]int{{p}, others}})
		}
	}
	return all
}

// Cut returns the choice that begins a cut. The line is one of package faults without times, such as partition 1,2 | 3
// or cut 1 -> 2. The error names the fault in the line.
func (s *Session) Cut(line string) (Choice, error) {
	cut, err := s.readCut(line)
	if err != nil {
		return Choice{}, err
	}
	return Choice{What: Sever, Process: cut.Groups[0][0], Cut: cut.Text(s.run.Instance)}, nil
}

// divides reports whether a choice is a cut that is possible, and that is not in force.
func (s *Session) divides(c Choice) bool {
	cut, err := s.Cut(c.Cut)
	return err == nil && c == cut && !slices.Contains(s.cuts, c.Cut)
}

// errNoCut reports a line that is not that of a cut without times.
var errNoCut = errors.New("a cut is a line such as partition 1,2 | 3 or cut 1 -> 2, without times")

// readCut reads a cut without times.
func (s *Session) readCut(line string) (faults.Cut, error) {
	p := s.run.Instance
	ids := make(election.List, p.Size())
	for q := range ids {
		if ids[q] = uint64(q); !p.Anonymous() {
			ids[q] = p.Real(q)
		}
	}
	reader := faults.NewReader(ids)
	if err := errors.Join(reader.Line(line), reader.Script.Check(p, false)); err != nil {
		return faults.Cut{}, err
	}
	if cuts := reader.Script.Cuts; len(cuts) == 1 && cuts[0].At.IsZero() && cuts[0].Until.IsZero() {
		return cuts[0], nil
	}
	return faults.Cut{}, errNoCut
}

// cut begins or ends a cut. What is sent, and what would arrive, while it is in force is lost.
func (s *Session) cut(c Choice) {
	r := s.run
	cut, _ := s.readCut(c.Cut)
	by, event := 1, trace.Fault
	if c.What == Mend {
		by, event = -1, trace.Heal
		change(s, &s.cuts, slices.DeleteFunc(slices.Clone(s.cuts), func(line string) bool { return line == c.Cut }))
	} else {
		change(s, &s.cuts, append(slices.Clip(s.cuts), c.Cut))
	}
	for link := range cut.Links(r.Network) {
		change(s, &s.severed[link], s.severed[link]+by)
	}
	r.result.Disturbed = true
	r.Note(c.Process, trace.Step{Event: event, Port: -1, Text: c.Cut})
}

// crash stops a process. The note states how far it came, if it crashes amid a step.
func (s *Session) crash(p int, note string) {
	r := s.run
	r.result.Disturbed = true
	s.fresh(p)
	r.Processes.Reborn(r.Slots[p], p)
	change(s, &r.Dead[p], true)
	change(s, &s.asleep[p], false)
	r.Decisions[p] = network.Decision{}
	r.Orphan(p, r.o.Wardens)
	if r.o.Wardens {
		change(s, &s.proofs, append(slices.Clip(s.proofs), election.Command{Order: election.Died, Member: r.Instance.ID(p), Number: r.Processes.Incarnation(r.Slots[p])}))
	}
	change(s, &s.working[p], false)
	for t := range r.Declaration.Timers {
		change(s, &s.alarms[p*len(r.Declaration.Timers)+t], alarm{})
	}
	if !r.Functions.Trust { // a mistake about it may have ended, unheard, before it crashed
		s.unsuspected(p)
	}
	r.Note(p, trace.Step{Event: trace.Crash, Port: -1, Text: note})
}

// unsuspected ends all suspicions of the process at p.
func (s *Session) unsuspected(p int) {
	for port := range s.run.Network.Degree(p) {
		q, back := s.run.Network.End(s.run.Network.First(p) + uint32(port))
		change(s, &s.suspect[s.run.Network.Back(q, back)], false)
	}
}

// revive restarts a process, without suspicions of it or by it. Without a Recover function in its algorithm, it
// starts anew. A recorded run has the state in which it recovers.
func (s *Session) revive(p int, state string, life uint64) {
	r := s.run
	if state != "" {
		s.fresh(p)
		r.Instance.Incarnate(p, life)
		if err := r.Processes.Resume(r.Slots[p], p, []byte(state), r.Local(p)); err != nil {
			panic(fmt.Errorf("%w: its state: %w", ErrMoment, err))
		}
	}
	change(s, &r.Dead[p], false)
	s.unsuspected(p)
	for port := range r.Network.Degree(p) {
		change(s, &s.suspect[r.Network.First(p)+uint32(port)], false)
	}
	e := process.Event{What: process.Recovered}
	if !r.Functions.Recover {
		e.What = process.Started
	}
	s.react(p, e, trace.Step{Event: trace.Recover, Port: -1})
}

// detect reports a suspicion, or its end, to a process.
func (s *Session) detect(c Choice) {
	r, p := s.run, c.Process
	q, _ := r.Network.End(c.Link)
	port := election.Port(c.Link - r.Network.First(p))
	r.result.Disturbed = r.result.Disturbed || !r.Dead[q]
	change(s, &s.suspect[c.Link], c.What == Distrust)
	step := trace.Step{Event: trace.Suspect, Port: int(port), From: q + 1}
	if c.What == Distrust {
		s.react(p, process.Event{What: process.Suspected, Port: port}, step)
	} else if step.Event = trace.Trust; r.Functions.Trust {
		s.react(p, process.Event{What: process.Trusted, Port: port}, step)
	}
}
