//go:build unix

package trials

import (
	"bytes"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/study/broker"
)

// The process of a command is killed when some of its work is done, twice. Its output is that of a run on this machine.
func TestACommandThatIsKilledIsResumedToTheSameBytes(t *testing.T) {
	clitest.OnlyComputes(t)
	t.Parallel()
	for _, line := range []string{
		"verify lcr --n 7 " + narrow, "compare lcr peterson afek-gafni-synchronous --n 4..512 --orders 60", "worst stop-and-go-p2 --n 24 --tries 5000",
	} {
		t.Run(line, func(t *testing.T) {
			url := natsServer(t, broker.Settings{})
			_, want, _ := once(line + " --json")
			args := append(strings.Fields(line), "--nats", url)
			killedWith(t, url, exec.Command("ringleader", args...), 0) // no worker is there yet, so it cannot have ended
			jobs := jobsOf(t, url)
			if len(jobs) != 1 || jobs[0].Done != 0 {
				t.Fatalf("after the kill the jobs are %+v", jobs)
			}
			labourer(t, url)
			args = []string{"jobs", "resume", jobs[0].Job, "--nats", url, "--", "--json"}
			got, err := killedWith(t, url, exec.Command("ringleader", args...), 1), error(nil)
			if len(jobsOf(t, url)) > 0 {
				got, err = exec.Command("ringleader", args...).CombinedOutput()
			}
			if err != nil || string(got) != want {
				t.Errorf("killed and resumed, it prints (%v)\n%s\nwant\n%s", err, got, want)
			}
		})
	}
}

// killedWith starts a command, and kills it when that many units of the only job are done, unless it has ended before. It
// returns what the command has printed.
func killedWith(t *testing.T, url string, command *exec.Cmd, units uint64) []byte {
	t.Helper()
	var stdout bytes.Buffer
	command.Stdout = &stdout
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait(); close(ended) }()
	looks := time.NewTicker(10 * time.Millisecond) // the work takes a second
	defer looks.Stop()
	for going := true; going; {
		if jobs := jobsOf(t, url); len(jobs) == 1 && jobs[0].Done >= units {
			break
		}
		select {
		case <-ended:
			going = false
		case <-looks.C:
		}
	}
	_ = command.Process.Signal(syscall.SIGKILL) // if it has ended, there is nothing to kill
	<-ended
	return stdout.Bytes()
}
