//go:build !js

// Package operate has the commands that elect a leader among real processes: those of a member, of its operators, and the demo.
package operate

import (
	"context"
	"io"

	"github.com/spf13/cobra"

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
func Commands(h Host) []*cobra.Command {
	p := &program{h}
	return []*cobra.Command{
		p.demo(), p.init(), p.cert(), p.join(), p.exec(), p.status(), p.watchLeader(), p.resign(), p.transfer(), p.members(), p.pausePreemption(),
		p.resumePreemption(), p.doctor(), p.record(), p.explain(), p.lease(),
	}
}
