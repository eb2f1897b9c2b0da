package ringleader_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/serve/storetest"
	"ringleader.example/ringleader/ringleadertest"
)

// journal keeps the lines of a log that have a text.
type journal struct {
	text  string
	level slog.Level // the least

	mu    sync.Mutex
	lines []slog.Record
}

func (j *journal) Enabled(_ context.Context, level slog.Level) bool { return level >= j.level }
func (j *journal) WithAttrs([]slog.Attr) slog.Handler               { return j }
func (j *journal) WithGroup(string) slog.Handler                    { return j }

func (j *journal) Handle(_ context.Context, r slog.Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if r.Message == j.text {
		j.lines = append(j.lines, r)
	}
	return nil
}

// values returns what the lines have under a key.
func (j *journal) values(key string) (all []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range j.lines {
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == key {
				all = append(all, fmt.Sprint(a.Value))
			}
			return true
		})
	}
	return all
}

// caused is a cluster whose members say why their leader changes.
type caused struct {
	*ringleadertest.Cluster
	t        *testing.T
	journals map[uint64]*journal
	skip     map[uint64]int // lines that were there before
}

// causes starts members, each changed by a function. The last one leads.
func causes(t *testing.T, config ringleader.Config, change func(id uint64, config *ringleader.Config), ids ...uint64) *caused {
	t.Helper()
	c := &caused{ringleadertest.New(t, config, ids...), t, map[uint64]*journal{}, map[uint64]int{}}
	c.Configure(func(id uint64, config *ringleader.Config) {
		c.journals[id] = &journal{text: "leadership changed", level: slog.LevelInfo}
		config.Logger = slog.New(c.journals[id])
		if change != nil {
			change(id, config)
		}
	})
	c.Start(ids...)
	c.Pass(3 * time.Second)
	if last := ids[len(ids)-1]; c.Member(last).View().Role != ringleader.Leader {
		if err := c.Member(c.AwaitAny()).Transfer(last); err != nil {
			t.Fatal(err)
		}
	}
	c.Await(ids[len(ids)-1])
	c.begin(time.Second)
	return c
}

// begin forgets the lines of a time.
func (c *caused) begin(d time.Duration) {
	c.Pass(d)
	for id, j := range c.journals {
		c.skip[id] = len(j.values("because"))
	}
}

// says waits until a member knows another leader than before. It compares the causes in the log of that member, from begin on, with a pattern.
func (c *caused) says(id uint64, pattern string) {
	c.t.Helper()
	c.Until(fmt.Sprintf("member %d has lost its leader, and knows another", id), func() bool {
		return len(c.journals[id].values("because")) > c.skip[id] && c.Member(id).View().Known
	})
	lines := c.journals[id].values("because")[c.skip[id]:]
	for _, line := range lines { // that of the end, and that of the new leader
		if !regexp.MustCompile("^" + pattern + "$").MatchString(line) {
			c.t.Errorf("member %d says of the change %q, want %q", id, line, pattern)
		}
	}
	if len(lines) > 2 {
		c.t.Errorf("member %d has more than two lines: %q", id, lines)
	}
}

