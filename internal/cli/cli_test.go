package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
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

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/serve/agent"
	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/internal/show/report"
)

// TestMain lets this test binary be the command ringleader too, as cmd/ringleader wires it, on the PATH
// of scripts and tests.
func TestMain(m *testing.M) {
	agent.Be()                         // a member that runs a command starts this program
	_ = flag.Set("test.parallel", "4") // tests wait for processes more than for cores
	if signal.Ignored(os.Interrupt) {  // as in what a script starts with &: programs would inherit that
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	testscript.Main(withCaches{m}, map[string]func(){"ringleader": func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		context.AfterFunc(ctx, stop)
		code := Run(ctx, "ringleader", all.Algorithms, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
		stop()
		os.Exit(code)
	}, "doomed": doom})
}

// long lets tests take minutes.
var long = flag.Bool("long", false, "besiege members by 10 000 idle and 1000 busy clients and 1 GB of noise, with the usual lease; compute all orders of the results again; run every command of the pages; let a worker give up a long piece")

// cacheVariables name the directory of caches, on one system or another.
var cacheVariables = []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"}

// withCaches runs tests with a directory of caches of their own, which has a token for servers that commands start.
type withCaches struct{ *testing.M }

func (m withCaches) Run() int {
	if hangup := syscall.SIGHUP; signal.Ignored(hangup) { // as under nohup: programs would inherit that
		signal.Notify(make(chan os.Signal, 1), hangup)
	}
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

// onlyComputes skips a test with -short: the race detector has nothing to see in it.
func onlyComputes(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it only computes")
	}
}

func TestScripts(t *testing.T) {
	// A call moves this process while others read their scripts.
	dir, err := filepath.Abs("testdata/script")
	if err != nil {
		t.Fatal(err)
	}
	var files []string   // nil: all of the folder
	if testing.Short() { // the others only compute
		for _, name := range []string{"join", "study"} {
			files = append(files, filepath.Join(dir, name+".txtar"))
		}
		dir = ""
	}
	testscript.Run(t, scripts(dir, files))
}

// These scripts wait for processes, beside the tests that do; their calls name no files.
func TestScriptsOfProcesses(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scripts("testdata/live", nil))
}

