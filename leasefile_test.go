//go:build linux

package ringleader_test

import (
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/leasefile"
	"ringleader.example/ringleader/ringleadertest"
)

// The clock of the group stands still between events, and the readers' does not: a lease may look over too early, and never too late.
func TestALeaseFileFollowsTheLead(t *testing.T) {
	directory := t.TempDir()
	file := func(id uint64) string { return filepath.Join(directory, string(rune('0'+id))) }
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{Timing: ringleader.Timing{Lease: time.Minute, Preempt: time.Minute}}, 1, 2, 3)
		defer c.Close()
		c.Configure(func(id uint64, config *ringleader.Config) { config.LeaseFile = file(id) })
		c.Start(1, 2, 3)
		readers := map[uint64]*leasefile.Reader{}
		for id := uint64(1); id <= 3; id++ {
			r, err := leasefile.Open(file(id))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			readers[id] = r
		}
		only := func(leader uint64) {
			t.Helper()
			for id, r := range readers {
				if term, _, valid := r.Valid(); valid != (id == leader) || valid && term != c.Member(leader).View().Term {
					t.Errorf("member %d leads, and the file of member %d says %v, term %d", leader, id, valid, term)
				}
			}
		}
		c.Await(3)
		only(3)
		if err := c.Member(3).Transfer(1); err != nil {
			t.Fatal(err)
		}
		c.Await(1)
		only(1)
		c.Member(1).Close()
		synctest.Wait()
		if s, err := readers[1].Read(); err != nil || s.Leads || !s.Closed {
			t.Errorf("a member that has ended: %+v, %v", s, err)
		}
	})
}

func TestALeaseFileNeedsALeaseAndNoProofOfDeath(t *testing.T) {
	for _, c := range []ringleader.Config{
		{Algorithm: ringleader.Bully, NoQuorum: true, LeaseFile: "x"},
		{Death: [32]byte{1}, LeaseFile: "x"},
	} {
		c.ID, c.Members = 1, []ringleader.MemberAddress{{ID: 1, Address: "127.0.0.1:1"}}
		if err := c.Check(); !errors.Is(err, ringleader.ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
