package cli

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"ringleader.example/ringleader"
)

const (
	// settling is how long the members must have agreed before the next scripted command: longer than
	// a suspicion takes, so that what a fault brings about has shown itself.
	settling = 600 * time.Millisecond
	// patience is how long they may disagree before the election is said to have failed.
	patience = 30 * time.Second

	mostMembers = 50
)

type demoOptions struct {
	members  int
	scenario string
	lasting  time.Duration
	json     bool
}

// scenarios are what is done to the first leader, one after the other.
var scenarios = map[string][]string{
	"crash": {"kill", "start"},
	"pause": {"pause", "resume"},
}

func scenarioNames() []string { return slices.Sorted(maps.Keys(scenarios)) }

func (p *program) demo() *cobra.Command {
	var o demoOptions
	command := &cobra.Command{
		Use:     "demo",
		GroupID: groupElect,
		Short:   "Elect a leader among five processes on this machine, to kill, pause and restart",
		Long: `Demo starts five member processes on this machine. They elect the highest of them by the
Bully algorithm. Every change is shown as it happens, with the time since the fault that
caused it: from the sending of the signal to the arrival of the member's own word.

Commands, one a line, from the terminal or through a pipe:
  kill 5     SIGKILL, as in a crash        start 5    start it again, as a new process
  pause 5    SIGSTOP, as in a long stall   resume 5   SIGCONT
  status     all members, their processes, and where each serves its status
  help, quit
From a pipe, each command waits until the members agree after the one before, and the
demo ends with the pipe. An empty input such as /dev/null says nothing: the demo then
runs until Ctrl-C, SIGTERM or the end of --for. Members that are killed, stopped or
continued from elsewhere are noticed. No process outlives the demo, however it ends; only
outside Linux a paused member outlives a SIGKILL of the demo, until it is resumed.

Exit status: 0 if at the start, after each fault and at the end all running members
agreed that the highest of them leads; 1 if not.`,
		Example: `  ringleader demo
  ringleader demo --scenario crash
  ringleader demo --for 20s --json
  echo "kill 7" | ringleader demo --members 7`,
		Args:              flagsOnly,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return p.runDemo(command.Context(), o)
		},
	}
	flags := command.Flags()
	flags.IntVar(&o.members, "members", 5, "how many member processes")
	flags.StringVar(&o.scenario, "scenario", "", "take no commands, but: crash (kill the leader, restart it) or pause (stall it)")
	flags.DurationVar(&o.lasting, "for", 0, "end by itself after this time, and not before the scenario has ended")
	flags.BoolVar(&o.json, "json", false, "write events as JSON lines, and nothing else, to stdout")
	command.RegisterFlagCompletionFunc("scenario", cobra.FixedCompletions(scenarioNames(), cobra.ShellCompDirectiveNoFileComp))
	return command
}

func (o demoOptions) check() error {
	switch {
	case o.members < 1 || o.members > mostMembers:
		return fmt.Errorf("--members is from 1 to %d, not %d", mostMembers, o.members)
	case o.lasting < 0:
		return fmt.Errorf("--for is a time to come, such as 20s, not %s", o.lasting)
	case o.scenario != "" && scenarios[o.scenario] == nil:
		return fmt.Errorf("unknown scenario %q; %s", o.scenario, instead(o.scenario, scenarioNames()))
	}
	return nil
}

func (p *program) runDemo(ctx context.Context, o demoOptions) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go endWithGoRun(ctx, cancel)
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		var stop func()
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP) // the terminal is closed
		defer stop()
	}

	g, err := newGroup(o.members)
	if err != nil {
		return failed("cannot start the demo: %w", err)
	}
	defer func() {
		if closed := g.close(); err == nil && closed != nil {
			err = failed("cannot clean up after the demo: %w", closed)
		}
	}()
	input := p.demoInput(o)
	d := &demo{group: g, show: &demoDisplay{
		stdout: p.stdout, stderr: p.stderr, json: o.json, paint: p.paintOn(p.stdout), prompt: input.prompt && !o.json,
		members: g.members, begun: time.Now(),
	}}
	if err := d.start(); err != nil {
		return err
	}
	if err := d.run(ctx, input, o); err != nil {
		return err
	}
	held := d.agreed && !d.failed
	d.show.summary(held, d.faults)
	if !held {
		return exitError{code: exitNo}
	}
	return nil
}

