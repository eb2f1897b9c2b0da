// Package quorumbully elects one leader among known members that can crash, pause and be cut off from each other. A
// member leads while a majority of the members has granted it a lease. As in Bully, a stage of questions and answers
// decides which member claims first. There are never two leaders at the same time: that is proved for any number of members.
//
// A majority of n members is q = ⌊n/2⌋ + 1 of them. L is the length of a lease, or the longest one if lengths vary. The leader
// counts on a lease that is shorter by the fraction ρ. P stands for Kept.Promise.
//
// # The rules
//
//  1. A term has at most one leader. P is the highest term that a member has granted. It is durable before the Grant
//     leaves. A member grants a Claim only in a term above P, or if the Claim repeats the grant that the member has in
//     memory. A candidate claims a term above every P that it has heard of. In its next step, before any other input, it
//     grants its own claim. That grant obeys every rule of a grant, and no claim wins before it. So a life claims no term
//     twice. The next life may, if the crash came before the grant: that is another claim, and a member grants only one of
//     them. A refused Claim changes nothing. A term above P + 2³² is refused.
//  2. A grant is a lease for one incarnation of one member in one term. It lasts as long as the request asks for. While
//     it runs, its granter grants nothing to any other incarnation, itself included, unless the holder is finished
//     (rules 5 and 6). Exception: a Renew proves that its term is won. It is granted, whatever was promised, unless a
//     grant of a higher term is in force or its term is below F, and it ends the wait after a restart. F is the highest
//     term that the member knows to be won. It becomes durable with the next P. A claim that fails, its own or one that it has granted,
//     raises P but not F, so the member still renews with the leader. After a restart, F equals P until the wait ends.
//  3. For each member, the leader keeps until when its newest answer counts: for l(1-ρ) from the time at which the request left,
//     if that was for l. The leader's deadline is the q-th largest of these times. Each step checks the deadline before it handles
//     its input. A tenure whose deadline has passed has ended, for good. If requests of a term have different lengths, they say so,
//     and obey three more rules. A request counts at least as long as those before it: lengths fall more slowly than time passes. A
//     member that has answered a request is not bound for a shorter time by one of a lower number. And such a Renew does not end the
//     wait after a restart: the earlier life may have answered one for longer.
//  4. A restarted member is a new incarnation: the larger of the stored number plus one and the number that the host gives
//     to this life, on a live host the wall clock in nanoseconds. For as long as the longest lease that it ever promised,
//     it claims nothing, grants only Renews, and is not able to lead.
//  5. A Release ends a claim, or a tenure whose work has stopped. The member leaves the role before it sends the
//     Release. A Release is final. It names the holder, the incarnation and the term, and voids only what it names. If
//     it names a successor, that member claims at once.
//  6. A proof of death names a member and an incarnation. It voids all leases of that incarnation, for ever. Releases
//     and proofs of death are stable facts. Election and Claim carry the facts, so it is enough if one member knows
//     them. A suspicion, or a message of a newer incarnation, starts the Bully stage and voids nothing.
//     A leader names its heir in each renewal but the first: the able member of highest rank. If the leader is proven
//     dead, the heir claims at once, and the others defer to it.
//  7. The term is the fencing token. A term has at most one tenure, and a term that has lapsed or was released is never
//     used again.
//  8. A leader offers the lead to the able member of highest rank, if that rank is above its own. This member asks all
//     others, outside the Bully stage. It accepts if a majority would grant it a lease but for this leader. Then the
//     leader stops its work and names the member as its successor. Without an answer nothing changes, and the next
//     offer follows after twice the time.
//  9. The majority is one of the voters. All members vote at first, but those on standby. Voters have the term of the
//     leader that made them, and a version; those with the higher term are newer, and in one term those with the higher
//     version. A member keeps the newest that it has received in a Claim, a Renew or a Nack, durably before it answers. A
//     leader keeps its own. A Claim to older voters than its receiver keeps is refused, and a candidate that receives newer
//     ones ends its claim. Only a leader changes the voters, one member at a time. First it gives its own term to the
//     present ones. Each change waits until a majority of the voters before it keeps those, as their Grants tell, and until
//     it shortens no lease: so a new voter has answered already, as all members do. A member without a vote never claims.
//
// The Bully stage precedes every claim except a successor's and an heir's. A member that is bound itself first waits until it is free. A
// member that knows of able members of higher rank waits Td for a claim of the highest, and Te more for each other of
// them: otherwise all would question all at once. Then it sends Election to all, and each Answer contains the time after
// which its sender could grant a lease. The member claims when a majority is free and the others are known to be of lower
// rank or not able, or when all have answered. It defers once more to a member of higher rank that can claim now. It
// withdraws its claim when it receives the Claim of a member of higher rank. The times of the stage double with each
// attempt that fails, up to L/4, until there is a leader. Rank is weight, then identifier. The initial weight is the
// priority. A member of weight 0 is a witness: it grants leases and is never leader.
//
// Why there is at most one leader. Let X win term x, and let Y win term y > x. Each majority whose answers X counts has a
// member in common with the majority with which Y wins. It grants Y's Claim only when its promise to X has run out or X
// is finished. From then until Y has won, its grant to Y is in force, or Y would not count it: so it answers no Claim of
// X, since x is below its P, and no Renew of X, since x is below the grant in force. So its share in X's lease ends
// before Y wins, and X's deadline has passed by then: X's next step ends its tenure before it counts another answer.
// Hence no term below a won term is ever valid again. That is why a Renew is granted in spite of promises.
//
// That argument needs clocks. A leader that is to be sure without them counts only the Grants of members whose P is not above its
// term, its own P included, and each Grant tells a P that is: a majority of them cannot have granted a higher term before they answered, so none was won then,
// while voters stay the same. If claims that failed have raised P at too many members, there is no such majority until the leader's next term.
//
// Why that holds while voters change. The argument above needs a member that is in each majority of X's voters and in
// each of Y's. Two majorities have one in common if the voters differ by one member at most. Let D be the voters to which
// Y claims, and let the leader Z of term z have made them.
//
//   - z = x: D is one of X's own. If X has not gone more than one change beyond D, majorities have a member in common. X
//     goes further only when a majority W of the voters N next after D keeps them, and its tenure is valid then. A member
//     of W is in Y's majority. If it kept N before it granted Y's Claim, it refused that. If it granted the Claim before,
//     that grant was in force until Y won, so it answered X's Renew after that. But when Y won, X had not gone further,
//     so X's deadline had passed, and X went no further at all.
//   - z > x: Z won before it made D. By induction over terms X was not valid from then on.
//   - z < x: Let B be the voters to which X claimed, made in term b. If b = z, Z made B and D. They differ by one member at
//     most: otherwise, as in the first case with Z for X, the one of X and Y that claimed to the older ones has not won.
//     If b > z, D has a member of each majority in common with B by this same case, for the leader of term b and Y:
//     that leader has made no voters but its first, which are B. If b < z, the same holds for Z and X. In each case
//     X's first voters, which are B in its own term, are the only ones that X makes: it changes them only when a majority of
//     them keeps them, and with such a majority Y's has a member in common, as in the first case.
//
// The first voters are those of term 0. No message lists them: each member has them from its host. The argument needs that members with
// different ones do not communicate, if each is among its own. One that is not among its own never claims by them, and no candidate whose
// voters lack it counts its grants. From term 1 on voters are lists, so what hosts know about other members plays no part.
//
// So it does not matter when members learn of voters, or whether a change is lost with its leader. Two leaders of one term
// are excluded by the same argument, as a member grants one Claim in a term. A member that is removed and added again keeps
// what it has promised. If its state was lost it gets a new identifier, as after any loss.
//
// # What the proof taught
//
// The file proofs/quorum-bully.model has rules 1 to 9 as a transition system, which is proved safe for any number of members and terms. Its
// guards are what safety needs: a term above P, or the grant in memory with the term P; no wait after a restart; voters not older than those
// kept; no other life's grant in force; a Renew not below the grant in force, nor below P during the wait; answers that count only while
// the lease is valid; and for new voters the leader's own term first, a majority that keeps the present ones, and a deadline that does not
// move back. Safety does not need these:
//
//   - F and Floor, but for "F equals P until the wait ends". They keep a member from granting Renews of leaders long replaced. So a win
//     alone makes nothing durable, and a new leader waits for no disk after it has won.
//   - A candidate that ends its claim when it adopts newer voters. Its receivers refuse the claim anyway. But a claim that goes on has to be
//     counted by the voters that it was made to.
//   - A leader that adopts no voters. It would only end its tenure sooner.
//   - One member at a time. The general rule is that a change is safe if each majority of the voters before it has a member in common with
//     each majority after it. So is a quorum that is no majority, of weights or of a grid, if quorums of neighbouring voters meet.
//
// # Layout
//
// voters.go has rule 9. step.go has the inputs: each checks the deadline (rule 3), handles the input, and ends with the policy. lease.go has
// rules 1 to 5, length.go the lengths of rule 3, facts.go the facts of rules 5 and 6, bully.go the Bully stage, and transfer.go rule 8. The state and the
// messages are in quorumbully.go.
//
// # Decisions where the rules leave a choice
//
//   - Requests carry a number, not a time. For each of its last 8 requests, the leader keeps the time until which an
//     answer counts.
//   - A grant binds by a timer, which may be late. The leader's right ends by a deadline, which may be early. The
//     deadline beside the timer serves only to tell other members when the grant ends.
//   - Kept is durable before any message of its step leaves. So a claim and the candidate's own grant are two steps: the
//     Claim waits for no disk, and all disks work at the same time. A grant of one's own counts at once.
//   - A member ignores all input before Start or Recover. Otherwise a message that comes before Recover would be
//     granted without the wait.
//   - The incarnation is durable and counts up. If the durable state is lost, the host's number still exceeds all earlier
//     ones. So the tombstones of earlier incarnations, which other members remember, do not silence the member. If the wall
//     clock was set back meanwhile, they do, until it has caught up.
//   - The promises are lost with the durable state, and rules 1 and 2 need them. So a host that finds its state lost does not
//     start the member as if this were its first life. It gives the member a new identifier.
//   - A leader gives its term to the voters only when it changes them. So a group that does not change keeps and sends
//     nothing for rule 9.
//   - All members get the leader's messages, also those without a vote. So a member that was removed learns of it, and one on
//     standby follows.
//   - A leader does not remove itself: it hands over first, and its successor removes it.
//   - A claim is for L, and only renewals are for less. A lease is so long that its renewals are twice as far apart as answers, requests
//     and timers were late at worst; the time between renewals is the same part of each length. What was late fades in thousands of renewals.
//     A length rises at once, and falls by half of the time that passes. The leader measures the time since it sent the request behind its
//     deadline, when an answer comes: that has the way to a majority and back, and the lateness of all. Its followers measure, too. All members
//     must have this protocol: those of earlier ones would let a late request shorten a grant. The groups of both refuse each other, as their
//     messages differ.
//   - With different lengths, Confirmed tells the deadline as if all requests had been for L: so a host can tell when they left.
//   - A restart of the whole group costs a wait of L. A flag for a clean stop would not remove it: a follower that stops,
//     restarts at once and grants, while its earlier grant still runs, makes two leaders.
//   - A Resign names the able member of highest rank as the successor. Otherwise the resigned member could win again at
//     once.
//   - A leader that has handed over waits 16·Tc before it asks, at most L/2, in place of Td, and does not ask when a claim
//     fails meanwhile. Where the processors are busy, a successor needs longer than Td, and the old leader would win again.
//     All others defer to the successor for Td, and for as long as something was late before, up to L/4.
//   - The host verifies proofs of death. A proof is, for example, a secret that only the warden of that incarnation
//     has had. Authentication and the identities of stores are tasks of the host, too.
//   - A host that must stop its work reports when the work has stopped. Until then a leader renews its lease, and a
//     member whose lease has lapsed neither claims nor releases.
//   - With asking=no there is no Bully stage. With terms and renewals, both are bounded. Together they leave rules 1 to 6
//     with finitely many states, for the checker.
package quorumbully
