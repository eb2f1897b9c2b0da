package trials

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/serve/disktest"
	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/broker"
)

func TestAFullDiskOfACommandLosesNothing(t *testing.T) {
	clitest.OnlyComputes(t)
	t.Parallel()
	for _, line := range []string{
		"compare lcr peterson afek-gafni-synchronous --n 4..128 --orders 60",
		"reproduce S4:assumption S4:bandwidth",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			small := disktest.Mount(t, "size=4k")
			file := small.Join("file")
			url := natsServer(t, broker.Settings{})
			labourer(t, url)
			args := append(strings.Fields(line), keeping(line), file, "--nats", url)
			command := runs(t, args...)
			if code, want := <-command.ended, "ringleader: cannot write "+file+": no space left on device\n"; code != report.ExitNo || orderly(command.stderr.String()) != want {
				t.Errorf("exit status %d, %q; want %q", code, command.stderr.String(), want)
			}
			if jobs := jobsOf(t, url); len(jobs) != 1 || jobs[0].State == "running" || jobs[0].Done == 0 {
				t.Fatalf("the server has %v", jobs)
			}
			small.Resize(t, "1m")
			want, whole := kept(t, line)
			code, stdout, stderr := clitest.Call(args...)
			if code != report.ExitFine || stdout != want.stdout || orderly(stderr) != "" {
				t.Errorf("with room: exit status %d, %s%s\nwant %s", code, stdout, stderr, want.stdout)
			}
			if got := clitest.Contents(t, file); !bytes.Equal(got, whole) {
				t.Errorf("the file has\n%s\nwant\n%s", got, whole)
			}
			if jobs := jobsOf(t, url); len(jobs) > 0 {
				t.Errorf("the server has %v", jobs)
			}
		})
	}
}

// Of work on this machine the result is printed, whenever the disk is full: at a result, or when the file is to be put in order at the end.
func TestAFullDiskLosesNoResultThatCanBePrinted(t *testing.T) {
	clitest.OnlyComputes(t)
	t.Parallel()
	for _, test := range []struct {
		line, size, says string
	}{
		{"compare lcr peterson afek-gafni-synchronous --n 4..32 --orders 3", "4k", "; the work goes on, and its result is printed\n"},
		{"compare lcr --n 4 --orders 3", "4k", "; it has all results, as they came, and what they make is printed\n"},
		{"reproduce S4:assumption S4:bandwidth --markdown", "4k", "\n"},
		{"export lcr --n 12 --format promela", "4k", "\n"},
	} {
		t.Run(test.line, func(t *testing.T) {
			t.Parallel()
			file := disktest.Mount(t, "size="+test.size).Join("file")
			code, want, stderr := clitest.Call(strings.Fields(test.line)...)
			if code != report.ExitFine {
				t.Fatalf("exit status %d, %s", code, stderr)
			}
			code, stdout, stderr := clitest.Call(append(strings.Fields(test.line), "--out", file)...)
			if said := "ringleader: cannot write " + file + ": no space left on device" + test.says; code != report.ExitNo || stdout != want || orderly(stderr) != said {
				t.Errorf("exit status %d, %q instead of %q, and\n%s\nwant\n%s", code, stderr, said, stdout, want)
			}
		})
	}
}

