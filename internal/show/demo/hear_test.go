package demo

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/show/report"
)

// group of members that run, and a demo of it that prints to a text.
func newDemo(n, columns int) (*demo, *strings.Builder) {
	g, out := &group{algorithm: ringleader.Bully}, &strings.Builder{}
	for id := range uint64(n) {
		g.members = append(g.members, &member{id: id + 1, process: &process{Process: &os.Process{Pid: int(id + 1)}}})
	}
	return &demo{group: g, show: &display{stdout: out, group: g, columns: columns}}, out
}

// says makes a member say its role, after so many milliseconds by its own clock and by the clock of the demo.
func (d *demo) says(begun time.Time, id uint64, said, heard int, role ringleader.Role, leader uint64) {
	m := d.members[id-1]
	at := func(ms int) time.Time { return begun.Add(time.Duration(ms) * time.Millisecond) }
	d.hear(news{of: m, by: m.process, at: at(heard), said: &report.JoinEvent{Event: "role", Time: at(said), Role: role, Leader: leader}})
}

func TestTimesAreThoseOfTheMembersHoweverLateTheyAreHeard(t *testing.T) {
	d, _ := newDemo(2, 80)
	now := time.Now()
	d.strike("start", now)
	d.says(now, 2, 5, 900, ringleader.Leader, 2)
	d.says(now, 1, 7, 2000, ringleader.Follower, 2)
	if f := d.faults[0]; f.led != 5*time.Millisecond || f.agreed != 7*time.Millisecond {
		t.Errorf("2 leads after %s, and all agree after %s", f.led, f.agreed)
	}
	for said, want := range map[int]int{-3: 50, 60: 50, 20: 20} { // a clock that was set is not used
		n := news{at: now.Add(50 * time.Millisecond), said: &report.JoinEvent{Time: now.Add(time.Duration(said) * time.Millisecond)}}
		if got := n.moment(now).Sub(now); got != time.Duration(want)*time.Millisecond {
			t.Errorf("said at %d ms, heard at 50: %s", said, got)
		}
	}
}

func TestTwoLeadersAtOnceMakeTheVerdict(t *testing.T) {
	for until, want := range map[int]struct {
		held bool
		text string
	}{
		34:  {true, "Passed: all running members agree on the highest of them. During takeovers there were two leaders at the same time, once, for 30 ms at most.\n"},
		404: {true, "once, for 400 ms at most.\n"},
		405: {false, "Property violated: two leaders at the same time, once, for 401 ms at most. A takeover takes less than 400 ms.\n"},
	} {
		d, out := newDemo(3, 200)
		now := time.Now()
		d.strike("start", now)
		d.says(now, 2, 1, 1, ringleader.Leader, 2)
		d.says(now, 3, 4, 4, ringleader.Leader, 3)
		d.says(now, 1, 5, 5, ringleader.Follower, 3)
		d.says(now, 2, until, until, ringleader.Follower, 3)
		held := d.verdict()
		d.show.summary(held, false, d.faults, d.rivalries, d.rivals)
		if !strings.Contains(out.String(), "2 and 3 were leaders at the same time for ") || !strings.Contains(out.String(), want.text) || held != want.held {
			t.Errorf("passed: %v\n%s\nwant %v and %q", held, out, want.held, want.text)
		}
	}
}

func TestADemoThatDisagreesDoesNotPass(t *testing.T) {
	for _, d := range []*demo{
		{group: &group{}},
		{group: &group{}, agreed: true, failed: true},
		{group: &group{}, interrupted: true, failed: true},
		{group: &group{}, interrupted: true, rivalries: []time.Duration{1}},
	} {
		if d.verdict() {
			t.Errorf("agreed %v, failed %v, interrupted %v: passed", d.agreed, d.failed, d.interrupted)
		}
	}
}

// A signal that ends the demo during an election is no failure, and the summary reports the election.
func TestADemoThatIsEndedDuringAnElectionHasNotFailed(t *testing.T) {
	for ago, held := range map[time.Duration]bool{0: true, patience: false} {
		d, out := newQuorumDemo(3)
		d.strike("start", time.Now().Add(-ago))
		ctx, end := context.WithCancel(t.Context())
		end()
		if err := d.run(ctx, input{silent: true}, Options{}); err != nil {
			t.Fatal(err)
		}
		d.show.summary(d.verdict(), d.interrupted, d.faults, nil, 0)
		if text := out.String(); d.verdict() != held || d.interrupted != held || strings.Contains(text, "Passed") || strings.Contains(text, "Ended while") != held {
			t.Errorf("ended after %v without agreement: passed %v, interrupted %v\n%s", ago, d.verdict(), d.interrupted, text)
		}
	}
}

