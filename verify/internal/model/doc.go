// Package model makes the transitions of an election: configurations, the steps of processes, faults, timers and the passing of time,
// the choices of steps, and what must hold of them. It does not know which configurations are explored. Package verify defines the
// model in its comment.
package model
