// Package agent runs a member of a group beside a program of any language: it runs a command while the member leads,
// and hooks when the leader changes.
//
// # Processes
//
//	warden → member → keeper → command → …
//
// Each command and each hook has a keeper, a process of this program that starts it and ends it. The member tells the
// keeper, again and again, when the command has to stop and when it has to be dead: moments before the end of the
// lease. The keeper needs no further word for that, so the command ends in time also if the member is stopped. The member
// kills a keeper that does not end in time, so the command ends in time also if the keeper is stopped.
//
// On Linux all of the three are subreapers: a process that loses its parent becomes a child of the nearest of them, also if
// it has left its session. Each kills and reaps its children until there are none. So no process of a command is left when
// its keeper has ended, when its member has ended, or when the warden proves the death of the member. After the death of any
// one of the three the other two do that. If the warden and the keeper are killed at the same time, the kernel kills the
// member and the first process of the command; processes that it has started may survive. The same holds for a member
// and a keeper that are stopped at the same time. A term is a fencing token against that: see package fence.
//
// On other systems there is no warden, and a keeper ends the process group of the command. On Windows it ends the first
// process only.
package agent
