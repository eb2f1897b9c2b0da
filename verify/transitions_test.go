package verify

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/verify/internal/model"
)

// walk is a run by hand: its test chooses the transitions, and it lists the possible ones.
type walk struct {
	*testing.T
	c    *model.Checker
	root int
	here model.Configuration
	path []int // the ordinals of the transitions so far
}

// newWalk begins at the last of the beginnings.
func newWalk[S, M any](t *testing.T, a election.Algorithm[S, M], o Options) *walk {
	t.Helper()
	program, err := process.Of(&a)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.check(program.Declaration, program.Functions); err != nil {
		t.Fatal(err)
	}
	c, err := model.NewChecker(program, o.model(), o.Setup)
	if err != nil {
		t.Fatal(err)
	}
	roots := c.Beginnings()
	return &walk{T: t, c: c, root: len(roots) - 1, here: roots[len(roots)-1]}
}

var classes = [...]string{model.Due: "due", model.Free: "free", model.ByFault: "fault"}

// each visits the possible transitions, as texts: class and event.
func (w *walk) each(visit func(class, what string, to model.Configuration)) {
	w.c.Transitions(w.here, func(tr *model.Transition, to model.Configuration) {
		what := fmt.Sprintf("%d ", tr.Process+1)
		switch tr.Event {
		case model.Waits:
			what = tr.Time.String() + " pass"
		case model.Receives, model.Loses:
			if m := w.c.Messages.Values[w.c.Queue(w.here, tr.Link)[tr.Place].Message]; true {
				what += fmt.Sprintf("%s %s on %d", map[model.Event]string{model.Receives: "receives", model.Loses: "loses"}[tr.Event], w.c.Declaration.Kinds[m.Kind].Name, tr.At)
			}
			if tr.Again {
				what += " again"
			}
		case model.TimesOut:
			what += w.c.Declaration.Timers[tr.At]
		case model.Suspects, model.Trusts:
			what += fmt.Sprint(map[model.Event]string{model.Suspects: "suspects ", model.Trusts: "trusts "}[tr.Event], w.c.Links[w.c.Into[tr.Process][tr.At]].From+1)
		case model.Cuts, model.Heals:
			what = map[model.Event]string{model.Cuts: "", model.Heals: "end of "}[tr.Event] + w.c.Cuts[tr.At].Text(w.c.Network)
		default:
			what += map[model.Event]string{model.Starts: "starts", model.Recovers: "recovers", model.Obeys: "obeys", model.Crashes: "crashes", model.Hastens: "hastens"}[tr.Event]
		}
		if tr.Amid {
			what += fmt.Sprintf(" and crashes after %d", tr.Left)
		}
		if tr.Breach != nil {
			what += ": " + tr.Breach.Property
		}
		visit(classes[tr.Class], what, to)
	})
}

// can checks the possible transitions, in order.
func (w *walk) can(want string) {
	w.Helper()
	var got []string
	w.each(func(class, what string, _ model.Configuration) { got = append(got, class+" "+what) })
	if got := strings.Join(got, ", "); got != want {
		w.Errorf("what can happen is\n\t%s; want\n\t%s", got, want)
	}
}

// then applies events, one after the other.
func (w *walk) then(events ...string) *walk {
	w.Helper()
	for _, event := range events {
		var next model.Configuration
		var others []string
		ordinal := 0
		w.each(func(_, what string, to model.Configuration) {
			if others = append(others, what); what == event && next == nil {
				next, ordinal = slices.Clone(to), len(others)-1
			}
		})
		if next == nil {
			w.Fatalf("%s cannot happen, only %q", event, others)
		}
		w.here, w.path = next, append(w.path, ordinal)
	}
	return w
}

// back returns a walk that branches off here.
func (w *walk) back() *walk {
	there := *w
	there.here, there.path = slices.Clone(w.here), slices.Clone(w.path)
	return &there
}

// caller is a process that does only what its test needs.
type caller struct {
	ID    election.ID
	Heard uint32
	Until election.Deadline
}

