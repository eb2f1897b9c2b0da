package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/control"
	"ringleader.example/ringleader/internal/serve/kernel"
	"ringleader.example/ringleader/internal/serve/record"
)

// Config determines a member, what it runs, and where it serves its state.
type Config struct {
	Member ringleader.Config // with a Logger

	// HTTP and HTTPS are where the member is served, besides the socket in its directory, host:port; empty: nowhere. HTTPHosts are names
	// by which clients may call it.
	HTTP, HTTPS string
	HTTPHosts   []string

	Hooks Hooks

	// Health is the check of the member; Member.Health has its times.
	Health Health

	// Command is what runs while the member leads, with its arguments. With one, what Member.Timing leaves a command to end
	// is Timing.Grace, and Member.Overrun is not used.
	Command []string

	// NoNamespace lets the command see the processes of the host by their numbers, and so end by [ControlGroup] or less.
	NoNamespace bool

	// User runs the command, hooks and the health check; empty: the user of this process. Another one needs root.
	User string

	// ProgressFile is a file that the command touches to show progress, besides WATCHDOG=1 of sd_notify(3), if Member.Timing.Progress is its promise;
	// empty: there is none.
	ProgressFile string

	// Warm is a command of a shell that prepares the member while it does not lead; empty: there is none. The member is warm when it has ended with
	// status 0, or, on Linux, has told READY=1 by sd_notify(3) and runs on. It is killed before Command begins.
	Warm string

	// Ready is how Command becomes ready. The zero value: as soon as it runs.
	Ready Ready

	OnExit  OnExit
	Backoff time.Duration // before the command, or the member's candidacy, begins again; it doubles up to mostBackoff

	// StopTimeout is how long the command has to end while its lease is renewed: when the member resigns, or is stopped.
	StopTimeout time.Duration
}

// OnExit is what a command that ends by itself causes.
type OnExit string

// What it may cause.
const (
	Resign  OnExit = "resign"  // another member leads; this one is a candidate again after Backoff
	Restart OnExit = "restart" // the member keeps its lead, and the command starts again after Backoff
	Leave   OnExit = "exit"    // the member leaves its group, with the exit status of the command
)

// OnExits are all of them.
var OnExits = []string{string(Resign), string(Restart), string(Leave)}

// Agent is a running member, with what belongs to it.
type Agent struct {
	*ringleader.Member
	config  Config
	log     *slog.Logger
	keepers *keepers
	standby *standby // nil: nothing prepares the member
	hooks   *hooks
	notices sync.WaitGroup // to the service manager

	life    context.Context // ends when the agent is to stop
	end     context.CancelFunc
	close   func() error
	unserve context.CancelFunc
	web     sync.WaitGroup
	served  error // why serving has failed
}

// Start joins the group, by a function like [ringleader.Join], serves the state of the member, runs hooks, and tells the service
// manager of $NOTIFY_SOCKET, if there is one. The context that it returns ends when ctx does, or when serving fails. The caller
// calls Close.
func Start(ctx context.Context, c Config, join func(context.Context, ringleader.Config) (*ringleader.Member, error)) (*Agent, context.Context, error) {
	a := &Agent{config: c, log: c.Member.Logger}
	manager, unknown := newNotices()
	if unknown != nil {
		a.log.Warn("the service manager is not told of this member", "error", unknown)
	}
	web, err := listen(c)
	if err != nil {
		return nil, nil, err
	}
	if len(c.Command) > 0 {
		// The keeper kills in time, and the process of the member has to live to see to that.
		c.Member.Overrun = ringleader.Log
	}
	if a.keepers, err = newKeepers(a.confine(&c), c.User, a.log); err == nil {
		err = a.health(&c.Member)
	}
	if err == nil {
		a.prepares(&c.Member)
		c.Member.AwaitReady = c.Ready != Ready{}
		a.Member, err = join(context.WithoutCancel(ctx), c.Member)
	}
	if err != nil {
		return nil, nil, errors.Join(err, closeAll(web))
	}
	if a.standby != nil {
		close(a.standby.joined)
	}
	a.life, a.end = context.WithCancel(ctx)
	a.close = sync.OnceValue(a.stop)
	a.serve(web)
	a.hooks = a.startHooks(c.Hooks)
	if manager != nil {
		a.notices.Go(func() { manager.run(a) })
	}
	return a, a.life, nil
}

