package simulate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// diarist is a process that sends what it remembers in each message.
type diarist struct {
	ID, Members election.ID
	Lives       uint32 // kept
	Since       uint32 // how many steps it has taken in this life
}

// diary elects no process except 1, which leads in a term for each life. Every process sends to all others what it
// remembers: when it starts or recovers, and 10 units later.
var diary = election.Algorithm[diarist, page]{
	Declaration: election.Declaration{
		Name: "diary", Topology: election.Complete, Timing: election.Timed, KnowsSize: true, Task: election.Service,
		Survives: election.Crash | election.Recovery, Kinds: []election.MessageKind{{Name: "page"}}, Timers: []string{"soon", "late"},
	},
	New:     func(l election.Local) diarist { return diarist{ID: l.ID, Members: election.ID(l.N)} },
	Start:   awake,
	Recover: awake,
	Receive: func(d *diarist, _ election.Port, _ election.Kind, _ page, _ *election.Out[page]) { d.Since++ },
	Timeout: func(d *diarist, _ election.Timer, out *election.Out[page]) { tell(d, out) },
	Suspect: func(*diarist, election.Port, *election.Out[page]) {},
	Trust:   func(*diarist, election.Port, *election.Out[page]) {},
	Command: func(*diarist, election.Command, *election.Out[page]) {},
	Durable: func(d *diarist) any { return &d.Lives },
}

// page is the number of lives that a process remembers, and of steps of this life: 203 is the third step of the
// second life.
type page struct{ Remembered uint32 }

func awake(d *diarist, out *election.Out[page]) {
	d.Lives++
	if d.ID == 1 {
		out.Lead(election.Term(d.Lives))
	} else {
		out.After(0, election.Units(10))
	}
	tell(d, out)
}

func tell(d *diarist, out *election.Out[page]) {
	d.Since++
	for id := election.ID(1); id <= d.Members; id++ {
		if id != d.ID {
			out.Send(election.To(id), 0, page{100*d.Lives + d.Since})
		}
	}
}

// live runs the diary among n processes with faults, with delays of one unit.
func live(t *testing.T, n int, lines ...string) *simulate.Result {
	t.Helper()
	return run(t, small(diary), simulate.Options{Setup: numbered(n), Delay: 1, Record: true, Faults: scripted(t, n, lines...)})
}

// heard returns what one process receives from another.
func heard(r *simulate.Result, by, of int) []string {
	return slices.DeleteFunc(steps(r, by, gets), func(step string) bool { return !strings.Contains(step, fmt.Sprintf("receive %d:", of)) })
}

// A recovered process has only its persistent state: no other state, no timer, no decision.
func TestARecoveredProcessKnowsWhatIsKeptOnly(t *testing.T) {
	for _, back := range []int{5, 12, 30} { // before its timer would have expired, and after
		r := live(t, 2, "crash 2 at 4", fmt.Sprintf("recover 2 at %d", back))
		want := []string{"1 receive 2: 101", fmt.Sprintf("%d receive 2: 201", back+1), fmt.Sprintf("%d receive 2: 202", back+11)}
		same(t, fmt.Sprintf("what 2, recovered at %d, sends", back), heard(r, 1, 2), want...)
		same(t, "2", steps(r, 2, trace.Timeout), fmt.Sprintf("%d timeout: soon", back+10))
	}
	r := live(t, 2, "crash 2 at 4")
	same(t, "2, which stays dead", steps(r, 2), "0 start", "1 receive 1: 101", "4 crash")
	r = live(t, 2, "crash 2 at 4", "recover 2 at 5", "crash 2 at 7", "recover 2 at 9")
	same(t, "what it sends in three lives", heard(r, 1, 2), "1 receive 2: 101", "6 receive 2: 201", "10 receive 2: 301", "20 receive 2: 302")
	for id, role := range map[int]network.Role{1: network.Undecided, 2: network.Undecided} {
		if r := live(t, 2, fmt.Sprintf("crash %d at 4", id)); r.Decisions[id-1].Role != role {
			t.Errorf("%d is dead, and %+v", id, r.Decisions[id-1])
		}
	}
	if r := live(t, 2, "crash 1 at 4", "recover 1 at 9"); r.Decisions[0] != (network.Decision{Role: network.Leader, Leader: 1, Term: 2}) || len(r.Faults) > 0 {
		t.Errorf("%+v, %v", r.Decisions[0], r.Faults)
	}
}

