//go:build !js

package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/serve/agent"
	"ringleader.example/ringleader/internal/show/report"
)

// execOptions are the options of exec.
type execOptions struct {
	joinOptions
	onExit             string
	grace, stopTimeout time.Duration
	backoff            time.Duration
	noNamespace        bool
	user               string
	progress           time.Duration
	progressFile       string
	warm               string
	handover           time.Duration
	ready              agent.Ready
}

func (p *program) exec() *cobra.Command {
	var o execOptions
	command := &cobra.Command{
		Use:     "exec --id ID --member ID=HOST:PORT... --data DIR -- COMMAND ARGUMENT...",
		GroupID: option.GroupElect,
		Short:   "Run a command on the leader of a group, and nowhere else",
		Long: `Exec runs one member of a group, as join does, and runs a command while the member leads.
The group elects one leader, so one command runs at a time. All that "ringleader join --help all" has about
members, stores, wardens and certificates holds for exec.

The command starts with the lease of the leader. --stop-grace before the lease must have
ended, it gets SIGTERM, and then SIGKILL with all processes that it has started, also with
those that ignore SIGTERM or have left its session. A loss of the quorum that is shorter
than the lease does not touch it. When the member resigns, or is stopped by Ctrl-C or
SIGTERM, its lease is renewed while the command stops: for up to --stop-timeout.

With --progress the command promises to tell, within each such time, that it makes progress.
It sends WATCHDOG=1 to $NOTIFY_SOCKET, as a service of systemd does ($WATCHDOG_USEC has the
time), or touches --progress-file. If it does not, or a --progress-path fails, it may hang:
it gets --stop-grace, nothing prolongs the lease, and another member leads. This member may
lead again after a pause of --progress, which doubles each time, up to a minute.

--warm is a command of a shell that prepares this member while it does not lead: it fills a
cache, for example. The member is warm when that ends with status 0, or tells READY=1 by
sd_notify and runs on; it ends at once before the command begins, and runs again after it.
If it fails, the log says so, and it runs again after a pause, from 1s to 1m. The lead goes
to warm members first, and to those whose --warm fails last. A leader that resigns, transfers
or is stopped waits up to --handover-wait for a warm one. After a crash nothing waits. Give
--warm to all members; their priorities are up to 16383.

With --ready, --ready-port or --ready-notify the leader is ready later than it leads: until
then GET /leader is 503, and status has "leading, not ready".

On Linux the command runs in a PID namespace. The kernel kills all processes in it before
the end of the lease, even if warden, member and keeper are stopped. The command sees only
its own processes, and the host does not see what it mounts. The command of an ordinary
user is in a user namespace, too, where sudo does not work. A command that needs the
processes of the host gets them by --no-namespace.

Without a namespace the member kills a control group. Nobody does that while warden,
member and keeper are all stopped. Without a control group the keeper kills its children,
and a process that forks faster than the keeper finds it survives. The log, status, a
metric and doctor tell which means this host allows. No means ends a process that runs
elsewhere for the command, such as a container. Outside Linux there is no warden, and the
keeper kills the process group of the command; on Windows its first process, without
SIGTERM.

A command that runs as the user of the member can read the store and the key of the
member, and use its socket. --user runs it as another user. The command does not get the
variables RINGLEADER_… of the member, which may hold secrets.

The command has the standard streams of this process, and in its environment:
  RINGLEADER_TERM     the term, a fencing token: greater than that of each leader before
  RINGLEADER_MEMBER   the identifier of this member
  RINGLEADER_LEADER   the identifier of the leader, in a hook empty if none is known
  RINGLEADER_GROUP    the name of the group
  RINGLEADER_ROLE     leader, in a hook follower or electing, too
The log of the member goes to stderr.

The command has ended when its first process has: what that leaves is killed, so a daemon
has to stay in the foreground. --on-exit determines what follows when it ends by itself:
  resign   another member leads; this one is a candidate again after --backoff
  restart  this member leads on, and starts the command again after --backoff
  exit     this member leaves, and exec exits with the exit status of the command
The pause doubles each time, up to a minute, until the command has run for longer than
that. An exit status of 128 and N is that of a command that signal N has killed.

Settings are taken from a file, the environment and flags, and hooks run, as with join.`,
		Example: `  ringleader init --group jobs --id 1 --data /var/lib/ringleader/1
  ringleader exec --group jobs --id 1 --data /var/lib/ringleader/1 \
    --member 1=127.0.0.1:7001 --member 2=127.0.0.1:7002 --member 3=127.0.0.1:7003 \
    -- sh -c 'while :; do echo $RINGLEADER_TERM; sleep 1; done'
  ringleader exec --config jobs.toml --id 1 --data data/1 -- ./scheduler
  ringleader exec --config jobs.toml --id 1 --data data/1 --progress 2s \
    --progress-file /run/jobs.alive --progress-path /srv/jobs -- ./scheduler
  ringleader exec --config web.toml --id 1 --data data/1 --warm './fill-cache' \
    --ready-port 9000 -- ./web --port 9000
  ringleader exec --preset wan --stop-grace 1s --on-exit restart --id 1 --data data/1 \
    --member 1=127.0.0.1:7001 -- ./scheduler --verbose`,
		Args: commandNeeded,
	}
	command.Flags().SetInterspersed(false) // what follows COMMAND is its own
	s := p.settings(command, &o)
	option.Offer(command, "on-exit", agent.OnExits...)
	command.RunE = func(command *cobra.Command, args []string) error {
		config, only, err := p.checked(s)
		if err != nil || only {
			return err
		}
		if _, err := exec.LookPath(args[0]); err != nil { // a wrong call starts no member
			return err
		}
		if err := underWarden(command, &o.joinOptions, config); err != nil {
			return err
		}
		return p.runExec(command, s, &o, config, args)
	}
	return command
}

