package plan

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
)

// Ranks hold each process's priority.
type Ranks struct{ priorities string }

// Flags adds the flag.
func (r *Ranks) Flags(command *cobra.Command) {
	command.Flags().StringVar(&r.priorities, "priorities", "", "priority of each process, by position: 0,1,1; with 0 it never leads (default 1 each)")
}

// Rank gives a setup its priorities. given returns the identifiers by position, as they were given.
func (r *Ranks) Rank(e *catalogue.Entry, i *network.Setup, given func(network.Setup) []uint64) error {
	if r.priorities == "" {
		return nil
	}
	ids := given(*i)
	ranked := func(e *catalogue.Entry) bool { return e.Priorities }
	if !ranked(e) {
		return fmt.Errorf("%s has no priorities; --priorities are for %s", e.Name, strings.Join(e.List().Where(ranked), ", "))
	}
	of := map[uint64]uint16{} // members are sorted
	list := strings.Split(r.priorities, ",")
	for q, text := range list {
		priority, err := strconv.ParseUint(strings.TrimSpace(text), 10, 16)
		if err != nil {
			return fmt.Errorf("--priorities: %.40q is not a priority; they are whole numbers up to 65535", text)
		}
		if q < len(ids) {
			of[ids[q]] = uint16(priority)
		}
	}
	if len(list) != len(ids) {
		return fmt.Errorf("--priorities: each process has one, so %d have %[1]d, not %d", len(ids), len(list))
	}
	for q := range i.IDs.Len() {
		i.Priorities = append(i.Priorities, of[i.IDs.At(q)])
	}
	return nil
}

// Hosts are the flags for what the hosts of processes do.
type Hosts struct {
	commands []string
	stopTime uint64
	wardens  bool
}

// Flags adds the flags.
func (h *Hosts) Flags(command *cobra.Command) {
	f := command.Flags()
	f.StringArrayVar(&h.commands, "command", nil, `what a host asks of its process, such as "resign 3 at 50", "transfer 3 to 2 at 50" or "weigh 3 as 7 at 50"; repeated`)
	option.Number(f, &h.stopTime, "stop-time", "", 0, "a host takes up to this many units to stop the work of a leader")
	f.BoolVar(&h.wardens, "wardens", false, "when a process crashes, its work ends too, and that is proven to the others")
}

// Tell adds to the options of a run what hosts do.
func (h *Hosts) Tell(i network.Setup, s *simulate.Options) error {
	s.StopTime, s.Wardens = h.stopTime, h.wardens
	for _, line := range h.commands {
		commands, err := HostCommands(i, line)
		if err != nil {
			return fmt.Errorf("--command %s: %w", option.Excerpt(line), err)
		}
		s.Commands = append(s.Commands, commands...)
	}
	return nil
}

// HostCommands reads a line with what the hosts of some processes ask.
func HostCommands(i network.Setup, line string) (all []simulate.Command, err error) {
	words := strings.Fields(line)
	var c simulate.Command
	switch {
	case len(words) == 4 && words[0] == "resign" && words[2] == "at":
		c.Order = election.Resign
	case len(words) == 6 && words[0] == "transfer" && words[2] == "to" && words[4] == "at":
		to, err := positions(i, words[3])
		if err != nil {
			return nil, err
		}
		c.Order, c.Member = election.Transfer, election.ID(to[0]+1)
	case len(words) == 6 && words[0] == "weigh" && words[2] == "as" && words[4] == "at":
		weight, err := strconv.ParseUint(words[3], 10, 16)
		if err != nil {
			return nil, fmt.Errorf("a weight is a whole number up to 65535, not %.40q", words[3])
		}
		c.Order, c.Number = election.Weigh, weight
	default:
		return nil, errors.New("it is resign 3 at 50, transfer 3 to 2 at 50, or weigh 3 as 7 at 50")
	}
	at := words[len(words)-1]
	if c.At.UnmarshalJSON([]byte(at)) != nil || c.At.Hi >= 1<<63 {
		return nil, fmt.Errorf("a time is a whole number of units below 2^127, not %.40q", at)
	}
	named, err := positions(i, words[1])
	for _, c.Process = range named {
		all = append(all, c)
	}
	return all, err
}
