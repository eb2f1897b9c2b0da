//go:build !js

package report

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"ringleader.example/ringleader"
)

// NoQuorum is what goes with the Bully algorithm in a demo, and in the help of join.
const NoQuorum = "Bully keeps no quorum: each side of a network partition elects a leader of its own."

// JoinEvent is one line of join --json.
type JoinEvent struct {
	Event string    `json:"event"` // started, role, lease or stopped
	ID    uint64    `json:"id"`
	Time  time.Time `json:"time"`

	PID    int    `json:"pid,omitempty"` // of started
	Listen string `json:"listen,omitempty"`
	HTTP   string `json:"http,omitempty"`

	Role   ringleader.Role `json:"role,omitempty"` // of role
	Leader uint64          `json:"leader,omitempty"`
	Term   *uint64         `json:"term,omitempty"`   // 0 with an algorithm without terms, and before the first term
	Until  *time.Time      `json:"until,omitempty"`  // when the lease of this member ends unless it is renewed; of role and lease
	Grants []Grant         `json:"grants,omitempty"` // the votes on which that lease rests
	Cause  string          `json:"cause,omitempty"`  // of role, if a lead has ended: why, as status has it in last_change
	Detail string          `json:"detail,omitempty"`
}

// Grant is a vote that counts for a leader.
type Grant struct {
	By    uint64    `json:"by"`
	Until time.Time `json:"until"`
}

// Member prints what happens to a member.
type Member struct {
	out    io.Writer
	json   bool
	id     uint64
	member *ringleader.Member
}

// NewMember returns what prints the events of a member, as JSON lines or for people.
func NewMember(out io.Writer, json bool, m *ringleader.Member) Member {
	return Member{out, json, m.Status().ID, m}
}

func (s Member) event(e JoinEvent, text string) {
	e.ID = s.id
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	if s.json {
		json.NewEncoder(s.out).Encode(e)
	} else {
		io.WriteString(s.out, memberLine(e.Time, s.id, text))
	}
}

// Started prints where the member listens.
func (s Member) Started(listen, http string) {
	text := fmt.Sprintf("started, process %d, on %s", os.Getpid(), listen)
	if http != "" {
		text += fmt.Sprintf(", status on http://%s/status", http)
	}
	begun := time.Now()
	if since := s.member.View().Since; since.Before(begun) { // its first role is printed later, with that time
		begun = since
	}
	s.event(JoinEvent{Event: "started", Time: begun, PID: os.Getpid(), Listen: listen, HTTP: http}, text)
}

// renewals is the interval at which Follow looks for renewals of a lease.
const renewals = 10 * time.Millisecond

// Follow prints each change of the member's view, until ctx is done or the member has stopped. With leases it prints each
// renewal, too.
func (s Member) Follow(ctx context.Context, leases bool) {
	views := make(chan ringleader.View)
	go func() {
		defer close(views)
		for v := range s.member.Observe(ctx) {
			select {
			case views <- v:
			case <-ctx.Done():
			}
		}
	}()
	var (
		view ringleader.View
		last time.Time // the end of the lease, as printed last
		told ringleader.LeaderChange
		look <-chan time.Time
	)
	for more := true; more; {
		select {
		case view, more = <-views:
			if !more {
				return
			}
			last = s.role(view, &told)
			look = nil
			if leases && !last.IsZero() {
				look = time.After(renewals)
			}
		case <-look:
			if until, grants := s.until(view); until.Sub(last) > time.Millisecond {
				last = until
				s.event(JoinEvent{Event: "lease", Term: &view.Term, Until: &until, Grants: grants}, "lease until "+until.Format("15:04:05.000"))
			}
			look = time.After(renewals)
		}
	}
}

// until returns when the lease ends of which a view tells, and the grants that run; zero if there is none.
func (s Member) until(v ringleader.View) (until time.Time, grants []Grant) {
	now, status := time.Now(), s.member.Status() // in this order: a pause between them makes the end early, not late
	if status.Lease == nil || status.Term != v.Term {
		return time.Time{}, nil
	}
	in := func(seconds float64) time.Time { return now.Add(time.Duration(seconds * float64(time.Second))) }
	for _, m := range status.Members {
		if m.Grant != nil && *m.Grant > 0 {
			grants = append(grants, Grant{m.ID, in(*m.Grant)})
		}
	}
	return in(*status.Lease), grants
}

// roleText returns the role of a member, its leader, 0 if it knows none, and the leader's term, for people.
func roleText(role ringleader.Role, leader, term uint64) (text string) {
	switch {
	case leader == 0:
		return "electing"
	case role == ringleader.Leader:
		text = "leader"
	default:
		text = fmt.Sprintf("follower of %d", leader)
	}
	if term > 0 {
		text += fmt.Sprintf(" in term %d", term)
	}
	return text
}

// because returns why the lead before a view has ended, if that was not told yet.
func (s Member) because(v ringleader.View, told *ringleader.LeaderChange) (cause, detail string) {
	c := s.member.Status().LastChange
	switch {
	case c == nil || c.From == nil || c.To == nil == v.Known || c.To != nil && *c.To != v.Leader: // the lead before is none, or the view is out of date
		return "", ""
	case told.From != nil && *told.From == *c.From && told.Cause == c.Cause && told.Detail == c.Detail && told.To == nil: // its successor is news, its end is not
		*told = *c
		return "", ""
	}
	*told = *c
	return c.Cause, c.Detail
}

// role prints the role of the member, its leader and its term, and why the lead before has ended. It returns the end of the lease.
func (s Member) role(v ringleader.View, told *ringleader.LeaderChange) (until time.Time) {
	e, text := JoinEvent{Event: "role", Time: v.Since, Role: v.Role, Leader: v.Leader, Term: &v.Term}, roleText(v.Role, v.Leader, v.Term)
	if until, e.Grants = s.until(v); !until.IsZero() {
		e.Until = &until
		text += ", lease until " + until.Format("15:04:05.000")
	}
	if e.Cause, e.Detail = s.because(v, told); e.Cause != "" {
		text += "; the lead before has ended: " + e.Cause
		if e.Detail != "" {
			text += ": " + e.Detail
		}
	}
	s.event(e, text)
	return until
}

// Stopped prints that the member has stopped.
func (s Member) Stopped() { s.event(JoinEvent{Event: "stopped"}, "stopped") }
