//go:build !js

package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/clock"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/serve/agent"
	"ringleader.example/ringleader/internal/serve/control"
	"ringleader.example/ringleader/internal/serve/doctor"
	"ringleader.example/ringleader/internal/serve/kernel"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport"
)

// How much is measured.
const (
	roundTrips  = 10
	flushes     = 20
	timers      = 100
	clockTime   = 2 * time.Second
	deathTime   = 10 * time.Second
	deaths      = 10
	soonExpires = 14 * 24 * time.Hour
)

// doctorOptions are the options of doctor: those of join and of exec, since a member of either may be examined.
type doctorOptions struct{ execOptions }

func (*doctorOptions) fresh() memberOptions { return &doctorOptions{} }

func (o *doctorOptions) defineAll(flags *pflag.FlagSet) {
	o.execOptions.defineAll(flags)
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
}

func (o *doctorOptions) config(flags *pflag.FlagSet) (ringleader.Config, error) {
	if o.algorithm == string(ringleader.Bully) { // it is for join only
		return o.joinOptions.config(flags)
	}
	return o.execOptions.config(flags)
}

func (p *program) doctor() *cobra.Command {
	var (
		o      doctorOptions
		clocks []string
	)
	command := &cobra.Command{
		Use:     "doctor --id ID --member ID=HOST:PORT... --data DIR",
		GroupID: option.GroupElect,
		Short:   "Examine a member's configuration, network, disk and clocks",
		Long: `Doctor takes the flags of join and exec, and their files, and examines what they describe,
beside a member that runs or before its first start. It looks for wrong timing, a missing or foreign store, a store or a key that
every user may write or read, a lease file or a directory of --progress-path that the member
could not use, members that cannot be reached, clear text between machines, and certificates
that have expired or name another member. If the member runs, it adds what that knows: which members refuse it, and
how their lists and timing differ.

It measures round trips to the members, flushes of the disk of --data, how late timers are,
how fast a command of exec dies and by what means, and with --clock, for two seconds, the
rates of other members' clocks. Then it recommends timing. Measure under the load that
members are to work under.

Exit status: 0 nothing is wrong; 1 something is; 64 the call was wrong.`,
		Example: `  ringleader doctor --config jobs.toml --id 1 --data data/1
  ringleader doctor --group jobs --id 1 --data data/1 --clock 127.0.0.1:8002 \
    --member 1=127.0.0.1:7001 --member 2=127.0.0.1:7002`,
		Args:              option.FlagsOnly,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(command *cobra.Command, _ []string) error {
			config, err := o.config(command.Flags())
			if err != nil && !errors.Is(err, errFiles) {
				return err
			}
			for i, address := range clocks {
				address, wrong := option.Address("--clock", address)
				if wrong != nil {
					return wrong
				}
				clocks[i] = address
			}
			found := examine(command, &o.joinOptions, config, err, clocks)
			if err := p.Print(found, o.json); err != nil {
				return err
			}
			if len(found.Wrong) > 0 {
				return report.ErrNo
			}
			return nil
		},
	}
	p.settings(command, &o)
	command.Flags().StringArrayVar(&clocks, "clock", nil, "HOST:PORT of --http of another member, whose clock is compared; may be repeated")
	return command
}

// examination is an examination under way.
type examination struct {
	report.Examination
	measured doctor.Measured
	config   ringleader.Config
	joined   bool // it runs, or knows the voters of its group: so it needs none of --join
}

func (e *examination) wrong(format string, args ...any) {
	e.Wrong = append(e.Wrong, fmt.Sprintf(format, args...))
}

func (e *examination) note(format string, args ...any) {
	e.Notes = append(e.Notes, fmt.Sprintf(format, args...))
}