func TestEachChangeOfTheLeaderHasItsCauseInTheLog(t *testing.T) {
	for name, test := range map[string]struct {
		fault  func(c *caused)
		victim string // what 3 says; empty: it is dead
		others string // what 1 says
	}{
		"a kill with proof": {
			fault: func(c *caused) {
				c.Kill(3)
				c.Prove(3)
			},
			others: "crashed: its death is proven",
		},
		"a kill without": {
			fault:  func(c *caused) { c.Kill(3) },
			others: `lost: it is not reachable for 0\.\d s: member 3 closed the connection; the lease was for 300 ms`,
		},
		"Resign": {
			fault: func(c *caused) {
				if err := c.Member(3).Resign(c.t.Context()); err != nil {
					c.t.Error(err)
				}
			},
			victim: "resigned: the member resigned", others: "resigned: the member resigned",
		},
		"work that returns": {
			fault: func(c *caused) {
				go c.Member(3).Lead(c.t.Context(), func(context.Context, ringleader.Leadership) error { return errors.New("private text") })
			},
			victim: "resigned: the member resigned: its work has returned", others: "resigned: the member resigned: its work has returned",
		},
		"work that returns for a known reason": {
			fault: func(c *caused) {
				go c.Member(3).Lead(c.t.Context(), func(context.Context, ringleader.Leadership) error {
					return fmt.Errorf("private text: %w", record.Reason("the command has ended"))
				})
			},
			victim: "resigned: the member resigned: the command has ended", others: "resigned: the member resigned: the command has ended",
		},
		"the end of the work's context": {
			fault: func(c *caused) {
				ctx, end := context.WithCancelCause(c.t.Context())
				go c.Member(3).Lead(ctx, func(ctx context.Context, _ ringleader.Leadership) error {
					<-ctx.Done()
					return nil
				})
				c.Settle()
				end(record.Reason("a signal was received"))
			},
			victim: "resigned: the member resigned: a signal was received", others: "resigned: the member resigned: a signal was received",
		},
		"Transfer": {
			fault: func(c *caused) {
				if err := c.Member(3).Transfer(1); err != nil {
					c.t.Error(err)
				}
			},
			victim: "transferred: to member 1", others: "transferred: to member 1",
		},
		"Close": {
			fault: func(c *caused) {
				if err := c.Member(3).Close(); err != nil {
					c.t.Error(err)
				}
			},
			others: "closed: the member is closed",
		},
		"a cut": {
			fault:  func(c *caused) { c.Cut([]uint64{3}, []uint64{1, 2}) },
			victim: `lapsed: no majority has renewed the lease; member 1 has not answered for 0\.\d s, member 2 has not answered for 0\.\d s; the lease was for 300 ms`,
			others: `silent: its last message came 0\.\d s ago, and its connection stands; the lease was for 300 ms`,
		},
		"a cut while it works": {
			fault: func(c *caused) {
				go c.Member(3).Lead(c.t.Context(), func(ctx context.Context, _ ringleader.Leadership) error {
					<-ctx.Done()
					return nil
				})
				c.Settle()
				c.Cut([]uint64{3}, []uint64{1, 2})
			},
			victim: `lapsed: no majority has renewed the lease; member 1 has not answered for 0\.\d s, member 2 has not answered for 0\.\d s; the lease was for 300 ms`,
			others: `silent: its last message came 0\.\d s ago, and its connection stands; the lease was for 300 ms`,
		},
		"a pause": {
			fault: func(c *caused) {
				c.Stop(3)
				c.Pass(3 * time.Second)
				c.Continue(3)
			},
			victim: `delayed: its process stood still, or had too little of the processor, for 3\.0 s; the lease was for 300 ms`,
			others: `silent: its last message came 0\.\d s ago, and its connection stands; the lease was for 300 ms`,
		},
		"a suspension": {
			fault:  func(c *caused) { c.Host(3).Clock.Suspend(time.Minute) },
			victim: `suspended: its machine was suspended for 60\.0 s; the lease was for 300 ms`,
			others: `suspended: its machine was suspended for 60\.0 s; the lease was for 300 ms`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := causes(t, ringleader.Config{}, nil, 1, 2, 3)
				defer c.Close()
				test.fault(c)
				c.says(1, test.others)
				if test.victim == "" {
					return
				}
				c.Heal()
				c.says(3, test.victim)
			})
		})
	}
}

func TestAPreemptionHasItsCauseInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := causes(t, ringleader.Config{Preempt: true}, nil, 1, 2, 3)
		defer c.Close()
		c.Kill(3)
		c.Prove(3)
		c.Await(2)
		c.Start(3)
		c.begin(50 * time.Millisecond)
		c.Await(3)
		for id := uint64(1); id <= 3; id++ {
			c.says(id, "preempted: member 3 of higher rank takes over")
		}
	})
}

func TestALeaderThatMayLeadNoMoreSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sick atomic.Bool
		c := causes(t, ringleader.Config{}, func(id uint64, config *ringleader.Config) {
			config.Health.Check = func(context.Context) error {
				if id == 3 && sick.Load() {
					return errors.New("no connection to the database")
				}
				return nil
			}
		}, 1, 2, 3)
		defer c.Close()
		sick.Store(true)
		for _, id := range []uint64{1, 3} {
			c.says(id, "unhealthy: the health check fails: no connection to the database")
		}
	})
}

func TestALeaderWhoseDiskStallsSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lasts [4]atomic.Int64
		c := causes(t, ringleader.Config{}, func(id uint64, config *ringleader.Config) {
			config.Storage = storetest.Slow{Storage: config.Storage, Lasts: &lasts[id]}
		}, 1, 2, 3)
		defer func() { <-time.After(time.Hour) }() // until no probe runs
		defer c.Close()
		lasts[3].Store(int64(time.Minute))
		for _, id := range []uint64{1, 3} {
			c.says(id, `disk: the storage fails: the disk has not answered for 1\.0 s`)
		}
	})
}