// demoInput is where the demo takes its commands from.
type demoInput struct {
	lines  <-chan string // closed at the end
	prompt bool          // a person types them; if not, each waits until the members have settled
	silent bool          // none came so far, and perhaps none ever will
}

// next returns where the next command comes from: nil while none is to be obeyed.
func (i demoInput) next(quit, settled bool) <-chan string {
	if quit || !i.prompt && !settled {
		return nil
	}
	return i.lines
}

func (p *program) demoInput(o demoOptions) demoInput {
	lines := make(chan string)
	if o.scenario != "" {
		go func() {
			defer close(lines)
			for _, verb := range scenarios[o.scenario] {
				lines <- fmt.Sprintf("%s %d", verb, o.members)
			}
		}()
		return demoInput{lines: lines}
	}
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(p.stdin); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	prompt := isTerminal(p.stdin)
	return demoInput{lines: lines, prompt: prompt, silent: !prompt}
}

// demo is a demonstration under way. One goroutine owns it.
type demo struct {
	*group
	show   *demoDisplay
	faults []*fault // the start is the first

	agreed bool      // all running members, on the highest of them
	since  time.Time // when they came to agree, or ceased to
	failed bool      // they disagreed for longer than patience, or a member failed by itself
}

// fault is what was done to the group, and what came of it.
type fault struct {
	what   string // such as "5 killed"
	at     time.Time
	open   bool          // the members have not agreed since
	leader uint64        // on whom they agreed
	led    time.Duration // from the fault until that leader said that it leads; 0 if it had no need to
	agreed time.Duration // from the fault until the last member agreed
	number int           // of members that agreed
}

func (d *demo) start() error {
	d.strike("start", d.show.begun)
	for _, m := range d.members {
		if err := d.group.start(m); err != nil {
			return failed("cannot start member %d: %w", m.id, err)
		}
	}
	d.show.heading()
	return nil
}

// run hears the members and obeys the commands until the demo is to end.
func (d *demo) run(ctx context.Context, input demoInput, o demoOptions) error {
	var timeUp <-chan time.Time
	if o.lasting > 0 {
		timeUp = time.After(o.lasting)
	}
	for quit := false; ; {
		quit = quit || d.failed && !input.prompt && !input.silent
		settled := d.agreed && time.Since(d.since) >= settling
		if quit && (settled || d.failed) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case r := <-d.reports:
			d.hear(r)
		case <-d.deadline(settled):
			d.waited()
		case line, more := <-input.next(quit, settled):
			if !more {
				input.lines = nil
				quit = timeUp == nil && !input.silent
				break
			}
			input.silent = false
			var err error
			if quit, err = d.command(line, input.prompt); err != nil {
				return err
			}
		case <-timeUp:
			timeUp = nil
			quit = o.scenario == "" || input.lines == nil
		}
	}
}

// deadline returns a channel that fires when the members have settled, or have disagreed for too long. It is nil where
// neither is awaited.
func (d *demo) deadline(settled bool) <-chan time.Time {
	switch {
	case d.agreed && !settled:
		return time.After(time.Until(d.since.Add(settling)))
	case !d.agreed && !d.failed:
		return time.After(time.Until(d.since.Add(patience)))
	}
	return nil
}

// waited notes that a deadline has passed: if the members have not agreed by then, the demo has failed.
func (d *demo) waited() {
	if !d.agreed {
		d.failed = true
		d.show.event(demoEvent{Event: "failed", How: fmt.Sprintf("no agreement within %s", patience)})
	}
}

// command obeys a line. A person is told what is wrong with it; from a pipe it ends the demo.
func (d *demo) command(line string, prompt bool) (quit bool, err error) {
	quit, err = d.obey(line)
	if err != nil && prompt {
		d.show.say(err.Error())
		return false, nil
	}
	return quit, err
}

// hear takes a member's word, or the system's about it.
func (d *demo) hear(r report) {
	m := r.of
	if r.by != m.process || m.condition == ended {
		return // of an earlier life, or known already
	}
	switch {
	case r.said == nil && r.condition != m.condition: // it was not us who did this
		m.condition = r.condition
		d.failed = d.failed || r.ending.failed
		if before := d.faults[len(d.faults)-1]; before.number > 0 {
			before.open = false // they had agreed; if they do not now, this is why, and they noticed it before us
		}
		verb := [...]string{running: "resumed", paused: "paused", ended: "ended"}[r.condition]
		d.strikeMember(m, verb, r.ending.how, r.at)
	case r.said != nil && r.said.Event == "role":
		m.role, m.leader = r.said.Role, r.said.Leader
		f := d.faults[len(d.faults)-1]
		if m.role == ringleader.Leader {
			f.leader, f.led = m.id, r.at.Sub(f.at)
		}
		d.show.event(demoEvent{Event: "role", ID: m.id, Role: m.role, Leader: m.leader, after: r.at.Sub(f.at)})
		d.judge(r.at)
	}
}

