// Package observe describes a running group as an observer sees it: its members, its leases, and the history of its leaders. A
// source fills a [Board]; any number of readers watch it. [Members] is the source that asks members over their control interfaces;
// a demo is another one.
package observe

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"ringleader.example/ringleader"
)

// ID is the identifier of a member. In JSON it is text, since a browser has no whole numbers above 2^53.
type ID uint64

// MarshalText returns the decimal digits.
func (id ID) MarshalText() ([]byte, error) { return strconv.AppendUint(nil, uint64(id), 10), nil }

// Condition is what is known of the process of a member.
type Condition string

// The conditions.
const (
	Asking  Condition = "asking"  // it has not answered yet
	Running Condition = "running" // of a demo: its process runs; else: it answers
	Paused  Condition = "paused"  // its process is stopped
	Ended   Condition = "ended"   // there is no process of it
	Silent  Condition = "silent"  // it does not answer, and may run
	Unasked Condition = "unasked" // others name it, and its address is not known
)

// State is a group at a moment. Times are milliseconds since the observation began.
type State struct {
	Now       float64              `json:"now"`
	Title     string               `json:"title"`
	Algorithm ringleader.Algorithm `json:"algorithm,omitempty"` // absent while it is not known
	Acts      bool                 `json:"acts"`                // commands are obeyed
	Members   []Member             `json:"members"`             // by identifier
	Cut       [][2]ID              `json:"cut,omitempty"`       // pairs between which no message passes, as far as the observer knows
	Reigns    []Reign              `json:"reigns"`              // by their beginnings; the last [MostReigns]
	Lines     []Line               `json:"lines,omitempty"`     // that are new to the reader
	Last      int                  `json:"last"`                // the number of the last line
}

// Member is what is known of a member.
type Member struct {
	ID        ID              `json:"id"`
	Place     string          `json:"place,omitempty"` // where it answers
	PID       int             `json:"pid,omitempty"`
	Condition Condition       `json:"condition"`
	Problem   string          `json:"problem,omitempty"` // why it does not answer
	Role      ringleader.Role `json:"role,omitempty"`    // as it reported last; absent before that
	Leader    ID              `json:"leader,omitempty"`  // that it follows, perhaps itself; absent: none
	Term      ID              `json:"term,omitempty"`    // of that leader
	Lease     *Lease          `json:"lease,omitempty"`   // its own, while one runs
	Grants    []Grant         `json:"grants,omitempty"`  // that run, on which its lease rests
	Slow      bool            `json:"slow,omitempty"`    // its messages are delayed
	Witness   bool            `json:"witness,omitempty"`
	Standby   bool            `json:"standby,omitempty"`
	Unable    string          `json:"unable,omitempty"` // why it may not lead
	Why       []string        `json:"why,omitempty"`    // why it knows no leader
	Misses    []ID            `json:"misses,omitempty"` // members from which it does not hear

	Until time.Time `json:"-"` // the end of its lease; zero: it has none
}

// Lease is the lease of a leader.
type Lease struct {
	Left float64 `json:"left"` // ms, unless it is renewed
	Of   float64 `json:"of"`   // ms: the most that was left since this lead began
}

// Grant is a vote that counts for a leader.
type Grant struct {
	By   ID      `json:"by"`
	Left float64 `json:"left"` // ms, unless it is renewed

	Until time.Time `json:"-"`
}

// Reign is a time for which a member led.
type Reign struct {
	Leader ID       `json:"leader"`
	Term   ID       `json:"term,omitempty"`
	From   float64  `json:"from"`
	Before bool     `json:"before,omitempty"` // it led before the observation began
	Until  *float64 `json:"until,omitempty"`  // of one that goes on: when its lease ends; absent: it has none
	Goes   bool     `json:"goes,omitempty"`   // it goes on, and a lease may be renewed

	Begin, End time.Time `json:"-"`
}

// Line is something that happened, in words.
type Line struct {
	Number int     `json:"number"` // from 1
	At     float64 `json:"at"`
	Kind   Kind    `json:"kind"`
	Text   string  `json:"text"`
}

// Kind is the kind of a line.
type Kind string

// The kinds of lines.
const (
	Command Kind = "command" // that was given
	Fault   Kind = "fault"
	Change  Kind = "change" // of a role
	Leads   Kind = "leader" // a leader begins
	Remark  Kind = "remark"
)

// The limits of what a board keeps.
const (
	MostReigns = 100
	MostLines  = 300
)

// Board is what is known of a running group. One source writes it.
type Board struct {
	mu      sync.Mutex
	begun   time.Time
	state   State
	most    map[[2]ID]time.Duration // of each lease, by leader and term, the most that was left
	lines   []Line
	number  int // of the last line
	changed chan struct{}
}

// NewBoard returns a board for an observation that begins now.
func NewBoard(title string) *Board {
	return &Board{begun: time.Now(), state: State{Title: title}, most: map[[2]ID]time.Duration{}, changed: make(chan struct{})}
}

// Begin sets when the observation began. It comes before the first state and the first line.
func (b *Board) Begin(at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begun = at
}

// Show replaces the state by one with another value of everything but the lines and the title. The board keeps the slices.
func (b *Board) Show(s State) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.Title = b.state.Title
	if extra := len(s.Reigns) - MostReigns; extra > 0 {
		s.Reigns = s.Reigns[extra:]
	}
	b.state = s
	b.lease(time.Now())
	b.wake()
}

// lease notes how long the leases are.
func (b *Board) lease(now time.Time) {
	most := map[[2]ID]time.Duration{}
	for _, m := range b.state.Members {
		if left := m.Until.Sub(now); left > 0 {
			key := [2]ID{m.ID, m.Term}
			most[key] = max(b.most[key], left)
		}
	}
	b.most = most
}

// Say adds a line.
func (b *Board) Say(at time.Time, kind Kind, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.number++
	b.lines = append(b.lines, Line{Number: b.number, At: b.ms(at), Kind: kind, Text: text})
	if len(b.lines) > MostLines {
		b.lines = slices.Clone(b.lines[len(b.lines)-MostLines:])
	}
	b.wake()
}

func (b *Board) wake() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// ms returns a time in milliseconds since the observation began.
func (b *Board) ms(at time.Time) float64 { return inMS(at.Sub(b.begun)) }

func inMS(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// running returns the grants that still run, with what is left of them.
func running(all []Grant, now time.Time) (run []Grant) {
	for _, g := range all {
		if g.Left = inMS(g.Until.Sub(now)); g.Left > 0 {
			run = append(run, g)
		}
	}
	return run
}

// Read returns the state at this moment with the lines that came after a number, and a channel that is closed after the next change.
func (b *Board) Read(after int) (s State, changed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	s = b.state
	s.Now, s.Last = b.ms(now), b.number
	s.Members = append([]Member{}, s.Members...)
	for i := range s.Members {
		m := &s.Members[i]
		if left := m.Until.Sub(now); left > 0 {
			m.Lease = &Lease{Left: inMS(left), Of: inMS(b.most[[2]ID{m.ID, m.Term}])}
		}
		m.Grants = running(m.Grants, now)
	}
	s.Reigns = append([]Reign{}, s.Reigns...)
	for i := range s.Reigns {
		r := &s.Reigns[i]
		r.From = b.ms(r.Begin)
		if !r.End.IsZero() {
			until := b.ms(r.End)
			r.Until = &until
		}
		r.Goes = r.Goes && (r.End.IsZero() || now.Before(r.End))
	}
	s.Lines = slices.Clone(b.lines[max(0, len(b.lines)-max(0, b.number-after)):])
	return s, b.changed
}
