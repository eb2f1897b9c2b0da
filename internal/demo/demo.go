// Package demo supervises a group of member processes on this machine, and shows what happens to them: it starts,
// kills, pauses and resumes them, reads their output, and judges whether they agree.
package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/report"
)

const (
	// settling is how long the members must have agreed before the next scripted command: longer than a suspicion
	// takes, so that the effects of a fault are visible.
	settling = 600 * time.Millisecond
	// patience is how long they may disagree before the election counts as failed.
	patience = 30 * time.Second
	// suspicion is the suspicion timeout of the members, and the longest time for which two of them may be leaders at
	// once: Bully has no quorum, so a leader remains leader until it hears of the member that has taken over. As the
	// demo cuts no link, it hears of it before its silence would be noticed.
	suspicion = 400 * time.Millisecond

	// MostMembers is the largest number of members of a demo.
	MostMembers = 50
)

// Options are the options of a demo.
type Options struct {
	Members  int           // from 1 to [MostMembers]
	Scenario string        // one of [Scenarios], or "": commands come from stdin
	Lasting  time.Duration // it ends by itself after this time; 0: it does not
	JSON     bool          // events are printed as JSON lines
}

// scenarios are the commands for the first leader, in order.
var scenarios = map[string][]string{
	"crash": {"kill", "start"},
	"pause": {"pause", "resume"},
}

// Scenarios returns the names of the scenarios.
func Scenarios() []string { return slices.Sorted(maps.Keys(scenarios)) }

// Run starts the members, shows what happens to them and obeys the commands of stdin or of the scenario, until all of
// these are done or ctx is. It returns [report.ErrNo] if the members did not agree, or if two of them were leaders at
// once for longer than a takeover takes.
func Run(ctx context.Context, p *report.Printer, stdin io.Reader, o Options) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go endWithGoRun(ctx, cancel)
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		var stop func()
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP) // the terminal is closed
		defer stop()
	}

	g, err := newGroup(o.Members)
	if err != nil {
		return report.Failed("cannot start the demo: %w", err)
	}
	defer func() {
		if closed := g.close(); err == nil && closed != nil {
			err = report.Failed("cannot clean up after the demo: %w", closed)
		}
	}()
	show := &display{
		stdout: p.Out, stderr: p.Err, json: o.JSON, paint: p.Paint(), columns: p.Width(), members: g.members, begun: time.Now(),
	}
	in, restore := newInput(p, stdin, o, show)
	defer restore()
	show.hints = in.prompt && !o.JSON
	d := &demo{group: g, show: show}
	if o.JSON {
		if err := p.JSON(p.Header()); err != nil {
			return err
		}
	}
	if err := d.start(); err != nil {
		return err
	}
	if err := d.run(ctx, in, o); err != nil {
		return err
	}
	held := d.verdict()
	d.show.summary(held, d.faults, d.rivalries)
	if !held {
		return report.ErrNo
	}
	return nil
}

// verdict reports whether the demo has passed.
func (d *demo) verdict() bool { return d.agreed && !d.failed && longest(d.rivalries) <= suspicion }

// longest returns the longest of some durations, or 0.
func longest(all []time.Duration) (most time.Duration) {
	for _, d := range all {
		most = max(most, d)
	}
	return most
}

// input is the source of the demo's commands.
type input struct {
	lines  <-chan string // closed at the end
	prompt bool          // a person types them; if not, each waits until the members have settled
	silent bool          // none came so far, and perhaps none ever will
}

// next returns where the next command comes from: nil while none is to be obeyed.
func (i input) next(quit, settled bool) <-chan string {
	if quit || !i.prompt && !settled {
		return nil
	}
	return i.lines
}

