// Package live runs an election algorithm for known members as real processes: a transport between them (package
// transport), a monotonic clock, and a directory for what survives a crash.
//
// One goroutine, the loop, owns all that changes: the state of the algorithm, its timers, and what is
// known of the other members. Everything that happens comes to it through one inbox, and each event is
// one step, whose effects happen in the order that package election promises: what is kept is durable,
// then messages leave, then timers change, then decisions are seen.
//
// # Connections
//
// Each member dials each other one, and the messages from i to j travel on the connection that i
// dialed. The two connections between a pair stand and fall together, and no message is lost unnoticed:
// when one of them breaks, or is silent for the suspicion timeout, or a message cannot be delivered,
// both are closed, whatever was queued is forgotten, and both sides suspect each other. That comes after all that
// had arrived, so that Suspect follows the last message. When the peer connects again in the same life, the
// algorithm is told so by Trust before it gets the next message; a peer in a new life speaks for itself,
// by its Recover.
//
// A member of which nothing was ever heard is not suspected until the first message to it is lost.
//
// Where j can hear i and not be heard, they part whenever j has something to say, and connect again. So a pair
// rests before it does, twice as long each time, until both directions have stood for the suspicion timeout.
//
// # Doubles
//
// A member refuses a process that presents itself as a peer while another one with that identifier is connected, or answers
// at the address of the list. A process that is refused so does not start, and tries again; none is ended by what
// another says. If it has started, it shows no leader while more than half of the others refuse it so.
//
// # Progress
//
// The loop comes round at least at each heartbeat, and then, not otherwise, the heartbeats leave. [Member.Stall] says for
// how long it has not. A panic in the loop ends the member, not the program.
package live
