// Package plan has what all studies have in common: a study as a value, which a command plans from its arguments and flags. It reads the
// flags for the network, votes, wake-up times, hosts and faults, writes results and the drawings of runs, and has the program as its rooms
// know it, saved runs and walks, and the words of jobs.
//
// The rooms run, study, jobs and lab import it, and the root, which makes the program. It imports option and labour, and no other room:
// whatever only one of them needs belongs there.
package plan