// newInput takes commands from the scenario, or from stdin; from a person on a terminal with a line editor, which the
// display then writes to. Restore ends that.
func newInput(p *report.Printer, stdin io.Reader, o Options, show *display) (in input, restore func()) {
	lines, restore := make(chan string), func() {}
	if o.Scenario != "" {
		go func() {
			defer close(lines)
			for _, verb := range scenarios[o.Scenario] {
				lines <- fmt.Sprintf("%s %d", verb, o.Members)
			}
		}()
		return input{lines: lines}, restore
	}
	if !o.JSON {
		if editor := p.Edit(stdin, func(line string) []string { return completions(line, len(show.members)) }); editor != nil {
			show.stdout = editor
			go func() {
				defer close(lines)
				for line, more := editor.Line(); more; line, more = editor.Line() {
					lines <- line
				}
			}()
			return input{lines: lines, prompt: true}, func() { _ = editor.Close() }
		}
	}
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(stdin); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	prompt := report.IsTerminal(stdin)
	return input{lines: lines, prompt: prompt, silent: !prompt}, restore
}

// verbs are the commands, for completion.
var verbs = []string{"kill ", "pause ", "resume ", "start ", "restart ", "status", "help", "quit"}

// completions returns the lines that a command may become.
func completions(line string, members int) []string {
	verb, _, named := strings.Cut(line, " ")
	if !named {
		return slices.Clone(verbs)
	}
	choices := []string{verb + " leader"}
	for id := range members {
		choices = append(choices, fmt.Sprintf("%s %d", verb, id+1))
	}
	return choices
}

// demo is a running demonstration. One goroutine owns it.
type demo struct {
	*group
	show   *display
	faults []*fault // the start is the first

	agreed bool      // all running members, on the highest of them
	since  time.Time // when they came to agree, or ceased to
	failed bool      // they disagreed for longer than patience, or a member failed by itself

	reigns    []reign         // that have ended since the members agreed last
	rivalries []time.Duration // for how long two members were leaders at once
}

// reign is a time for which a member was leader.
type reign struct {
	id          uint64
	from, until time.Time
}

// fault is a command's effect on the group, with its times.
type fault struct {
	what   string // such as "5 killed"
	at     time.Time
	open   bool          // the members have not agreed since
	leader uint64        // the leader on which they agreed
	led    time.Duration // from the fault until it became leader; 0 if it was leader before
	agreed time.Duration // from the fault until the last member agreed
	number int           // of members that agreed
}

func (d *demo) start() error {
	d.strike("start", d.show.begun)
	for _, m := range d.members {
		if err := d.group.start(m); err != nil {
			return report.Failed("cannot start member %d: %w", m.id, err)
		}
	}
	d.show.heading()
	return nil
}

