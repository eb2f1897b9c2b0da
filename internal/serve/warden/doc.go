// Package warden runs a program as the child of a process that only waits for it, its warden. When the program has ended, the
// warden kills and reaps all processes that the program started. Then it proves to the other members of the groups that this
// life and all its work are dead, so that they need not wait for the end of a lease.
//
// The kernel tells of the end of a program when it has taken back its memory: after milliseconds, or after seconds for gigabytes. If a program has started
// nothing, its warden does not wait for that. It proves the death as soon as no thread of the program has memory, since such a thread executes nothing. Members on
// the same machine hear of it later, when ports and files are free.
//
// Before that it writes into the lease files of members that these do not lead: other processes read them.
//
// The proof is a secret that the warden draws before the program starts. The program gets only its SHA-256, shows that to
// the others, and cannot disclose what it does not know. See transport.Proof.
//
// The warden is a subreaper, so each process that loses its parent below the program becomes a child of the warden, also
// if it has left the session. When the system knows no more children, no process is left. A warden does not find what runs
// elsewhere for the program: a job of a service manager, or a container of a daemon.
//
// If the warden dies, the kernel kills the program, and no process proves that.
//
// All this needs Linux.
package warden
