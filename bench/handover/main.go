//go:build linux

// Handover measures what clients notice of handovers: three members run a small server behind HAProxy or nginx, which takes writes, while all members
// are updated in turn, again and again, or the leader is killed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"text/tabwriter"
	"time"
)

const usage = `Handover measures what clients of a front end notice while its members are updated.

  go run . [flags]

Three members run one server each by ringleader exec, or in their own process, behind HAProxy or nginx. Writes arrive at a steady rate,
each over a connection of its own. In a rolling update each member in turn resigns if it leads, stops, and starts; the next one
follows when it is ready. In a kill the process of the leader's member gets SIGKILL; it starts again when the next leader is ready.
Calm is the same load with neither. A gap is the time between two writes that were accepted, by the clock of the server.

The folder must be bench/handover of the source tree: the front end has the recipe of packaging/recipes.

Examples:
  go run . --updates 100 --kills 100
  go run . --updates 100 --kills 100 --library
  go run . --front nginx --updates 20 --kills 20

Flags:
`

// options are the flags.
type options struct {
	front          string
	rate           int
	updates, kills int
	calm           time.Duration
	listens        time.Duration
	unready        bool
	library        bool
	verbose        bool
}

func main() {
	for role, be := range map[string]func([]string) error{"serve": serve, "lead": lead} {
		if len(os.Args) < 3 || os.Args[1] != role {
			continue
		}
		if err := be(os.Args[2:]); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", role, err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "handover:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string) error {
	var o options
	flags := flag.NewFlagSet("handover", flag.ContinueOnError)
	flags.StringVar(&o.front, "front", "haproxy", "the front end: haproxy or nginx")
	flags.IntVar(&o.rate, "rate", 500, "writes in a second")
	flags.IntVar(&o.updates, "updates", 10, "rolling updates")
	flags.IntVar(&o.kills, "kills", 10, "kills of the leader")
	flags.DurationVar(&o.calm, "calm", 10*time.Second, "time without faults, to compare with")
	flags.DurationVar(&o.listens, "listens", 0, "time that the server needs until it listens")
	flags.BoolVar(&o.unready, "unready", false, "without --ready-port: a leader counts as ready before its server listens")
	flags.BoolVar(&o.library, "library", false, "the server has its member in itself, by Lead, and no process starts when it leads; without --listens and --unready")
	flags.BoolVar(&o.verbose, "verbose", false, "show the logs of members, and each failure")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if o.library && (o.listens != 0 || o.unready) {
		return errors.New("--listens and --unready are about a command, which --library has none of")
	}
	g, err := newGroup(ctx, o)
	if err != nil {
		return err
	}
	defer g.close()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tturns\twrites\tfailed\tlongest gap of a turn: median\tgreatest\tslowest write\tload")
	row := func(what string, turns int, turn func() error) error {
		if turns == 0 {
			return nil
		}
		r, err := g.measure(turns, turn)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%v\t%v\t%v\t%s\n", what, turns, r.writes, r.failed, milliseconds(median(r.gaps)), milliseconds(slices.Max(r.gaps)), milliseconds(r.slowest), load())
		return w.Flush()
	}
	return errors.Join(
		row("calm", min(1, int(o.calm)), func() error { return rest(ctx, o.calm) }),
		row("rolling update", o.updates, func() error { return g.update(ctx) }),
		row("kill -9", o.kills, func() error { return g.kill(ctx) }),
	)
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// load returns the load of this machine during the last minute.
func load() (text string) {
	file, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "?"
	}
	_, _ = fmt.Sscan(string(file), &text)
	return text
}

// rest waits.
func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
