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
	"syscall"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/show/report"
)

const (
	// settling is how long the members must have agreed before the next scripted command: longer than a suspicion
	// takes, so that the effects of a fault are visible.
	settling = 600 * time.Millisecond
	// patience is how long they may disagree before the election counts as failed.
	patience = 30 * time.Second
	// hesitation is how long a leader may take to hand over before it counts as one that refuses.
	hesitation = 3 * time.Second
	// suspicion is the suspicion timeout of the members. With Bully, which has no quorum, it is the longest time for
	// which two of them may be leaders at once while no link is cut: a leader remains leader until it hears of the member
	// that has taken over, and it hears of it before its silence would be noticed.
	suspicion = 400 * time.Millisecond

	// delayed is how long messages of a slow member take.
	delayed = 30 * time.Millisecond

	// MostMembers is the largest number of members of a demo. There is a link for each ordered pair.
	MostMembers = 20
)

// Options are the options of a demo.
type Options struct {
	Members   int    // from 1 to [MostMembers]
	Scenario  string // one of [Scenarios], or "": commands come from stdin
	Algorithm ringleader.Algorithm
	Lease     time.Duration // of the members; 0: as join has it
	Lasting   time.Duration // it ends by itself after this time; 0: it does not
	JSON      bool          // events are printed as JSON lines
	Stage     *Stage        // where it is shown, too, and takes commands; nil: nowhere
}

// scenarios are commands, in order. The one named last is the last.
var scenarios = map[string]func(members int) []string{
	"crash":     func(int) []string { return []string{"kill leader", "start last"} },
	"partition": func(int) []string { return []string{"cut leader | rest", "heal"} },
	"pause":     func(int) []string { return []string{"pause leader", "resume last"} },
	"rolling": func(members int) (all []string) {
		for id := range members {
			all = append(all, fmt.Sprintf("restart %d", id+1))
		}
		return all
	},
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

	begun := time.Now()
	o.Stage.begin(begun)
	g, err := newGroup(o.Members, o.Algorithm, o.Lease)
	if err != nil {
		return report.Failed("cannot start the demo: %w", err)
	}
	defer func() {
		if closed := g.close(); err == nil && closed != nil {
			err = report.Failed("cannot clean up after the demo: %w", closed)
		}
	}()
	show := &display{
		stdout: p.Out, stderr: p.Err, json: o.JSON, paint: p.Paint(), columns: p.Width(), group: g, begun: begun, stage: o.Stage,
	}
	in, restore := newInput(p, stdin, o, show)
	defer restore()
	in.silent = in.silent || o.Stage != nil
	show.hints = in.prompt && !o.JSON
	d := &demo{group: g, show: show, stage: o.Stage}
	o.Stage.within(g.folder)
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
	d.show.summary(held, d.interrupted, d.faults, d.rivalries, d.rivals)
	if !held {
		g.kept = true
		p.Complain("why the leader changed: ringleader explain " + g.folder)
		return report.ErrNo
	}
	return nil
}

// verdict reports whether the demo has passed. Who ends it while the members elect has not waited for them: that is no failure.
func (d *demo) verdict() bool {
	return (d.agreed || d.interrupted) && !d.failed && longest(d.rivalries) <= d.tolerated()
}

