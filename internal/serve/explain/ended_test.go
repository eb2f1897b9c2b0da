package explain_test

import (
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/explain/explaintest"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/ringleadertest"
)

// A leader that is stopped learns that its lease has ended when another one has led for long, and a lead is over when its lease is.
func TestALeadEndsWithItsLeaseThoughItsLeaderWakesLater(t *testing.T) {
	directory := explaintest.Recorded(t, "", 3, func(c *ringleadertest.Cluster) {
		c.Pass(time.Second)
		c.Stop(3)
		c.Pass(40 * time.Second) // longer than what is read around a change
		c.Continue(3)
		c.Pass(time.Second)
	})
	records, err := record.Open(t.Context(), directory)
	if err != nil {
		t.Fatal(err)
	}
	g := explain.Of(records).Groups[0]
	c := change(t, g, 3, explain.StoodStill)
	if nobody := c.Begun.Sub(c.Ended); c.Cause != explain.StoodStill || nobody <= 0 || nobody > time.Second || nobody.Seconds() != c.Nobody {
		t.Errorf("%s from %v to %v, %v s without a leader", c.Cause, c.Ended, c.Begun, c.Nobody)
	}
	if s := g.Scene(len(g.Changes) - 1); s.Lasts > 5*time.Second || len(s.Arrows) == 0 {
		t.Errorf("the scene lasts %v and has %d arrows", s.Lasts, len(s.Arrows))
	}
}

// All members stood still, and nobody led meanwhile. The last renewal is further from the end than what is read around that.
func TestTheLastLeaseOfALongStopIsFound(t *testing.T) {
	directory := explaintest.Recorded(t, "", 3, func(c *ringleadertest.Cluster) {
		c.Pass(30 * time.Second)
		for id := uint64(1); id <= 3; id++ {
			c.Stop(id)
		}
		c.Pass(60 * time.Second)
		for id := uint64(1); id <= 3; id++ {
			c.Continue(id)
		}
		c.AwaitAny()
		c.Pass(time.Second)
	})
	records, err := record.Open(t.Context(), directory)
	if err != nil {
		t.Fatal(err)
	}
	if c := change(t, explain.Of(records).Groups[0], 3, explain.StoodStill); c.Nobody < 58 || c.Nobody > 62 {
		t.Errorf("%v s without a leader: %+v", c.Nobody, c)
	}
}

// Without the record of the leader, its followers tell when its lead has ended. One that stood still tells it too late.
func TestAFollowerThatWakesLateDoesNotProlongALead(t *testing.T) {
	one, two, three := byHand(1, "m", 0), byHand(2, "m", 0), byHand(3, "m", 0)
	for _, h := range []*hand{one, two} {
		h.add(100, &record.Decision{Role: "follower", Leader: 9, Term: 1})
	}
	one.add(700, &record.Decision{Role: "undecided", Term: 1})
	three.leads(1100, 3, 2, 1600)
	one.add(1110, &record.Decision{Role: "follower", Leader: 3, Term: 2})
	two.add(8000, &record.Decision{Role: "follower", Leader: 3, Term: 2})
	c := explain.Of(record.Parse("test", archived(one, two, three))).Groups[0].Changes[1]
	if c.Nobody != 0.4 || c.Begun.Sub(c.Ended) != 400*time.Millisecond {
		t.Errorf("%+v", c)
	}
}

// A leader that was closed while it was stopped has no lapse in its record. Its last renewal tells the end of its lease.
func TestALeadEndsWithItsLastLease(t *testing.T) {
	one, two := byHand(1, "m", 0), byHand(2, "m", 0)
	one.leads(100, 1, 1, 600)
	one.add(400, &record.Step{
		Input: process.Input{What: process.Expired}, Ticks: 400,
		Effects: []election.Effect{{Op: election.Lead, Term: 1, Deadline: true, Ticks: election.Ticks{Lo: 500}}},
	})
	two.add(110, &record.Decision{Role: "follower", Leader: 1, Term: 1})
	two.leads(1100, 2, 2, 1600)
	one.add(7000, &record.Decision{Role: "undecided", Term: 1})
	one.add(7000, &record.End{})
	if c := explain.Of(record.Parse("test", archived(one, two))).Groups[0].Changes[1]; c.Nobody != 0.2 {
		t.Errorf("%+v", c)
	}
}