type call struct{ Number uint32 }

type calls = *election.Out[call]

const ring, knock election.Kind = 0, 1

// calling returns an algorithm whose processes call start, and note what they receive.
func calling(timing election.Timing, start func(*caller, calls)) election.Algorithm[caller, call] {
	a := election.Algorithm[caller, call]{
		Declaration: election.Declaration{
			Name: "calling", Topology: election.Ring, OneWay: true, FIFO: true, Timing: timing, Winner: election.Largest,
			Kinds: []election.MessageKind{{Name: "ring"}, {Name: "knock"}},
		},
		New:     func(l election.Local) caller { return caller{ID: l.ID} },
		Start:   start,
		Receive: func(p *caller, _ election.Port, _ election.Kind, m call, _ calls) { p.Heard += m.Number },
	}
	if timing != election.Asynchronous {
		a.Timers, a.Timeout = []string{"tick", "tock"}, func(*caller, election.Timer, calls) {}
	}
	return a
}

func silent(*caller, calls) {}

func once(p *caller, out calls) { out.Send(0, ring, call{1}) }

func twice(p *caller, out calls) {
	out.Send(0, ring, call{1})
	out.Send(0, knock, call{2})
}

func TestWhoStartsWhenIsUpToThePolicy(t *testing.T) {
	any, all := calling(election.Asynchronous, silent), calling(election.Asynchronous, silent)
	all.Starts = election.AllStart

	w := newWalk(t, any, Options{Size: 3}) // one after the other
	w.can("due 1 starts")
	w.then("1 starts").can("due 2 starts")
	w.then("2 starts", "3 starts").can("")

	w = newWalk(t, any, Options{Size: 3, Starts: AnyTime}) // one must, the others may
	w.can("due 1 starts, due 2 starts, due 3 starts")
	w.then("2 starts").can("free 1 starts, free 3 starts")
	w.then("3 starts").can("free 1 starts")

	w = newWalk(t, all, Options{Size: 3, Starts: AnyTime})
	w.then("2 starts").can("due 1 starts, due 3 starts")

	for algorithm, want := range map[*election.Algorithm[caller, call]]string{&any: "", &all: "due 1 starts, due 3 starts"} {
		w = newWalk(t, *algorithm, Options{Size: 3, Initiators: []int{1}})
		w.can("due 2 starts")
		w.then("2 starts").can(want)
	}

	w = newWalk(t, any, Options{Size: 3, Starts: EverySet})
	roots := w.c.Beginnings()
	first := map[string]int{}
	for _, w.here = range roots {
		var starters []string
		for w.each(func(_, what string, _ model.Configuration) { starters = append(starters, what) }); len(starters) == 1; {
			first[starters[0]]++
			w.then(starters[0])
			starters = nil
			w.each(func(_, what string, _ model.Configuration) { starters = append(starters, what) })
		}
	}
	if len(roots) != 7 || first["1 starts"] != 4 || first["2 starts"] != 4 || first["3 starts"] != 4 {
		t.Errorf("%d sets of three processes, in which they start %v times; want 7, and 4 times each", len(roots), first)
	}
}

// Except faults, no other event happens before all processes with first starts have started.
func TestFirstStartsComeFirst(t *testing.T) {
	a := calling(election.Timed, func(_ *caller, out calls) {
		out.Send(0, ring, call{1})
		out.After(0, election.Ticks{})
	})
	w := newWalk(t, a, Options{Size: 2, Crashes: 1}).then("1 starts")
	w.can("fault 1 crashes, fault 2 crashes, due 2 starts, fault 2 starts and crashes after 0")
	w.then("1 crashes").can("due 2 starts")
}

