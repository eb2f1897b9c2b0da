package trials

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/cli"
	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/cli/jobs"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/work"
	"ringleader.example/ringleader/internal/study/worktest"
)

// worked are commands with work of every kind, without the flags for results.
var worked = []string{
	"compare lcr peterson itai-rodeh preference --n 4..16 --orders 40 --order random,increasing",
	"compare lcr franklin stop-and-go-p1 --n 3,5 --order all",
	"count lcr --n 37 --order random --seed 7",
	"count ring-bully --n 37 --order decreasing",
	"count peterson --ids 5,3,8,1,9,2,7,4,6,30,11",
	"verify peterson --n 5 --start all",
	"verify ring-bully --n 4 --extremes --reduce auto",
	"verify lcr --n 6 --max-states 200", // ends early, in one of the last orders
	"worst franklin --n 6 --of election",
	"worst stop-and-go-p2 --n 6 --tries 400",
	"reproduce S4:assumption",
}

// narrow are flags of verify that leave nothing wider to try first, which takes seconds under the race detector. The scripts verify
// without them.
const narrow = "--reorder=false --start all"

// opened opens the work of a command in the way a worker does.
func opened(t *testing.T, call string) (work.Head, work.Task) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shard")
	args := append(strings.Fields(call), "--shard", "9999/10000", "--out", path) // which has no unit of so small a job, so that nothing is computed
	if code, _, stderr := clitest.CallWith(nil, args...); code == report.ExitUsage {
		t.Fatalf("%s: %s", call, stderr)
	}
	head, _, err := work.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := plan.NewProgram("ringleader", all.Algorithms, strings.NewReader(""), io.Discard, io.Discard, os.Getenv)
	task, err := jobs.Kinds(p)[head.Kind](head.Spec)
	if err != nil {
		t.Fatal(err)
	}
	return head, task
}

// output is what a command prints, and its exit status.
type output struct {
	code           int
	stdout, stderr string
}

// once returns what a command of [worked] or one like it prints. Tests compare it with what pieces, shards and workers give, and it is
// always the same, so it is computed once.
func once(line string) (code int, stdout, stderr string) {
	first, _ := outputs.LoadOrStore(line, sync.OnceValue(func() (o output) {
		o.code, o.stdout, o.stderr = clitest.Call(strings.Fields(line)...)
		return o
	}))
	o := first.(func() output)()
	return o.code, o.stdout, o.stderr
}

var outputs sync.Map // by line

// kept is what a command prints that keeps its results, and the file with them. It is computed once: tests copy the file.
func kept(t *testing.T, line string) (o output, file []byte) {
	t.Helper()
	type computed struct {
		output
		file []byte
		err  error
	}
	first, _ := keptResults.LoadOrStore(line, sync.OnceValue(func() (c computed) {
		folder, err := os.MkdirTemp("", "kept")
		if err != nil {
			return computed{err: err}
		}
		defer os.RemoveAll(folder)
		path := filepath.Join(folder, "file")
		c.code, c.stdout, c.stderr = clitest.Call(append(strings.Fields(line), keeping(line), path)...)
		c.file, c.err = os.ReadFile(path)
		return c
	}))
	c := first.(func() computed)()
	if c.err != nil {
		t.Fatal(c.err)
	}
	return c.output, c.file
}

var keptResults sync.Map // by line

// keeping is the flag of a command for the file of its results.
func keeping(line string) string {
	if strings.HasPrefix(line, "reproduce") {
		return "--keep"
	}
	return "--out"
}

