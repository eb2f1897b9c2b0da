// Package faults describes the faults of a run: processes that crash and recover, links that are cut, slow processes,
// wrong suspicions, clock drift, messages that are lost, duplicated or overtaken.
//
// A [Script] holds the faults of one run. It is data: package simulate makes the faults happen. There are three ways
// to get one, and they can be combined:
//
//   - as a value: Script{Crashes: []Crash{{Process: 2, At: election.Units(30)}}};
//   - from lines of text, with a [Reader];
//   - from a seed, with a [Budget] in Script.Random: a run draws that many faults, and its result has the drawn ones
//     as if they had been given.
//
// # Lines
//
// A line is the same in a file, in a flag, in a result and in the record of a run. [Script.Lines] writes the lines of
// a script, and a Reader reads them back as the same script:
//
//	dead 3                                  never runs
//	crash 7 at 30                           between two steps
//	crash 7 at 30 after 2 sends             in the middle of the next step that sends more
//	recover 7 at 80
//	partition 1,2 | 3,4 | others from 30 until 150
//	cut 1 -> 2,3 from 10 until 20           one way
//	slow 3 by 4 from 0 until 100            what it sends takes 4 times as long
//	pause 3 from 10 until 50                it takes no step
//	suspect 2 of 5 from 10 until 20         2 suspects 5, which is live
//	drift 4 by 11/10                        its clock runs fast
//	lose 1/20
//	duplicate 1/50
//	reorder
//	random 2 crashes, 1 recovery, 1 partition until 500
//
// Without until, a lasting fault never ends; without from, it begins at 0. Processes of no group of a partition keep
// all links; others are all processes that are in no other group. Lines name processes by identifier; by
// identifier@position if several processes have the same identifier; by position if processes have no identifiers. A
// Script names them by position.
//
// # What an engine does
//
// An engine that takes a Script calls [Script.Check], which returns an [Error] for the first fault that cannot
// happen: on this network, to this algorithm, or after the faults before it. Then it calls [Script.Draw], and makes
// the faults happen. [Script.Unclaimed] returns the faults outside the algorithm's fault model.
//
// This package is v0: its API may change with any version.
package faults
