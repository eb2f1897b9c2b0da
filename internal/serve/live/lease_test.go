package live

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/framing"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport"
	"ringleader.example/ringleader/transport/transporttest"
)

// The lease of these groups, in units of a millisecond.
const lease = 300 * time.Millisecond

// leased is a cluster of members that run quorum-bully over an exchange of frames, each with a store.
func leased(t *testing.T, n int) (*cluster, *transporttest.Exchange) {
	c, e := newCluster(t, quorumbully.Algorithm, n), transporttest.NewExchange()
	c.parameters = map[string]string{"lease": fmt.Sprint(lease.Milliseconds()), "renewal": "40", "answer-timeout": "5", "deferral": "15", "claim-timeout": "40"}
	c.over = e
	for id := range uint64(n) {
		c.disks[id+1] = storage.Memory()
	}
	return c, e
}

// elected is a cluster of three members that follow member 3.
func elected(t *testing.T) (*cluster, *transporttest.Exchange) {
	t.Helper()
	c, e := leased(t, 3)
	c.start(1, 2, 3)
	c.follow(3)
	return c, e
}

// follow waits until all members follow a leader.
func (c *cluster) follow(leader uint64) {
	c.t.Helper()
	for id := range c.members {
		c.until(id, fmt.Sprintf("follows %d", leader), follows(leader))
	}
}

// A member that lost its store may have voted, and another one that copied an identifier has not.
func TestAMemberWithAnotherStoreIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := elected(t)
		defer c.stopAll()
		c.crash(2)
		kept := c.disks[2].Copy()
		c.disks[2].Lose()
		c.start(2)
		settle()
		const want = "refused: member 2 has another store than before; if its state is lost, a member with a new id takes its place"
		const refuses = "this member refuses it: member 2 has another store than before; if its state is lost, a member with a new id takes its place"
		if s, _ := c.members[1].Group.State(); s.Problems[1] != refuses {
			t.Errorf("the one that refuses it knows %q", s.Problems)
		}
		// It may hear the leader, whose connection to it stands. Its own votes are refused.
		if s, _ := c.members[2].Group.State(); leads(s) || s.Problems[0] != want || s.Problems[2] != want {
			t.Errorf("it knows %+v", s)
		}
		// The others remember it, too, after a restart.
		c.crash(1, 3)
		c.start(1, 3)
		settle()
		if s, _ := c.members[2].Group.State(); s.Problems[0] != want || s.Problems[2] != want {
			t.Errorf("after a restart of the others it knows %+v", s)
		}
		c.crash(2)
		c.disks[2] = kept
		c.start(2)
		c.until(1, "knows of no problem with the first store of 2", func(s view.State) bool { return s.Reachable[1] && s.Problems[1] == "" })
	})
}

// The first store of a peer is durable before the peer is taken: a crash must not let another one in.
func TestAPeerIsTakenWhenItsStoreIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := leased(t, 2)
		defer c.stopAll()
		c.start(1)
		settle()
		gate := make(chan struct{})
		c.disks[1].Intercept(func([]storage.Record) error { <-gate; return nil })
		c.start(2)
		<-time.After(5 * suspicion) // 2 asks again and again
		if s, _ := c.members[1].Group.State(); s.Reachable[1] {
			t.Error("it is taken before that is durable")
		}
		close(gate)
		c.until(1, "reaches 2", reaches2)
	})
}

