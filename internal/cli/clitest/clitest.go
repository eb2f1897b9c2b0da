// Package clitest calls the command line of ringleader in tests: in the process of the test, in scripts, and as a program.
package clitest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rogpeppe/go-internal/testscript"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/cli"
	"ringleader.example/ringleader/internal/serve/agent"
	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/internal/serve/warden"
)

// Main runs tests. It lets their binary be the command ringleader too, as cmd/ringleader wires it, on the PATH of scripts and tests, and others.
func Main(m *testing.M, others map[string]func()) {
	agent.Be()                         // a member that runs a command starts this program
	_ = flag.Set("test.parallel", "8") // tests wait for processes more than for cores
	if signal.Ignored(os.Interrupt) {  // as in what a script starts with &: programs would inherit that
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	commands := map[string]func(){"ringleader": func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		context.AfterFunc(ctx, stop)
		code := cli.Run(ctx, "ringleader", all.Algorithms, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
		stop()
		os.Exit(code)
	}}
	maps.Copy(commands, others)
	testscript.Main(withCaches{m}, commands)
}

// cacheVariables name the directory of caches, on one system or another.
var cacheVariables = []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"}

// withCaches runs tests with a directory of caches of their own, which has a token for servers that commands start.
type withCaches struct{ *testing.M }

func (m withCaches) Run() int {
	if warden.Warded() { // of a command that a test runs in its own process: tests would start tests for ever
		fmt.Fprintln(os.Stderr, "a test runs join or exec in its own process, and its warden starts the tests again: start the program ringleader")
		return 1
	}
	if hangup := syscall.SIGHUP; signal.Ignored(hangup) { // as under nohup: programs would inherit that
		signal.Notify(make(chan os.Signal, 1), hangup)
	}
	rig.Environment()
	folder, err := os.MkdirTemp("", "caches")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	for _, name := range cacheVariables {
		_ = os.Setenv(name, folder)
	}
	return m.M.Run()
}

// OnlyComputes skips a test with -short: the race detector has nothing to see in it.
func OnlyComputes(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it only computes")
	}
}

// Scripts are the settings for scripts: those of a folder, and files.
func Scripts(dir string, files []string) testscript.Params {
	return testscript.Params{
		Dir: dir, Files: files,
		Setup: func(e *testscript.Env) error {
			for _, name := range cacheVariables {
				e.Setenv(name, filepath.Join(e.WorkDir, "caches"))
			}
			e.Setenv("COLUMNS", "1000") // so that a line of output is one line; width.txtar is about narrow terminals
			addresses, err := rig.FreeAddresses(2)
			for i, address := range addresses {
				_, port, _ := net.SplitHostPort(address)
				e.Setenv(fmt.Sprintf("PORT%d", i+1), port)
			}
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"calls": calls, "calls-here": callsHere, "exits": exits, "result": result},
	}
}

// exits runs a command that must exit with a status, or with one of two: exits STATUS[|STATUS] COMMAND ARGUMENT...
func exits(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND ARGUMENT...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if !slices.Contains(strings.Split(args[0], "|"), strconv.Itoa(got)) {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}

// calls runs a command line in this process, where hundreds start sooner than in their own: calls STATUS ARGUMENT... The folder is that
// of the tests, so a call that names a file is for [callsHere]; one that starts this program, as join does with its warden, is for exec.
func calls(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) < 2 {
		ts.Fatalf("usage: calls STATUS ARGUMENT...")
	}
	runsInProcess(ts, args[0], args[1:], "")
}

// here is held by the call that has moved this process into the folder of its script.
var here sync.Mutex

// callsHere is calls in the folder of the script, one such call of all scripts at a time: calls-here STATUS [<FILE] ARGUMENT... The file is what
// the command reads from stdin.
func callsHere(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) < 2 {
		ts.Fatalf("usage: calls-here STATUS [<FILE] ARGUMENT...")
	}
	status, args, stdin := args[0], args[1:], ""
	if file, is := strings.CutPrefix(args[0], "<"); is {
		args, stdin = args[1:], ts.ReadFile(file)
	}
	here.Lock()
	defer here.Unlock()
	home, err := os.Getwd()
	ts.Check(err)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	defer func() { ts.Check(os.Chdir(home)) }()
	runsInProcess(ts, status, args, stdin)
}

