package ringleader

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/core/leaks"
	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/transport"
)

// patience is the limit of a test's wait for a required event; a correct run never reaches it.
const patience = 2 * time.Minute

func TestMain(m *testing.M) { leaks.Main(m) }

// group is a group of members in this process, on free ports of loopback.
type group struct {
	t       *testing.T
	config  Config
	members map[uint64]*Member
}

// newGroup starts a group that runs Bully. A machine under load may stop a process for longer than the usual Suspicion, which is not
// under test here.
func newGroup(t *testing.T, ids ...uint64) *group {
	return newGroupWith(t, Config{Timing: Timing{Suspicion: 3 * time.Second}}, ids...)
}

func newGroupWith(t *testing.T, c Config, ids ...uint64) *group {
	c.Algorithm, c.NoQuorum = Bully, true
	return startGroup(t, c, func(g *group, c Config) { g.join(context.Background(), c) }, ids...)
}

// startGroup starts members that listen on free ports. Join makes each of them.
func startGroup(t *testing.T, c Config, join func(*group, Config), ids ...uint64) *group {
	g := &group{t: t, config: c, members: map[uint64]*Member{}}
	listeners := make([]net.Listener, len(ids))
	for i, id := range ids {
		l, err := net.Listen("tcp", freeAddress(t)) // at which a member that was closed may listen again
		if err != nil {
			t.Fatal(err)
		}
		listeners[i] = l
		g.config.Members = append(g.config.Members, MemberAddress{ID: id, Address: l.Addr().String()})
	}
	for i, id := range ids {
		c := g.config
		c.ID, c.Transport = id, transport.TCP{Listener: listeners[i]}.Open
		join(g, c)
	}
	t.Cleanup(func() {
		for _, m := range g.members {
			m.Close()
		}
	})
	return g
}

func (g *group) join(ctx context.Context, c Config) *Member {
	g.t.Helper()
	m, err := Join(ctx, c)
	if err != nil {
		g.t.Fatal(err)
	}
	g.members[c.ID] = m
	return m
}

// agree waits until all members follow that leader.
func (g *group) agree(leader uint64) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		all := true
		for id, m := range g.members {
			all = await(ctx, m, func(l View) bool {
				if id == leader {
					return l.Role == Leader
				}
				return l.Role == Follower && l.Leader == leader
			}) && all
		}
		if !all {
			for _, m := range g.members {
				g.t.Errorf("no agreement on %d: %+v", leader, m.Status())
			}
			g.t.FailNow()
		}
		// Each has agreed at some time; all together?
		for _, m := range g.members {
			all = all && m.View().Leader == leader
		}
		if all {
			return
		}
	}
}

// led waits until all members follow one of them, and returns it. Where a machine stalls, that is another one than the first.
func (g *group) led() (leader uint64) {
	g.t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for late := time.Now().Add(patience); ; <-ticker.C {
		all := true
		for id, m := range g.members {
			if m.View().Role == Leader {
				leader = id
			}
		}
		for _, m := range g.members {
			all = all && m.View().Leader == leader
		}
		if all && g.members[leader] != nil {
			return leader
		}
		if time.Now().After(late) {
			g.t.Fatalf("no leader is agreed on: %+v", g.members)
		}
	}
}

func await(ctx context.Context, m *Member, ok func(View) bool) bool {
	for l := range m.Observe(ctx) {
		if ok(l) {
			return true
		}
	}
	return false
}

func TestTheGreatestLeadsAndItsSuccessorsAfterIt(t *testing.T) {
	for _, ids := range [][]uint64{{7}, {1, 2}, {30, 10, 20}, {1, 2, 3, 4, 18446744073709551615}} {
		g := newGroup(t, ids...)
		for len(g.members) > 0 {
			var leader uint64
			for id := range g.members {
				leader = max(leader, id)
			}
			g.agree(leader)
			g.members[leader].Close()
			delete(g.members, leader)
		}
	}
}

