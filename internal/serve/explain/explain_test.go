package explain_test

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/serve/storetest"
	"ringleader.example/ringleader/ringleadertest"
)

// incident is a fault at the leader 3 of three members, and what the records have to say about the end of its lead.
type incident struct {
	config  ringleader.Config
	change  func(id uint64, config *ringleader.Config)
	fault   func(t *testing.T, c *ringleadertest.Cluster)
	from    uint64   // whose lead has ended; 0: that of 3
	without []uint64 // members whose record is missing
	cause   explain.Cause
	how     explain.Certainty
	says    string // in the text or in the evidence
}

// explained makes the incident and explains it.
func explained(t *testing.T, i *incident) *explain.Group {
	directory := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		i.config.Record.Directory = directory
		c := ringleadertest.New(t, i.config, 1, 2, 3)
		defer c.Close()
		if i.change != nil {
			c.Configure(i.change)
		}
		c.Start(1, 2, 3)
		c.Pass(2 * time.Second)
		if c.Member(3).View().Role != ringleader.Leader {
			if err := c.Member(c.AwaitAny()).Transfer(3); err != nil {
				t.Fatal(err)
			}
		}
		c.Await(3)
		c.Pass(time.Second)
		i.fault(t, c)
	})
	var paths []string
	for id := uint64(1); id <= 3; id++ {
		missing := false
		for _, without := range i.without {
			missing = missing || without == id
		}
		if !missing {
			paths = append(paths, filepath.Join(directory, strconv.FormatUint(id, 10)))
		}
	}
	records, err := record.Open(t.Context(), paths...)
	if err != nil {
		t.Fatal(err)
	}
	r := explain.Of(records)
	if len(r.Groups) != 1 || len(r.Damages) > 0 {
		t.Fatalf("%d groups, damages %q", len(r.Groups), r.Damages)
	}
	if n := len(r.Groups[0].Violations); n > 0 {
		t.Errorf("violations: %+v", r.Groups[0].Violations)
	}
	return r.Groups[0]
}

// change returns the change that ended the lead of a member, if there is one that with that cause.
func change(t *testing.T, g *explain.Group, from uint64, cause explain.Cause) *explain.Change {
	t.Helper()
	var found *explain.Change
	for n := range g.Changes {
		if c := &g.Changes[n]; c.From != nil && *c.From == cmp.Or(from, 3) && (found == nil || c.Cause == cause) {
			found = c
		}
	}
	if found == nil {
		t.Fatalf("no lead of member 3 has ended: %+v", g.Changes)
	}
	return found
}

func after(c *ringleadertest.Cluster) {
	c.Until("another member leads", func() bool {
		for id := uint64(1); id <= 2; id++ {
			if m := c.Member(id); m != nil && m.View().Role == ringleader.Leader {
				return true
			}
		}
		return false
	})
	c.Pass(time.Second)
}

// The time until the first leader has parts, too.
func TestASlowStartIsTold(t *testing.T) {
	directory := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{Group: "slow", Record: ringleader.Record{Directory: directory}}, 1, 2, 3)
		defer c.Close()
		c.Cut([]uint64{1}, []uint64{2}, []uint64{3})
		c.Start(1)
		c.Pass(2 * time.Second)
		c.Start(2, 3)
		c.Pass(3 * time.Second)
		c.Heal()
		c.AwaitAny()
	})
	records, err := record.Open(t.Context(), directory)
	if err != nil {
		t.Fatal(err)
	}
	told := explain.Of(records).Groups[0].Changes[0].Bounded
	parts := regexp.MustCompile(`^[0-9.]+ m?s until a majority of the members ran; [0-9.]+ s until member [123] heard a majority: ` +
		`meanwhile the members lost others [4-9] times, and could not connect at least [4-9] times(; [0-9.]+ ms of election)?$`)
	if !parts.MatchString(strings.Join(told, "; ")) {
		t.Errorf("%q", told)
	}
}

