package verify

import (
	"math"
)

// actionKey identifies an action that is not a delivery on a FIFO link.
type actionKey struct {
	event   event
	process int
	at      uint16
	message fingerprint
}

// Action returns the number of the action of a transition.
func (c *checker) Action(t *transition, conf configuration) uint16 {
	key := actionKey{event: t.Event, process: t.Process, at: t.At}
	switch t.Event {
	case receives, loses: // what arrives is delivered, whether it is lost or not
		if !c.Options.Unordered {
			return uint16(t.Link)
		}
		key = actionKey{receives, t.Link, 0, c.Messages.Prints[c.Queue(conf, t.Link)[t.Place].Message]}
	case waits:
		key = actionKey{event: waits}
	case obeys:
		if t.At >= proofs { // whose numbers depend on the order of the search
			died := &c.commands[t.At]
			key.at, key.message = proofs, fingerprint{uint64(died.Member), died.Number}
		}
	}
	number, found := c.actions[key]
	if !found {
		number = uint16(min(len(c.Links)+len(c.actions), crowd))
		c.actions[key], c.ActionKeys = number, append(c.ActionKeys, key)
	}
	return number
}

// crowd is the number of actions from which on they are not told apart; then no violation is found that depends on fairness.
const crowd = math.MaxUint16