// Results of every kind, of any cuts, in any order and twice, are the same bytes, and print the same.
func TestPiecesOfEveryKindInAnyOrderPrintWhatTheCommandPrints(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it only computes, for minutes under the race detector")
	}
	for _, line := range worked {
		t.Run(line, func(t *testing.T) {
			head, task := opened(t, line)
			wantCode, want, wantErr := once(line + " --json")
			whole, err := task.Compute(t.Context(), work.Piece{From: 0, To: task.Units()})
			if err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(2) { // each computes all once more
				parts := worktest.Cut(t, task, 1+task.Units()/4, seed)
				results, err := work.NewResults(task, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(t.TempDir(), "parts")
				f, err := work.OpenFile(path, head.Job, task, work.Shard{}, head.Call)
				if err != nil {
					t.Fatal(err)
				}
				for _, part := range parts {
					if _, err := results.Take(part.Piece, part.Result); err != nil {
						t.Fatal(err)
					}
					if err := f.Add(part); err != nil {
						t.Fatal(err)
					}
				}
				f.Close()
				if joined, err := results.Joined(); err != nil || !bytes.Equal(joined, whole) {
					t.Fatalf("seed %d: %s, %v\nwant %s", seed, joined, err, whole)
				}
				if code, stdout, stderr := clitest.Call("merge", path, "--", "--json"); code != wantCode || stdout != want || stderr != wantErr {
					t.Fatalf("seed %d: exit status %d, %s%s\nwant %d, %s%s", seed, code, stdout, stderr, wantCode, want, wantErr)
				}
			}
		})
	}
}

func TestShardsOfEveryKindMergeToWhatTheCommandPrints(t *testing.T) {
	clitest.OnlyComputes(t)
	t.Parallel()
	for _, line := range worked {
		t.Run(line, func(t *testing.T) {
			folder, files := t.TempDir(), []string(nil)
			for _, shard := range []string{"3/3", "1/3", "2/3", "1/2"} {
				path := filepath.Join(folder, strings.ReplaceAll(shard, "/", "-"))
				code, stdout, stderr := clitest.Call(append(strings.Fields(line), "--shard", shard, "--out", path)...)
				if code != report.ExitFine || !strings.HasPrefix(stdout, "shard "+shard+" is complete in ") {
					t.Fatalf("exit status %d, %s%s", code, stdout, stderr)
				}
				files = append(files, path)
			}
			wantCode, want, wantErr := once(line)
			if code, stdout, stderr := clitest.Call(append([]string{"merge", files[1]}, files...)...); code != wantCode || stdout != want || stderr != wantErr {
				t.Errorf("exit status %d, %s%s\nwant %d, %s%s", code, stdout, stderr, wantCode, want, wantErr)
			}
		})
	}
}

