package record

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
)

// Resolution is the unit of the readings of clocks in a record.
const Resolution = time.Microsecond

// Version is the version of the format. A reader skips the segments of others.
const Version = 2

// Clocks are the readings of the clocks of a member, since the start of this life. See package clock. Boottime is exact to one Resolution, Monotonic
// to a hundred; at steps it is what the member expects, who notices a suspension of five milliseconds.
type Clocks struct{ Monotonic, Boottime time.Duration }

// Head is what a segment begins with.
type Head struct {
	Version     int
	Group       string   // the member's first group: all members belong to it
	Member      uint64   // its identifier
	Store       string   // the identity of its store, in hexadecimal; empty: it has none
	Incarnation uint64   // of this life
	Segment     uint64   // the number of the segment, which goes on in the next life
	Wall        int64    // the wall clock when the life began, at Begun, in nanoseconds since 1970
	Begun       Clocks   // the readings of the clocks at that moment; see [Head.Joint]
	Boot        string   // names this start of the operating system, and clocks that are not the machine's: see [Boot]; empty: it is not known
	Program     string   // the version of the program
	Algorithm   string   // its name
	Schema      string   // of the algorithm's states and messages: a machine with another one cannot replay this
	Members     []uint64 // the members that are known, by position, when the segment begins
	Unit        time.Duration
	Heartbeat   time.Duration
	Suspicion   time.Duration
	Stall       time.Duration
	Hang        time.Duration // 0: the member is not watched
	Entitled    time.Duration // how long an answered request prolongs a lease, at most
	Shortest    time.Duration // likewise, at least; 0: the same
	Drift       float64       `json:",omitempty"` // by which part the clocks of members may be wrong
	Every       int           // one of so many steps that are as predicted has a check of the state
	Tail        string        `json:",omitempty"` // names the memory of this machine that has the last entries of the life, if that was killed
	Joined      bool          `json:",omitempty"` // the entries in that memory are in the segment, or have been written: only a reader sets it
	Changes     bool          // the segment has nothing but changes of the leader, of many lives, with their own times
}

// AtLeast returns how long any answered request prolongs a lease.
func (h *Head) AtLeast() time.Duration { return cmp.Or(h.Shortest, h.Entitled) }

// EndsLease returns what may end a lease, if something takes so long.
func (h *Head) EndsLease() time.Duration { return max(h.AtLeast()/2, 50*time.Millisecond) }

// mark tells the blocks of a segment from those of another one whose head is lost.
func (h *Head) mark() uint32 {
	return crc32.Checksum(fmt.Appendf(nil, "%q %d %s %d %d %t", h.Group, h.Member, h.Store, h.Incarnation, h.Segment, h.Changes), castagnoli)
}

// Time returns the wall clock at a reading, as it would be if nobody had set it since the life began.
func (h *Head) Time(at Clocks) time.Time { return time.Unix(0, h.Wall).Add(at.Boottime) }

// Joint returns a reading of Boottime that is comparable between all members with the same Boot: they have the same clock. It reports false if
// Boot is not known.
func (h *Head) Joint(at Clocks) (boottime time.Duration, known bool) {
	return h.Begun.Boottime + at.Boottime, h.Boot != ""
}

// Start returns what names the start of the operating system in Boot.
func (h *Head) Start() string { return start(h.Boot) }

func start(boot string) string {
	start, _, _ := strings.Cut(boot, " ")
	return start
}

// Place is where an entry is.
type Place struct {
	Segment uint64 // see [Head.Segment]
	Block   int    // in the segment, from 1 on
	Entry   int    // in the block, from 1 on
}

// Entry is one thing that a record has.
type Entry struct {
	Place Place
	At    Clocks
	Group string // its name, which may be empty; empty, too, if the entry concerns all groups of the member
	Body  Body
}

// Body is the content of an entry: a pointer to one of the types below.
type Body interface{ kind() kind }

type kind uint8

// The kinds. They are part of the format: new ones come at the end.
const (
	kindStep kind = 1 + iota // in full
	kindClock
	kindSnapshot
	kindStart
	kindGroup
	kindMembers
	kindFlush
	kindLapse
	kindDecision
	kindChange
	kindVoters
	kindConnected
	kindLost
	kindDialed
	kindProof
	kindTold
	kindStanding
	kindDisk
	kindLate
	kindSuspended
	kindPublished
	kindMuted
	kindGap
	kindNote
	kindEnd
	kinds

	kindPredicted kind = 0x80 // and above: a step that is as predicted, of the class that the other bits name
)

