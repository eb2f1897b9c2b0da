package repotest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// The most that programs may take, in MB of 10⁶ bytes, as releases are built for linux/amd64.
const (
	strippedMB = 24.4 // the program of workbench_test.go, which is ringleader and 0.1 MB; without the tables for debuggers, which are 9.0; the server of NATS, which takes 9.4, is a program of its own
	memberMB   = 8.3
)

// roomMB is what paths of this machine and what needs C may add to a program.
const roomMB = 0.1

// sized reports whether the limits are those of this system.
const sized = runtime.GOOS == "linux" && runtime.GOARCH == "amd64"

// sizeRule limits the size of a program.
type sizeRule struct {
	program string  // its package
	most    float64 // MB
	because string
}

var (
	command = sizeRule{"a program with every command", strippedMB, "it is copied to each machine that has a member"}
	member  = sizeRule{"./internal/repotest/testdata/member", memberMB, "a program that elects carries neither the laboratory nor HTTP"}
	// tooLarge breaks the rule of a member.
	tooLarge = sizeRule{"./internal/repotest/testdata/server", memberMB, "HTTP takes more room than all else that a member links"}
)

// asReleases reports whether the environment has go build make programs as releases are, which CI does. A test does not insist on it: with
// flags of its own it would compile the library again.
func asReleases() bool {
	return os.Getenv("CGO_ENABLED") == "0" && slices.Contains(strings.Fields(os.Getenv("GOFLAGS")), "-trimpath")
}

// built returns the sizes of programs in MB, built at once.
func built(t *testing.T, rules ...sizeRule) (sizes []float64) {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-buildvcs=false", "-o", dir+string(filepath.Separator))
	for _, r := range rules {
		build.Args = append(build.Args, r.program)
	}
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", build, err, out)
	}
	for _, r := range rules {
		sizes = append(sizes, megabytes(t, filepath.Join(dir, filepath.Base(r.program))))
	}
	return sizes
}

// megabytes is the size of a file in MB.
func megabytes(t *testing.T, file string) float64 {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return float64(info.Size()) / 1e6
}

// complaint is what is wrong with a size.
func (r sizeRule) complaint(size float64) string {
	most := r.most
	if !asReleases() {
		most += roomMB
	}
	if size > most {
		return fmt.Sprintf("%s takes %.2f MB, and at most %g may be: %s", r.program, size, most, r.because)
	}
	return ""
}

// The test of the program outside judges the size of a program with every command.
func TestProgramsAreNotTooLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("links programs")
	}
	if !sized {
		t.Skip("the limits are those of linux/amd64")
	}
	t.Parallel()
	rules := []sizeRule{member}
	if *long {
		rules = append(rules, tooLarge)
	}
	sizes := built(t, rules...)
	if complaint := member.complaint(sizes[0]); complaint != "" {
		t.Error(complaint)
	}
	if !*long {
		return
	}
	if complaint := tooLarge.complaint(sizes[1]); !strings.Contains(complaint, "MB") {
		t.Errorf("a program that breaks the rule is not found: %q", complaint)
	}
}
