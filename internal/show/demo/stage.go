package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/observe"
)

// Stage shows a demo in another place than its output, and takes commands there.
type Stage struct {
	Board *observe.Board

	asked  chan request
	past   []observe.Reign // that have ended
	folder atomic.Value    // a string: that of all members
}

// request is a command from the stage.
type request struct {
	line   string
	answer chan<- error
}

// NewStage returns the stage of a demo with so many members.
func NewStage(members int) *Stage {
	title := "A process on this machine"
	if members > 1 {
		title = fmt.Sprintf("%d processes on this machine", members)
	}
	return &Stage{Board: observe.NewBoard(title), asked: make(chan request)}
}

// within notes the folder of the members. A demo without a stage has nothing to note.
func (s *Stage) within(folder string) {
	if s != nil {
		s.folder.Store(folder)
	}
}

// Folder returns the folder with the data of all members; empty: the demo has not begun. Any goroutine may call it.
func (s *Stage) Folder() string {
	folder, _ := s.folder.Load().(string)
	return folder
}

// mostLine is the largest length of a command in bytes: a cut of [MostMembers] members has less.
const mostLine = 200

// permitted returns why a line is no command of the stage. Commands that print, or end the demo, are for its terminal.
func permitted(line string) error {
	words := strings.Fields(line)
	switch {
	case len(line) > mostLine:
		return fmt.Errorf("a command has at most %d bytes", mostLine)
	case len(words) == 0:
		return errors.New("there is no command")
	case words[0] == "quit" || words[0] == "exit":
		return errors.New("the demo ends in its terminal, by Ctrl-C or quit")
	}
	var offered []string
	for _, verb := range verbs {
		if verb = strings.TrimSpace(verb); verb != "status" && verb != "help" && verb != "quit" {
			offered = append(offered, verb)
		}
	}
	if !slices.Contains(offered, words[0]) {
		return fmt.Errorf("unknown command %q; choose one of %s", words[0], strings.Join(offered, ", "))
	}
	return nil
}

// Act carries out a command, like a line that is typed. Any goroutine may call it.
func (s *Stage) Act(ctx context.Context, line string) error {
	if err := permitted(line); err != nil {
		return err
	}
	answer := make(chan error, 1)
	select {
	case s.asked <- request{strings.TrimSpace(line), answer}:
	case <-ctx.Done():
		return errors.New("the demo does not answer; it may have ended")
	}
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return errors.New("the demo has not answered in time")
	}
}

// requests returns the commands that the stage takes; nil without a stage.
func (s *Stage) requests() <-chan request {
	if s == nil {
		return nil
	}
	return s.asked
}

// begin sets the beginning of the demo.
func (s *Stage) begin(at time.Time) {
	if s != nil {
		s.Board.Begin(at)
		s.Board.Say(at, observe.Remark, "the processes start")
	}
}

// command shows a command that is about to be obeyed.
func (s *Stage) command(line string) {
	if s != nil && permitted(line) == nil {
		s.Board.Say(time.Now(), observe.Command, strings.TrimSpace(line))
	}
}

// act obeys a command of the stage. Its error does not end the demo.
func (d *demo) act(line string) error {
	d.stage.command(line)
	_, err := d.obey(line)
	if err != nil {
		d.stage.Board.Say(time.Now(), observe.Remark, err.Error())
	}
	return err
}

// mirror shows an event on the stage.
func (s *display) mirror(e Event) {
	if s.stage == nil || e.Event == "running" || e.Event == "lease" {
		return // the stage shows both as they go on
	}
	kind := observe.Fault
	switch {
	case e.Event == "role" && e.ID == e.Leader:
		kind = observe.Leads
	case e.Event == "role":
		kind = observe.Change
	case e.Event == "agreed":
		kind = observe.Remark
	}
	text, _ := s.sentence(e)
	s.stage.Board.Say(e.Time, kind, text)
}

// ended notes a reign that has ended.
func (s *Stage) ended(r reign, term uint64) {
	if s == nil {
		return
	}
	s.past = append(s.past, observe.Reign{Leader: observe.ID(r.id), Term: observe.ID(term), Begin: r.from, End: r.until})
	if extra := len(s.past) - observe.MostReigns; extra > 0 {
		s.past = slices.Delete(s.past, 0, extra)
	}
}

// publish shows the group on the stage, if there is one.
func (d *demo) publish() {
	if d.stage == nil {
		return
	}
	s := observe.State{Algorithm: d.algorithm, Acts: true, Reigns: slices.Clone(d.stage.past)}
	for _, m := range d.members {
		s.Members = append(s.Members, d.observed(m))
		for _, other := range d.members[m.id:] {
			if d.apart(m.id, other.id) {
				s.Cut = append(s.Cut, [2]observe.ID{observe.ID(m.id), observe.ID(other.id)})
			}
		}
		if !m.leads.IsZero() {
			r := observe.Reign{Leader: observe.ID(m.id), Term: observe.ID(m.tenure), Begin: m.leads, Goes: true}
			if d.leased(m) {
				r.End = m.until
			}
			s.Reigns = append(s.Reigns, r)
		}
	}
	slices.SortStableFunc(s.Reigns, func(a, b observe.Reign) int { return a.Begin.Compare(b.Begin) })
	d.stage.Board.Show(s)
}

// observed returns what the demo knows of a member.
func (d *demo) observed(m *member) observe.Member {
	o := observe.Member{
		ID: observe.ID(m.id), Place: "http://" + m.http + "/status", Slow: d.slow[m.id] > 0,
		Condition: [...]observe.Condition{running: observe.Running, paused: observe.Paused, ended: observe.Ended}[m.condition],
	}
	if m.condition == ended {
		return o
	}
	o.PID, o.Role, o.Leader, o.Term = m.process.itself().Pid, m.role, observe.ID(m.leader), observe.ID(m.term)
	if d.lapsed(m, time.Now()) {
		o.Role, o.Leader, o.Term = ringleader.Electing, 0, 0
	}
	if !m.leads.IsZero() && d.leased(m) {
		o.Until = m.until
		for _, g := range m.grants {
			o.Grants = append(o.Grants, observe.Grant{By: observe.ID(g.By), Until: g.Until})
		}
	}
	return o
}
