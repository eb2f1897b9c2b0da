//go:build !js

package operate

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/serve/agent"
	"ringleader.example/ringleader/internal/serve/warden"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/transport"
)

// errFiles reports that the files of a certificate cannot be used.
var errFiles = errors.New("--cert, --key, --ca")

type joinOptions struct {
	id                                               uint64
	group, srv, listen, http, https, data, leaseFile string
	httpHosts, paths                                 []string
	members, joins                                   []string
	algorithm, preset                                string
	lease, shortest, renewal, delay, heartbeat       time.Duration
	suspicion, hang, stall                           time.Duration
	warden, realTime, insecure, noQuorum             bool
	stands                                           standOptions
	cert, key, ca                                    string
	hooks                                            agent.Hooks
	json, stopWithStdin, reportLeases, verbose       bool
	record, recordSize                               string
}

func (p *program) join() *cobra.Command {
	var o joinOptions
	command := &cobra.Command{
		Use:     "join --id ID --member ID=HOST:PORT... --data DIR",
		GroupID: option.GroupElect,
		Short:   "Run a member of a group in the foreground",
		Long: `Join runs one member of a group, and shows its role, leader, term and lease, until Ctrl-C
or SIGTERM. The members elect the live member of the highest priority, and of several the one
with the highest identifier, by quorum-bully: a leader has a lease from a majority of the
members that vote, so two never lead at the same time. Each leader has a greater term than
the one before. A member that ends by Ctrl-C or SIGTERM releases its lease, and another one
leads at once.

A new group starts with one list of members. Those without ,standby vote at first: members
that name different first voters refuse each other. Each list has all members that vote. All
else in it may differ, and change: see "ringleader members --help".

A member that is added to a group that runs gets --join instead of the list: addresses of any
members, or the name of a headless service, with a port, or without one if it has SRV records. It
needs no --member, or only its own, whose address counts then; otherwise it is at the one that
"members add" has given it, and --listen has its port.

The directory --data must have been made by "ringleader init", once in the life of the
member. It holds the promises that the member has made to the others.

On Linux a warden watches the member: the parent process of the member, which does nothing
else. When the member crashes, the warden kills what the member has started, and proves to
the others that it is dead, so they need not wait for the end of its lease. It kills a
leader that does nothing for --hang. --warden=false runs the member without one.

On Linux warden and member run before ordinary processes, where that is allowed, so that a
busy machine does not end the lead. Hooks run as ordinary processes. "doctor" tells whether
it is allowed, and --real-time=false switches it off.

Members on several machines need certificates: --cert, --key and --ca. The certificate of
a member names it: it has the URI ringleader:GROUP/ID among its alternative names. All
files may be replaced while the member runs. --insecure allows clear text instead: any
process on the way can then read and change messages.

A member takes no part in elections while another process has its identifier, or while
its own --member address does not lead to it. It waits, reports this in its log and in
/status, and tries again. Timing flags should be the same at all members. While they
differ, the log and /status name the differences.

--health-command or --health-http checks, again and again, whether this member may lead. It
may when --health-rise checks have passed in a row, the first time too, and may not when
--health-fall have failed. A leader that may not stops its work and hands over, also without
--preempt. While no member may lead, there is no leader, and status shows why.

--weight is the priority of this member at this time, for example by the speed of its
machine. With --preempt, a leader that has led for --preempt-delay hands over to an able
member of higher priority; "ringleader pause-preemption" holds that up.

Hosts in --member may be names. They are looked up again after failures, and each 30
seconds. With --srv, a member without a port, such as 1=jobs-0, is found by an SRV record
whose target is jobs-0 or begins with its labels. An answer that is empty or fails changes
nothing, and no answer changes who is a member.

The commands status, members, watch, resign, transfer, pause-preemption and doctor use the
socket control.sock in the directory --data, which only the user of the member can open. With --http the member serves
GET /leader (200 on the leader, 503 elsewhere), /status, /watch, /healthz, /readyz and
/metrics without encryption or authentication, and takes no commands there. --https serves
the same and commands, to clients with a certificate of --ca. GET /openapi.json describes
both. Without a host, addresses are of this machine only (127.0.0.1). Clients may use
numeric addresses, localhost, the host of the flag, and the names given by --http-host.

The hooks --on-leader, --on-follower and --on-change run by a shell, one at a time and in
order, with RINGLEADER_ROLE, RINGLEADER_LEADER, RINGLEADER_TERM, RINGLEADER_MEMBER and
RINGLEADER_GROUP in their environment. They print to stderr. While one runs, the election
goes on: of the changes meanwhile only the last is acted upon. A member that ends in good
order runs --on-follower if it led. A hook may still run when another member leads
already; "ringleader exec" is for what must not.

Each flag is a key of the file of --config, too, and a variable RINGLEADER_NAME of the
environment. A flag wins over a variable, and a variable over the file. --check prints
the settings, and which members vote if those of --data have agreed on others, and examines
--lease-file and --progress-path as doctor does. With a file,
SIGHUP reads it again: hooks, --verbose, certificates, --weight, and in --member the other
members and the priority of this one change. The log names what needs a restart, and no
election follows.

Under systemd, as a service with Type=notify, the member reports its readiness, its role and
its end, and feeds the watchdog while its loop runs.

--algorithm bully --unsafe-no-quorum runs the Bully algorithm instead, with --delay, and
without leases, priorities and warden. ` + report.NoQuorum,
		Example: `  ringleader init --group jobs --id 1 --data /var/lib/ringleader/1
  ringleader join --group jobs --id 1 --data /var/lib/ringleader/1 --http 127.0.0.1:8001 \
    --member 1=127.0.0.1:7001 --member 2=127.0.0.1:7002 --member 3=127.0.0.1:7003,witness`,
		Args:              option.FlagsOnly,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	s := p.settings(command, &o)
	command.RunE = func(command *cobra.Command, _ []string) error {
		config, only, err := p.checked(s)
		if err != nil || only {
			return err
		}
		if err := underWarden(command, &o, config); err != nil {
			return err
		}
		return p.runJoin(command, s, &o, config)
	}
	return command
}

// underWarden lets this process run before others, and starts it again with a warden, if it is to have one.
func underWarden(command *cobra.Command, o *joinOptions, c ringleader.Config) error {
	// A member lives longer than what reads its log. Go ends a process that writes to a pipe without a reader, unless it takes this signal. To ignore it would
	// hand that down to commands.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	if o.realTime { // first, so that the warden does, too
		if err := hurry(); err != nil && command.Flags().Changed("real-time") {
			return fmt.Errorf("--real-time: %w", err)
		}
	}
	unasked := runtime.GOOS == "linux" || command.Flags().Changed("warden") // elsewhere the default is none, and the member says so
	if c.Algorithm != ringleader.QuorumBully || !o.warden && unasked {
		return nil
	}
	warden.Expect(command.Context().Done())
	if err := ringleader.Warden(); err != nil && command.Flags().Changed("warden") {
		return fmt.Errorf("--warden: %w", err)
	}
	return nil
}

