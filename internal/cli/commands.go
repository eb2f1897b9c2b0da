//go:build !js

package cli

import (
	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/operate"
)

// commands are all commands, in the order of the help.
func (p *program) commands() []*cobra.Command {
	return append(operate.Commands(operate.Host{Printer: p.Printer, Stdin: p.stdin, Demo: p.demoInLab}),
		p.run(), p.countCommand().Command, p.compareCommand().Command, p.verifyCommand().Command, p.worstCommand().Command, p.prove(), p.merge(), p.worker(), p.jobs(), p.lab(), p.export(), p.reproduceCommand().Command, p.catalogue(), p.sources(), p.scenarios(),
		p.replay(), p.version(), p.processor(),
	)
}
