// Package election is the contract between election algorithms and the engines that run them.
//
// An algorithm is a value, an [Algorithm]: what it declares about itself, and what a process does when
// something happens to it, as functions over a plain state S and a plain message M. It is written once.
// The simulator, the checker and the live engine call the very same functions; none of them knows any
// algorithm, and no algorithm knows any of them. The example is a complete algorithm.
//
// A process is told about one event at a time: Start, Receive, Timeout, Recover, Suspect, Trust or
// Command. It changes its state and puts effects into an [Out]: messages, timers, decisions. That is
// all: it cannot read a clock, block, or fail.
//
// # What an engine guarantees
//
//  1. New is called once a life, before everything else, and is told what the declaration claims to
//     know, and nothing else: see [Local].
//  2. Steps of one process come one after the other. A crash falls between steps, or amid the effects of
//     one (3): when what is kept is durable, and some of the messages have left.
//  3. The effects of a step happen after it has returned, in this order: what Durable points to is durable;
//     messages leave, in order on each port; timers change; decisions are seen.
//  4. A message that is sent arrives once, at a process that lives, unless the run has faults that say
//     otherwise. Messages on one link keep their order if FIFO is declared; if not, they may overtake.
//  5. Start comes at most once a life, at any time, even after messages; after a crash Recover comes
//     instead, on a state that New has made and into which what Durable points to has been copied.
//  6. A timer expires once, not before its time, and never after it was stopped or started again, even
//     if its expiry was waiting already. A crash stops all timers.
//  7. Suspect(port) comes after every message that will arrive on that port from the life that is
//     suspected. Trust(port) takes it back, before the next message of that same life. A process that
//     crashed and is back is never announced by Trust: its own Recover speaks.
//  8. When several things are due at one moment, a live engine and a timed simulation let a timer that
//     has expired go first; a synchronous run takes messages in the order of ports, then starts, then
//     timers; the checker tries every order.
//  9. Timers are counted on a clock that may stand still while the machine is suspended, deadlines on
//     one that does not: After may be late, a Deadline may be early. So what binds is a timer, and what
//     entitles is a deadline.
//  10. Choose is fair, and repeatable from a seed in a simulation; from the system's entropy live; every
//     value in the checker.
//  11. A host that is asked by StopWork to stop its work says Stopped once, when it has; until then the work counts as
//     done under the lease of that term. It says Died of an incarnation only when that and all its work are dead.
//  12. Identifiers that are only compared are handed over as ranks, and translated back for people.
//
// # What an algorithm must do
//
//  1. Be pure: a step depends on its arguments and Choose only, and changes its state and Out only. No
//     package variables but declared parameters, no goroutines, clocks, input or output; no ranging over a map.
//  2. Hold plain values: no pointer, map, string, function, channel or interface anywhere in S or M. A
//     message has at most 4 fields and 32 bytes on a ring or tree, and at most 128 bytes elsewhere.
//  3. Never write to a slice that was sent, received or stored: append to a clipped one,
//     append(x[:len(x):len(x)], v). So copying a state is an assignment.
//  4. Send on its own ports only, with kinds and timers that are declared.
//  5. Expect every event at any time: a message before Start, a Start after messages,
//     messages after its decision. It keeps relaying when it has decided.
//  6. Decide as declared. Once: a single Lead or Follow, with term 0. Service: again and again, in terms
//     that never go down; different leaders have different terms, or all terms are 0. [Groups]: no leader
//     leads twice in one term.
//  7. Keep what must survive a crash in what Durable points to, and nothing that a crash must forget.
//  8. Work by port, not by neighbour: on a ring of one, both ports lead home; on a ring of two, both
//     lead to the other process.
//  9. Never change a field of S with the tag `election:"constant"` after New. Such a field holds what is fixed at
//     birth: a timeout, a mode, the number of members. The checker compares states without it.
//
// # What is for engines
//
// [Collector], [Sent], [Effect], [Op] with its values, [Functions], [DeadlineIn] and the methods whose comments end in
// "For engines." are for engines, and no algorithm uses them. File engines.go holds them. A test of single steps uses a
// Collector, too, as the example shows. Packages network and outcome have the network that an algorithm runs on and the
// result of a run.
//
// # Limits
//
// 16 kinds of message, 8 timers, 2¹⁶ elements in a slice, 2¹⁶ ports; 2²⁷ processes on a ring or tree, 2¹⁴ on
// a complete graph, 2²⁸ directed links; time below 2¹²⁸ units, beyond which arithmetic panics with [ErrTime].
package election