// hurry lets this process run before others, on one processor. On several, such processes wait for each other's sweepers: Go's sweeper waits in a loop for
// other threads that sweep, and those wait behind the loop of another process.
func hurry() error {
	err := ringleader.RealTime()
	if err == nil && os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
	return err
}

// endOnce lets a second SIGTERM or SIGINT change nothing. A service manager, or what limits the time of a program, may send one to the warden and one to this
// process, to which the warden passes on its own. That must not cut short the time that a command or a hook has to end, nor the way in which the lease is
// released. A third SIGINT is that of a user who does not want to wait.
func endOnce() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM)
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	go func() {
		for range 2 {
			<-interrupts
		}
		signal.Stop(interrupts)
	}()
}

// completeJoin completes the flags of a member in a shell.
func completeJoin(command *cobra.Command) {
	command.MarkFlagDirname("data")
	command.MarkFlagDirname("progress-path")
	option.Offer(command, "algorithm", liveAlgorithms...)
	option.Offer(command, "preset", presetNames...)
	option.Offer(command, "record", "on", "off")
}

func (o *joinOptions) define(flags *pflag.FlagSet) {
	lan := ringleader.LAN()
	option.Positive(flags, &o.id, "id", "identifier of this member, at least 1")
	flags.StringArrayVar(&o.members, "member", nil, "a member, as ID=HOST:PORT, with ,priority=N, ,witness (it votes and never leads) or ,standby (no vote until \"members add\"); once for each, this one included")
	flags.StringVar(&o.group, "group", "", "name of the group; members of other names are refused")
	flags.StringVar(&o.data, "data", "", "directory that init made for this member")
	flags.StringVar(&o.srv, "srv", "", "DNS NAME whose SRV records have the hosts and ports of the members with ID=NAME in --member: NAME is the target of its record, or the first labels of it")
	flags.StringArrayVar(&o.joins, "join", nil, "HOST:PORT of a member of a group that runs, or a name that has several, or the NAME of SRV records; this member learns the rest; may be repeated")
	flags.StringVar(&o.listen, "listen", "", "HOST:PORT to listen on for the other members; without HOST, those of this machine (default: its own --member address)")
	flags.StringVar(&o.http, "http", "", "HOST:PORT to serve /status, /leader and /metrics on, in clear text (default: not served)")
	flags.StringVar(&o.https, "https", "", "HOST:PORT to serve the same on, with commands, to clients with a certificate (default: not served)")
	flags.StringArrayVar(&o.httpHosts, "http-host", nil, "a name by which clients of --http and --https call this member; may be repeated")
	flags.StringVar(&o.preset, "preset", "lan", "timing: lan, for round trips below 2 ms; fast, for the same on machines that are never busy; shared, for machines that always are; or wan, for round trips below 300 ms")
	flags.DurationVar(&o.lease, "lease", 0, fmt.Sprintf("how long a vote is promised, and so how long a dead leader may be waited for (default: of the preset; lan: %v)", lan.Lease))
	flags.DurationVar(&o.shortest, "shortest-lease", 0, fmt.Sprintf("how short a lease the leader asks for while all is quick; it asks for longer ones, up to --lease, as far as answers are late (default: of the preset, or --lease; lan: %v)", lan.ShortestLease))
	flags.DurationVar(&o.renewal, "renewal", 0, "time between renewals of a lease of --lease, and less for a shorter one (default: of the preset, or a sixth of --lease)")
	flags.DurationVar(&o.heartbeat, "heartbeat", 0, fmt.Sprintf("time between heartbeats (default: of the preset; lan: %v; bully: 50ms)", lan.Heartbeat))
	flags.DurationVar(&o.suspicion, "suspicion", 0, fmt.Sprintf("a member silent for this time is suspected to have crashed (default: of the preset; lan: %v)", lan.Suspicion))
	o.stands.define(flags)
	flags.DurationVar(&o.hang, "hang", 0, fmt.Sprintf("a leader that does nothing for this time, as one that is stopped, is killed by its warden; 0: it is not (default: of the preset; lan: %v)", presets["lan"].hang))
	flags.DurationVar(&o.stall, "stall", 0, fmt.Sprintf("a member whose disk, or a --progress-path, gives no answer for this time leads no more (default: of the preset; lan: %v)", lan.Stall))
	flags.StringArrayVar(&o.paths, "progress-path", nil, "DIRECTORY that the work needs; while it gives no answer for --stall, is replaced or cannot be written, this member leads no more; may be repeated")
	flags.BoolVar(&o.warden, "warden", runtime.GOOS == "linux", "run the member under a warden, which proves its death to the others")
	flags.BoolVar(&o.realTime, "real-time", runtime.GOOS == "linux", "run before ordinary processes, where that is allowed, so that the lead is kept on a busy machine")
	flags.StringVar(&o.cert, "cert", "", "FILE with the certificate of this member, in PEM format")
	flags.StringVar(&o.key, "key", "", "FILE with the key of the certificate")
	flags.StringVar(&o.ca, "ca", "", "FILE with the certificates of the authorities that sign those of members")
	flags.BoolVar(&o.insecure, "insecure", false, "allow clear text between machines")
	flags.StringVar(&o.algorithm, "algorithm", string(ringleader.QuorumBully), "quorum-bully, or bully with --unsafe-no-quorum")
	flags.BoolVar(&o.noQuorum, "unsafe-no-quorum", false, "allow bully, with which each side of a partition has a leader")
	flags.DurationVar(&o.delay, "delay", ringleader.LAN().MessageDelay, "bully: upper bound on the time to deliver and handle a message")
	flags.StringVar(&o.record, "record", "on", "on, or off: write what this member is given and does into the folder record of --data, for the analysis of incidents")
	flags.StringVar(&o.recordSize, "record-size", "32MiB", "how large the record may be, at least 1MiB; the oldest part is removed")
	flags.StringVar(&o.leaseFile, "lease-file", "", "FILE, such as one in /run, that tells other processes whether this member leads, and until when")
	flags.BoolVar(&o.verbose, "verbose", false, "log what the member does to stderr")
	flags.StringVar(&o.hooks.OnLeader, "on-leader", "", "hook: command of a shell to run when this member becomes leader")
	flags.StringVar(&o.hooks.OnFollower, "on-follower", "", "hook: when it leads no more, and when it knows its first leader")
	flags.StringVar(&o.hooks.OnChange, "on-change", "", "hook: at each change of its leader, its term or its role")
	flags.DurationVar(&o.hooks.Timeout, "hook-timeout", 10*time.Second, "how long a hook may run")
}

