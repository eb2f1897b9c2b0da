package ringleadertest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	algorithm "ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/explain/explaintest"
	"ringleader.example/ringleader/internal/serve/live/quorumbully"
	"ringleader.example/ringleader/proofs/refine"
	"ringleader.example/ringleader/ringleadertest"
)

// The loop, the disk and the connections of real members make runs that the model allows, too: each step of each member is a sequence of
// actions of proofs/quorum-bully.model.
func TestRealMembersRefineTheModel(t *testing.T) {
	original := quorumbully.Program
	defer func() { quorumbully.Program = original }()
	for _, n := range []uint64{3, 5} {
		synctest.Test(t, func(t *testing.T) {
			l := &refine.Log{Clocks: refine.Right{}}
			begun := time.Now()
			a := refine.Watched(algorithm.Algorithm, func(s *refine.Step) {
				s.At = int(time.Since(begun).Microseconds()) // its own clock begins with each life
				l.Add(s)
			})
			quorumbully.Program = process.Must(process.Of(&a))
			ids := explaintest.First(n)
			c := ringleadertest.New(t, ringleader.Config{}, ids...)
			defer c.Close()
			c.Start(ids...)
			c.Await(n)
			explaintest.Eventful(n, func(id uint64) { l.Ended(election.ID(id)) })(c)
			checked, err := l.Check(t.Context(), 50)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d members: %v", n, checked.Happened)
			for _, action := range []string{"win", "grant-renew", "crash", "die", "release", "extend"} {
				if checked.Happened[action] == 0 {
					t.Errorf("%s never happened", action)
				}
			}
		})
	}
}
