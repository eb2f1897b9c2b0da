package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/clock/clocktest"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/framing"
	"ringleader.example/ringleader/internal/core/leaks"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/kept"
	"ringleader.example/ringleader/internal/serve/recorder"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport"
	"ringleader.example/ringleader/transport/transporttest"
)

func TestMain(m *testing.M) { leaks.Main(m) }

const (
	beat      = 50 * time.Millisecond
	suspicion = 400 * time.Millisecond
)

// cluster is a group of members in a synctest bubble. Time there passes when all goroutines wait, so an event that
// takes longer than an hour does not happen at all.
type cluster struct {
	t         *testing.T
	algorithm *process.Program
	network   *transporttest.LAN
	group     transport.Group // as members present it
	addresses []transport.Member
	disks     map[uint64]*storage.Disk
	clocks    map[uint64]*clocktest.Clock
	deaths    map[uint64][32]byte
	limits    string
	over      *transporttest.Exchange   // in place of network; may be nil
	opens     map[uint64]transport.Open // likewise, of some members
	pulses    map[uint64]*pulse

	recorded   func(id uint64) (*recorder.Config, *slog.Logger) // nil: nothing is recorded
	parameters map[string]string
	members    map[uint64]*Member
}

// hidden hides the types of an algorithm.
func hidden[S, M any](a election.Algorithm[S, M]) *process.Program {
	return process.Must(process.Of(&a))
}

func newCluster[S, M any](t *testing.T, a election.Algorithm[S, M], n int) *cluster {
	return clusterOf(t, hidden(a), n)
}

func clusterOf(t *testing.T, a *process.Program, n int) *cluster {
	c := &cluster{t: t, algorithm: a, network: transporttest.NewLAN(), disks: map[uint64]*storage.Disk{}, clocks: map[uint64]*clocktest.Clock{}, members: map[uint64]*Member{}}
	for id := range uint64(n) {
		c.addresses = append(c.addresses, transport.Member{ID: id + 1, Address: at(id + 1)})
	}
	return c
}

func at(id uint64) string { return fmt.Sprintf("member%d:1", id) }

func (c *cluster) config(id uint64, at string) Config {
	c.clocks[id] = clocktest.New()
	open := transport.Open(nil)
	if c.over != nil {
		open = c.over.Open
	} else if open = c.opens[id]; open == nil {
		open = c.open(c.network.Listen(at), at)
	}
	config := Config{
		ID: id, Members: c.addresses, Unit: time.Millisecond, Heartbeat: beat, Suspicion: suspicion, Storage: c.disk(id),
		GroupConfig: GroupConfig{Parameters: c.parameters, Limits: c.limits},
		Transport:   open,
		Clock:       c.clocks[id],
		Death:       c.deaths[id],
	}
	if c.recorded != nil {
		config.Record, config.Logger = c.recorded(id)
	}
	if p := c.pulses[id]; p != nil {
		config.Pulse, config.Hang = p, hang
	}
	return config
}

