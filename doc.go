// Package ringleader elects one leader among a group of processes, peer to peer: there is no server to run, and there
// are never two leaders.
//
// Each member of the group has a directory for its votes, which [Init] or the command "ringleader init" makes once
// ([InitIfMissing] accepts what is there), and a list of members, at first the same one:
//
//	member, err := ringleader.Join(ctx, ringleader.Config{
//		Group: "jobs",
//		ID:    2,
//		Members: []ringleader.MemberAddress{
//			{ID: 1, Address: "127.0.0.1:7001"},
//			{ID: 2, Address: "127.0.0.1:7002"},
//			{ID: 3, Address: "127.0.0.1:7003"},
//		},
//		Data: "/var/lib/jobs/2",
//	})
//	if err != nil {
//		return err
//	}
//	defer member.Close()
//	return member.Lead(ctx, func(ctx context.Context, l ringleader.Leadership) error {
//		return work(ctx, l.Term()) // until ctx is done
//	})
//
// Work runs on one member at a time. It has to return when its context is done. If it has not returned shortly before the end of
// its lease, the process writes a line to its log, or without a log to standard error, and ends with status 70. Config.Overrun
// changes that.
//
// Work that is not one function begins when [Member.WaitToLead] returns, asks [Leadership.Valid] before each part, and ends with
// [Member.Resign]. [Member.Observe] tells every member which one leads, and [Member.IsLeader] whether it does.
//
// The same processes can elect a leader for each of many groups: see [Member.Join]. Package statushttp serves the state of a
// member over HTTP, and its Observe follows the leader from a process that is no member. Package fence is for a resource that leaders write to, and package ringleadertest has clusters for tests.
//
// # What is promised
//
// The algorithm is quorum-bully (package algorithms/quorumbully). A member leads while a majority of the members that
// vote has granted it a lease. So:
//
//   - At each moment at most one lease runs, however slow, cut off, paused or restarted members are. [Leadership.Valid] is
//     true only while it does.
//   - Each leader has a term, greater than those of all leaders before: a fencing token.
//   - A majority that can communicate has a leader: within milliseconds after a leader resigns, is closed, or dies under
//     a warden, and within about [Timing].Lease after it is cut off, paused, or dies without one.
//   - Of the members that can lead, the one of highest priority is elected, of several the one with the largest ID. A
//     leader is not replaced by a higher one that comes later, unless Config.Preempt is set. A member whose Config.Health
//     fails does not lead.
//
// The evidence: the first two are proved for every number of members, checked over every schedule of three, and tested by random
// runs, in memory and of real processes with faults. The others are tested by random runs; their times are measured.
//
// That needs these assumptions: clocks of members run at rates that differ by no more than Timing.Drift allows; a member
// keeps its directory, and no two processes use copies of one directory; a majority of members comes back after a crash. No
// assumption is made about the delays of messages or of the processes themselves.
//
// # What no election can promise
//
// Between the moment at which work checks its lease and the moment at which its write arrives, its process may be paused
// for any time. A resource that must not see a write of a replaced leader has to compare terms: see package fence.
//
// # Who is trusted
//
// Members trust each other. Between machines they use TLS, and each proves its name with a certificate. In clear text,
// which is for one machine, a process that reaches the port of a member can impersonate another one.
//
// # Without a quorum
//
// [Bully] elects without a majority, as its sources state it: each side of a partition has a leader, and there are no
// terms and no leases. Config.NoQuorum allows it. Use it where two leaders at once cost efficiency, not where they corrupt
// data.
//
// # Versions
//
// The API of this package is v1: what it exports stays, and keeps its meaning. So is that of packages election, fence, statushttp,
// storage, transport, clock, clock/clocktest and ringleadertest; api/v1.txt lists it. All other packages are studies and their tools.
// They are v0: their APIs may change with any version.
package ringleader
