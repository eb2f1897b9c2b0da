package report

import (
	"fmt"
	"runtime"
	"strings"
)

// Build is a build of the binary.
type Build struct{ Version, Revision string }

// JSON returns the build for programs.
func (b Build) JSON() any {
	return Object{
		{"version", strings.TrimSpace(b.Version + " " + b.Revision)}, {"revision", b.Revision}, {"go", runtime.Version()}, {"os", runtime.GOOS}, {"arch", runtime.GOARCH},
	}
}

// Text prints the build for people.
func (b Build) Text(p *Printer) error {
	fmt.Fprintln(p.Out, b)
	return nil
}

func (b Build) String() string {
	return fmt.Sprintf("ringleader %s (%s, %s/%s)", strings.TrimSpace(b.Version+" "+b.Revision), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
