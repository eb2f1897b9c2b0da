package live

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/serve/live/quorumbully"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/transport"
)

// Bully knows no voters apart from its members.
func TestTheMembersOfAnAlgorithmWithoutVotersAreAlwaysTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, bully.Algorithm, 2)
		defer c.stopAll()
		c.start(1, 2)
		c.until(1, "follows 2", follows(2))
		one, two := transport.Member{ID: 1, Address: at(1)}, transport.Member{ID: 2, Address: at(2)}
		for _, members := range [][]transport.Member{{one, two, {ID: 3, Address: at(3)}}, {two}} {
			if err := c.members[2].List(Listing{Members: members}); !errors.Is(err, ErrList) || !strings.Contains(err.Error(), "the members of bully are always the same") {
				t.Errorf("%v: %v", members, err)
			}
		}
		one.Address = "elsewhere:1"
		if err := c.members[2].List(Listing{Members: []transport.Member{one, two}}); err != nil {
			t.Error(err)
		}
		c.until(1, "still follows 2", follows(2))
		m := c.members[2]
		c.crash(2)
		if err := m.List(Listing{Members: []transport.Member{one, two}}); !errors.Is(err, ErrStopped) {
			t.Errorf("a member that has stopped: %v", err)
		}
	})
}

// A peer that names more and more members fills no memory: its message is malformed.
func TestTheNumberOfNamesIsLimited(t *testing.T) {
	m, l, err := prepare(quorumbully.Program, Config{ID: 1, Members: []transport.Member{{ID: 1, Address: at(1)}, {ID: 2, Address: at(2)}}, Heartbeat: beat, Suspicion: suspicion, Unit: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	g := l.groups[0]
	for id := uint64(3); id <= mostNames; id++ {
		if rank, err := g.ID(id << 32); err != nil || uint64(rank) != id || g.Name(rank) != id<<32 {
			t.Fatalf("member %d is %d, %v", id<<32, rank, err)
		}
	}
	if _, err := g.ID(1 << 63); !errors.Is(err, ErrList) || len(m.members) != mostNames || g.instance.Size() != mostNames {
		t.Errorf("%d members are known: %v", len(m.members), err)
	}
	if rank, err := g.ID(2); rank != 2 || err != nil {
		t.Errorf("member 2 is %d, %v", rank, err)
	}
	if g.Name(0) != 0 || g.Name(mostNames+1) != 0 {
		t.Error("a number that no member has is that of one")
	}
}

// The end of a leader, and of the only way to it, is to be noticed soon.
func TestFewHeartbeatsAreEnoughBetweenMembersThatFollow(t *testing.T) {
	in := func(leased bool, role network.Role, leader election.ID) *group {
		return &group{handle: &Group{leased: leased}, decision: network.Decision{Role: role, Leader: leader}}
	}
	for _, test := range []struct {
		name   string
		groups []*group
		want   bool
	}{
		{"both follow another", []*group{in(true, network.Follower, 3)}, true},
		{"in two groups", []*group{in(true, network.Follower, 3), in(true, network.Follower, 4)}, true},
		{"the peer leads", []*group{in(true, network.Follower, 2)}, false},
		{"it leads one of two groups", []*group{in(true, network.Follower, 3), in(true, network.Follower, 2)}, false},
		{"this member leads", []*group{in(true, network.Leader, 1)}, false},
		{"none leads", []*group{in(true, network.Undecided, 0)}, false},
		{"there is no lease", []*group{in(false, network.Follower, 3)}, false},
	} {
		l := &loop{groups: test.groups}
		if got := l.quiet(&peer{position: 1}); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
