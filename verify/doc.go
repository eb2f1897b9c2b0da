// Package verify runs an election algorithm under every schedule: every link may deliver next, every process may
// start at any time, of two timers either may be first, every choice takes every value, and every process may crash.
// It determines whether every run does what the algorithm declares, and the exact extremes of its messages and of its time. For a
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
//   - A crash falls between steps, or amid the messages of a step: what is durable is saved, some of the messages have left, and
//     timers and decisions stay as they were. Messages that the crashed process sent still arrive; messages to it are lost. A
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
// # Lazy time
//
// For an algorithm with leases, Lazy makes no event urgent. A message takes any time, for ever included; a timer is late by
// any time; time passes at any moment. So pauses, slow disks, late steps and unbounded delays are all in it. Nothing has to
// happen there, so only safety is judged.
//
// A clock may err by a part ε of the true rate, ClockError. Guarantee 9 of package election allows a process two clocks:
// timers may be late and deadlines early. In the model each process runs its timers on a clock of rate 1 + ε, and its
// deadlines, with the leases that end by them, on one of rate 1 - ε. These extremes suffice. A timer on a slower clock
// expires when the fast one would, and later; being late by any time is in the model. A deadline on a faster clock comes
// when the slow one would, or earlier. So each run of clocks whose rates lie between, and change, is one of the model's,
// unless what an algorithm does at a deadline must not come late; such an algorithm has to use a timer, as the guarantee
// demands. That deadlines come early is in the model, too: at any time the clock on which a process reads deadlines may gain
// a step, as after a suspension of its machine.
//
// The model has a grain: events happen at multiples of a step, which is ClockError.Of units of the true time, in which a
// fast clock counts ClockError.Times units more, and a slow one as many less. Leases are compared at these moments. A
// violation in the model is one in reality; a margin that is smaller than a step may go unseen, so lengths should be
// several steps.
//
// # What must hold
//
// The declaration defines it.
//
//   - Once: never two leaders, never the wrong one, no process decides twice.
//   - Service: terms do not decrease; no term has two leaders; no process but the right one leads unless there was a
//     crash or a command; wherever a run may end, exactly one live process leads, the right one.
//   - Groups, instead: no leader leads twice in a term, and no process follows a leader in a term in which it has not
//     led, or crashed amid the messages of the step in which it would have led.
//   - Once and Service: at the end all have decided and name the same leader.
//   - Leased: never two running leases, compared in true time. The work of a crashed process counts until its lease ends,
//     and work that a host is to stop until it has stopped. In a term one life of one process leads: a term whose lease
//     has run out, was given up or ended by a crash is never used again. Terms of successive leaders rise. No process leads
//     again before its host has stopped the work of its last term. At the end the leader still has a lease.
//   - Termination: every fair run reaches an end, where no message is in transit, no timer runs, and no process has to
//     start or be suspected. A service may instead go round for ever among configurations in which all agree. A run is
//     fair if no action is possible for ever, from some time on, and never taken: the delivery on a link, or of a message
//     where links keep no order; a timer; a start, suspicion, recovery or any other event that has to come; the passing
//     of time. Random choices are fair as well: each outcome comes, with probability 1. This is exact. Runs that go on
//     for ever are those that stay in an end component of the graph without faults, in which each action that is enabled
//     everywhere is taken. A violation shows such a run: a way there, and a round.
//   - Bounds on messages hold for runs without faults. Those of a service are checked for a single initiator, since
//     they are for one election.
//   - Counts that are declared not to depend on the schedule have one total, of all, election and announcement messages, in all runs without faults
//     of one order. That is not judged where something else makes a difference: random choices, a schedule that determines which processes initiate,
//     sets of initiators in turn, more than one election, and links or delays outside the model.
//   - A step that panics or breaks the contract is a violation like any other.
//
// # From the middle of a run
//
// [LookAhead] begins where a run has come to, such as a walk of a session of package simulate. It makes the steps of the run with
// the checker's own transitions, one after the other, and compares each; time passes as in the run, and messages are lost and doubled
// where they were in the run. So the search begins in a configuration of this model. It looks for a violation of safety, or for the
// costliest run. What an election owes at its end is not judged, and bounds, which are for whole runs, are not either.
//
// # Time
//
// [Extremes] has the least and the greatest of three times over all orders and schedules without faults: the last moments at which a
// process became leader, a decision changed, and a message arrived. These are the times that package simulate measures. They
// are in units of delay, from the moment at which all initiators start.
//
//   - Synchronous: a round is a unit. Only orders and random choices make a difference.
//   - Timed: as explored, with delays of 1 to Delay whole units, and timers at their moments.
//   - Asynchronous: such a model has no clock. As in a simulation under schedule fifo, and in the closed forms of package
//     count, each message takes one unit; the schedule picks the order of what arrives at one moment. So the greatest time is not
//     that over delays of at most one unit: there a late message can meet a longer chain of early ones.
//
// No time is stated where it has no bound by the model itself: if a process may initiate after any time, for leases, which are renewed for ever,
// and in lazy time. A quantity is without bound if some run exceeds every value of it, as with random choices, or has no last such event, as
// where a coordinator is polled for ever.
//
// The search is exact. A configuration does not contain the time that has passed, but the transitions that let time pass have their length.
// With v(r) for 1 more than the time from the beginning of a run r to the last event of a kind, and 0 if it has none: v is 0 of an empty run; a
// transition of d units before r makes it v(r) + d, unless v(r) is 0; an event of the kind makes it max(v(r), 1). Both are monotone
// in v(r), so the extreme from a configuration is that of its transitions, applied to the extremes of where they lead. On a cycle, a value
// that one more round increases is without bound.
//
// If messages take one unit, processes take turns: at one moment only the first process with an event that must come now has its events
// explored. Proof. What a step sends arrives a unit later at the earliest. So a step gives no other process an event of the same moment, and takes
// none from it; and each of these events comes before time passes. So in every run the steps of one moment can be sorted by process,
// in the order of each process's own steps: each process makes the same steps, at the same moments.
//
// # Probabilities
//
// [Probabilities] solves the equations of an election as a Markov decision process, in fractions: the schedule picks
// events, chance picks values. Where no schedule differs from any other it explores one.
//
// A property may hold because nothing happens that could break it. So a report lists events that give properties a
// meaning, for example that a lease ran out, whether they have happened in the explored runs. If one has not, the
// properties that depend on it are called vacuous.
//
// # How sure it is
//
// Every step is computed once for each state and event, which is sound because steps are pure; the conformance suite
// tests that. States are told apart by fingerprints of 128 bits: the probability that any of s states was taken for
// another one is below s²/2^129, 10^-22 for a hundred million. In an order with more than 10 million states 64 bits of
// each are kept: below s²/2^65, 10^-3 for two hundred million. With Options.Exact the 128 bits stay. "Exact" means
// that, and not that whole configurations are compared. The report holds the number of bits and the sum of these
// bounds over all orders. Everything else is exact, and a limit that was reached is reported.
//
// # Random walks
//
// [Walks] makes random runs of sizes that no search exhausts. One event in eight is a fault, while its budget lasts.
// Only the chosen event is made. A walk ends with the run, after 1000 events, or, if only safety is judged, 64 events
// after the last fault that may come: then leases have run out, or are renewed again and again.
//
// # What is kept
//
// A configuration is a list of numbers: of interned states of processes, of interned queues of the links that can carry
// a message, and of the rest. Only the configurations that are still to be explored are kept, packed. For all others
// there are the fingerprint, a number if edges are kept, and two bytes that tell how it was found first, from which the
// path of a violation is made. The fingerprints stand in increasing order in lists that are nine tenths full.
//
// The edges of the graph are kept only if they are needed. If every transition leads from one level of the search to
// the next, there is no cycle, and the least and the greatest cost of the runs to a state are known before it is
// explored. The search begins without edges, and begins again with them if a transition leads elsewhere. A service goes
// round for ever, so its edges are kept, unless only safety is judged.
//
// # Several cores
//
// With many orders, each core explores another one. With few, all cores explore one order: states of one level are
// divided into pages, and each core expands some. Then each core finds the states to which moves lead, for its part of
// all fingerprints, and notes which move reached a new state first. New states are numbered in the order of these moves.
// The fingerprint of a configuration is a sum over its parts, and a part's share depends on its content and
// place, never on the number that a core gave it. So counts, depth, extremes and the violation are the same for any
// number of cores.
//
// # Confluence
//
// If each process has a single incoming link, and that is FIFO, if all initiate before anything else, and if steps
// depend on the state and the message only, then one schedule of an order decides everything.
//
// Proof. Let the history of a process be the sequence of its steps: the states, the messages received and sent, the
// decisions. Take two runs A and B of one order. Claim: of each process, the history in one run is a prefix of the one
// in the other. Suppose not, and consider the first step of B that contradicts A: its process p makes step k in both,
// and differently. It is not the start, which comes first in both, from the same state. So p receives the k-th message
// of its one link in both, in the same state, since its earlier steps agree. The link is FIFO, so this message is the
// k-th one that its predecessor sent on it. The predecessor sent it earlier in B, so its history up to there does not
// contradict A, and the k-th message on the link is the same one. The step is a function of state and message,
// therefore equal: a contradiction. Now let A be a run that ends. If B had a step that A has not, consider the first
// one: its message was sent by steps that A has too, so it is in transit at the end of A, a contradiction. So all runs
// end, with equal histories, after the same number of steps.
//
// What follows. A property of the histories has one verdict for all schedules: contract, panics, decisions that are
// taken back, all that holds at the end, that elections end, and every count of messages, so that minimum and maximum
// are equal. Two properties are about moments. Two leaders at once: decisions are for ever, so two processes lead at
// one moment of some run if and only if both lead at the end of every run. The wrong leader at the moment of a
// decision: which one is right depends on the identifiers only, unless the algorithm declares Eligible, and then
// confluence is not used. What one schedule does not decide is which run to a violation is the shortest, and how many
// states there are. So an order in which anything is odd is explored as a whole, and a violation is that of the search.
//
// The premises are tested, not declared. Topology, direction, orientation, order of messages, starts, faults, time and
// task are those of what is explored. A run in which a step chooses, sets a timer or sends elsewhere is left to the search. That
// steps are pure is what the conformance suite tests, as for every search.
//
// # Confluence with several incoming links
//
// Elsewhere a process may receive its messages in several orders. All schedules still end alike if the order makes no
// difference, and that is tested for each order of identifiers, one process at a time: the product of all processes is never
// built.
//
// One run A is made. It gives the messages, and an assumption: for each message m, a set need(m) of the messages to its
// sender, all received before m is sent, and a set before(m) of messages that are sent on its link before m. Both are
// at first what they are in A. The past of m is what follows from them by transitivity: what has been received when m
// is received. A point of a process p is a set of its messages that holds, with a message, those of the message's past
// that p receives. At each point, from the empty one, each message whose past at p is in the point is received, in each state that
// p may have there. Tested is:
//
//  1. The receipt sends messages of A, and each of them once. If it sends m, then need(m) is in the new point and its past, and
//     before(m) has been sent. If not, the sets lose what contradicts this, and all is tried again.
//  2. All ways to a point have sent the same messages. The states may differ.
//  3. No step chooses, breaks the contract, panics or asks to stop work.
//  4. With all messages, each state of p has the decision that p has at the end of A.
//
// A message that leaves every state as it is, and always sends the same, is still. Points leave it out: they would only
// be more, and equal.
//
// Theorem. If the tests pass, each run B makes, in some order, the receipts of A and no others, and all decisions at its end are those
// of A.
//
// Proof. By induction on the steps of B: each message that B sends is one of A, with need and before as assumed, and each process is
// at a point, in a state that was tried there. A message that is received has been sent, so its past has been received, as
// need holds of the messages of that past and as links are FIFO. So its receipt is one of those tried, and test 1 passes for what it
// sends. Now let B end, and suppose that a message of A is not received in B. Take the one, m, that A receives first. Its sender
// has received Y in A before it sent m, and B has received all of Y, and perhaps more, X. From point Y there is a way to point X: of
// what is in X and not in Y, the message that B received first has its past in Y, and so on. By test 2, B has sent at X what is sent
// on this way, which includes m. So m is in transit at the end of B, a contradiction. By test 4 the decisions are equal.
//
// So A decides, as above: a property of steps is tested at all points, which may be more than runs reach; decisions are for ever; the
// counts of messages are equal in all runs. A start that may come at any time, and must come, counts as a message that nothing sends. What
// does not pass is searched.
//
// # Partial order
//
// In a configuration, let p be a process with an event that must come: a message, or a start. Suppose that no link to p is empty but
// those on which no other process sends any more. Then it is enough to explore the events of p, with the faults that
// happen there: its crash, between steps or amid one, or recovery, the loss or a second arrival of a message, a command. This holds for asynchronous elections
// that are for ever, with FIFO links, where no process is cut off or suspected by mistake.
//
// Proof. Any event of another process q changes q, its links, and budgets of faults; if it sends to p, it does so behind a message that
// waits, as the link is not empty. So it gives p no event, and changes none. The reverse is true as well, except that a fault uses up
// a budget; but of two faults that are both made, either may be the first. Let w be a run from here, to an end, to a violation or
// for ever. If w has an event of p, the first such event may come first, and the rest of w follows. If it has none, the event of p
// that must come needs no budget, and is still possible after all of w. So w does not end, and may be made after that event. Hence
// by induction: each run to an end has an equal one among those explored, with the same steps of each process in the same order, the
// same faults and the same end; and if there is a run for ever, the explored graph, which is finite, has a cycle.
//
// What follows, if the graph has no cycle, is that all runs end, and that what steps do, all ends, and minimum and maximum of the
// messages are those of the whole graph. Two leaders at once are seen: take w up to that moment, so that the crash of one is
// not in it. Decisions are for ever, and of the two, the one that decides later in the equal run is judged. The right leader must not
// depend on states (Eligible). Numbers of states, and the shortest run to a violation, are not preserved; so what is odd is searched
// as a whole. If that search reaches its limit first, the report has the run that was found, which may be longer; it is one of the whole graph.
//
// Before all initiators have started, nothing but their starts and faults can happen. A fault that is left out there may come before
// all of it, or after.
//
// A process that has crashed and cannot recover loses what arrives, in any order, so nothing can interfere with that.
//
// A crash gives others an event where processes suspect each other, and a recovery takes it from them. So there all is explored
// while one of these may still come.
//
// With a cycle, p comes first only if at most one link to it holds messages, and the graph must have no end component: chance
// leads out of every cycle. Proof. Suppose that a fair schedule of the whole graph goes on for ever with a probability above 0.
// From some state on it stays in an end component, in which no event is that comes once only: no start, suspicion or fault. It
// takes every event that stays possible, so p's next event is the message on that one link, whatever chance does elsewhere. That
// message may be taken first: its outcomes are as likely, and all else is as before. So a schedule of the explored graph goes on
// for ever, too, and that graph has an end component, a contradiction. With messages on two links the choice between them could
// depend on chance elsewhere. A run w to that state, to an end or to a violation has an equal one as before: while the
// events that come first are not of w, chance may be chosen so that the run ends, and there w cannot have anything left that
// must come, but faults. No other proviso is needed.
//
// On which links no process sends any more is not declared: first, all links are taken to be silent. A step that sends on such
// a link shows that it is not, and the search begins again. This is sound: take the first step of some run that sends on a link
// that is taken to be silent. Up to it, all is as assumed, so the run has an equal one among those explored, and the
// step is seen. With symmetry it is seen on that link or on one that is like it, so all of these are then not silent.
// A process that has crashed, and cannot recover, sends no more.
//
// # Symmetry
//
// Two networks are isomorphic if positions can be renamed so that links with their ports, identifiers and the states of new processes
// are the same. As steps are pure, all runs are then the same but for the names, and so are verdict and extremes. All of
// this is compared, and not taken from the declaration: an algorithm whose new processes differ by their position is found out.
//
//   - Orders: on a ring one of each order's rotations is enough, always. With symmetry that is so among unknown neighbours as well, whose
//     port k leads k + 1 positions on. A ring with all orientations has mirror images: the reverse order, with the ports of every
//     process exchanged. With one orientation only, a mirror image is no network that is explored, and an unoriented
//     algorithm may treat its ports differently all the same; so that is not used. Each class has equally many orders, so means are
//     the same, too.
//   - Configurations: a rotation or reflection of a ring that renames positions so that the network is as before, for example without
//     identifiers, maps runs to runs. So one configuration of those that it maps to each other is enough: fingerprints are the
//     least over all these maps. Proof: map each step of a run by the map that leads to the kept configuration. Ends and
//     breaches are mapped to such. If runs go on for ever, fairness is not the same for the kept configurations, since actions
//     are renamed. So the graph must have no end component, fair or not, as with partial order; or the order is searched as a whole.
//
// Initiators come in the order of positions. A configuration in which some have started is mapped only to itself, and the starts
// commute.
//
// If a violation is found, all orders are explored without symmetry, since a shorter run may exist in one that was left out. Cuts are
// numbered, terms and proofs of death name processes, and time passes in steps that are ordered by position; with any of
// these, configurations are not compared. Among known members each process has an identifier of its own, so no two are alike.
//
// This package is v0: its API may change with any version.
package verify