// confine tries by what means the command may be ended on this host, and tells it.
func (a *Agent) confine(c *Config) Means {
	if len(c.Command) == 0 {
		return least
	}
	means, because := try(!c.NoNamespace)
	c.Member.Confinement = string(means)
	if because == nil {
		a.log.Info("the command runs in a PID namespace, which the kernel ends as a whole")
	} else {
		a.log.Warn("the command does not run in a PID namespace: "+means.Lacks(), "means", means, "because", because)
	}
	if err := checkTimer(); err != nil {
		a.log.Warn("the kernel does not kill the command if its keeper and its member are stopped at the end of the lease", "error", err)
	}
	return means
}

// checkTimer reports why a keeper has no timer that kills it.
func checkTimer() error {
	timer, err := kernel.NewTimer(syscall.SIGKILL)
	if err != nil {
		return err
	}
	return timer.Close()
}

// listen opens the listeners, so that one that is taken is found before the member takes part.
func listen(c Config) (o control.Options, err error) {
	o = control.Options{TLS: c.Member.TLS, Hosts: c.HTTPHosts, Log: c.Member.Logger}
	if c.Member.Data != "" {
		o.Socket = control.Socket(c.Member.Data)
		o.Record = filepath.Join(c.Member.Data, record.Directory)
	}
	if c.Member.Record.Off {
		o.Record = ""
	}
	if c.HTTP != "" {
		if o.HTTP, err = net.Listen("tcp", c.HTTP); err != nil {
			return o, fmt.Errorf("--http: %w", err)
		}
	}
	if c.HTTPS != "" {
		if o.HTTPS, err = net.Listen("tcp", c.HTTPS); err != nil {
			return o, errors.Join(fmt.Errorf("--https: %w", err), closeAll(o))
		}
	}
	return o, nil
}

// closeAll closes listeners that are not served.
func closeAll(o control.Options) (err error) {
	for _, l := range []net.Listener{o.HTTP, o.HTTPS} {
		if l != nil {
			err = errors.Join(err, l.Close())
		}
	}
	return err
}

// serve serves the member until it is closed: at the end of its life it may still lead, and load balancers ask it. Who is told that the member has started can
// reach it.
func (a *Agent) serve(o control.Options) {
	var ctx context.Context
	ctx, a.unserve = context.WithCancel(context.WithoutCancel(a.life))
	ready := make(chan struct{})
	o.Ready = func() { close(ready) }
	a.web.Go(func() {
		a.served = control.Serve(ctx, a.Member, o)
		a.end()
	})
	<-ready
}

// SetHooks replaces the hooks. One that runs goes on.
func (a *Agent) SetHooks(c Hooks) { a.hooks.set(c) }

// Close stops the member, its hooks and its servers, and returns the reason if one of them had failed before. Further calls
// return the same.
func (a *Agent) Close() error { return a.close() }

func (a *Agent) stop() error {
	a.end()
	err := errors.Join(a.Err(), a.Member.Close())
	a.standby.hold() // its end
	a.unserve()
	<-a.hooks.ended
	a.web.Wait()
	a.notices.Wait()
	return errors.Join(err, a.served)
}

// environment returns the variables that a command or a hook gets. Leader 0 is none.
func (a *Agent) environment(role ringleader.Role, leader, term uint64) []string {
	known := ""
	if leader != 0 {
		known = strconv.FormatUint(leader, 10)
	}
	return append(a.identity(), variable("ROLE", string(role)), variable("LEADER", known), variable("TERM", strconv.FormatUint(term, 10)))
}

// identity returns the variables that tell which member this is.
func (a *Agent) identity() []string {
	who := []string{variable("GROUP", a.config.Member.Group), variable("MEMBER", strconv.FormatUint(a.config.Member.ID, 10))}
	if file := a.config.Member.LeaseFile; file != "" {
		who = append(who, variable("LEASE", file))
	}
	return who
}

func variable(name, value string) string { return "RINGLEADER_" + name + "=" + value }
