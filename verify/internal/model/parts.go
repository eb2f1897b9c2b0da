package model

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
	Parts
)

// KindOf returns the kind of a part by its place in a configuration.
func (c *Checker) KindOf(place int) int {
	switch {
	case place < c.N:
		return processPart
	case place < len(c.Keys)-1:
		return queuePart
	}
	return globalPart
}

// Encoding returns the portable encoding of a value.
func (c *Checker) Encoding(part int, number uint32) []byte {
	switch part {
	case processPart:
		return c.portableProcess(nil, &c.Processes.Values[number])
	case queuePart:
		return c.portableQueue(nil, &c.Queues.Values[number])
	}
	return c.Globals.encode(nil, &c.Globals.Values[number])
}

// Decode returns the number of a value from its portable encoding.
func (c *Checker) Decode(part int, encoding []byte) uint32 {
	switch part {
	case processPart:
		var p ProcessState
		rest := read(c.Processes, encoding, &p)
		p.State = c.Values.State(rest)
		return c.Processes.Number(&p, election.Ticks{})
	case queuePart:
		queue := []underWay{}
		for len(encoding) > 0 {
			age, length := binary.LittleEndian.Uint32(encoding), binary.LittleEndian.Uint32(encoding[4:])
			m := message{Kind: election.Kind(encoding[8]), Body: c.Values.Body(encoding[9 : 8+length])}
			queue = append(queue, underWay{c.Messages.Number(&m, election.Ticks{}), age})
			encoding = encoding[8+length:]
		}
		return c.Queues.Number(&queue, election.Ticks{})
	}
	var g Global
	read(c.Globals, encoding, &g)
	return c.Globals.Number(&g, election.Ticks{})
}

// read decodes a value, and returns the rest.
func read[T any](t *interner[T], encoding []byte, value *T) []byte {
	rest, err := t.plan.Decode(encoding, codec.At(value), election.Ticks{})
	if err != nil {
		panic("verify: a value does not decode: " + err.Error())
	}
	return rest
}
