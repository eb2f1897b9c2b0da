//go:build !js

package operate

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/show/demo"
)

func (p *program) demo() *cobra.Command {
	var o demo.Options
	var algorithm string
	var inLab bool
	command := &cobra.Command{
		Use:     "demo",
		GroupID: option.GroupElect,
		Short:   "Elect a leader among five processes on this machine, to kill, pause and cut off",
		Long: `Demo starts five member processes on this machine, each with a warden. They elect a leader
by quorum-bully: it has a lease from a majority, and each leader has a greater term than
the one before. Every change is shown as it happens, with the term, with what is left of
the lease, and with the time since the fault that caused it: from the signal to the change
at the member. A lease that is not renewed is shown as it runs down.

Commands, one per line, from the terminal or through a pipe:
  kill 5     SIGKILL, as in a crash        start 5    start it again, as a new process
  pause 5    SIGSTOP, as in a long stall   resume 5   SIGCONT
  restart 5  kill it and start it again    slow 4     each message of 4 takes 30 ms
  cut 1,2 | 3,4,5   no message passes between these sides
  heal       all links are whole and fast again
  transfer 3 the leader hands over to 3    resign     the leader hands over
  status     all members, their processes, and where each serves its status
  help, quit
Names of members: leader is whichever leads, last is the member that a command named last,
and rest, in a cut, is all others: "kill leader", "start last", "cut leader | rest".
On a terminal, lines can be edited and recalled, and Tab completes a command.
From a pipe, each command waits until the members agree after the one before, a transfer
to the leader does nothing, and the demo ends with the pipe. An empty input such as
/dev/null has no commands: the demo then runs until Ctrl-C, SIGTERM or the end of --for.
Members that are killed, stopped or continued from elsewhere are noticed. No process
outlives the demo, however it ends; only outside Linux a paused member outlives a SIGKILL
of the demo, until it is resumed.

Messages pass through the demo, which can delay them and hold them back. Without --lab it
runs before ordinary processes, as its members do, where that is allowed. The stores and
records of the members are in a temporary directory. The demo removes it if it ends with
status 0, and otherwise names it for ringleader explain, which tells why the leader has
changed.

With --lab a page in the browser shows the group, too, and takes the same commands by clicking;
its address is printed. The demo then goes on after a scenario, and after the end of a pipe.

With --algorithm bully there are no leases, terms and wardens. A higher member that starts
or is resumed takes over, and the leader before it remains leader until it hears of that.
So two members can be leaders at the same time, usually for a few milliseconds, and in a
partition for as long as it lasts.

Exit status: 0 if at the start, after each fault and at the end all running members that
reach a majority agreed on one leader, and the leases of no two members overlapped, as far
as the members reported them: a renewal is reported within 10 ms. 1 if not. With Bully, 0
if they agreed on the highest that they reach, and while no link was cut no two members
were leaders at the same time for longer than the suspicion timeout of 400 ms. 0, too, if a
signal ends the demo during an election that has taken less than half a minute.`,
		Example: `  ringleader demo
  ringleader demo --scenario crash
  ringleader demo --scenario partition
  ringleader demo --lab
  ringleader demo --for 20s --json
  echo "kill 7" | ringleader demo --members 7`,
		Args:              option.FlagsOnly,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(command *cobra.Command, _ []string) error {
			o.Algorithm = ringleader.Algorithm(algorithm)
			if err := checkDemo(command, o); err != nil {
				return err
			}
			if inLab { // whose page may ask it to compute
				return p.Demo(command.Context(), o)
			}
			_ = hurry() // as the members do, whose messages it passes on
			return demo.Run(command.Context(), p.Printer, p.Stdin, o)
		},
	}
	flags := command.Flags()
	option.Number(flags, &o.Members, "members", "", 5, "number of member processes")
	flags.StringVar(&o.Scenario, "scenario", "", "take no commands; crash: kill the leader, start it again; pause: stall it; partition: cut its links; rolling: restart each member")
	flags.StringVar(&algorithm, "algorithm", string(ringleader.QuorumBully), "quorum-bully or bully, with which each side of a partition has a leader")
	flags.DurationVar(&o.Lease, "lease", 0, fmt.Sprintf("how long a vote is promised, and a fifth of how long a disk may be silent: for a machine so busy that no leader stays (default: as join has it, %v)", ringleader.LAN().Lease))
	flags.DurationVar(&o.Lasting, "for", 0, "end after this time, and not before the scenario has ended")
	flags.BoolVar(&inLab, "lab", false, "show the group in the browser, too, and obey the page")
	flags.BoolVar(&o.JSON, "json", false, "write events as JSON lines, and nothing else, to stdout")
	option.Offer(command, "algorithm", liveAlgorithms...)
	option.Offer(command, "scenario", demo.Scenarios()...)
	return command
}

// The limits of a lease in a demo, which waits for half a minute until members agree.
const (
	shortestLease = 200 * time.Millisecond
	longestLease  = 10 * time.Second
)

// checkDemo returns an error if the options of a demo are invalid.
func checkDemo(command *cobra.Command, o demo.Options) error {
	switch {
	case o.Members < 1 || o.Members > demo.MostMembers:
		return fmt.Errorf("--members is from 1 to %d, not %d", demo.MostMembers, o.Members)
	case command.Flags().Changed("for") && o.Lasting <= 0:
		return fmt.Errorf("--for is a time above 0, such as 20s, not %s", o.Lasting)
	case command.Flags().Changed("lease") && (o.Lease < shortestLease || o.Lease > longestLease):
		return fmt.Errorf("--lease is a time from %v to %v, not %v", shortestLease, longestLease, o.Lease)
	case o.Lease > 0 && o.Algorithm == ringleader.Bully:
		return errors.New("--lease is for quorum-bully: Bully has none")
	case !slices.Contains(liveAlgorithms, string(o.Algorithm)):
		return fmt.Errorf("unknown algorithm %q; %s", o.Algorithm, option.Instead(string(o.Algorithm), liveAlgorithms))
	case o.Scenario != "" && !slices.Contains(demo.Scenarios(), o.Scenario):
		return fmt.Errorf("unknown scenario %q; %s", o.Scenario, option.Instead(o.Scenario, demo.Scenarios()))
	}
	return nil
}
