//go:build !js

package operate

import (
	"cmp"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader"
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
		log.Warn("the settings are wrong, and stay as they were", "error", err)
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
		taken = slices.DeleteFunc(taken, func(name string) bool { return name == "member" })
	}
	if err := reweigh(a, c); err != nil {
		log.Warn("the priority stays as it was", "error", err)
	}
	log.set(o)
	a.SetHooks(o.hooks)
	if len(fixed) > 0 {
		log.Warn("some settings cannot change while the member runs: restart it", "settings", strings.Join(fixed, " "))
	}
	log.Log(command.Context(), log.usual, "the settings were read again", "file", s.file, "changed", strings.Join(taken, " "))
	return next
}

// reweigh gives the member the priority that its settings have now.
func reweigh(a *agent.Agent, c ringleader.Config) error {
	for _, m := range c.Members {
		if m.ID == c.ID && !m.Witness && c.Algorithm == ringleader.QuorumBully {
			return a.SetPriority(cmp.Or(c.Weight, m.Priority))
		}
	}
	return nil
}
