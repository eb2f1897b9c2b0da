package agent

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// A keeper that stood still finds many orders in its pipe. Those of moments that are over are followed by the one that counts.
func TestAKeeperThatStoodStillTakesTheLastOrderBeforeItAsks(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	for range 10 { // a host may let the order wait for longer than the keeper does
		if !asksTooSoon(t) {
			return
		}
	}
	t.Error("it asks the command to end, although its lease goes on")
}

// asksTooSoon reports whether a keeper asks its command to end by an order that is not the last.
func asksTooSoon(t *testing.T) bool {
	t.Helper()
	orders, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	keeper := exec.Command(os.Args[0])
	keeper.Args = post{means: Children}.arguments(keeperRole, []string{"/bin/sh", "-c", "trap 'exit 7' TERM; echo up; while read line; do echo $line; done"})
	keeper.ExtraFiles, keeper.Stderr = []*os.File{orders}, os.Stderr
	questions, err := keeper.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := keeper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := keeper.Start(); err != nil {
		t.Fatal(err)
	}
	orders.Close()
	defer func() {
		ours.Close()
		keeper.Wait()
	}()
	tell := func(line any) {
		if err := json.NewEncoder(ours).Encode(line); err != nil {
			t.Fatal(err)
		}
	}
	tell([]string(nil)) // the variables of its environment
	tell(anHour())
	answers := bufio.NewScanner(out)
	if answers.Scan(); answers.Text() != "up" {
		t.Fatalf("the command does not begin: %q", answers.Text())
	}
	syscall.Kill(keeper.Process.Pid, syscall.SIGSTOP)
	late := anHour()
	late.Stop = now()
	tell(late)
	tell(anHour())
	syscall.Kill(keeper.Process.Pid, syscall.SIGCONT)
	idle(keeper.Process.Pid)
	fmt.Fprintln(questions, "goes on")
	return !answers.Scan() || answers.Text() != "goes on"
}
