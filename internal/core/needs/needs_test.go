package needs_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/core/needs"
)

// ended is a test that notes how it ends.
type ended struct {
	testing.TB
	how string
}

func (*ended) Helper() {}

func (e *ended) Fatalf(format string, args ...any) {
	e.how = "fails: " + fmt.Sprintf(format, args...)
	panic(e)
}

func (e *ended) Skipf(format string, args ...any) {
	e.how = "skips: " + fmt.Sprintf(format, args...)
	panic(e)
}

// needing tells how a test ends that needs a program; empty: it goes on.
func needing(t *testing.T, name string) (how string) {
	e := &ended{TB: t}
	defer func() {
		if r := recover(); r != nil && r != any(e) {
			panic(r)
		}
		how = e.how
	}()
	needs.Program(e, name, "a-package")
	return ""
}

func TestAMissingProgramSkipsATestAndFailsItInCI(t *testing.T) {
	here := os.Args[0]
	for _, c := range []struct{ ci, program, how string }{
		{"", here, ""},
		{"true", here, ""},
		{"", here + "-missing", "skips: "},
		{"true", here + "-missing", "fails: "},
	} {
		t.Setenv("CI", c.ci)
		how := needing(t, c.program)
		if !strings.HasPrefix(how, c.how) || (c.how == "") != (how == "") || how != "" && !strings.Contains(how, "apt-get install a-package") {
			t.Errorf("CI=%q, %s: %q", c.ci, c.program, how)
		}
	}
}