// tolerated is for how long two members may be leaders at once.
func (g *group) tolerated() time.Duration {
	if g.algorithm == ringleader.Bully {
		return suspicion
	}
	return 0
}

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
	silent bool          // its end does not end the demo: none came so far, and perhaps none ever will, or a stage has others
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
			for _, line := range scenarios[o.Scenario](o.Members) {
				lines <- line
			}
		}()
		return input{lines: lines}, restore
	}
	if !o.JSON {
		if editor := p.Edit(stdin, func(line string) []string { return completions(line, len(show.group.members)) }); editor != nil {
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

// demo is a running demonstration. One goroutine owns it.
type demo struct {
	*group
	show   *display
	stage  *Stage   // nil: it has none
	faults []*fault // the start is the first

	agreed bool      // all running members, on the highest of them
	since  time.Time // when they came to agree, or ceased to
	failed bool      // they disagreed for longer than patience, or a member failed by itself

	ordered     bool // the leader was told to hand over, and no member has another role since
	interrupted bool // the demo was ended while they disagreed, and not for longer than patience

	reigns    []reign         // that have ended since the members agreed last
	rivalries []time.Duration // for how long two members were leaders at once

	split  bool          // a link is or was cut since the members agreed without a cut
	rivals time.Duration // for how long Bully had two leaders because of that, at most

	last    *member   // that a command named last
	renewed time.Time // a lease that runs down is shown one step later
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
		d.publish()
		quit = quit || d.failed && !in.prompt && !in.silent
		settled := d.agreed && time.Since(d.since) >= settling
		if quit && (settled || d.failed) {
			return nil
		}
		select {
		case <-ctx.Done():
			d.interrupted = !d.agreed && time.Since(d.since) < patience
			return nil
		case r := <-d.reports:
			d.hear(r)
		case <-d.deadline(settled):
			d.waited()
		case <-d.countdown():
			d.lapsing()
		case line, more := <-in.next(quit, settled):
			var err error
			if quit, err = d.line(&in, line, more, timeUp == nil); err != nil {
				return err
			}
		case r := <-d.stage.requests():
			r.answer <- d.act(r.line)
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
	case d.ordered:
		return time.After(time.Until(d.since.Add(hesitation)))
	case !d.agreed && !d.failed:
		return time.After(time.Until(d.since.Add(patience)))
	}
	return nil
}

// step is how often a lease is shown that runs down: first after twice that time, which is more than the time between
// two renewals.
const step = 80 * time.Millisecond

// waning returns the member with a lease that runs down, or nil.
func (d *demo) waning() *member {
	for _, m := range d.members {
		if !m.leads.IsZero() && m.condition != ended && time.Until(m.until) > 0 {
			return m
		}
	}
	return nil
}

// countdown returns a channel that fires when a lease that is not renewed is to be shown.
func (d *demo) countdown() <-chan time.Time {
	if d.waning() == nil {
		return nil
	}
	return time.After(time.Until(d.renewed.Add(step)))
}

// lapsing shows how a lease runs down.
func (d *demo) lapsing() {
	d.renewed = time.Now()
	if m := d.waning(); m != nil {
		d.show.event(Event{Event: "lease", ID: m.id, Term: m.term, after: time.Until(m.until)})
	}
}

// waited notes that a deadline has passed: if the members have not agreed by then, the demo has failed. A leader that has not handed over, since
// its heir was not able to lead, goes on.
func (d *demo) waited() {
	switch {
	case d.ordered:
		d.ordered = false
		_, _, d.agreed = d.agreeing()
		d.judge(d.since)
	case !d.agreed:
		d.failed = true
		d.show.event(Event{Event: "failed", How: fmt.Sprintf("no agreement within %s", patience)})
	}
}

// line takes a line of the input, or its end.
func (d *demo) line(in *input, line string, more, untimed bool) (quit bool, err error) {
	if !more {
		in.lines = nil
		return in.prompt || untimed && !in.silent, nil
	}
	in.silent = d.stage != nil
	return d.command(line, in.prompt)
}

// command obeys a line. A person is told what is wrong with it; from a pipe it ends the demo, unless it is only needless.
func (d *demo) command(line string, prompt bool) (quit bool, err error) {
	d.stage.command(line)
	quit, err = d.obey(line)
	var idle needless
	if err != nil && (prompt || errors.As(err, &idle)) {
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
	case r.warden && r.condition != ended && r.by.member != nil: // the member itself is watched
	case r.said == nil && r.condition != m.condition: // another program did this
		m.condition = r.condition
		d.failed = d.failed || r.ending.failed
		if before := d.faults[len(d.faults)-1]; before.number > 0 {
			before.open = false // they had agreed; if they do not now, this is why, and they noticed it before us
		}
		verb := [...]string{running: "resumed", paused: "paused", ended: "ended"}[r.condition]
		d.strikeMember(m, verb, r.ending.how, r.at)
	case r.said != nil && r.said.Event == "started":
		d.begun(m, r.said.PID)
		d.show.event(Event{Event: "running", ID: m.id, PID: r.said.PID})
	case r.said != nil && r.said.Event == "lease":
		m.until, m.grants, d.renewed = *r.said.Until, r.said.Grants, time.Now().Add(step)
	case r.said != nil && r.said.Event == "role":
		led := m.role == ringleader.Leader
		m.role, m.leader, m.term, m.grants = r.said.Role, r.said.Leader, 0, r.said.Grants
		if r.said.Term != nil && m.leader != 0 {
			m.term = *r.said.Term
		}
		if r.said.Until != nil {
			m.until, d.renewed = *r.said.Until, time.Now().Add(step)
		}
		d.ordered = false
		f := d.faults[len(d.faults)-1]
		d.lead(r.moment(m.leads))
		at := r.moment(f.at)
		d.show.event(Event{Event: "role", ID: m.id, Role: m.role, Leader: m.leader, Term: m.term, after: at.Sub(f.at), led: led})
		d.judge(at)
	}
}

// strike begins to measure what comes of a fault.
func (d *demo) strike(what string, at time.Time) {
	d.faults = append(d.faults, &fault{what: what, at: at, open: true})
	d.since, d.ordered = at, false
}

// goRun matches the binaries that go run makes, to run at once or to keep in its cache.
const goRun = `[/\\]go-build\d+[/\\]b\d+[/\\]exe[/\\][^/\\]+$|[/\\][0-9a-f]{64}-d[/\\][^/\\]+$`

// endWithGoRun ends the demo when the go run that started it is gone: it does not pass on what killed
// it, and the kill was meant for the demo.
func endWithGoRun(ctx context.Context, end func()) {
	const look = 250 * time.Millisecond
	program, err := os.Executable()
	if err != nil || !regexp.MustCompile(goRun).MatchString(program) {
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
