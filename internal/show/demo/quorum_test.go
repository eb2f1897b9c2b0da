package demo

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/show/report"
)

// leases makes a member say that it leads, with a lease.
func (d *demo) leases(begun time.Time, id, term uint64, said, until int) {
	at := func(ms int) time.Time { return begun.Add(time.Duration(ms) * time.Millisecond) }
	end, m := at(until), d.members[id-1]
	d.hear(news{of: m, by: m.process, at: at(said), said: &report.JoinEvent{
		Event: "role", Time: at(said), Role: ringleader.Leader, Leader: id, Term: &term, Until: &end, Grants: []report.Grant{{By: id, Until: end}},
	}})
}

// follows makes a member say that it follows another, or none.
func (d *demo) follows(begun time.Time, id, leader, term uint64, said int) {
	role, at, m := ringleader.Follower, begun.Add(time.Duration(said)*time.Millisecond), d.members[id-1]
	if leader == 0 {
		role = ringleader.Electing
	}
	d.hear(news{of: m, by: m.process, at: at, said: &report.JoinEvent{Event: "role", Time: at, Role: role, Leader: leader, Term: &term}})
}

func newQuorumDemo(n int) (*demo, *strings.Builder) {
	d, out := newDemo(n, 200)
	d.algorithm, d.slow = ringleader.QuorumBully, map[uint64]time.Duration{}
	return d, out
}

// A leader that is paused or cut off may tell late, or never, that its lease has ended.
func TestLeasesAreComparedAndNotWhatMembersNoticeLate(t *testing.T) {
	for next, held := range map[int]bool{500: true, 499: false} {
		d, out := newQuorumDemo(3)
		now := time.Now()
		d.strike("start", now)
		d.leases(now, 3, 1, 1, 400)
		d.follows(now, 1, 3, 1, 2)
		d.follows(now, 2, 3, 1, 2)
		until := now.Add(500 * time.Millisecond)
		d.hear(news{of: d.members[2], by: d.members[2].process, at: now.Add(90 * time.Millisecond), said: &report.JoinEvent{Event: "lease", Until: &until}})
		if !d.agreed {
			t.Fatal("they do not agree")
		}
		if err := d.cut(" leader | rest"); err != nil {
			t.Fatal(err)
		}
		d.leases(now, 2, 2, next, next+500)
		d.follows(now, 1, 2, 2, next+1)
		d.follows(now, 3, 0, 1, next+300)
		d.show.summary(d.verdict(), false, d.faults, d.rivalries, 0)
		if d.verdict() != held || !d.agreed || strings.Contains(out.String(), "Property violated: two leaders") == held {
			t.Errorf("the next leads after %d ms: passed %v\n%s", next, d.verdict(), out)
		}
	}
}

// A member whose lease has run out shows the beginning of its lead as the time of the change. Its lead had a length all the same.
func TestALeadEndsWithItsLeaseIfTheMemberDoesNotTellWhen(t *testing.T) {
	d, _ := newQuorumDemo(3)
	now := time.Now()
	d.strike("start", now)
	d.leases(now, 3, 1, 1, 400)
	d.hear(news{of: d.members[2], by: d.members[2].process, at: now.Add(410 * time.Millisecond), said: &report.JoinEvent{
		Event: "role", Time: now.Add(time.Millisecond), Role: ringleader.Electing,
	}})
	if len(d.reigns) != 1 || d.reigns[0].until.Sub(now) != 400*time.Millisecond {
		t.Errorf("the reigns are %+v", d.reigns)
	}
}

func TestTheMembersAgreeIfEachThatReachesAMajorityFollowsOneLeader(t *testing.T) {
	for _, c := range []struct {
		cut     string
		leader  uint64 // 0: none
		follow  []uint64
		astray  bool // a member that does not reach the leader still follows it
		agreed  bool
		members int
	}{
		{"", 5, []uint64{1, 2, 3, 4}, false, true, 5},
		{"", 5, []uint64{1, 2, 3}, false, false, 0},
		{"", 0, nil, false, false, 0},
		{"4,5 | rest", 3, []uint64{1, 2}, false, true, 3},
		{"4,5 | rest", 3, []uint64{1, 2}, true, false, 0},
		{"4,5 | rest", 0, nil, false, false, 0},
		{"1,2 | 3,4 | 5", 0, nil, false, true, 0},
		{"1,2 | 3,4 | 5", 5, nil, false, false, 0}, // it leads until its lease ends
		{"4 | 5", 5, []uint64{1, 2, 3}, false, true, 4},
	} {
		d, _ := newQuorumDemo(5)
		now := time.Now()
		d.strike("start", now)
		if c.cut != "" {
			if err := d.cut(c.cut); err != nil {
				t.Fatal(err)
			}
		}
		if c.leader != 0 {
			d.leases(now, c.leader, 1, 1, 500)
		}
		for id := range uint64(5) {
			switch {
			case id+1 == c.leader:
			case slices.Contains(c.follow, id+1) || c.astray && id == 4:
				d.follows(now, id+1, c.leader, 1, 2)
			default:
				d.follows(now, id+1, 0, 1, 2)
			}
		}
		if _, members, agreed := d.agreeing(); agreed != c.agreed || len(members) != c.members {
			t.Errorf("%+v: agreed %v, members %d", c, agreed, members)
		}
	}
}

func TestACutThatMakesNoSenseIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"1,2": "two sides at least", "1 | 9": "members from 1 to 3", "1 | 1,2": "one side of a cut only", "leader | rest": "no running member is leader",
	} {
		d, _ := newQuorumDemo(3)
		if err := d.cut(text); err == nil || !strings.Contains(err.Error(), want) || d.sides != nil {
			t.Errorf("cut %s: %v, want %q", text, err, want)
		}
	}
}

