package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	beat      = 50 * time.Millisecond
	suspicion = 400 * time.Millisecond
)

// cluster is a group of members in a synctest bubble. Time there passes when all wait, so that whatever
// takes longer than an hour does not happen at all.
type cluster[S, M any] struct {
	t         *testing.T
	algorithm election.Algorithm[S, M]
	network   *lan
	addresses []Address
	data      map[uint64]string // directories
	members   map[uint64]*Member
}

func newCluster[S, M any](t *testing.T, a election.Algorithm[S, M], n int) *cluster[S, M] {
	c := &cluster[S, M]{t: t, algorithm: a, network: newNetwork(), data: map[uint64]string{}, members: map[uint64]*Member{}}
	for id := range uint64(n) {
		c.addresses = append(c.addresses, Address{id + 1, at(id + 1)})
	}
	return c
}

func at(id uint64) string { return fmt.Sprintf("member%d:1", id) }

func (c *cluster[S, M]) config(id uint64, at string) Config {
	return Config{
		ID: id, Members: c.addresses, Unit: time.Millisecond, Heartbeat: beat, Suspicion: suspicion, Data: c.data[id],
		Listener: c.network.listen(at), Dial: c.network.dialer(at),
	}
}

func (c *cluster[S, M]) start(ids ...uint64) {
	c.t.Helper()
	for _, id := range ids {
		m, err := Join(context.Background(), c.algorithm, c.config(id, at(id)))
		if err != nil {
			c.t.Fatal(err)
		}
		c.members[id] = m
	}
}

func (c *cluster[S, M]) crash(ids ...uint64) {
	for _, id := range ids {
		c.members[id].Close()
		delete(c.members, id)
	}
}

func (c *cluster[S, M]) stopAll() {
	for id := range c.members {
		c.crash(id)
	}
}

// until waits for a state of a member, and says how long that took.
func (c *cluster[S, M]) until(id uint64, what string, ok func(State) bool) time.Duration {
	c.t.Helper()
	begun, m := time.Now(), c.members[id]
	for {
		s, changed := m.State()
		if ok(s) {
			return time.Since(begun)
		}
		select {
		case <-changed:
		case <-m.Done():
			c.t.Fatalf("member %d stopped instead of: %s: %v", id, what, m.Err())
		case <-time.After(time.Hour):
			c.t.Fatalf("member %d never: %s; it knows %+v", id, what, s)
		}
	}
}

func leads(s State) bool { return s.Role == election.Leader }

func follows(leader uint64) func(State) bool {
	return func(s State) bool { return s.Leader == leader }
}

// settle lets all that is under way happen.
func settle() { <-time.After(10 * time.Second) }

func TestTheGreatestMemberThatLivesLeads(t *testing.T) {
	for n := 1; n <= 5; n++ {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, bully.Algorithm, n)
			defer c.stopAll()
			for id := range uint64(n) {
				c.start(id + 1)
			}
			for leader := uint64(n); leader >= 1; leader-- {
				for id := range c.members {
					c.until(id, fmt.Sprintf("follows %d", leader), follows(leader))
				}
				c.crash(leader)
			}
		})
	}
}

func TestABrokenConnectionIsSuspectedAtOnceAndSilenceAfterTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, bully.Algorithm, 3)
		defer c.stopAll()
		c.start(1, 2, 3)
		c.until(1, "follows 3", follows(3))
		settle()
		c.crash(3)
		if took := c.until(1, "suspects 3", func(s State) bool { return !s.Reachable[2] }); took != 0 {
			t.Errorf("a broken connection was noticed after %v", took)
		}
		c.until(1, "follows 2", follows(2))
		settle()
		c.network.separate(1, at(2))
		took := c.until(1, "suspects 2", func(s State) bool { return !s.Reachable[1] })
		if took > suspicion || took < suspicion-beat {
			t.Errorf("silence was noticed after %v; the timeout is %v, and the last heartbeat at most %v old", took, suspicion, beat)
		}
	})
}

func TestBothSidesOfAPartitionAgreeWhenItHeals(t *testing.T) {
	for _, atStart := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, bully.Algorithm, 5)
			defer c.stopAll()
			if !atStart {
				c.start(1, 2, 3, 4, 5)
				c.until(1, "follows 5", follows(5))
			}
			c.network.separate(1, at(2), at(5))
			if atStart {
				c.start(1, 2, 3, 4, 5)
			}
			c.until(1, "follows 4", follows(4))
			c.until(2, "follows 5", follows(5))
			settle()
			c.network.separate(0, at(2), at(5))
			for id := range c.members {
				c.until(id, "follows 5", follows(5))
			}
			settle()
			for id := range c.members {
				c.until(id, "still follows 5", follows(5))
			}
		})
	}
}

