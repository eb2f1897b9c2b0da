//go:build unix

package trials

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/study/broker"
)

// printedAsJSON is what a command prints, which may ask a server.
func printedAsJSON(url, line string) (code int, stdout, stderr string) {
	if slices.Contains(worked, line) {
		return once(line + " --json")
	}
	return clitest.CallWith(map[string]string{"RINGLEADER_NATS": url}, append(clitest.Arguments(line), "--json")...)
}

func TestJSONIsAsInTheSchema(t *testing.T) {
	t.Parallel()
	clitest.OnlyComputes(t)
	saved := filepath.Join(t.TempDir(), "saved.json")
	url := natsServer(t, broker.Settings{})
	labourer(t, url)
	job := left(t, url, labour.Version(plan.VersionName()))
	for _, c := range []struct{ definition, call string }{
		{"run", "run lcr --n 3 --save " + saved},
		{"run", "replay " + saved + " --story"},
		{"run", "run bully --n 4 --fault 'crash 4 at 3' --story"},
		{"run", "run bully --n 4 --start 1,2 --delay 9"},
		{"run", "run preference --n 4 --votes 1,1,2,2"},
		{"run", "run franklin --n 8 --order decreasing --schedule burns"},
		{"run", "run itai-rodeh --n 5"},
		{"run", "run lcr --ids 5,3,5 --allow-duplicate-ids"},
		{"run", "run lcr --n 4 --lose 1/2"},
		{"run", "run tree --n 4 --topology star"},
		{"run", "run stop-and-go-p1 --n 4 --check --wake 0,-,1,-"},
		{"run", "run stop-and-go-p4 --ids 4,2,5,3 --unwilling 2"},
		{"run", "run --scenario s2-figures-2.7-2.8"},
		{"anonymous", "run lcr --n 3 --anonymous"},
		{"anonymous", "run itai-rodeh --n 3 --anonymous"},
		{"over", "run lcr --n 3 --over tcp"},
		{"over", "run bully --n 3 --dead 3 --over tcp"},
		{"over", "run lcr-synchronous --n 3 --over tcp"},
		{"count", "count lcr --n 4 --first 7"},
		{"count", "count ring-bully --n 100000"},
		{"count", "count stop-and-go-p4 --ids 4,2,5,3 --wake 0,-,3,- --unwilling 2"},
		{"verify", "verify lcr --n 3"},
		{"verify", "verify lcr --n 2..3 --extremes --reduce auto"},
		{"verify", "verify bully --n 3 --extremes"},
		{"verify", "verify lcr --n 3 --duplicate 1"},
		{"verify", "verify bully --n 3 --start every-set --param answer-timeout=2"},
		{"verify", "verify dolev-klawe-rodeh --n 5 --reorder --random 200"},
		{"gallery", "verify --gallery lelann-relays-asleep lcr-equal-identifiers"},
		{"probabilities", "verify itai-rodeh-synchronous --n 3 --param choices=2 --probabilities"},
		{"probabilities", "verify itai-rodeh-synchronous --n 2 --param choices=1 --probabilities"},
		{"worst", "worst lcr --n 4"},
		{"worst", "worst stop-and-go-p1 --n 4 --tries 100"},
		{"compare", "compare lcr stop-and-go-p1 bully --n 4,8 --orders 4"},
		{"compare", "compare lcr --n 4 --order all"},
		{"algorithms", "algorithms"},
		{"algorithms", "algorithms stop-and-go-p3"},
		{"sources", "sources"},
		{"scenarios", "scenarios"},
		{"version-of", "version"},
		{"init", "init --data " + filepath.Join(t.TempDir(), "data") + " --group payments --id 3"},
		{"statement", "reproduce S4:assumption"},
		{"jobs", "jobs list"},
		{"job", "jobs show " + job.Key()},
		{"job", "jobs cancel " + job.Key()},
		{"jobs", "jobs list"},
	} {
		schema, line1 := clitest.SchemaOf(t, "../../..", c.definition), clitest.SchemaOf(t, "../../..", "call")
		_, stdout, stderr := printedAsJSON(url, c.call)
		lines := 0
		for line := range strings.Lines(stdout) {
			lines++
			against := schema
			if c.definition == "statement" && lines == 1 {
				against = line1
			}
			if err := clitest.Valid(against, line); err != nil {
				t.Errorf("ringleader %s --json: %v\n%s", c.call, err, line)
			}
		}
		if lines == 0 {
			t.Errorf("ringleader %s --json prints nothing on stdout: %s", c.call, stderr)
		}
	}
}

