package transport

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"ringleader.example/ringleader/internal/core/framing"
)

// What travels on a connection, little-endian:
//
//	dialer   → listener   hello     of fixed size: the dialer, and the member that it means
//	listener → dialer     hello     the listener; then a verdict: code, length of the reason, reason
//	dialer   → listener   frame …   length of what follows (2 bytes), kind, payload
//
// A hello that means member 0 asks which member the listener is: see [Seeker]. The verdict is Introduced then, and ends the connection.
//
// The first frame is a heartbeat. It confirms that the dialer is still there: a process that was stopped
// finds a queue of connections that were given up long ago. The last one is a
// goodbye, if the dialer stops in good order. The listener sends nothing more, but for a frame that the acknowledgements of
// its own connection would hold back: see [Teller].
//
// With [TLS], all of this travels inside TLS. A warden's [Proof] never does: the first bytes of a connection decide.

// magic opens a hello; its last byte is the version of the protocol.
const magic = "ringldr\x07"

// HelloSize is the length of an encoded Hello, in bytes.
const HelloSize = len(magic) + 3*16 + 8*listed + 3*8 + 16 + 32 + 3*8

const (
	reasonSize = 255
	frameSize  = 1 + MaxPayload // of the kind and the payload
)

// The kinds of frames, and the limits of their payloads in bytes. A transport does not look into payloads. It delivers
// frames of any kind up to LastOpaque as a [Message].
const (
	LastMessage = 0x0f                   // kinds from 0 are messages of an algorithm
	MaxPayload  = 8 + framing.MaxMessage // of a message, and the key of a group before it

	FirstOpaque = 0x10 // other frames between members
	LastOpaque  = 0x1f
	MaxOpaque   = 256

	heartbeat = 0xff // without payload
	seldom    = 0xfd // a heartbeat, too; the next one follows within the suspicion timeout of the sender
	goodbye   = 0xfe // without payload; the last frame: the member stops
)

// AppendFrame appends the encoding of a frame, as [Outgoing] takes it: the length of what follows in 2 bytes,
// little-endian, the kind, and the parts of the payload.
func AppendFrame(dst []byte, kind uint8, payload ...[]byte) []byte {
	return framing.Append(dst, kind, func(dst []byte) []byte {
		for _, part := range payload {
			dst = append(dst, part...)
		}
		return dst
	})
}

// SplitFrame returns the kind and the payload of an encoded frame.
func SplitFrame(frame []byte) (kind uint8, payload []byte) {
	return frame[framing.HeadSize-1], frame[framing.HeadSize:]
}

// Digest is a hash of something that both ends of a connection must have in common.
type Digest [16]byte

// DigestOf returns the digest of a text.
func DigestOf(format string, args ...any) (d Digest) {
	sum := sha256.Sum256(fmt.Appendf(nil, format, args...))
	copy(d[:], sum[:])
	return d
}

// Group holds what the members of a group have in common. Members with different ones refuse each other: they would count
// different majorities. The list of members is no part of it: each has its own, and names each other one by its identifier.
type Group struct {
	Name      Digest
	Founders  Digest         // the first voters; zero: this member is none of them, so it counts no majority of them
	Listed    [listed]uint64 // the first of them, in increasing order, for the reason of a refusal
	Algorithm Digest         // name and layout of messages
}

// listed is how many identifiers a Hello has room for.
const listed = 16

// GroupOf returns the group of a member that has these first voters, in increasing order. There are none for a member that is none of them.
func GroupOf(name string, founders []uint64, algorithm Digest) Group {
	g := Group{Name: DigestOf("%q", name), Algorithm: algorithm}
	if len(founders) > 0 {
		copy(g.Listed[:], founders)
		g.Founders = DigestOf("%v", founders)
	}
	return g
}

// apart reports whether two processes count majorities of different first voters.
func (g *Group) apart(other *Group) bool {
	return g.Founders != other.Founders && g.Founders != Digest{} && other.Founders != Digest{}
}

// ids returns the listed identifiers of the members.
func (g *Group) ids() []uint64 {
	if end := slices.Index(g.Listed[:], 0); end >= 0 {
		return g.Listed[:end]
	}
	return g.Listed[:]
}

// lists returns identifiers for a reason, as many as fit.
func lists(ids []uint64) string {
	const most = 60 // characters; a reason has two lists, and their difference
	var text []byte
	for i, id := range ids {
		if len(text) >= most {
			return string(text) + " …"
		}
		if i > 0 {
			text = append(text, ' ')
		}
		text = strconv.AppendUint(text, id, 10)
	}
	return string(text)
}

// differ returns how the first voters of two processes differ, in words.
func differ(from uint64, theirs *Group, self uint64, ours *Group) string {
	var only []uint64
	for _, id := range slices.Concat(theirs.ids(), ours.ids()) {
		if slices.Contains(theirs.ids(), id) != slices.Contains(ours.ids(), id) {
			only = append(only, id)
		}
	}
	slices.Sort(only)
	return fmt.Sprintf("the lists of members differ in %s, standby apart: member %d has %s, and member %d has %s",
		cmp.Or(lists(only), "later ones"), from, lists(theirs.ids()), self, lists(ours.ids()))
}