// After the last fault all agree on the greatest, whatever happened before: crashes, new lives, partitions,
// single connections that break.
func TestAgreementAfterTheLastFault(t *testing.T) {
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			n := 2 + r.IntN(4)
			c := newCluster(t, bully.Algorithm, n)
			defer c.stopAll()
			for range 20 {
				id := 1 + r.Uint64N(uint64(n))
				switch r.IntN(5) {
				case 0:
					if c.members[id] != nil {
						c.crash(id)
					}
				case 1, 2:
					if c.members[id] == nil {
						c.start(id)
					}
				case 3:
					c.network.separate(r.IntN(2), at(id))
				case 4:
					c.network.reset(r)
				}
				<-time.After(time.Duration(r.Int64N(int64(3*suspicion) / (1 + r.Int64N(20)))))
			}
			leader := uint64(0)
			for id := range c.members {
				leader = max(leader, id)
			}
			for id := range uint64(n) {
				c.network.separate(0, at(id+1))
			}
			settle()
			for id, m := range c.members {
				if s, _ := m.State(); s.Leader != leader || leads(s) != (id == leader) {
					t.Errorf("seed %d: member %d of %d follows %d, not %d", seed, id, n, s.Leader, leader)
				}
			}
		})
	}
}

// ballot is an algorithm that keeps something: the first that asks for its vote, for ever. The command asks
// all others, and the member follows whom they name.
type ballot struct {
	id    election.ID
	n     int
	keeps struct{ Vote election.ID }
}

type slip struct {
	Vote election.ID
	Path []uint16
}

var ballots = election.Algorithm[ballot, slip]{
	Declaration: election.Declaration{
		Name: "ballots", Topology: election.Complete, Task: election.Service, Survives: election.Crash | election.Recovery,
		Kinds: []election.MessageKind{{Name: "ask"}, {Name: "answer"}},
	},
	New:     func(l election.Local) ballot { return ballot{id: l.ID, n: l.Degree} },
	Start:   func(b *ballot, out *election.Out[slip]) { out.NoLeader() },
	Recover: func(b *ballot, out *election.Out[slip]) { out.Follow(b.keeps.Vote, 0) },
	Receive: func(b *ballot, port election.Port, kind election.Kind, m slip, out *election.Out[slip]) {
		if kind == 1 {
			out.Follow(m.Vote, 0)
			return
		}
		if b.keeps.Vote == 0 {
			b.keeps.Vote = election.From(port)
		}
		out.Send(port, 1, slip{b.keeps.Vote, append(m.Path[:len(m.Path):len(m.Path)], uint16(b.id))})
	},
	Command: func(b *ballot, _ election.Command, out *election.Out[slip]) {
		for j := range election.ID(b.n) {
			if j+1 != b.id {
				out.Send(election.To(j+1), 0, slip{Path: []uint16{uint16(b.id)}})
			}
		}
	},
	Durable: func(b *ballot) any { return &b.keeps },
}

func TestWhatIsKeptSurvivesACrash(t *testing.T) {
	for _, durable := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, ballots, 3)
			defer c.stopAll()
			if durable {
				c.data[1] = filepath.Join(t.TempDir(), "new", "directory")
			}
			c.start(1, 2)
			settle()
			c.members[2].Command(election.Command{Order: election.Resign})
			c.until(2, "has the vote of 1", follows(2))
			c.crash(1, 2)

			c.start(1, 3)
			if durable {
				c.until(1, "has recovered, with its vote", follows(2))
			}
			settle()
			c.members[3].Command(election.Command{Order: election.Resign})
			want := uint64(2)
			if !durable {
				want = 3
			}
			c.until(3, "is told the vote of 1", follows(want))
		})
	}
}

func TestNothingIsSentAfterAWriteFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, ballots, 2)
		defer c.stopAll()
		c.data[1] = filepath.Join(t.TempDir(), "data")
		c.start(1, 2)
		settle()
		if err := os.RemoveAll(c.data[1]); err != nil {
			t.Fatal(err)
		}
		c.members[2].Command(election.Command{Order: election.Resign})
		<-c.members[1].Done()
		if err := c.members[1].Err(); !errors.Is(err, ErrData) {
			t.Errorf("the member that could not write stopped with %v", err)
		}
		settle()
		if s, _ := c.members[2].State(); s.Leader != 0 || s.Reachable[0] {
			t.Errorf("its answer left all the same: %+v", s)
		}
	})
}

func TestASecondProcessWithOneIdentifierStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, bully.Algorithm, 3)
		defer c.stopAll()
		c.start(1, 2, 3)
		c.until(1, "follows 3", follows(3))
		settle()

		config := c.config(3, "elsewhere:1")
		second, err := Join(context.Background(), c.algorithm, config)
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		led := false
		for alive := true; alive; {
			s, changed := second.State()
			led = led || leads(s)
			select {
			case <-changed:
			case <-second.Done():
				alive = false
			}
		}
		if err := second.Err(); !errors.Is(err, ErrDuplicate) {
			t.Errorf("it stopped with %v", err)
		}
		if took := time.Since(begun); took < 2*suspicion || took > 2*suspicion+2*mostPause {
			t.Errorf("it stopped after %v, the suspicion timeout being %v", took, suspicion)
		}
		if led {
			t.Error("it led, beside the first")
		}
		for id := range c.members {
			c.until(id, "was not disturbed", follows(3))
		}
	})
}

func TestANewLifeIsNotTakenForASecondProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, bully.Algorithm, 3)
		defer c.stopAll()
		c.start(1, 2, 3)
		c.until(1, "follows 3", follows(3))
		// The host of 3 dies without a word, and the next life begins before anybody has noticed.
		c.network.separate(1, at(3))
		c.crash(3)
		config := c.config(3, at(3))
		config.Dial = c.network.dialer("another path:1")
		m, err := Join(context.Background(), c.algorithm, config)
		if err != nil {
			t.Fatal(err)
		}
		c.members[3] = m
		took := c.until(3, "leads", leads)
		if took < suspicion/2 || took > suspicion+mostPause*3/2 { // the silence, and the pause that it falls into
			t.Errorf("it led after %v, the suspicion timeout being %v", took, suspicion)
		}
		c.network.separate(0, at(3))
		c.until(1, "follows 3", follows(3))
	})
}

func TestMembersOfDifferentGroupsRefuseEachOtherAndSayWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, bully.Algorithm, 2)
		defer c.stopAll()
		c.start(1)
		h := hello{Group: c.members[1].shared, From: 2, To: 1, Incarnation: 1}
		for _, test := range []struct {
			change func(*hello)
			code   code
			reason string
		}{
			{func(*hello) {}, accepted, ""},
			{func(h *hello) { h.Group.Members[0]++ }, refused, "member 1 has another list of members; all must be given the same"},
			{func(h *hello) { h.Group.Algorithm[0]++ }, refused, "member 1 runs another algorithm, or another version of bully"},
			{func(h *hello) { h.Group.Parameters[0]++ }, refused, "member 1 has other parameters or another message delay; all must be given the same"},
			{func(h *hello) { h.From = 1 }, refusedDuplicate, "another live process has id 1"},
			{func(h *hello) { h.To = 2 }, refused, "this is member 1, not 2; its address is wrong in the list of members, or it listens at a wrong one"},
			{func(h *hello) { h.From = 3 }, refused, "there is no member 3"},
		} {
			h := h
			test.change(&h)
			conn, err := c.network.dialer("me:1")(context.Background(), "", at(1))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Write(h.encode()); err != nil {
				t.Fatal(err)
			}
			v, err := readVerdict(conn)
			if v != (verdict{test.code, test.reason}) || err != nil {
				t.Errorf("%+v, %v; want %q", v, err, test.reason)
			}
			conn.Close()
		}
	})
}

func TestAMalformedMessageEndsItsConnectionOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, ballots, 2)
		defer c.stopAll()
		c.start(1)
		for _, frame := range [][]byte{
			{0, 0},                            // of no length
			{0xff, 0xff, 0},                   // too long
			{1, 0, 7},                         // of an undeclared kind
			{1, 0, 99},                        // of an impossible kind
			{2, 0, heartbeat, 0},              // a heartbeat that says something
			{3, 0, 0, 1, 2},                   // cut short
			{9, 0, 0, 1, 0, 0, 0, 9, 9, 9, 9}, // a list of a hundred million
		} {
			conn, err := c.network.dialer("me:1")(context.Background(), "", at(1))
			if err != nil {
				t.Fatal(err)
			}
			h := hello{Group: c.members[1].shared, From: 2, To: 1, Incarnation: 1}
			for _, b := range [][]byte{h.encode(), heartbeatFrame, frame} {
				if _, err := conn.Write(b); err != nil {
					t.Fatal(err)
				}
			}
			if v, err := readVerdict(conn); err != nil || v.code != accepted {
				t.Fatal(v, err)
			}
			conn.SetReadDeadline(time.Now().Add(suspicion / 2)) // by then only the frame can have ended it
			if _, err := conn.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("frame %v was swallowed", frame)
			}
			conn.Close()
		}
		c.start(2)
		settle()
		c.members[2].Command(election.Command{Order: election.Resign})
		c.until(2, "has the vote of 1", follows(2))
	})
}

func TestOnlyGroupsOfKnownMembersRunLive(t *testing.T) {
	_, err := Join(context.Background(), lcr.Algorithm, Config{ID: 1, Members: []Address{{1, "127.0.0.1:1"}}})
	if !errors.Is(err, network.ErrSetup) {
		t.Errorf("%v", err)
	}
}
