package agent

import (
	"bufio"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test takes the place of the keeper. It has no kill timer, and sends no signal at the deadline. Shells that ignore SIGTERM write their
// process numbers to a pipe, which ends with the last of them.
func TestTheFirstProcessOfANamespaceKillsTheOthersByItself(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	runtime.LockOSThread() // the kernel kills the first process at the end of the thread that started it
	p := post{means: Namespace}
	if err := p.try(); err != nil {
		t.Skip(err)
	}
	l := newLethal()
	if l == nil {
		t.Fatal("there is no memory to share")
	}
	beats := filepath.Join(t.TempDir(), "beats")
	if err := syscall.Mkfifo(beats, 0o600); err != nil {
		t.Fatal(err)
	}
	o := order{Kill: now() + time.Hour, Dead: now() + time.Hour}
	l.set(&o)
	const loop = "trap '' TERM; echo $$; while :; do sleep 0.01; done"
	tree, err := p.plant([]string{"/bin/sh", "-c", "exec >" + beats + "; setsid sh -c \"" + strings.ReplaceAll(loop, "$", "\\$") + "\" & " + loop}, l)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(tree.first, syscall.SIGKILL) // if the test fails
	pipe, err := os.Open(beats)
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	lines := bufio.NewScanner(pipe)
	for range 2 { // both run
		if !lines.Scan() {
			t.Fatal("the command does not begin")
		}
		if n, err := strconv.Atoi(lines.Text()); err != nil || n < 2 {
			t.Fatalf("%q is no process of a namespace", lines.Text())
		}
	}
	o.Kill = now() + 50*time.Millisecond
	l.set(&o)
	for lines.Scan() { // until no process has the pipe
	}
	if late := o.Kill - now(); late > 0 {
		t.Errorf("they end %v early", late)
	}
	var s syscall.WaitStatus
	if _, err := syscall.Wait4(tree.first, &s, 0, nil); err != nil || s.ExitStatus() != exitKilled {
		t.Errorf("the first process ends with %v, %v", s, err)
	}
}