// examine examines the configuration of a member and what it depends on. The error is that of the files of its certificate, if
// they cannot be used.
func examine(command *cobra.Command, o *joinOptions, c ringleader.Config, files error, clocks []string) report.Examination {
	ctx, e := command.Context(), &examination{config: c}
	if o.realTime { // as the member
		if err := kernel.HurryAll(); err == nil {
			defer kernel.RelaxAll()
		} else if runtime.GOOS == "linux" {
			e.note("a member does not run before others here: %v; LimitRTPRIO=2 in a unit of systemd, or CAP_SYS_NICE, allows that, for a busy machine", err)
		}
	}
	for _, fault := range inSettings(command.Flags(), o.preset, c.Check()) {
		e.wrong("%s", fault)
	}
	if err := storage.CheckAccess(c.Data, o.key); err != nil {
		e.wrong("%v", err)
	}
	if files != nil {
		e.wrong("%v", files)
	} else {
		e.security(o)
	}
	user, _ := command.Flags().GetString("user")
	wrong, notes := places(&c, user)
	for _, fault := range wrong {
		e.wrong("%v", fault)
	}
	for _, note := range notes {
		e.note("%v", note)
	}
	e.store(ctx)
	e.network(ctx)
	e.disk()
	late := doctor.Lateness(clock.System(), timers)
	e.Measurements, e.measured.Late = append(e.Measurements, report.Measurement{What: "timer late", Median: late.Median, Worst: late.Worst}), late.Worst
	e.clocks(ctx, clocks)
	if c.Algorithm == ringleader.QuorumBully {
		e.commands(ctx)
		unsafe, slow := doctor.Compare(c.Timing.WithDefaults(), e.measured)
		e.Wrong, e.Notes = append(e.Wrong, unsafe...), append(e.Notes, slow...)
		e.Timing = doctor.Recommend(e.measured)
	}
	return e.Examination
}

// security examines the certificate, or whether clear text stays on this machine.
func (e *examination) security(o *joinOptions) {
	if e.config.TLS == nil {
		for _, m := range append(e.config.Members, ringleader.MemberAddress{ID: e.config.ID, Address: e.config.Listen}) {
			if m.Address != "" && !option.IsLoopback(m.Address) {
				e.wrong("the address %s of member %d is not loopback, and connections are in clear text: give --cert, --key and --ca", m.Address, m.ID)
			}
		}
		for _, seed := range e.config.Join {
			if strings.Contains(seed, ":") && !option.IsLoopback(seed) {
				e.wrong("the address %s of --join is not loopback, and connections are in clear text: give --cert, --key and --ca", seed)
			}
		}
		return
	}
	switch expires, err := transport.CheckTLS(e.config.TLS, transport.MemberName(e.config.Group, e.config.ID)); {
	case err != nil:
		e.wrong("%s: %v", o.cert, err)
	case time.Until(expires) < soonExpires:
		e.note("the certificate %s expires on %s", o.cert, expires.Format(time.DateTime))
	}
}

// store examines the store of the member and, if it runs, asks the member.
func (e *examination) store(ctx context.Context) {
	store, err := storage.Open(e.config.Data, storage.Owner{Group: e.config.Group, Member: e.config.ID})
	switch {
	case err == nil:
		_ = store.Close() // nothing was written
		voters, err := e.config.KeptVoters()
		e.joined = voters != nil && err == nil
		e.note("the member does not run, so it is not known whether the others have the same list of members")
	case errors.Is(err, storage.ErrLocked):
		e.joined = true
		e.ask(ctx)
	default:
		e.wrong("%v", err)
	}
}

// ask adds what a member that runs knows about the others.
func (e *examination) ask(ctx context.Context) {
	client := control.NewClient(control.Socket(e.config.Data))
	s, err := client.Status(ctx)
	if err != nil {
		e.wrong("the directory %s is in use, but %v", e.config.Data, err)
		return
	}
	if file := e.config.LeaseFile; file != "" {
		if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
			e.wrong("the running member %d keeps no lease file %s: it was removed, or the member started without it; another start makes it", s.ID, file)
		}
	}
	if s.CertificateProblem != "" {
		e.wrong("the latest certificate of the running member %d cannot be used: %s", s.ID, s.CertificateProblem)
	}
	if s.StorageProblem != "" {
		e.wrong("the storage of the running member %d fails: %s", s.ID, s.StorageProblem)
	}
	for _, m := range s.Members {
		if m.Problem != "" {
			e.wrong("member %d, as the running member %d knows it: %s", m.ID, s.ID, m.Problem)
		}
	}
}

// network measures round trips.
func (e *examination) network(ctx context.Context) {
	for _, m := range e.config.Members {
		if m.ID == e.config.ID {
			continue
		}
		if err := e.reach(ctx, fmt.Sprintf("member %d", m.ID), m.Address); err != nil {
			e.wrong("%v", err)
		}
	}
	var unreached []error
	for _, seed := range e.config.Join {
		if err := e.reach(ctx, seed+" of --join", seed); err != nil {
			unreached = append(unreached, err)
		}
	}
	for _, err := range unreached {
		if len(unreached) == len(e.config.Join) && !e.joined { // one is enough
			e.wrong("%v", err)
		} else {
			e.note("%v", err)
		}
	}
}

