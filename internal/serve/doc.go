// Package serve is the wing of live members. Its rooms:
//
//   - live: the loop that owns the state of a member
//   - warden, kernel: the parent process that proves a death, and what the kernel of Linux does for a process
//   - agent: a member beside a program of any language
//   - control, metrics: what operators see and command
//   - observe: a group as an observer sees it
//   - doctor, certificates: what a host allows, and the certificates of members
//   - rig, disktest: groups of real processes on one machine and their small disks, for the demo and for tests
//
// The root package, statushttp, ringleadertest, the command line, and the wing show for its demo import this wing. It imports rooms of core,
// and none of study or show: a host that runs a member carries no laboratory.
package serve