func (o *joinOptions) defineAll(flags *pflag.FlagSet) {
	o.define(flags)
	o.defineOutput(flags)
}

func (o *joinOptions) common() *joinOptions { return o }
func (*joinOptions) fresh() memberOptions   { return &joinOptions{} }

// defineOutput defines the flags for what join prints, and for the program that runs it.
func (o *joinOptions) defineOutput(flags *pflag.FlagSet) {
	flags.BoolVar(&o.json, "json", false, "write events as JSON lines, and nothing else, to stdout")
	flags.BoolVar(&o.stopWithStdin, "stop-with-stdin", false, "stop at the end of standard input, with the parent process; obey its lines: resign, transfer ID")
	flags.BoolVar(&o.reportLeases, "report-leases", false, "print each renewal of the lease")
	flags.MarkHidden("stop-with-stdin")
	flags.MarkHidden("report-leases")
}

var (
	liveAlgorithms = []string{string(ringleader.QuorumBully), string(ringleader.Bully)}
	presetNames    = []string{"lan", "fast", "shared", "wan"}
)

// preset is a timing with a name. No leader that worked was killed with that hang: see docs/operate.md.
type preset struct {
	timing func() ringleader.Timing
	hang   time.Duration
}

var presets = map[string]preset{
	"lan":    {ringleader.LAN, 60 * time.Millisecond},
	"fast":   {ringleader.Fast, 36 * time.Millisecond},
	"shared": {ringleader.Shared, time.Second},
	"wan":    {ringleader.WAN, 60 * time.Millisecond},
}

