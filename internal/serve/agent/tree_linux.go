package agent

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"ringleader.example/ringleader/clock"
	"ringleader.example/ringleader/internal/serve/kernel"
	"ringleader.example/ringleader/internal/serve/warden"
)

// roles are the main functions of processes that this program starts.
var roles = map[string]func(arguments []string) (status int){keeperRole: keep, firstRole: first, examinerRole: examiner, spinRole: spin}

// now reads a clock that all processes share, and that goes on while the machine is suspended.
func now() time.Duration { return clock.System().Boottime() }

func closeOnExec(f *os.File) { syscall.CloseOnExec(int(f.Fd())) }

// deaf are the signals that a keeper does not act upon: a service manager or a terminal may send them to all processes, and
// the member decides about the command.
var deaf = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2}

// tree is a command with all its descendants.
type tree struct {
	confined string         // its control group
	first    int            // the first process, or that of its namespace
	group    int            // what is asked to end: the negative number of the process group, or the first process
	status   int            // of the first process
	ended    bool           // the first process has
	changed  chan os.Signal // a child may have ended
	looked   time.Duration  // when it last looked for those that have
}

// prepare prepares a command by the means of a post. The function that it returns begins it, with variables added to its environment. Nothing of
// the command runs before that.
func (p post) prepare(command []string, l *lethal) (begin func(variables []string) (*tree, error), err error) {
	if _, err := exec.LookPath(command[0]); err != nil {
		return nil, err
	}
	attributes, release, err := p.attributes()
	if err != nil {
		return nil, err
	}
	if p.means == Namespace {
		defer release()
		return p.plantFirst(command, attributes, l)
	}
	return func(variables []string) (*tree, error) {
		defer release()
		if err := warden.Adopt(); err != nil {
			return nil, err
		}
		t, err := startCommand(command, attributes, p.user, variables)
		if err != nil {
			return nil, err
		}
		t.confined = p.group
		return t, nil
	}, nil
}

// startCommand starts a command as a child of this process, which runs before others; the command runs as others do. At no moment this
// process does: one of its threads that had to wait for a processor would keep it alive, and so the command.
func startCommand(command []string, attributes *syscall.SysProcAttr, as *credential, variables []string) (*tree, error) {
	if err := addVariables(variables); err != nil {
		return nil, err
	}
	_ = kernel.HurryAlone() // where it is allowed; else nothing hurries
	return start(command, attributes, as)
}

// start starts a child of this process. The process group of a terminal stays what it is.
func start(command []string, attributes *syscall.SysProcAttr, as *credential, files ...uintptr) (*tree, error) {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return nil, err
	}
	shared := warden.Foreground()
	attributes.Setpgid = !shared
	if attributes.Pdeathsig == 0 {
		attributes.Pdeathsig = syscall.SIGKILL
	}
	if as != nil {
		attributes.Credential = as.system()
	}
	t := &tree{changed: make(chan os.Signal, 1)}
	signal.Notify(t.changed, syscall.SIGCHLD)
	t.first, err = syscall.ForkExec(path, command, &syscall.ProcAttr{
		Env: os.Environ(), Files: append([]uintptr{0, 1, 2}, files...), Sys: attributes,
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
	if none := t.collect(!kill); none {
		return t.status, true
	}
	if kill || t.ended {
		if t.confined != "" {
			_ = warden.KillGroup(t.confined) // the member does it again, and tells an error
		}
		warden.KillChildren(nil)
	}
	return 0, false
}

// pause is the time between two looks for processes that have ended. This process runs before others: one that lets processes end again and
// again shall not take the processor from them.
const pause = 5 * time.Millisecond

// collect reaps what has ended, and reports true when no process is left.
func (t *tree) collect(sparing bool) (none bool) {
	if since := now() - t.looked; sparing && since < pause {
		time.Sleep(pause - since)
	}
	for {
		var s syscall.WaitStatus
		pid, err := kernel.Wait(-1, &s, syscall.WNOHANG)
		switch {
		case err == syscall.EINTR:
		case err == syscall.ECHILD:
			return true
		case pid == t.first:
			t.status, t.ended = warden.ExitStatus(s), true
		case pid == 0:
			t.looked = now()
			return false
		}
	}
}

// least is what ends a command in any case.
const least = Children

// bound returns the attributes by which the kernel kills a keeper with its member. A keeper that is stopped cannot do so by itself. Where
// it kills by itself what it has started, it has to outlive the member for that.
func (p post) bound() *syscall.SysProcAttr {
	if p.means == Namespace {
		return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	}
	return nil
}

// prepare lets this process adopt what a keeper leaves that was killed.
func prepare() error { return warden.Adopt() }

// clear kills what keepers have left that have ended, and reaps it if it has ended. Keepers are not touched. None reports that there was nothing but older
// processes. It does not wait: one that the kernel does not let end, as it waits for a disk, holds up no other keeper.
func (k *keepers) clear(older map[int]string) (none bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	killed := warden.KillChildren(func(pid int) bool { return k.pids[pid] })
	none, k.left = true, map[int]string{}
	for _, pid := range killed {
		started := warden.Started(pid)
		if started == "" || started != older[pid] {
			none = false
		}
		reaped, err := kernel.Wait(pid, nil, syscall.WNOHANG)
		for err == syscall.EINTR {
			reaped, err = kernel.Wait(pid, nil, syscall.WNOHANG)
		}
		if reaped == 0 && err == nil {
			k.left[pid] = started
		}
	}
	return none
}
