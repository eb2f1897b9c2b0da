package simulate

import (
	"slices"

	"ringleader.example/ringleader/election"
)

// Choices returns the events that can come next, except faults and commands. There are none at quiescence.
func (s *Session) Choices() (all []Choice) {
	if p := slices.Index(s.asleep, true); p >= 0 && !s.run.o.AnyTime && s.run.o.Timing != election.Synchronous {
		return []Choice{{What: Begin, Process: p}}
	}
	if s.run.o.Timing == election.Synchronous {
		return s.inUnit()
	}
	for p, asleep := range s.asleep {
		if asleep {
			all = append(all, Choice{What: Begin, Process: p})
		}
	}
	return append(all, s.due(len(all) > 0)...)
}

// due returns the events other than starts that can come next. starts reports whether a start can come, too.
func (s *Session) due(starts bool) (all []Choice) {
	for p, working := range s.working {
		if working {
			all = append(all, Choice{What: Cease, Process: p})
		}
	}
	all = append(all, s.deliveries()...)
	all = append(all, s.expiries()...)
	return append(all, s.passes(starts || len(all) > 0)...)
}

// inUnit returns the choices of a synchronous run: one at a time, except timers of one moment.
func (s *Session) inUnit() []Choice {
	if all := s.deliveries(); len(all) > 0 {
		return all[:1]
	}
	if p := slices.Index(s.asleep, true); p >= 0 && !s.late {
		return []Choice{{What: Begin, Process: p}}
	}
	if all := s.expiries(); len(all) > 0 {
		return all[:1]
	}
	return s.passes(false)
}

// deliveries returns the messages that can arrive, by receiver and port.
func (s *Session) deliveries() (all []Choice) {
	net := s.run.Network
	for p := range net.Size() {
		for port := range net.Degree(p) {
			from, at := net.End(net.First(p) + uint32(port))
			link := net.Back(from, at)
			for place, m := range s.queues[link] {
				if place > 0 && !s.run.o.Faults.Unordered {
					break
				}
				if s.arrives(m) {
					all = append(all, Choice{What: Deliver, Process: p, Link: link, Place: place})
				}
			}
		}
	}
	return all
}

// expiries returns the timers that can expire.
func (s *Session) expiries() (all []Choice) {
	timers := len(s.run.Declaration.Timers)
	for i, a := range s.alarms {
		if a.runs && !s.clock(i/timers, a.deadline).Less(a.at) {
			all = append(all, Choice{What: Expire, Process: i / timers, Timer: election.Timer(i % timers)})
		}
	}
	return all
}

// clock returns what the clock of the process at p shows by which its timers expire, or those that are set at a deadline.
func (s *Session) clock(p int, deadline bool) election.Ticks {
	switch l := s.run.Lazy; {
	case l == nil:
		return s.run.Now
	case deadline:
		return l.Deadlines(p, s.run.Now)
	default:
		return l.Timers(p, s.run.Now)
	}
}

// passes returns the passing of time, if no event must happen before: a unit, or, if no other event is possible,
// until the next timer expires.
func (s *Session) passes(other bool) []Choice {
	switch {
	case s.run.Lazy != nil:
		return []Choice{{What: Pass, Time: s.run.Lazy.Step()}}
	case s.run.o.Timing == election.Asynchronous || len(s.expiries()) > 0:
		return nil
	}
	flying := false
	for _, queue := range s.queues {
		for _, m := range queue {
			if flying = true; !s.run.Now.Less(m.sent.Add(election.Units(max(1, s.run.o.Delay)))) {
				return nil
			}
		}
	}
	next := election.Forever
	for _, a := range s.alarms {
		if a.runs && a.at.Less(next) {
			next = a.at
		}
	}
	switch {
	case flying || other:
		return []Choice{{What: Pass, Time: election.Units(1)}}
	case next != election.Forever:
		return []Choice{{What: Pass, Time: next.Sub(s.run.Now)}}
	}
	return nil
}

// possible reports whether an event can come next. Less time than is listed may pass, since a fault may come before, and any
// time at quiescence and in lazy time.
func (s *Session) possible(c Choice) bool {
	c.Draw, c.Dies = 0, 0
	if c.What == Pass {
		if c.Time.IsZero() || c != (Choice{What: Pass, Time: c.Time}) {
			return false
		}
		if l := s.run.Lazy; l != nil && c.Time.Hi == 0 {
			return c.Time.Lo%max(1, l.Err.Of) == 0
		}
		all := s.Choices()
		return len(all) == 0 && s.run.Record.Header.Clock ||
			slices.ContainsFunc(all, func(listed Choice) bool { return listed.What == Pass && !listed.Time.Less(c.Time) })
	}
	if c.What == Deliver {
		return s.delivers(c)
	}
	if s.recorded && s.events(c) {
		return true
	}
	if s.recorded && c.What == Revive {
		c.State, c.Life = "", 0
	}
	return slices.Contains(s.Choices(), c) || s.elsewhere(c) || slices.Contains(s.Faults(), c) || s.divides(c) || s.weighs(c)
}

// delivers reports whether a delivery can come next, without a list of all. In a synchronous run it may be that of any process.
func (s *Session) delivers(c Choice) bool {
	if int(c.Link) >= len(s.queues) || c.Place < 0 || c.Place >= len(s.queues[c.Link]) {
		return false
	}
	to, _ := s.run.Network.End(c.Link)
	if (c != Choice{What: Deliver, Process: to, Link: c.Link, Place: c.Place}) || !s.arrives(s.queues[c.Link][c.Place]) {
		return false
	}
	if s.run.o.Timing == election.Synchronous {
		first, some := s.first(to)
		return some && first == c
	}
	return (c.Place == 0 || s.run.o.Faults.Unordered) && (s.run.o.AnyTime || !slices.Contains(s.asleep, true))
}

// first returns the delivery to the process at p that comes first in a synchronous run: by port.
func (s *Session) first(p int) (c Choice, some bool) {
	net := s.run.Network
	for port := range net.Degree(p) {
		link := net.Back(net.End(net.First(p) + uint32(port)))
		if queue := s.queues[link]; len(queue) > 0 && s.arrives(queue[0]) {
			return Choice{What: Deliver, Process: p, Link: link}, true
		}
	}
	return c, false
}

// elsewhere reports whether a start or timer of a synchronous run can come next that Choices does not list, because another process
// has one in this unit, too.
func (s *Session) elsewhere(c Choice) bool {
	if s.run.o.Timing != election.Synchronous || len(s.deliveries()) > 0 {
		return false
	}
	starts := !s.late && slices.Contains(s.asleep, true)
	switch c.What {
	case Begin:
		return starts && c.Process >= 0 && c.Process < len(s.asleep) && s.asleep[c.Process] && c == Choice{What: Begin, Process: c.Process}
	case Expire:
		return !starts && slices.Contains(s.expiries(), c)
	}
	return false
}

// arrives reports whether a message under way can arrive now, if those before it have.
func (s *Session) arrives(m parcel) bool {
	return s.run.o.Timing == election.Asynchronous || s.run.Lazy != nil || m.sent.Less(s.run.Now)
}
