package live

import "time"

// Pulse tells who watches a process that the loop of a member works.
type Pulse interface {
	Beat()                    // it does
	Watch(most time.Duration) // from now on, it is never silent for that long; 0: it may be
	Close()                   // the member has ended
}

// pulse shows that the loop works, to who watches it.
func (l *loop) pulse() {
	if l.leads > 0 && l.member.config.Pulse != nil {
		l.member.config.Pulse.Beat()
	}
}

// pulsesPerHang is how often the loop shows that it works, at least, within the longest silence.
const pulsesPerHang = 3

// watch says how long the loop may be silent from now on.
func (l *loop) watch(most time.Duration) {
	if l.member.config.Pulse != nil {
		l.member.config.Pulse.Watch(most)
	}
}

// lead counts whether this member leads the group. While it leads one, it is watched.
func (g *group) lead(leads bool) {
	switch l := g.loop; {
	case leads == g.leads:
		return
	case leads:
		if l.leads++; l.leads == 1 {
			l.watch(l.member.config.Hang)
		}
	default:
		if l.leads--; l.leads == 0 {
			l.watch(0)
		}
	}
	g.leads = leads
}
