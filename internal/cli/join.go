package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/report"
	"ringleader.example/ringleader/statushttp"
	"ringleader.example/ringleader/storage"
)

type joinOptions struct {
	id                           uint64
	group, listen, http, data    string
	members                      []string
	delay, heartbeat, suspicion  time.Duration
	json, stopWithStdin, verbose bool
}

func (p *program) join() *cobra.Command {
	var o joinOptions
	command := &cobra.Command{
		Use:     "join --id ID --member ID=HOST:PORT... --data DIR",
		GroupID: groupElect,
		Short:   "Run a member of a group in the foreground",
		Long: `Join runs one member of a group, and shows its role and leader, until Ctrl-C or SIGTERM.
All members have the same list of members. They elect the live member with the highest
identifier by the Bully algorithm.
` + report.NoQuorum + `

A member takes no part in elections while another process has its identifier, or while
its own --member address does not lead to it. It waits, reports this in its log and in
/status, and tries again. Timing flags should be the same at all members. While they
differ, the log and /status name the differences.

With --http the member serves GET /leader (200 on the leader, 503 elsewhere) and GET
/status (JSON). Without a host, addresses are of this machine only (127.0.0.1). There is
neither encryption nor authentication yet. Listen only where all processes are trusted: a
process that reaches a member, and knows the identifiers, can impersonate another member.`,
		Example: `  ringleader join --id 1 --member 1=127.0.0.1:7001 --member 2=127.0.0.1:7002 \
    --data /var/lib/ringleader/1 --http 127.0.0.1:8001`,
		Args:              flagsOnly,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(command *cobra.Command, _ []string) error {
			for _, name := range []string{"delay", "heartbeat", "suspicion"} {
				if d, _ := command.Flags().GetDuration(name); d <= 0 {
					return fmt.Errorf("--%s is a time above 0, such as 50ms, not %s", name, d)
				}
			}
			return p.runJoin(command.Context(), o)
		},
	}
	flags := command.Flags()
	decimalVar(flags, &o.id, "id", "", 0, "identifier of this member, at least 1")
	flags.StringArrayVar(&o.members, "member", nil, "a member, as ID=HOST:PORT; once for each, this one included")
	flags.StringVar(&o.group, "group", "", "name of the group; members of other names are refused")
	flags.StringVar(&o.data, "data", "", "directory for the durable state of this member alone; created if missing")
	flags.StringVar(&o.listen, "listen", "", "HOST:PORT to listen on for the other members (default: its own --member address)")
	flags.StringVar(&o.http, "http", "", "HOST:PORT to serve /status and /leader on (default: not served)")
	flags.DurationVar(&o.delay, "delay", 25*time.Millisecond, "upper bound on the time to deliver and handle a message")
	flags.DurationVar(&o.heartbeat, "heartbeat", 50*time.Millisecond, "time between heartbeats")
	flags.DurationVar(&o.suspicion, "suspicion", 400*time.Millisecond, "a member silent for this time is suspected to have crashed")
	flags.BoolVar(&o.json, "json", false, "write events as JSON lines, and nothing else, to stdout")
	flags.BoolVar(&o.verbose, "verbose", false, "log what the member does to stderr")
	flags.BoolVar(&o.stopWithStdin, "stop-with-stdin", false, "stop at the end of standard input, with the parent process")
	flags.MarkHidden("stop-with-stdin")
	require(command, "id", "member", "data")
	command.MarkFlagDirname("data")
	return command
}

// config returns the configuration that the options describe.
func (o joinOptions) config() (c ringleader.Config, err error) {
	c = ringleader.Config{
		Group: o.group, ID: o.id, Data: o.data, Algorithm: ringleader.Bully, NoQuorum: true,
		Timing: ringleader.Timing{MessageDelay: o.delay, Heartbeat: o.heartbeat, Suspicion: o.suspicion},
	}
	for _, text := range o.members {
		m, err := parseMember(text)
		if err != nil {
			return c, err
		}
		c.Members = append(c.Members, m)
		if m.ID == o.id {
			c.Listen = m.Address
		}
	}
	if o.listen != "" {
		c.Listen, err = parseAddress("--listen", o.listen)
	}
	return c, err
}

