package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (p *program) version() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:     "version",
		Short:   "Say which version this is",
		Example: "  ringleader version\n  ringleader version --json",
		Args:    flagsOnly,
		RunE: func(*cobra.Command, []string) error {
			version, revision := built()
			if asJSON {
				return p.print(object{
					{"version", version}, {"revision", revision}, {"go", runtime.Version()}, {"os", runtime.GOOS}, {"arch", runtime.GOARCH},
				})
			}
			fmt.Fprintf(p.stdout, "ringleader %s %s (%s, %s/%s)\n", version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

// built is which version this is, and which revision of the source it was built from.
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
	return info.Main.Version, revision
}
