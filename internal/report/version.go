package report

import (
	"fmt"
	"runtime"
)

// Build is a build of the binary.
type Build struct{ Version, Revision string }

// JSON returns the build for programs.
func (b Build) JSON() any {
	return object{
		{"version", b.Version}, {"revision", b.Revision}, {"go", runtime.Version()}, {"os", runtime.GOOS}, {"arch", runtime.GOARCH},
	}
}

// Text prints the build for people.
func (b Build) Text(p *Printer) error {
	fmt.Fprintf(p.Out, "ringleader %s %s (%s, %s/%s)\n", b.Version, b.Revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}
