package prove

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"ringleader.example/ringleader/internal/study/logic"
)

// Verdict is what a solver has found of an obligation.
type Verdict uint8

// The verdicts. Nothing but Proved is a proof.
const (
	Unanswered Verdict = iota // the solver has ended, or was stopped
	Proved                    // the negation is unsatisfiable
	Refuted                   // it is satisfiable
	Unknown                   // the solver gave up
	TimedOut
)

func (v Verdict) String() string {
	return [...]string{"no answer", "proved", "refuted", "unknown", "timed out"}[v]
}

// Solver is a solver on this machine.
type Solver struct{ Name, Version, path string }

// Solvers are the names of those that this package can run.
var Solvers = []string{"z3", "cvc5"}

// Install says how to install them.
const Install = "on Debian and Ubuntu: apt-get install z3 cvc5"

// Find returns the solver of a name. The error is [exec.ErrNotFound] if it is not installed.
func Find(ctx context.Context, name string) (*Solver, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return nil, fmt.Errorf("%s is not installed (%s): %w", name, Install, exec.ErrNotFound)
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	asked, said := command(ctx, path, "--version"), &beginning{}
	asked.Stdout = said
	err = asked.Run()
	version := regexp.MustCompile(`version (\d[\w.]*)`).FindSubmatch(said.text)
	if err != nil || version == nil {
		return nil, fmt.Errorf("%s does not tell its version", path)
	}
	return &Solver{name, string(version[1]), path}, nil
}

// beginning keeps the first bytes that are written to it, and takes no more.
type beginning struct{ text []byte }

func (b *beginning) Write(more []byte) (int, error) {
	const most = 1 << 16
	if len(b.text)+len(more) > most {
		return 0, io.ErrShortWrite
	}
	b.text = append(b.text, more...)
	return len(more), nil
}

// command returns a command that ends with its context, whatever it has started.
func command(ctx context.Context, path string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, path, args...)
	c.WaitDelay = time.Second // for pipes that another process holds open
	grouped(c)
	return c
}

// Answer is what a solver has found of one obligation, and the time that it took on the wall.
type Answer struct {
	Verdict Verdict
	Time    time.Duration
}

// Result is what a solver has found of a plan.
type Result struct {
	*Solver
	Answers []Answer      // by obligation
	Used    time.Duration // of processors
	heard   bool          // it has answered something
	killed  int           // processes that did not end in time
}

// Proved returns how many obligations are proved, without the first of the plan.
func (r *Result) Proved() (count int) {
	for _, a := range r.Answers[1:] {
		if a.Verdict == Proved {
			count++
		}
	}
	return count
}

// Contradiction reports whether the solver has found that the axioms contradict each other.
func (r *Result) Contradiction() bool { return r.Answers[0].Verdict == Proved }

const (
	patience = 20 * time.Second // how long a solver may take for its version, until it is killed
	atAxioms = 2 * time.Second  // how long it looks for a contradiction
)

// Options are how obligations are tried.
type Options struct {
	Limit    time.Duration  // for an obligation, on the wall
	Patience time.Duration  // beyond the limit, until the solver is killed; 0: 20 s, or 2 s with Once
	Work     int            // for an obligation, in units of the solver that do not depend on the machine; 0: any
	First    bool           // stop at the first that is not proved
	Once     bool           // what is not proved is not tried in another way
	Progress func(done int) // called after each answer, unless nil
}

// Prove asks a solver for each obligation. What it does not prove is tried a second time in another way. Where ctx ends first, the other
// obligations are unanswered.
func (s *Solver) Prove(ctx context.Context, p *Plan, o Options) (*Result, error) {
	r := &Result{Solver: s, Answers: make([]Answer, len(p.Obligations))}
	axioms := o
	axioms.Limit = min(o.Limit, atAxioms)
	if _, err := s.run(ctx, r, p, []int{0}, true, axioms); err != nil {
		return r, err
	}
	rest := make([]int, p.Proved())
	for i := range rest {
		rest[i] = i + 1
	}
	for len(rest) > 0 && ctx.Err() == nil {
		batch := rest
		if s.Name == "cvc5" { // it takes half of the time without --incremental
			batch = rest[:1]
		}
		answered, err := s.run(ctx, r, p, batch, p.Model.Search, o)
		if err != nil {
			return r, err
		}
		answered = max(1, answered) // a solver that has ended has no answer to the next one
		for _, i := range rest[:answered] {
			if first := r.Answers[i]; first.Verdict != Proved && first.Verdict != Refuted && !o.Once && ctx.Err() == nil {
				if _, err := s.run(ctx, r, p, []int{i}, !p.Model.Search, o); err != nil {
					return r, err
				}
				if second := r.Answers[i]; second.Verdict != Proved {
					r.Answers[i] = first
				}
			}
			if o.First && r.Answers[i].Verdict != Proved {
				return r, nil
			}
		}
		rest = rest[answered:]
	}
	return r, nil
}

