package run

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify"
)

// StepFlags are the flags that apply with --step: the schedule and the faults are the caller's choice.
var StepFlags = slices.Concat([]string{
	"step", "walk", "ids", "n", "order", "first", "seed", "param", "topology", "edges", "orientation", "ports", "votes", "scores", "priorities", "allow-duplicate-ids",
	"start", "unwilling", "timing", "delay", "dead", "leader-dead", "non-fifo", "wardens", "lazy", "clock-error", "pace", "begins", "fault", "save", "help",
}, plan.ResultNames, plan.StoryNames)

// mostGoing is the largest number of events of go or end: some elections never end.
const mostGoing = 100_000

// Walker walks a run.
type Walker struct {
	*simulate.Session
	p       *plan.Program
	e       *catalogue.Entry
	o       *Options
	options *simulate.Options
	listed  []simulate.Choice // faults, as they were listed last
}

// NewWalker prepares a walk. For lines see [simulate.Options]; nil: its record has none.
func NewWalker(p *plan.Program, command *cobra.Command, e *catalogue.Entry, o *Options, lines func(string, int) int) (*Walker, error) {
	var wrong error
	command.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(StepFlags, f.Name) {
			wrong = fmt.Errorf("--step lets you choose the next event; leave out one of --%s and --step", f.Name)
		}
	})
	if err := errors.Join(wrong, o.Check()); err != nil {
		return nil, err
	}
	s, err := o.Simulator(e, p.Stdin)
	if err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(s.Faults, faults.Script{Dead: s.Faults.Dead, Unordered: s.Faults.Unordered}) {
		return nil, errors.New("--step lets you choose the faults; give only dead processes and --non-fifo before")
	}
	if o.begins != "" {
		if s.Moment, err = plan.ReadMoment(o.begins); err != nil {
			return nil, err
		}
	}
	s.Lines, s.Pace = lines, o.pace
	session, err := e.Session(s)
	if err != nil {
		return nil, err
	}
	if err := o.LazyFlags.apply(session); err != nil {
		return nil, err
	}
	return &Walker{Session: session, p: p, e: e, o: o, options: &s}, nil
}

// walk is the study of a run that is walked: as it was saved, or as --walk and then the lines of stdin say.
type walk struct {
	*Walker
	choices []plan.SavedChoice
	asks    bool // for lines
}

// planWalk plans a walk.
func (o *Options) planWalk(p *plan.Program, command *cobra.Command, e *catalogue.Entry) (plan.Study, error) {
	choices, asks := o.replayed, o.replayed == nil && o.step
	if o.walk != "" {
		var err error
		if choices, err = plan.ReadWalk(o.walk); err != nil {
			return nil, fmt.Errorf("--walk: %w", err)
		}
	}
	if o.JSON && asks && report.IsTerminal(p.Stdin) {
		return nil, errors.New("--json prints one object, and nothing else; with --step, it takes its commands from a pipe")
	}
	w, err := NewWalker(p, command, e, o, nil)
	if err != nil {
		return nil, err
	}
	return &walk{w, choices, asks}, nil
}

// Job is that of a [plan.Study].
func (*walk) Job() (*labour.Assignment, error) { return nil, plan.ErrNoJob }

// CarryOut is that of a [plan.Study].
func (w *walk) CarryOut(ctx context.Context, _ *plan.Program, _ labour.Doer) error {
	if err := w.take(w.choices); err != nil {
		return err
	}
	if w.asks {
		if err := w.ask(ctx); err != nil {
			return err
		}
	}
	return w.put()
}

// take makes the events of a walk.
func (w *Walker) take(choices []plan.SavedChoice) error {
	for i, c := range choices {
		if err := w.Step(c.Choice()); err != nil {
			return fmt.Errorf("event %d of the walk: %w", i+1, err)
		}
	}
	return nil
}

// walkVerbs are the commands, for completion.
var walkVerbs = []string{"go ", "back ", "list", "faults", "partition ", "cut ", "transfer ", "weigh ", "state", "worst", "two-leaders", "end", "save ", "help", "quit"}

// ask executes the lines of stdin until these or ctx end. A wrong line that was typed is answered by a message; a wrong
// line from a pipe ends the walk.
func (w *Walker) ask(ctx context.Context) error {
	screen, quiet := *w.p.Printer, w.o.JSON || w.o.Draw == "-" || w.o.Topology == "-" || w.o.Trace == "-"
	if quiet {
		screen.Out = io.Discard
	}
	scanner := bufio.NewScanner(w.p.Stdin)
	read := func() (string, bool) { more := scanner.Scan(); return scanner.Text(), more }
	typed := report.IsTerminal(w.p.Stdin) && !quiet
	if editor := screen.Edit(w.p.Stdin, func(string) []string { return slices.Clone(walkVerbs) }); editor != nil {
		defer editor.Close()
		screen.Out, read = editor, editor.Line
	}
	w.offer(&screen)
	for {
		line, more := next(ctx, read)
		if !more {
			return nil
		}
		quit, err := w.obey(ctx, &screen, strings.Fields(line))
		switch {
		case quit:
			return nil
		case err != nil && !typed:
			return err
		case err != nil:
			fmt.Fprintln(screen.Out, err)
		}
	}
}

