//go:build !js

package cli

import "github.com/spf13/cobra"

// commands are all commands, in the order of the help.
func (p *program) commands() []*cobra.Command {
	return []*cobra.Command{
		p.demo(), p.init(), p.cert(), p.join(), p.exec(), p.status(), p.watchLeader(), p.resign(), p.transfer(), p.members(), p.pausePreemption(),
		p.resumePreemption(), p.doctor(),
		p.run(), p.count(), p.compare(), p.verify(), p.worst(), p.prove(), p.merge(), p.worker(), p.jobs(), p.lab(), p.export(), p.reproduce(), p.catalogue(), p.sources(), p.scenarios(),
		p.replay(), p.version(), p.processor(),
	}
}