// What a step sends leaves when the state that it has changed is durable, and a slow disk stops neither heartbeats nor other groups.
func TestASlowDiskDelaysWhatDependsOnIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, e := elected(t)
		defer c.stopAll()
		gate := make(chan struct{})
		c.disks[1].Intercept(func([]storage.Record) error { <-gate; return nil })
		var kinds []election.Kind
		e.Hold(func(f transporttest.Frame) bool {
			if f.From == 1 && f.What == transporttest.Message {
				kinds = append(kinds, election.Kind(f.Kind))
			}
			return false
		})
		c.crash(3) // 2 claims, and 1 must not grant before that is durable
		<-time.After(2 * lease)
		if slices.Contains(kinds, quorumbully.Grant) {
			t.Error("a grant left before it was durable")
		}
		if s, _ := c.members[2].Group.State(); !s.Reachable[0] || s.Role == network.Leader {
			t.Errorf("while the disk does not answer, 2 knows %+v", s)
		}
		close(gate)
		c.until(1, "knows a leader", func(s view.State) bool { return s.Leader != 0 })
	})
}

// A disk that is full for a while means that a member gives no answer for a while. After a failed flush it ends.
func TestAWriteThatFailsIsTriedAgainAndAFailedFlushEndsTheMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := leased(t, 2)
		defer c.stopAll()
		c.start(1, 2)
		c.until(1, "follows 2", follows(2))
		c.disks[1].Intercept(func([]storage.Record) error { return storage.ErrWrite })
		c.crash(2)
		c.start(2)
		<-time.After(4 * lease)
		if s, _ := c.members[2].Group.State(); s.Role == network.Leader {
			t.Error("2 has the vote of a member that cannot write it")
		}
		c.disks[1].Intercept(nil)
		c.until(2, "knows a leader", func(s view.State) bool { return s.Leader != 0 })
		c.disks[1].Intercept(func([]storage.Record) error { return storage.ErrFlush })
		m := c.members[1]
		m.Group.Command(election.Command{Order: election.Resign})
		c.members[2].Group.Command(election.Command{Order: election.Resign})
		<-time.After(4 * lease) // and no longer: one that ignores the error goes on for ever
		if !errors.Is(m.Err(), storage.ErrFlush) {
			t.Errorf("after a failed flush the member goes on: %v", m.Err())
		}
	})
}

// A machine that was suspended finds its lease over, before it does anything else: its timers have not run meanwhile.
func TestALeaseEndsDuringASuspension(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := elected(t)
		defer c.stopAll()
		s, _ := c.members[3].Group.State()
		c.clocks[3].Suspend(lease)
		if c.members[3].Group.Left(s.Term) > 0 {
			t.Error("its lease runs on")
		}
		if now, _ := c.members[3].Group.State(); leads(now) {
			t.Error("it still leads")
		}
		c.until(1, "follows a leader of a later term", func(now view.State) bool { return now.Term > s.Term && now.Leader != 0 })
	})
}

// A lead that is not prolonged ends with its lease, and the state has that moment, at once and later.
func TestTheStateHasTheTimeAtWhichALeaseEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, e := elected(t)
		defer c.stopAll()
		e.Hold(func(f transporttest.Frame) bool { return f.From == 3 || f.To == 3 }) // 3 is cut off
		s, _ := c.members[3].Group.State()
		<-time.After(time.Until(s.Until) + time.Nanosecond)
		for range 2 {
			now, _ := c.members[3].Group.State()
			if leads(now) || now.Since.Before(s.Until) {
				t.Errorf("it leads: %v, since %v; its lease ended at %v", leads(now), now.Since, s.Until)
			}
			settle()
		}
	})
}

// Promises do not run out during a suspension.
func TestAPromiseIsKeptForItsTimeDespiteASuspension(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, e := elected(t)
		defer c.stopAll()
		e.Hold(func(f transporttest.Frame) bool { return f.From == 3 || f.To == 3 }) // 3 is cut off
		cut := time.Now()
		c.clocks[1].Suspend(10 * lease)
		c.clocks[2].Suspend(10 * lease)
		c.until(2, "leads", leads)
		if took := time.Since(cut); took < lease-50*time.Millisecond {
			t.Errorf("the others promised their votes again after %v", took)
		}
	})
}

