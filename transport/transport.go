package transport

import (
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// Member holds the identifier and address of a member.
type Member struct {
	ID       uint64
	Address  string // host:port; see TCP.SRV, too
	Standby  bool   // it has no vote at first
	Unlisted bool   // it has a position, and is not in the list of members: it is not dialled, and refused
}

// Config determines the group and the member that a transport serves.
type Config struct {
	Self        int      // the position of this member in Members
	Members     []Member // at first; see [Transport.List]
	Group       Group
	Name        string   // of the group, in the certificates of its members, see MemberName
	Algorithm   string   // its name, for the reason of a refusal
	Incarnation uint64   // of this member; each life has a greater one
	Store       [16]byte // see Hello
	Death       [32]byte // see Hello
	Timing      Timing

	Log  *slog.Logger
	Post func(event any) // takes an event; it blocks while the member is busy, and returns at once after its end
}

// Hello returns this member's Hello to another.
func (c *Config) Hello(to uint64) Hello {
	return Hello{
		Group: c.Group, From: c.Members[c.Self].ID, To: to,
		Incarnation: c.Incarnation, Store: c.Store, Death: c.Death, Timing: c.Timing,
	}
}

// Judge returns the peer of a Hello, and refuses all others. Only the member knows whether that peer is connected
// already: see [Asked].
func (c *Config) Judge(h Hello) (peer int, v Verdict) {
	self := c.Members[c.Self].ID
	peer = slices.IndexFunc(c.Members, func(member Member) bool { return member.ID == h.From })
	no := func(format string, args ...any) (int, Verdict) {
		return peer, Verdict{Code: Refused, Reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case h.Group.Name != c.Group.Name:
		return no("member %d belongs to the group %.64q, and the process that dials it to another", self, c.Name)
	case h.Group.apart(&c.Group):
		return no("%s", differ(h.From, &h.Group, self, &c.Group))
	case h.Group.Algorithm != c.Group.Algorithm:
		return no("member %d runs another algorithm, or another version of %s", self, c.Algorithm)
	case h.From == self && h.Incarnation == c.Incarnation:
		return peer, Verdict{Code: RefusedSelf, Reason: "the address leads back to the process that dials it"}
	case h.From == self:
		return no("this is another process with id %d", self)
	case h.To == 0 && peer >= 0 && !c.Members[peer].Unlisted:
		return peer, Verdict{Code: Introduced}
	case h.To != self && h.To != 0:
		return no("this is member %d, not %d; its address is wrong in the list of members, or it listens at a wrong one", self, h.To)
	case peer < 0 || c.Members[peer].Unlisted:
		return no("the list of member %d has no member %d", self, h.From)
	case h.Timing.Heartbeat <= 0 || h.Timing.Heartbeat > longestHeartbeat:
		return no("a heartbeat each %v is none", h.Timing.Heartbeat)
	}
	return peer, Verdict{}
}

// Open makes a transport, which listens when Open returns, and lives until Close. [TCP.Open] is one; a program can have
// its own. An error means that nothing is left to close.
type Open func(Config) (Transport, error)

// Transport carries frames between a member and the others of its group. The member calls its methods, and those of
// its connections, from one goroutine. They return at once, except Close: they may wait neither for a peer nor for
// Post, which itself waits for the member.
//
// The package comment has the duties of an implementation.
type Transport interface {
	// Address returns where it listens, for people.
	Address() string

	// Serve begins to accept connections. It is called once.
	Serve()

	// Dial returns a new connection to the member at a position. It pauses for that time before the first attempt, and
	// tries until one succeeds; each attempt ends in [Dialed]. After that it ends in [Broken]. At most one connection
	// to each member is in use at a time. A connection to this member itself never succeeds: attempts that reach it end
	// in a [Refusal] with RefusedSelf.
	Dial(to int, rest time.Duration) Outgoing

	// List replaces the list of members. All have the positions that they had, and new ones follow. The error is that
	// connections to an address would not be secure; then nothing has changed.
	List(members []Member) error

	// Close sends goodbyes, ends all connections, and returns when no event can follow. The member calls it at its
	// end. From then on Post returns at once.
	Close()
}

// Outgoing is a connection that this member dials. Values are compared: it is a pointer.
type Outgoing interface {
	// Peer returns the position of the member that it leads to.
	Peer() int

	// Send queues a frame, as [AppendFrame] encodes it, and never blocks. The frame is not changed any more. Frames
	// leave in the order in which they were sent. Slot 0 is none: such a frame waits for its turn. Any other slot has
	// room for one frame: a newer frame replaces one that has not left yet, and waits at the end. The member gives
	// each of its frames that supersede each other a slot of its own. A frame that does not fit into the [Queue] ends
	// the connection, and no later frame arrives.
	Send(frame []byte, slot uint64)

	// Beat shows the peer that this member is live: by a heartbeat, unless a frame has left since the last call, and
	// seldom is as in that call. It never blocks. The member calls it at each interval of Timing.Heartbeat, or, after a call with seldom,
	// within Timing.Suspicion. No other code does: a member that hangs must be silent.
	Beat(seldom bool)

	// Nudge ends the pause between two attempts to connect: the peer was just heard.
	Nudge()

	// Close ends it, and drops queued frames. Broken follows if the connection has not ended yet.
	Close()
}

// Incoming is a connection that a peer dialed. Values are compared: it is a pointer.
type Incoming interface {
	// Peer returns the position of the member that dialed.
	Peer() int

	// Hello returns that member's Hello.
	Hello() Hello

	// Admit lets the connection be read, or refuses it; until then it waits. It is called at most once.
	Admit(read bool)

	// Taken reports that its last Message was taken: the next one may come. So each peer holds at most one place in
	// the member's queue.
	Taken()

	// Drain ends it after the data that has arrived is read.
	Drain()

	// Close ends it at once.
	Close()
}

// MaxTold is the largest size of a frame that comes back, in bytes.
const MaxTold = 512

// Teller is an [Incoming] that carries frames back, too. A transport need not have it. What the member sends on the connection that it
// dialed may wait for acknowledgements that do not arrive, because the other direction is cut. Nothing waits here.
type Teller interface {
	Incoming

	// Tell sends a frame of up to MaxTold bytes to the member that dialed, which gets it as [Told], or not at all. It never blocks.
	Tell(frame []byte)
}

// Seeker is a [Transport] that finds out which member is at an address. A transport need not be one.
type Seeker interface {
	Transport

	// Seek asks, once, which members of the group are at an address: host:port, or the name of an SRV record. A name may have several, and each attempt ends
	// in [Met]. It returns at once.
	Seek(address string)
}

// The events.
type (
	// Asked reports the Hello of a peer, which [Config.Judge] has accepted. It waits for the member's verdict. With
	// [TLS], the peer is authenticated.
	Asked struct {
		Peer   int // its position
		Hello  Hello
		Answer chan<- Verdict // takes one without blocking
	}

	// Arrived reports a connection of a peer that has confirmed it after an accepting verdict. It waits for Admit.
	Arrived struct{ In Incoming }

	// Message is a frame from a peer, except for heartbeats and goodbyes. The next one waits for Taken.
	Message struct {
		In      Incoming
		Kind    uint8  // at most LastOpaque
		Payload []byte // the receiver's own
	}

	// Ended reports the end of an admitted connection. It follows all its messages.
	Ended struct {
		In  Incoming
		Err error // the reason, for the log; [ErrLeft] if the peer has stopped in good order
	}

	// Told is a frame that came back on a connection that this member dialed: see [Teller]. It may overtake frames that
	// were sent before it, and arrive twice, as the peer sends it on its own connection, too.
	Told struct {
		Out     Outgoing
		Kind    uint8 // at most LastOpaque
		Payload []byte
	}

	// Dialed reports an attempt to connect: nil, or why it failed, and whether that lost frames: those queued
	// before it began. An attempt that is Slow has met the peer's machine, but not yet the peer, for the suspicion timeout, and goes on:
	// another Dialed follows. Its Lost tells that frames wait, which are late by now; they may arrive.
	Dialed struct {
		Out   Outgoing
		Hello Hello // of the peer, if Err is nil
		Err   error // perhaps a [Refusal]
		Lost  bool
		Slow  bool
	}

	// Met reports which member is at an address, or why none is known to be. The next connection to that member proves it.
	Met struct {
		Address string
		ID      uint64
		Err     error // perhaps a [Refusal]
	}

	// Broken reports the end of a connection that was dialed. Frames may be lost.
	Broken struct {
		Out Outgoing
		Err error
	}

	// Died reports a proof of death. The member checks it, see [Proof.Proves]. Taken takes, without blocking, whether
	// the member believes it; the answer goes to the sender of the proof.
	Died struct {
		Proof Proof
		Taken chan<- bool
	}

	// Failed reports that the transport cannot continue.
	Failed struct{ Err error }
)
