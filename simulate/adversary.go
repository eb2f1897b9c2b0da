package simulate

import (
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
)

// mostLinks is the maximum number of links of a network for adversaries that examine all of them at every step.
const mostLinks = 4096

// most takes the delivery or start that makes a process send the most messages. Among equals starts come first, since
// a process that starts late joins without messages of its own. Then comes the link with the least number.
func (l *links) most() (started bool) {
	best, most := uint32(0), -1
	for _, link := range l.busy {
		if sent := l.tries(link); sent > most || sent == most && link < best {
			best, most = link, sent
		}
	}
	sleeper := -1
	for i, p := range l.sleepers {
		if sent := l.trial(int(p), process.Event{What: process.Started}); sent > most || sent == most && sleeper < 0 {
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

// last takes, of the messages that are due, the one that makes its receiver send the most. When none is left, a unit
// of time has passed, and all messages in transit are due.
func (l *links) last() (started bool) {
	if len(l.busy) == 0 {
		l.wakes(0)
		return true
	}
	if l.dueNow == 0 {
		l.Now = l.Now.Add(election.Units(1))
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

// tries returns the number of messages that the next delivery of a link would make its receiver send.
func (l *links) tries(link uint32) int {
	to, port := l.Network.End(link)
	head := l.queues[link].head
	next := &l.cells[head]
	if l.remarks != nil && l.remarks[head].lost || l.IsDead(to) {
		return 0
	}
	return l.trial(to, process.Event{What: process.Received, Port: port, Kind: next.Kind(), Message: next.Message})
}

// trial returns the number of messages that a step of the process at p would send. It makes the step on a copy, with
// the choices that would be made.
func (l *links) trial(p int, e process.Event) (sent int) {
	l.Work++
	choices := *l.choices
	l.Processes.Copy(l.scratch, p)
	effects := l.Processes.Step(l.scratch, p, e, l.Local(p))
	*l.choices = choices
	for _, s := range effects.Sent {
		l.Processes.Release(s.Message)
	}
	return len(effects.Sent)
}
