//go:build !js

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/work"
)

func (p *program) merge() *cobra.Command {
	return &cobra.Command{
		Use:     "merge FILE... [-- FLAG...]",
		GroupID: option.GroupStudy,
		Short:   "Join the shards of a job, and print what the whole command prints",
		Long: `Join the shards that compare, count, reproduce, verify or worst have computed with --shard, and print
exactly what the command prints that computes the whole. Shards may overlap or occur twice. A missing
one is named, and one of another job or version is refused. Flags after -- choose how the result is
shown, as those of the command do.

Exit status: that of the command; 1 if a shard is missing or cannot be joined.`,
		Example: `  ringleader compare lcr peterson --n 8..1024 --orders 1000 --shard 1/2 --out part1
  ringleader compare lcr peterson --n 8..1024 --orders 1000 --shard 2/2 --out part2
  ringleader merge part1 part2
  ringleader merge part1 part2 -- --json`,
		RunE: func(command *cobra.Command, args []string) error {
			files, shown := args, []string(nil)
			if at := command.ArgsLenAtDash(); at >= 0 {
				files, shown = args[:at], args[at:]
			}
			if len(files) == 0 {
				return fmt.Errorf("%s needs the files of the shards; try %[1]s --help", command.CommandPath())
			}
			m, err := readShards(files)
			if err != nil {
				return err
			}
			words, err := p.jobCall(m.head.Kind, m.head.Spec)
			if err != nil {
				return report.Failed("%s: %w", files[0], err)
			}
			return p.repeat(command.Context(), &m.head, append(words, shown...), func(w *working) labour { m.working = w; return m })
		},
	}
}

// merging is labour that is done: the results of a job's shards.
type merging struct {
	*working           // the flags after --
	head     work.Head // of the first file
	parts    []work.Part
	files    map[string]string // by shard
}

// readShards reads files of one job.
func readShards(files []string) (*merging, error) {
	m := &merging{files: map[string]string{}}
	for i, path := range files {
		head, parts, err := work.ReadFile(path)
		switch {
		case errors.Is(err, work.ErrFile):
			return nil, report.Failed("%s is no file that --out has written", path)
		case err != nil:
			return nil, report.Failed("cannot read %s: %w", path, report.Reason(err))
		case head.Version != versionName():
			return nil, report.Failed("%s was computed by version %s, and this is version %s; results of different versions are not merged", path, head.Version, versionName())
		case i == 0:
			m.head = head
		case !head.Same(m.head.Job):
			return nil, report.Failed("%s is of another job than %s: %s", path, files[0], head.Call)
		}
		m.parts = append(m.parts, parts...)
		m.files[head.Shard] = path
	}
	return m, nil
}

// keeps is that of [labour].
func (*merging) keeps() bool { return true }

// dismiss is that of [labour].
func (*merging) dismiss(error) {}

// do is that of [labour].
func (m *merging) do(_ context.Context, _ *program, a *assignment) ([]work.Part, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	results, err := m.results(a)
	if err == nil {
		err = a.receive(results)
	}
	if err != nil {
		return nil, err
	}
	return results.Parts(), nil
}

// results returns the results for this work.
func (m *merging) results(a *assignment) (*work.Results, error) {
	results, err := work.NewResults(a.task, m.parts, nil)
	if err != nil {
		return nil, report.Failed("a shard has results that are not of this job: %w", err)
	}
	complete, err := results.Complete()
	if err == nil && !complete {
		err = m.missing(results)
	}
	return results, err
}

// missing returns the error for results that are not complete, with the shards that are missing.
func (m *merging) missing(results *work.Results) error {
	whole, err := work.ParseShard(m.head.Shard)
	if err != nil { // a file of the whole job
		return report.Failed("the results are not complete; the same command finishes them: %s --out %s", m.head.Call, m.files[m.head.Shard])
	}
	var missing, incomplete []string
	for number := uint64(1); number <= whole.Of; number++ {
		s := work.Shard{Number: number, Of: whole.Of}
		path, given := m.files[s.String()]
		switch lacks := results.Lacks(s); {
		case lacks && given:
			incomplete = append(incomplete, s.String()+" in "+path)
		case lacks:
			missing = append(missing, s.String())
		}
	}
	var texts []string
	for _, list := range []struct {
		what  string
		names []string
	}{{"missing: shard ", missing}, {"not complete: shard ", incomplete}} {
		if len(list.names) > 0 {
			texts = append(texts, list.what+strings.Join(list.names, ", "))
		}
	}
	return report.Failed("%s; the same command computes each: %s --shard NUMBER/%d --out FILE", strings.Join(texts, "; "), m.head.Call, whole.Of)
}
