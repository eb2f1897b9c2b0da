package ringleader

import (
	"time"

	"ringleader.example/ringleader/internal/serve/view"
)

// LeaderChange is a change of the leader. The end of a lead and the leader that follows it are one.
type LeaderChange struct {
	// Cause is a word: elected, if no leader was known before; resigned, transferred, preempted, unhealthy, disk or closed, if the leader ended its
	// lead in order, and told why; lapsed, delayed or suspended, if it could not renew its lease; crashed, lost, silent or released, as the
	// others see its end; superseded, duplicate, stopped or unknown. Others may follow in later versions.
	Cause string `json:"cause"`

	Detail string    `json:"detail,omitempty"` // what there is to say about it, for people
	Time   time.Time `json:"time"`
	From   *uint64   `json:"from"` // the leader before; null: none was known
	To     *uint64   `json:"to"`   // null: none is known yet
}

// lastChange returns a change for Status; nil: there was none.
func lastChange(c *view.Change) *LeaderChange {
	if c.From == 0 && c.To == 0 {
		return nil
	}
	change := LeaderChange{Cause: c.Cause.String(), Detail: c.Detail, Time: c.Time}
	if c.From != 0 {
		change.From = &c.From
	}
	if c.To != 0 {
		change.To = &c.To
	}
	return &change
}