// The members that report late are those that were paused. Nobody tells the demo of the end of their lease.
func TestAResumedMemberWhoseLeaseHasEndedIsDrawnAsNoLeader(t *testing.T) {
	d, out := newQuorumDemo(3)
	d.stage = NewStage(3)
	d.show.stage = d.stage
	begun := time.Now().Add(-time.Hour)
	d.strike("start", begun)
	d.leases(begun, 3, 1, 1, 400)
	d.follows(begun, 1, 3, 1, 2)
	d.follows(begun, 2, 3, 1, 2)
	changes := func(id uint64, to condition, ms int) {
		m := d.members[id-1]
		d.hear(news{of: m, by: m.process, at: begun.Add(time.Duration(ms) * time.Millisecond), condition: to})
	}
	changes(3, paused, 90)
	d.leases(begun, 2, 2, 500, int(2*time.Hour/time.Millisecond))
	d.follows(begun, 1, 2, 2, 501)
	out.Reset()
	changes(3, running, 900)
	d.show.status()
	if text := out.String(); !strings.Contains(text, " 2 ● ?     2") || strings.Count(text, "leader, term") != 1 {
		t.Errorf("with a lease that has ended, 3 is drawn so:\n%s", text)
	}
	if o := d.observed(d.members[2]); o.Role != ringleader.Electing || o.Leader != 0 || o.Term != 0 {
		t.Errorf("the stage shows %+v", o)
	}
	d.follows(begun, 3, 2, 2, 901)
	if !d.agreed || len(d.rivalries) > 0 {
		t.Errorf("agreed: %v, rivalries %v", d.agreed, d.rivalries)
	}
}

func TestHalvesOfAGroupNeedNoLeader(t *testing.T) {
	d, _ := newQuorumDemo(4)
	now := time.Now()
	d.strike("start", now)
	d.sides = map[uint64]int{1: 1, 2: 1, 3: 2, 4: 2}
	for id := uint64(1); id <= 4; id++ {
		d.follows(now, id, 0, 1, 1)
	}
	if !d.agreed {
		t.Error("they disagree, though none of them can lead")
	}
}

// The lease of a leader that is paused runs on: others may lead only after it.
func TestALeaderThatIsPausedLeadsUntilItsLeaseEnds(t *testing.T) {
	d, _ := newQuorumDemo(3)
	now := time.Now()
	d.strike("start", now)
	d.leases(now, 3, 1, 1, 400)
	d.members[2].condition = paused
	d.lead(now.Add(100 * time.Millisecond))
	if d.members[2].leads.IsZero() || len(d.reigns) > 0 {
		t.Fatalf("it leads no more: %+v", d.reigns)
	}
	d.members[2].condition = ended
	d.lead(now.Add(500 * time.Millisecond))
	if len(d.reigns) != 1 || d.reigns[0].until.Sub(now) != 400*time.Millisecond {
		t.Errorf("the reigns are %+v", d.reigns)
	}
}

// led returns a demo of three members that agree on 3, and where what it tells a member goes.
func led(t *testing.T) (d *demo, out *strings.Builder, stdin *told) {
	t.Helper()
	d, out = newQuorumDemo(3)
	stdin = new(told)
	for _, m := range d.members {
		m.process.stdin = stdin
	}
	begun := time.Now().Add(-time.Second)
	d.strike("start", begun)
	d.leases(begun, 3, 1, 1, 2000)
	d.follows(begun, 1, 3, 1, 2)
	d.follows(begun, 2, 3, 1, 2)
	return d, out, stdin
}

// told is the standard input of members.
type told struct{ strings.Builder }

func (*told) Close() error { return nil }

// The leader may have changed by itself, to the one that a line of a pipe names.
func TestTheLeadThatIsHandedToTheLeaderIsNoWrongCall(t *testing.T) {
	d, out, stdin := led(t)
	if quit, err := d.command("transfer 3", false); quit || err != nil || !strings.Contains(out.String(), "3 is leader already\n") || stdin.Len() > 0 || !d.agreed {
		t.Errorf("quits %v, %v; the leader is told %q; agreed %v\n%s", quit, err, stdin, d.agreed, out)
	}
	if _, err := d.command("transfer 4", false); err == nil {
		t.Error("a transfer to a member that there is not is no wrong call")
	}
}

// The leader knows more than the demo: that its heir cannot lead. Nothing happens then.
func TestALeaderThatDoesNotHandOverIsStillLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, refused := range []bool{true, false} {
			d, out, stdin := led(t)
			if _, err := d.command("transfer 2", false); err != nil || stdin.String() != "transfer 2\n" || d.agreed {
				t.Fatalf("%v; the leader is told %q; agreed %v", err, stdin, d.agreed)
			}
			begun := time.Now()
			if !refused {
				d.follows(begun, 3, 0, 1, 5)
			}
			<-d.deadline(false)
			d.waited()
			passed := time.Since(begun)
			if text := out.String(); d.agreed != refused || d.failed == refused || strings.Contains(text, "all 3 agree: 3 is still leader") != refused || refused != (passed <= hesitation) {
				t.Errorf("refused %v; after %v: agreed %v, failed %v\n%s", refused, passed, d.agreed, d.failed, text)
			}
			if f := d.faults[1]; refused && (f.open || f.leader != 3 || f.led != 0 || f.number != 3) {
				t.Errorf("the fault is %+v", f)
			}
		}
	})
}
