// Package transport carries frames between the members of a group: it dials, listens, presents members to each other,
// reads and writes. What is sent and what is believed is decided by package live, on the other side of [Transport].
//
// # Links
//
// Each member dials each other one, and the messages from i to j travel on the connection that i dialed. Both ends
// of a connection are values of this package: [Outgoing] where it was dialed, [Incoming] where it was accepted. What
// happens to them is an event, handed to the function Post of a [Config]. A transport keeps three promises:
//
//   - The messages of one connection arrive in the order in which they were sent, without gaps.
//   - Ended follows the last message of its connection.
//   - A message that cannot arrive is not lost unnoticed: Dialed with Lost, or Broken, follows.
//
// # Transports
//
// [TCP] is the one that members use. Package transporttest has two that live in memory: a network of byte streams,
// which TCP runs over, and an exchange of whole frames, which a test can hold back, reorder and deliver one by one.
package transport