func TestTheStatusHasTheLastChangeAndTheCountersItsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := causes(t, ringleader.Config{}, nil, 1, 2, 3)
		defer c.Close()
		is := func(cause string, from, to uint64) {
			t.Helper()
			number := func(id *uint64) uint64 {
				if id == nil {
					return 0
				}
				return *id
			}
			if l := c.Member(1).Status().LastChange; l == nil || l.Cause != cause || number(l.From) != from || number(l.To) != to || !l.Time.Equal(c.Member(1).View().Since) {
				t.Errorf("the last change is %+v, want %s, from %d to %d", l, cause, from, to)
			}
		}
		is("elected", 0, 3)
		c.Cut([]uint64{1}, []uint64{2, 3})
		c.Until("1 has no leader", func() bool { return !c.Member(1).View().Known })
		is("silent", 3, 0)
		c.Heal()
		c.Await(3)
		is("silent", 3, 3)
		if err := c.Member(3).Resign(t.Context()); err != nil {
			t.Error(err)
		}
		c.Await(2)
		is("resigned", 3, 2)
		for cause, n := range c.Member(1).ChangesByCause() {
			if counted := cause == "elected" || cause == "silent" || cause == "resigned"; counted != (n == 1) || !counted && n > 0 {
				t.Errorf("there were %d changes because %s", n, cause)
			}
		}
	})
}

// The claim of a successor may overtake what the leader before has told.
func TestACauseThatComesLateIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := causes(t, ringleader.Config{}, nil, 1, 2, 3)
		defer c.Close()
		c.Hold(func(f ringleadertest.Frame) bool {
			return f.To == 1 && (f.From == 3 || f.From == 2 && f.Kind == "renew")
		})
		if err := c.Member(3).Transfer(2); err != nil {
			t.Fatal(err)
		}
		c.Until("1 has heard that the lead has ended", func() bool { return !c.Member(1).View().Known })
		c.Hold(func(f ringleadertest.Frame) bool { return f.From == 2 })
		for i := 0; i < len(c.Held()); {
			if c.Held()[i].From == 3 {
				c.Deliver(i)
			} else {
				i++
			}
		}
		c.Settle()
		c.Hold(nil)
		for len(c.Held()) > 0 {
			c.Deliver(0)
		}
		c.Await(2)
		lines := c.journals[1].values("because")[c.skip[1]:]
		if want := []string{"unknown: member 2 has a higher term, and what became of member 3 is not known", "transferred: to member 2"}; !slices.Equal(lines, want) {
			t.Errorf("it logs %q, want %q", lines, want)
		}
		if n := c.Member(1).ChangesByCause(); n["transferred"] != 1 || n["unknown"] != 0 {
			t.Errorf("it counts %v", n)
		}
	})
}

func TestALateRenewalHasItsCauseInTheLog(t *testing.T) {
	lease := ringleader.Test().Lease
	for pattern, fault := range map[string]func(c *ringleadertest.Cluster){
		`lapsed: a majority has answered late; member 1 has not answered for 0\.\d s, member 2 has not answered for 0\.\d s`: func(c *ringleadertest.Cluster) {
			c.Cut([]uint64{3}, []uint64{1, 2})
			c.Pass(lease * 2 / 3)
			c.Heal()
		},
		`delayed: its process stood still, or had too little of the processor, for 0\.\d s`: func(c *ringleadertest.Cluster) {
			c.Stop(3)
			c.Pass(lease * 2 / 3)
			c.Continue(3)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
			defer c.Close()
			j := &journal{text: "the lease was renewed late", level: slog.LevelInfo}
			c.Configure(func(id uint64, config *ringleader.Config) {
				if id == 3 {
					config.Logger = slog.New(j)
				}
			})
			c.Start(1, 2, 3)
			c.Await(3)
			c.Pass(time.Second)
			for range 2 {
				before := c.Member(3).Counters().LateRenewals
				fault(c)
				c.Until("a renewal was late", func() bool { return c.Member(3).Counters().LateRenewals > before })
			}
			if lines := j.values("because"); len(lines) != 1 || !regexp.MustCompile("^"+pattern+"$").MatchString(lines[0]) {
				t.Errorf("it logs %q, want one line %q", lines, pattern)
			}
		})
	}
}
