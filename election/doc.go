// Package election is the contract between election algorithms and the engines that run them.
//
// An algorithm is a value, an [Algorithm]: its declaration, and functions over a plain state S and a plain message M
// that react to events. It is written once. The simulator, the checker and the live engine call the same functions.
// No engine knows any algorithm, and no algorithm knows any engine. The example is a complete algorithm.
//
// A process handles one event at a time: Start, Receive, Timeout, Recover, Suspect, Trust or Command. It changes its
// state and puts effects into an [Out]: messages, timers, decisions. It can do nothing else: it cannot read a clock,
// block, or fail.
//
// # What an engine guarantees
//
//  1. New is called once in a life, before everything else. It gets what the declaration claims to know, and nothing
//     else: see [Local].
//  2. The steps of one process follow one another. A crash falls between steps, or during the effects of a step (3):
//     after the durable state is saved and some of the messages have left.
//  3. The effects of a step happen after it has returned, in this order: what Durable points to becomes durable;
//     messages leave, in order on each port; timers change; decisions become visible.
//  4. A message that is sent arrives once, at a live process, unless the run's faults prevent it. If FIFO is declared,
//     messages on one link keep their order; if not, they may overtake each other.
//  5. Start comes at most once in a life, at any time, even after messages. After a crash Recover comes instead, on a
//     new state from New into which what Durable points to has been copied.
//  6. A timer expires once, not before its time, and never after it was stopped or restarted, even if its expiry was
//     already waiting. A crash stops all timers.
//  7. Suspect(port) comes after every message that will arrive on that port from the suspected life. Trust(port)
//     withdraws it, before the next message of that same life. Trust never announces a process that crashed and
//     recovered: its own Recover does.
//  8. If several events are due at one moment, a live engine and a timed simulation take an expired timer first. A
//     synchronous run takes messages in the order of ports, then starts, then timers. The checker tries every order.
//  9. Timers run on a clock that may stop while the machine is suspended; deadlines run on one that does not. After
//     may be late, a Deadline may be early. So an obligation needs a timer, and a right needs a deadline.
//  10. Choose is uniform. It is repeatable from a seed in a simulation, uses the system's entropy live, and takes
//     every value in the checker.
//  11. A host that StopWork asks to stop its work says Stopped once, when the work has stopped. Until then the work counts
//     as done under the lease. It says Died of an incarnation only when that incarnation and all its work are dead.
//  12. A comparison-based algorithm gets ranks for identifiers; engines translate them back for people. That it does nothing with them but
//     compare is not checked.
//
// # What an algorithm must do
//
//  1. Be pure: a step depends only on its arguments and Choose, and changes only its state and Out. It uses no
//     package variables but declared parameters, no goroutines, clocks, input or output, and does not range over a
//     map.
//  2. Hold plain values: no pointer, map, string, function, channel or interface anywhere in S or M. A
//     message has at most 4 fields and 32 bytes on a ring or tree, and at most 160 bytes elsewhere.
//  3. Never write to a slice that was sent, received or stored: append to a clipped one, for example
//     append(x[:len(x):len(x)], v). So an assignment copies a state.
//  4. Send on its own ports only, with kinds and timers that are declared.
//  5. Expect every event at any time: a message before Start, a Start after messages, messages after its decision.
//     Keep relaying after the decision.
//  6. Decide as declared. Once: a single Lead or Follow, with term 0. Service: again and again, in terms that never
//     decrease; different leaders have different terms, or all terms are 0. [Groups]: no leader leads twice in one
//     term.
//  7. Keep in what Durable points to what must survive a crash, and nothing that a crash must forget.
//  8. Address ports, not neighbours: on a ring of one, both ports lead back to the process; on a ring of two, both
//     lead to the other process.
//  9. Never change a field of S with the tag `election:"constant"` after New. Such a field holds what is fixed when
//     the process is made: a timeout, a mode, the number of members. The checker compares states without it.
//
// A field of M with the tag `kinds:"probe,reply"` belongs to messages of these kinds. It only helps people: stories and drawings
// show all fields of a message's kind, and other fields if they are not zero.
//
// # What is for engines
//
// [Collector], [Sent], [Effect], [Op] with its values, [Halt], [Functions], [DeadlineIn] and the methods whose comments end
// in "For engines." are for engines, in file engines.go; no algorithm uses them. A test of single steps uses a
// Collector, too, as the example shows. Package network has the network that an algorithm runs on, and package
// outcome the result of a run.
//
// # Limits
//
// 16 kinds of message, 8 timers, 2¹⁶ elements in a slice, 2¹⁶ ports; 2²⁷ processes on a ring or tree, 2¹⁴ on
// a complete graph, 2²⁸ directed links; time below 2¹²⁸ units, beyond which arithmetic panics with [ErrTime].
//
// The checker tries every value of Choose: of at most 2¹⁶ values, at most 64 choices a step, and at most 2¹⁸ vectors of values. It
// ends without a verdict at a step that has more, such as one that draws until a value suits it. No other engine has these limits.
//
// The API of this package is v1: what it exports stays, and keeps its meaning.
package election
