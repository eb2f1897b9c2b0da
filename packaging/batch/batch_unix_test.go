//go:build unix

// Package batch_test runs the commands of the batch systems' examples as processes, with the variables that these systems
// set. No batch system is started.
package batch_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"ringleader.example/ringleader/workbench"
)

// TestMain lets this test binary be the program.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ringleader": func() { workbench.Main() }})
}

// small is a command that is over soon.
var small = []string{"compare", "lcr", "peterson", "--n", "8..64", "--orders", "60"}

// output runs a command in a folder, and returns what it prints.
func output(t *testing.T, folder string, variables []string, name string, args ...string) string {
	t.Helper()
	command := exec.Command(name, args...)
	command.Dir, command.Env = folder, append(os.Environ(), variables...)
	out, err := command.Output()
	if exit, is := err.(*exec.ExitError); is {
		t.Fatalf("%s: %v, %s", command, err, exit.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// merged checks that the parts in a folder merge to what the whole command prints.
func merged(t *testing.T, folder string, parts []string) {
	t.Helper()
	want := output(t, folder, nil, "ringleader", small...)
	if got := output(t, folder, nil, "ringleader", append([]string{"merge"}, parts...)...); got != want {
		t.Errorf("merged:\n%s\nwant\n%s", got, want)
	}
}

func TestTheTasksOfASlurmArrayMergeToTheWhole(t *testing.T) {
	script, err := filepath.Abs("slurm.sh")
	if err != nil {
		t.Fatal(err)
	}
	folder, parts := t.TempDir(), []string(nil)
	for task := 1; task <= 3; task++ {
		variables := []string{fmt.Sprint("SLURM_ARRAY_TASK_ID=", task), "SLURM_ARRAY_TASK_MAX=3"}
		if task == 2 { // alone, a second time
			variables = []string{"SLURM_ARRAY_TASK_ID=2", "SLURM_ARRAY_TASK_MAX=2", "SHARDS=3"}
		}
		output(t, folder, variables, "sh", append([]string{script}, small...)...)
		parts = append(parts, fmt.Sprint("part-", task))
	}
	merged(t, folder, parts)
}

func TestTheIndicesOfAKubernetesJobMergeToTheWhole(t *testing.T) {
	text, err := os.ReadFile("job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "\n          args: [")
	list, _, found := strings.Cut(list, "]\n")
	_, shown, _ := strings.Cut(list, "--shard, ")
	if !found || !strings.HasPrefix(list, "compare, ") || shown == "" {
		t.Fatalf("the arguments are %q", list)
	}
	folder, parts := t.TempDir(), []string(nil)
	for index := range 3 {
		// Kubernetes puts the value of a variable in the place of $(NAME). There are 16 shards in the manifest and 3 here.
		own := strings.NewReplacer("$(JOB_COMPLETION_INDEX)/16", fmt.Sprint(index, "/3"), "$(JOB_COMPLETION_INDEX)", fmt.Sprint(index), "/parts/", folder+"/").Replace(shown)
		output(t, folder, nil, "ringleader", append(append(small[:len(small):len(small)], "--shard"), strings.Split(own, ", ")...)...)
		parts = append(parts, fmt.Sprint("part-", index))
	}
	merged(t, folder, parts)
}
