// Package quorumbully elects one leader among known members that can crash, pause and be cut off from each other: a member
// leads while a majority has granted it a lease. Which member claims first is settled as in Bully. At no time do two lead.
//
// Of a majority there is one more than of the rest, ⌊n/2⌋ + 1 of n members, q for short. L is the length of a lease and ρ
// the part by which the leader's is shorter. P, F and G are what this package calls Kept.Promise, F and Given.
//
// # The rules
//
//  1. One leader a term. P is the highest term that a member has granted or claimed, kept before anything is sent. A Claim
//     is granted only in a term above P, or if it repeats the very grant in memory. A candidate claims above all P that
//     it has heard of, and never twice in one term. Its own grant obeys every rule of a grant. A refused Claim changes
//     nothing. A term above P + 2³² is refused.
//  2. A grant is a lease to one incarnation of one member in one term, for the length that the request asks for. While it
//     runs no other gets one, the granter included, unless its holder is finished (5, 6). Exception: a Renew means that its
//     term is won; it is granted in every term from F on, whatever was promised, and ends a restart wait. F is the highest
//     term granted to another member or led in, and is kept as well: a failed claim of one's own raises P and not F, so
//     that its member still renews with the leader. After a restart F is P until the wait is over.
//  3. The leader's deadline is the q-th largest, over the members, of when the request that each one answered was sent,
//     plus L(1-ρ). Each step looks at it before its input. A tenure whose deadline has come is over for good.
//  4. A restarted member is a new incarnation. It grants and claims nothing for the longest lease that it ever promised,
//     but for Renews, and is not able meanwhile.
//  5. Release ends a tenure, after its work has stopped, or a claim. The role is left first. It is final, names holder,
//     incarnation and term, and voids only what it names. A successor that it names claims at once.
//  6. A proof of death names member and incarnation, and voids what that incarnation holds, for ever. Both are stable facts,
//     which travel in Election and Claim, so that one member that knows is enough. A suspicion, or a message of a newer
//     incarnation, starts a question and voids nothing.
//  7. The term is the fencing token: one tenure a term, and a term that has lapsed or was released never comes back.
//  8. A leader offers its place to the able member of highest rank above its own. That one asks all, apart from the Bully
//     stage, and accepts if a majority would grant it but for this leader. Then the leader stops and names it. Without
//     its answer nothing changes, and the next offer comes after twice the time.
//
// The Bully stage comes before every claim but a successor's: Election asks all, Answer tells how soon a member could grant.
// A member claims when a majority is free, defers once, for Td, to a higher one that can claim now, and gives its claim
// up when it hears a higher one's. Rank is weight, then identifier. Weight begins as the priority; 0 makes a witness,
// which grants and never leads.
//
// Why at most one leads: a member that counts in the majorities of X, in term x, and Y, in y > x, answered X first, for
// afterwards x is below its P. Between the two its promise ran out, or X was finished; so its share in X's lease had
// ended before Y had its majority. Hence no term below one that is won is ever valid again, which is why a Renew may pass.
//
// # How it is laid out
//
// step.go has the inputs: each looks at the deadline (3), does its work, and ends with the policy. lease.go has rules 1
// to 5, facts.go the facts of 5 and 6, bully.go the Bully stage and transfer.go rule 8. State and messages are in
// quorumbully.go.
//
// # What was decided where the rules leave it open
//
//   - Requests carry a number, not a time: the leader keeps, for its last 8 requests, until when an answer entitles.
//   - The grant given binds by a timer, which may be late; the leader is entitled by a deadline, which may be early. A
//     deadline kept beside the timer tells other members about when the grant ends, and decides nothing.
//   - What is kept is durable before any message of its step leaves, so a candidate's own grant counts at once.
//   - A member takes no part before Start or Recover: a message that came before Recover would be granted without the wait.
//   - The number of an incarnation is kept and counts up; a host that can lose what is kept must name the member anew.
//   - That a group restarts as a whole costs a wait of L. A flag for a clean stop would have to wait for the grants that
//     still run: a follower that stops, comes back at once and grants makes two leaders.
//   - A Resign names the able member of highest rank as the successor, or the one that resigns might win again at once.
//   - A proof of death comes from the host, which has verified it; what proves it, a secret that only the warden of that
//     incarnation has had, is the host's, as are authentication, the stores' identities, and changes of the members.
//   - A host that is asked to stop its work answers when the work has stopped. A leader renews until then, and one whose lease has lapsed
//     neither claims nor releases before.
//   - With asking=no there is no Bully stage, and with terms and renewals both are bounded: rules 1 to 6 alone, for the checker.
package quorumbully
