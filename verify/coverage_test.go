package verify

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/verify/internal/model"
)

// holder is a process whose host asks it for what the test needs: it leads in a term, for 4 units, or gives up.
func holder() election.Algorithm[caller, call] {
	a := answering(election.Timed, func(p *caller, out calls) { out.LeadUntil(out.Deadline(election.Units(4)), 1) })
	a.Task, a.Leased, a.Winner, a.Suspect = election.Service, true, election.Unspecified, nil
	return a
}

func TestATermThatHasEndedDoesNotComeBack(t *testing.T) {
	a := holder()
	a.Command = func(_ *caller, _ election.Command, out calls) { out.LeadUntil(out.Deadline(election.Units(4)), 1) }
	o := Options{Size: 2, Initiators: []int{0}, Commands: 2, Crashes: 1, Recoveries: 1, Losses: 0}
	w := newWalk(t, a, o).then("1 starts", "1 obeys") // it may be prolonged
	w.back().then("1 pass", "1 pass", "1 pass", "1 obeys").can(
		"fault 1 crashes, fault 2 crashes, free 1 pass")
	lapsed := w.back().then("1 pass", "1 pass", "1 pass", "1 pass")
	lapsed.can("fault 1 crashes, fault 1 obeys: a term came back, fault 2 crashes, fault 2 obeys: two leaders of one term")
	a.Recover = a.Start
	newWalk(t, a, o).then("1 starts", "1 pass", "1 pass", "1 pass", "1 pass", "1 crashes").can("fault 1 recovers: a term came back, fault 2 obeys: two leaders of one term")
	gives := holder()
	gives.Command = func(_ *caller, _ election.Command, out calls) {
		out.NoLeader()
		out.LeadUntil(out.Deadline(election.Units(4)), 1)
	}
	newWalk(t, gives, o).then("1 starts").can("fault 1 crashes, fault 1 obeys: a term came back, fault 2 crashes, fault 2 obeys: two running leases, free 1 pass")
}

// A process leads again only after its host has reported that the work has stopped. The work counts until then.
func TestWorkStopsBeforeOtherWorkBegins(t *testing.T) {
	a := holder()
	a.Durable = func(p *caller) any { return &p.Heard }
	a.Command = func(p *caller, c election.Command, out calls) {
		switch p.Heard++; {
		case c.Order == election.Stopped:
		case p.Heard == 1:
			out.NoLeader()
			out.StopWork()
		case p.Heard > 1:
			out.LeadUntil(out.Deadline(election.Units(4)), election.Term(p.Heard))
		}
	}
	o := Options{Size: 2, Initiators: []int{0}, Starts: AnyTime, Commands: 2}
	w := newWalk(t, a, o).then("1 starts", "1 obeys") // no process leads, and its work continues
	if p := w.c.Process(w.here, 0); p.Decision.Role != network.Undecided || left(p.Lease) != election.Units(4) || !p.Stopping {
		t.Fatalf("%+v", p)
	}
	anew := w.back()
	anew.can("fault 1 obeys: work began before earlier work had stopped, fault 2 obeys, due 1 obeys, free 1 pass")
	anew.back().then("1 pass", "1 pass", "1 pass", "1 pass").can("fault 1 obeys: work began before earlier work had stopped, fault 2 obeys, due 1 obeys")
	stopped := anew.last("1 obeys")
	if p := stopped.c.Process(stopped.here, 0); !left(p.Lease).IsZero() || p.Stopping {
		t.Errorf("%+v", p)
	}
	stopped.can("fault 1 obeys, fault 2 obeys")
	// A process may lead again as soon as its host reports that the work has stopped.
	before := a.Command
	a.Command = func(p *caller, c election.Command, out calls) {
		if before(p, c, out); c.Order == election.Stopped {
			out.LeadUntil(out.Deadline(election.Units(4)), 2)
		}
	}
	newWalk(t, a, o).then("1 starts", "1 obeys").last("1 obeys").can("fault 1 obeys, fault 2 obeys, free 1 pass")
	// Work that has stopped outlives no crash amid the messages about that.
	a.Command = func(p *caller, c election.Command, out calls) {
		if before(p, c, out); c.Order == election.Stopped {
			out.Send(0, ring, call{1})
		}
	}
	o.Crashes = 1
	for end, outlives := range map[string]bool{"1 crashes": true, "1 obeys and crashes after 0": false} {
		w := newWalk(t, a, o).then("1 starts", "1 obeys", end)
		if p := w.c.Process(w.here, 0); left(p.Orphan).IsZero() == outlives {
			t.Errorf("%s: %+v", end, p)
		}
	}
	o.Crashes = 0
	// It remains leader in its term while its work stops.
	a.Command = func(p *caller, _ election.Command, out calls) {
		out.StopWork()
		out.LeadUntil(out.Deadline(election.Units(4)), 1)
	}
	newWalk(t, a, o).then("1 starts", "1 obeys").can("fault 1 obeys, fault 2 obeys: two running leases, due 1 obeys, free 1 pass")
	// Another process leads while the work continues, or when it has stopped.
	a = holder()
	a.Command = func(p *caller, c election.Command, out calls) {
		switch {
		case c.Order == election.Stopped:
		case p.ID == 1:
			out.NoLeader()
			out.StopWork()
		default:
			out.LeadUntil(out.Deadline(election.Units(4)), 2)
		}
	}
	w = newWalk(t, a, o).then("1 starts", "1 obeys")
	w.can("fault 1 obeys, fault 2 obeys: two running leases, due 1 obeys, free 1 pass")
	w.last("1 obeys").can("fault 1 obeys, fault 2 obeys")
}

