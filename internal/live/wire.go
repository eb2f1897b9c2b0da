package live

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/process"
)

// What travels on a connection, little-endian:
//
//	dialer   → listener   hello     fixed size
//	listener → dialer     verdict   code, length of the reason, reason
//	dialer   → listener   frame …   length of what follows (2 bytes), kind, message
//
// The first frame is a heartbeat. It confirms that the dialer is still there: a process that was stopped
// finds a queue of connections that were given up long ago. The listener sends nothing more.

// magic opens a hello; its last byte is the version of the protocol.
const magic = "ringldr\x01"

const (
	helloSize  = len(magic) + 3*16 + 3*8
	reasonSize = 255
	frameSize  = 1 + process.MaxMessage // of the kind and the message
)

// heartbeat is the kind of an empty frame. Kinds of messages are below 16.
const heartbeat = 0xff

// digest stands for something that both ends of a connection must have in common.
type digest [16]byte

func digestOf(format string, args ...any) (d digest) {
	sum := sha256.Sum256(fmt.Appendf(nil, format, args...))
	copy(d[:], sum[:])
	return d
}

// group is what the members of a group have in common.
type group struct {
	Members    digest // identifiers and addresses
	Algorithm  digest // name and layout of messages
	Parameters digest // of the algorithm, and the length of its time unit
}

// hello is how a dialer presents itself.
type hello struct {
	Group       group
	From, To    uint64 // identifiers
	Incarnation uint64 // of From
}

func (h *hello) encode() []byte {
	b, err := binary.Append([]byte(magic), binary.LittleEndian, h)
	if err != nil {
		panic(err) // all fields are of fixed size
	}
	return b
}

func decodeHello(b []byte) (h hello, ok bool) {
	if len(b) != helloSize || string(b[:len(magic)]) != magic {
		return h, false
	}
	_, err := binary.Decode(b[len(magic):], binary.LittleEndian, &h)
	return h, err == nil
}

// code is the first byte of a verdict.
type code uint8

const (
	accepted code = iota
	refused
	refusedDuplicate // another live process has the dialer's identifier
)

// verdict is a listener's answer to a hello.
type verdict struct {
	code   code
	reason string // at most reasonSize bytes
}

func (v verdict) encode() []byte {
	reason := v.reason[:min(len(v.reason), reasonSize)]
	return append([]byte{byte(v.code), byte(len(reason))}, reason...)
}

var errVerdict = errors.New("it answers in another language")

func readVerdict(r io.Reader) (verdict, error) {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return verdict{}, err
	}
	if code(head[0]) > refusedDuplicate {
		return verdict{}, errVerdict
	}
	reason := make([]byte, head[1])
	_, err := io.ReadFull(r, reason)
	return verdict{code(head[0]), string(reason)}, err
}

var errFrame = errors.New("malformed frame")

var heartbeatFrame = process.AppendFrame(nil, heartbeat, nil)

// newFrameReader is a buffer that the longest frame fits into, as readFrame needs.
func newFrameReader(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, 2+frameSize) }

// readFrame reads a frame. The message is a copy. When reading fails nothing is consumed, so that it can
// be tried again after a timeout.
func readFrame(r *bufio.Reader) (kind uint8, message []byte, err error) {
	head, err := r.Peek(2)
	if err != nil {
		return 0, nil, err
	}
	size := int(binary.LittleEndian.Uint16(head))
	if size < 1 || size > frameSize {
		return 0, nil, fmt.Errorf("%w of %d bytes", errFrame, size)
	}
	whole, err := r.Peek(2 + size)
	if err != nil {
		return 0, nil, err
	}
	kind, message = whole[2], append([]byte(nil), whole[3:]...)
	if kind != heartbeat && kind > 15 || kind == heartbeat && size > 1 {
		return 0, nil, fmt.Errorf("%w of kind %d", errFrame, kind)
	}
	_, err = r.Discard(2 + size)
	return kind, message, err
}

// isMessage says whether a frame carries a message of the algorithm.
func isMessage(kind uint8, d *election.Declaration) bool { return int(kind) < len(d.Kinds) }
