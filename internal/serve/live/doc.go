// Package live runs an election algorithm for known members as real processes: a transport between them (package
// transport), a monotonic clock, and a directory for persistent state.
//
// One goroutine, the loop, owns all mutable state: the state of the algorithm, its timers, and what is known of the
// other members. All events come to it through one inbox, and each event is one step. Its effects happen in the order
// that package election promises: persistent state is durable, then messages leave, then timers change, then
// decisions become visible.
//
// # Connections
//
// Each member dials each other one, and the messages from i to j travel on the connection that i
// dialed. The two connections between a pair exist only together, and no message is lost unnoticed. If one of them
// breaks, is silent for the suspicion timeout, or cannot deliver a message, both are closed, queued messages are
// dropped, and both sides suspect each other. The suspicion comes after all messages that had arrived, so Suspect
// follows the last message. When the peer connects again in the same life, the algorithm gets Trust before the next
// message. A peer in a new life announces itself, by its Recover.
//
// A member that was never heard is not suspected until the first message to it is lost.
//
// If j can hear i but not be heard, they disconnect whenever j sends, and connect again. So a pair pauses before it
// reconnects, twice as long each time, until both directions have existed for the suspicion timeout.
//
// # Groups
//
// A member can be in several groups of the same members, which share its loop, connections and flushes. A message for
// a group that its receiver is not in is answered by that, and a member that leaves a group tells all others. In that group
// they take it for crashed, until it joins again and announces itself.
//
// # Doubles
//
// A member refuses a process that presents itself as a peer while another one with that identifier is connected, or answers
// at the address of the list. A process refused for that reason does not start, and tries again; no refusal ends a
// process. If it has started, it shows no leader while more than half of the others refuse it.
//
// # Progress
//
// The loop runs at least at each heartbeat, and only then do the heartbeats leave. [Member.Stall] returns for how
// long it has not run. A panic in the loop ends the member, not the program.
package live
