//go:build !js

package report

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/study/work"
)

// keyDigits is how many digits of a job's key are shown.
const keyDigits = 12

// Key returns the key of a job as people read it: its first digits.
func Key(key string) string { return key[:keyDigits] }

// Jobs are the jobs of a server, and its workers.
type Jobs struct {
	Jobs    []work.JobState
	Workers []work.WorkerState
	Own     string // the version of this program
}

// JSON returns the jobs for programs.
func (j *Jobs) JSON() any {
	jobs, workers := []Object{}, []Object{}
	for i := range j.Jobs {
		jobs = append(jobs, jobFields(&j.Jobs[i]))
	}
	for _, w := range j.Workers {
		workers = append(workers, Object{
			{"id", w.ID}, {"process", w.Process}, {"version", w.Version}, {"slots", w.Slots}, {"busy", w.Busy}, {"pieces_per_second", w.Rate},
		})
	}
	return Object{{"jobs", jobs}, {"workers", workers}}
}

// Text prints a line for each job, and counts the workers.
func (j *Jobs) Text(p *Printer) error {
	if len(j.Jobs) == 0 {
		fmt.Fprintln(p.Out, "no jobs")
	} else {
		table := tabwriter.NewWriter(p.Out, 0, 8, 2, ' ', 0)
		fmt.Fprintln(table, "job\tstate\tdone\tworkers\tleft\tcommand")
		for i := range j.Jobs {
			job := &j.Jobs[i]
			fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\n", Key(job.Key), stateWord(job), share(job), job.Workers, cmp.Or(left(job), "-"), job.Call)
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return j.workers(p.Out)
}

// workers prints how many workers of which version there are.
func (j *Jobs) workers(out io.Writer) error {
	type group struct{ workers, slots int }
	groups, versions := map[string]*group{}, []string(nil)
	for _, w := range j.Workers {
		if groups[w.Version] == nil {
			groups[w.Version] = &group{}
			versions = append(versions, w.Version)
		}
		groups[w.Version].workers++
		groups[w.Version].slots += w.Slots
	}
	if len(versions) == 0 {
		_, err := fmt.Fprintln(out, "no workers")
		return err
	}
	for _, version := range versions {
		g := groups[version]
		other := ""
		if version != j.Own {
			other = ", which compute nothing for this version"
		}
		fmt.Fprintf(out, "%s with %s, of version %s%s\n", amount.Of(g.workers, "worker"), amount.Of(g.slots, "core"), version, other)
	}
	return nil
}

// Job is a job of a server.
type Job struct {
	*work.JobState
	Own string // the version of this program
}

// JSON returns the job for programs.
func (j *Job) JSON() any { return jobFields(j.JobState) }

func jobFields(j *work.JobState) Object {
	var rest, commander any
	if j.Left >= 0 {
		rest = j.Left.Seconds()
	}
	if j.Commander != "" {
		commander = j.Commander
	}
	return Object{
		{"job", j.Key},
		{"kind", j.Kind},
		{"call", j.Call},
		{"job_version", j.Version},
		{"state", stateWord(j)},
		{"begun", j.Begun},
		{"commander", commander},
		{"units", j.Units},
		{"units_done", j.Done},
		{"units_queued", j.Queued},
		{"units_per_second", j.Rate},
		{"seconds_left", rest},
		{"job_workers", j.Workers},
	}
}

// stateWord returns the state in a word.
func stateWord(j *work.JobState) string {
	switch j.State {
	case work.Waiting:
		return "stopped"
	case work.Done:
		return "complete"
	}
	return "running"
}

// share returns how much is done, as a percentage.
func share(j *work.JobState) string {
	if j.Units == 0 {
		return "-"
	}
	return fmt.Sprintf("%d %%", j.Done*100/j.Units)
}

// left returns the estimated time for the rest; "" if it is unknown.
func left(j *work.JobState) string {
	if j.Left < 0 || j.Commander == "" {
		return ""
	}
	return j.Left.Round(time.Second).String()
}

// Text prints the job for people.
func (j *Job) Text(p *Printer) error {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(p.Out, "  %-8s %s\n", name, fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(p.Out, "job %s\n", j.Key)
	line("command", "%s", j.Call)
	other := ""
	if j.Version != j.Own {
		other = ", and this is " + j.Own
	}
	line("version", "%s%s", j.Version, other)
	line("begun", "%s", j.Begun.Local().Format(time.DateTime))
	switch j.State {
	case work.Waiting:
		line("state", "stopped: no command gathers its results; jobs resume continues it")
	case work.Done:
		line("state", "complete: its output was not written; jobs resume prints it")
	default:
		line("state", "running: its command is on %s", j.Commander)
	}
	line("units", "%d of %d done, %d queued or in work", j.Done, j.Units, j.Queued)
	if j.Commander != "" {
		text := fmt.Sprintf("%.3g units a second", j.Rate)
		if rest := left(j.JobState); rest != "" {
			text += ", about " + rest + " left"
		}
		line("rate", "%s, %s", amount.Of(j.Workers, "worker"), text)
	}
	return nil
}

// Removed is a job that was removed.
type Removed struct{ *work.JobState }

// JSON returns the job for programs.
func (r *Removed) JSON() any {
	fields := jobFields(r.JobState)
	for i := range fields {
		if fields[i][0] == "state" {
			fields[i][1] = "removed"
		}
	}
	return fields
}

// Text prints the job for people.
func (r *Removed) Text(p *Printer) error {
	_, err := fmt.Fprintf(p.Out, "job %s is removed, with the results of %s: %s\n", Key(r.Key), amount.Of(int(r.Done), "unit"), r.Call)
	return err
}

// Units returns the units of a piece as the command line takes them.
func Units(p work.Piece) string {
	if p.Len() == 1 {
		return fmt.Sprint(p.From)
	}
	return fmt.Sprintf("%d..%d", p.From, p.To-1)
}

// Computed are units of a job whose result was computed and stored.
type Computed struct {
	*work.JobState
	Piece work.Piece
	Took  time.Duration
}

// JSON returns the units for programs.
func (c *Computed) JSON() any {
	return Object{{"job", c.Key}, {"from", c.Piece.From}, {"to", c.Piece.To}, {"seconds", c.Took.Seconds()}}
}

// Text prints the units for people.
func (c *Computed) Text(p *Printer) error {
	_, err := fmt.Fprintf(p.Out, "job %s has the result of units %s, which took %s\n", Key(c.Key), Units(c.Piece), c.Took.Round(time.Millisecond))
	return err
}
