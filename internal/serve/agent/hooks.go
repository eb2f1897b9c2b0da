package agent

import (
	"context"
	"os"
	"runtime"
	"time"

	"ringleader.example/ringleader"
)

// Hooks are commands of a shell that run when the leader changes, one at a time and in order. While one runs, later changes
// wait, and only the last of them is acted upon. So hooks never delay an election. After a hook for a leader there is always
// one for its end, before the member ends in good order.
type Hooks struct {
	OnLeader   string // the member leads, in a new term
	OnFollower string // the member leads no more, or knows its first leader
	OnChange   string // its leader, its term or its role is another one

	// Timeout is how long a hook may run. Then it has to end within a second, and is killed.
	Timeout time.Duration
}

// hookGrace is how long a hook has to end after its timeout.
const hookGrace = time.Second

// hooks run the hooks of an agent.
type hooks struct {
	agent  *Agent
	config chan Hooks // has the configuration
	ended  chan struct{}

	leads    bool // the last hook was for a leader
	follower bool // OnFollower has run, or was not there, since it led
}

// startHooks runs hooks from now on.
func (a *Agent) startHooks(c Hooks) *hooks {
	h := &hooks{agent: a, config: make(chan Hooks, 1), ended: make(chan struct{})}
	h.config <- c
	go func() {
		defer close(h.ended)
		for v := range a.Observe(context.Background()) { // the last view of a member that stops has no leader
			h.view(v)
		}
	}()
	return h
}

// set replaces the hooks.
func (h *hooks) set(c Hooks) {
	<-h.config
	h.config <- c
}

// view runs the hooks for a view.
func (h *hooks) view(v ringleader.View) {
	c := <-h.config
	h.config <- c
	switch {
	case v.Role == ringleader.Leader:
		h.leads, h.follower = true, false
		h.run("on-leader", c.OnLeader, c.Timeout, v)
	case !h.follower && (h.leads || v.Known):
		h.leads, h.follower = false, true
		h.run("on-follower", c.OnFollower, c.Timeout, v)
	}
	h.run("on-change", c.OnChange, c.Timeout, v)
}

// run runs a hook, if there is one.
func (h *hooks) run(name, hook string, timeout time.Duration, v ringleader.View) {
	if hook == "" {
		return
	}
	begun := time.Now()
	command, err := h.agent.keepers.hook(hurried, shell(hook), h.agent.environment(v.Role, v.Leader, v.Term), order{Limit: timeout, Grace: hookGrace}, os.Stderr)
	if err != nil {
		h.agent.log.Warn("a hook does not start", "hook", name, "error", err)
		return
	}
	select {
	case <-command.ended:
	case <-time.After(timeout + hookGrace + obeys): // its keeper is stopped, for example, and would hold up the end of the member
		command.kill()
		<-command.ended
	}
	switch {
	case command.status == 0:
	case time.Since(begun) >= timeout:
		h.agent.log.Warn("a hook was ended: it ran for longer than it may", "hook", name, "timeout", timeout)
	default:
		h.agent.log.Warn("a hook has failed", "hook", name, "status", command.status)
	}
}

// shell returns the arguments that run a command of a shell.
func shell(command string) []string {
	if runtime.GOOS == "windows" {
		return []string{"cmd", "/C", command}
	}
	return []string{"/bin/sh", "-c", command}
}