// Start is the start of a life, before anything else. It is in the first segment of a life only.
type Start struct {
	Recovering bool // it is not the first life
}

// Group is that the member has joined a group.
type Group struct {
	Limits   string // the lengths that members should have in common, in words
	Entitled time.Duration
}

// Snapshot is the state of the machine of a group before the step that follows. It is before the first step of each group in a segment.
type Snapshot struct {
	Members    []uint64          // that the machine knows, by position: the identifier of rank i + 1
	Position   int               // of this member
	Priorities []uint16          // by position; nil: none are given
	Parameters map[string]string // of the algorithm
	Ticks      uint64            // the time of the state
	State      []byte            // as package codec encodes it at that time, with its constants
	Decision   Decision
	Voters     *Voters `json:",omitempty"` // those that the member knows; nil: an older version of the program has written it
}

// Voting returns the voters that a snapshot has: without agreed ones all members but the last ones, which are on standby.
func (s *Snapshot) Voting() *Voters {
	if s.Voters != nil {
		return s.Voters
	}
	standby, _ := strconv.Atoi(s.Parameters["standby"])
	return &Voters{Members: s.Members[:max(0, min(len(s.Members), len(s.Members)-standby))]}
}

// Members is that the machine of a group knows more members from now on, or that its members have other priorities.
type Members struct {
	Members    []uint64
	Priorities []uint16
	Parameters map[string]string
}

// Step is a step of the machine of a group.
type Step struct {
	Input   process.Input
	Peer    uint64 // the member behind the port of Input, if that is Received, Suspected or Trusted
	Ticks   uint64 // the time that the machine was given, in units
	Choices []Choice
	Sent    []Message
	Effects []election.Effect // that are no messages
	Durable bool              // the effects waited until the state was durable: see the Flush that follows

	// Check is a checksum of the state after the step, if Checked.
	Check   uint8
	Checked bool

	// Checks makes the check when the writer wants one, if Checked is false; nil: there is none. A reader has none.
	Checks func() uint8
}

// check makes the check, if it can.
func (s *Step) check() {
	if !s.Checked && s.Checks != nil {
		s.Check, s.Checked = s.Checks(), true
	}
}

// Choice is a random choice of a step.
type Choice struct{ Among, Value uint32 }

// Message is a message that a step sends. The bytes of a message are the same at its receiver, in Step.Input.Message.
type Message struct {
	Peer    uint64 // the receiver; it may be the sender itself
	Port    election.Port
	Kind    election.Kind
	Phase   int
	Dropped bool // it did not leave: messages of this kind are muted
	Payload []byte
}

// Idle stands for steps of one block that [Segment.Notable] leaves out: each was as predicted.
type Idle struct {
	Steps    int
	From, To Clocks // the first and the last one
}

// Flush is the end of a use of the storage: a save, which steps may have waited for.
type Flush struct {
	Took   time.Duration
	Bytes  int
	Groups int    // whose last step waited
	Error  string // empty: it succeeded
}

// Lapse is that the host has ended the lead of this member, since its lease has run out.
type Lapse struct {
	Until time.Duration // the end of the lease, on Boottime
}

// Decision is what the member shows, after a change. The ends of leases are in the effects of steps.
type Decision struct {
	Role   string // undecided, follower, leader
	Leader uint64 // 0: none is known
	Term   uint64
	Until  time.Duration // the end of the lease of this member, if it leads, on Boottime; 0: none
}

// Change is a change of the known leader.
type Change struct {
	Time   time.Time // wall clock
	From   uint64    // the leader before; 0: none was known
	To     uint64    // 0: none is known yet
	Term   uint64    // of To, or of the lead that has ended
	Cause  string
	Detail string // the evidence, for people
	Since  int64  `json:",omitempty"` // in a segment of changes: the incarnation of the member that tells it
}

// Voters are the agreed voters, after a change.
type Voters struct {
	Term, Version uint64
	Members       []uint64
	Kept          int // known to keep them
}

// Connected is that a peer is heard from.
type Connected struct {
	Peer, Incarnation uint64
	Wrongly           bool // it was suspected in this same life
}

// Lost is that a peer is not heard from any more.
type Lost struct {
	Peer   uint64
	Reason string
	Silent time.Duration // since its last frame that was no heartbeat
}

// Dialed is the outcome of an attempt to connect to a peer, if it differs from the one before.
type Dialed struct {
	Peer  uint64
	Error string // empty: it has succeeded
}

