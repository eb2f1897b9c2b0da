// Command plant plants bugs into Ringleader, one at a time, and runs the tests that must find them. README.md has more.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

const help = `Plant applies each edit of tools/plant/bugs, one at a time, and runs its nearest tests. Each edit is a bug, so a test must fail.
No file of the repository changes: Go reads the edited file in its place (go help build, -overlay).

    go -C tools/plant run .                             all
    go -C tools/plant run . --only '^(storage|fence)/'  the bugs of two rooms
    go -C tools/plant run . --only no-flush --verbose   one, with what it is
    go -C tools/plant run . --list                      names, files and tests
    go -C tools/plant run . --json >verdicts            one object a line

First the same tests run without an edit. The exit status is 0 if every bug was found; 1 if one survives, does not compile or does not
apply any more, or if a test fails without it; and 2 for wrong usage.

`

// options are the flags.
type options struct {
	root      string
	only      *regexp.Regexp
	jobs      int
	limit     time.Duration
	json      bool
	list      bool
	verbose   bool
	skipFirst bool
}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	o, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "plant:", err)
		os.Exit(2)
	}
	found, err := run(ctx, o, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "plant:", err)
	}
	if err != nil || !found {
		os.Exit(1)
	}
}

func parse(args []string, output io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("plant", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.Usage = func() {
		fmt.Fprint(output, help)
		flags.PrintDefaults()
	}
	flags.StringVar(&o.root, "root", "../..", "`folder` of the repository")
	only := flags.String("only", "", "only bugs whose name, such as storage/no-flush, matches the `pattern`")
	flags.IntVar(&o.jobs, "parallel", 1, "bugs at the same `number`; some tests need an idle machine")
	flags.DurationVar(&o.limit, "limit", 2*time.Minute, "`time` for the tests of a package; a test that takes longer has found the bug")
	flags.BoolVar(&o.json, "json", false, "print JSON")
	flags.BoolVar(&o.list, "list", false, "print the bugs, and run nothing")
	flags.BoolVar(&o.verbose, "verbose", false, "print what each bug is")
	flags.BoolVar(&o.skipFirst, "skip-first", false, "do not run the tests without an edit first")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	if flags.NArg() > 0 {
		return options{}, fmt.Errorf("there are no arguments, only flags: %s", flags.Arg(0))
	}
	if o.jobs < 1 || o.limit <= 0 {
		return options{}, errors.New("-parallel and -limit are more than 0")
	}
	var err error
	if o.only, err = regexp.Compile(*only); err != nil {
		return options{}, err
	}
	o.root, err = filepath.Abs(o.root)
	return o, err
}

// run reports whether all chosen bugs were found.
func run(ctx context.Context, o options, output, progress io.Writer) (bool, error) {
	all, err := readBugs(filepath.Join(o.root, "tools/plant/bugs"))
	if err != nil {
		return false, err
	}
	var bugs []bug
	for _, b := range all {
		if o.only.MatchString(b.name) {
			bugs = append(bugs, b)
		}
	}
	if len(bugs) == 0 {
		return false, fmt.Errorf("no bug of %d matches %q", len(all), o.only)
	}
	if o.list {
		return true, list(bugs, output)
	}
	p := planter{root: o.root, limit: o.limit}
	failing := map[tests]string{}
	if !o.skipFirst {
		failing = p.first(ctx, bugs, progress)
	}
	r := report{output: output, options: o, of: len(bugs)}
	work := make(chan bug)
	var workers sync.WaitGroup
	for range o.jobs {
		workers.Go(func() {
			for b := range work {
				if v := p.tryUnlessFailing(ctx, b, failing); ctx.Err() == nil {
					r.add(v)
				}
			}
		})
	}
	for _, b := range bugs {
		if ctx.Err() != nil {
			break
		}
		work <- b
	}
	close(work)
	workers.Wait()
	r.end()
	return r.alive == 0 && r.done == r.of, r.err
}

func list(bugs []bug, output io.Writer) error {
	for _, b := range bugs {
		if _, err := fmt.Fprintf(output, "%s\n    %s\n    file: %s\n", b.name, b.what, b.file); err != nil {
			return err
		}
		for _, t := range b.tests {
			if _, err := fmt.Fprintf(output, "    test: %s\n", t); err != nil {
				return err
			}
		}
	}
	return nil
}

// first runs the tests of all bugs without an edit, which Go's cache remembers, and returns why some cannot find a bug.
func (p planter) first(ctx context.Context, bugs []bug, progress io.Writer) map[tests]string {
	seen, failing := map[tests]bool{}, map[tests]string{}
	for _, b := range bugs {
		for _, t := range b.tests {
			if seen[t] || ctx.Err() != nil {
				continue
			}
			seen[t] = true
			fmt.Fprintf(progress, "without an edit: %s\n", t)
			r, err := p.test(ctx, os.Environ(), t)
			switch {
			case err != nil:
				failing[t] = "fails without the edit: " + strings.Join(r.failed, ", ")
				fmt.Fprintf(progress, "%s fails without an edit:\n%s\n", t, r.output)
			case r.passed == 0:
				failing[t] = "matches no test, or all are skipped"
				fmt.Fprintf(progress, "%s matches no test\n", t)
			}
		}
	}
	fmt.Fprintf(progress, "without an edit: %d runs of tests, %d fail\n", len(seen), len(failing))
	return failing
}

func (p planter) tryUnlessFailing(ctx context.Context, b bug, failing map[tests]string) verdict {
	for _, t := range b.tests {
		if why, found := failing[t]; found {
			return verdict{Bug: b.name, What: b.what, Verdict: untested, Note: t.String() + " " + why}
		}
	}
	return p.try(ctx, b)
}

// report prints verdicts as they come.
type report struct {
	options
	mutex   sync.Mutex
	output  io.Writer
	of      int
	done    int
	alive   int // bugs that no test has found
	seconds float64
	err     error // of the output
}

func (r *report) add(v verdict) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.done++
	r.seconds += v.Seconds
	if !v.died() {
		r.alive++
	}
	if r.json {
		r.err = errors.Join(r.err, json.NewEncoder(r.output).Encode(v))
		return
	}
	detail := strings.Join(v.Tests, ", ")
	if v.Verdict == timedOut || !v.died() {
		detail = v.Verdict + " " + detail
	}
	if r.verbose || !v.died() {
		detail += "\n    " + v.What
	}
	if v.Note != "" {
		detail += "\n    " + strings.ReplaceAll(strings.TrimSpace(v.Note), "\n", "\n    ")
	}
	_, err := fmt.Fprintf(r.output, "%3d/%d %6.1f s  %-44s %s\n", r.done, r.of, v.Seconds, v.Bug, detail)
	r.err = errors.Join(r.err, err)
}

func (r *report) end() {
	if r.json {
		return
	}
	_, err := fmt.Fprintf(r.output, "%d bugs: %d were found by a test, %d were not; %.0f s\n", r.done, r.done-r.alive, r.alive, r.seconds)
	r.err = errors.Join(r.err, err)
}