func TestALinkDeliversItsMessagesInOrderUnlessItHasNone(t *testing.T) {
	a := calling(election.Asynchronous, twice)
	w := newWalk(t, a, Options{Size: 3, Starts: EverySet}).then("1 starts", "2 starts", "3 starts")
	w.can("due 1 receives ring on 1, due 2 receives ring on 1, due 3 receives ring on 1")
	w.then("2 receives ring on 1").can("due 1 receives ring on 1, due 2 receives knock on 1, due 3 receives ring on 1")

	w = newWalk(t, a, Options{Size: 2, Initiators: []int{0}, Unordered: true}).then("1 starts")
	w.can("due 2 receives ring on 1, due 2 receives knock on 1")
	w.then("2 receives knock on 1").can("due 2 receives ring on 1")
	w.then("2 receives ring on 1").can("")
	if p := w.c.Values.StateText(w.c.Process(w.here, 1).State); p != "ID 2, Heard 3" {
		t.Errorf("the second process has %s", p)
	}

	// Among equal messages, neither the order of arrival nor that of sending matters.
	w = newWalk(t, calling(election.Asynchronous, func(_ *caller, out calls) {
		out.Send(0, knock, call{1})
		out.Send(0, ring, call{1})
		out.Send(0, knock, call{1})
	}), Options{Size: 2, Initiators: []int{0}, Unordered: true}).then("1 starts")
	w.can("due 2 receives ring on 1, due 2 receives knock on 1")
	one, other := w.back().then("2 receives ring on 1", "2 receives knock on 1"), w.back().then("2 receives knock on 1", "2 receives ring on 1")
	if !slices.Equal(one.here, other.here) {
		t.Error("two orders of the same messages lead to different configurations")
	}
	w.then("2 receives knock on 1", "2 receives knock on 1").can("due 2 receives ring on 1")
}

func TestAMessageTakesOneUnitToTheDelay(t *testing.T) {
	w := newWalk(t, calling(election.Timed, once), Options{Size: 2, Initiators: []int{0}, Delay: 3}).then("1 starts")
	w.can("due 1 pass")
	w.then("1 pass").can("due 2 receives ring on 1, due 1 pass")
	w.then("1 pass").can("due 2 receives ring on 1, due 1 pass")
	w.then("1 pass").can("due 2 receives ring on 1")
	w.then("2 receives ring on 1").can("")
}

func TestATimerThatHasExpiredStopsTime(t *testing.T) {
	w := newWalk(t, calling(election.Timed, func(_ *caller, out calls) {
		out.After(0, election.Units(5))
		out.After(1, election.Units(3))
	}), Options{Size: 2, Initiators: []int{0}}).then("1 starts")
	w.can("due 3 pass") // nothing can happen before
	w.then("3 pass").can("due 1 tock")
	w.then("1 tock").can("due 2 pass")
	w.then("2 pass").can("due 1 tick")
	if w.then("1 tick").can(""); w.c.Global(w.here).Late {
		t.Error("a unit has a part for timers where a run is not synchronous")
	}
	w = newWalk(t, calling(election.Timed, func(_ *caller, out calls) {
		out.After(0, election.Units(3))
		out.After(1, election.Units(3))
	}), Options{Size: 2, Initiators: []int{0}}).then("1 starts", "3 pass")
	w.can("due 1 tick, due 1 tock")
	w.then("1 tock").can("due 1 tick")
}

func TestTimersAreStoppedAndStartedAgain(t *testing.T) {
	at := 0
	w := newWalk(t, calling(election.Timed, func(p *caller, out calls) {
		out.After(1, election.Units(3))
		switch at++; p.ID { // each process does something else
		case 1:
			out.Stop(1)
		case 2:
			out.After(1, election.Forever)
		case 3:
			out.After(1, election.Units(9))
		}
	}), Options{Size: 3, Starts: AnyTime})
	at = 0 // after the rehearsal
	w.back().then("1 starts", "2 starts").can("free 3 starts")
	w.then("1 starts", "2 starts", "3 starts").can("due 9 pass")
	if at > 3*3 {
		t.Errorf("%d steps were made for three, each of which is made twice, with a step of a stranger between", at)
	}
}