// A term that ended with a life may not be led in again: the record of decisions begins anew, the rule does not.
func TestNoProcessIsLeaderWhileItIsCrashed(t *testing.T) {
	r := live(t, 2, "crash 1 at 4")
	if len(r.Leaders) > 0 || !slices.Equal(r.Dead, []int{0}) {
		t.Errorf("%v lead, %v are dead", r.Leaders, r.Dead)
	}
}

// A recovered process announces itself: no process suspects a life that has ended, and a new life suspects no process
// yet.
func TestSuspicionsEndWithTheLifeThatTheyAreOf(t *testing.T) {
	r := live(t, 3, "crash 3 at 4", "recover 3 at 4") // before any process could notice
	same(t, "1, of one that is back at once", steps(r, 1, suspects, trusts))
	r = live(t, 3, "crash 3 at 4", "recover 3 at 8", "crash 3 at 20")
	same(t, "1, of one that dies twice", steps(r, 1, suspects, trusts), "5 suspect 3", "21 suspect 3")
	r = live(t, 3, "crash 3 at 4", "crash 2 at 8", "recover 2 at 12", "recover 3 at 16", "crash 3 at 20")
	same(t, "2, which dies of the same", steps(r, 2, suspects, trusts), "5 suspect 3", "21 suspect 3")
	r = live(t, 3, "dead 3", "recover 3 at 8", "crash 3 at 20")
	same(t, "1, of one dead from the start", steps(r, 1, suspects, trusts), "0 suspect 3", "21 suspect 3")
	r = live(t, 3, "suspect 1 of 3 from 2 until 30", "crash 3 at 4", "recover 3 at 8", "crash 3 at 20")
	same(t, "1, of one suspected by mistake before", steps(r, 1, suspects, trusts), "2 suspect 3", "21 suspect 3")
	r = live(t, 3, "suspect 3 of 1 from 2 until 30", "crash 3 at 4", "recover 3 at 5")
	same(t, "3, whose earlier life made a mistake", steps(r, 3, suspects, trusts), "2 suspect 1")
	r = live(t, 3, "crash 1 at 3", "crash 3 at 4")
	same(t, "a crashed process suspects none", steps(r, 3), "0 start", "1 receive 1: 101", "1 receive 2: 101", "4 crash", "11 lost 2: 104")
}

// Under a cut that began before the recovery, the recovered process is not heard and hears nothing. Both detectors
// notice after the longest delay, and trust when the cut ends.
func TestOneThatRecoversUnderACutIsSuspectedAgain(t *testing.T) {
	for _, line := range []string{"cut 3 -> 1 from 2 until 40", "cut 3 -> 1 from 6 until 40"} {
		r := live(t, 3, line, "crash 3 at 4", "recover 3 at 10")
		first := map[bool]string{true: "3 suspect 3", false: "5 suspect 3"}[strings.Contains(line, "from 2")]
		same(t, "1, "+line, steps(r, 1, suspects, trusts), first, "11 suspect 3", "40 trust 3")
		same(t, "2", steps(r, 2, suspects, trusts), "5 suspect 3")
		same(t, "3, which hears all", steps(r, 3, suspects, trusts))
	}
	r := live(t, 3, "cut 1 -> 3 from 2 until 40", "crash 3 at 4", "recover 3 at 10")
	same(t, "1, which hears all", steps(r, 1, suspects, trusts), "5 suspect 3")
	same(t, "3, which does not hear 1", steps(r, 3, suspects, trusts), "3 suspect 1", "11 suspect 1", "40 trust 1")
	r = live(t, 3, "cut 1 -> 3 from 2 until 11", "crash 3 at 4", "recover 3 at 10") // the cut ends just then
	same(t, "3, as the cut ends", steps(r, 3, suspects, trusts), "3 suspect 1")
	r = live(t, 3, "cut 3 -> 1 from 2 until 11", "crash 3 at 4", "recover 3 at 10")
	same(t, "1, as the cut ends", steps(r, 1, suspects, trusts), "3 suspect 3")
	r = run(t, small(diary), simulate.Options{
		Setup: numbered(3), Delay: 4, Record: true, Faults: scripted(t, 3, "crash 3 at 2", "recover 3 at 10", "partition 1 | 3 from 12 until 40"),
	})
	same(t, "1, of a cut that comes later", steps(r, 1, suspects, trusts), "6 suspect 3", "16 suspect 3", "40 trust 3")
	same(t, "3, of a cut that comes later", steps(r, 3, suspects, trusts), "16 suspect 1", "40 trust 1")
	r = live(t, 3, "cut 3 -> 1 from 2 until 40", "crash 3 at 4", "recover 3 at 10", "crash 3 at 11", "recover 3 at 20", "crash 3 at 30")
	same(t, "1, of one that dies again and again", steps(r, 1, suspects, trusts), "3 suspect 3", "12 suspect 3", "21 suspect 3")
	r = live(t, 3, "cut 3 -> 1 from 2 until 40", "crash 1 at 4", "recover 1 at 10", "crash 3 at 10", "recover 3 at 20")
	same(t, "1, of which both die", steps(r, 1, suspects, trusts), "3 suspect 3", "11 suspect 3", "21 suspect 3", "40 trust 3")
}