// next reads a line. There is none after the end of ctx.
func next(ctx context.Context, read func() (string, bool)) (line string, more bool) {
	lines := make(chan string, 1)
	go func() {
		defer close(lines)
		if line, more := read(); more {
			lines <- line
		}
	}()
	select {
	case line, more = <-lines:
	case <-ctx.Done():
	}
	return line, more
}

// obey carries out a command. It reports whether that was the last.
func (w *Walker) obey(ctx context.Context, p *report.Printer, line []string) (quit bool, err error) {
	verb, argument := "go", ""
	if len(line) > 0 {
		verb = line[0]
	}
	if len(line) > 1 {
		argument = line[1]
	}
	switch verb {
	case "quit", "exit":
		return true, nil
	case "help":
		fmt.Fprintln(p.Out, "empty line or go N · N or fN, to choose · back N · list · faults · state · end · save FILE · quit")
		fmt.Fprintln(p.Out, "worst, for the most messages from here · two-leaders, for a way to two leaders from here")
		fmt.Fprintln(p.Out, "partition 1,2 | 3 · cut 1 -> 2 · transfer 3 to 2 · weigh 3 as 7")
	case "list":
		w.offer(p)
	case "faults":
		w.listed = w.Faults()
		for i, c := range w.listed {
			fmt.Fprintf(p.Out, "  f%-3d %s\n", i+1, w.Text(c))
		}
	case "state":
		w.states(p)
	case "worst", "two-leaders":
		return false, w.look(ctx, p, Goals[verb])
	case "end":
		return false, w.goOn(p, mostGoing)
	case "go", "back":
		return false, w.move(p, verb, argument)
	case "save":
		return false, w.save(argument)
	case "partition", "cut", "transfer", "weigh":
		return false, w.say(p, strings.Join(line, " "))
	default:
		return false, w.choose(p, verb)
	}
	return false, nil
}

// move goes the given number of events on or back, one by default.
func (w *Walker) move(p *report.Printer, verb, argument string) error {
	count := 1
	if argument != "" {
		var err error
		if count, err = strconv.Atoi(argument); err != nil || count < 1 {
			return fmt.Errorf("%s wants a number of events, such as %[1]s 3, not %q", verb, argument)
		}
	}
	if verb == "go" {
		return w.goOn(p, count)
	}
	for range count {
		if !w.Back() {
			return errors.New("this is the beginning; there is no event to undo")
		}
	}
	w.offer(p)
	return nil
}

// choose makes the event that a number, or f and a number, names.
func (w *Walker) choose(p *report.Printer, word string) error {
	from, of := w.Choices(), "event"
	number, isFault := strings.CutPrefix(word, "f")
	if isFault {
		from, of = w.listed, "fault"
	}
	k, err := strconv.Atoi(number)
	switch {
	case err != nil:
		return fmt.Errorf("unknown command %q; help lists them", word)
	case k < 1 || k > len(from):
		return fmt.Errorf("no %s is listed as %s; list and faults list the choices", of, word)
	}
	return w.chosen(p, from[k-1])
}

// Said returns the events that a line describes: a cut without times, or a command as --command has it, without its time.
func (w *Walker) Said(line string) (all []simulate.Choice, err error) {
	if verb, _, _ := strings.Cut(line, " "); verb != "transfer" && verb != "weigh" {
		c, err := w.Cut(line)
		return []simulate.Choice{c}, err
	}
	commands, err := plan.HostCommands(w.options.Setup, line+" at 0")
	if err != nil {
		return nil, fmt.Errorf("%s: it is transfer 3 to 2, or weigh 3 as 7", option.Excerpt(line))
	}
	for _, c := range commands {
		all = append(all, simulate.Choice{What: simulate.Ask, Process: c.Process, Command: c.Command})
	}
	return all, nil
}

// say makes the events that a line describes.
func (w *Walker) say(p *report.Printer, line string) error {
	choices, err := w.Said(line)
	if err != nil {
		return err
	}
	for _, c := range choices {
		if err := w.chosen(p, c); err != nil {
			return err
		}
	}
	return nil
}

// chosen makes an event, and lists what can come next.
func (w *Walker) chosen(p *report.Printer, c simulate.Choice) error {
	if err := w.make(p, c); err != nil {
		return err
	}
	w.offer(p)
	return nil
}