// If a start, a suspicion, a fault or a message can come between, time passes unit by unit.
func TestTimeJumpsOnlyWhereNothingCanComeBetween(t *testing.T) {
	alarm := func(_ *caller, out calls) { out.After(0, election.Units(7)) }
	a := calling(election.Timed, alarm)
	a.Survives = election.Crash | election.Recovery
	a.Recover, a.Command = silent, func(*caller, election.Command, calls) {}
	newWalk(t, a, Options{Size: 2, Initiators: []int{0}}).then("1 starts").can("due 7 pass")
	newWalk(t, a, Options{Size: 2, Starts: AnyTime}).then("1 starts").can("free 2 starts, due 1 pass")
	newWalk(t, a, Options{Size: 2, Initiators: []int{0}, Commands: 1}).then("1 starts").can("fault 1 obeys, fault 2 obeys, due 1 pass")
	w := newWalk(t, a, Options{Size: 2, Initiators: []int{0}, Crashes: 1, Recoveries: 2}).then("1 starts")
	w.can("fault 1 crashes, fault 2 crashes, due 1 pass")
	w.then("2 crashes").can("fault 2 recovers, due 1 pass")
	w.then("2 recovers").can("due 7 pass")
	w = newWalk(t, a, Options{Size: 2, Initiators: []int{0}, Crashes: 1}).then("1 starts", "2 crashes")
	w.can("due 7 pass")
	a.Suspect = func(*caller, election.Port, calls) {}
	w = newWalk(t, a, Options{Size: 2, Initiators: []int{0}, Crashes: 1}).then("1 starts", "2 crashes")
	w.can("due 1 suspects 2, due 1 suspects 2, due 1 pass") // by both ports
	w.then("1 suspects 2", "1 suspects 2").can("due 7 pass")
	w = newWalk(t, a, Options{Size: 3, Initiators: []int{0}, Crashes: 1}).then("1 starts", "2 crashes", "3 suspects 2")
	w.can("due 1 suspects 2, due 1 pass")
	b := calling(election.Timed, func(p *caller, out calls) { once(p, out); alarm(p, out) })
	newWalk(t, b, Options{Size: 2, Initiators: []int{0}, Delay: 2}).then("1 starts").can("due 1 pass")
	newWalk(t, b, Options{Size: 2, Initiators: []int{0}, Delay: 2}).then("1 starts", "1 pass", "2 receives ring on 1").can("due 6 pass")
}

// A run may end while deadlines expire that only a fault could reach.
func TestTimeNeedNotPassWhereNothingIsGoingToHappen(t *testing.T) {
	a := calling(election.Timed, func(p *caller, out calls) { p.Until = out.Deadline(election.Units(2)) })
	newWalk(t, a, Options{Size: 2, Initiators: []int{0}}).then("1 starts").can("")
	a.Command = func(*caller, election.Command, calls) {}
	w := newWalk(t, a, Options{Size: 2, Initiators: []int{0}, Commands: 1}).then("1 starts")
	w.can("fault 1 obeys, fault 2 obeys, free 1 pass")
	w.then("1 pass").can("fault 1 obeys, fault 2 obeys, free 1 pass")
	w.then("1 pass").can("fault 1 obeys, fault 2 obeys") // time changes nothing any more
}

func TestAUnitOfASynchronousRunIsMessagesThenStartsThenTimers(t *testing.T) {
	a := calling(election.Synchronous, func(p *caller, out calls) {
		if p.ID != 3 {
			twice(p, out)
		}
		out.After(0, election.Units(1))
		out.After(1, election.Units(1))
	})
	w := newWalk(t, a, Options{Size: 3, Starts: AnyTime})
	w.can("due 1 starts, due 2 starts, due 3 starts")
	w.then("2 starts", "1 starts").can("free 3 starts, due 1 pass") // a start may come in any unit
	w.then("1 pass").can("due 2 receives ring on 1")
	w.then("2 receives ring on 1").can("due 2 receives knock on 1")
	w.then("2 receives knock on 1", "3 receives ring on 1").can("due 3 receives knock on 1")
	w.then("3 receives knock on 1").can("free 3 starts, due 1 tick")
	late := w.back().then("1 tick")
	late.can("due 1 tock") // no starts after timers
	late.then("1 tock").can("due 2 tick")
	late.then("2 tick", "2 tock").can("free 1 pass")
	late.then("1 pass").can("free 3 starts") // in the next unit
	w.then("3 starts").can("due 1 tick")
	w.then("1 tick", "1 tock", "2 tick", "2 tock").can("due 1 pass")
	w.then("1 pass").can("due 3 tick")
}

