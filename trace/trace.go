package trace

import (
	"fmt"
	"math"

	"ringleader.example/ringleader/election"
)

// Format is the version of the JSON lines.
const Format = 1

// Record is one execution.
type Record struct {
	Header
	Steps []Step
}

// Header describes the run.
type Header struct {
	Format     int               `json:"format"`
	Algorithm  string            `json:"algorithm"`
	Title      string            `json:"title"`
	Topology   string            `json:"topology"`
	N          int               `json:"n"`
	IDs        []uint64          `json:"ids,omitempty"`   // by position; none on an anonymous network
	Edges      [][2]int          `json:"edges,omitempty"` // of a tree
	Timing     string            `json:"timing"`
	Schedule   string            `json:"schedule,omitempty"`
	Delay      uint64            `json:"delay,omitempty"`     // the longest, if delays differ
	Unordered  bool              `json:"unordered,omitempty"` // messages on one link may overtake each other
	Seed       uint64            `json:"seed"`
	Parameters map[string]string `json:"parameters,omitempty"`
	Changed    []string          `json:"changed,omitempty"` // parameters whose values are not their defaults
	Kinds      []Kind            `json:"kinds"`
	Clock      bool              `json:"clock"` // whether steps have times
}

// Kind is a declared kind of message.
type Kind struct {
	Name  string `json:"name"`
	Class string `json:"class"` // election, announcement or overhead
}

// Event is the kind of a step.
type Event string

// The events.
const (
	Start   Event = "start"   // it started by itself
	Receive Event = "receive" // a message arrived
	Timeout Event = "timeout" // a timer expired
	Crash   Event = "crash"
	Recover Event = "recover"
	Suspect Event = "suspect" // its failure detector suspects another process
	Trust   Event = "trust"   // … and ends the suspicion
	Command Event = "command" // its host asked for something
	Fault   Event = "fault"   // a fault of the process, or of links, begins: Text names it
	Heal    Event = "heal"    // … and ends
	Lost    Event = "lost"    // a message arrived at a crashed process, or was lost on the way to this one
)

// Hastened is the text of the fault that the deadlines of a process come a step early, in lazy time.
const Hastened = "its deadlines come a step early"

// Amid returns the text of a crash amid a step, of whose messages some have left.
func Amid(left, of int) string { return fmt.Sprintf("after %d of %d messages", left, of) }

// Step is one event with all its effects on the process.
type Step struct {
	Number  int            `json:"step"`    // from 1
	Time    election.Ticks `json:"time"`    // 0 without a clock
	Process int            `json:"process"` // position
	Event   Event          `json:"event"`
	Message int            `json:"message,omitempty"` // receive, lost: the number of the message
	From    int            `json:"from,omitempty"`    // receive, lost: the sender's position + 1; suspect, trust: of the other process
	Port    int            `json:"port"`              // receive, suspect, trust: the port, as the process calls it; else -1
	Kind    string         `json:"kind,omitempty"`    // receive, lost: of the message
	Text    string         `json:"text,omitempty"`    // of the message; the timer's name; the command; of the fault; how a crash came
	Drew    []Draw         `json:"drew,omitempty"`    // its random choices, in order
	Sent    []Sent         `json:"sent,omitempty"`
	Timers  []Timer        `json:"timers,omitempty"`
	Decided []Decision     `json:"decided,omitempty"`
	State   string         `json:"state,omitempty"`  // after the step
	Broken  string         `json:"broken,omitempty"` // how the step broke the contract of package election; it then has no effects
	Lines   []int          `json:"lines,omitempty"`  // of the algorithm's text, in order, if the run was asked for them: where the step sent, set timers and decided

	MessageValue Value `json:"-"` // the message, if the run was asked for values
	StateValue   Value `json:"-"` // the state, if the run was asked for values
}

// Bytes returns, about, the size of a step as a line of a file.
func (s *Step) Bytes() int {
	const line, message = 100, 60
	size := line + len(s.Text) + len(s.State) + message*(len(s.Drew)+len(s.Timers)+len(s.Decided))
	for i := range s.Sent {
		size += message + len(s.Sent[i].Text)
	}
	return size
}

// Draw is a random choice of a step.
type Draw struct {
	Value uint32 `json:"value"`
	Among uint32 `json:"among"` // the number of values, from 0 on, that were as likely
}

// Drawn returns random choices as one number, by which a session of package simulate repeats them: one more than the number whose digits are the values,
// the first one least, each to the base of how many values there are. 0: there are none, or they have too many values.
func Drawn(all []Draw) uint64 {
	number, ways := uint64(0), uint64(1)
	for _, d := range all {
		if d.Among == 0 || ways > math.MaxUint32 {
			return 0
		}
		number, ways = number+uint64(d.Value)*ways, ways*uint64(d.Among)
	}
	return number + min(1, uint64(len(all)))
}

// Sent is a message that a step sent.
type Sent struct {
	Message int    `json:"message"` // its number, from 1, in the order of sending
	To      int    `json:"to"`      // position
	Port    int    `json:"port"`    // that it left on
	Kind    string `json:"kind"`
	Text    string `json:"text,omitempty"`
	Copies  int    `json:"copies,omitempty"` // the number of additional arrivals that links cause
	Value   Value  `json:"-"`                // the message, if the run was asked for values
}

// Timer is a change of a timer.
type Timer struct {
	Name  string          `json:"timer"`
	After *election.Ticks `json:"after,omitempty"` // nil: stopped
}

// Decision is the decision of a step.
type Decision struct {
	Role   string          `json:"role"`             // leader, follower or undecided
	Leader *uint64         `json:"leader,omitempty"` // identifier of the leader; nil if it is not known
	Term   uint64          `json:"term,omitempty"`
	Lease  *election.Ticks `json:"lease,omitempty"` // the time for which it leads, if bounded
}
