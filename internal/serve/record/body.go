package record

import (
	"encoding/binary"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
)

// class is what the steps have in common that are told by their difference.
type class struct {
	group string
	what  process.What
	port  election.Port
	kind  election.Kind
	timer election.Timer
}

func classOf(group string, in *process.Input) class {
	return class{group, in.What, in.Port, in.Kind, in.Timer}
}

// The bits of a byte of flags before the sent messages.
const durableFlag = 1

// appendBody encodes a step but for its class, time and check, in fixed widths, so that numbers keep their places. Deadlines are told from a base.
func appendBody(b []byte, s *Step, base uint64) []byte {
	order := binary.LittleEndian
	b = append(b, byte(s.Input.Command.Order))
	b = order.AppendUint64(b, uint64(s.Input.Command.Member))
	b = order.AppendUint64(b, s.Input.Command.Number)
	b = append(order.AppendUint32(b, uint32(len(s.Input.Message))), s.Input.Message...)
	b = order.AppendUint32(b, uint32(len(s.Choices)))
	for _, c := range s.Choices {
		b = order.AppendUint32(order.AppendUint32(b, c.Among), c.Value)
	}
	flags := byte(0)
	if s.Durable {
		flags = durableFlag
	}
	b = order.AppendUint32(append(b, flags), uint32(len(s.Sent)))
	for i := range s.Sent {
		m := &s.Sent[i]
		b = order.AppendUint32(b, uint32(m.Port))
		b = order.AppendUint32(append(b, byte(m.Kind), truth(m.Dropped)), uint32(m.Phase))
		b = append(order.AppendUint32(b, uint32(len(m.Payload))), m.Payload...)
	}
	b = order.AppendUint32(b, uint32(len(s.Effects)))
	for _, e := range s.Effects {
		b = append(order.AppendUint32(b, e.Link), byte(e.Op), byte(e.Timer), truth(e.Deadline))
		b = order.AppendUint64(order.AppendUint64(b, uint64(e.ID)), uint64(e.Term))
		if e.Deadline {
			e.Ticks.Lo += s.Ticks - base
		}
		b = order.AppendUint64(order.AppendUint64(b, e.Ticks.Lo), e.Ticks.Hi)
	}
	return b
}

func truth(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// The least lengths of what a step has lists of, in bytes.
const (
	choiceSize = 8
	sentSize   = 4 + 2 + 4 + 4
	effectSize = 4 + 3 + 4*8
)

// cursor reads fixed widths. After its end it returns zeros, and is broken.
type cursor struct {
	b      []byte
	broken bool
}

func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.b) {
		c.broken, c.b = true, nil
		return nil
	}
	taken := c.b[:n:n]
	c.b = c.b[n:]
	return taken
}

func (c *cursor) byte() byte {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) uint32() uint32 {
	if b := c.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) uint64() uint64 {
	if b := c.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// count reads the length of a list whose elements have at least some size.
func (c *cursor) count(size int) int {
	n := int64(c.uint32())
	if n*int64(size) > int64(len(c.b)) {
		c.broken, c.b = true, nil
		return 0
	}
	return int(n)
}

func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.broken, c.b = true, nil
		return 0
	}
	c.b = c.b[n:]
	return v
}

func (c *cursor) varint() int64 {
	v, n := binary.Varint(c.b)
	if n <= 0 {
		c.broken, c.b = true, nil
		return 0
	}
	c.b = c.b[n:]
	return v
}

// list reads some bytes, after their number.
func (c *cursor) list() []byte {
	n := c.uvarint()
	if n > uint64(len(c.b)) {
		c.broken, c.b = true, nil
		return nil
	}
	return c.take(int(n))
}

// text is list for a text.
func (c *cursor) text() string { return string(c.list()) }

// parseBody decodes what appendBody has written into a step, which has its time and does not share its memory.
func parseBody(s *Step, body []byte, of class, base uint64) (ok bool) {
	c := cursor{b: append([]byte(nil), body...)}
	s.Input = process.Input{What: of.what, Port: of.port, Kind: of.kind, Timer: of.timer}
	s.Input.Command = election.Command{Order: election.Order(c.byte()), Member: election.ID(c.uint64()), Number: c.uint64()}
	if n := c.count(1); n > 0 {
		s.Input.Message = c.take(n)
	}
	for range c.count(choiceSize) {
		s.Choices = append(s.Choices, Choice{c.uint32(), c.uint32()})
	}
	s.Durable = c.byte()&durableFlag != 0
	for range c.count(sentSize) {
		m := Message{Port: election.Port(c.uint32()), Kind: election.Kind(c.byte()), Dropped: c.byte() != 0, Phase: int(int32(c.uint32()))}
		m.Payload = c.take(c.count(1))
		s.Sent = append(s.Sent, m)
	}
	for range c.count(effectSize) {
		e := election.Effect{Link: c.uint32(), Op: election.Op(c.byte()), Timer: election.Timer(c.byte()), Deadline: c.byte() != 0}
		e.ID, e.Term = election.ID(c.uint64()), election.Term(c.uint64())
		e.Ticks = election.Ticks{Lo: c.uint64(), Hi: c.uint64()}
		if e.Deadline {
			e.Ticks.Lo -= s.Ticks - base
		}
		s.Effects = append(s.Effects, e)
	}
	return !c.broken && len(c.b) == 0
}