func TestAMemberThatReturnsWithItsDataLeadsAgain(t *testing.T) {
	data := t.TempDir() // before the group, so that its members are closed before it is removed
	g := newGroup(t)
	for id := range uint64(3) {
		g.config.Members = append(g.config.Members, MemberAddress{ID: id + 1, Address: freeAddress(t)})
	}
	config := func(id uint64) Config {
		c := g.config
		c.ID, c.Data = id, filepath.Join(data, strconv.FormatUint(id, 10))
		return c
	}
	for id := range uint64(3) {
		if err := Init(config(id+1).Data, "", id+1); err != nil {
			t.Fatal(err)
		}
		g.join(context.Background(), config(id+1))
	}
	g.agree(3)
	for range 3 {
		g.members[3].Close()
		delete(g.members, 3)
		g.agree(2)
		g.join(context.Background(), config(3))
		g.agree(3)
	}
}

// freeAddress returns an address without a listener, for members that listen there repeatedly.
func freeAddress(t *testing.T) string {
	addresses, err := rig.FreeAddresses(1)
	if err != nil {
		t.Fatal(err)
	}
	return addresses[0]
}

func TestUnknownDialersDoNotDisturb(t *testing.T) {
	t.Parallel() // it waits until a handshake has taken too long
	// With such a delay no answer comes late, so no wrong member leads for a moment.
	g := newGroupWith(t, Config{Timing: Timing{Suspicion: 3 * time.Second, MessageDelay: 10 * time.Second}}, 1, 2, 3)
	g.agree(3)
	before := map[uint64]View{}
	for id, m := range g.members {
		before[id] = m.View()
	}
	address := g.members[3].live.Address()
	noise := make([]byte, 1<<16)
	rand.NewChaCha8([32]byte{}).Read(noise)
	var wait sync.WaitGroup
	for i := range 200 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			defer conn.Close()
			switch i % 4 {
			case 0: // sends nothing
			case 1: // begins, and sends no more
				conn.Write([]byte("ringldr"))
			case 2:
				conn.Write(noise)
			case 3:
				conn.Write(bytes.Repeat([]byte{0xff}, 100))
			}
			conn.SetReadDeadline(time.Now().Add(patience))
			if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("the member keeps a stranger's connection open")
			}
		})
	}
	g.members[2].Close() // its successor must get through
	delete(g.members, 2)
	c := g.config
	c.ID = 2
	g.join(context.Background(), c)
	delete(before, 2)
	wait.Wait()
	g.agree(3)
	for id, l := range before {
		if now := g.members[id].View(); now != l {
			t.Errorf("member %d knew %+v before, and %+v after", id, l, now)
		}
	}
}

func TestObserveYieldsWhatIsKnownThenTheLastChangeThenEnds(t *testing.T) {
	g := newGroup(t, 1, 2)
	g.agree(2)
	next, stop := iter.Pull(g.members[1].Observe(context.Background()))
	defer stop()
	if l, ok := next(); !ok || l.Leader != 2 || !l.Known || l.Role != Follower || l.Since.IsZero() {
		t.Errorf("first %+v, %v", l, ok)
	}
	// Many changes without an observer delay nothing, and the last one is seen.
	g.members[2].Close()
	if !await(t.Context(), g.members[1], func(l View) bool { return l.Role == Leader }) {
		t.Fatal("1 does not lead")
	}
	if l, ok := next(); !ok || l.Leader != 1 || l.Role != Leader {
		t.Errorf("then %+v, %v", l, ok)
	}
	g.members[1].Close()
	if l, ok := next(); !ok || l.Known || l.Role != Electing {
		t.Errorf("at the end %+v, %v", l, ok)
	}
	if l, ok := next(); ok {
		t.Errorf("after the end %+v", l)
	}
	if err := g.members[1].Err(); err != nil {
		t.Errorf("closing is no failure, but %v", err)
	}
}

func TestAMemberEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	m, err := Join(ctx, Config{ID: 1, Members: []MemberAddress{{ID: 1, Address: freeAddress(t)}}, Algorithm: Bully, NoQuorum: true})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-m.Done()
	if err := errors.Join(m.Err(), m.Close()); err != nil {
		t.Error(err)
	}
}

