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
	program string // its package
	flags   []string
	most    float64 // MB
	because string
}

var (
	stripped = []string{"-ldflags=-s -w"}

	sizeRules = []sizeRule{
		{"./cmd/ringleader", stripped, strippedMB, "it is copied to each machine that has a member"},
		{"./internal/repotest/testdata/member", nil, memberMB, "a program that elects carries neither the laboratory nor HTTP"},
	}

	// tooLarge breaks the last of the rules.
	tooLarge = sizeRule{"./internal/repotest/testdata/server", nil, memberMB, "HTTP takes more room than all else that a member links"}
)

// check builds the program, and complains if it is too large.
func (r sizeRule) check(t *testing.T) (complaint string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	build := exec.Command("go", append(append([]string{"build", "-buildvcs=false", "-o", file}, r.flags...), r.program)...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", build, err, out)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if size := float64(info.Size()) / 1e6; size > r.most {
		return fmt.Sprintf("%s %v takes %.2f MB, and at most %g may be: %s", r.program, r.flags, size, r.most, r.because)
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
	for _, r := range sizeRules {
		if complaint := r.check(t); complaint != "" {
			t.Error(complaint)
		}
	}
	if complaint := tooLarge.check(t); !strings.Contains(complaint, "MB") {
		t.Errorf("a program that breaks the rule is not found: %q", complaint)
	}
}
