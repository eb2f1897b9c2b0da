package agent

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"slices"
	"sync"
	"time"

	"ringleader.example/ringleader/internal/serve/kernel"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/serve/warden"
)

// keepers are the keepers of a member, which start commands.
type keepers struct {
	program string      // the file of this program
	means   Means       // by which commands under a lease end
	user    *credential // who runs commands and hooks; nil: the user of this process
	account *user.User

	log *slog.Logger

	mu     sync.Mutex
	pids   map[int]bool
	left   map[int]string // processes of keepers that have ended, which do not end although they were killed, and when each has started
	groups int            // control groups that were made
	spare  <-chan *kept   // has the keeper that waits for a command under a lease, or nil if it could not start; nil: none was to
}

// newKeepers prepares this process for keepers. The commands end by the means, and hooks by [Children] or less.
func newKeepers(means Means, name string, log *slog.Logger) (*keepers, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	k := &keepers{program: program, means: means, log: log, pids: map[int]bool{}}
	if k.user, k.account, err = lookUser(name); err != nil {
		return nil, err
	}
	return k, prepare()
}

// starter runs functions that start processes, one at a time. The kernel kills some keepers at the end of the thread that started
// them, and this one lives as long as the process.
type starter = func() chan<- func()

// What the first of these starts runs before ordinary processes, where that is allowed, so that a keeper begins at once on a loaded host, too. What the
// second one starts runs as they do, until it hurries by itself.
var (
	hurried = newStarter(kernel.Hurry)
	calm    = newStarter(kernel.HurryAlone)
)

func newStarter(policy func() error) starter {
	return sync.OnceValue(func() chan<- func() {
		starts := make(chan func())
		go func() {
			runtime.LockOSThread()
			_ = policy()
			for start := range starts {
				start()
			}
		}()
		return starts
	})
}

// kept is a command with a keeper.
type kept struct {
	command *exec.Cmd // of the keeper
	orders  *os.File
	last    order
	since   time.Duration // when it got its first order
	begun   bool          // it has read that
	ended   chan struct{} // closed when no process is left
	status  int           // of the command, when it has ended
	killed  bool          // the keeper was, and so the command
}

// why returns why a command has ended that was not told to; late: its lease was about to end.
func (r *kept) why(late bool) record.Reason {
	switch {
	case late:
		return "the keeper has stopped the command, as its lease was about to end"
	case r.killed:
		return "the keeper of the command was killed, or stood still until its timer killed it, and so the command"
	}
	return record.Reason(fmt.Sprintf("the command has ended by itself, with status %d", r.status))
}

// hook starts a command that runs under no lease: it may run a little longer than its member leads, and change what the host has
// mounted.
func (k *keepers) hook(by starter, command, variables []string, first order, stdout *os.File) (*kept, error) {
	run, err := k.start(by, post{means: least, user: k.user}, command, nil, stdout)
	if err == nil {
		run.begin(variables, first)
	}
	return run, err
}

