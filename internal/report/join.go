package report

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"ringleader.example/ringleader"
)

// NoQuorum is the warning that goes with every live use of the Bully algorithm.
const NoQuorum = "Bully keeps no quorum: each side of a network partition elects a leader of its own."

// JoinEvent is one line of join --json.
type JoinEvent struct {
	Event string    `json:"event"` // started, role or stopped
	ID    uint64    `json:"id"`
	Time  time.Time `json:"time"`

	PID    int    `json:"pid,omitempty"` // of started
	Listen string `json:"listen,omitempty"`
	HTTP   string `json:"http,omitempty"`

	Role   ringleader.Role `json:"role,omitempty"` // of role
	Leader uint64          `json:"leader,omitempty"`
	Term   *uint64         `json:"term,omitempty"` // 0 as long as the algorithm has no terms
}

// Member prints what happens to a member.
type Member struct {
	Out  io.Writer
	JSON bool
	ID   uint64
}

func (s Member) event(e JoinEvent, text string) {
	e.ID, e.Time = s.ID, time.Now()
	if s.JSON {
		json.NewEncoder(s.Out).Encode(e)
	} else {
		fmt.Fprintf(s.Out, "%s  %d %s\n", e.Time.Format("15:04:05.000"), s.ID, text)
	}
}

// Started prints where the member listens.
func (s Member) Started(listen, http string) {
	text := fmt.Sprintf("started, process %d, on %s", os.Getpid(), listen)
	if http != "" {
		text += fmt.Sprintf(", status on http://%s/status", http)
	}
	s.event(JoinEvent{Event: "started", PID: os.Getpid(), Listen: listen, HTTP: http}, text)
}

// Role prints the role of the member, and its leader.
func (s Member) Role(l ringleader.View) {
	text := "electing"
	switch {
	case l.Role == ringleader.Leader:
		text = "leader"
	case l.Known:
		text = fmt.Sprintf("follower of %d", l.Leader)
	}
	s.event(JoinEvent{Event: "role", Role: l.Role, Leader: l.Leader, Term: &l.Term}, text)
}

// Stopped prints that the member has stopped.
func (s Member) Stopped() { s.event(JoinEvent{Event: "stopped"}, "stopped") }
