package repotest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The most that programs may take, in MB of 10⁶ bytes, as go build makes them for linux/amd64.
const (
	strippedMB = 24.0 // without the tables for debuggers, which are 9.0; the server of NATS, which takes 9.4, is a program of its own
	memberMB   = 8.1
)

// sizeRule limits the size of a program.
type sizeRule struct {
	program string  // its package
	most    float64 // MB
	because string
}

var (
	command = sizeRule{"./cmd/ringleader", strippedMB, "it is copied to each machine that has a member"}
	member  = sizeRule{"./internal/repotest/testdata/member", memberMB, "a program that elects carries neither the laboratory nor HTTP"}
	// tooLarge breaks the rule of a member.
	tooLarge = sizeRule{"./internal/repotest/testdata/server", memberMB, "HTTP takes more room than all else that a member links"}
)

// built returns the sizes of programs in MB, built with the same flags at once.
func built(t *testing.T, flags []string, rules ...sizeRule) (sizes []float64) {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", append([]string{"build", "-buildvcs=false", "-o", dir + string(filepath.Separator)}, flags...)...)
	for _, r := range rules {
		build.Args = append(build.Args, r.program)
	}
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", build, err, out)
	}
	for _, r := range rules {
		info, err := os.Stat(filepath.Join(dir, filepath.Base(r.program)))
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, float64(info.Size())/1e6)
	}
	return sizes
}

// complaint is what is wrong with a size.
func (r sizeRule) complaint(size float64) string {
	if size > r.most {
		return fmt.Sprintf("%s takes %.2f MB, and at most %g may be: %s", r.program, size, r.most, r.because)
	}
	return ""
}

func TestProgramsAreNotTooLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("links programs")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the limits are those of linux/amd64")
	}
	if complaint := command.complaint(built(t, []string{"-ldflags=-s -w"}, command)[0]); complaint != "" {
		t.Error(complaint)
	}
	sizes := built(t, nil, member, tooLarge)
	if complaint := member.complaint(sizes[0]); complaint != "" {
		t.Error(complaint)
	}
	if complaint := tooLarge.complaint(sizes[1]); !strings.Contains(complaint, "MB") {
		t.Errorf("a program that breaks the rule is not found: %q", complaint)
	}
}
