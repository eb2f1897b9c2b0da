package cli

import (
	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
)

func (p *program) version() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  ringleader version\n  ringleader version --json",
		Args:    option.FlagsOnly,
		RunE: func(*cobra.Command, []string) error {
			return p.Print(plan.Build(), asJSON)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}
