package trace

import (
	"errors"
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// Moment is the joint state of all processes at one moment of a run, in which another run can begin. Lengths of time are from that moment on.
type Moment struct {
	Schema    string     `json:"schema"`    // of the states and messages: another version of the algorithm may not read them
	Processes []Standing `json:"processes"` // by position
	UnderWay  []Flight   `json:"under_way,omitempty"`
	Proofs    []Death    `json:"proofs,omitempty"` // the deaths that wardens have proven
}

// Standing is a process at a moment.
type Standing struct {
	State    []byte         `json:"state"`             // as package codec encodes it; of a crashed process only what is durable matters; empty: newborn
	Life     uint64         `json:"life,omitempty"`    // the number that its host has given to its life; 0: none
	Crashed  bool           `json:"crashed,omitempty"` // and has not recovered
	Asleep   bool           `json:"asleep,omitempty"`  // it has yet to start
	Stopping bool           `json:"stopping,omitempty"`
	Alarms   []Alarm        `json:"alarms,omitempty"` // the timers that run
	Role     network.Role   `json:"role,omitempty"`
	Leader   election.ID    `json:"leader,omitempty"` // its rank; 0: none
	Term     election.Term  `json:"term,omitempty"`
	Lease    election.Ticks `json:"lease"`              // for how long its work counts as done under a lease
	Suspects []int          `json:"suspects,omitempty"` // ports
}

// Alarm is a timer that runs.
type Alarm struct {
	Timer    election.Timer `json:"timer"`
	Left     election.Ticks `json:"left"`
	Deadline bool           `json:"deadline,omitempty"` // it is set at a deadline
}

// Flight is a message under way. Those of one link are in the order of sending.
type Flight struct {
	From    int           `json:"from"` // position
	Port    int           `json:"port"` // that it left on
	Kind    election.Kind `json:"kind"`
	Content []byte        `json:"content"` // as package codec encodes it
}

// Death is a proven death of a life of a process.
type Death struct {
	Member election.ID `json:"member"` // its rank
	Number uint64      `json:"number"` // its incarnation
}

// Resumed is the text of the command with which a process goes on at a moment.
const Resumed = "go on from here"

// Decision returns what the process has decided.
func (s *Standing) Decision() network.Decision {
	return network.Decision{Term: s.Term, Leader: s.Leader, Role: s.Role}
}

// Steps returns the steps with which the record of a run begins that begins at the moment: each process that has started goes on, with its messages
// under way, its timers and what it has decided. State returns the text of a state, and text that of a message under way, by its place.
func (m *Moment) Steps(d *election.Declaration, p *network.Instance, state func(position int) string, text func(place int) string) (all []Step) {
	messages := 0
	add := func(s Step) {
		s.Number, s.Port = len(all)+1, -1
		all = append(all, s)
	}
	for q := range m.Processes {
		now := &m.Processes[q]
		s := Step{Process: q, Event: Command, Text: Resumed, State: state(q)}
		for i := range m.UnderWay {
			f := &m.UnderWay[i]
			if f.From != q {
				continue
			}
			messages++
			to, _ := p.Network.End(p.Network.First(q) + uint32(f.Port))
			s.Sent = append(s.Sent, Sent{Message: messages, To: to, Port: f.Port, Kind: d.Kinds[f.Kind].Name, Text: text(i)})
		}
		for _, a := range now.Alarms {
			s.Add(election.Effect{Op: election.SetTimer, Timer: a.Timer, Ticks: a.Left}, d.Timers, p, q)
		}
		switch {
		case now.Crashed:
		case now.Role == network.Leader:
			s.Add(election.Effect{Op: election.Lead, Term: now.Term, Ticks: now.Lease, Deadline: true}, d.Timers, p, q)
		case now.Role == network.Follower:
			s.Add(election.Effect{Op: election.Follow, Term: now.Term, ID: now.Leader}, d.Timers, p, q)
		}
		if len(s.Sent) > 0 || !now.Crashed && !now.Asleep {
			add(s)
		}
		if now.Crashed {
			add(Step{Process: q, Event: Crash})
		}
	}
	return all
}

// Check returns an error if the moment is not one of a run of an algorithm on a network. Schema is that of the algorithm.
func (m *Moment) Check(d *election.Declaration, p *network.Instance, schema string) error {
	switch {
	case m.Schema != schema:
		return errors.New("another version of the algorithm has written it, and only that one can read it")
	case len(m.Processes) != p.Size():
		return fmt.Errorf("it has %d processes, and the network %d", len(m.Processes), p.Size())
	}
	known := func(id election.ID, none bool) bool { return id <= election.ID(p.Size()) && (id > 0 || none) }
	for q := range m.Processes {
		s := &m.Processes[q]
		switch {
		case s.Role > network.Leader || !known(s.Leader, true):
			return fmt.Errorf("%s has decided what does not exist", p.Name(q))
		case s.Crashed && s.Asleep:
			return fmt.Errorf("%s has crashed, and has yet to start", p.Name(q))
		}
		for _, a := range s.Alarms {
			if int(a.Timer) >= len(d.Timers) {
				return fmt.Errorf("%s has timer %d; %d are declared", p.Name(q), a.Timer, len(d.Timers))
			}
		}
		for _, port := range s.Suspects {
			if port < 0 || port >= p.Network.Degree(q) {
				return fmt.Errorf("%s suspects what is behind port %d, which it does not have", p.Name(q), port)
			}
		}
	}
	if err := m.checkUnderWay(d, p); err != nil {
		return err
	}
	for _, death := range m.Proofs {
		if !known(death.Member, false) {
			return errors.New("the death of a member is proven that does not exist")
		}
	}
	return nil
}

func (m *Moment) checkUnderWay(d *election.Declaration, p *network.Instance) error {
	for _, f := range m.UnderWay {
		switch {
		case f.From < 0 || f.From >= p.Size():
			return fmt.Errorf("position %d has sent a message; there are 0 to %d", f.From, p.Size()-1)
		case f.Port < 0 || f.Port >= p.Network.Degree(f.From):
			return fmt.Errorf("%s has sent a message on port %d, which it does not have", p.Name(f.From), f.Port)
		case int(f.Kind) >= len(d.Kinds):
			return fmt.Errorf("%s has sent a message of kind %d; %d are declared", p.Name(f.From), f.Kind, len(d.Kinds))
		}
	}
	return nil
}
