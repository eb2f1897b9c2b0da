// Package verify runs an election algorithm under every schedule: every link may deliver next, every process may
// start at any time, of two timers either may be first, every choice takes every value, and every process may crash.
// It determines whether every run does what the algorithm declares, and the exact extremes of its messages. For a
// violation it gives a shortest run to it, as a record of package trace.
//
// # What a step is
//
// One event at one process, with all that the process does about it, is one transition between configurations. A
// configuration is the states of all processes, the messages in transit on each link, the decision of each process,
// the remaining time of running timers and leases, and the starts, suspicions and faults that may still come.
//
//   - Asynchronous algorithms: any link that is not empty may deliver its next message.
//   - Timed ones: a message takes 1 to Delay units, as the schedule decides, and a timer expires at its moment; the
//     events of one unit happen in every order. If only a timer can come next, time jumps to it, even over 2^100
//     units.
//   - Synchronous ones: every message takes one unit, and a unit is first messages, by port, then starts, then
//     timers.
//
// # What faults are
//
// Each kind of fault has a budget in Options, and comes at any moment, at any process or link, as in package simulate.
//
//   - A crash falls between steps. Messages that the crashed process sent still arrive; messages to it are lost. A
//     failure detector reports it to all others, some time after the last message of the crashed process has arrived, unless
//     it has recovered by then.
//   - A message is lost, or arrives twice, when it would arrive. On a FIFO link that is its oldest message; on one without
//     order it is any.
//   - A cut is of a link between two processes, one way or both, or between two sides. What is sent or would arrive during a
//     cut is lost. A receiver on the other side of a cut may suspect the sender. Every cut ends.
//   - A failure detector suspects a live process by mistake. Every mistake ends: Trust follows, and comes before the next
//     message of the suspected process. So it does after a cut. If the suspected process has crashed meanwhile, it is
//     suspected again after its last message.
//   - A host asks its process to resign.
//   - Work that a process has begun under a lease outlives its crash, up to the end of the lease. With Wardens the work
//     ends with the process. A proof of that, with its incarnation, reaches each other process once, at any time at
//     which that one is live.
//
// An algorithm is also explored outside its fault model: the faults outside it are named in
// Report.Outside, and those of a run that violates a property in Violation.Outside. A shorter violation outside the model
// hides a longer one inside.
//
// # What must hold
//
// The declaration defines it.
//
//   - Once: never two leaders, never the wrong one, no process decides twice.
//   - Service: terms do not decrease; no term has two leaders; no process but the right one leads unless there was a
//     crash or a command; wherever a run may end, exactly one live process leads, the right one.
//   - Groups, instead: no leader leads twice in a term, and no process follows a leader in a term in which it has not
//     led.
//   - Once and Service: at the end all have decided and name the same leader.
//   - Leased: never two running leases, and at the end the leader still has one.
//   - Termination: from every configuration a run can reach an end, where no message is in transit, no timer runs,
//     and no process has to start or be suspected. A service may instead go round for ever among configurations in
//     which all agree.
//   - Bounds on messages hold for runs without faults. Those of a service are checked for a single initiator, since
//     they are for one election.
//   - A step that panics or breaks the contract is a violation like any other.
//
// # Probabilities
//
// [Probabilities] solves the equations of an election as a Markov decision process, in fractions: the schedule picks
// events, chance picks values. Where no schedule differs from any other it explores one.
//
// # How sure it is
//
// Every step is computed once for each state and event, which is sound because steps are pure; the conformance suite
// tests that. Configurations are identified by 128 bits of hash: the probability that one of s of them was taken for
// another is below s²/2^129, 10^-22 for a hundred million. Everything else is exact, and a limit that was reached is
// reported.
package verify
