package agent

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ringleader.example/ringleader/internal/serve/kernel"
	"ringleader.example/ringleader/internal/serve/warden"
)

// What syscall has no names for.
const (
	adminCapability = 21 // CAP_SYS_ADMIN
	ambient         = 47 // PR_CAP_AMBIENT
	clearAmbient    = 4  // PR_CAP_AMBIENT_CLEAR_ALL
)

// attributes returns the attributes of the first process that the means need. The caller calls release after the start.
func (p post) attributes() (a *syscall.SysProcAttr, release func(), err error) {
	a, release = &syscall.SysProcAttr{}, func() {}
	switch p.means {
	case Namespace:
		a.Cloneflags = syscall.CLONE_NEWPID | syscall.CLONE_NEWNS
		administers, any, err := capabilities()
		switch {
		case err != nil:
			return nil, nil, err
		case administers:
		case any:
			return nil, nil, errors.New("a user namespace would void the capabilities of this process")
		default: // each user may have a user namespace, where such a process may do the rest
			a.Cloneflags |= syscall.CLONE_NEWUSER
			user, group := os.Getuid(), os.Getgid()
			a.UidMappings = []syscall.SysProcIDMap{{ContainerID: user, HostID: user, Size: 1}}
			a.GidMappings = []syscall.SysProcIDMap{{ContainerID: group, HostID: group, Size: 1}}
			a.AmbientCaps = []uintptr{adminCapability} // else it loses that when it executes this program
		}
	case ControlGroup:
		group, err := os.Open(p.group)
		if err != nil {
			return nil, nil, err
		}
		a.UseCgroupFD, a.CgroupFD = true, int(group.Fd())
		release = func() { group.Close() }
	}
	return a, release, nil
}

// capabilities reports whether this process has CAP_SYS_ADMIN, and whether it has any capability.
func capabilities() (administers, any bool, err error) {
	status, err := os.Open("/proc/self/status")
	if err != nil {
		return false, false, err
	}
	defer status.Close()
	for lines := bufio.NewScanner(status); lines.Scan(); {
		if mask, found := strings.CutPrefix(lines.Text(), "CapEff:"); found {
			all, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
			return all&(1<<adminCapability) != 0, all != 0, err
		}
	}
	return false, false, errors.New("/proc/self/status lacks CapEff")
}

// What the first process of a namespace gets from its keeper: where it tells that it takes signals, the memory with the moment of
// its order, and where it gets the variables of the command, which begins then.
const (
	readyPipe  = 3
	lethalFile = 4
	beginPipe  = 5
)

// plantFirst starts the first process of a namespace. The function that it returns lets that start the command there.
func (p post) plantFirst(command []string, attributes *syscall.SysProcAttr, l *lethal) (begin func(variables []string) (*tree, error), err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ready, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer ready.Close()
	begins, ours, err := os.Pipe()
	if err != nil {
		theirs.Close()
		return nil, err
	}
	attributes.Pdeathsig = warden.Die
	t, err := start(append([]string{program}, p.arguments(firstRole, command)[1:]...), attributes, nil, theirs.Fd(), l.fd(theirs.Fd()), begins.Fd())
	theirs.Close()
	begins.Close()
	if err != nil {
		ours.Close()
		return nil, err
	}
	t.group = t.first                  // it passes the signal on
	_, _ = ready.Read(make([]byte, 1)) // or it has ended, as reap finds
	_ = kernel.HurryProcess(t.first)   // as this one; in a namespace of users it may not do so itself
	return func(variables []string) (*tree, error) {
		_ = json.NewEncoder(ours).Encode(variables) // it may have ended
		ours.Close()
		return t, nil
	}, nil
}

// awaitBeginning waits until the keeper lets the command begin, and returns its variables. It reports false if it does not begin.
func awaitBeginning() (variables []string, begins bool) {
	pipe := os.NewFile(beginPipe, "begin")
	closeOnExec(pipe)
	err := json.NewDecoder(pipe).Decode(&variables)
	return variables, err == nil
}

