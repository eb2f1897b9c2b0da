//go:build !js

package jobs

import (
	"fmt"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/show/report"
)

// Merge returns the command that joins the results of shards.
func Merge(p *plan.Program) *cobra.Command {
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
			m, err := labour.ReadShards(files, labour.Version(plan.VersionName()))
			if err != nil {
				return err
			}
			words, err := jobCall(p, m.Head.Kind, m.Head.Spec)
			if err != nil {
				return report.Failed("%s: %w", files[0], err)
			}
			return repeat(command.Context(), p, &m.Head, append(words, shown...), func(w *labour.Work) labour.Doer { m.Work = w; return m })
		},
	}
}
