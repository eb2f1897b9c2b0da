package transport

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"ringleader.example/ringleader/internal/process"
)

// What travels on a connection, little-endian:
//
//	dialer   → listener   hello     of fixed size: the dialer, and the member that it means
//	listener → dialer     hello     the listener; then a verdict: code, length of the reason, reason
//	dialer   → listener   frame …   length of what follows (2 bytes), kind, message
//
// The first frame is a heartbeat. It confirms that the dialer is still there: a process that was stopped
// finds a queue of connections that were given up long ago. The last one is a
// goodbye, if the dialer stops in good order. The listener sends nothing more.

// magic opens a hello; its last byte is the version of the protocol.
const magic = "ringldr\x02"

// HelloSize is the length of an encoded Hello, in bytes.
const HelloSize = len(magic) + 2*16 + 6*8

const (
	reasonSize = 255
	frameSize  = 1 + process.MaxMessage // of the kind and the message
)

// The kinds of empty frames. Kinds of messages are below 16.
const (
	heartbeat = 0xff
	goodbye   = 0xfe // the last one: the member stops
)

// Digest is a hash of something that both ends of a connection must have in common.
type Digest [16]byte

// DigestOf returns the digest of a text.
func DigestOf(format string, args ...any) (d Digest) {
	sum := sha256.Sum256(fmt.Appendf(nil, format, args...))
	copy(d[:], sum[:])
	return d
}

// Group holds what the members of a group have in common.
type Group struct {
	Members   Digest // its name, and the identifiers of its members
	Algorithm Digest // name and layout of messages
}

// Timing should be the same at all members, but need not be: it may be changed at one after the other.
type Timing struct {
	Heartbeat time.Duration // how often a connection shows that it lives
	Suspicion time.Duration // how long it may be silent
	Delay     time.Duration // the longest time that a message takes, and its handling
}

// longestHeartbeat limits the patience that a peer can ask for.
const longestHeartbeat = time.Hour

// Hello introduces one end of a connection to the other.
type Hello struct {
	Group       Group
	From, To    uint64 // identifiers
	Incarnation uint64 // of From
	Timing      Timing // of From
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

// Code is the first byte of a verdict.
type Code uint8

// The codes.
const (
	Accepted Code = iota
	Refused
	RefusedDuplicate // another live process has the dialer's identifier
	RefusedSelf      // the dialer is the listener
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
	if Code(head[0]) > RefusedSelf {
		return Verdict{}, errProtocol
	}
	reason := make([]byte, head[1])
	_, err := io.ReadFull(r, reason)
	return Verdict{Code(head[0]), string(reason)}, err
}

// ErrFrame reports that a peer broke the protocol.
var ErrFrame = errors.New("malformed frame")

// HeartbeatFrame shows only that the sender is live.
var HeartbeatFrame = process.AppendFrame(nil, heartbeat, nil)

var goodbyeFrame = process.AppendFrame(nil, goodbye, nil)

// ErrLeft is the end of a connection with a member that has stopped in good order.
var ErrLeft = errors.New("it has left")

// NewFrameReader returns a buffer that the longest frame fits into, as ReadFrame needs.
func NewFrameReader(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, 2+frameSize) }

// ReadFrame reads a frame. The message is a copy. A failed read consumes nothing, so it can be retried after a
// timeout.
func ReadFrame(r *bufio.Reader) (kind uint8, message []byte, err error) {
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
	kind, message = whole[2], append([]byte(nil), whole[3:]...)
	if empty := kind == heartbeat || kind == goodbye; !empty && kind > 15 || empty && size > 1 {
		return 0, nil, fmt.Errorf("%w of kind %d", ErrFrame, kind)
	}
	_, err = r.Discard(2 + size)
	return kind, message, err
}