// A follower stands still, and then its leader is killed. What the follower hears when it wakes has waited for it: the record of the leader is whole, and its lead has ended long before.
func TestWhatAFollowerHearsAsItWakesDoesNotProlongALead(t *testing.T) {
	for name, proven := range map[string]bool{"without a warden": false, "with one": true} {
		one, two, three := byHand(1, "m", 0), byHand(2, "m", 0), byHand(3, "m", 0)
		one.leads(100, 1, 1, 575)
		one.leads(1500, 1, 1, 1975)
		for _, h := range []*hand{two, three} {
			h.add(110, &record.Connected{Peer: 1, Incarnation: 1})
			h.add(110, &record.Decision{Role: "follower", Leader: 1, Term: 1})
		}
		two.add(1530, &record.Lost{Peer: 1, Reason: ending})
		if proven {
			two.add(1540, &record.Proof{Peer: 1, Incarnation: 1})
		}
		three.add(6000, &record.Late{By: 5 * time.Second})
		three.receives(6001, 1, 3, "one")
		three.leads(6020, 3, 2, 6500)
		three.add(6100, &record.End{})
		c := explain.Of(record.Parse("test", archived(one, two, three))).Groups[0].Changes[1]
		want := explain.Likely
		if proven {
			want = explain.Certain
		}
		if c.Cause != explain.Killed || c.Certainty != want || c.Nobody != 4.52 {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// A record may be of anybody: its texts change no terminal.
func TestTextsOfRecordsAreShownAsTheyAre(t *testing.T) {
	one := byHand(1, "m", 0)
	one.leads(100, 1, 1, 600)
	one.add(300, &record.Told{Peer: 1, Term: 1, Cause: "unhealthy", Detail: "a\x1b[2J \u202eb\x07 \xff \"é\""})
	one.add(300, &record.Decision{Role: "undecided", Term: 1})
	one.add(400, &record.End{})
	var text strings.Builder
	explain.Of(record.Parse("test", archived(one))).WriteText(&text)
	if !strings.Contains(text.String(), `health (certain): a\x1b[2J \u202eb\a � "é"`) {
		t.Errorf("%q", text.String())
	}
}

// Three of six members are on standby. Two voters are down, and the members on standby tell nothing about the lease.
func TestMembersOnStandbyAreNoVoters(t *testing.T) {
	for name, s := range map[string]*record.Snapshot{
		"by the parameters":     {Members: []uint64{1, 2, 3, 4, 5, 6}, Parameters: map[string]string{"standby": "3"}},
		"by the agreed voters":  {Members: []uint64{1, 2, 3, 4, 5, 6}, Parameters: map[string]string{"standby": "1"}, Voters: &record.Voters{Term: 1, Version: 2, Members: []uint64{1, 2, 3}}},
		"by the first of them":  {Members: []uint64{1, 2, 3, 4, 5, 6}, Voters: &record.Voters{Members: []uint64{1, 2, 3}}},
		"not by wrong ones":     {Members: []uint64{1, 2, 3}, Parameters: map[string]string{"standby": "9"}},
		"not by negative ones":  {Members: []uint64{1, 2, 3}, Parameters: map[string]string{"standby": "-9"}},
		"not by ones that fail": {Members: []uint64{1, 2, 3}, Parameters: map[string]string{"standby": "x"}},
	} {
		var all []*hand
		for id := uint64(1); id <= 6; id++ {
			h := byHand(id, "m", 0, func(h *record.Head) { h.Members = s.Members })
			h.add(10, s)
			all = append(all, h)
		}
		all[0].leads(100, 1, 1, 600)
		all[1].add(120, &record.End{})
		all[2].add(120, &record.End{})
		all[0].add(600, &record.Lapse{Until: 600 * time.Millisecond})
		all[0].add(600, &record.Decision{Role: "candidate", Term: 1})
		for _, i := range []int{0, 3, 4, 5} {
			all[i].add(2000, &record.End{})
		}
		c := explain.Of(record.Parse("test", archived(all...))).Groups[0].Changes[1]
		if few := len(s.Members) == 3; !few && (c.Cause != explain.Followers || strings.Contains(strings.Join(c.Evidence, " "), "member 4")) {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// A record tells the machine of its own member only.
func TestTheMachineOfMembersWithoutARecordIsNotTold(t *testing.T) {
	const here = "all members whose record is here ran on one machine: they had the same clock"
	for n, want := range []string{"", "", here, strings.Replace(here, " whose record is here", "", 1)} {
		var all []*hand
		for id := range uint64(n) {
			all = append(all, byHand(id+1, "m", 0))
		}
		for _, g := range explain.Of(record.Parse("test", archived(all...))).Groups {
			if got := strings.Join(g.Clocks, ""); got != want {
				t.Errorf("with %d records it says %q", n, got)
			}
		}
	}
}
