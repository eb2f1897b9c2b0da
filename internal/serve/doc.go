// Package serve is the wing of live members. Its rooms:
//
//   - live: the loop that owns the state of a member
//   - disk, view, delays, kept, book, recorder: leaves of it, which watch the storage, and hold what a member shows, what is slow, what it keeps, where
//     the members are, and its record
//   - warden, kernel: the parent process that proves a death, and what the kernel of Linux does for a process
//   - canary: the process that may hang with a disk
//   - aside: lines of members and wardens, which wait for no reader
//   - agent: a member beside a program of any language
//   - control, metrics: what operators see and command
//   - observe: a group as an observer sees it
//   - record, explain: what a member was given, and why the leader changed
//   - doctor, certificates: what a host allows, and the certificates of members
//   - rig: groups of real processes on one machine, for the demo and for tests
//   - disktest, storetest: small disks and slow stores, for tests
//
// The root package, statushttp, ringleadertest, the command line, and the wing show for its demo import this wing. It imports rooms of core,
// and none of study or show: a host that runs a member carries no laboratory.
package serve
