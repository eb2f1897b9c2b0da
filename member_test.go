package ringleader

import (
	"context"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long a test waits for what must come; it is never waited for when all is right.
const patience = 30 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// group is a group of members in this process, on free ports of loopback.
type group struct {
	t       *testing.T
	config  Config
	members map[uint64]*Member
}

func newGroup(t *testing.T, ids ...uint64) *group {
	g := &group{t: t, members: map[uint64]*Member{}}
	listeners := make([]net.Listener, len(ids))
	for i, id := range ids {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners[i] = l
		g.config.Members = append(g.config.Members, MemberAddress{id, l.Addr().String()})
	}
	for i, id := range ids {
		c := g.config
		c.ID, c.listener = id, listeners[i]
		g.join(c)
	}
	t.Cleanup(func() {
		for _, m := range g.members {
			m.Close()
		}
	})
	return g
}

func (g *group) join(c Config) *Member {
	g.t.Helper()
	m, err := Join(context.Background(), c)
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
			all = await(ctx, m, func(l Leadership) bool {
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
			all = all && m.Leadership().Leader == leader
		}
		if all {
			return
		}
	}
}

func await(ctx context.Context, m *Member, ok func(Leadership) bool) bool {
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