func TestAUnitEndsOnlyIfAnotherIsOfUse(t *testing.T) {
	a := calling(election.Synchronous, func(_ *caller, out calls) { out.After(0, election.Units(1)) })
	newWalk(t, a, Options{Size: 1}).then("1 starts", "1 pass", "1 tick").can("")
}

// answering returns a crash-tolerant algorithm with a failure detector and no persistent state.
func answering(timing election.Timing, start func(*caller, calls)) election.Algorithm[caller, call] {
	a := calling(timing, start)
	a.OneWay = false
	a.Survives = election.Crash | election.Recovery
	a.Recover = func(p *caller, _ calls) { p.Heard = 100 }
	a.Suspect = func(p *caller, port election.Port, _ calls) { p.Heard += 10 + uint32(port) }
	return a
}

func TestWhatArrivesAtADeadProcessIsLost(t *testing.T) {
	w := newWalk(t, answering(election.Asynchronous, once), Options{Size: 3, Crashes: 1}).then("1 starts", "2 starts", "3 starts", "2 crashes")
	w.can("due 1 receives ring on 1, due 2 loses ring on 1, due 3 receives ring on 1, due 1 suspects 2")
	w.then("2 loses ring on 1").can("due 1 receives ring on 1, due 3 receives ring on 1, due 1 suspects 2")
}

// Suspicion comes after the last message, on each port separately, and once.
func TestASuspicionComesAfterTheLastMessage(t *testing.T) {
	a := answering(election.Asynchronous, twice)
	w := newWalk(t, a, Options{Size: 3, Initiators: []int{1}, Crashes: 1}).then("2 starts", "2 crashes")
	w.can("due 3 receives ring on 1, due 1 suspects 2")
	w.then("3 receives ring on 1").can("due 3 receives knock on 1, due 1 suspects 2")
	w.then("3 receives knock on 1").can("due 1 suspects 2, due 3 suspects 2")
	w.then("3 suspects 2").can("due 1 suspects 2")
	w.then("1 suspects 2").can("")
	w = newWalk(t, a, Options{Size: 3, Initiators: []int{1}, Crashes: 1, hasty: true}).then("2 starts", "2 crashes")
	w.can("due 3 receives ring on 1, due 1 suspects 2, due 3 suspects 2")
	// On a ring of two, two ports lead to the same process.
	w = newWalk(t, answering(election.Asynchronous, once), Options{Size: 2, Initiators: []int{1}, Crashes: 2}).then("2 starts", "2 crashes")
	w.can("fault 1 crashes, due 1 receives ring on 1, due 1 suspects 2")
	w.then("1 receives ring on 1").can("fault 1 crashes, due 1 suspects 2, due 1 suspects 2")
	w.then("1 suspects 2").can("fault 1 crashes, due 1 suspects 2")
	w.then("1 crashes").can("") // a crashed process suspects no process
	deaf := answering(election.Asynchronous, silent)
	deaf.Suspect = nil
	newWalk(t, deaf, Options{Size: 2, Initiators: []int{0}, Crashes: 1}).then("1 starts", "2 crashes").can("")
}

