// Package ringleader elects one leader among a group of processes, peer to peer: there is no server to
// run.
//
// Every process of the group joins with its own identifier and the same list of members:
//
//	member, err := ringleader.Join(ctx, ringleader.Config{
//		ID: 2,
//		Members: []ringleader.MemberAddress{
//			{ID: 1, Address: "127.0.0.1:7001"},
//			{ID: 2, Address: "127.0.0.1:7002"},
//			{ID: 3, Address: "127.0.0.1:7003"},
//		},
//		Data: "/var/lib/mine/member2",
//	})
//	if err != nil {
//		return err
//	}
//	defer member.Close()
//	for leadership := range member.Observe(ctx) {
//		if leadership.Role == ringleader.Leader {
//			// this process leads now
//		}
//	}
//	return member.Err()
//
// Package statushttp serves a member's state over HTTP.
//
// The live member with the largest identifier leads. When it stops normally, it informs the others; when its process
// crashes, they notice the broken connections. In both cases the largest of them takes over at once. If it only
// becomes silent, they notice that after Config.Suspicion. When it returns, it leads again.
//
// # What this does not promise
//
// The algorithm is Bully (package algorithms/bully), and Bully has no quorum: when the network splits the group, each
// side has a leader, until the network heals. The same happens for a moment when a process wakes after a pause longer
// than Config.Suspicion. There are no terms, and so no fencing tokens. Use it where two leaders at once cost
// efficiency, not where they corrupt data. Status reports this: Quorum is false.
//
// Connections are neither authenticated nor encrypted. A member dials only the addresses of its list, and both ends
// of a connection name their group, their identifier and their incarnation. That prevents mistakes: another group, a
// wrong address, a second process with one identifier, which waits until the first has ended. It stops no attack. A
// process that reaches the port of a member, or listens at the address of a crashed one, and knows the identifiers of
// the group can impersonate any unconnected member. It can also prevent a member's start by claiming to be that
// member. It cannot end a member. An address without a host is loopback.
package ringleader