func incidents() map[string]*incident {
	var (
		sick  atomic.Bool
		lasts atomic.Int64
	)
	return map[string]*incident{
		"killed, with a proof": {
			fault: func(_ *testing.T, c *ringleadertest.Cluster) { c.Kill(3); c.Prove(3); after(c) },
			cause: explain.Killed, how: explain.Certain, says: "its death was proven",
		},
		"killed, without a proof": {
			fault: func(_ *testing.T, c *ringleadertest.Cluster) { c.Kill(3); after(c) },
			cause: explain.Killed, how: explain.Likely, says: "closed the connection",
		},
		"killed, and its record is missing": {
			fault:   func(_ *testing.T, c *ringleadertest.Cluster) { c.Kill(3); c.Prove(3); after(c) },
			without: []uint64{3}, cause: explain.Killed, how: explain.Likely, says: "had a proof",
		},
		"resigned": {
			fault: func(t *testing.T, c *ringleadertest.Cluster) {
				if err := c.Member(3).Resign(t.Context()); err != nil {
					t.Error(err)
				}
				after(c)
			},
			cause: explain.Resigned, how: explain.Certain, says: "resigned",
		},
		"transferred, and its record is missing": {
			fault: func(t *testing.T, c *ringleadertest.Cluster) {
				if err := c.Member(3).Transfer(1); err != nil {
					t.Error(err)
				}
				after(c)
			},
			without: []uint64{3}, cause: explain.Transferred, how: explain.Certain, says: "to member 1",
		},
		"closed": {
			fault: func(t *testing.T, c *ringleadertest.Cluster) {
				if err := c.Member(3).Close(); err != nil {
					t.Error(err)
				}
				after(c)
			},
			cause: explain.Closed, how: explain.Certain, says: "closed",
		},
		"cut off": {
			fault: func(_ *testing.T, c *ringleadertest.Cluster) { c.Cut([]uint64{3}, []uint64{1, 2}); after(c) },
			cause: explain.Links, how: explain.Likely, says: "nothing arrived from 3 to 1 after",
		},
		"its answers are lost": {
			fault: func(_ *testing.T, c *ringleadertest.Cluster) {
				c.Hold(func(f ringleadertest.Frame) bool { return f.To == 3 && f.Kind == "grant" })
				after(c)
			},
			cause: explain.Links, how: explain.Likely, says: "nothing arrived from 1 to 3 after",
		},
		"cut off, with its own record alone": {
			fault:   func(_ *testing.T, c *ringleadertest.Cluster) { c.Cut([]uint64{3}, []uint64{1, 2}); after(c) },
			without: []uint64{1, 2}, cause: explain.Unknown, how: explain.None, says: "member 1 did not answer",
		},
		"cut off, and its record is missing": {
			fault:   func(_ *testing.T, c *ringleadertest.Cluster) { c.Cut([]uint64{3}, []uint64{1, 2}); after(c) },
			without: []uint64{3}, cause: explain.Unknown, how: explain.None, says: "cannot tell these apart",
		},
		"stopped": {
			fault: func(_ *testing.T, c *ringleadertest.Cluster) {
				c.Stop(3)
				c.Pass(3 * time.Second)
				c.Continue(3)
				after(c)
			},
			cause: explain.StoodStill, how: explain.Likely, says: "stood still for 3.0 s",
		},
		"suspended": {
			fault: func(_ *testing.T, c *ringleadertest.Cluster) {
				c.Host(3).Clock.Suspend(time.Minute)
				c.Pass(2 * time.Second)
			},
			cause: explain.Suspended, how: explain.Certain, says: "suspended for 60.0 s",
		},
		"both followers killed": {
			fault: func(_ *testing.T, c *ringleadertest.Cluster) { c.Kill(1); c.Kill(2); c.Pass(2 * time.Second) },
			cause: explain.Followers, how: explain.Likely, says: "member 1 was not running, or its record is not whole: it ends at",
		},
		"preempted": {
			config: ringleader.Config{Preempt: true},
			fault: func(_ *testing.T, c *ringleadertest.Cluster) {
				c.Kill(3)
				c.Prove(3)
				c.Await(2)
				c.Start(3)
				c.Await(3)
				c.Pass(time.Second)
			},
			from:  2,
			cause: explain.Preempted, how: explain.Certain, says: "higher rank",
		},
		"unhealthy": {
			change: func(id uint64, config *ringleader.Config) {
				config.Health.Check = func(context.Context) error {
					if id == 3 && sick.Load() {
						return errors.New("no database")
					}
					return nil
				}
			},
			fault: func(_ *testing.T, c *ringleadertest.Cluster) { sick.Store(true); after(c) },
			cause: explain.Health, how: explain.Certain, says: "no database",
		},
		"a disk that stalls": {
			change: func(id uint64, config *ringleader.Config) {
				if id == 3 {
					config.Storage = storetest.Slow{Storage: config.Storage, Lasts: &lasts}
				}
			},
			fault: func(_ *testing.T, c *ringleadertest.Cluster) {
				lasts.Store(int64(3 * time.Second))
				after(c)
				lasts.Store(0)
				c.Pass(5 * time.Second) // until no probe runs
			},
			cause: explain.Disk, how: explain.Certain, says: "the disk has not answered",
		},
		"starved": {
			fault: late(150, 150, 150, 150, 350),
			cause: explain.Starved, how: explain.Likely, says: "too little of the processor",
		},
		"starved, and the first time ends the lead": {
			fault: late(500, 250, 250),
			cause: explain.Starved, how: explain.Likely, says: "too little of the processor",
		},
		"stopped, on a busy machine": {
			fault: late(90, 90, 90, 90, 90, 500, 90, 90),
			cause: explain.StoodStill, how: explain.Likely, says: "woke at",
		},
	}
}

// late lets the loop of member 3 be late by some milliseconds, again and again.
func late(times ...time.Duration) func(*testing.T, *ringleadertest.Cluster) {
	return func(_ *testing.T, c *ringleadertest.Cluster) {
		for _, d := range times {
			c.Stop(3)
			c.Pass(d * time.Millisecond)
			c.Continue(3)
			c.Pass(time.Millisecond)
		}
		c.Pass(2 * time.Second)
	}
}

func TestEachCauseIsFoundInTheRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	for name, i := range incidents() {
		t.Run(name, func(t *testing.T) {
			c := change(t, explained(t, i), i.from, i.cause)
			all := c.Text + "\n" + strings.Join(c.Evidence, "\n")
			if c.Cause != i.cause || c.Certainty != i.how || !strings.Contains(all, i.says) {
				t.Errorf("%s, %s; want %s, %s, with %q\n%s", c.Cause, c.Certainty, i.cause, i.how, i.says, all)
			}
			if c.Cause == explain.Unknown && len(c.Missing) == 0 {
				t.Error("nothing is missing, and the cause is unknown")
			}
		})
	}
}
