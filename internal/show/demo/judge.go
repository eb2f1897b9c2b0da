package demo

import (
	"time"

	"ringleader.example/ringleader"
)

// judge determines whether the running members agree, and reports a new agreement.
func (d *demo) judge(at time.Time) {
	d.lead(at)
	f := d.faults[len(d.faults)-1]
	leader, members, agreed := d.agreeing()
	if agreed && (f.open || !d.agreed) {
		still := d.agreed && at.Equal(f.at)
		d.since, f.open = at, false
		f.agreed, f.number, f.leader, f.led = at.Sub(f.at), len(members), 0, 0
		e := Event{Event: "agreed", Members: members, still: still, after: f.agreed}
		if leader != nil {
			f.leader, f.led = leader.id, max(0, leader.leads.Sub(f.at))
			e.Leader, e.Term = leader.id, leader.term
		}
		d.compare(at)
		d.show.event(e)
	} else if !agreed && d.agreed {
		d.since, f.open = at, true
	}
	d.agreed = agreed
}

// lead notes since when, and until when, members are leaders: those that run and report that role. A lease may end
// before its holder notices, and goes on when its holder is paused.
func (d *demo) lead(at time.Time) {
	for _, m := range d.members {
		leads := m.condition == running && m.role == ringleader.Leader
		switch {
		case leads && m.leads.IsZero():
			m.leads, m.tenure = at, m.term
		case leads || m.leads.IsZero() || m.condition == paused && d.leased(m):
		default:
			r := d.reign(m, at)
			d.reigns = append(d.reigns, r)
			d.stage.ended(r, m.tenure)
			m.leads = time.Time{}
		}
	}
}

// reign returns the reign of a member until now, or until its lease has ended.
func (d *demo) reign(m *member, at time.Time) reign {
	if d.leased(m) {
		at = earlier(at, m.until)
	}
	return reign{m.id, m.leads, at}
}

// compare finds the reigns that overlapped, now that all of them but the leaders' have ended, and shows them. They are
// compared only then, since news of an end may come late. What Bully does when links are cut is shown, and not judged.
func (d *demo) compare(at time.Time) {
	for _, m := range d.members {
		if !m.leads.IsZero() {
			d.reigns = append(d.reigns, d.reign(m, at))
		}
	}
	widest, found := Event{Event: "two leaders", tolerated: d.tolerated()}, 0
	for i, a := range d.reigns {
		for _, b := range d.reigns[:i] {
			overlap := earlier(a.until, b.until).Sub(later(a.from, b.from))
			if a.id == b.id || overlap <= 0 {
				continue
			}
			found++
			if d.split && d.algorithm == ringleader.Bully {
				d.rivals = max(d.rivals, overlap)
				widest.tolerated = overlap
			} else {
				d.rivalries = append(d.rivalries, overlap)
			}
			if overlap > widest.after {
				widest.Members, widest.after = []uint64{min(a.id, b.id), max(a.id, b.id)}, overlap
			}
		}
	}
	d.reigns = nil
	d.split = d.sides != nil
	if found > 0 {
		widest.others = found - 1
		d.show.event(widest)
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