// config returns the configuration that the options describe. It completes the addresses of --http and --https, and the timing.
// The rest of the configuration is complete with errFiles.
func (o *joinOptions) config(flags *pflag.FlagSet) (c ringleader.Config, err error) {
	c = ringleader.Config{
		Group: o.group, ID: o.id, Data: o.data, Insecure: o.insecure, SRV: o.srv,
		Preempt: o.stands.preempt, Weight: uint16(o.stands.weight),
		Algorithm: ringleader.Algorithm(o.algorithm), NoQuorum: o.noQuorum, ProgressPaths: o.paths,
	}
	if err := o.check(flags, c.Algorithm == ringleader.Bully); err != nil {
		return c, err
	}
	if c.Record, err = o.recorder(); err != nil {
		return c, err
	}
	if o.leaseFile != "" {
		if c.LeaseFile, err = filepath.Abs(o.leaseFile); err != nil {
			return c, err
		}
	}
	if o.stands.Health != (agent.Health{}) {
		c.Health = o.stands.check // with its times
	}
	c.Timing = o.timing(flags.Changed("hang")).WithDefaults()
	if c.Algorithm == ringleader.QuorumBully {
		if err := o.fits(&c.Timing); err != nil {
			return c, err
		}
		o.lease, o.shortest, o.renewal, o.hang = c.Timing.Lease, c.Timing.ShortestLease, c.Timing.Renewal, c.Timing.Hang
		o.stands.preemptDelay, o.stall = c.Timing.Preempt, c.Timing.Stall
	}
	o.heartbeat, o.suspicion = c.Timing.Heartbeat, c.Timing.Suspicion
	for _, text := range o.members {
		m, err := parseMember(text, o.srv != "")
		if err != nil {
			return c, err
		}
		c.Members = append(c.Members, m)
		if m.ID == o.id && strings.Contains(m.Address, ":") {
			c.Listen = m.Address
		}
	}
	if err := o.places(&c); err != nil {
		return c, err
	}
	if o.http != "" {
		if o.http, err = option.Address("--http", o.http); err != nil {
			return c, err
		}
	}
	if o.https != "" {
		if o.https, err = option.Address("--https", o.https); err != nil {
			return c, err
		}
	}
	if o.cert != "" {
		if c.TLS, err = transport.LoadTLS(o.cert, o.key, o.ca); err != nil {
			return c, fmt.Errorf("%w: %w", errFiles, err)
		}
	}
	return c, nil
}

