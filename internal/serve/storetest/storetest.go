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
	<-time.After(time.Duration(s.Lasts.Load()))
	return nil
}
