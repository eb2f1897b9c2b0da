// Package steps makes the steps of a run's processes: it checks, judges, counts and records them, and knows the clocks and
// the flaws of the links. It does not know which event comes next: the engines of package simulate, and its sessions, do.
package steps
