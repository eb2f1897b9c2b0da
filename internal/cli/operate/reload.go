//go:build !js

package operate

import (
	"cmp"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/serve/agent"
)

// reloadable are the settings that a member takes while it runs.
var reloadable = []string{"verbose", "on-leader", "on-follower", "on-change", "hook-timeout", "weight", "member"}

// reloads lets a member with a file of settings read it again at SIGHUP. Without a file that signal ends the process.
func (p *program) reloads(command *cobra.Command, s *settings, config ringleader.Config, a *agent.Agent, log *memberLog) {
	if s.file == "" || len(hangup) == 0 {
		return
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, hangup...)
	go func() {
		defer signal.Stop(signals)
		for {
			select {
			case <-signals:
				s = p.reload(command, s, config, a, log)
			case <-a.Done():
				return
			}
		}
	}()
}

// reload takes the settings that have changed, if all are valid, and returns those that hold.
func (p *program) reload(command *cobra.Command, s *settings, config ringleader.Config, a *agent.Agent, log *memberLog) *settings {
	next, err := p.again(command, s)
	var c ringleader.Config
	if err == nil {
		c, err = next.valid()
	}
	if err != nil {
		log.Warn("the settings are wrong, and stay as they were", "error", option.OneLine(err.Error()))
		return s
	}
	if config.TLS != nil {
		if err := config.TLS.Reload(); err != nil {
			log.Warn("the certificates cannot be used, and stay as they were", "error", err)
		}
	}
	var taken, fixed []string
	for _, name := range s.changed(next) {
		if slices.Contains(reloadable, name) {
			taken = append(taken, name)
		} else {
			fixed = append(fixed, name)
		}
	}
	o := next.options.common()
	if err := a.SetMembers(c.Members); err != nil {
		log.Warn("the list of members stays as it was", "error", err)
		taken = slices.DeleteFunc(taken, func(name string) bool { return name == "member" || name == "weight" && c.Weight == 0 })
		c.Members = nil // so does the priority in it
	} else if marked, vote := markedOtherwise(a.Status(), c); marked != nil {
		log.Warn("with this list the member would not start again: mark with ,standby the members that have no vote at first, and no others", "by_the_list", fmt.Sprint(marked), "vote", fmt.Sprint(vote))
	}
	if err := reweigh(a, c); err != nil {
		log.Warn("the priority stays as it was", "error", err)
	}
	log.set(o)
	a.SetHooks(o.hooks)
	if len(fixed) > 0 {
		log.Warn("some settings cannot change while the member runs: restart it", "settings", strings.Join(fixed, " "))
	}
	log.Log(command.Context(), log.usual, "the settings were read again", "file", s.file, "changed", cmp.Or(strings.Join(taken, " "), "nothing"))
	return next
}

// reweigh gives the member the priority that its settings have now.
func reweigh(a *agent.Agent, c ringleader.Config) error {
	weight, witness := c.Weight, false
	for _, m := range c.Members {
		if m.ID == c.ID {
			weight, witness = cmp.Or(weight, m.Priority), m.Witness
		}
	}
	if witness || c.Algorithm != ringleader.QuorumBully || weight == 0 && c.Members == nil {
		return nil
	}
	return a.SetPriority(weight)
}

// markedOtherwise returns the members that vote at first by a list, if they are others than those that do. That holds until the voters are changed: then
// the marks do not count.
func markedOtherwise(s ringleader.Status, c ringleader.Config) (marked, vote []uint64) {
	if len(c.Join) > 0 || c.Algorithm != ringleader.QuorumBully {
		return nil, nil
	}
	for _, m := range c.Members {
		if !m.Standby {
			marked = append(marked, m.ID)
		}
	}
	if v := s.Voters; v != nil {
		if v.Version > 0 {
			return nil, nil
		}
		vote = v.Members
	} else {
		for i := range s.Members {
			vote = append(vote, s.Members[i].ID)
		}
	}
	slices.Sort(marked)
	if len(vote) == 0 || slices.Equal(marked, vote) { // a member that joins may not know who votes
		return nil, nil
	}
	return marked, vote
}