// goOn makes count times the first event that can come next.
func (w *Walker) goOn(p *report.Printer, count int) error {
	if len(w.Choices()) == 0 && count < mostGoing {
		return errors.New("the run is quiescent: only faults are possible")
	}
	for range count {
		all := w.Choices()
		if len(all) == 0 {
			break
		}
		if err := w.make(p, all[0]); err != nil {
			return err
		}
	}
	w.offer(p)
	return nil
}

// look asks the checker what can follow without further faults, and makes the events that it finds.
func (w *Walker) look(ctx context.Context, p *report.Printer, goal verify.Goal) error {
	o, err := w.Begun()
	if err != nil {
		return err
	}
	before := len(w.Record().Steps)
	ahead, err := w.Search(ctx, o, goal)
	if err != nil {
		return err
	}
	w.listed = nil
	if err := w.tell(p, before); err != nil {
		return err
	}
	fmt.Fprintln(p.Out, Told(ahead, goal))
	w.offer(p)
	return nil
}

// make makes an event and prints its effects.
func (w *Walker) make(p *report.Printer, c simulate.Choice) error {
	before := len(w.Record().Steps)
	if err := w.Step(c); err != nil {
		return err
	}
	w.listed = nil
	if len(w.Record().Steps) == before {
		if c.What == simulate.Pass {
			return nil
		}
		_, err := fmt.Fprintln(p.Out, w.Text(c))
		return err
	}
	return w.tell(p, before)
}

// tell prints the steps after a number of them.
func (w *Walker) tell(p *report.Printer, before int) error {
	if len(w.Record().Steps) == before {
		return nil
	}
	return p.Fit(func(p *report.Printer) error {
		return w.Record().Tell(p.Out, trace.Telling{After: before, Width: p.Width(), State: w.o.State})
	})
}

// offer lists what can come next.
func (w *Walker) offer(p *report.Printer) {
	all := w.Choices()
	if len(all) == 0 {
		fmt.Fprintln(p.Out, "  quiescent: only faults are possible")
	}
	const shown = 20
	for i, c := range all[:min(len(all), shown)] {
		fmt.Fprintf(p.Out, "  %-4d %s\n", i+1, w.Text(c))
	}
	if len(all) > shown {
		fmt.Fprintf(p.Out, "  … %d more\n", len(all)-shown)
	}
}

// states prints the state of each process.
func (w *Walker) states(p *report.Printer) {
	prepared := w.Result().Prepared
	for q := range prepared.Size() {
		fmt.Fprintf(p.Out, "  %s: %s\n", prepared.Name(q), w.State(q))
	}
}

// save saves the walk.
func (w *Walker) save(path string) error {
	if path == "" || path == "-" {
		return errors.New("a walk is saved in a file for replay, such as save walk.json")
	}
	return w.p.ToFile(path, w.saved().Put)
}

// saved returns the walk, for a file.
func (w *Walker) saved() plan.SavedRun {
	saved := w.o.saved(w.e, w.options, w.Result().Prepared)
	saved.Choices = plan.SavedChoices(w.Session)
	return saved
}

// put saves the walk on request, and prints its result.
func (w *Walker) put() (err error) {
	if w.o.save != "" {
		if err := w.save(w.o.save); err != nil {
			return err
		}
	}
	found, err := w.Found()
	if err != nil {
		return err
	}
	f := &plan.Finding{Results: []report.Result{found}, Record: found.Record, Page: func() (plan.SavedRun, error) { return w.saved(), nil }}
	if err := w.o.Put(w.p, f); err != nil {
		return err
	}
	switch {
	case w.options.Moment != nil && len(found.Faults) > 0:
		return report.ErrNo
	case w.options.Moment != nil: // it is a part of a run
		return nil
	case len(found.Faults) > 0 || report.Usurped(found.Prepared.Declaration(), &found.Outcome):
		return report.ErrNo
	case !found.Complete:
		return report.Stopped("stopped after %s, before the end", amount.Of(len(w.Made()), "event"))
	case !found.Right:
		return report.ErrNo
	}
	return nil
}

// Found returns the result of the walk so far.
func (w *Walker) Found() (found *report.Run, err error) {
	found = &report.Run{Subject: w.o.Subject(w.e), Options: w.options, Result: w.Result(), Walked: true}
	found.Replay = func(lines []string) string {
		call := w.o.Replay(w.e, lines)
		if w.options.Moment != nil || w.o.walk != "" {
			return call
		}
		return strings.Replace(call, " --step", "", 1) + " --walk " + report.ShellWord(plan.WalkText(plan.SavedChoices(w.Session)))
	}
	found.Told, err = w.o.Telling(w.options.Setup, w.o.Window())
	return found, err
}
