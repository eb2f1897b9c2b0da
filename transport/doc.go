// Package transport carries frames between the members of a group: it dials, listens, authenticates members and
// introduces them to each other, reads and writes. The member, on the other side of [Transport], decides what to send
// and what to believe.
//
// # Links
//
// Each member dials each other one, and the frames from i to j travel on the connection that i dialed, but for those of a [Teller]. Both ends
// of a connection are values of this package: [Outgoing] where it was dialed, [Incoming] where it was accepted. Their
// events go to the function Post of a [Config].
//
// # Transports
//
// Members use [TCP], with [TLS] between machines. Package transporttest has two transports in memory: a network of byte
// streams, over which TCP runs, and an exchange of whole frames, which a test can hold, reorder and deliver one by one.
//
// A program can have a transport of its own: a function [Open]. Its duties:
//
//  1. The frames of one connection arrive in the order in which they were sent, each at most once. None is missing but
//     those that a newer frame of the same slot has replaced. A [Queue] does that for frames that wait.
//  2. Ended follows the last Message of its connection. Nothing follows Ended.
//  3. A frame that cannot arrive is not lost unnoticed: Dialed with Lost, or Broken, follows. A connection that loses a
//     frame carries no later one.
//  4. The frames that one Send after the other queued before a connection stands leave when it does. An attempt to
//     connect that fails drops those queued before it began, and reports Lost: their receiver may be dead.
//     One that may succeed yet, although the suspicion timeout has passed, may say so by Slow, and drops nothing.
//  5. A connection on which nothing arrives for the suspicion timeout has ended: Config.Timing.Suspicion, or three
//     heartbeats of the peer if that is more, or three of its suspicion timeouts if its last Beat was with seldom. Each Beat makes a connection
//     on which no frame has left since the last Beat show that it lives, and a Beat with another seldom tells the peer that in any case. So a
//     healthy peer is silent for less than two of its heartbeats.
//  6. A listener judges each Hello by [Config.Judge], then posts [Asked]. After an accepting verdict it waits until the
//     dialer has confirmed, and posts [Arrived]. It reads frames after Admit(true). The dialer's Dialed has the
//     listener's Hello.
//  7. Config.Post is not called inside a call from the member: it may block until the member takes an event, and the
//     member then waits for its own call. Events of one connection are posted in their order.
//  8. A peer has one [Message] at a time in the member's queue: the next one waits for Taken.
//  9. After List, a member has the position that it had, and an unlisted one is neither dialled nor accepted. An attempt to connect takes the
//     address of the last list.
//  10. The transport proves that a Hello comes from the member that it names, or its documentation tells users which
//     network they must trust. It bounds what processes that are not members can make it do.
//
// The API of this package is v1: what it exports stays, and keeps its meaning.
package transport