// Amid a step that is the last of a life: what was sent counts, what was decided or set does not, and the next life
// may have a crash amid a step of its own.
func TestACrashAmidAStepIsOfOneLife(t *testing.T) {
	r := live(t, 3, "crash 2 at 4 after 1 sends", "recover 2 at 20", "crash 2 at 21 after 0 sends", "recover 2 at 40")
	same(t, "2", steps(r, 2, trace.Crash, trace.Recover, trace.Timeout), "10 timeout: soon", "10 crash: after 1 of 2 messages",
		"20 recover", "30 timeout: soon", "30 crash: after 0 of 2 messages", "40 recover", "50 timeout: soon")
	same(t, "what 1 hears of 2", heard(r, 1, 2), "1 receive 2: 101", "11 receive 2: 104", "21 receive 2: 201", "41 receive 2: 301", "51 receive 2: 302")
	r = live(t, 3, "crash 1 at 0 after 1 sends", "recover 1 at 5")
	if r.Decisions[0].Term != 2 || len(r.Faults) > 0 || len(r.Missed) > 0 {
		t.Errorf("after a crash amid the step in which it led: %+v, %v, missed %v", r.Decisions[0], r.Faults, r.Missed)
	}
	lead := r.Record.Steps[0]
	if len(lead.Decided) > 0 || len(lead.Sent) != 1 {
		t.Errorf("the step amid which it crashed: %+v", lead)
	}
	r = live(t, 3, "crash 2 at 4", "recover 2 at 6", "crash 2 at 8 after 0 sends", "recover 2 at 9") // recovered before it could
	if len(r.Dead) > 0 || !slices.Equal(r.Missed, []string{"crash 2 at 8 after 0 sends"}) {
		t.Errorf("dead %v, missed %v", r.Dead, r.Missed)
	}
	same(t, "2, whose crash was called off", steps(r, 2, trace.Crash, trace.Recover, trace.Timeout), "4 crash", "6 recover", "16 timeout: soon")
	same(t, "1", steps(r, 1, suspects), "5 suspect 2")
}

// The events of a paused process wait, except its crash, after which no event of that life is left.
func TestAPauseEndsInTheLifeThatIsThen(t *testing.T) {
	r := live(t, 2, "pause 2 from 5 until 30", "crash 2 at 8")
	same(t, "a timer of a crashed process", steps(r, 2)[2:], "5 fault: pause 2", "8 crash", "30 heal: pause 2")
	r = live(t, 2, "pause 2 from 5 until 30", "crash 2 at 12") // the timer has expired, and waits
	same(t, "a timer that had expired", steps(r, 2)[2:], "5 fault: pause 2", "12 crash", "30 heal: pause 2")
	r = live(t, 2, "pause 2 from 0 until 5", "pause 2 from 10 until 30")
	same(t, "two pauses", steps(r, 2), "0 fault: pause 2", "5 heal: pause 2", "5 start", "5 receive 1: 101", "10 fault: pause 2",
		"30 heal: pause 2", "30 timeout: soon")
	r = live(t, 2, "pause 2 from 5 until 30", "crash 2 at 12", "recover 2 at 14")
	same(t, "a life that begins when the pause ends", steps(r, 2)[2:], "5 fault: pause 2", "12 crash", "30 heal: pause 2", "30 recover", "40 timeout: soon")
	r = live(t, 3, "pause 2 from 5 until 30", "crash 3 at 8", "recover 3 at 12")
	same(t, "a process pauses while another crashes and recovers", steps(r, 2, suspects, trusts, gets)[2:], "30 receive 3: 201", "30 receive 3: 202")
	r = live(t, 3, "pause 2 from 5 until 30", "crash 3 at 8")
	same(t, "a process pauses while another crashes", steps(r, 2, suspects, trusts, gets)[2:], "30 suspect 3")
	r = live(t, 3, "pause 2 from 2 until 30", "cut 1 -> 2 from 3 until 50")
	same(t, "a process pauses while a cut begins", steps(r, 2, suspects, trusts), "30 suspect 1", "50 trust 1")
	r = live(t, 3, "crash 2 at 1", "recover 2 at 2", "pause 2 from 3 until 30", "cut 1 -> 2 from 5")
	same(t, "in its second life", steps(r, 2, suspects, trusts), "30 suspect 1")
	r = live(t, 3, "pause 2 from 2 until 30", "cut 1 -> 2 from 3 until 20", "crash 1 at 6", "recover 1 at 25")
	same(t, "while all that it would suspect has ended", steps(r, 2, suspects, trusts))
	r = live(t, 3, "pause 2 from 0 until 30", "crash 2 at 8")
	same(t, "one that dies before it has started", steps(r, 2), "0 fault: pause 2", "8 crash", "30 heal: pause 2", "30 lost 1: 101", "30 lost 3: 101", "30 lost 3: 103")
}

