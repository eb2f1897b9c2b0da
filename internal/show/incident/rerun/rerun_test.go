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
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/live/quorumbully"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/show/incident/incidenttest"
	"ringleader.example/ringleader/internal/show/incident/rerun"
	"ringleader.example/ringleader/ringleadertest"
)

// recorded returns the directory with the records of a group of so many members to which something happens.
func recorded(t *testing.T, n uint64, happens func(c *ringleadertest.Cluster)) (directory string) {
	t.Helper()
	directory = t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var ids []uint64
		for id := range n {
			ids = append(ids, id+1)
		}
		c := ringleadertest.New(t, ringleader.Config{Record: ringleader.Record{Directory: directory}}, ids...)
		defer c.Close()
		c.Start(ids...)
		c.Await(n)
		happens(c)
	})
	return directory
}

// eventful is cuts, deaths with a proof, a restart and a process that stands still, where the leader is the last of some members.
func eventful(n uint64) func(c *ringleadertest.Cluster) {
	return func(c *ringleadertest.Cluster) {
		var others []uint64
		for id := range n - 1 {
			others = append(others, id+1)
		}
		c.Cut(others, []uint64{n})
		c.Await(n - 1)
		c.Heal()
		c.Await(n - 1)
		c.Kill(n - 1)
		c.Prove(n - 1)
		c.Await(n)
		c.Start(n - 1)
		c.Await(n)
		c.Stop(n)
		c.Pass(3 * time.Second)
		c.Continue(n)
		c.AwaitAny()
	}
}

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
		"a transfer and a death":     incidenttest.Records(t, ""),
		"three members, many faults": recorded(t, 3, eventful(3)),
		"five members, many faults":  recorded(t, 5, eventful(5)),
		"clocks that drift and jump": recorded(t, 3, drifting),
		"a group with another name":  incidenttest.Records(t, "shards"),
	}
	for seed := range *groups {
		all[fmt.Sprintf("faults by chance %d", seed)] = recorded(t, 3+2*(seed%2), chance(seed))
	}
	for name, directory := range all {
		t.Run(name, func(t *testing.T) {
			records, err := record.Open(directory)
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

// Whatever the bytes of a record are, a change is made again or an error says why not.
func TestHostileRecordsAreNoRunAndNoPanic(t *testing.T) {
	var archive []byte
	files, err := filepath.Glob(filepath.Join(recorded(t, 3, eventful(3)), "*", "*.seg"))
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