func TestAMergeNamesWhatIsMissingOrDoesNotFit(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := func(name string) string { return filepath.Join(folder, name) }
	for _, shard := range []string{"1/4", "2/4", "4/4"} {
		clitest.Call(append(strings.Fields("verify lcr --n 5 "+narrow), "--shard", shard, "--out", file(shard[:1]))...)
	}
	clitest.Call(append(strings.Fields("verify lcr --n 4 "+narrow), "--shard", "1/4", "--out", file("other"))...)
	text, err := os.ReadFile(file("2"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for name, text := range map[string][]byte{
		"part":    bytes.Join(lines[:2], nil),
		"old":     bytes.Replace(text, []byte(`"version":"`), []byte(`"version":"old `), 1),
		"diary":   []byte("my diary\n"),
		"foreign": worktest.Seal(append(bytes.Clone(lines[0]), `{"from":0,"to":99,"result":{}}`+"\n"...)),
		"damaged": bytes.Replace(text, []byte(`"states":`), []byte(`"states":1`), 1),
	} {
		if err := os.WriteFile(file(name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args, says string
		code       int
	}{
		{"1 4 2", "missing: shard 3/4; the same command computes each: ringleader verify lcr --n 5 " + narrow + " --shard NUMBER/4 --out FILE", report.ExitNo},
		{"1", "missing: shard 2/4, 3/4, 4/4; ", report.ExitNo},
		{"1 4 part", "missing: shard 3/4; not complete: shard 2/4 in " + file("part") + "; ", report.ExitNo},
		{"1 other", "other is of another job than ", report.ExitNo},
		{"1 old", "; results of different versions are not merged", report.ExitNo},
		{"diary", "is no file that --out has written", report.ExitNo},
		{"none", "no such file", report.ExitNo},
		{"1 damaged", "damaged has a damaged result; delete the file, and compute it again", report.ExitNo},
		{"foreign", "a shard has results that are not of this job: ", report.ExitNo},
		{"1 -- --max-states 7", "flags after -- choose how results are shown, such as --json", report.ExitUsage},
		{"", "ringleader merge needs the files of the shards", report.ExitUsage},
	} {
		names, shown, _ := strings.Cut(c.args, "--")
		args := []string{"merge"}
		for _, name := range strings.Fields(names) {
			args = append(args, file(name))
		}
		if shown != "" {
			args = append(append(args, "--"), strings.Fields(shown)...)
		}
		if code, stdout, stderr := clitest.Call(args...); code != c.code || stdout != "" || !strings.Contains(stderr, c.says) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("merge %s: exit status %d, %q and %q; want %d and %s", c.args, code, stdout, stderr, c.code, c.says)
		}
	}
}

func TestWhatIsKnownOfOtherPositionsIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	args := []string{"count", "lcr", "--n", "9", "--out", path}
	clitest.Call(args...)
	for _, change := range []struct{ from, to string }{{`"read":9`, `"read":8`}, {`"last":9`, `"last":8`}, {`"to":9`, `"to":8`}} {
		text := clitest.Contents(t, path)
		if err := os.WriteFile(path, worktest.Seal(bytes.Replace(text, []byte(change.from), []byte(change.to), 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, stdout, stderr := clitest.Call(args...); code != report.ExitNo || stdout != "" || !strings.Contains(stderr, "is no result of this job") {
			t.Errorf("with %s: exit status %d, %s%s", change.to, code, stdout, stderr)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWorkThatIsKeptIsRefusedWhereItCannotBeRepeated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for line, says := range map[string]string{
		"verify lcr --n 4 --shard 1/2":                   "--shard 1/2 needs --out FILE",
		"verify lcr --n 4 --shard 3/2 --out FILE":        `--shard: "3/2" is not a shard`,
		"verify lcr --n 4 --out -":                       "stdout cannot be read again",
		"verify lcr --n 2..4 --extremes --out FILE":      "--out is for the results of one size",
		"verify lcr --n 4 --random 5 --out FILE":         "leave it out with --probabilities, --random and --wardens",
		"verify lcr --n 4 --shrink --wardens --out FILE": "leave it out with --probabilities, --random and --wardens",
		"compare lcr --n 4 --shard 1/2 --out FILE":       "--shard needs --orders",
		"count lcr --n 4 --shard 1/2":                    "--shard 1/2 needs --out FILE",
		"count higham-przytycka --n 4 --out FILE":        "the count of higham-przytycka is one pass over the ring",
		"reproduce S3 --shard 1/2":                       "stdout cannot be read again",
	} {
		code, stdout, stderr := clitest.Call(strings.Fields(strings.ReplaceAll(line, "FILE", path))...)
		if says = strings.ReplaceAll(says, "FILE", path); code != report.ExitUsage || stdout != "" || !strings.Contains(strings.ReplaceAll(stderr, "--out FILE", "--out "+path), says) {
			t.Errorf("%s: exit status %d, %q and %q; want %s", line, code, stdout, stderr, says)
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("a call that was wrong leaves a file")
	}
}

// A job may come from another machine, so none names a file, and none is another command.
func TestAJobFromElsewhereReadsAndWritesNoFile(t *testing.T) {
	p := plan.NewProgram("ringleader", all.Algorithms, strings.NewReader(""), io.Discard, io.Discard, os.Getenv)
	path := filepath.Join(t.TempDir(), "file")
	for _, words := range [][]string{
		{"compare", "lcr", "--n=4", "--orders=2", "--out=" + path},
		{"compare", "lcr", "--n=4", "--orders=2", "--draw=" + path + ".svg"},
		{"compare", "--study=" + path},
		{"verify", "lcr", "--n=4", "--save=" + path},
		{"verify", "preference", "--n=3", "--votes=" + path},
		{"verify", "preference", "--n=3", "--scores=" + path},
		{"verify", "--gallery"},
		{"verify", "lcr", "--n=4", "--nats=embed", "--nats-store=" + path},
		{"worst", "lcr", "--n=4", "--nats-ca=" + path},
		{"worst", "lcr", "--n=4", "--", "--out=" + path},
		{"count", "preference", "--n=4", "--votes=" + path},
		{"count", "lcr", "--n=4", "--out=" + path},
		{"run", "lcr", "--n=4"},
		{"demo"},
		{"reproduce", "--markdown", "--out=" + path},
		{"worst", "--help"},
	} {
		spec, _ := json.Marshal(words[1:])
		if task, err := jobs.Open(p, words[0], spec); err == nil || task != nil {
			t.Errorf("%v is opened: %v", words, task)
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("a job has written a file")
	}
}

func TestWorkThatIsStoppedTellsHowToResumeIt(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	path := filepath.Join(t.TempDir(), "file")
	for line, says := range map[string]string{
		"verify peterson --n 7 --start all":    "stopped with 0 of 720 orders, which are lost; --out FILE keeps them",
		"verify lcr --n 7 --out FILE1":         "stopped with 0 of 720 orders; the same command continues from there",
		"worst lcr --n 64 --out FILE2":         "stopped with 0 of 20000 inputs; the same command continues from there",
		"reproduce S3 --keep FILE3":            "statements; the same command continues from there",
		"reproduce S3 --shard 2/2 --out FILE4": "statements; the same command continues from there",
	} {
		var stdout, stderr bytes.Buffer
		code := cli.Run(stopped, "ringleader", all.Algorithms, strings.Fields(strings.ReplaceAll(line, "FILE", path)), strings.NewReader(""), &stdout, &stderr, func(string) string { return "" })
		if code != report.ExitIncomplete || stdout.Len() > 0 || !strings.Contains(stderr.String(), says) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%s: exit status %d, %q and %q", line, code, stdout.String(), stderr.String())
		}
	}
}

func TestResultsThatCannotBeKeptEndTheWork(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	code, _, stderr := clitest.Call("verify", "lcr", "--n", "4", "--out", "/dev/full")
	if want := "ringleader: cannot keep results: /dev/full is no regular file; choose another file for --out\n"; code != report.ExitNo || stderr != want {
		t.Errorf("exit status %d, %q", code, stderr)
	}
	code, _, stderr = clitest.Call("verify", "lcr", "--n", "4", "--out", filepath.Join(t.TempDir(), "none", "file"))
	if code != report.ExitNo || !strings.Contains(stderr, "no such file or directory") {
		t.Errorf("exit status %d, %q", code, stderr)
	}
}

// Kept results are complete: the same call prints the same, and computes nothing.
func TestWorkThatIsCompleteIsNotDoneAgain(t *testing.T) {
	clitest.OnlyComputes(t)
	t.Parallel()
	for i, line := range worked {
		first, before := kept(t, line)
		path := filepath.Join(t.TempDir(), fmt.Sprint(i))
		if err := os.WriteFile(path, before, 0o600); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := clitest.Call(append(strings.Fields(line), keeping(line), path)...)
		after, err := os.ReadFile(path)
		if (output{code, stdout, stderr}) != first || err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s: exit status %d, then %d: %s%s\nthen\n%s%s", line, first.code, code, first.stdout, first.stderr, stdout, stderr)
		}
		if _, plain, _ := once(line); plain != stdout {
			t.Errorf("%s: %s\nwithout a file\n%s", line, stdout, plain)
		}
	}
}