// A proof of death frees the votes of all, also of those that it reaches by others; no other secret does.
func TestAProofOfDeathEndsALease(t *testing.T) {
	for _, test := range []struct {
		name   string
		secret [32]byte
		valid  bool
	}{{"its secret", [32]byte{1}, true}, {"another secret", [32]byte{2}, false}} {
		synctest.Test(t, func(t *testing.T) {
			c, e := leased(t, 3)
			defer c.stopAll()
			c.deaths = map[uint64][32]byte{3: sha256.Sum256([]byte{1, 31: 0})}
			c.start(1, 2, 3)
			c.follow(3)
			c.crash(3)
			died := time.Now()
			if taken := <-e.Prove(1, transport.Proof{Member: 3, Secret: test.secret}); taken != test.valid {
				t.Errorf("%s: taken: %v", test.name, taken)
			}
			took := c.until(2, "leads", leads)
			if soon := time.Since(died) < lease/2; soon != test.valid {
				t.Errorf("%s: 2 leads after %v", test.name, took)
			}
		})
	}
}

// Each member passes a proof on to few others at once, and to all with its next heartbeat. Member 2, which gets it, asks no
// question that carries it.
func TestAProofOfDeathReachesAllMembersFromOne(t *testing.T) {
	for _, test := range []struct {
		name   string
		held   []uint64 // what member 2 sends to these does not arrive
		within time.Duration
	}{{"at once", nil, beat}, {"with a heartbeat", []uint64{3, 4}, lease / 2}} {
		synctest.Test(t, func(t *testing.T) {
			c, e := leased(t, 7)
			defer c.stopAll()
			c.deaths = map[uint64][32]byte{7: sha256.Sum256([]byte{1, 31: 0})}
			c.start(1, 2, 3, 4, 5, 6, 7)
			c.follow(7)
			c.members[2].Group.Command(election.Command{Order: election.Weigh, Number: 0})
			c.crash(7)
			died := time.Now()
			e.Hold(func(f transporttest.Frame) bool { return f.From == 2 && slices.Contains(test.held, f.To) })
			if !<-e.Prove(2, transport.Proof{Member: 7, Secret: [32]byte{1}}) {
				t.Fatal("the proof is refused")
			}
			c.until(6, "leads", leads)
			if took := time.Since(died); took >= test.within {
				t.Errorf("%s: 6 leads after %v", test.name, took)
			}
		})
	}
}

// A life that is proven dead is not connected with again: its frames may still be under way.
func TestADeadLifeIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, e := leased(t, 3)
		defer c.stopAll()
		c.deaths = map[uint64][32]byte{3: sha256.Sum256([]byte{1, 31: 0})}
		c.start(1, 2, 3)
		c.follow(3)
		if !<-e.Prove(1, transport.Proof{Member: 3, Secret: [32]byte{1}}) {
			t.Fatal("the proof is not taken")
		}
		e.Break(3, 1)
		settle()
		const want = "refused: this life of member 3 is proven dead"
		if s, _ := c.members[3].Group.State(); s.Problems[0] != want {
			t.Errorf("3 knows %+v", s)
		}
	})
}

// Several groups share the connections of a member, and the flushes of its disk.
func TestGroupsShareConnectionsAndFlushes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const more = 20
		c, _ := leased(t, 3)
		defer c.stopAll()
		c.start(1, 2, 3)
		groups := map[uint64][]*Group{}
		for id, m := range c.members {
			for i := range more {
				g, err := m.Join(GroupConfig{Group: fmt.Sprint("shard ", i), Parameters: c.parameters})
				if err != nil {
					t.Fatal(err)
				}
				groups[id] = append(groups[id], g)
			}
			if _, err := m.Join(GroupConfig{Group: "shard 0"}); !errors.Is(err, ErrJoined) {
				t.Errorf("it joins a group twice: %v", err)
			}
		}
		settle()
		saves := 0
		c.disks[1].Intercept(func([]storage.Record) error { saves++; <-time.After(5 * time.Millisecond); return nil })
		c.crash(3)
		settle()
		for i := range more {
			s1, _ := groups[1][i].State()
			s2, _ := groups[2][i].State()
			if s1.Leader != 2 && s1.Leader != 1 || s1.Leader != s2.Leader || s1.Term != s2.Term {
				t.Errorf("group %d: 1 knows %+v, and 2 %+v", i, s1, s2)
			}
		}
		if saves > more/2 {
			t.Errorf("elections of %d groups took %d flushes", more+1, saves)
		}
	})
}

func TestLimitsThatDifferAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := leased(t, 2)
		defer c.stopAll()
		for id, limits := range map[uint64]string{1: "lease 300ms", 2: "lease 400ms"} {
			c.limits = limits
			c.start(id)
		}
		const want = "it has lease 400ms; this member has lease 300ms"
		c.until(1, want, func(s view.State) bool { return s.Problems[1] == want })
	})
}

// Work is to stop, and holds the lease until it has.
func TestAHandoverWaitsForTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := elected(t)
		defer c.stopAll()
		m := c.members[3]
		s, _ := m.Group.State()
		if m.Group.Begin(s.Term + 1) {
			t.Error("work begins in a term that is not led")
		}
		if !m.Group.Begin(s.Term) || m.Group.Begin(s.Term) {
			t.Error("work does not begin once")
		}
		m.Group.Command(election.Command{Order: election.Resign})
		<-time.After(5 * lease)
		if now, _ := m.Group.State(); !leads(now) || !now.Stopping || now.Term != s.Term {
			t.Errorf("while its work goes on it knows %+v", now)
		}
		m.Group.End()
		took := c.until(2, "leads", leads)
		if took > lease/3 {
			t.Errorf("2 leads %v after the work has ended", took)
		}
		if m.Group.Begin(s.Term) {
			t.Error("work begins in a term that was released")
		}
	})
}

// Another member may lead as soon as a release has left.
func TestALeadHasEndedWhenItsReleaseLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, e := elected(t)
		defer c.stopAll()
		m, released := c.members[3], 0
		before, _ := m.Group.State()
		e.Hold(func(f transporttest.Frame) bool {
			if f.From == 3 && f.What == transporttest.Message && f.Kind == uint8(quorumbully.Release) {
				released++
				if s, _ := m.Group.State(); leads(s) || m.Group.Left(before.Term) > 0 {
					t.Errorf("its release leaves, and it knows %+v, with a lease of %v", s, m.Group.Left(before.Term))
				}
			}
			return false
		})
		m.Group.Command(election.Command{Order: election.Resign})
		c.until(2, "leads", leads)
		if released == 0 {
			t.Error("it has released nothing")
		}
		s, _ := c.members[2].Group.State()
		if now, _ := m.Group.State(); now.Since.After(s.Since) {
			t.Errorf("3 led until %v, and 2 leads since %v", now.Since, s.Since)
		}
	})
}

// What waits for a disk is read later, and may be malformed: that ends its connection, and not the member.
func TestAMalformedMessageThatWaitsEndsItsConnectionOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, ballots, 2)
		defer c.stopAll()
		c.disks[1] = storage.Memory()
		c.start(1)
		settle()
		conn := c.call(1)
		defer conn.Close()
		gate := make(chan struct{})
		c.disks[1].Intercept(func([]storage.Record) error { <-gate; return nil })
		write(t, conn, append([]byte{25, 0, 0}, append(message(0)[framing.HeadSize:], make([]byte, 16)...)...)) // asks for a vote, with the name of no member
		synctest.Wait()
		write(t, conn, append([]byte{10, 0, 0}, append(message(0)[framing.HeadSize:], 1)...)) // cut short
		synctest.Wait()
		if !isOpen(conn) {
			t.Error("it ended before it was read")
		}
		close(gate)
		synctest.Wait()
		if isOpen(conn) {
			t.Error("the connection goes on")
		}
		if err := c.members[1].Err(); err != nil {
			t.Errorf("the member has ended: %v", err)
		}
	})
}
