//go:build !linux

package agent

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// now reads the wall clock, which all processes share.
func now() time.Duration { return time.Duration(time.Now().UnixNano()) }

func closeOnExec(*os.File) {} // os/exec passes no descriptor that it is not told to

// roles are the main functions of processes that this program starts.
var roles = map[string]func(arguments []string) (status int){keeperRole: keep}

// tree is a command with its process group.
type tree struct {
	command *exec.Cmd
	changed chan struct{} // closed when the first process has ended
	killed  bool
}

// prepare returns a function that starts a command, with variables added to its environment.
func (p post) prepare(command []string, _ *lethal) (begin func(variables []string) (*tree, error), err error) {
	return func(variables []string) (*tree, error) {
		if err := addVariables(variables); err != nil {
			return nil, err
		}
		return p.plant(command)
	}, nil
}

// plant starts a command.
func (p post) plant(command []string) (*tree, error) {
	t := &tree{command: exec.Command(command[0], command[1:]...), changed: make(chan struct{})}
	t.command.Stdin, t.command.Stdout, t.command.Stderr = os.Stdin, os.Stdout, os.Stderr
	t.command.SysProcAttr = p.attributes()
	if err := t.command.Start(); err != nil {
		return nil, describe(command[0], err)
	}
	go func() {
		_ = t.command.Wait() // ProcessState has the result
		close(t.changed)
	}()
	return t, nil
}

// reap kills the process group, with kill or when its first process has ended, and reports true after that.
func (t *tree) reap(kill bool) (status int, none bool) {
	select {
	case <-t.changed:
		t.kill()
		return exitStatus(t.command.ProcessState), true
	default:
	}
	if kill && !t.killed {
		t.killed = true
		t.kill()
	}
	return 0, false
}

func prepare() error { return nil }

// clear does nothing: what a keeper leaves that was killed cannot be found.
func (*keepers) clear(map[int]string) bool { return true }

// bound returns no attributes: a keeper that is stopped outlives its member.
func (post) bound() *syscall.SysProcAttr { return nil }

// try returns the means that this system has.
func try(bool) (Means, error) { return least, errors.New("it needs Linux") }

// lethal is for namespaces, which this system has none of.
type lethal struct{}

func newLethal() *lethal { return nil }

func (*lethal) set(*order) {}
