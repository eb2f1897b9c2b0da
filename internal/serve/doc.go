// Package serve is the wing of live members: the loop that owns a state machine (live), the parent process that buries it (warden, kernel),
// a member beside another program (agent), who may look and command (control, metrics), what an observer sees (observe), what a host
// allows (doctor, certificates), and groups of real processes on one machine and their small disks, for the demo and for tests (rig, disktest).
//
// Who may come in: the root package, statushttp, ringleadertest, the wing show for its demo, and the command line. Rooms of core are imported
// here, and none of study or show: a host that runs a member carries no laboratory.
package serve