// disk opens the store of a member, if it has one.
func (c *cluster) disk(id uint64) storage.Storage {
	if c.disks[id] == nil {
		return nil
	}
	s, err := c.disks[id].Open()
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// open is a transport over a listener, which dials from an address.
func (c *cluster) open(listener net.Listener, from string) transport.Open {
	return func(config transport.Config) (transport.Transport, error) {
		if c.group != config.Group { // an impostor may be reading it
			c.group = config.Group
		}
		return transport.TCP{Listener: listener, Dial: c.network.Dialer(from), Insecure: true}.Open(config)
	}
}

// start starts members. Over an exchange they begin together, and all that needs no time has happened when start returns: the
// scheduler decides neither which member asks first nor which connections stand.
func (c *cluster) start(ids ...uint64) {
	c.t.Helper()
	if c.over != nil {
		c.over.Pause()
		defer synctest.Wait()
		defer c.over.Resume()
		defer synctest.Wait() // the first messages
		defer c.over.Flush()
		defer synctest.Wait() // the first connections
	}
	for _, id := range ids {
		m, err := JoinProgram(context.Background(), c.algorithm, c.config(id, at(id)))
		if err != nil {
			c.t.Fatal(err)
		}
		c.members[id] = m
	}
}

func (c *cluster) crash(ids ...uint64) {
	for _, id := range ids {
		c.members[id].Close()
		delete(c.members, id)
	}
}

func (c *cluster) stopAll() {
	for id := range c.members {
		c.crash(id)
	}
}

// until waits for a state of a member, and returns how long that took.
func (c *cluster) until(id uint64, what string, ok func(view.State) bool) time.Duration {
	c.t.Helper()
	begun, m := time.Now(), c.members[id]
	for {
		s, changed := m.Group.State()
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

func leads(s view.State) bool { return s.Role == network.Leader }

func follows(leader uint64) func(view.State) bool {
	return func(s view.State) bool { return s.Leader == leader }
}

// The members' timers end at whole milliseconds. What a test does after settled never falls on the moment of one of them: which of the two would be
// first is chance.
const settled = 10*time.Second + time.Millisecond/2

// settle waits until all pending events have happened.
func settle() { <-time.After(settled) }

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
		if took := c.until(1, "suspects 3", func(s view.State) bool { return !s.Reachable[2] }); took != 0 {
			t.Errorf("a broken connection was noticed after %v", took)
		}
		c.until(1, "follows 2", follows(2))
		settle()
		c.network.Separate(1, at(2))
		took := c.until(1, "suspects 2", func(s view.State) bool { return !s.Reachable[1] })
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
			c.network.Separate(1, at(2), at(5))
			if atStart {
				c.start(1, 2, 3, 4, 5)
			}
			c.until(1, "follows 4", follows(4))
			c.until(2, "follows 5", follows(5))
			settle()
			c.network.Separate(0, at(2), at(5))
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

// After the last fault all agree on the largest, after any earlier faults: crashes, new lives, partitions,
// links that are cut, single connections that break.
func TestAgreementAfterTheLastFault(t *testing.T) {
	seeds := uint64(200)
	if testing.Short() { // for races
		seeds = 20
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			n := 2 + r.IntN(4)
			c := newCluster(t, bully.Algorithm, n)
			defer c.stopAll()
			if seed%2 == 0 {
				c.parameters = recovery
			}
			for range 20 {
				id := 1 + r.Uint64N(uint64(n))
				switch r.IntN(6) {
				case 0:
					if c.members[id] != nil {
						c.crash(id)
					}
				case 1, 2:
					if c.members[id] == nil {
						c.start(id)
					}
				case 3:
					c.network.Separate(r.IntN(2), at(id))
				case 4:
					c.network.Reset(r.IntN)
				case 5:
					c.network.Cut(at(id), at(1+r.Uint64N(uint64(n))))
				}
				<-time.After(time.Duration(r.Int64N(int64(3*suspicion) / (1 + r.Int64N(20)))))
			}
			leader := uint64(0)
			for id := range c.members {
				leader = max(leader, id)
			}
			for id := range uint64(n) {
				c.network.Separate(0, at(id+1))
			}
			c.network.Mend()
			settle()
			for id, m := range c.members {
				if s, _ := m.Group.State(); s.Leader != leader || leads(s) != (id == leader) {
					t.Errorf("seed %d: member %d of %d follows %d, not %d", seed, id, n, s.Leader, leader)
				}
			}
		})
	}
}

// ballot is an algorithm with persistent state: the first member that asks for its vote, for ever. The command asks
// all others, and the member follows the one that they name.
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
				c.disks[1] = storage.Memory()
			}
			c.start(1, 2)
			settle()
			c.members[2].Group.Command(election.Command{Order: election.Resign})
			c.until(2, "has the vote of 1", follows(2))
			c.crash(1, 2)

			c.start(1, 3)
			if durable {
				c.until(1, "has recovered, with its vote", follows(2))
			}
			settle()
			c.members[3].Group.Command(election.Command{Order: election.Resign})
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
		c.disks[1] = storage.Memory()
		c.start(1, 2)
		settle()
		c.disks[1].Intercept(func([]storage.Record) error { return storage.ErrFlush })
		c.members[2].Group.Command(election.Command{Order: election.Resign})
		<-c.members[1].Done()
		if err := c.members[1].Err(); !errors.Is(err, storage.ErrFlush) {
			t.Errorf("the member that could not write stopped with %v", err)
		}
		settle()
		if s, _ := c.members[2].Group.State(); s.Leader != 0 || s.Reachable[0] {
			t.Errorf("its answer left all the same: %+v", s)
		}
	})
}

func TestANewLifeIsNotTakenForASecondProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, bully.Algorithm, 3)
		defer c.stopAll()
		c.start(1, 2, 3)
		c.until(1, "follows 3", follows(3))
		// The host of 3 fails silently, and the next life begins before any member has noticed.
		c.network.Separate(1, at(3))
		c.crash(3)
		config := c.config(3, at(3))
		config.Transport = c.open(c.network.Listen(at(3)), "another path:1")
		m, err := JoinProgram(context.Background(), c.algorithm, config)
		if err != nil {
			t.Fatal(err)
		}
		c.members[3] = m
		took := c.until(3, "leads", leads)
		if took < suspicion/2 || took > suspicion+transport.MostPause*3/2 { // the silence, and the pause that it falls into
			t.Errorf("it led after %v, the suspicion timeout being %v", took, suspicion)
		}
		c.network.Separate(0, at(3))
		c.until(1, "follows 3", follows(3))
	})
}

