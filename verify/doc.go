// Package verify runs an election algorithm under every schedule: every link may deliver next, every process may
// start at any time, either of two timers may be first, every choice has every value, and every process may crash. It
// determines whether every run does what the algorithm declares, the exact extremes of its messages, and, if a
// property is violated, a shortest run to the violation, as a record of package trace.
//
// # What a step is
//
// One event at one process, with all that the process does about it, is one transition between configurations. A
// configuration consists of the states of all processes, the messages under way on each link, the decision of each
// process, the running timers and leases with their remaining time, and the starts, suspicions and faults that may
// still come.
//
//   - Asynchronous algorithms: any nonempty link may deliver its next message.
//   - Timed ones: a message takes 1 to Delay units, as the schedule likes, and a timer fires at its
//     moment; all that happens within one unit happens in every order. Where nothing but a timer can come
//     next, time jumps to it, be it 2^100 units away.
//   - Synchronous ones: every message takes one unit, and a unit is first messages, by port, then starts,
//     then timers.
//   - A crash falls between steps. Messages from the crashed process still arrive; messages to it are lost.
//     A failure detector tells all others, some time after its last message has arrived,
//     unless it has recovered by then. The detector never errs.
//
// # What must hold
//
// The declaration says it. Once: never two leaders, never the wrong one, no process decides twice. Service:
// terms do not go back, no term has two leaders (of Groups: no leader leads twice in a term, and no process
// follows one in a term that it has not led in), none but the right one ever leads unless there was a crash or a
// command, and wherever a run may end, one live leader, the right one. In both, at the end
// all have decided and name the same leader. Leased: never two running leases, and at the end the leader
// still has one. An election ends: from every configuration a run can come to an end, where no message is
// under way, no timer runs, and no process has to start or be suspected; a service may instead go round for
// ever among configurations in which all agree. Bounds on messages hold for runs without faults; those of a
// service are checked where one process alone starts, since they speak of one election. A step that panics
// or breaks the contract is a violation like any other.
//
// # How sure it is
//
// Every step is computed once for each state and event, which is sound because steps are pure; that
// they are is for the conformance suite to test. Configurations are told apart by 128 bits of hash: the
// chance that one of s of them was taken for another is below s²/2^129, 10^-22 for a hundred million.
// Everything else is exact, and a limit that was reached is reported.
package verify