func TestEventsAreAsInTheSchema(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ definition, stdin, call string }{
		{"demo", "kill leader\nrestart 1\n", "demo --members 2 --json"},
		{"join", "", "join --json --report-leases --stop-with-stdin --id 1 --member 1=" + freeAddress(t) + " --data " + newStore(t, 1)},
	} {
		events, first := clitest.SchemaOf(t, "../../..", c.definition), clitest.SchemaOf(t, "../../..", "call")
		command := exec.Command("ringleader", clitest.Arguments(c.call)...)
		command.Stdin = strings.NewReader(c.stdin)
		out, err := command.Output()
		if err != nil {
			t.Error(err)
		}
		lines := 0
		for line := range strings.Lines(string(out)) {
			against := events
			if lines == 0 {
				against = first
			}
			if err := clitest.Valid(against, line); err != nil {
				t.Errorf("ringleader %s: %v\n%s", c.call, err, line)
			}
			lines++
		}
		if lines < 3 {
			t.Errorf("ringleader %s prints %s", c.call, out)
		}
	}
}

func TestTheSchemaRefusesWhatCommandsDoNotPrint(t *testing.T) {
	_, run, _ := clitest.Call("run", "lcr", "--n", "3", "--json")
	schema := clitest.SchemaOf(t, "../../..", "run")
	for old, changed := range map[string]string{
		`"command":`: `"comand":`, `"version":`: `"v":`, `"seed":1`: `"seed":"1"`, `"parameters":{`: `"parameters":{"x":[],`,
		`"topology":"ring"`: `"topology":1`, `"start":"all"`: `"start":1`, `"leaders":[3]`: `"leaders":3`, `"agreed":true,`: "", `"complete":`: `"unknown":1,"complete":`,
	} {
		if !strings.Contains(run, old) {
			t.Errorf("%s is not in %s", old, run)
		}
		if clitest.Valid(schema, strings.Replace(run, old, changed, 1)) == nil {
			t.Errorf("%s is taken instead of %s", changed, old)
		}
	}
}

// Every result begins with what made it.
func TestEveryResultBeginsWithItsCall(t *testing.T) {
	clitest.OnlyComputes(t)
	for line1, want := range map[string]string{
		"run lcr -n 3 --draw x.svg":             `{"command":"ringleader run lcr --n 3","version":"(devel)","seed":1,"parameters":{"flag":"literal"},"topology":"ring","start":"all",`,
		"run CHANG-ROBERTS --n 3 --start 2,3":   `{"command":"ringleader run CHANG-ROBERTS --n 3 --start 2,3","version":"(devel)","seed":1,"parameters":{"flag":"literal"},"topology":"ring","start":"2,3",`,
		"run bully --n 2 --fault 'pause 1'":     `{"command":"ringleader run bully --fault 'pause 1' --n 2",`,
		"verify lcr --n 2 --start any --seed 4": `{"command":"ringleader verify lcr --n 2 --seed 4 --start any","version":"(devel)","seed":4,"parameters":{"flag":"literal"},"topology":"ring","start":"any",`,
		"count lcr --n 2":                       `{"command":"ringleader count lcr --n 2","version":"(devel)","seed":1,"parameters":{"flag":"literal"},"topology":"ring","start":"all",`,
		"worst lcr --n 2":                       `{"command":"ringleader worst lcr --n 2","version":"(devel)","seed":1,"parameters":{"flag":"literal"},"topology":"ring","start":"all",`,
		"compare lcr --n 4 --orders 1 --seed 7": `{"command":"ringleader compare lcr --n 4 --order random --orders 1 --seed 7","version":"(devel)","seed":7,"parameters":null,"topology":null,"start":"all",`,
		"algorithms lcr":                        `{"command":"ringleader algorithms lcr","version":"(devel)","seed":null,"parameters":null,"topology":null,"start":null,"algorithms":[{"name":"lcr",`,
	} {
		t.Chdir(t.TempDir())
		_, stdout, stderr := clitest.Call(append(clitest.Arguments(line1), "--json")...)
		if !strings.HasPrefix(stdout, want) {
			t.Errorf("ringleader %s --json prints\n%.300s%s\nwant\n%s", line1, stdout, stderr, want)
		}
		if !json.Valid(bytes.TrimSpace([]byte(stdout))) {
			t.Errorf("ringleader %s --json: %s", line1, stdout)
		}
	}
}