// last takes the last of the events with this text.
func (w *walk) last(event string) *walk {
	w.Helper()
	ordinal, last := 0, -1
	var next model.Configuration
	w.each(func(_, what string, to model.Configuration) {
		if what == event {
			last, next = ordinal, slices.Clone(to)
		}
		ordinal++
	})
	if last < 0 {
		w.Fatalf("%s cannot happen", event)
	}
	w.here, w.path = next, append(w.path, last)
	return w
}

func TestWhatHappensShowsThatPropertiesMeanSomething(t *testing.T) {
	happened := func(r *Report) (all, never []string) {
		for _, s := range r.Coverage {
			if s.Happened {
				all = append(all, s.Event)
			} else {
				never = append(never, s.Event)
			}
		}
		return all, never
	}
	for _, test := range []struct {
		silence          uint64
		o                Options
		all, NeverStarts []string
		meansNothing     []string
	}{
		{
			12,
			Options{Size: 2, SafetyOnly: true},
			[]string{"a process led"},
			[]string{"another process led in a later term", "a process led again in a later term", "the lease of a leader ran out", "a host stopped the work of a leader"},
			[]string{Revived, TwoInTerm, TwoLeases, WrongTerm, Unpaired},
		},
		{
			12,
			Options{Size: 2, SafetyOnly: true, Crashes: 1},
			[]string{"a process led", "another process led in a later term", "the lease of a crashed leader ran out", "a process crashed"},
			[]string{"a process led again in a later term", "the lease of a leader ran out", "a host stopped the work of a leader"},
			[]string{Revived, Unpaired},
		},
		{
			12,
			Options{Size: 2, SafetyOnly: true, Commands: 2},
			[]string{"a process led", "another process led in a later term", "a process led again in a later term", "a process was asked to resign"},
			[]string{"the lease of a leader ran out", "a host stopped the work of a leader"},
			[]string{Revived, Unpaired},
		},
	} {
		r := holds(t, leasing(test.silence), test.o)
		all, never := happened(r)
		if !slices.Equal(all, test.all) || !slices.Equal(never, test.NeverStarts) || !slices.Equal(r.Vacuous(), test.meansNothing) {
			t.Errorf("%+v:\n%q\n%q\n%q", test.o, all, never, r.Vacuous())
		}
	}
	if all, _ := happened(holds(t, holder(), Options{Size: 2, Initiators: []int{0}, SafetyOnly: true})); !slices.Contains(all, "the lease of a leader ran out") {
		t.Errorf("%q", all)
	}
	a := trusting(election.Asynchronous, twice)
	a.Command = func(*caller, election.Command, calls) {}
	a.Incarnation = func(*caller) uint64 { return 1 }
	for event, o := range map[string]Options{
		"a process crashed":                   {Crashes: 1},
		"a process recovered":                 {Crashes: 1, Recoveries: 1},
		"a message was lost":                  {Losses: 1},
		"a message arrived twice":             {Duplicates: 1},
		"a message overtook another one":      {Unordered: true},
		"a cut separated processes":           {Cuts: 1},
		"a live process was suspected":        {Suspicions: 1},
		"a process was asked to resign":       {Commands: 1},
		"a process learned of a proven death": {Crashes: 1, Wardens: true},
	} {
		o.Size, o.Initiators, o.SafetyOnly = 2, []int{0}, true
		r := holds(t, a, o)
		if all, never := happened(r); !slices.Contains(all, event) || !slices.Equal(never, []string{"a process led"}) {
			t.Errorf("%s: %q, %q", event, all, never)
		}
	}
	r := holds(t, a, Options{Size: 2, SafetyOnly: true})
	if all, never := happened(r); len(all) != 0 || !slices.Equal(never, []string{"a process led"}) {
		t.Errorf("%q, %q", all, never)
	}
}