func TestAHostAsksNothingOfACrashedProcess(t *testing.T) {
	for line, want := range map[string]int{"crash 2 at 4": 0, "crash 2 at 6": 1} {
		o := simulate.Options{Setup: numbered(2), Delay: 1, Record: true, Faults: scripted(t, 2, line), Commands: []simulate.Command{{Process: 1, At: election.Units(5)}}}
		if asked := steps(run(t, small(diary), o), 2, trace.Command); len(asked) != want {
			t.Errorf("%s: %v", line, asked)
		}
	}
}

// Of three timers none outlives a crash, whatever the next life does.
func TestACrashStopsAllTimers(t *testing.T) {
	sets := election.Algorithm[uint8, struct{}]{
		Declaration: election.Declaration{
			Name: "sets", Topology: election.Complete, Timing: election.Timed, Task: election.Service, Survives: election.Crash | election.Recovery,
			Kinds: []election.MessageKind{{Name: "none"}}, Timers: []string{"first", "second", "third"},
		},
		New: func(election.Local) uint8 { return 0 },
		Start: func(_ *uint8, out *election.Out[struct{}]) {
			for timer := range election.Timer(3) {
				out.After(timer, election.Units(10+uint64(timer)))
			}
		},
		Receive: func(*uint8, election.Port, election.Kind, struct{}, *election.Out[struct{}]) {},
		Timeout: func(*uint8, election.Timer, *election.Out[struct{}]) {},
		Recover: func(*uint8, *election.Out[struct{}]) {},
	}
	for _, c := range []struct {
		lines []string
		want  []string
	}{
		{nil, []string{"10 timeout: first", "11 timeout: second", "12 timeout: third"}},
		{[]string{"crash 2 at 4", "recover 2 at 5"}, nil},
		{[]string{"crash 2 at 11", "recover 2 at 11"}, []string{"10 timeout: first"}},
	} {
		o := simulate.Options{Setup: numbered(2), Delay: 1, Record: true, Faults: scripted(t, 2, c.lines...)}
		same(t, fmt.Sprint(c.lines), steps(run(t, small(sets), o), 2, trace.Timeout), c.want...)
	}
}

// The work of a crashed process may continue until its lease ends: a process that leads before then does not lead alone.
func TestACrashDoesNotEndALease(t *testing.T) {
	leads := election.Algorithm[election.ID, struct{}]{
		Declaration: election.Declaration{
			Name: "leads", Topology: election.Complete, Timing: election.Timed, Task: election.Service, Leased: true, Survives: election.Crash,
			Kinds: []election.MessageKind{{Name: "none"}}, Timers: []string{"turn"},
		},
		New: func(l election.Local) election.ID { return l.ID },
		Start: func(id *election.ID, out *election.Out[struct{}]) {
			out.After(0, election.Units(10*uint64(*id)))
		},
		Receive: func(*election.ID, election.Port, election.Kind, struct{}, *election.Out[struct{}]) {},
		Timeout: func(id *election.ID, _ election.Timer, out *election.Out[struct{}]) {
			out.LeadUntil(out.Deadline(election.Units(50)), election.Term(*id))
		},
	}
	for lines, holds := range map[string]bool{"crash 1 at 5": true, "crash 1 at 15": false, "crash 1 at 25": false} {
		r, err := simulate.New(small(leads)).Run(simulate.Options{Setup: numbered(2), Delay: 1, Faults: scripted(t, 2, lines)})
		if err != nil || (len(r.Faults) == 0) != holds {
			t.Errorf("%s: %+v, %v", lines, r.Faults, err)
		}
	}
}