// reach measures round trips to an address.
func (e *examination) reach(ctx context.Context, what, address string) error {
	found, err := e.lookup(ctx, address)
	if err != nil {
		return fmt.Errorf("%s cannot be found: %w", what, err)
	}
	span, err := doctor.RoundTrips(ctx, found, roundTrips)
	if err != nil {
		return fmt.Errorf("%s cannot be reached: %w", what, err)
	}
	e.Measurements = append(e.Measurements, report.Measurement{What: "round trip to " + what, Median: span.Median, Worst: span.Worst})
	e.measured.RoundTrip = max(e.measured.RoundTrip, span.Worst)
	return nil
}

// lookup returns the host and the port of a member. One without a port is looked up, as the member does.
func (e *examination) lookup(ctx context.Context, address string) (string, error) {
	if strings.Contains(address, ":") {
		return address, nil
	}
	all, err := transport.TCP{SRV: e.config.SRV}.Lookup(ctx, address)
	if err != nil {
		return "", err
	}
	return all[0], nil
}

// disk measures flushes.
func (e *examination) disk() {
	directory := e.config.Data
	if _, err := os.Stat(directory); err != nil {
		directory = filepath.Dir(directory)
	}
	span, err := doctor.Flushes(directory, flushes)
	if err != nil {
		e.wrong("the directory %s cannot be written: %v", directory, report.Reason(err))
		return
	}
	e.Measurements = append(e.Measurements, report.Measurement{What: "flush of the disk", Median: span.Median, Worst: span.Worst})
	e.measured.Flush = span.Worst
}

// commands examines by what the command of exec ends on this machine, and how fast.
func (e *examination) commands(ctx context.Context) {
	ctx, cancel := context.WithTimeoutCause(ctx, deathTime, fmt.Errorf("it takes more than %v", deathTime))
	defer cancel()
	x, err := agent.Examine(ctx, deaths)
	if x.Because != "" {
		e.note("a command of exec would end by %s here: %s (%v)", x.Means, x.Means.Lacks(), option.OneLine(x.Because))
	}
	if x.Timer != "" && runtime.GOOS == "linux" {
		e.note("the kernel ends no keeper that is stopped: %s", x.Timer)
	}
	why := x.Failed
	if err != nil {
		why = cmp.Or(why, err.Error())
	}
	switch {
	case len(x.Deaths) == 0:
		if why != "" {
			e.note("the death of a command is not measured: %s", why)
		}
		return
	case why != "":
		e.note("the death of a command is measured %d times instead of %d: %s", len(x.Deaths), deaths, why)
	}
	span := doctor.SpanOf(x.Deaths)
	e.Measurements = append(e.Measurements, report.Measurement{What: "death of a command, by " + string(x.Means), Median: span.Median, Worst: span.Worst})
	e.measured.Death = span.Worst
}

// clocks compares the clocks of other members with that of this machine.
func (e *examination) clocks(ctx context.Context, addresses []string) {
	if len(addresses) == 0 {
		e.note("no --clock is given, so the rates of clocks are not known; Drift %g allows differences of about %g %%", e.config.Timing.WithDefaults().Drift, 50*e.config.Timing.WithDefaults().Drift)
		return
	}
	begun := time.Now()
	first := make([]doctor.Reading, len(addresses))
	read := func(address string) (doctor.Reading, error) {
		client := control.NewHTTPClient(address, nil)
		theirs, sent, received, err := client.Clock(ctx)
		return doctor.Reading{Sent: sent.Sub(begun), Theirs: theirs, Received: received.Sub(begun)}, err
	}
	for i, address := range addresses {
		var err error
		if first[i], err = read(address); err != nil {
			e.wrong("--clock %s: %v", address, err)
		}
	}
	select {
	case <-time.After(clockTime):
	case <-ctx.Done():
	}
	for i, address := range addresses {
		last, err := read(address)
		if err != nil || first[i].Received == 0 {
			continue
		}
		faster, off := doctor.Rate(first[i], last)
		e.Clocks = append(e.Clocks, report.ClockRate{Address: address, Faster: faster, Off: off})
		e.measured.Rate = max(e.measured.Rate, max(faster, -faster)-off)
	}
}