func TestAFullDiskOfAnEmbeddedServerLosesNothing(t *testing.T) {
	clitest.OnlyComputes(t)
	t.Parallel()
	embeds(t)
	small := disktest.Mount(t, "size=8m")
	addresses, err := rig.FreeAddresses(1)
	if err != nil {
		t.Fatal(err)
	}
	store := small.Join("store")
	const line = "reproduce S4:assumption S4:bandwidth"
	server := []string{"--nats", "embed", "--nats-listen", addresses[0], "--nats-store", store}
	url := "nats://" + addresses[0]
	command := runs(t, append(strings.Fields(line), server...)...)
	var jobs []listed
	clitest.Await(t, "there is no job", func() bool {
		jobs, _ = list(url) // the server starts with the command
		return len(jobs) == 1
	})
	// No worker is there, so the job cannot end before the disk is full.
	if code, stdout, stderr := clitest.Call("jobs", "compute", jobs[0].Job, "0..2", "--nats", url); code != report.ExitFine {
		t.Fatalf("exit status %d, %s%s", code, stdout, stderr)
	}
	small.Fill(t)
	code := <-command.ended
	says := "the NATS server cannot write to its store " + store + ": no space left on device; what is done is kept: ringleader jobs resume "
	if printed := command.stderr.String(); code != report.ExitNo || strings.Count(printed, says) != 1 {
		t.Errorf("exit status %d, %q; want %q", code, printed, says)
	}
	_, resume, _ := strings.Cut(command.stderr.String(), "what is done is kept: ringleader ")
	small.Free(t)
	code, stdout, stderr := clitest.Call(append([]string{"jobs", "list", "--json"}, server...)...)
	if want := `"units_done":3,`; code != report.ExitFine || !strings.Contains(stdout, want) {
		t.Errorf("exit status %d, %s%s\nwant %s", code, stdout, stderr, want)
	}
	worker := runs(t, "worker", "--nats", url, "--cores", "2")
	want, _ := kept(t, line)
	code, stdout, stderr = clitest.Call(strings.Fields(resume)...)
	if code != report.ExitFine || stdout != want.stdout {
		t.Errorf("with room: exit status %d, %s%s\nwant %s", code, stdout, stderr, want.stdout)
	}
	worker.interrupt()
	if code := <-worker.ended; code != report.ExitFine {
		t.Errorf("the worker ends with %d, %s", code, worker.stderr.String())
	}
}

// The command ends at its first line that cannot be written, although the next change may come hours later.
func TestAWatchThatCannotBeWrittenEnds(t *testing.T) {
	t.Parallel()
	data := newStore(t, 1)
	_, lines := start(t, "join", "--json", "--id", "1", "--data", data, "--member", "1="+freeAddress(t))
	for range 2 { // the call, and that it has started
		if err := lines.Decode(new(report.JoinEvent)); err != nil {
			t.Fatal(err)
		}
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, flags := range [][]string{{"watch"}, {"watch", "--json"}, {"status", "--watch"}} {
		ctx, end := context.WithTimeout(t.Context(), clitest.Limit)
		defer end()
		var stderr strings.Builder
		command := exec.CommandContext(ctx, "ringleader", append(flags, "--data", data)...)
		command.Stdout, command.Stderr = full, &stderr
		if command.Run(); command.ProcessState.ExitCode() != report.ExitNo || stderr.String() != "ringleader: cannot write to stdout: no space left on device\n" {
			t.Errorf("%q: %v, %q", flags, command.ProcessState, stderr.String())
		}
	}
}

// A service manager does not repeat a wrong call, and this one is right.
func TestADiskForReadingOnlyIsNoWrongCall(t *testing.T) {
	t.Parallel()
	disk := disktest.Mount(t, "")
	data := disk.Join("data")
	if code, _, stderr := clitest.Call("init", "--data", data, "--group", "jobs", "--id", "1"); code != report.ExitFine {
		t.Fatal(stderr)
	}
	disk.Protect(t)
	member := []string{"--data", data, "--group", "jobs", "--id", "1", "--member", "1=" + freeAddress(t)}
	for _, call := range [][]string{
		append([]string{"join"}, member...),
		append(append([]string{"exec"}, member...), "--", "true"),
		{"init", "--data", disk.Join("other"), "--group", "jobs", "--id", "2"},
	} {
		command := exec.Command("ringleader", call...)
		out, err := command.CombinedOutput()
		if code := command.ProcessState.ExitCode(); code != report.ExitNo || !strings.HasSuffix(string(out), "read-only file system\n") || strings.Count(string(out), "ringleader: ") != 1 {
			t.Errorf("%s: %v, %s", call[0], err, out)
		}
	}
}
