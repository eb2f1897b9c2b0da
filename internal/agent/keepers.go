package agent

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"sync"
	"time"
)

// keepers are the keepers of a member, which start commands.
type keepers struct {
	program string // the file of this program

	mu   sync.Mutex
	pids map[int]bool
}

func newKeepers() (*keepers, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return &keepers{program: program, pids: map[int]bool{}}, prepare()
}

// kept is a command with a keeper.
type kept struct {
	command *exec.Cmd // of the keeper
	orders  *os.File
	last    order
	ended   chan struct{} // closed when no process is left
	status  int           // of the command, when it has ended
}

// start starts a command with a keeper. Its environment is that of this process, with variables added to it.
func (k *keepers) start(command, variables []string, first order, stdin, stdout *os.File) (*kept, error) {
	orders, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer orders.Close()
	c := exec.Command(k.program)
	c.Args = append([]string{os.Args[0], Keeper, "--"}, command...)
	c.Env = append(os.Environ(), variables...)
	c.Stdin, c.Stdout, c.Stderr = stdin, stdout, os.Stderr
	c.ExtraFiles = []*os.File{orders}
	run := &kept{command: c, orders: ours, ended: make(chan struct{})}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := c.Start(); err != nil {
		ours.Close()
		return nil, err
	}
	k.pids[c.Process.Pid] = true
	run.order(first)
	go func() {
		_ = c.Wait() // ProcessState has the result
		ours.Close()
		k.mu.Lock()
		delete(k.pids, c.Process.Pid)
		k.mu.Unlock()
		if run.status = c.ProcessState.ExitCode(); run.status < 0 { // killed: it may have left processes
			run.status = exitKilled
		}
		k.clear()
		close(run.ended)
	}()
	return run, nil
}

// exitKilled is the exit status of a command whose keeper was killed, and so itself was: 128 and the number of SIGKILL.
const exitKilled = 137

// order gives an order, if it is another one than the last. A keeper that takes none for a long time is killed.
func (r *kept) order(o order) {
	if o == r.last {
		return
	}
	r.last = o
	line, err := json.Marshal(o)
	if err != nil {
		panic(err) // two numbers
	}
	_ = r.orders.SetWriteDeadline(time.Now().Add(patience)) // not on Windows
	if _, err := r.orders.Write(append(line, '\n')); errors.Is(err, os.ErrDeadlineExceeded) {
		r.kill()
	}
}

// patience is how long an order may wait for a keeper: its pipe is full of orders, since it is stopped.
const patience = 5 * time.Millisecond

// kill kills the keeper, and so the command.
func (r *kept) kill() { _ = r.command.Process.Kill() } // it may have ended