func TestARecoveredProcessIsSuspectedNoMoreAndLearnsWhichOthersAreDead(t *testing.T) {
	w := newWalk(t, answering(election.Asynchronous, silent), Options{Size: 3, Initiators: []int{1}, Crashes: 2, Recoveries: 2})
	w.then("2 starts", "2 crashes")
	w.can("fault 1 crashes, fault 2 recovers, fault 3 crashes, due 1 suspects 2, due 3 suspects 2")
	w.back().then("2 recovers").can("fault 1 crashes, fault 2 crashes, fault 3 crashes")
	w.then("3 suspects 2", "1 crashes").can("fault 1 recovers, fault 2 recovers, due 3 suspects 1")
	w.then("1 recovers").can("fault 2 recovers, due 1 suspects 2")
	w.then("1 suspects 2", "2 recovers").can("") // no fault is left
	p := w.c.Process(w.here, 1)
	if text := w.c.Values.StateText(p.State); !p.Alive || text != "ID 2, Heard 100" {
		t.Errorf("the second process, alive: %v, has %s", p.Alive, text)
	}
}

func TestSuspicionsOfSeveralAreIndependent(t *testing.T) {
	a := answering(election.Asynchronous, silent)
	o := Options{Size: 3, Initiators: []int{1}, Crashes: 3, Recoveries: 3}
	w := newWalk(t, a, o).then("2 starts", "2 crashes", "1 crashes", "3 crashes", "2 recovers")
	w.can("fault 1 recovers, fault 3 recovers, due 2 suspects 3, due 2 suspects 1")
	w.back().then("1 recovers").can("fault 3 recovers, due 1 suspects 3, due 2 suspects 3")
	w.then("2 suspects 1").can("fault 1 recovers, fault 3 recovers, due 2 suspects 3")
	w.then("2 suspects 3").can("fault 1 recovers, fault 3 recovers")
	if text := w.c.Values.StateText(w.c.Process(w.here, 1).State); text != "ID 2, Heard 121" {
		t.Errorf("it has recovered, with 100, and suspected on both ports: %s", text)
	}
	a.Suspect = nil
	w = newWalk(t, a, o).then("2 starts", "2 crashes", "1 crashes", "2 recovers")
	w.can("fault 1 recovers, fault 2 crashes, fault 3 crashes")
	if s := w.c.Process(w.here, 1).Suspects | w.c.Process(w.here, 2).Suspects; s != 0 {
		t.Errorf("suspicions %b that nothing can tell", s)
	}
	synchronous := answering(election.Synchronous, once)
	w = newWalk(t, synchronous, Options{Size: 3, Initiators: []int{1}, Crashes: 1}).then("2 starts", "2 crashes")
	w.can("due 1 suspects 2, due 1 pass")
	w.then("1 pass").can("due 3 receives ring on 1")
	w.then("3 receives ring on 1").can("due 1 suspects 2, due 3 suspects 2")
}

// An algorithm that tolerates only temporary crashes needs its processes back.
func TestARecoveryIsOwedWhereCrashesAreNotSurvived(t *testing.T) {
	a := answering(election.Asynchronous, silent)
	a.Suspect = nil
	o := Options{Size: 2, Initiators: []int{0}, Crashes: 1, Recoveries: 1}
	newWalk(t, a, o).then("1 starts", "2 crashes").can("fault 2 recovers")
	a.Survives = election.Recovery
	newWalk(t, a, o).then("1 starts", "2 crashes").can("due 2 recovers")

	// It leads when it starts and when it recovers; if it need not recover, its follower has no leader.
	leads := calling(election.Asynchronous, func(_ *caller, out calls) { out.Send(0, ring, call{}); out.Lead(0) })
	leads.Task, leads.Winner = election.Service, election.Unspecified
	leads.Receive = func(_ *caller, _ election.Port, _ election.Kind, _ call, out calls) { out.Follow(1, 0) }
	leads.Recover = func(p *caller, out calls) {
		if p.ID == 1 {
			out.Lead(0)
		} else {
			out.Follow(1, 0)
		}
	}
	leads.Survives = election.Recovery
	o = Options{Setup: network.On(1, 2), Initiators: []int{0}, Crashes: 1, Recoveries: 1}
	holds(t, leads, o)
	leads.Survives |= election.Crash
	fails(t, leads, o, NoLeader, 3)
}

