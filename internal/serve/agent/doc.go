// Package agent runs a member of a group beside a program of any language: it runs a command while the member leads,
// and hooks when the leader changes.
//
// # Processes
//
//	warden → member → keeper → first process of a PID namespace → command → …
//
// Each command and each hook has a keeper, a process of this program that starts it and ends it. The member tells the
// keeper, again and again, when the command has to stop and when it has to be dead. Both moments are before the end of the
// lease. The keeper needs no further order, so the command ends in time even if the member is stopped. The member
// kills a keeper that does not end in time. If the member cannot, a timer of the kernel kills the keeper, even a stopped one.
// The keeper of the next command waits for it, with the first process: it starts with the member, or when the length of a lease, at most a
// second, has passed since the last one ended.
//
// On Linux a command under a lease runs in a PID namespace. When the first process of that dies, the kernel kills all
// others, whatever they do. The wait for the first process returns when all are dead. The first process dies with its keeper,
// the keeper with the member, and the member with the warden, since each has a parent-death signal. So no process of a command
// is left when its keeper was reaped, when its member was reaped, or when the warden proves the death of the member.
//
// Where a host forbids namespaces, the next [Means] is used. Warden, member and keeper are subreapers: a process that loses its
// parent becomes a child of the nearest of them, also if it has left its session, and each kills and reaps its children until there
// are none. A keeper then outlives its member, to do that. Hooks and health checks run under no lease, and end the same way.
//
// On other systems there is no warden, and a keeper ends the process group of the command. On Windows it ends the first
// process only.
package agent
