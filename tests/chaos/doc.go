// Package chaos tests groups of real members: processes, sockets, and stores on disk, under faults drawn from a seed. It
// has no code of its own. Package ringleadertest makes the same kinds of faults in simulated time.
//
//	go -C tests test ./chaos -run Chaos -seed 7
//	go -C tests test ./chaos -run Chaos -timeout 2h -long -faults 10000
//	go -C tests test ./chaos -run Chaos -timeout 2h -long -faults 10000 -packets
//
// A run is a sequence of episodes. Each starts a new group of 3 or 5 members. Half of the groups have wardens, half use TLS,
// half let the leader choose shorter leases, and half have clocks that are up to 2 % too fast or too slow. In half of the others
// work is a command, which members run as ringleader exec does. Half of the wardens kill a leader that does nothing for 60 ms,
// as those of ringleader join do. An episode kills and stops members, wardens, and processes of commands, changes the
// voters, cuts and delays links, makes disks fail, loses and swaps stores, starts members twice, and loads the machine. Then
// it repairs everything and awaits agreement. The seed of an episode determines its faults, and the operating system their
// timing, so a seed repeats a failure only with some probability.
//
// Links are relays of the test, which hold data back. With -packets each member is in a namespace of networks, and packets
// are dropped, so connections time out. That needs root, and the programs ip, nsenter and nft.
//
// # What is recorded
//
// Each process reports events through a pipe of its own. A report is one write, so a kill loses none that was made. All
// readings are of CLOCK_BOOTTIME, which is one clock for all processes of a machine. A leader reports how long its
// lease runs, before and after its work. It works on a register, which the test keeps: it writes with its term as a
// fencing token, and reads a copy of its own under its lease. It also writes to a log without a token. A command does the
// same work, and never asks whether its lease is valid. Its member reports the end of the lease before the keeper can know
// it, and the end of the command after no process of it is left.
//
// # What is judged
//
//   - Valid leases do not overlap. A lease counts until its deadline, also if its process is stopped or dead. A process under
//     a warden counts until it was killed: its death may be proven from then on.
//   - A term has one leader, and no leader of a lower term has a valid lease after one of a higher term.
//   - Work begins and ends in turns, once in each term. A command runs before the end of its lease only.
//   - The history of the register is linearizable. The copy of a leader that was replaced would not be.
//   - No process leads with a store that the others do not know, and none starts with a store that is in use or is another
//     member's.
//   - The joined records are a run of the model of the algorithm, in each episode with right clocks in which no store was lost.
//   - After the repair the members agree on a leader within ten leases.
//   - No process outlives its episode.
//
// A violation is reported with its seed, a list of what happened, a drawing, and the records of all members, from which
// ringleader explain tells why the leader has changed.
package chaos