// demoActions are what can be done to a member: in which conditions, what is said then, and how it is done.
var demoActions = map[string]struct {
	to        []condition
	done, how string
	do        func(*group, *member) error
}{
	"kill":   {[]condition{running, paused}, "killed", "SIGKILL", (*group).kill},
	"pause":  {[]condition{running}, "paused", "SIGSTOP", (*group).pause},
	"resume": {[]condition{paused}, "resumed", "SIGCONT", (*group).resume},
	"start":  {[]condition{ended}, "started", "", (*group).start},
}

// obey carries out a command of the user's.
func (d *demo) obey(line string) (quit bool, err error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return false, nil
	}
	switch words[0] {
	case "quit", "exit":
		return true, nil
	case "help":
		d.show.say("kill 5 · pause 5 · resume 5 · start 5 · status · help · quit")
		return false, nil
	case "status":
		d.show.status()
		return false, nil
	}
	action, known := demoActions[words[0]]
	if !known {
		return false, fmt.Errorf("unknown command %q; there is kill, pause, resume, start, status, help, quit", words[0])
	}
	var id int
	if len(words) == 2 {
		id, _ = strconv.Atoi(words[1])
	}
	if id < 1 || id > len(d.members) {
		return false, fmt.Errorf("%s wants one member from 1 to %d, as in %q", words[0], len(d.members), words[0]+" 1")
	}
	m := d.members[id-1]
	if !slices.Contains(action.to, m.condition) {
		is := [...]string{running: "is running", paused: "is paused: resume it", ended: "is not running: start it"}[m.condition]
		return false, fmt.Errorf("cannot %s %d, it %s", words[0], id, is)
	}
	at := time.Now()
	if err := action.do(d.group, m); err != nil {
		return false, fmt.Errorf("cannot %s %d: %w", words[0], id, err)
	}
	d.strikeMember(m, action.done, action.how, at)
	return false, nil
}

func (d *demo) strikeMember(m *member, verb, how string, at time.Time) {
	e := demoEvent{Event: verb, ID: m.id, PID: m.process.Pid, How: how}
	if verb == "started" {
		e.Listen, e.HTTP = m.listen, m.http
	}
	d.show.event(e)
	d.strike(fmt.Sprintf("%d %s", m.id, verb), at)
	d.judge(at)
}

// strike begins to measure what comes of a fault.
func (d *demo) strike(what string, at time.Time) {
	d.faults = append(d.faults, &fault{what: what, at: at, open: true})
	d.since = at
}

// judge finds out whether the running members agree, and tells if they have come to.
func (d *demo) judge(at time.Time) {
	f := d.faults[len(d.faults)-1]
	members, agreed := d.agreeing()
	if agreed && (f.open || !d.agreed) {
		still := d.agreed && at.Equal(f.at)
		d.since, f.open = at, false
		f.agreed, f.number = at.Sub(f.at), len(members)
		if highest := d.highest(); highest != nil && f.leader != highest.id {
			f.leader, f.led = highest.id, 0
		}
		d.show.event(demoEvent{Event: "agreed", Leader: f.leader, Members: members, still: still, after: f.agreed})
	} else if !agreed && d.agreed {
		d.since, f.open = at, true
	}
	d.agreed = agreed
}

// goRun matches the binaries that go run makes, to run at once or to keep in its cache.
var goRun = regexp.MustCompile(`[/\\]go-build\d+[/\\]b\d+[/\\]exe[/\\][^/\\]+$|[/\\][0-9a-f]{64}-d[/\\][^/\\]+$`)

// endWithGoRun ends the demo when the go run that started it is gone: it does not pass on what killed
// it, and whoever killed it means us.
func endWithGoRun(ctx context.Context, end func()) {
	const look = 250 * time.Millisecond
	program, err := os.Executable()
	if err != nil || !goRun.MatchString(program) {
		return
	}
	parent := os.Getppid()
	for ticker := time.NewTicker(look); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if os.Getppid() != parent {
				end()
				return
			}
		}
	}
}