func parseMember(text string) (m ringleader.MemberAddress, err error) {
	id, address, found := strings.Cut(text, "=")
	if m.ID, err = strconv.ParseUint(id, 10, 64); err != nil || !found || m.ID == 0 {
		return m, fmt.Errorf("--member wants ID=HOST:PORT, such as 1=127.0.0.1:7001, with an identifier from 1 to 2⁶⁴ - 1, not %q", text)
	}
	m.Address, err = parseAddress("--member "+id, address)
	return m, err
}

// parseAddress checks an address. Without a host it is loopback.
func parseAddress(flag, address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if number, e := strconv.ParseUint(port, 10, 16); err != nil || e != nil || number == 0 {
		return "", fmt.Errorf("%s wants HOST:PORT, such as 127.0.0.1:7001, not %q", flag, address)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

func isLoopback(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (p *program) runJoin(ctx context.Context, o joinOptions) error {
	config, err := o.config()
	if err != nil {
		return err
	}
	level := slog.LevelWarn
	if o.verbose {
		level = slog.LevelDebug
	}
	config.Logger = slog.New(withoutErrors{slog.NewTextHandler(p.Err, &slog.HandlerOptions{Level: level})})

	life, end := context.WithCancelCause(ctx)
	defer end(nil)
	var web net.Listener
	if o.http != "" {
		if o.http, err = parseAddress("--http", o.http); err != nil {
			return err
		}
		if web, err = net.Listen("tcp", o.http); err != nil {
			return fmt.Errorf("--http: %w", err)
		}
		defer web.Close()
	}
	m, err := joinOrInit(life, config)
	switch {
	case errors.Is(err, ringleader.ErrWrite): // another call would not help
		return report.Failed("member %d: %w", o.id, err)
	case err != nil:
		return err
	}
	defer m.Close()
	p.warn(report.NoQuorum)
	for _, l := range []struct{ flag, address string }{{"--listen", config.Listen}, {"--http", o.http}} {
		if l.address != "" && !isLoopback(l.address) {
			p.warn(fmt.Sprintf("%s %s is open to other machines, without encryption or authentication.", l.flag, l.address))
		}
	}
	if web != nil {
		server := statushttp.Server(statushttp.Handler(m))
		go func() { end(server.Serve(web)) }()
		defer server.Close()
	}
	if o.stopWithStdin {
		go func() {
			io.Copy(io.Discard, p.stdin)
			end(nil)
		}()
	}
	if o.json {
		if err := p.JSON(p.Header()); err != nil {
			return err
		}
	}
	show := report.Member{Out: p.Out, JSON: o.json, ID: o.id}
	show.Started(config.Listen, o.http)
	for l := range m.Observe(life) {
		show.Role(l)
	}
	err = errors.Join(m.Err(), m.Close())
	if cause := context.Cause(life); ctx.Err() == nil && cause != context.Canceled {
		err = errors.Join(err, cause) // serving HTTP failed
	}
	if err != nil {
		return report.Failed("member %d: %w", o.id, err)
	}
	show.Stopped()
	return nil
}

// joinOrInit joins, and makes a store first if there is none. A wrong configuration makes none.
func joinOrInit(ctx context.Context, c ringleader.Config) (*ringleader.Member, error) {
	m, err := ringleader.Join(ctx, c)
	if errors.Is(err, storage.ErrMissing) {
		if err = ringleader.Init(c.Data, c.Group, c.ID); err == nil {
			m, err = ringleader.Join(ctx, c)
		}
	}
	return m, err
}

// withoutErrors logs no errors: what stops the member is returned, and printed once.
type withoutErrors struct{ slog.Handler }

func (h withoutErrors) Enabled(ctx context.Context, level slog.Level) bool {
	return level < slog.LevelError && h.Handler.Enabled(ctx, level)
}

func (h withoutErrors) WithAttrs(attributes []slog.Attr) slog.Handler {
	return withoutErrors{h.Handler.WithAttrs(attributes)}
}

func (p *program) warn(text string) { p.Complain("warning: " + text) }