// arguments returns the arguments and the first lines of a script. With search a solver looks for instances of formulas without patterns.
func (s *Solver) arguments(search bool, o Options) (args []string, options string) {
	milliseconds := strconv.FormatInt(max(1, o.Limit.Milliseconds()), 10)
	if s.Name == "z3" {
		options = fmt.Sprintf("(set-option :timeout %s)\n(set-option :auto_config false)\n(set-option :smt.mbqi %v)\n", milliseconds, search)
		if o.Work > 0 {
			options += fmt.Sprintf("(set-option :rlimit %d)\n", o.Work)
		}
		return []string{"-in", "-smt2"}, options
	}
	args = []string{"--lang=smt2", "--tlimit-per=" + milliseconds}
	if o.Work > 0 {
		args = append(args, fmt.Sprintf("--rlimit-per=%d", o.Work))
	}
	if search {
		args = append(args, "--full-saturate-quant")
	}
	return args, ""
}

// patience returns how long a solver may take beyond its limit.
func (o *Options) patience() time.Duration {
	switch {
	case o.Patience > 0:
		return o.Patience
	case o.Once:
		return atAxioms
	}
	return patience
}

// mark is what a solver repeats after its answer to an obligation, so that no answer is taken for that to another one.
func mark(number int) string { return fmt.Sprintf("obligation %d", number) }

// questions returns some obligations as they are told to a solver.
func (p *Plan) questions(numbers []int) string {
	var b strings.Builder
	b.WriteString(p.preamble())
	for _, number := range numbers {
		text := fmt.Sprintf("%s(check-sat)\n(echo \"%s\")\n", p.body(number), mark(number))
		if len(numbers) > 1 {
			text = "(push 1)\n" + text + "(pop 1)\n"
		}
		b.WriteString(text)
	}
	return b.String()
}

// run asks one process for some obligations, and returns how many have an answer.
func (s *Solver) run(ctx context.Context, r *Result, p *Plan, numbers []int, search bool, o Options) (answered int, err error) {
	args, options := s.arguments(search, o)
	outer := ctx
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	process := command(ctx, s.path, args...)
	process.Stdin = strings.NewReader(options + p.questions(numbers))
	out, err := process.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := process.Start(); err != nil {
		return 0, err
	}
	context.AfterFunc(ctx, func() { _ = out.Close() }) // a process that has left the group may hold it open: Scan would wait for that
	waits := o.Limit + o.patience()
	guard := time.AfterFunc(waits, stop)
	defer guard.Stop()
	defer func() {
		stop()
		_ = process.Wait() // it may have been stopped, or may not like its last obligation
		r.Used += process.ProcessState.UserTime() + process.ProcessState.SystemTime()
	}()
	last, lines := time.Now(), bufio.NewScanner(out)
	for answered < len(numbers) && lines.Scan() {
		number, took := numbers[answered], time.Since(last)
		if canceled().MatchString(lines.Text()) { // what z3 is told next would be about other assertions than it is meant for
			r.Answers[number] = Answer{TimedOut, took}
			return answered + 1, nil
		}
		verdict, err := verdictOf(lines, number)
		if err != nil {
			return answered, fmt.Errorf("%s %s %w", s.Name, s.Version, err)
		}
		if verdict == Unanswered {
			break
		}
		if verdict == Unknown && took >= o.Limit*9/10 {
			verdict = TimedOut
		}
		r.Answers[number], r.heard = Answer{verdict, took}, true
		answered++
		if o.First && verdict != Proved && numbers[0] > 0 {
			break
		}
		if o.Progress != nil {
			o.Progress(number)
		}
		last = time.Now()
		guard.Reset(waits)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) { // any other is that the solver has ended
		return answered, fmt.Errorf("%s %s: an answer of more than %d bytes", s.Name, s.Version, bufio.MaxScanTokenSize)
	}
	if ctx.Err() == nil || outer.Err() != nil || answered == len(numbers) {
		return answered, nil
	}
	r.Answers[numbers[answered]] = Answer{TimedOut, time.Since(last)}
	return answered + 1, r.kill(waits)
}

// kill notes that a process did not end in time. It returns an error if that is all that the solver does.
func (r *Result) kill(waits time.Duration) error {
	if r.killed++; r.killed < 2 || r.heard {
		return nil
	}
	return fmt.Errorf("%s %s has answered nothing, and was killed after %v", r.Name, r.Version, waits)
}

// canceled is what z3 says if its limit ends before it looks for an answer.
var canceled = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\(error "line \d+ column \d+: [\w -]*canceled"\)$`)
})

// verdictOf reads an answer of a solver, whose first line was scanned, and the mark behind it. Without a mark there is no answer: the solver has
// ended, or was killed.
func verdictOf(lines *bufio.Scanner, number int) (v Verdict, err error) {
	switch line := strings.TrimSpace(lines.Text()); line {
	case "unsat":
		v = Proved
	case "sat":
		v = Refuted
	case "unknown", "timeout":
		v = Unknown
	default:
		return Unanswered, errors.New("answers neither sat, unsat nor unknown: " + shown(line))
	}
	if !lines.Scan() {
		return Unanswered, nil
	}
	if again := strings.TrimSpace(lines.Text()); strings.Trim(again, `"`) != mark(number) {
		return Unanswered, errors.New("answers what it was not asked: " + shown(again))
	}
	return v, nil
}

// shown returns a line of a solver for a message.
func shown(line string) string {
	if line = strings.TrimSpace(line); line == "" {
		return "an empty line"
	}
	return logic.Plain(line)
}
