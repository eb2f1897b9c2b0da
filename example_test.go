package ringleader_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/rig"
)

// Three members elect the one with the largest identifier. When it stops, the next one takes over.
func Example() {
	ctx := context.Background()
	addresses := []ringleader.MemberAddress{{ID: 1}, {ID: 2}, {ID: 3}}
	for i := range addresses {
		addresses[i].Address = freeAddress()
	}
	directory, err := os.MkdirTemp("", "members")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(directory)
	var members []*ringleader.Member
	for _, a := range addresses {
		data := filepath.Join(directory, fmt.Sprint(a.ID))
		if err := ringleader.Init(data, "jobs", a.ID); err != nil { // once in the life of a member
			log.Fatal(err)
		}
		m, err := ringleader.Join(ctx, ringleader.Config{
			Group: "jobs", ID: a.ID, Members: addresses, Data: data, Timing: ringleader.Test(),
			Preempt: true, // a member that starts late leads, too
		})
		if err != nil {
			log.Fatal(err)
		}
		defer m.Close()
		members = append(members, m)
	}

	follow := func(m *ringleader.Member, leader uint64) {
		for v := range m.Observe(ctx) {
			if v.Leader == leader {
				fmt.Printf("member %d is %s, the leader is %d\n", m.Status().ID, v.Role, v.Leader)
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
	addresses, err := rig.FreeAddresses(1)
	if err != nil {
		log.Fatal(err)
	}
	return addresses[0]
}

// One process takes part in two groups, over the same connections. Each group has its own leader.
func ExampleMember_Join() {
	ctx := context.Background()
	directory, err := os.MkdirTemp("", "member")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(directory)
	if err := ringleader.Init(directory, "jobs", 1); err != nil {
		log.Fatal(err)
	}
	jobs, err := ringleader.Join(ctx, ringleader.Config{
		Group: "jobs", ID: 1, Members: []ringleader.MemberAddress{{ID: 1, Address: freeAddress()}}, Data: directory,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer jobs.Close()
	mails, err := jobs.Join(ctx, ringleader.GroupConfig{Group: "mails"})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range []*ringleader.Member{jobs, mails} {
		v, err := m.WaitLeader(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(v.Leader)
	}
	// Output:
	// 1
	// 1
}

// A program whose work is not one function waits until its member leads, asks before each part of the work, and gives up the lead
// at the end.
func ExampleMember_WaitToLead() {
	ctx := context.Background()
	directory, err := os.MkdirTemp("", "member")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(directory)
	if err := ringleader.InitIfMissing(directory, "jobs", 1); err != nil { // each start may do that
		log.Fatal(err)
	}
	member, err := ringleader.Join(ctx, ringleader.Config{
		Group: "jobs", ID: 1, Members: []ringleader.MemberAddress{{ID: 1, Address: freeAddress()}}, Data: directory,
		Timing: ringleader.Timing{Lease: 10 * time.Second}, // so that it does not lapse on a machine with much other work
	})
	if err != nil {
		log.Fatal(err)
	}
	defer member.Close()
	leadership, err := member.WaitToLead(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for part := 1; part <= 3 && leadership.Valid(); part++ {
		fmt.Println("part", part)
	}
	if err := member.Resign(ctx); err != nil && !errors.Is(err, ringleader.ErrNotLeader) {
		log.Fatal(err)
	}
	fmt.Println("the lease runs:", leadership.Valid())
	// Output:
	// part 1
	// part 2
	// part 3
	// the lease runs: false
}

// A container that starts for the first time makes its directory. Later starts find it, and the directory of another member is refused.
func ExampleInitIfMissing() {
	directory, err := os.MkdirTemp("", "member")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(directory)
	data := filepath.Join(directory, "1")
	for _, id := range []uint64{1, 1, 2} {
		err := ringleader.InitIfMissing(data, "jobs", id)
		fmt.Println(id, errors.Is(err, ringleader.ErrData), errors.Is(err, ringleader.ErrExists))
	}
	// Output:
	// 1 false false
	// 1 false false
	// 2 true false
}