// commandNeeded is for commands that run another one, unless they only check their settings.
func commandNeeded(command *cobra.Command, args []string) error {
	if only, err := command.Flags().GetBool("check"); len(args) == 0 && (err != nil || !only) {
		return fmt.Errorf("%s needs a command to run, after --; try %[1]s --help", command.CommandPath())
	}
	return nil
}

func (o *execOptions) fresh() memberOptions { return &execOptions{} }

func (o *execOptions) defineAll(flags *pflag.FlagSet) {
	o.define(flags)
	flags.DurationVar(&o.grace, "stop-grace", 0, fmt.Sprintf("time from SIGTERM to SIGKILL when the lease runs out; the lease must be long enough for it (default: a tenth of the lease, or of the preset; lan: %v)", ringleader.LAN().Grace))
	flags.DurationVar(&o.stopTimeout, "stop-timeout", 10*time.Second, "time from SIGTERM to SIGKILL when the member resigns or stops, while its lease is renewed")
	flags.StringVar(&o.onExit, "on-exit", string(agent.Resign), "when the command ends by itself: resign, restart or exit")
	flags.BoolVar(&o.noNamespace, "no-namespace", false, "let the command see the processes of the host by their numbers; less sure to end: see above")
	flags.StringVar(&o.user, "user", "", "name or number of the user who runs the command, hooks and the health check, with the groups of that user; needs root (default: the user of this process)")
	flags.DurationVar(&o.progress, "progress", 0, "the command tells progress within this time, by WATCHDOG=1 of sd_notify or --progress-file; else it is killed, and another member leads; 0: it promises nothing")
	flags.StringVar(&o.progressFile, "progress-file", "", "FILE that the command touches to tell progress")
	flags.StringVar(&o.warm, "warm", "", "command of a shell that prepares this member for the lead; status 0, or READY=1 of sd_notify: it is warm")
	flags.DurationVar(&o.handover, "handover-wait", 0, fmt.Sprintf("how long a leader that is to hand over waits for a member that is warm, if one may become so (default: %v)", ringleader.LAN().Handover))
	flags.StringVar(&o.ready.Command, "ready", "", "command of a shell that is tried until its status is 0: then the command is ready")
	flags.StringVar(&o.ready.Address, "ready-port", "", "PORT, or HOST:PORT, of the command: it is ready when that takes a connection")
	flags.BoolVar(&o.ready.Notify, "ready-notify", false, "the command is ready when it sends READY=1 to $NOTIFY_SOCKET, as sd_notify does")
	flags.DurationVar(&o.backoff, "backoff", time.Second, "pause after a command that has ended by itself; it doubles each time, up to 1m")
}

