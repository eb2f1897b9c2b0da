//go:build !js

// Package operate has the commands that elect a leader among real processes: those of a member, of its operators, and the demo.
package operate

import (
	"context"
	"io"

	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/show/demo"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/simulate"
)

// Host is what the commands need of the program that they belong to.
type Host struct {
	*report.Printer
	Stdin io.Reader

	// Demo runs a demo that the lab shows, too.
	Demo func(context.Context, demo.Options) error

	// Save writes a recorded run for the commands that replay and verify.
	Save func(w io.Writer, algorithm string, o *simulate.Options, made []simulate.Choice) error
}

// program has the commands: each is a method of it.
type program struct{ Host }

// Commands returns the commands, in the order of the help.
func Commands(h Host) []option.Named {
	p := &program{h}
	return []option.Named{
		{Name: "demo", Make: p.demo},
		{Name: "init", Make: p.init},
		{Name: "cert", Make: p.cert},
		{Name: "join", Make: p.join},
		{Name: "exec", Make: p.exec},
		{Name: "status", Make: p.status},
		{Name: "watch", Make: p.watchLeader},
		{Name: "resign", Make: p.resign},
		{Name: "transfer", Make: p.transfer},
		{Name: "members", Make: p.members},
		{Name: "pause-preemption", Make: p.pausePreemption},
		{Name: "resume-preemption", Make: p.resumePreemption},
		{Name: "doctor", Make: p.doctor},
		{Name: "record", Make: p.record},
		{Name: "explain", Make: p.explain},
		{Name: "lease", Make: p.lease},
	}
}
