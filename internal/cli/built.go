package cli

import (
	"cmp"
	"runtime/debug"
	"strings"

	"ringleader.example/ringleader/internal/show/report"
)

// versionName returns the measuring version: a number, or the revision of the source.
func versionName() string {
	version, revision := built()
	return strings.TrimSpace(version + " " + revision)
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
