// Cron runs the jobs of a file at their times, each due time on one of three processes: the leader of that moment. A change of
// the leader neither repeats a run nor forgets one.
//
//	printf 'greet | @every 5s | echo hello from term $RINGLEADER_TERM\nnight | 0 3 * * * | echo due at $DUE\n' >jobs
//	go run ./examples/cron --jobs jobs --id 1
//	go run ./examples/cron --jobs jobs --id 2
//	go run ./examples/cron --jobs jobs --id 3
//
// Kill the one that runs the jobs, by the number that it prints, and another one goes on with the next due time. Stop all for a
// minute, and the first leader after that catches up.
//
// A ledger has a row for each run: it is written when the run begins, and again when it has ended. Each row is written
// in one statement that refuses a leader of an older term. Three things can go wrong, and the flags choose what follows:
//
//   - The leader dies in the middle of a run. Another leader cannot know what the run has done. By default it abandons
//     the run, so that each one happens at most once. With --repeat it runs it again, so that each one ends at least once.
//   - There is no leader at the due time. The next one makes up for it, unless more than --late has passed.
//   - The leader is stopped between its row and the command, and continues later. The command then runs late, but once. Where
//     that does harm, the command passes $RINGLEADER_TERM on to what it writes to: see package fence.
//
// The warden kills the commands of a process that is killed, on Linux. A command that leaves processes behind when it is
// killed itself is for "ringleader exec", which kills whole trees.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/robfig/cron/v3"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/examples/internal/sqlite"
	"ringleader.example/ringleader/examples/internal/start"
)

var (
	file    = flag.String("jobs", "jobs", "`file` of jobs, one a line: NAME | SCHEDULE | COMMAND. A schedule has the five fields of cron, in UTC, or is like \"@every 90s\"")
	runs    = flag.String("runs", filepath.Join(os.TempDir(), "ringleader-cron.db"), "`file` of the ledger, the same for all processes")
	command = flag.String("sqlite3", "sqlite3", "`path` of the command sqlite3")
	repeat  = flag.Bool("repeat", false, "run again what a leader has begun that was replaced: at least once, instead of at most once")
	late    = flag.Duration("late", time.Hour, "how late a run may begin; later ones are skipped")
)

func main() {
	if err := ringleader.Warden(); err != nil {
		log.Print(err) // it works without one, and commands may outlive a process that is killed
	}
	ctx, m := start.Member("cron", "Runs the jobs of a file on one of three processes at a time.", ringleader.Config{
		Timing: ringleader.Timing{Lease: 3 * time.Second, Grace: 500 * time.Millisecond}, // which a command has to be killed
	})
	defer m.Close()
	jobs, err := read(*file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("process", os.Getpid())
	log.Print(m.Lead(ctx, func(ctx context.Context, l ringleader.Leadership) error {
		err := keepAll(ctx, l.Term(), jobs)
		if errors.Is(err, errReplaced) {
			<-ctx.Done() // the lease has ended, and soon this process knows it
		}
		return err // if ctx is done, this process takes part in the election again
	}))
}

// keepAll runs all jobs in a term, until ctx is done or the ledger refuses.
func keepAll(ctx context.Context, term uint64, jobs []job) error {
	ledger, err := open(ctx, sqlite.Database{Command: *command, File: *runs}, term)
	if err != nil {
		return err
	}
	fmt.Println("term", term, "begins")
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for _, j := range jobs {
		all.Go(func() { cancel(j.keep(ctx, ledger)) }) // the first error ends them all
	}
	all.Wait()
	return context.Cause(ctx)
}

// job is a line of the file.
type job struct {
	name, command string
	schedule      cron.Schedule
}

func read(file string) (jobs []job, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), "|", 3)
		if len(fields) < 3 {
			return nil, fmt.Errorf("%s: %q is not NAME | SCHEDULE | COMMAND", file, line)
		}
		schedule, err := cron.ParseStandard(strings.TrimSpace(fields[1]))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		jobs = append(jobs, job{strings.TrimSpace(fields[0]), strings.TrimSpace(fields[2]), schedule})
	}
	if len(jobs) == 0 {
		return nil, fmt.Errorf("%s has no jobs", file)
	}
	return jobs, nil
}

// keep runs a job at its times, one after the other, until ctx is done or the ledger refuses.
func (j job) keep(ctx context.Context, l *ledger) error {
	for ctx.Err() == nil {
		last, state, err := l.last(ctx, j.name)
		switch {
		case err != nil:
		case state == "":
			err = l.record(ctx, j.name, time.Now(), first)
		case state == running && *repeat: // in an earlier term
			err = j.run(ctx, l, last)
		case state == running:
			err = j.settle(ctx, l, last, abandoned)
		default:
			err = j.wait(ctx, l, j.schedule.Next(last))
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// wait waits until a run is due, and runs it.
func (j job) wait(ctx context.Context, l *ledger, due time.Time) error {
	select {
	case <-time.After(time.Until(due)):
	case <-ctx.Done():
		return ctx.Err()
	}
	if time.Since(due) > *late {
		return j.settle(ctx, l, due, skipped)
	}
	return j.run(ctx, l, due)
}

// run runs the command. If ctx ends first, the command is killed, and the run left to the next leader.
func (j job) run(ctx context.Context, l *ledger, due time.Time) error {
	if err := j.settle(ctx, l, due, running); err != nil {
		return err
	}
	c := exec.CommandContext(ctx, "sh", "-c", j.command)
	c.Env = append(os.Environ(), "DUE="+due.Format(time.RFC3339), fmt.Sprint("RINGLEADER_TERM=", l.term))
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	err := c.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return j.settle(ctx, l, due, done)
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit):
		return j.settle(ctx, l, due, failed)
	}
	return err // the command could not be started
}

// settle records a state, and prints it.
func (j job) settle(ctx context.Context, l *ledger, due time.Time, state string) error {
	err := l.record(ctx, j.name, due, state)
	if err == nil {
		fmt.Printf("term %d: %s of %s is %s\n", l.term, j.name, due.Format(time.RFC3339), state)
	}
	return err
}