// first is the main function of the first process of a PID namespace. It starts the command, reaps all that end, and passes
// SIGTERM on. When it ends, with the exit status of the command, the kernel kills all that is left. By itself it kills all others at the moment
// of its keeper's order, and when its keeper dies: the kernel kills them only when the last thread of this process has ended, and a
// thread that ends may wait for a lock of the kernel that belongs to a process without a processor.
func first(arguments []string) int {
	runtime.LockOSThread() // the kernel kills the command at the end of the thread that started it
	ready := os.NewFile(readyPipe, "ready")
	closeOnExec(ready)
	asks, dies, wakes := make(chan os.Signal, 1), make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(dies, warden.Die) // before it finds that its keeper lives
	signal.Notify(wakes, syscall.SIGCONT)
	var p post
	command, err := p.parse(arguments)
	if err != nil {
		complain(err)
		return notStarted
	}
	if os.Getpid() != 1 { // what follows mounts a /proc, and kills all that it sees: outside of a namespace that would be those of the host
		return p.outside(command)
	}
	deafen()
	signal.Notify(asks, syscall.SIGTERM)
	if err := mount(); err != nil {
		complain(fmt.Errorf("the command sees the processes of the host, whose numbers are not its own: %w", err))
	}
	if len(command) == 0 { // it was a trial
		return 0
	}
	l := inheritedLethal()
	// What it may do in its namespace the command may not.
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, ambient, clearAmbient, 0, 0, 0, 0); errno != 0 {
		complain(fmt.Errorf("prctl: %w", errno))
		return notStarted
	}
	if _, err := ready.Write([]byte{1}); err != nil {
		return notStarted // the keeper is dead
	}
	variables, begins := awaitBeginning()
	if !begins {
		return notStarted // the keeper is dead
	}
	t, err := startCommand(command, &syscall.SysProcAttr{}, p.user, variables)
	if err != nil {
		return failed(err)
	}
	timer, _ := kernel.NewTimer(syscall.SIGCONT) // wakes this process at the moment, also if it is stopped; the member has warned
	alarm, killing := time.NewTimer(0), false
	for {
		at := l.at()
		if killing = killing || now() >= at; killing {
			_ = syscall.Kill(-1, syscall.SIGKILL) // there may be none, or one that only the kernel may kill
			at = now() + pause
		}
		if t.collect(!killing); t.ended {
			return t.status
		}
		if timer != nil {
			_ = timer.Set(at) // else the alarm is left
		}
		alarm.Reset(min(at-now(), look))
		select {
		case <-t.changed:
		case <-alarm.C:
		case <-wakes:
		case <-dies:
			killing = true
		case <-asks:
			t.ask()
		}
	}
}

// outside is the main function of a process that is not the first one of a namespace: of a trial of other means, or by mistake.
func (p post) outside(command []string) int {
	if len(command) == 0 && p.means != Namespace {
		return 0
	}
	complain(errors.New("this is not the first process of a namespace"))
	return notStarted
}

// mount gives this namespace a /proc of its own. Mounts of the host reach it, and its own do not reach the host.
func mount() error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	return nil
}

// try returns the surest means that this host allows, and why not a surer one.
func try(namespace bool) (m Means, because error) {
	if !namespace {
		because = errors.New("it was not wanted")
	} else if because = (post{means: Namespace}).try(); because == nil {
		return Namespace, nil
	}
	group, err := warden.NewGroup(fmt.Sprintf("ringleader-%d-trial", os.Getpid()))
	if err == nil {
		sweep(filepath.Dir(group), time.Now().Add(-time.Minute))
		err = errors.Join(post{means: ControlGroup, group: group}.try(), warden.KillGroup(group))
	}
	if err != nil {
		return Children, errors.Join(fmt.Errorf("%s: %w", Namespace, because), fmt.Errorf("%s: %w", ControlGroup, err))
	}
	return ControlGroup, fmt.Errorf("%s: %w", Namespace, because)
}

// sweep removes the control groups of which processes that were killed have left the empty folders, as an examiner without a warden does. One that was made
// after a moment may not have its first process yet. The kernel keeps those with processes.
func sweep(parent string, before time.Time) {
	groups, _ := os.ReadDir(parent)
	for _, group := range groups {
		made, err := group.Info()
		if ours, _ := filepath.Match("ringleader-[0-9]*-*", group.Name()); ours && err == nil && made.IsDir() && made.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(parent, group.Name()))
		}
	}
}

// try starts a process by the means, which ends at once.
func (p post) try() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	attributes, release, err := p.attributes()
	if err != nil {
		return err
	}
	defer release()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	c := exec.Command(program)
	c.Args, c.Env, c.SysProcAttr = p.arguments(firstRole, nil), inherited(nil), attributes
	c.ExtraFiles = []*os.File{null}
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("a trial: %w: %s", err, text)
	}
	return nil
}
