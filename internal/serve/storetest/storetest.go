// Package storetest has stores that are slow, for tests.
package storetest

import (
	"sync/atomic"
	"time"

	"ringleader.example/ringleader/storage"
)

// Slow is a store whose probes take as long as Lasts says, in nanoseconds.
type Slow struct {
	storage.Storage
	Lasts *atomic.Int64
}

// Probe implements [storage.Prober].
func (s Slow) Probe() error {
	if d := time.Duration(s.Lasts.Load()); d > 0 { // a timer that is due runs in its receiver, where the race detector of Go 1.26 may crash in a bubble
		<-time.After(d)
	}
	return nil
}