// config returns the configuration of the member.
func (o *execOptions) config(flags *pflag.FlagSet) (c ringleader.Config, err error) {
	for _, name := range []string{"stop-grace", "stop-timeout", "backoff", "handover-wait"} {
		if d, _ := flags.GetDuration(name); flags.Changed(name) && d <= 0 {
			return c, fmt.Errorf("--%s is a time above 0, such as 50ms, not %s", name, d)
		}
	}
	switch {
	case o.progressFile != "" && o.progress == 0:
		return c, errors.New("--progress-file is for --progress")
	case o.progress != 0 && o.progressFile == "" && runtime.GOOS != "linux":
		return c, errors.New("--progress needs --progress-file on " + runtime.GOOS)
	case o.ready.Notify && runtime.GOOS != "linux":
		return c, errors.New("--ready-notify is for linux, not " + runtime.GOOS)
	}
	if err := o.readiness(); err != nil {
		return c, err
	}
	if err := agent.CheckUser(o.user); err != nil {
		return c, fmt.Errorf("--user: %w", err)
	}
	switch {
	case !slices.Contains(agent.OnExits, o.onExit):
		return c, fmt.Errorf("unknown --on-exit %q; %s", o.onExit, option.Instead(o.onExit, agent.OnExits))
	case o.algorithm == string(ringleader.Bully):
		return c, errors.New("exec needs leases, which --algorithm bully does not have: two commands could run at a time")
	}
	if c, err = o.joinOptions.config(flags); err != nil {
		return c, err
	}
	listen := "--listen"
	if o.listen == "" {
		listen = "--member"
	}
	for _, own := range [][2]string{{"--http", o.http}, {"--https", o.https}, {listen, c.Listen}} {
		if takes(own[1], o.ready.Address) {
			return c, fmt.Errorf("--ready-port is %s, where this member listens itself by %s: the command would count as ready before it is", o.ready.Address, own[0])
		}
	}
	c.Timing.Grace, c.Timing.Progress, c.Timing.Handover = cmp.Or(o.grace, c.Timing.Grace), o.progress, cmp.Or(o.handover, c.Timing.Handover)
	c.Timing = c.Timing.WithDefaults() // a longer grace allows no lease that is as short
	if o.warm != "" {
		c.Prepare = func(context.Context) error { return nil } // so that the limits of priorities are checked; the agent has its own
	}
	o.grace, o.shortest = c.Timing.Grace, c.Timing.ShortestLease
	return c, nil
}

// readiness checks how the command becomes ready.
func (o *execOptions) readiness() (err error) {
	given := 0
	for _, way := range []bool{o.ready.Command != "", o.ready.Address != "", o.ready.Notify} {
		if way {
			given++
		}
	}
	if given > 1 {
		return errors.New("--ready, --ready-port and --ready-notify are several ways; the command has one")
	}
	if port := o.ready.Address; port != "" {
		if !strings.Contains(port, ":") {
			port = ":" + port
		}
		if o.ready.Address, err = option.Address("--ready-port", port); err != nil {
			return fmt.Errorf("--ready-port is a port from 1 to 65535, or HOST:PORT, not %q", strings.TrimPrefix(port, ":"))
		}
	}
	return nil
}

// takes reports whether what listens at one address takes connections to another one, as far as the texts tell.
func takes(listens, address string) bool {
	host, port, err := net.SplitHostPort(listens)
	to, other, wrong := net.SplitHostPort(address)
	if err != nil || wrong != nil || port != other {
		return false
	}
	ip := net.ParseIP(host)
	return host == "" || host == to || ip != nil && ip.IsUnspecified() || option.IsLoopback(listens) && option.IsLoopback(address)
}

// runExec runs a member, and a command while it leads.
func (p *program) runExec(command *cobra.Command, s *settings, o *execOptions, config ringleader.Config, args []string) error {
	endOnce()
	log := newLog(p, slog.LevelInfo, &o.joinOptions)
	defer log.Close()
	config.Logger = log.Logger
	a, life, err := agent.Start(command.Context(), agent.Config{
		Member: config, HTTP: o.http, HTTPS: o.https, HTTPHosts: o.httpHosts, Hooks: o.hooks, Health: o.stands.Health,
		Command: args, NoNamespace: o.noNamespace, User: o.user, ProgressFile: o.progressFile, Warm: o.warm, Ready: o.ready, OnExit: agent.OnExit(o.onExit), Backoff: o.backoff, StopTimeout: o.stopTimeout,
	}, joinStore)
	if err != nil {
		return notJoined(&o.joinOptions, err)
	}
	defer a.Close()
	warnOf(&o.joinOptions, config)
	if err := unreached(config.LeaseFile, o.user); err != nil {
		log.Warn(err.Error())
	}
	p.reloads(command, s, config, a, log)
	status, err := a.Exec(life)
	if err = errors.Join(err, a.Close()); err != nil {
		return report.Failed("member %d: %w", o.id, err)
	}
	if status != 0 {
		return report.ExitError{Code: status}
	}
	return nil
}