// prepare starts a keeper for the next command under a lease, which then begins sooner. Without one that starts its own. It does not wait: a member
// that hands over does so meanwhile.
func (k *keepers) prepare(command []string) {
	if k.means == ControlGroup { // each command has a group of its own
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.spare != nil { // a tenure has ended before its command began
		return
	}
	started := make(chan *kept, 1)
	k.spare = started
	go func() {
		spare, _ := k.start(calm, post{means: k.means, user: k.user}, command, os.Stdin, os.Stdout) // nil: it could not start
		started <- spare
	}()
}

// take returns the keeper that waits for a command, or nil.
func (k *keepers) take() *kept {
	k.mu.Lock()
	started := k.spare
	k.spare = nil
	k.mu.Unlock()
	if started == nil {
		return nil
	}
	return <-started
}

// dismiss ends the keeper that waits for a command.
func (k *keepers) dismiss() {
	if spare := k.take(); spare != nil {
		spare.kill()
		<-spare.ended
	}
}

// lease starts a command that runs under a lease.
func (k *keepers) lease(command, variables []string, first order) (_ *kept, err error) {
	if spare := k.take(); spare != nil {
		select {
		case <-spare.ended: // somebody has killed it
		default:
			spare.begin(variables, first)
			return spare, nil
		}
	}
	p := post{means: k.means, user: k.user}
	if p.means == ControlGroup {
		k.mu.Lock()
		k.groups++
		name := fmt.Sprintf("ringleader-%d-%d", os.Getpid(), k.groups)
		k.mu.Unlock()
		if p.group, err = warden.NewGroup(name); err != nil {
			return nil, fmt.Errorf("a control group: %w", err)
		}
		defer func() {
			if err != nil { // nothing has come into it
				_ = warden.KillGroup(p.group)
			}
		}()
		if err := warden.Confined(p.group); err != nil {
			return nil, fmt.Errorf("the warden does not listen: %w", err)
		}
	}
	run, err := k.start(hurried, p, command, os.Stdin, os.Stdout)
	if err == nil {
		run.begin(variables, first)
	}
	return run, err
}

// start starts the keeper of a command, which waits for its beginning. It has the environment of this process, without what is for the member.
func (k *keepers) start(by starter, p post, command []string, stdin, stdout *os.File) (*kept, error) {
	orders, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer orders.Close()
	c := exec.Command(k.program)
	c.Args = p.arguments(keeperRole, command)
	c.Env = inherited(k.account)
	c.Stdin, c.Stdout, c.Stderr = stdin, stdout, os.Stderr
	c.ExtraFiles = []*os.File{orders}
	c.SysProcAttr = p.bound()
	run := &kept{command: c, orders: ours, ended: make(chan struct{})}
	k.mu.Lock()
	defer k.mu.Unlock()
	started := make(chan error)
	by() <- func() { started <- c.Start() }
	if err := <-started; err != nil {
		ours.Close()
		return nil, err
	}
	k.pids[c.Process.Pid] = true
	older := maps.Clone(k.left)
	go func() {
		_ = c.Wait() // ProcessState has the result
		ours.Close()
		k.mu.Lock()
		delete(k.pids, c.Process.Pid)
		k.mu.Unlock()
		if run.status = c.ProcessState.ExitCode(); run.status < 0 { // killed: it may have left processes
			run.status, run.killed = exitKilled, true
		}
		k.finish(p.group, older)
		close(run.ended)
	}()
	return run, nil
}

// slow is how long killed processes may take to end before that is told.
const slow = time.Second

// finish kills what a keeper has left that has ended, in its control group and elsewhere, and returns when nothing is left: what must not run beside its
// command waits for that. Older ones are not waited for: see [keepers.left].
func (k *keepers) finish(group string, older map[int]string) {
	overdue := time.AfterFunc(slow, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.log.Warn("processes of a command were killed and do not end, and what must not run beside them waits", "processes", slices.Sorted(maps.Keys(k.left)), "group", group)
	})
	defer overdue.Stop()
	told := false
	for pause := brief; ; pause = min(2*pause, obeys) {
		var err error
		if group != "" {
			err = warden.KillGroup(group)
		}
		if err != nil && !told {
			told = true
			k.log.Error("processes of a command may be left, and what must not run beside them waits", "error", err)
		}
		if none := k.clear(older); none && err == nil {
			return
		}
		time.Sleep(pause)
	}
}

// exitKilled is the exit status of a command whose keeper was killed, and so itself was: 128 and the number of SIGKILL.
const exitKilled = 137

// begin lets the command begin, with variables added to its environment.
func (r *kept) begin(variables []string, first order) {
	line, err := json.Marshal(variables)
	if err != nil {
		panic(err) // texts
	}
	write(r.orders, append(line, '\n')) // into an empty pipe
	r.since = now()
	r.order(first)
}

// order gives an order, if it is another one than the last. A keeper that is stopped takes none, and its pipe is full some time: what it does not
// get would let it kill later, so the next order is tried again, and this process never waits for a keeper.
func (r *kept) order(o order) {
	if o == r.last {
		return
	}
	line, err := json.Marshal(o)
	if err != nil {
		panic(err) // some numbers
	}
	if write(r.orders, append(line, '\n')) {
		r.last = o
	}
}

// stands reports whether the keeper stands still and has not begun: it has set no timer that would kill it. It is called before the next order.
func (r *kept) stands() bool {
	r.begun = r.begun || kernel.IsRead(r.orders)
	return !r.begun && now()-r.since >= slowest
}

// slowest is how long a keeper may need to begin.
const slowest = 10 * time.Second

// end ends a command that runs under no lease at once, with all its processes, and returns when none is left.
func (r *kept) end() {
	r.order(order{End: true})
	select {
	case <-r.ended:
		return
	case <-time.After(obeys):
	}
	r.kill() // its keeper is stopped, for example
	<-r.ended
}

// obeys is how long a keeper may need to end a command at once.
const obeys = 100 * time.Millisecond

// kill kills the keeper, and so the command.
func (r *kept) kill() { _ = r.command.Process.Kill() } // it may have ended