// Timing should be the same at all members, but need not be: it may be changed at one after the other.
type Timing struct {
	Heartbeat time.Duration // how often a connection shows that it lives
	Suspicion time.Duration // how long it may be silent
	Delay     time.Duration // the longest time that a message takes, and its handling
}

// leastHeartbeats is the number of heartbeats that a peer may miss before it is suspected, even if they are rare.
const leastHeartbeats = 3

// longestHeartbeat limits the patience that a peer can ask for.
const longestHeartbeat = time.Hour

// Patience returns for how long a peer with this timing may be silent, after a heartbeat of one kind or the other. A member with the suspicion
// timeout least waits for at least that.
func (t *Timing) Patience(least time.Duration, seldom bool) time.Duration {
	interval := t.Heartbeat
	if seldom {
		interval = min(t.Suspicion, longestHeartbeat)
	}
	return max(least, leastHeartbeats*interval)
}

// Hello introduces one end of a connection to the other.
type Hello struct {
	Group       Group
	From, To    uint64   // identifiers
	Incarnation uint64   // of From
	Store       [16]byte // the identity of the store of From; zero: it has none
	Death       [32]byte // the SHA-256 of the secret of the warden of From's incarnation, see [Proof]; zero: it has none
	Timing      Timing   // of From
}

// Encode returns the encoded Hello.
func (h *Hello) Encode() []byte {
	b, err := binary.Append([]byte(magic), binary.LittleEndian, h)
	if err != nil {
		panic(err) // all fields are of fixed size
	}
	return b
}

// DecodeHello is the inverse of Encode.
func DecodeHello(b []byte) (h Hello, ok bool) {
	if len(b) != HelloSize || string(b[:len(magic)]) != magic {
		return h, false
	}
	_, err := binary.Decode(b[len(magic):], binary.LittleEndian, &h)
	return h, err == nil
}

// ReadHello reads an encoded Hello.
func ReadHello(r io.Reader) (h Hello, err error) {
	var raw [HelloSize]byte
	if _, err := io.ReadFull(r, raw[:]); err != nil {
		return h, err
	}
	h, ok := DecodeHello(raw[:])
	if !ok {
		return h, errProtocol
	}
	return h, nil
}

// Code is the first byte of a verdict: [Accepted], [Refused], [RefusedDuplicate], [RefusedSelf] or [Introduced].
type Code uint8

// The codes.
const (
	Accepted Code = iota
	Refused
	RefusedDuplicate // another live process has the dialer's identifier
	RefusedSelf      // the dialer is the listener
	Introduced       // the dialer has asked which member the listener is
)

// Verdict is a listener's answer to a Hello.
type Verdict struct {
	Code   Code
	Reason string // at most 255 bytes of it are sent
}

// Encode returns the encoded verdict.
func (v Verdict) Encode() []byte {
	reason := v.Reason[:min(len(v.Reason), reasonSize)]
	return append([]byte{byte(v.Code), byte(len(reason))}, reason...)
}

var errProtocol = errors.New("it does not speak this version of the protocol")

// ReadVerdict is the inverse of Encode.
func ReadVerdict(r io.Reader) (Verdict, error) {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Verdict{}, err
	}
	if Code(head[0]) > Introduced {
		return Verdict{}, errProtocol
	}
	reason := make([]byte, head[1])
	_, err := io.ReadFull(r, reason)
	return Verdict{Code(head[0]), string(reason)}, err
}

// ErrFrame reports that a peer broke the protocol.
var ErrFrame = errors.New("malformed frame")

// HeartbeatFrame shows only that the sender is live.
var HeartbeatFrame = AppendFrame(nil, heartbeat)

// SeldomFrame is a heartbeat after which the next one may take as long as the suspicion timeout of the sender.
var SeldomFrame = AppendFrame(nil, seldom)

var goodbyeFrame = AppendFrame(nil, goodbye)

// ErrLeft is the end of a connection with a member that has stopped in good order.
var ErrLeft = errors.New("it has left")

// NewFrameReader returns a buffer that the longest frame fits into, as ReadFrame needs.
func NewFrameReader(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, 2+frameSize) }

// ReadFrame reads a frame. The payload is a copy. A failed read consumes nothing, so it can be retried after a
// timeout.
func ReadFrame(r *bufio.Reader) (kind uint8, payload []byte, err error) {
	head, err := r.Peek(2)
	if err != nil {
		return 0, nil, err
	}
	size := int(binary.LittleEndian.Uint16(head))
	if size < 1 || size > frameSize {
		return 0, nil, fmt.Errorf("%w of %d bytes", ErrFrame, size)
	}
	whole, err := r.Peek(2 + size)
	if err != nil {
		return 0, nil, err
	}
	kind, payload = SplitFrame(whole)
	if len(payload) > most(kind) {
		return 0, nil, fmt.Errorf("%w of kind %d with %d bytes", ErrFrame, kind, len(payload))
	}
	payload = slices.Clone(payload)
	_, err = r.Discard(2 + size)
	return kind, payload, err
}

// most returns the limit of the payload of a kind; -1: there is no such kind.
func most(kind uint8) int {
	switch {
	case kind <= LastMessage:
		return MaxPayload
	case kind <= LastOpaque:
		return MaxOpaque
	case kind == heartbeat || kind == seldom || kind == goodbye:
		return 0
	}
	return -1
}
