package demo

import (
	"io"
	"os"
	"testing"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/report"
)

func TestADeathThatTheOthersNoticeFirstIsNotHeldAgainstTheFaultBefore(t *testing.T) {
	newMember := func(id uint64) *member {
		return &member{id: id, process: &process{Process: &os.Process{Pid: int(id)}}}
	}
	one, two := newMember(1), newMember(2)
	g := &group{members: []*member{one, two}}
	d := &demo{group: g, show: &display{stdout: io.Discard, members: g.members}}
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
