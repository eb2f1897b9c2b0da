// Package refine ties proofs/quorum-bully.model to the Go code of package quorumbully: each step of the code must be a sequence of actions of
// the model. The model file itself is evaluated; nothing of it is written a second time.
//
// A [Checker] observes a run, step by step. Beside the run it keeps a state of the model. From each step of a member it reads what the
// member has done: which claims it has ended, what it has granted, asked for, counted, adopted, won and changed. These are actions of the
// model, in the order of the code, with arguments that the step has: the request that a Grant echoes, the deadline of LeadUntil, the time
// of a timer. Each guard must hold. Then the abstraction of the member must be what the actions have made:
//
//	promise longest kept       Kept.Promise, Kept.Longest, Kept.Voters
//	granting granted timer     Given, and the timer Bound as the step has set it
//	restarted wait-end         Restarted, and the timer Wait
//	share (of its claim)       Share
//	won finished               Role
//	voters deadline            Kept.Voters and LeadUntil of a leader
//	working                    Work, until the host has stopped it; Work stays until the host has reported that
//
// What the code forgets, the checker remembers: which request left when, what was ever granted and told, and the ghosts. It learns them from
// observed steps alone. Whether a message that arrives was sent is the engine's affair; what it contains is compared with what was sent.
//
// The environment makes the other actions: time passes, and work stops before its deadline; a member crashes when it begins its next life;
// a proof of death comes when a life has ended. The model has no Bully stage and no rule 8, which only choose who claims and when: any
// claim is allowed to any member.
//
// [Explore] does so in every configuration that package verify visits, and [Run] along a run of package simulate. A configuration has
// the history of the first run that leads to it.
//
// A [Verifier] does the same with proofs/verify-leader.model, for which clocks do not matter: along a [Log] with [Log.CheckVerified], and with
// [ExploreVerified].
//
// This package is v0: its API may change with any version.
package refine
