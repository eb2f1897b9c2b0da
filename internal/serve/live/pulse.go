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

// betweenPulses returns after what time, at most, the loop shows again that it works: sooner than the warden begins to look.
func (l *loop) betweenPulses() time.Duration { return l.member.config.Hang * 2 / 5 }

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
