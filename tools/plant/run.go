package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// What can become of a bug.
const (
	killed   = "killed"
	timedOut = "killed by time-out"
	survives = "SURVIVES"
	invalid  = "INVALID"        // the edited file does not compile
	stale    = "DOES NOT APPLY" // the file has changed
	untested = "NO TEST"        // its tests fail without the edit, or there are none
)

// verdict is what became of a bug, and why.
type verdict struct {
	Bug     string   `json:"bug"`
	What    string   `json:"what"`
	Verdict string   `json:"verdict"`
	Tests   []string `json:"tests,omitempty"` // those that failed
	Note    string   `json:"note,omitempty"`
	Seconds float64  `json:"seconds"`
}

// died reports whether a test has found the bug.
func (v verdict) died() bool { return v.Verdict == killed || v.Verdict == timedOut }

// planter runs tests on a repository.
type planter struct {
	root  string
	limit time.Duration // of the tests of a package
}

// try plants a bug and runs its tests until one fails. The file itself is never changed: Go reads the edited one in its place, also
// where a test builds a program.
func (p planter) try(ctx context.Context, b bug) (v verdict) {
	start := time.Now()
	v = verdict{Bug: b.name, What: b.what}
	defer func() { v.Seconds = time.Since(start).Round(time.Second / 10).Seconds() }()
	content, err := b.planted(p.root)
	if err != nil {
		v.Verdict, v.Note = stale, err.Error()
		return v
	}
	folder, err := os.MkdirTemp("", "plant")
	if err != nil {
		v.Verdict, v.Note = untested, err.Error()
		return v
	}
	defer os.RemoveAll(folder)
	defer killMarked(folder)
	environment, err := p.overlay(folder, b, content)
	if err != nil {
		v.Verdict, v.Note = untested, err.Error()
		return v
	}
	v.Verdict, v.Tests, v.Note = p.judge(ctx, b, environment)
	return v
}

// overlay writes the edited file into the folder, and returns the environment in which Go reads it in place of the file.
func (p planter) overlay(folder string, b bug, content []byte) ([]string, error) {
	edited := filepath.Join(folder, filepath.Base(b.file))
	if err := os.WriteFile(edited, content, 0o644); err != nil {
		return nil, err
	}
	replacements, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(p.root, b.file): edited}})
	if err != nil {
		return nil, err
	}
	list := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(list, replacements, 0o644); err != nil {
		return nil, err
	}
	temporary := filepath.Join(folder, "t")
	if err := os.Mkdir(temporary, 0o755); err != nil {
		return nil, err
	}
	return append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+list, "TMPDIR="+temporary, marker+folder), nil
}

// judge runs the tests of a bug until one fails.
func (p planter) judge(ctx context.Context, b bug, environment []string) (string, []string, string) {
	for _, t := range b.tests {
		r, err := p.test(ctx, environment, t, "-count=1")
		switch {
		case ctx.Err() != nil:
			return untested, nil, "interrupted"
		case r.stuck:
			return untested, nil, fmt.Sprintf("Go has not ended within %v", p.limit+compiling)
		case r.broken:
			return invalid, nil, r.output
		case err == nil:
			continue
		}
		if output, err := p.build(ctx, b, t, environment); err != nil {
			return invalid, nil, output
		}
		if r.late {
			return timedOut, r.failed, fmt.Sprintf("the limit is %v", p.limit)
		}
		return killed, r.failed, ""
	}
	return survives, nil, ""
}

// build compiles the edited package, unless the tests were compiled with it. They may have failed since they build a program with it:
// a bug that does not compile is found by no test.
func (p planter) build(ctx context.Context, b bug, t tests, environment []string) (output string, err error) {
	if path.Dir(b.file) == path.Clean(t.folder) {
		return "", nil
	}
	text, err := p.command(ctx, environment, "build", "./"+path.Dir(b.file)).CombinedOutput()
	return string(text), err
}

// compiling is how long Go may take for all but the tests.
const compiling = 15 * time.Minute

// results are what a run of tests reports.
type results struct {
	passed int      // tests
	failed []string // tests, without those that failed because of a part of theirs
	broken bool     // a package did not compile
	late   bool     // Go has ended the tests at the limit
	stuck  bool     // Go was ended itself
	output string
}

// test runs tests of a package. Without failure the error is nil.
func (p planter) test(ctx context.Context, environment []string, t tests, more ...string) (results, error) {
	// Go ends the tests at the limit. It is itself ended if it hangs, too: to compile takes minutes on a busy machine.
	ctx, cancel := context.WithTimeout(ctx, p.limit+compiling)
	defer cancel()
	args := slices.Concat([]string{"test", "-json", "-vet=off", "-failfast", "-ldflags=-s -w", "-timeout=" + p.limit.String(), "-run=" + t.pattern}, more,
		[]string{t.folder}, strings.Fields(t.flags))
	command := p.command(ctx, environment, args...)
	output, err := command.Output()
	r := read(output)
	r.stuck = ctx.Err() != nil
	return r, err
}

// command is a command of Go whose processes end together.
func (p planter) command(ctx context.Context, environment []string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir, command.Env = p.root, environment
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = 10 * time.Second
	return command
}

// read reads what go test -json prints.
func read(output []byte) results {
	var r results
	var text strings.Builder
	lines := bufio.NewScanner(bytes.NewReader(output))
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var event struct{ Action, Test, Output string }
		if json.Unmarshal(lines.Bytes(), &event) != nil {
			continue
		}
		text.WriteString(event.Output)
		switch event.Action {
		case "build-fail":
			r.broken = true
		case "pass":
			if event.Test != "" {
				r.passed++
			}
		case "fail":
			if event.Test != "" && !slices.ContainsFunc(r.failed, func(name string) bool { return strings.HasPrefix(name, event.Test+"/") }) {
				r.failed = append(r.failed, event.Test)
			}
		}
	}
	r.output = text.String()
	r.late = strings.Contains(r.output, "panic: test timed out after")
	return r
}

// marker is a variable of the environment that all processes of a test inherit.
const marker = "PLANTED_IN="

// killMarked kills what a test has left behind: some bugs are processes that do not end.
func killMarked(folder string) {
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range environments {
		content, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(content, []byte(marker+folder+"\x00")) {
			continue
		}
		var process int
		if _, err := fmt.Sscanf(file, "/proc/%d/environ", &process); err == nil {
			_ = syscall.Kill(process, syscall.SIGKILL)
		}
	}
}
