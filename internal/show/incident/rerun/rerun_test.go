package rerun_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/explain/explaintest"
	"ringleader.example/ringleader/internal/serve/live/quorumbully"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/show/incident/rerun"
	"ringleader.example/ringleader/ringleadertest"
)

// drifting has clocks that are fast and slow, and one that jumps.
func drifting(c *ringleadertest.Cluster) {
	c.Host(1).Clock.Run(0.98)
	c.Host(2).Clock.Run(1.02)
	c.Pass(5 * time.Second)
	c.Kill(3)
	c.Await(2)
	c.Host(2).Clock.Suspend(time.Second)
	c.Start(3)
	c.Pass(5 * time.Second)
}

// chance is faults by chance.
func chance(seed uint64) func(c *ringleadertest.Cluster) {
	return func(c *ringleadertest.Cluster) {
		r := rand.New(rand.NewPCG(seed, 0))
		down, still := map[uint64]bool{}, map[uint64]bool{}
		n := uint64(0)
		for c.Host(n+1) != nil {
			n++
		}
		for range 30 {
			id := 1 + r.Uint64N(n)
			switch r.IntN(7) {
			case 0:
				c.Cut([]uint64{id}, []uint64{1 + id%n})
			case 1:
				c.Heal()
			case 2:
				if !down[id] && len(down) < int(n)/2 {
					c.Kill(id)
					down[id], still[id] = true, false
					if r.IntN(2) == 0 {
						c.Prove(id)
					}
				}
			case 3:
				if down[id] {
					c.Start(id)
					delete(down, id)
				}
			case 4:
				if !down[id] && !still[id] {
					c.Stop(id)
					still[id] = true
				}
			case 5:
				if still[id] {
					c.Continue(id)
					still[id] = false
				}
			default:
				if m := c.Member(id); !down[id] && !still[id] {
					_ = m.Transfer(1 + id%n) // it may not lead
				}
			}
			c.Pass(time.Duration(r.IntN(600)) * time.Millisecond)
		}
	}
}

// groups is how many groups with faults by chance are recorded.
var groups = flag.Uint64("groups", 6, "how many groups with faults by chance are recorded")

func TestEachChangeOfARecordIsMadeAgain(t *testing.T) {
	all := map[string]string{
		"a transfer and a death":     explaintest.Records(t, ""),
		"three members, many faults": explaintest.Faulty(t, 3),
		"five members, many faults":  explaintest.Faulty(t, 5),
		"clocks that drift and jump": explaintest.Recorded(t, "", 3, drifting),
		"a group with another name":  explaintest.Records(t, "shards"),
	}
	for seed := range *groups {
		all[fmt.Sprintf("faults by chance %d", seed)] = explaintest.Recorded(t, "", 3+2*(seed%2), chance(seed))
	}
	for name, directory := range all {
		t.Run(name, func(t *testing.T) {
			records, err := record.Open(t.Context(), directory)
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range explain.Of(records).Groups {
				for i, c := range g.Changes {
					r, err := rerun.Of(g, i, quorumbully.Program)
					if err != nil {
						t.Errorf("change %d, %s: %v", i+1, c.Cause, err)
						continue
					}
					t.Logf("change %d, %s: %d steps, %d events", i+1, c.Cause, r.Steps, len(r.Choices))
				}
			}
		})
	}
}

// From damaged records a change is made again, or there is an error of a kind that callers know.
func TestHostileRecordsAreNoRunAndNoPanic(t *testing.T) {
	var archive []byte
	files, err := filepath.Glob(filepath.Join(explaintest.Faulty(t, 3), "*", "*.seg"))
	for _, file := range files {
		segment, failed := os.ReadFile(file)
		archive, err = append(archive, segment...), errors.Join(err, failed)
	}
	if err != nil || len(files) < 3 {
		t.Fatal(err, files)
	}
	r := rand.New(rand.NewPCG(5, 6))
	made, refused := 0, 0
	for range 60 {
		b := bytes.Clone(archive)
		for range 1 + r.IntN(4) {
			switch i := r.IntN(len(b)); r.IntN(4) {
			case 0:
				b = b[:i+1]
			case 1:
				b = append(b[:i:i], append(bytes.Clone(b[r.IntN(len(b)):]), b[i:]...)...)
			default:
				b[i] ^= 1 << r.IntN(8)
			}
		}
		for _, g := range explain.Of(record.Parse("test", b)).Groups {
			for i := range g.Changes {
				var d *record.Difference
				switch _, err := rerun.Of(g, i, quorumbully.Program); {
				case err == nil:
					made++
				case errors.Is(err, explain.ErrNotJoined) || errors.Is(err, record.ErrMachine) || errors.As(err, &d):
					refused++
				default:
					t.Errorf("change %d: %v", i+1, err)
				}
			}
		}
	}
	if made == 0 || refused == 0 {
		t.Errorf("%d changes are made again, and %d are not", made, refused)
	}
}
