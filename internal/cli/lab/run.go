package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/cli/run"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// runQuestion is a run, as a saved one, and what is to be made of it.
type runQuestion struct {
	Run     []string           `json:"run"`
	Choices []plan.SavedChoice `json:"choices"` // nil: the run has a schedule

	Walk  bool               `json:"walk"`  // turn it into a walk
	Until *int               `json:"until"` // … of its first so many steps
	Then  []plan.SavedChoice `json:"then"`  // further events of a walk
	Say   string             `json:"say"`   // then those of this line: partition 1,2 | 3 or transfer 3 to 2
	Go    int                `json:"go"`    // then that many times the first event that can come next

	plain bool // steps do not name lines
}

// check returns an error for a question that contradicts itself, or asks for too much.
func (q *runQuestion) check() error {
	switch {
	case q.Go < 0 || q.Until != nil && *q.Until < 0:
		return errors.New("go and until are not negative")
	case q.Go > mostLabEvents || len(q.Choices)+len(q.Then)+q.Go > mostLabEvents:
		return fmt.Errorf("a walk of the lab has at most %d events", mostLabEvents)
	case q.Choices == nil && !q.Walk && (q.Then != nil || q.Say != "" || q.Go > 0 || q.Until != nil):
		return errors.New("then, say, go and until are for walks")
	}
	return nil
}

// long reports whether the steps of a walk that begins with so many events do not name lines: to find these takes longer than the walk.
func (q *runQuestion) long(events int) bool { return events+len(q.Then)+q.Go > mostLabLined }

// labRun is a run that the lab has made.
type labRun struct {
	*labStart
	record  *trace.Record
	states  []string    // by position, before the first step
	lasting []string    // the faults from the start of a run with a schedule, as lines
	walk    *run.Walker // nil: the run has a schedule
	choices []plan.SavedChoice
	result  any      // as run --json prints it
	entered []uint64 // the candidates that begin each phase
}

func (l *laboratory) run(ctx context.Context, a asked) (any, error) {
	var question runQuestion
	if err := a.read(&question); err != nil {
		return nil, err
	}
	r, err := l.make(ctx, &question, a.progress)
	if err != nil {
		return nil, err
	}
	return r.answer()
}

// make makes the run of a question.
func (l *laboratory) make(ctx context.Context, q *runQuestion, progress func(string)) (*labRun, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	plain := q.plain || q.long(len(q.Choices)) || q.Walk && q.Choices == nil // then the walk has the lines
	start, err := l.begin(q.Run, plain, progress)
	if err != nil {
		return nil, err
	}
	if q.Choices == nil {
		r, err := start.scheduled(ctx)
		if err != nil || !q.Walk {
			return r, err
		}
		return l.follow(ctx, r, q, progress)
	}
	r, err := start.walking()
	if err != nil {
		return nil, err
	}
	return r, r.walkOn(ctx, slices.Concat(q.Choices, q.Then), q)
}

// labStart is a run before its first event.
type labStart struct {
	*plan.Program
	command *cobra.Command
	o       *run.Options
	e       *catalogue.Entry
	words   []string              // the algorithm or exhibit, and flags as --name=value
	lines   func(string, int) int // see [simulate.Options]; nil: steps do not name lines
}

// begin reads the words of a saved run.
func (l *laboratory) begin(words []string, plain bool, progress func(string)) (*labStart, error) {
	b := &labStart{Program: l.program(progress), words: words}
	command, o := run.New(b.Program)
	b.command, b.o = command.Command, o
	o.Ceiling = labCeiling
	saved := plan.SavedRun{Run: words}
	if err := saved.Check(b.command.Flags()); err != nil {
		return nil, fmt.Errorf("this is no run: %w", err)
	}
	if err := run.Parsed(b.Program, b.command, &saved); err != nil {
		return nil, option.Explain(b.command, err)
	}
	if err := errors.Join(option.Spell(b.command), option.NoneEmpty(b.command)); err != nil {
		return nil, err
	}
	var err error
	if b.e, err = b.o.Runnable(b.Program, b.command, words[:1]); err != nil {
		return nil, err
	}
	b.e = b.o.Form(b.e)
	if e, err := l.algorithms.Find(b.e.Name); err == nil && !plain { // that of an exhibit is the whole algorithm's
		b.lines = listingOf(e).number
	}
	return b, fits(b.e, b.o.Size())
}

// fits returns an error for more processes than the lab records.
func fits(e *catalogue.Entry, n int) error {
	if most := mostLabRun.of(meshed(e)); n > most {
		return fmt.Errorf("the lab shows at most %d processes of a %s; the command line has no such limit", most, e.Topology.Phrase(0))
	}
	return nil
}