// News of an end that comes late does not make two leaders of one after the other.
func TestLeadersOneAfterTheOtherAreNotReportedAsTwo(t *testing.T) {
	d, out := newDemo(3, 80)
	now := time.Now()
	d.strike("start", now)
	d.says(now, 2, 1, 1, ringleader.Leader, 2)
	d.says(now, 1, 2, 2, ringleader.Follower, 3)
	d.says(now, 3, 9, 9, ringleader.Leader, 3)
	d.says(now, 2, 8, 30, ringleader.Follower, 3)
	if len(d.rivalries) > 0 || strings.Contains(out.String(), "same time") || !d.agreed {
		t.Errorf("%v\n%s", d.rivalries, out)
	}
}

func TestManyMembersDoNotFloodTheScreen(t *testing.T) {
	for members, most := range map[int]int{5: 15, 40: 6} {
		d, out := newDemo(members, 80)
		now := time.Now()
		d.strike("start", now)
		d.show.heading()
		lines := strings.Count(out.String(), "\n")
		if lines > 16 {
			t.Errorf("the heading has %d lines", lines)
		}
		last := uint64(members)
		for id := range last - 1 {
			d.says(now, id+1, 1, 1, ringleader.Electing, 0)
		}
		d.says(now, 1, 2, 2, ringleader.Leader, 1)
		d.says(now, last, 3, 3, ringleader.Leader, last)
		for id := range last - 1 {
			d.says(now, id+1, 4, 4, ringleader.Follower, last)
		}
		if n := strings.Count(out.String(), "\n") - lines; n > most || !strings.Contains(out.String(), fmt.Sprintf("all %d agree", members)) {
			t.Errorf("%d members print %d lines\n%s", members, n, out)
		}
	}
}

func TestACommandIsCompletedByItsMembers(t *testing.T) {
	if got := completions("ki", 3); !slices.Contains(got, "kill ") || !slices.Contains(got, "quit") {
		t.Errorf("%q", got)
	}
	if got, want := completions("kill ", 2), []string{"kill leader", "kill 1", "kill 2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestADeathThatTheOthersNoticeFirstIsNotHeldAgainstTheFaultBefore(t *testing.T) {
	newMember := func(id uint64) *member {
		return &member{id: id, process: &process{Process: &os.Process{Pid: int(id)}}}
	}
	one, two := newMember(1), newMember(2)
	g := &group{members: []*member{one, two}, algorithm: ringleader.Bully}
	d := &demo{group: g, show: &display{stdout: io.Discard, group: g}}
	now := time.Now()
	says := func(m *member, role ringleader.Role, leader uint64) {
		d.hear(news{of: m, by: m.process, at: now, said: &report.JoinEvent{Event: "role", Role: role, Leader: leader}})
	}
	d.strike("start", now)
	says(two, ringleader.Leader, 2)
	says(one, ringleader.Follower, 2)
	says(one, ringleader.Electing, 0)
	if !d.faults[0].open {
		t.Error("for now it looks as if they had ceased to agree")
	}
	d.hear(news{of: two, by: two.process, at: now, condition: ended, ending: ending{how: "by signal: killed"}})
	says(one, ringleader.Leader, 1)
	if len(d.faults) != 2 || d.faults[0].open || d.faults[1].open || d.faults[0].leader != 2 || d.faults[1].leader != 1 {
		t.Errorf("the faults are %+v and %+v", d.faults[0], d.faults[1])
	}
}

func TestALeaseThatIsNotRenewedRunsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, out := newDemo(2, 80)
		d.show.begun = time.Now()
		m := d.members[1]
		m.leads, m.until, d.renewed = time.Now(), time.Now().Add(3*step), time.Now().Add(step)
		for d.waning() != nil {
			<-d.countdown()
			d.lapsing()
		}
		if n := strings.Count(out.String(), "the lease of 2 runs down"); n != 1 { // at two steps; at three it has ended
			t.Errorf("%d lines:\n%s", n, out)
		}
	})
}