// scripts are the settings for scripts: those of a folder, and files.
func scripts(dir string, files []string) testscript.Params {
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
	got := Run(context.Background(), "ringleader", all.Algorithms, args, strings.NewReader(stdin), ts.Stdout(), ts.Stderr(), ts.Getenv)
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

// call runs a command line in this process.
func call(args ...string) (code int, stdout, stderr string) {
	return callWith(nil, args...)
}

// callWith runs a command in this process, with variables of the environment.
func callWith(variables map[string]string, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = Run(context.Background(), "ringleader", all.Algorithms, args, strings.NewReader(""), &out, &err, func(name string) string { return variables[name] })
	return code, out.String(), err.String()
}

func TestWrongCallsExitWithTwoAndOneLineThatNamesWhatWorks(t *testing.T) {
	for _, c := range []struct{ call, says string }{
		{"dmo", `unknown command "dmo"; did you mean demo?`},
		{"help dmo", `unknown command "dmo"; did you mean demo?`},
		{"dmo --members 3", `unknown command "dmo"; did you mean demo?`},
		{"--members", "has no flag --members; choose one of --help, --version"},
		{"algorithms lcr --markdown", "--markdown prints the table of all algorithms; it takes no name"},
		{"algorithms --json --markdown", "a result has one form: --json or --markdown"},
		{"demo --member 3", "ringleader demo has no flag --member; did you mean --members?"},
		{"demo --members", "flag needs an argument: --members; try ringleader demo --help"},
		{"demo --members five", `--members wants a whole number, not "five"`},
		{"demo --members 0", "--members is from 1 to 20, not 0"},
		{"demo --for soon", `--for wants a duration such as 250ms or 20s, not "soon"`},
		{"demo --for -1s", "--for is a time above 0"},
		{"demo --scenario cra", `unknown scenario "cra"; did you mean crash?`},
		{"demo crash", `ringleader demo takes flags only, not "crash"; try ringleader demo --help`},
		{"run tree --n 3 --edges=", "--edges is empty; give it a value, or leave it out"},
		{"run preference --n 3 --votes= --json", "--votes is empty; give it a value, or leave it out"},
		{"join --id 1 --member 1=127.0.0.1:7001 --data=", "--data is empty; give it a value, or leave it out"},
		{"join --id 1 --member 1=127.0.0.1:7001 --data d --progress-path=", "--progress-path is empty; give it a value, or leave it out"},
		{"run lcr --n 3 --draw none/a.svg --draw-topology none/./a.svg", "--draw and --draw-topology write none/./a.svg both; give each a file of its own"},
		{"compare lcr --n 4 --draw none/a.svg --out none/a.svg", "--draw and --out write none/a.svg both; give each a file of its own"},
		{"init", "ringleader init needs --data; try ringleader init --help"},
		{"init --data d", "ringleader init needs --group"},
		{"init --data d --group g", "ringleader init needs --id"},
		{"init --data= --group g --id 1", "--data is empty; give it a value, or leave it out"},
		{"init --data /dev/null/d --group g --id 0", "--id is at least 1, not 0"},
		{"members remove --data d --id 3 --id 2", "--id is given twice, and takes one number"},
		{"verify lcr --n 3 --random 0", "--random is at least 1, not 0"},
		{"verify lcr --n 3 --max-states 0", "--max-states is at least 1, not 0"},
		{"run bully --n 3 --until 0", "--until is at least 1, not 0"},
		{"init --data d --group g --id 1 --groups 0", "--groups is from 1 to 16383, not 0"},
		{"init --data d --group g --id 1 --groups 16384", "--groups is from 1 to 16383, not 16384"},
		{"join", "ringleader join needs --id; try ringleader join --help"},
		{"join --id 1", "ringleader join needs --member"},
		{"join --id -1", `--id wants a whole number from 0 to 2⁶⁴ - 1, not "-1"`},
		{"join --id 18446744073709551616", "--id wants a whole number from 0 to 2⁶⁴ - 1"},
		{"join --id 1 --member 1 --data d", `--member wants ID=HOST:PORT, such as 1=127.0.0.1:7001, with an identifier from 1 to 2⁶⁴ - 1, not "1"`},
		{"join --id 1 --member 0=127.0.0.1:7001 --data d", "an identifier from 1"},
		{"join --id 1 --member 1=somewhere --data d", `--member 1 wants HOST:PORT, such as 127.0.0.1:7001, not "somewhere"`},
		{"join --id 1 --member 1=127.0.0.1:99999 --data d", `--member 1 wants HOST:PORT`},
		{"join --id 1 --member 1=127.0.0.1:7001 --listen 7001 --data d", `--listen wants HOST:PORT`},
		{"join --id 1 --member 1=127.0.0.1:7001 --http 8001 --data d", `--http wants HOST:PORT`},
		{"join --id 1 --member 1=127.0.0.1:7001 --member 1=127.0.0.1:7002 --data d", "member 1 is listed twice"},
		{"members add --data d", "takes one argument, the identifier of a member"},
		{"transfer -1 --data d", "ringleader transfer takes no negative number as an argument"},
		{"members add --data d --id 4", "--id needs --address"},
		{"members add --data d --id 4 --address :7001", "--address is where the others reach the member: it needs a host, as in 10.0.0.4:7001"},
		{"members add --data d --id 4 --address ::1:7001", `--address wants HOST:PORT, such as 127.0.0.1:7001, not "::1:7001"`},
		{"members add --data d --id 4 --address a:7001 --priority 0", "--priority is from 1 to 65535, and not for a --witness"},
		{"members remove x --data d", "a member is an identifier from 1"},
		{"members", "needs --data, --http or --https"},
		{"join --id 2 --member 1=127.0.0.1:7001 --data d", "ID 2 is not among the members"},
		{"join --id 1 --member 1=127.0.0.1:7001 --member 2=127.0.0.1:7001 --data d", "have the same address"},
		{"join --id 1 --member 1=127.0.0.1:7001 --data d --suspicion 60ms", "--suspicion (60ms) must be"},
	} {
		code, stdout, stderr := call(strings.Fields(c.call)...)
		if code != report.ExitUsage || stdout != "" || strings.Count(stderr, "\n") != 1 ||
			!strings.HasPrefix(stderr, "ringleader: ") || !strings.Contains(stderr, c.says) {
			t.Errorf("ringleader %s: exit status %d, stdout %q, stderr %q, want one line with %q", c.call, code, stdout, stderr, c.says)
		}
	}
}

func TestEveryCommandHasExamplesThatParse(t *testing.T) {
	root := func() *cobra.Command {
		return commandLine(&plan.Program{Printer: &report.Printer{Name: "ringleader", Getenv: os.Getenv}}).root()
	}
	var check func(*cobra.Command)
	check = func(command *cobra.Command) {
		for _, sub := range command.Commands() {
			check(sub)
		}
		if command.Example == "" {
			t.Errorf("%s has no example", command.CommandPath())
		}
		for line := range strings.Lines(strings.ReplaceAll(command.Example, "\\\n", "")) {
			_, arguments, found := strings.Cut(line, "ringleader ")
			if !found {
				t.Errorf("%s: the example %q does not call ringleader", command.CommandPath(), line)
				continue
			}
			called, rest, err := root().Find(strings.Fields(arguments)) // flags of an example before would stay
			if err == nil {
				err = called.ParseFlags(rest)
			}
			if err == nil {
				err = called.ValidateArgs(called.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: the example %q: %v", command.CommandPath(), line, err)
			}
		}
	}
	check(root())
}

type broken struct{}

func (broken) Write([]byte) (int, error) { panic("a\npanic") }

func TestABugIsOneLineAndItsStackIsOnDemand(t *testing.T) {
	for debug, stack := range map[string]bool{"": false, "1": true} {
		var stderr bytes.Buffer
		code := Run(context.Background(), "ringleader", all.Algorithms, []string{"help"}, strings.NewReader(""), broken{}, &stderr, func(name string) string {
			return map[string]string{"RINGLEADER_DEBUG": debug}[name]
		})
		first, rest, _ := strings.Cut(stderr.String(), "\n")
		if code != report.ExitNo || !strings.HasPrefix(first, "ringleader: a; panic (this is a bug") || strings.Contains(rest, "cli_test.go") != stack {
			t.Errorf("RINGLEADER_DEBUG=%s: exit status %d, stderr %q", debug, code, stderr.String())
		}
	}
}

func TestInsteadNamesTheNearestChoiceOrAll(t *testing.T) {
	choices := []string{"lcr", "ring-bully", "bully"}
	for word, want := range map[string]string{
		"lrc":       "did you mean lcr?",
		"rng-bully": "did you mean ring-bully?",
		"ring":      "did you mean ring-bully?",
		"paxos":     "choose one of lcr, ring-bully, bully",
	} {
		if got := option.Instead(word, choices); got != want {
			t.Errorf("instead(%q) = %q, want %q", word, got, want)
		}
	}
}