// places notes where the member listens, and where the group is that runs. Without a line of its own, the member learns from it where it is itself.
func (o *joinOptions) places(c *ringleader.Config) (err error) {
	if o.listen != "" {
		if c.Listen, err = option.Address("--listen", o.listen); err != nil {
			return err
		}
	}
	if c.Join = o.joins; len(c.Join) == 0 || slices.ContainsFunc(c.Members, func(m ringleader.MemberAddress) bool { return m.ID == o.id }) {
		return nil
	}
	c.Members = append(c.Members, ringleader.MemberAddress{ID: o.id})
	if o.listen == "" {
		return fmt.Errorf("--join needs --listen HOST:PORT, with the port that \"members add\" has given member %d", o.id)
	}
	return nil
}

// check returns an error if flags do not go together.
func (o *joinOptions) check(flags *pflag.FlagSet, bully bool) error {
	for _, name := range []string{"delay", "heartbeat", "suspicion", "lease", "shortest-lease", "renewal", "stall", "hook-timeout", "preempt-delay", "health-interval", "health-timeout"} {
		if d, _ := flags.GetDuration(name); flags.Changed(name) && d <= 0 {
			return fmt.Errorf("--%s is a time above 0, such as 50ms, not %s", name, d)
		}
	}
	others, runs := []string{"delay", "unsafe-no-quorum"}, ringleader.QuorumBully
	if bully {
		others, runs = []string{"lease", "shortest-lease", "renewal", "preempt", "preempt-delay", "weight", "health-command", "health-http", "warden", "hang", "stall", "progress-path", "preset", "lease-file", "join"}, ringleader.Bully
	}
	switch i := slices.IndexFunc(others, flags.Changed); {
	case !slices.Contains(liveAlgorithms, o.algorithm):
		return fmt.Errorf("unknown algorithm %q; %s", o.algorithm, option.Instead(o.algorithm, liveAlgorithms))
	case presets[o.preset].timing == nil:
		return fmt.Errorf("unknown preset %q; %s", o.preset, option.Instead(o.preset, presetNames))
	case i >= 0:
		return fmt.Errorf("--%s is not for --algorithm %s", others[i], runs)
	case bully && !o.noQuorum:
		return errors.New("--algorithm bully needs --unsafe-no-quorum: each side of a partition has a leader then")
	}
	return cmp.Or(o.certified(), o.stands.valid(flags))
}

