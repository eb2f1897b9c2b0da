package ringleader_test

import (
	"context"
	"fmt"
	"log"
	"net"

	"ringleader.example/ringleader"
)

// Three members elect the largest. When it stops, the next one takes over.
func Example() {
	ctx := context.Background()
	addresses := []ringleader.MemberAddress{{ID: 1}, {ID: 2}, {ID: 3}}
	for i := range addresses {
		addresses[i].Address = freeAddress()
	}
	var members []*ringleader.Member
	for _, a := range addresses {
		m, err := ringleader.Join(ctx, ringleader.Config{ID: a.ID, Members: addresses})
		if err != nil {
			log.Fatal(err)
		}
		defer m.Close()
		members = append(members, m)
	}

	follow := func(m *ringleader.Member, leader uint64) {
		for l := range m.Observe(ctx) {
			if l.Leader == leader {
				fmt.Printf("member %d is %s, the leader is %d\n", m.Status().ID, l.Role, l.Leader)
				return
			}
		}
	}
	for _, m := range members {
		follow(m, 3)
	}
	members[2].Close()
	for _, m := range members[:2] {
		follow(m, 2)
	}
	// Output:
	// member 1 is follower, the leader is 3
	// member 2 is follower, the leader is 3
	// member 3 is leader, the leader is 3
	// member 1 is follower, the leader is 2
	// member 2 is leader, the leader is 2
}

// freeAddress returns a loopback address without a listener.
func freeAddress() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