// run hears the members and obeys the commands until the demo is to end.
func (d *demo) run(ctx context.Context, in input, o Options) error {
	var timeUp <-chan time.Time
	if o.Lasting > 0 {
		timeUp = time.After(o.Lasting)
	}
	for quit := false; ; {
		quit = quit || d.failed && !in.prompt && !in.silent
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
		case line, more := <-in.next(quit, settled):
			if !more {
				in.lines = nil
				quit = in.prompt || timeUp == nil && !in.silent
				break
			}
			in.silent = false
			var err error
			if quit, err = d.command(line, in.prompt); err != nil {
				return err
			}
		case <-timeUp:
			timeUp = nil
			quit = o.Scenario == "" || in.lines == nil
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
		d.show.event(Event{Event: "failed", How: fmt.Sprintf("no agreement within %s", patience)})
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

// hear takes a member's output, or its change of condition.
func (d *demo) hear(r news) {
	m := r.of
	if r.by != m.process || m.condition == ended {
		return // of an earlier life, or known already
	}
	switch {
	case r.said == nil && r.condition != m.condition: // another program did this
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
		at := r.moment(f.at)
		d.show.event(Event{Event: "role", ID: m.id, Role: m.role, Leader: m.leader, after: at.Sub(f.at)})
		d.judge(at)
	}
}

// actions are the commands for a member: the valid conditions, the message, and the action.
var actions = map[string]struct {
	to        []condition
	done, how string
	do        func(*group, *member) error
}{
	"kill":    {[]condition{running, paused}, "killed", "SIGKILL", (*group).kill},
	"pause":   {[]condition{running}, "paused", "SIGSTOP", (*group).pause},
	"resume":  {[]condition{paused}, "resumed", "SIGCONT", (*group).resume},
	"start":   {[]condition{ended}, "started", "", (*group).start},
	"restart": {[]condition{running, paused, ended}, "restarted", "", (*group).restart},
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
		d.show.say("kill 5 · pause 5 · resume 5 · start 5 · restart 5 · status · help · quit; leader: the current leader")
		return false, nil
	case "status":
		d.show.status()
		return false, nil
	}
	action, known := actions[words[0]]
	if !known {
		return false, fmt.Errorf("unknown command %q; choose one of kill, pause, resume, start, restart, status, help, quit", words[0])
	}
	var id int
	if len(words) == 2 && words[1] == "leader" {
		leaders := d.leaders()
		if len(leaders) == 0 {
			return false, errors.New("no running member is leader now")
		}
		id = int(leaders[len(leaders)-1])
	} else if len(words) == 2 {
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
	e := Event{Event: verb, ID: m.id, PID: m.process.Pid, How: how}
	if verb == "started" || verb == "restarted" {
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

// judge determines whether the running members agree, and reports a new agreement.
func (d *demo) judge(at time.Time) {
	d.lead(at)
	f := d.faults[len(d.faults)-1]
	members, agreed := d.agreeing()
	if agreed && (f.open || !d.agreed) {
		still := d.agreed && at.Equal(f.at)
		d.since, f.open = at, false
		f.agreed, f.number = at.Sub(f.at), len(members)
		highest := d.highest()
		if highest != nil {
			f.leader, f.led = highest.id, max(0, highest.leads.Sub(f.at))
		}
		d.compare(highest, at)
		d.show.event(Event{Event: "agreed", Leader: f.leader, Members: members, still: still, after: f.agreed})
	} else if !agreed && d.agreed {
		d.since, f.open = at, true
	}
	d.agreed = agreed
}

// lead notes since when, and until when, members are leaders: those that run and report that role.
func (d *demo) lead(at time.Time) {
	for _, m := range d.members {
		leads := m.condition == running && m.role == ringleader.Leader
		switch {
		case leads && m.leads.IsZero():
			m.leads = at
		case !leads && !m.leads.IsZero():
			d.reigns = append(d.reigns, reign{m.id, m.leads, at})
			m.leads = time.Time{}
		}
	}
}

// compare finds the reigns that overlapped, now that all of them but the leader's have ended, and shows them. They are
// compared only then, since news of an end may come late.
func (d *demo) compare(leader *member, at time.Time) {
	if leader != nil {
		d.reigns = append(d.reigns, reign{leader.id, leader.leads, at})
	}
	widest, found := Event{Event: "two leaders"}, 0
	for i, a := range d.reigns {
		for _, b := range d.reigns[:i] {
			overlap := earlier(a.until, b.until).Sub(later(a.from, b.from))
			if a.id == b.id || overlap <= 0 {
				continue
			}
			found++
			d.rivalries = append(d.rivalries, overlap)
			if overlap > widest.after {
				widest.Members, widest.after = []uint64{min(a.id, b.id), max(a.id, b.id)}, overlap
			}
		}
	}
	d.reigns = nil
	if found > 0 {
		widest.others = found - 1
		d.show.event(widest)
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// goRun matches the binaries that go run makes, to run at once or to keep in its cache.
var goRun = regexp.MustCompile(`[/\\]go-build\d+[/\\]b\d+[/\\]exe[/\\][^/\\]+$|[/\\][0-9a-f]{64}-d[/\\][^/\\]+$`)

// endWithGoRun ends the demo when the go run that started it is gone: it does not pass on what killed
// it, and the kill was meant for the demo.
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
