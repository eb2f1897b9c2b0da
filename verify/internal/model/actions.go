package model

import (
	"math"
)

// ActionKey identifies an action that is not a delivery on a FIFO link.
type ActionKey struct {
	event   Event
	process int
	at      uint16
	message Fingerprint
}

// Action returns the number of the action of a transition.
func (c *Checker) Action(t *Transition, conf Configuration) uint16 {
	key := ActionKey{event: t.Event, process: t.Process, at: t.At}
	switch t.Event {
	case Receives, Loses: // what arrives is delivered, whether it is lost or not
		if !c.Options.Unordered {
			return uint16(t.Link)
		}
		key = ActionKey{Receives, t.Link, 0, c.Messages.Prints[c.Queue(conf, t.Link)[t.Place].Message]}
	case Waits:
		key = ActionKey{event: Waits}
	case Obeys:
		if t.At >= proofs { // whose numbers depend on the order of the search
			died := &c.commands[t.At]
			key.at, key.message = proofs, Fingerprint{uint64(died.Member), died.Number}
		}
	}
	number, found := c.actions[key]
	if !found {
		number = uint16(min(len(c.Links)+len(c.actions), MaxActions))
		c.actions[key], c.ActionKeys = number, append(c.ActionKeys, key)
	}
	return number
}

// MaxActions is the number of actions from which on they are not told apart; then no violation is found that depends on fairness.
const MaxActions = math.MaxUint16
