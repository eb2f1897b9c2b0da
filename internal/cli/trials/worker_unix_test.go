//go:build unix

package trials

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/broker"
)

// staff is the process of a worker with one core.
type staff struct {
	*exec.Cmd
	stdout, stderr stream
	address        string // of its numbers
}

func employ(t *testing.T, url string) *staff {
	t.Helper()
	addresses, err := rig.FreeAddresses(1)
	if err != nil {
		t.Fatal(err)
	}
	s := &staff{Cmd: exec.Command("ringleader", "worker", "--nats", url, "--cores", "1", "--metrics", addresses[0]), address: addresses[0]}
	s.Stdout, s.Stderr = &s.stdout, &s.stderr
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Process.Kill() }) // if it has ended, there is nothing to kill
	return s
}

// busy reports whether the worker computes.
func (s *staff) busy() bool {
	response, err := http.Get("http://" + s.address + "/metrics")
	if err != nil {
		return false // it has not begun, or has ended
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return err == nil && strings.Contains(string(text), "\nringleader_worker_busy 1\n")
}

// interrupted sends Ctrl-C to a worker that computes, and waits until it prints that it ends.
func (s *staff) interrupted(t *testing.T) {
	t.Helper()
	clitest.Await(t, "the worker does not compute", s.busy)
	if err := s.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	clitest.Await(t, "the worker does not end", func() bool {
		return orderly(s.stderr.String()) == "ringleader: ends 1 piece, for up to 10s; Ctrl-C gives up at once\n"
	})
}

// stopped waits for the end of a worker, which prints how many pieces it has computed.
func (s *staff) stopped(t *testing.T, pieces string) {
	t.Helper()
	if err := s.Wait(); err != nil || !regexp.MustCompile("\nstopped after "+pieces+"\n$").MatchString(s.stdout.String()) {
		t.Errorf("the worker ends with %v, %q and %q", err, s.stdout.String(), s.stderr.String())
	}
}

// hours is a call with pieces that take longer than a worker may take to end.
const hours = "worst franklin --n 4096 --tries 100000000"

func TestAWorkerEndsItsPieceAfterCtrlC(t *testing.T) {
	t.Parallel()
	url := natsServer(t, broker.Settings{})
	worker := employ(t, url)
	var line []string
	var command *background
	for tries, seen := 3000, false; !seen; tries *= 4 { // work that ended between two looks begins again, with more of it
		line = strings.Fields(fmt.Sprint("worst franklin --n 64 --tries ", tries)) // no piece takes as long as a worker may take to end
		command = runs(t, append(line, "--nats", url)...)
		clitest.Await(t, "the worker does not compute", func() bool {
			seen = worker.busy()
			return seen || len(command.ended) > 0
		})
	}
	if err := worker.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	worker.stopped(t, "[1-9][0-9]* pieces?")
	labourer(t, url)
	_, want, _ := clitest.Call(line...)
	if code := <-command.ended; code != report.ExitFine || command.stdout.String() != want {
		t.Errorf("exit status %d, %s%s\nwant %s", code, command.stdout.String(), command.stderr.String(), want)
	}
}

func TestAWorkerGivesALongPieceBackAfterCtrlC(t *testing.T) {
	if !*long {
		t.Skip("-long: it computes for ten seconds, until the worker gives up")
	}
	t.Parallel()
	url := natsServer(t, broker.Settings{})
	first := employ(t, url)
	runs(t, append(strings.Fields(hours), "--nats", url)...)
	first.interrupted(t)
	second := employ(t, url)
	first.stopped(t, "0 pieces")
	clitest.Await(t, "the other worker has no piece", second.busy)
}

func TestASecondCtrlCEndsAWorkerAtOnce(t *testing.T) {
	t.Parallel()
	url := natsServer(t, broker.Settings{})
	first := employ(t, url)
	runs(t, append(strings.Fields(hours), "--nats", url)...)
	first.interrupted(t)
	ends := make(chan error, 1)
	go func() { ends <- first.Wait() }()
	var err error
	clitest.Await(t, "the worker does not end", func() bool { // what it prints may come a moment before it takes the signal as a second one
		select {
		case err = <-ends:
			return true
		default:
			_ = first.Process.Signal(os.Interrupt) // it may have ended
			return false
		}
	})
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGINT {
		t.Errorf("it ends with %v, %q", err, first.stdout.String())
	}
	second := employ(t, url)
	clitest.Await(t, "the other worker has no piece", second.busy)
}
