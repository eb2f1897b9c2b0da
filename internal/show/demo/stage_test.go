package demo

import (
	"context"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/observe"
	"ringleader.example/ringleader/internal/show/report"
)

// newStaged returns a quorum demo with a stage.
func newStaged(n int) *demo {
	d, _ := newQuorumDemo(n)
	d.stage = NewStage(3)
	d.show.stage = d.stage
	return d
}

func TestTheStageTakesCommandsForMembersAndLinksOnly(t *testing.T) {
	for line, want := range map[string]string{
		"quit": "ends in its terminal", " exit ": "ends in its terminal", "help": "unknown command", "status": "unknown command",
		"": "no command", " \n\t": "no command", "rm -rf /": "unknown command", "cut" + strings.Repeat(" ", mostLine): "at most 200 bytes",
		"kill 3": "", "heal": "", " cut 1 | 2": "", "resign": "",
	} {
		err := permitted(line)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}

func TestAWrongCommandOfTheStageIsAnAnswerAndNotTheEnd(t *testing.T) {
	d := newStaged(3)
	d.strike("start", time.Now())
	for _, line := range []string{"kill", "kill 9", "kill 18446744073709551616", "kill 3\nkill 2", "cut", "cut 1 | 1", "transfer 2", "resume 1", "slow 0"} {
		if err := d.act(line); err == nil {
			t.Errorf("%q is obeyed", line)
		}
	}
	s, _ := d.stage.Board.Read(0)
	if len(s.Lines) != 18 || s.Lines[0].Kind != observe.Command || s.Lines[1].Kind != observe.Remark {
		t.Errorf("the stage shows %+v", s.Lines)
	}
}

func TestACommandOfTheStageIsAnsweredByTheDemo(t *testing.T) {
	d := newStaged(3)
	d.strike("start", time.Now())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error)
	go func() { ended <- d.run(ctx, input{silent: true}, Options{}) }()
	if err := d.stage.Act(ctx, "cut 1 | 2,3"); err != nil {
		t.Error(err)
	}
	if err := d.stage.Act(ctx, "cut 9 | 1"); err == nil || !strings.Contains(err.Error(), "from 1 to 3") {
		t.Errorf("a wrong cut: %v", err)
	}
	if err := d.stage.Act(ctx, "quit"); err == nil {
		t.Error("the stage ends the demo")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := d.stage.Act(ctx, "heal"); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("after the end: %v", err)
	}
	s, _ := d.stage.Board.Read(0)
	if len(s.Cut) != 2 || s.Cut[0] != [2]observe.ID{1, 2} || s.Cut[1] != [2]observe.ID{1, 3} {
		t.Errorf("cut are %v", s.Cut)
	}
}

func TestTheStageShowsTheVotesOfALeader(t *testing.T) {
	d := newStaged(3)
	now := time.Now()
	d.stage.begin(now)
	d.strike("start", now)
	d.leases(now, 3, 1, 2, 60_000)
	d.publish()
	s, _ := d.stage.Board.Read(0)
	if g := s.Members[2].Grants; len(g) != 1 || g[0].By != 3 || g[0].Left < 50_000 || s.Members[0].Grants != nil {
		t.Errorf("the grants are %+v, and those of a follower %+v", g, s.Members[0].Grants)
	}
	later := now.Add(90 * time.Second)
	d.hear(news{of: d.members[2], by: d.members[2].process, at: now, said: &report.JoinEvent{Event: "lease", Until: &later, Grants: []report.Grant{{By: 1, Until: later}}}})
	d.publish()
	if s, _ = d.stage.Board.Read(0); len(s.Members[2].Grants) != 1 || s.Members[2].Grants[0].By != 1 {
		t.Errorf("after a renewal the grants are %+v", s.Members[2].Grants)
	}
	d.follows(now, 3, 0, 1, 4)
	d.publish()
	if s, _ = d.stage.Board.Read(0); s.Members[2].Grants != nil {
		t.Errorf("after its lead it has the grants %+v", s.Members[2].Grants)
	}
}

func TestTheStageShowsLeadersFromTheirBeginningToTheEndOfTheirLeases(t *testing.T) {
	d := newStaged(3)
	now := time.Now()
	d.stage.begin(now)
	d.strike("start", now)
	d.leases(now, 3, 1, 2, 60_000)
	d.follows(now, 1, 3, 1, 3)
	d.follows(now, 2, 3, 1, 3)
	d.publish()
	s, _ := d.stage.Board.Read(0)
	if m := s.Members[2]; m.Role != "leader" || m.Term != 1 || m.Lease == nil || m.Lease.Left < 50_000 || s.Members[0].Leader != 3 || s.Members[0].Lease != nil {
		t.Errorf("the members are %+v", s.Members)
	}
	if r := s.Reigns; len(r) != 1 || r[0].From != 2 || !r[0].Goes || *r[0].Until != 60_000 {
		t.Errorf("the reigns are %+v", r)
	}
	d.follows(now, 3, 0, 1, 4)
	d.leases(now, 2, 2, 7, 500)
	d.publish()
	s, _ = d.stage.Board.Read(0)
	if r := s.Reigns; len(r) != 2 || r[0].Goes || *r[0].Until != 4 || r[0].Term != 1 || r[1].Leader != 2 || r[1].Term != 2 || r[1].From != 7 {
		t.Errorf("the reigns are %+v", r)
	}
	if last := s.Lines[len(s.Lines)-1]; last.Kind != observe.Leads || !strings.HasPrefix(last.Text, "2 is leader") {
		t.Errorf("the last line is %+v", last)
	}
}

func TestADemoWithAStageGoesOnWhenItsInputEnds(t *testing.T) {
	for _, staged := range []bool{true, false} {
		d, _ := newQuorumDemo(1)
		if staged {
			d.stage = NewStage(3)
		}
		d.strike("start", time.Now())
		in := input{silent: staged}
		if quit, err := d.line(&in, "heal", true, true); quit || err != nil || len(d.faults) != 2 {
			t.Fatalf("healed: %v, %v", quit, err)
		}
		if quit, _ := d.line(&in, "", false, true); quit == staged {
			t.Errorf("with a stage: %v; the demo quits: %v", staged, quit)
		}
	}
}
