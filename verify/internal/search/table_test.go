package search

import (
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/verify/internal/model"
)

func TestShorterFingerprintsTakeLessMemory(t *testing.T) {
	program := process.Must(process.Of(&lcr.Algorithm))
	o := Options{Setup: network.On(7, 6, 5, 4, 3, 2, 1), MaxDepth: 100, Memory: 1 << 30, Wide: 100} // the order with the most states
	l := NewSearcher(program, &o, NewMonitor(&o, 1), 1)
	if v, err := l.Explore(o.Setup, -1); err != nil || v.Bits != 64 {
		t.Fatalf("%+v, %v", v, err)
	}
	for i := range l.table.shards {
		if s := &l.table.shards[i]; s.hi != nil || s.used > 0 && s.lo == nil {
			t.Fatalf("shard %d still has the other half of %d fingerprints", i, s.used)
		}
	}
}

func TestANarrowTableKnowsStatesByHalfOfTheirFingerprint(t *testing.T) {
	var table table
	table.clear(false)
	for lo := range uint64(1000) {
		table.add(model.Fingerprint{Lo: lo << 50, Hi: lo}, uint32(lo))
	}
	for lo := range uint64(1000) {
		if number, found := table.find(model.Fingerprint{Lo: lo << 50, Hi: lo}); !found || number != uint32(lo) {
			t.Fatalf("%d: %d, %t", lo, number, found)
		}
		if _, found := table.find(model.Fingerprint{Lo: lo << 50, Hi: lo + 1}); found {
			t.Fatalf("%d: half of a fingerprint is enough", lo)
		}
	}
	table.narrowed()
	table.add(model.Fingerprint{Lo: 3, Hi: 3}, 1000)
	for _, f := range []model.Fingerprint{{Lo: 3, Hi: 4}, {Lo: 700 << 50}} {
		if _, found := table.find(f); !found {
			t.Errorf("%v is not known by half of it", f)
		}
	}
}
