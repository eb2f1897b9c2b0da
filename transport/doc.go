// Package transport carries frames between the members of a group: it dials, listens, introduces members to each
// other, reads and writes. Package live, on the other side of [Transport], decides what to send and what to believe.
//
// # Links
//
// Each member dials each other one, and the messages from i to j travel on the connection that i dialed. Both ends
// of a connection are values of this package: [Outgoing] where it was dialed, [Incoming] where it was accepted. Their
// events go to the function Post of a [Config]. A transport keeps three promises:
//
//   - The messages of one connection arrive in the order in which they were sent, without gaps.
//   - Ended follows the last message of its connection.
//   - A message that cannot arrive is not lost unnoticed: Dialed with Lost, or Broken, follows.
//
// # Transports
//
// Members use [TCP]. Package transporttest has two transports in memory: a network of byte streams, over which TCP
// runs, and an exchange of whole frames, which a test can hold, reorder and deliver one by one.
package transport
