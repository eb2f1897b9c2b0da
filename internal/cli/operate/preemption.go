//go:build !js

package operate

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/serve/control"
	"ringleader.example/ringleader/internal/show/report"
)

func (p *program) pausePreemption() *cobra.Command {
	var pause time.Duration
	command := p.preemption(&cobra.Command{
		Use:   "pause-preemption [DURATION] --data DIR",
		Short: "Let a member neither hand over to a member of higher rank nor take over",
		Long: `Pause-preemption lets a member that has --preempt neither offer its lead to a member of higher
rank nor take such an offer: for DURATION, or until "ringleader resume-preemption". Other
members do not know of it, so give it to all of them, for example before a machine comes back
that is not to lead yet. The pause ends with the process of the member. resign, transfer and
failures change the leader as before.

Exit status: 0 it is paused; 1 the member does not preempt; 3 no member
answers; 64 the call was wrong.`,
		Example: "  ringleader pause-preemption 30m --data /var/lib/ringleader/1",
		Args: func(command *cobra.Command, args []string) (err error) {
			if len(args) == 0 {
				return nil
			}
			if pause, err = time.ParseDuration(args[0]); err != nil || pause <= 0 || len(args) > 1 {
				return fmt.Errorf("%s takes one argument at most, a time above 0 such as 30m; try %[1]s --help", command.CommandPath())
			}
			return nil
		},
	}, func(ctx context.Context, c *control.Client) (ringleader.Status, error) {
		return c.PausePreemption(ctx, pause)
	})
	return command
}

func (p *program) resumePreemption() *cobra.Command {
	return p.preemption(&cobra.Command{
		Use:   "resume-preemption --data DIR",
		Short: "End a pause of preemption",
		Long: `Resume-preemption ends what "ringleader pause-preemption" has begun. A leader offers its lead
again within eight times --preempt-delay.

Exit status: 0 it is not paused; 3 no member answers; 64 the call was wrong.`,
		Example: "  ringleader resume-preemption --data /var/lib/ringleader/1",
		Args:    option.FlagsOnly,
	}, func(ctx context.Context, c *control.Client) (ringleader.Status, error) {
		return c.ResumePreemption(ctx)
	})
}

// preemption completes a command that concerns preemption, and shows the state of the member afterwards.
func (p *program) preemption(command *cobra.Command, call func(context.Context, *control.Client) (ringleader.Status, error)) *cobra.Command {
	var (
		o      clientOptions
		asJSON bool
	)
	command.GroupID, command.ValidArgsFunction = option.GroupElect, cobra.NoFileCompletions
	command.RunE = func(command *cobra.Command, _ []string) error {
		client, err := o.client(command)
		if err != nil {
			return err
		}
		s, err := call(command.Context(), client)
		if err != nil {
			return unanswered(err)
		}
		return p.Print(report.Status{Status: s}, asJSON)
	}
	o.defineOrder(command, &asJSON)
	return command
}