func TestAMemberThatCannotListenLeavesItsStoreAsItWas(t *testing.T) {
	disk, taken := storage.Memory(), errors.New("taken")
	open := func() storage.Storage {
		s, err := disk.Open()
		if err != nil {
			t.Fatalf("its store is still in use: %v", err)
		}
		return s
	}
	_, err := Join(context.Background(), ballots, Config{
		ID: 1, Members: []transport.Member{{ID: 1, Address: at(1)}}, Unit: 1, Heartbeat: beat, Suspicion: suspicion, Storage: open(),
		Transport: func(transport.Config) (transport.Transport, error) { return nil, taken },
	})
	if b, e := open().Load(kept.MemberName); !errors.Is(err, taken) || e != nil || b != nil {
		t.Errorf("it said %v, and left %v, %v", err, b, e)
	}
}

// lists changes a Hello to one of a process with these members.
func lists(ids ...uint64) func(*transport.Hello) {
	return func(h *transport.Hello) {
		h.Group = transport.GroupOf("", ids, h.Group.Algorithm)
	}
}

func TestMembersOfDifferentGroupsRefuseEachOtherAndSayWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, bully.Algorithm, 2)
		defer c.stopAll()
		c.start(1)
		h := c.hello(1)
		for _, test := range []struct {
			change func(*transport.Hello)
			code   transport.Code
			reason string
		}{
			{func(*transport.Hello) {}, transport.Accepted, ""},
			{func(h *transport.Hello) { h.Group.Name[0]++ }, transport.Refused, `member 1 belongs to the group "", and the process that dials it to another`},
			{lists(1, 2, 4), transport.Refused, "the lists of members differ in 4, standby apart: member 2 has 1 2 4, and member 1 has 1 2"},
			{lists(2, 5), transport.Refused, "the lists of members differ in 1 5, standby apart: member 2 has 2 5, and member 1 has 1 2"},
			{func(h *transport.Hello) { h.Group.Founders[0]++ }, transport.Refused, "the lists of members differ in later ones, standby apart: member 2 has 1 2, and member 1 has 1 2"},
			{func(h *transport.Hello) { h.Group.Algorithm[0]++ }, transport.Refused, "member 1 runs another algorithm, or another version of bully"},
			{func(h *transport.Hello) { h.From = 1 }, transport.Refused, "this is another process with id 1"},
			{func(h *transport.Hello) { h.Timing.Heartbeat = 0 }, transport.Refused, "a heartbeat each 0s is none"},
			{func(h *transport.Hello) { h.Timing.Heartbeat = 2 * time.Hour }, transport.Refused, "a heartbeat each 2h0m0s is none"},
			{func(h *transport.Hello) { h.To = 2 }, transport.Refused, "this is member 1, not 2; its address is wrong in the list of members, or it listens at a wrong one"},
			{func(h *transport.Hello) { h.From = 3 }, transport.Refused, "the list of member 1 has no member 3"},
		} {
			h := h
			test.change(&h)
			conn, err := c.network.Dialer("me:1")(context.Background(), "", at(1))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Write(h.Encode()); err != nil {
				t.Fatal(err)
			}
			answering, err := transport.ReadHello(conn)
			if err != nil {
				t.Fatal(err)
			}
			if told := answering.Group == c.group; told != (test.code == transport.Accepted) {
				t.Errorf("%q is told the group: %v", test.reason, told)
			}
			v, err := transport.ReadVerdict(conn)
			if v != (transport.Verdict{Code: test.code, Reason: test.reason}) || err != nil {
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
			{0, 0},                                 // of no length
			{0xff, 0xff, 0},                        // too long
			{1, 0, 7},                              // of an undeclared kind
			{1, 0, 99},                             // of an impossible kind
			{2, 0, transport.HeartbeatFrame[2], 0}, // a heartbeat that says something
			{3, 0, 0, 1, 2},                        // without a group
			append([]byte{17, 0, 0}, append(message(0)[framing.HeadSize:], 1, 0, 0, 0, 9, 9, 9, 9)...), // a list of a hundred million
			append([]byte{10, 0, 0}, append(message(0)[framing.HeadSize:], 1)...),                      // cut short
		} {
			conn, err := c.network.Dialer("me:1")(context.Background(), "", at(1))
			if err != nil {
				t.Fatal(err)
			}
			h := c.hello(1)
			for _, b := range [][]byte{h.Encode(), transport.HeartbeatFrame, frame} {
				if _, err := conn.Write(b); err != nil {
					t.Fatal(err)
				}
			}
			if v, err := readAnswer(conn); err != nil || v.Code != transport.Accepted {
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
		c.members[2].Group.Command(election.Command{Order: election.Resign})
		c.until(2, "has the vote of 1", follows(2))
	})
}

func TestOnlyGroupsOfKnownMembersRunLive(t *testing.T) {
	_, err := Join(context.Background(), lcr.Algorithm, Config{ID: 1, Members: []transport.Member{{ID: 1, Address: "127.0.0.1:1"}}})
	if !errors.Is(err, network.ErrSetup) {
		t.Errorf("%v", err)
	}
}
