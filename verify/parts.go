package verify

import (
	"encoding/binary"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/codec"
)

// The kinds of part of a configuration, each with an interner.
const (
	processPart = iota
	queuePart
	globalPart
	parts
)

// part returns the kind of a part by its place in a configuration.
func (c *checker) kindOf(place int) int {
	switch {
	case place < c.n:
		return processPart
	case place < len(c.keys)-1:
		return queuePart
	}
	return globalPart
}

// encoding returns the portable encoding of a value.
func (c *checker) encoding(part int, number uint32) []byte {
	switch part {
	case processPart:
		return c.portableProcess(nil, &c.processes.values[number])
	case queuePart:
		return c.portableQueue(nil, &c.queues.values[number])
	}
	return c.globals.encode(nil, &c.globals.values[number])
}

// decode returns the number of a value from its portable encoding.
func (c *checker) decode(part int, encoding []byte) uint32 {
	switch part {
	case processPart:
		var p processState
		rest := read(c.processes, encoding, &p)
		p.State = c.values.State(rest)
		return c.processes.number(&p, election.Ticks{})
	case queuePart:
		queue := []underWay{}
		for len(encoding) > 0 {
			age, length := binary.LittleEndian.Uint32(encoding), binary.LittleEndian.Uint32(encoding[4:])
			m := message{Kind: election.Kind(encoding[8]), Body: c.values.Body(encoding[9 : 8+length])}
			queue = append(queue, underWay{c.messages.number(&m, election.Ticks{}), age})
			encoding = encoding[8+length:]
		}
		return c.queues.number(&queue, election.Ticks{})
	}
	var g global
	read(c.globals, encoding, &g)
	return c.globals.number(&g, election.Ticks{})
}

// read decodes a value, and returns the rest.
func read[T any](t *interner[T], encoding []byte, value *T) []byte {
	rest, err := t.plan.Decode(encoding, codec.At(value), election.Ticks{})
	if err != nil {
		panic("verify: a value does not decode: " + err.Error())
	}
	return rest
}
