package agent

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"ringleader.example/ringleader/clock"
	"ringleader.example/ringleader/internal/warden"
)

// now reads a clock that all processes share, and that goes on while the machine is suspended.
func now() time.Duration { return clock.System().Boottime() }

func closeOnExec(f *os.File) { syscall.CloseOnExec(int(f.Fd())) }

// deaf are the signals that a keeper does not act upon: a service manager or a terminal may send them to all processes, and
// the member decides about the command.
var deaf = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2}

// tree is a command with all its descendants.
type tree struct {
	first   int            // the first process
	group   int            // what is asked to end: the negative number of the process group, or the first process
	status  int            // of the first process
	ended   bool           // the first process has
	changed chan os.Signal // a child may have ended
}

// plant starts a command.
func plant(command []string) (*tree, error) {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return nil, err
	}
	if err := warden.Adopt(); err != nil {
		return nil, err
	}
	t := &tree{changed: make(chan os.Signal, 1)}
	signal.Notify(t.changed, syscall.SIGCHLD)
	shared := warden.Foreground()
	t.first, err = syscall.ForkExec(path, command, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{0, 1, 2},
		Sys:   &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: !shared},
	})
	if err != nil {
		return nil, describe(path, err)
	}
	t.group = -t.first
	if shared {
		t.group = t.first
	}
	return t, nil
}

// ask asks the command to end.
func (t *tree) ask() {
	if t.ended {
		return // the others are killed, and its number may be that of another process
	}
	_ = syscall.Kill(t.group, syscall.SIGTERM) // it may have ended
	_ = syscall.Kill(t.group, syscall.SIGCONT) // a stopped process cannot end by itself
}

// reap reaps what has ended. With kill, or when the first process has ended, it kills the others. It reports true when none
// is left. The goroutine that kills is the one that reaps: a number that it kills is not that of another process.
func (t *tree) reap(kill bool) (status int, none bool) {
	for {
		var s syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &s, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
		case err == syscall.ECHILD:
			return t.status, true
		case pid == t.first:
			t.status, t.ended = warden.ExitStatus(s), true
		case pid == 0:
			if kill || t.ended {
				warden.KillChildren(nil)
			}
			return 0, false
		}
	}
}

// prepare lets this process adopt what a keeper leaves that was killed.
func prepare() error { return warden.Adopt() }

// clear kills and reaps what a keeper has left that was killed. Keepers are not touched.
func (k *keepers) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for {
		left := warden.KillChildren(func(pid int) bool { return k.pids[pid] })
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			for {
				if _, err := syscall.Wait4(pid, nil, 0, nil); err != syscall.EINTR {
					break
				}
			}
		}
	}
}