// Proof is that a life of a peer, and all before it, are proven dead.
type Proof struct{ Peer, Incarnation uint64 }

// Reason is an error that a record may have as text, and other members may be told: it has no text of the program's users.
type Reason string

// Error implements error.
func (r Reason) Error() string { return string(r) }

// Told is that a leader has told why its lead ends: a peer, or this member.
type Told struct {
	Peer, Term    uint64
	Cause, Detail string
}

// Standing is how a member stands for election from now on: a health check, the progress of its work, or its disk may have made it unable.
type Standing struct {
	Peer   uint64 // it may be this member
	Weight uint16
	Unable string // why it may not lead; empty: it may
}

// Disk is that the storage ceases to work, or works again.
type Disk struct {
	Problem string // empty: it works
	Lasts   time.Duration
}

// Late is that the loop of the member has stood still, or woke late.
type Late struct{ By time.Duration }

// Suspended is that the machine was suspended.
type Suspended struct{ For time.Duration }

// Published is that the leader publishes a value in a term.
type Published struct {
	Peer, Term uint64
	Length     int
	Value      string `json:",omitempty"` // only if the configuration allows that
}

// Muted is that a peer or this member drops messages by request of a test.
type Muted struct {
	Kinds uint32 // a bit for each
	For   time.Duration
}

// Gap is that entries are missing: the buffer of the recorder was full.
type Gap struct {
	Entries int
	From    Clocks
}

// Note is anything else that is worth a record: from is the part of the program that says it.
type Note struct{ From, Text string }

// End is the end of a life in order. A life without one was killed, or its record stopped.
type End struct{ Reason string }

// Unknown is an entry of a kind that this version does not know.
type Unknown struct {
	Kind    uint8
	Content []byte
}

func (*Start) kind() kind     { return kindStart }
func (*Group) kind() kind     { return kindGroup }
func (*Snapshot) kind() kind  { return kindSnapshot }
func (*Members) kind() kind   { return kindMembers }
func (*Step) kind() kind      { return kindStep }
func (*Idle) kind() kind      { return 0 } // is never written
func (*Flush) kind() kind     { return kindFlush }
func (*Lapse) kind() kind     { return kindLapse }
func (*Decision) kind() kind  { return kindDecision }
func (*Change) kind() kind    { return kindChange }
func (*Voters) kind() kind    { return kindVoters }
func (*Connected) kind() kind { return kindConnected }
func (*Lost) kind() kind      { return kindLost }
func (*Dialed) kind() kind    { return kindDialed }
func (*Proof) kind() kind     { return kindProof }
func (*Told) kind() kind      { return kindTold }
func (*Standing) kind() kind  { return kindStanding }
func (*Disk) kind() kind      { return kindDisk }
func (*Late) kind() kind      { return kindLate }
func (*Suspended) kind() kind { return kindSuspended }
func (*Published) kind() kind { return kindPublished }
func (*Muted) kind() kind     { return kindMuted }
func (*Gap) kind() kind       { return kindGap }
func (*Note) kind() kind      { return kindNote }
func (*End) kind() kind       { return kindEnd }
func (u *Unknown) kind() kind { return kind(u.Kind) }

// bodies are the bodies that are JSON, by their kinds.
var bodies = map[kind]func() Body{
	kindSnapshot:  func() Body { return new(Snapshot) },
	kindStart:     func() Body { return new(Start) },
	kindGroup:     func() Body { return new(Group) },
	kindMembers:   func() Body { return new(Members) },
	kindFlush:     func() Body { return new(Flush) },
	kindLapse:     func() Body { return new(Lapse) },
	kindDecision:  func() Body { return new(Decision) },
	kindChange:    func() Body { return new(Change) },
	kindVoters:    func() Body { return new(Voters) },
	kindConnected: func() Body { return new(Connected) },
	kindLost:      func() Body { return new(Lost) },
	kindDialed:    func() Body { return new(Dialed) },
	kindProof:     func() Body { return new(Proof) },
	kindTold:      func() Body { return new(Told) },
	kindStanding:  func() Body { return new(Standing) },
	kindDisk:      func() Body { return new(Disk) },
	kindLate:      func() Body { return new(Late) },
	kindSuspended: func() Body { return new(Suspended) },
	kindPublished: func() Body { return new(Published) },
	kindMuted:     func() Body { return new(Muted) },
	kindGap:       func() Body { return new(Gap) },
	kindNote:      func() Body { return new(Note) },
	kindEnd:       func() Body { return new(End) },
}
