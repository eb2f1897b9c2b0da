package agent

import (
	"context"
	"fmt"
	"os"
	"sync"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/kernel"
)

// standby runs the command that prepares a member for the lead. It never runs beside the command of the leader: that begins when no process of it is
// left.
type standby struct {
	agent   *Agent
	command string
	joined  chan struct{} // closed when the agent has its member

	mu    sync.Mutex
	held  bool          // the command of the leader runs, or begins
	moved chan struct{} // closed when held changes
	run   *kept         // that runs; nil: none
}

// prepares completes the configuration of a member with what prepares it.
func (a *Agent) prepares(c *ringleader.Config) {
	if a.config.Warm != "" {
		a.standby = &standby{agent: a, command: a.config.Warm, joined: make(chan struct{}), moved: make(chan struct{})}
		c.Prepare = a.standby.prepare
	}
}

// prepare runs the command. The member is warm when it has ended with status 0, or as soon as it has sent READY=1 and for as long as it runs then.
func (s *standby) prepare(ctx context.Context) error {
	variables, ready := s.agent.identity(), make(chan struct{}, 1)
	socket, err := listenForSigns(s.agent.keepers.user, func(line string) {
		if line == signReady {
			select {
			case ready <- struct{}{}:
			default:
			}
		}
	})
	if err == nil { // elsewhere than on Linux only the status counts
		variables = append(variables, "NOTIFY_SOCKET="+socket.address)
	}
	run, err := s.start(ctx, variables)
	if err != nil {
		socket.close()
		return err
	}
	go func() {
		<-run.ended
		socket.close()
	}()
	select {
	case <-run.ended:
	case <-ready:
		s.agent.log.Info("the command that prepares is ready, and runs on")
		go s.follow(run)
		return nil
	case <-ctx.Done():
		s.mu.Lock() // hold may end it, too
		defer s.mu.Unlock()
		run.end()
		return context.Cause(ctx)
	}
	if run.status != 0 {
		return fmt.Errorf("exit status %d", run.status)
	}
	return nil
}

// follow lets the member prepare again when a command that ran on has ended by itself.
func (s *standby) follow(run *kept) {
	<-run.ended
	<-s.joined
	s.mu.Lock()
	itself := s.run == run
	s.mu.Unlock()
	if itself {
		s.agent.log.Warn("the command that has prepared this member has ended, so this member is not warm", "status", run.status)
		s.agent.PrepareAgain()
	}
}

// start starts the command, when the command of the leader does not run. One of an earlier preparation ends before.
func (s *standby) start(ctx context.Context, variables []string) (*kept, error) {
	for {
		s.mu.Lock()
		if !s.held {
			break
		}
		moved := s.moved
		s.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	defer s.mu.Unlock()
	if s.run != nil {
		s.run.end()
	}
	run, err := s.agent.keepers.hook(calm, shell(s.command), variables, order{Stop: kernel.Never, Kill: kernel.Never}, os.Stderr)
	s.run = run
	return run, err
}

// hold ends the command, which does not begin before release.
func (s *standby) hold() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = true
	if s.run != nil {
		s.run.end()
		s.run = nil
	}
}

// release lets the command begin again.
func (s *standby) release() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = false
	close(s.moved)
	s.moved = make(chan struct{})
}