func TestStatusShowsWhichMembersAreReachable(t *testing.T) {
	g := newGroup(t, 4, 9)
	g.agree(9)
	leader := uint64(9)
	for _, reachable := range []bool{true, false} {
		if !reachable {
			g.members[4].Close()
		}
		problem := ""
		if !reachable {
			problem = "connection refused: no process listens there"
		}
		want := Status{ID: 9, Algorithm: Bully, Role: Leader, Leader: &leader, Members: []MemberStatus{
			{ID: 4, Address: g.config.Members[0].Address, Reachable: reachable, Problem: problem}, {ID: 9, Address: g.config.Members[1].Address, Reachable: true},
		}}
		for {
			_, changed := g.members[9].live.Group.State()
			got := g.members[9].Status()
			got.LastChange = nil // it has a time
			if reflect.DeepEqual(got, want) {
				break
			}
			select {
			case <-changed:
			case <-time.After(patience):
				t.Fatalf("%+v; want %+v", g.members[9].Status(), want)
			}
		}
	}
}

func TestAllFaultsOfAConfigAreReportedAtOnce(t *testing.T) {
	_, err := Join(context.Background(), Config{
		Group:   "jobs\xff",
		ID:      5,
		Members: []MemberAddress{{ID: 1, Address: "127.0.0.1:7001"}, {ID: 1, Address: "127.0.0.1:7002"}, {ID: 2, Address: "127.0.0.1:7002"}, {Address: "nowhere"}, {ID: 3, Address: "host:0"}},
		Listen:  "127.0.0.1:99999",
		Timing:  Timing{MessageDelay: -1, Heartbeat: 200 * time.Millisecond, Suspicion: 300 * time.Millisecond},
	})
	want := []string{
		`configuration: the name "jobs\xff" of the group is not in UTF-8`,
		"configuration: member 1 is listed twice",
		"configuration: members 1 and 2 have the same address 127.0.0.1:7002",
		"configuration: Members[3] has no ID; identifiers begin with 1",
		`configuration: the address of member 0: "nowhere" is not host:port`,
		`configuration: the address of member 3: "host:0" does not end in a port from 1 to 65535`,
		"configuration: ID 5 is not among the members",
		`configuration: Listen: "127.0.0.1:99999" does not end in a port from 1 to 65535`,
		"configuration: Timing.MessageDelay is from 1ms to 1h0m0s, not -1ns",
		"configuration: Timing.Suspicion (300ms) must be at least three times Heartbeat, but Heartbeat is 200ms: one that is late must not make a member suspect",
		"configuration: Data is missing: quorum-bully needs a directory that Init has made, since a member that forgets its votes might vote twice",
	}
	if !errors.Is(err, ErrConfig) {
		t.Fatalf("%v", err)
	}
	if got := strings.Split(err.Error(), "\n"); !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

func TestAPortThatIsTakenIsAnErrorOfJoin(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if m, err := Join(context.Background(), Config{ID: 1, Members: []MemberAddress{{ID: 1, Address: l.Addr().String()}}, Algorithm: Bully, NoQuorum: true}); err == nil {
		m.Close()
		t.Error("two listen on one port")
	}
}

func TestAnAddressWithoutAHostIsAllInterfacesForListeningAndNoneForAMember(t *testing.T) {
	_, port, err := net.SplitHostPort(freeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	config := Config{ID: 1, Members: []MemberAddress{{ID: 1, Address: "127.0.0.1:" + port}}, Listen: ":" + port, Algorithm: Bully, NoQuorum: true}
	if m, err := Join(context.Background(), config); err == nil {
		m.Close()
		t.Error("it listens on all interfaces, in clear text that was not allowed")
	} else if want := ":" + port + " is not a loopback address"; !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %s", err, want)
	}
	config.Insecure = true
	m, err := Join(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if host, _, _ := net.SplitHostPort(m.live.Address()); host != "::" && host != "0.0.0.0" {
		t.Errorf("it listens on %s", host)
	}
	if v, err := m.WaitLeader(t.Context()); err != nil || v.Leader != 1 {
		t.Errorf("%+v %v", v, err) // its address in the list leads to it
	}

	config.Members = append(config.Members, MemberAddress{ID: 2, Address: ":7502"})
	err = config.Check()
	if want := `the address of member 2: ":7502" has no host`; !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), "7502") > 1 {
		t.Errorf("%v; want %s", err, want)
	}
}
