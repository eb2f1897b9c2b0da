// Package run has the commands on one election: run, with schedules and faults, in lock-step, step by step, or over connections; replay of
// a saved one; the named runs; and export for other tools.
//
// The root has its commands. The room lab asks for runs and walks with the same options, and makes them with the same code. It imports
// plan, and no room beside it.
package run
