package simulate

import "ringleader.example/ringleader/election"

// mostLinks is how many links a network may have for an adversary to look at all of them at every step.
const mostLinks = 4096

// most delivers the message, or lets start the process, that makes a process send the most. Among equals
// starts come first: who starts late joins cheaply, and is silent. Then comes the link with the least number.
func (l *links[S, M]) most() (started bool) {
	best, most := uint32(0), -1
	for _, link := range l.busy {
		if sent := l.tries(link); sent > most || sent == most && link < best {
			best, most = link, sent
		}
	}
	sleeper := -1
	for i, p := range l.sleepers {
		if sent := l.trial(int(p), func(s *S, out *election.Out[M]) { l.a.Start(s, out) }); sent > most || sent == most && sleeper < 0 {
			sleeper, most = i, sent
		}
	}
	if sleeper >= 0 {
		l.wakes(sleeper)
		return true
	}
	l.deliver(best, l.queues[best].head)
	return false
}

// last delivers, of the messages that are due, the one that makes its receiver send the most; when none is
// left, a unit of time has passed, and all that is under way is due.
func (l *links[S, M]) last() (started bool) {
	if len(l.busy) == 0 {
		l.wakes(0)
		return true
	}
	if l.dueNow == 0 {
		l.now = l.now.Add(election.Units(1))
		l.dueNow = l.underWay
		for _, link := range l.busy {
			for c := l.queues[link].head; c != 0; c = l.cells[c].next {
				l.due[link]++
			}
		}
	}
	best, most := uint32(0), -1
	for _, link := range l.busy {
		if l.due[link] == 0 {
			continue
		}
		if sent := l.tries(link); sent > most || sent == most && link < best {
			best, most = link, sent
		}
	}
	l.due[best]--
	l.dueNow--
	l.deliver(best, l.queues[best].head)
	return false
}

// tries says how many messages the next delivery of a link would make its receiver send.
func (l *links[S, M]) tries(link uint32) int {
	to, port := l.net.End(link)
	head := l.queues[link].head
	next := &l.cells[head]
	if l.remarks != nil && l.remarks[head].lost || l.isDead(to) {
		return 0
	}
	return l.trial(to, func(s *S, out *election.Out[M]) { l.a.Receive(s, port, next.Kind(), next.M, out) })
}

// trial says how many messages a step of the process at p would send. It makes the step on a copy, with the
// choices that would be made.
func (l *links[S, M]) trial(p int, step func(*S, *election.Out[M])) int {
	state, choices := l.states[p], *l.choices
	l.collect.Reset()
	step(&state, l.begin(p))
	*l.choices = choices
	return len(l.collect.Sent())
}