// runsInProcess fails unless a command line exits with a status.
func runsInProcess(ts *testscript.TestScript, status string, args []string, stdin string) {
	want, err := strconv.Atoi(status)
	ts.Check(err)
	got := cli.Run(context.Background(), "ringleader", all.Algorithms, args, strings.NewReader(stdin), ts.Stdout(), ts.Stderr(), ts.Getenv)
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// ownCall is the part of a result about its call.
var ownCall = regexp.MustCompile(`"command":"(?:[^"\\]|\\.)*",`)

// result keeps in a file what was printed, but for the call: result FILE.
func result(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) != 1 {
		ts.Fatalf("usage: result FILE")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(ownCall.ReplaceAllString(ts.ReadFile("stdout"), "")), 0o600))
}

// Call runs a command line in this process.
func Call(args ...string) (code int, stdout, stderr string) {
	return CallWith(nil, args...)
}

// CallWith runs a command in this process, with variables of the environment.
func CallWith(variables map[string]string, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = cli.Run(context.Background(), "ringleader", all.Algorithms, args, strings.NewReader(""), &out, &err, func(name string) string { return variables[name] })
	return code, out.String(), err.String()
}

// Limit is how long the tests wait for what should take milliseconds: they fail late rather than by
// the speed of a machine.
const Limit = time.Minute

// Eventually polls until a condition holds, and more seldom the longer that takes, as a look costs about as much as a command; after Limit
// it fails with the last complaint.
func Eventually(t *testing.T, complaint func() error) {
	t.Helper()
	pause, waited := 10*time.Millisecond, time.Duration(0)
	for ticker := time.NewTicker(pause); ; <-ticker.C {
		err := complaint()
		if err == nil {
			return
		}
		if waited += pause; waited > Limit {
			t.Fatalf("still after %s: %v", Limit, err)
		}
		pause = min(pause*3/2, 100*time.Millisecond)
		ticker.Reset(pause)
	}
}

// Await waits until a condition holds.
func Await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	Eventually(t, func() error {
		if holds() {
			return nil
		}
		return errors.New(what)
	})
}

// Contents returns a file.
func Contents(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Arguments are the words of a command, of which some are in quotes.
func Arguments(command string) (words []string) {
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

// Full is a disk without room.
type Full struct{}

// Write fails.
func (Full) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "/dev/stdout", Err: errors.New("no space left on device")}
}

// SchemaOf is one definition of docs/schema.json.
func SchemaOf(t *testing.T, root, definition string) *jsonschema.Resolved {
	t.Helper()
	first, _ := schemas.LoadOrStore(filepath.Join(root, "docs/schema.json")+"#"+definition, sync.OnceValues(func() (*jsonschema.Resolved, error) {
		return schemaOf(root, definition)
	}))
	resolved, err := first.(func() (*jsonschema.Resolved, error))()
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// schemas has what was resolved: that takes as long as many commands do whose output is checked against it.
var schemas sync.Map

func schemaOf(root, definition string) (*jsonschema.Resolved, error) {
	text, err := os.ReadFile(filepath.Join(root, "docs/schema.json"))
	if err != nil {
		return nil, err
	}
	var whole jsonschema.Schema
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, err
	}
	if whole.Defs[definition] == nil {
		return nil, fmt.Errorf("the schema does not define %s", definition)
	}
	return (&jsonschema.Schema{Ref: "#/$defs/" + definition, Defs: whole.Defs}).Resolve(nil)
}

// Valid checks a line of JSON.
func Valid(schema *jsonschema.Resolved, line string) error {
	var value any
	if err := json.Unmarshal([]byte(line), &value); err != nil {
		return err
	}
	return schema.Validate(value)
}

// Lines counts the lines of a file.
func Lines(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	return bytes.Count(text, []byte("\n"))
}
