package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/demo"
)

func (p *program) demo() *cobra.Command {
	var o demo.Options
	command := &cobra.Command{
		Use:     "demo",
		GroupID: groupElect,
		Short:   "Elect a leader among five processes on this machine, to kill, pause and restart",
		Long: `Demo starts five member processes on this machine. They elect the highest of them by the
Bully algorithm. Every change is shown as it happens, with the time since the fault that
caused it: from the signal to the change at the member.

Bully has no quorum. When a higher member starts or is resumed, it takes over: the leader
before it remains leader until it hears of that. So two members can be leaders at the same
time, usually for a few milliseconds. The demo reports that. It cuts no link, so two leaders
for longer than the suspicion timeout of 400 ms violate a property.

Commands, one per line, from the terminal or through a pipe:
  kill 5     SIGKILL, as in a crash        start 5    start it again, as a new process
  pause 5    SIGSTOP, as in a long stall   resume 5   SIGCONT
  restart 5  kill it and start it again    kill leader, whichever member that is
  status     all members, their processes, and where each serves its status
  help, quit
On a terminal, lines can be edited and recalled, and Tab completes a command.
From a pipe, each command waits until the members agree after the one before, and the
demo ends with the pipe. An empty input such as /dev/null has no commands: the demo then
runs until Ctrl-C, SIGTERM or the end of --for. Members that are killed, stopped or
continued from elsewhere are noticed. No process outlives the demo, however it ends; only
outside Linux a paused member outlives a SIGKILL of the demo, until it is resumed.

Exit status: 0 if at the start, after each fault and at the end all running members
agreed that the highest of them is leader, and no two members were leaders at the same time
for longer than the suspicion timeout; 1 if not.`,
		Example: `  ringleader demo
  ringleader demo --scenario crash
  ringleader demo --for 20s --json
  echo "kill 7" | ringleader demo --members 7`,
		Args:              flagsOnly,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := checkDemo(command, o); err != nil {
				return err
			}
			return demo.Run(command.Context(), p.Printer, p.stdin, o)
		},
	}
	flags := command.Flags()
	decimalVar(flags, &o.Members, "members", "", 5, "number of member processes")
	flags.StringVar(&o.Scenario, "scenario", "", "take no commands; crash: kill the leader, restart it; pause: stall it")
	flags.DurationVar(&o.Lasting, "for", 0, "end after this time, and not before the scenario has ended")
	flags.BoolVar(&o.JSON, "json", false, "write events as JSON lines, and nothing else, to stdout")
	command.RegisterFlagCompletionFunc("scenario", cobra.FixedCompletions(demo.Scenarios(), cobra.ShellCompDirectiveNoFileComp))
	return command
}

// checkDemo returns an error if the options of a demo are invalid.
func checkDemo(command *cobra.Command, o demo.Options) error {
	switch {
	case o.Members < 1 || o.Members > demo.MostMembers:
		return fmt.Errorf("--members is from 1 to %d, not %d", demo.MostMembers, o.Members)
	case command.Flags().Changed("for") && o.Lasting <= 0:
		return fmt.Errorf("--for is a time above 0, such as 20s, not %s", o.Lasting)
	case o.Scenario != "" && !slices.Contains(demo.Scenarios(), o.Scenario):
		return fmt.Errorf("unknown scenario %q; %s", o.Scenario, instead(o.Scenario, demo.Scenarios()))
	}
	return nil
}
