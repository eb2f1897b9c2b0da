package cli_test

import (
	"bytes"
	"context"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/cli"
	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/show/report"
)

func TestMain(m *testing.M) { clitest.Main(m, nil) }

// long lets tests take minutes.
var long = flag.Bool("long", false, "compute all orders of the results again; run every command of the pages")

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
	testscript.Run(t, clitest.Scripts(dir, files))
}

func TestWrongCallsExitWithTwoAndOneLineThatNamesWhatWorks(t *testing.T) {
	for _, c := range []struct{ call, says string }{
		{"dmo", `unknown command "dmo"; did you mean demo?`},
		{"help dmo", `unknown command "dmo"; did you mean demo?`},
		{"dmo --members 3", `unknown command "dmo"; did you mean demo?`},
		{"--members", "has no flag --members; ringleader --help all lists them"},
		{"worst lcr --order random", "ringleader worst has no flag --order; ringleader worst --help all lists them"}, // two letters of --tries are the same
		{"run lcr --sede 3", "ringleader run has no flag --sede; did you mean --seed?"},
		{"run lcr -x", "ringleader run has no flag --x; ringleader run --help all lists them"},
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
		{"explain d --change 2", "--change chooses what --draw or --export shows; give one of them"},
		{"members remove x --data d", "a member is an identifier from 1"},
		{"members", "needs --data, --http or --https"},
		{"join --id 2 --member 1=127.0.0.1:7001 --data d", "ID 2 is not among the members"},
		{"join --id 1 --member 1=127.0.0.1:7001 --member 2=127.0.0.1:7001 --data d", "have the same address"},
		{"join --id 1 --member 1=127.0.0.1:7001 --data d --suspicion 60ms", "--suspicion (60ms) must be"},
	} {
		code, stdout, stderr := clitest.Call(strings.Fields(c.call)...)
		if code != report.ExitUsage || stdout != "" || strings.Count(stderr, "\n") != 1 ||
			!strings.HasPrefix(stderr, "ringleader: ") || !strings.Contains(stderr, c.says) {
			t.Errorf("ringleader %s: exit status %d, stdout %q, stderr %q, want one line with %q", c.call, code, stdout, stderr, c.says)
		}
	}
}

func TestEveryCommandHasExamplesThatParse(t *testing.T) {
	root := func() *cobra.Command { return cli.Tree("ringleader", all.Algorithms) }
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
		code := cli.Run(context.Background(), "ringleader", all.Algorithms, []string{"help"}, strings.NewReader(""), broken{}, &stderr, func(name string) string {
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
