package plan

import (
	"cmp"
	"runtime/debug"
	"strings"

	"ringleader.example/ringleader/internal/show/report"
)

// VersionName returns the measuring version: a number, or the revision of the source.
func VersionName() string {
	version, revision := Built()
	return strings.TrimSpace(version + " " + revision)
}

// release is the version of a release; the linker sets it. Empty: the version is the one that the Go tool knows.
var release string

// Built returns the version, and the revision of the source.
func Built() (version, revision string) {
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

// Build returns what ringleader version and --version print.
func Build() report.Build {
	version, revision := Built()
	return report.Build{Version: version, Revision: revision}
}
