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
// Package statushttp serves what a member knows over HTTP.
//
// The live member with the greatest identifier leads. When it stops in good order it says goodbye; when its process dies,
// the others notice by its broken connections. Either way the greatest of them takes over at once. Where it fell silent
// they notice that after Config.Suspicion. When it returns, it leads again.
//
// # What this does not promise
//
// The algorithm is Bully (package algorithms/bully), and Bully keeps no quorum: when the network splits the group,
// each side has a leader, until it heals. The same happens for a moment when a process is paused for longer than
// Config.Suspicion, and does not know that yet when it wakes up. There are no terms, and so nothing to fence with. Use it
// where two leaders at once cost efficiency, not where they corrupt data. Status says so: Quorum is
// false.
//
// Connections are neither authenticated nor encrypted. A member dials only the addresses of its list, and both ends
// of a connection name their group, their identifier and their incarnation. That keeps mistakes apart: another group, a
// wrong address, a second process with one identifier, which waits until the first has ended. It stops no attack: a
// process that reaches the port of a member, or listens at the address of a dead one, and knows the identifiers of the
// group can play any member that is not connected, or keep one from starting by saying that it is there already. It ends
// no member. An address without a host is loopback.
package ringleader