// scheduled makes a run with a schedule.
func (b *labStart) scheduled(ctx context.Context) (*labRun, error) {
	if err := b.o.LazyFlags.Unused(b.command); err != nil {
		return nil, err
	}
	if b.o.Anonymous {
		return nil, errors.New("a run in lock-step has no steps of single processes to show; leave out --anonymous")
	}
	s, err := b.o.Simulator(b.e, b.Stdin)
	if err != nil {
		return nil, err
	}
	s.Record = true
	if s.Limit == 0 || s.Limit > mostLabEvents {
		s.Limit = mostLabEvents
	}
	r := &labRun{labStart: b}
	if before, err := b.e.Session(simulate.Options{Setup: s.Setup}); err == nil {
		r.begins(before)
	}
	found, err := run.Elect(ctx, b.Program, b.e, b.o, &s)
	if b.lines != nil && err == nil && len(found.Record.Steps) <= mostLabLined {
		s.Lines = b.lines
		found, err = run.Elect(ctx, b.Program, b.e, b.o, &s)
	}
	if broken := new(simulate.Violation); errors.As(err, &broken) && broken.Record != nil {
		prepared, err := network.Prepare(b.e.Declaration, s.Setup)
		if err != nil {
			return nil, err
		}
		r.judged(broken.Record, &report.Broken{Subject: b.o.Subject(b.e), Prepared: prepared, Violation: broken})
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	script := faults.Script{Dead: s.Faults.Dead, Unordered: s.Faults.Unordered}
	r.lasting, r.entered = script.Lines(found.Prepared), found.Entered
	r.judged(found.Record, found)
	return r, nil
}

// begins notes the states before the first event.
func (r *labRun) begins(s *simulate.Session) {
	for q := range s.Size() {
		r.states = append(r.states, s.State(q))
	}
}

// judged notes a record and its result.
func (r *labRun) judged(record *trace.Record, result report.Result) {
	r.record, r.result = record, r.Headed(result)
}

// walking begins a walk.
func (b *labStart) walking() (*labRun, error) {
	w, err := run.NewWalker(b.Program, b.command, b.e, b.o, b.lines)
	if err != nil {
		return nil, err
	}
	w.Forget()
	r := &labRun{labStart: b, walk: w}
	r.begins(w.Session)
	return r, nil
}

// walkOn makes the events of a walk, then those of the question, and then as many further events as it asks for: each is the
// first that can come next. It judges the walk.
func (r *labRun) walkOn(ctx context.Context, choices []plan.SavedChoice, q *runQuestion) error {
	w, seen, size := r.walk, 0, 0
	step := func(c simulate.Choice) error {
		if err := w.Step(c); err != nil {
			return fmt.Errorf("event %d of the walk: %w", len(w.Made())+1, err)
		}
		for steps := w.Record().Steps; seen < len(steps); seen++ {
			size += steps[seen].Bytes()
		}
		if size > mostLabRecord {
			return fmt.Errorf("the record of this walk takes more than %d MiB, which is more than the lab shows", mostLabRecord>>20)
		}
		return ctx.Err()
	}
	for _, c := range choices {
		if err := step(c.Choice()); err != nil {
			return err
		}
	}
	if q.Say != "" {
		said, err := w.Said(q.Say)
		if err != nil {
			return err
		}
		for _, c := range said {
			if err := step(c); err != nil {
				return err
			}
		}
	}
	for range q.Go {
		all := w.Choices()
		if len(all) == 0 {
			break
		}
		if err := step(all[0]); err != nil {
			return err
		}
	}
	r.choices = plan.SavedChoices(w.Session)
	r.Command = r.call()
	found, err := w.Found()
	if err != nil {
		return err
	}
	r.entered = found.Entered
	r.judged(found.Record, found)
	return nil
}

// mostWalkText is the longest text of a walk in a command: shells and systems have limits.
const mostWalkText = 30_000

// call returns the command that makes the walk. One that is too long for a command is saved in a file first.
func (r *labRun) call() string {
	text := plan.WalkText(r.choices)
	switch {
	case text == "":
		return r.Command + " --step"
	case len(text) > mostWalkText:
		return r.Name + " replay walk.json"
	}
	return r.Command + " --walk " + report.ShellWord(text)
}

// follow turns a run with a schedule into a walk of its first steps, and continues it.
func (l *laboratory) follow(ctx context.Context, scheduled *labRun, q *runQuestion, progress func(string)) (*labRun, error) {
	steps := len(scheduled.record.Steps)
	if q.Until != nil {
		steps = min(steps, *q.Until)
	}
	cannot := func(err error) (*labRun, error) {
		return nil, fmt.Errorf("this run cannot become a walk: %w", err)
	}
	start, err := l.begin(scheduled.walkable(), q.plain || q.long(steps), progress)
	if err != nil {
		return cannot(err)
	}
	r, err := start.walking()
	if err != nil {
		return cannot(err)
	}
	if err := r.walk.FollowFirst(scheduled.record, steps, func() bool { return ctx.Err() == nil }); err != nil {
		return cannot(err)
	}
	return r, r.walkOn(ctx, q.Then, q)
}

// walkable returns the words of a walk on the network of a run with a schedule: without the schedule, and of the faults only those
// from the start.
func (r *labRun) walkable() []string {
	var without []string
	r.o.Of.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(run.StepFlags, f.Name) || slices.Contains(plan.FaultNames, f.Name) || slices.Contains(plan.Unsaved, f.Name) {
			without = append(without, f.Name)
		}
	})
	kept := append([]string{r.words[0]}, plan.Words(r.o.Of, without)...)
	for _, line := range r.lasting {
		kept = append(kept, "--fault="+line)
	}
	return kept
}