// certified returns an error if the flags about certificates do not go together.
func (o *joinOptions) certified() error {
	given := 0
	for _, file := range []string{o.cert, o.key, o.ca} {
		if file != "" {
			given++
		}
	}
	switch {
	case given != 0 && given != 3:
		return errors.New("--cert, --key and --ca belong together")
	case given == 0 && o.https != "":
		return errors.New("--https needs --cert, --key and --ca")
	case given == 3 && o.insecure:
		return errors.New("--insecure allows clear text, and --cert secures the connections: give one of them")
	}
	return nil
}

// fits returns an error if --shortest-lease is given, and another one counts.
func (o *joinOptions) fits(t *ringleader.Timing) error {
	switch {
	case o.shortest > t.Lease:
		return fmt.Errorf("--shortest-lease (%v) must be at most --lease (%v)", o.shortest, t.Lease)
	case o.shortest != 0 && o.shortest < t.ShortestLease:
		return fmt.Errorf("--shortest-lease (%v) must be at least %v: a third of --lease, and what bears two lost renewals", o.shortest, t.ShortestLease)
	}
	return nil
}

// timing returns the preset with what the flags change in it. What depends on a lease that they change is set by its
// default.
func (o *joinOptions) timing(hangs bool) ringleader.Timing {
	if o.algorithm == string(ringleader.Bully) {
		return ringleader.Timing{
			MessageDelay: o.delay, Heartbeat: cmp.Or(o.heartbeat, 50*time.Millisecond), Suspicion: cmp.Or(o.suspicion, 400*time.Millisecond),
		}
	}
	t := presets[o.preset].timing()
	t.Hang, t.Stall = presets[o.preset].hang, cmp.Or(o.stall, t.Stall)
	if hangs {
		t.Hang = o.hang
	}
	if o.lease != 0 {
		t.Lease, t.ShortestLease, t.LongestLease = o.lease, o.lease, o.lease
		t.Renewal, t.Grace, t.Margin = 0, 0, 0
		t.Preempt = max(t.Preempt, o.lease)
	}
	if o.shortest != 0 && o.renewal == 0 {
		t.Renewal = 0 // that fits
	}
	t.ShortestLease = cmp.Or(o.shortest, t.ShortestLease)
	t.Renewal, t.Preempt = cmp.Or(o.renewal, t.Renewal), cmp.Or(o.stands.preemptDelay, t.Preempt)
	t.Heartbeat, t.Suspicion = cmp.Or(o.heartbeat, t.Heartbeat), cmp.Or(o.suspicion, t.Suspicion)
	return t
}

// parseMember returns a member. Its address may be a name if SRV records are looked up.
func parseMember(text string, srv bool) (m ringleader.MemberAddress, err error) {
	id, rest, found := strings.Cut(text, "=")
	if m.ID, err = option.ID(id); err != nil || !found {
		return m, fmt.Errorf("--member wants ID=HOST:PORT, such as 1=127.0.0.1:7001, with an identifier from 1 to 2⁶⁴ - 1, not %q", text)
	}
	words := strings.Split(rest, ",")
	for _, word := range words[1:] {
		priority, isPriority := strings.CutPrefix(word, "priority=")
		n, err := strconv.ParseUint(priority, 10, 16)
		switch {
		case isPriority && err == nil && n > 0:
			m.Priority = uint16(n)
		case word == "witness":
			m.Witness = true
		case word == "standby":
			m.Standby = true
		default:
			return m, fmt.Errorf("--member %s: after the address come priority=N, with N from 1 to 65535, witness or standby, not %q", id, word)
		}
	}
	if m.Address = words[0]; srv && m.Address != "" && !strings.Contains(m.Address, ":") {
		return m, nil
	}
	m.Address, err = option.Address("--member "+id, words[0])
	return m, err
}
