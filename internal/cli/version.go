package cli

import (
	"cmp"
	"runtime/debug"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/show/report"
)

func (p *program) version() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  ringleader version\n  ringleader version --json",
		Args:    option.FlagsOnly,
		RunE: func(*cobra.Command, []string) error {
			return p.Print(build(), asJSON)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

// release is the version of a release; the linker sets it. Empty: the version is the one that the Go tool knows.
var release string

// built returns the version, and the revision of the source.
func built() (version, revision string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)", ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			revision = s.Value
		}
	}
	return cmp.Or(release, info.Main.Version), revision
}

// build returns what ringleader version and --version print.
func build() report.Build {
	version, revision := built()
	return report.Build{Version: version, Revision: revision}
}
