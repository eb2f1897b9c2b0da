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

// action returns the number of the action of a transition.
func (c *checker) action(t *transition, conf configuration) uint16 {
	key := actionKey{event: t.event, process: t.process, at: t.at}
	switch t.event {
	case receives, loses: // what arrives is delivered, whether it is lost or not
		if !c.o.Unordered {
			return uint16(t.link)
		}
		key = actionKey{receives, t.link, 0, c.messages.prints[c.queue(conf, t.link)[t.place].Message]}
	case waits:
		key = actionKey{event: waits}
	case obeys:
		if t.at >= proofs { // whose numbers depend on the order of the search
			died := &c.commands[t.at]
			key.at, key.message = proofs, fingerprint{uint64(died.Member), died.Number}
		}
	}
	number, found := c.actions[key]
	if !found {
		number = uint16(min(len(c.links)+len(c.actions), crowd))
		c.actions[key], c.actionKeys = number, append(c.actionKeys, key)
	}
	return number
}

// crowd is the number of actions from which on they are not told apart; then no violation is found that depends on fairness.
const crowd = math.MaxUint16