// What has crashed is as it was born, but for what it kept, and has neither timers, nor a decision or a start. What it did
// under a lease may continue until that ends.
func TestACrashLeavesWhatWasKept(t *testing.T) {
	a := answering(election.Timed, func(p *caller, out calls) {
		p.Heard, p.Until = 7, out.Deadline(election.Units(9))
		out.After(1, election.Units(9))
		out.LeadUntil(p.Until, 1)
	})
	a.Task, a.Leased, a.Winner = election.Service, true, election.Unspecified
	for kept, want := range map[bool]string{true: "ID 2, Heard 7", false: "ID 2"} {
		if a.Durable = nil; kept {
			a.Durable = func(p *caller) any { return &p.Heard }
		}
		w := newWalk(t, a, Options{Size: 3, Initiators: []int{1}, Crashes: 1}).then("2 starts", "2 crashes")
		p := *w.c.Process(w.here, 1)
		if text := w.c.Values.StateText(p.State); text != want {
			t.Errorf("%s; want %s", text, want)
		}
		want := model.ProcessState{Position: 1, ID: 2, Orphan: election.DeadlineIn(election.Units(9), election.Ticks{})}
		if p.State = 0; !reflect.DeepEqual(p, want) {
			t.Errorf("%+v", p)
		}
	}
	a.Starts = election.AllStart
	w := newWalk(t, a, Options{Size: 3, Initiators: []int{1}, Crashes: 1}).then("2 starts", "3 crashes")
	w.can("due 1 starts: two running leases, due 1 suspects 3, due 2 suspects 3, due 1 pass")
	w = newWalk(t, a, Options{Size: 3, Initiators: []int{1}, Crashes: 1}).then("2 starts", "2 crashes")
	w.can("due 1 starts: two running leases, due 3 starts: two running leases, due 1 suspects 2, due 3 suspects 2, free 1 pass")
	w = newWalk(t, a, Options{Size: 3, Initiators: []int{1}, Crashes: 2, Recoveries: 1}).then("2 starts", "2 crashes", "2 recovers", "2 crashes")
	if p := w.c.Process(w.here, 1); left(p.Orphan) != election.Units(9) {
		t.Errorf("the work of the first life is forgotten at the end of the second: %+v", p)
	}
}

func TestFaultsAreCountedAndDisturb(t *testing.T) {
	a := answering(election.Asynchronous, silent)
	a.Command = func(p *caller, _ election.Command, _ calls) { p.Heard++ }
	a.Suspect = nil
	w := newWalk(t, a, Options{Size: 2, Initiators: []int{0}, Crashes: 2, Recoveries: 1, Commands: 2})
	for _, step := range []struct {
		event                         string
		crashes, recoveries, commands uint32
		disturbed, begun              bool
	}{
		{"1 starts", 2, 1, 2, false, true},
		{"2 obeys", 2, 1, 1, true, true},
		{"2 obeys", 2, 1, 0, true, true},
		{"2 crashes", 1, 1, 0, true, true},
		{"2 recovers", 1, 0, 0, true, true},
		{"1 crashes", 0, 0, 0, true, true},
	} {
		w.then(step.event)
		got := *w.c.Global(w.here)
		if want := (model.Global{Crashes: step.crashes, Recoveries: step.recoveries, Commands: step.commands, Disturbed: step.disturbed, Begun: step.begun}); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("after %s: %+v; want %+v", step.event, got, want)
		}
	}
	w.can("")
	for event, want := range map[string]bool{"1 crashes": true, "1 obeys": true} {
		w = newWalk(t, a, Options{Size: 2, Initiators: []int{0}, Crashes: 1, Commands: 1}).then(event)
		if g := w.c.Global(w.here); g.Disturbed != want || g.Begun {
			t.Errorf("after %s: %+v", event, g)
		}
	}
}

// left returns the time up to a deadline.
func left(d election.Deadline) election.Ticks { return d.Left(election.Ticks{}) }
