package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"ringleader.example/ringleader/internal/serve/kernel"
)

// The exit statuses of a keeper whose command did not run, as in a shell.
const (
	notStarted = 143 // as if it was terminated: it was to end before it began
	notRunning = 126 // it is no program that can run
	notFound   = 127
)

// order is what a member tells a keeper, one JSON object a line. Each order replaces the one before. Moments are readings of
// the clock now.
type order struct {
	Stop time.Duration `json:"stop"` // when the command is asked to end
	Kill time.Duration `json:"kill"` // when all its processes are killed
	End  bool          `json:"end"`  // it is to end, so it does not begin any more

	// Dead is when the kernel kills the keeper, if that has not ended; 0: never. With the means Namespace nothing is left of the
	// command then.
	Dead time.Duration `json:"dead"`

	// Limit is how long it may run after it has begun, in place of Stop, and Grace how long it has to end then. On a loaded machine a keeper
	// may need longer to begin than the command may run.
	Limit time.Duration `json:"limit"`
	Grace time.Duration `json:"grace"`
}

// late reports whether the time of a command that has not begun is over.
func (o *order) late() bool { return o.Limit == 0 && now() >= o.Stop }

// begun returns the order for a command that begins now.
func (o order) begun() order {
	if o.Limit > 0 {
		o.Stop = now() + o.Limit
		o.Kill = o.Stop + o.Grace
	}
	return o
}

// ordersPipe is the descriptor of the pipe with the orders.
const ordersPipe = 3

// keep is the main function of a keeper. It starts a command, ends it and all that it has started, as ordered, and
// returns its exit status: 128 and the number of the signal that killed it, if one did. The end of the orders is the death
// of the member: all is killed then. What a command leaves when it ends by itself is killed, too.
func keep(arguments []string) int {
	runtime.LockOSThread() // the kernel kills the command at the end of the thread that started it
	pipe := os.NewFile(ordersPipe, "orders")
	closeOnExec(pipe)
	orders := json.NewDecoder(pipe)
	var (
		p         post
		o         order
		variables []string
	)
	command, err := p.parse(arguments)
	if _, broken := pipe.Stat(); err != nil || broken != nil || len(command) == 0 {
		complain(errors.New("this command is for ringleader exec, which gives its orders"))
		return notStarted
	}
	deafen()
	g := newGuard(p.means)
	begin, err := p.prepare(command, g.lethal)
	if err != nil {
		return failed(err)
	}
	_ = kernel.HurryAll()                                             // one that was started beforehand took no processor from others until now; where it is not allowed nothing hurries
	if orders.Decode(&variables) != nil || orders.Decode(&o) != nil { // its member has ended, and no command is to begin
		return notStarted
	}
	for o.End || o.late() { // a keeper that comes late waits: the next order may have more time
		if o.End || orders.Decode(&o) != nil {
			return notStarted
		}
	}
	g.set(&o)
	t, err := begin(variables)
	if err != nil {
		return failed(err)
	}
	return t.tend(o.begun(), received(orders), g)
}

// deafen lets this process take no notice of signals that are not for it.
func deafen() {
	for _, s := range deaf {
		if !signal.Ignored(s) { // what this process ignores the command ignores, too
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

// addVariables adds variables to the environment of this process, NAME=VALUE.
func addVariables(all []string) error {
	for _, v := range all {
		name, value, _ := strings.Cut(v, "=")
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

// failed tells why a command does not run, and returns the exit status for that.
func failed(err error) int {
	complain(err)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return notFound
	}
	return notRunning
}

// guard ends a command whose keeper does not, also if that is stopped: a timer of the kernel kills the keeper. A host without such timers
// has none.
type guard struct {
	timer  *kernel.Timer
	lethal *lethal // for the first process of a namespace; nil: there is none
}

func newGuard(m Means) (g guard) {
	g.timer, _ = kernel.NewTimer(syscall.SIGKILL) // the member has warned
	if m == Namespace {
		g.lethal = newLethal()
	}
	return g
}

// set sets the moments of an order.
func (g guard) set(o *order) {
	g.lethal.set(o)
	if g.timer == nil {
		return
	}
	at := kernel.Never
	if o.Dead != 0 {
		at = o.Dead
	}
	if err := g.timer.Set(at); err != nil {
		panic(err) // it exists, and a keeper without it keeps no promise
	}
}

// received passes orders on, until they end.
func received(orders *json.Decoder) <-chan order {
	all := make(chan order)
	go func() {
		defer close(all)
		for {
			var o order
			if orders.Decode(&o) != nil {
				return
			}
			all <- o
		}
	}()
	return all
}

// tend carries out orders until no process is left, and returns the exit status of the first one. When a lease is about to end, an order that waits
// goes first: a keeper that stood still finds there that the lease goes on.
func (t *tree) tend(o order, orders <-chan order, g guard) (status int) {
	var asked, killing, waited bool
	alarm := time.NewTimer(0)
	for {
		if status, ended := t.reap(killing); ended {
			return status
		}
		next := o.Kill
		switch late := now() >= o.Stop; {
		case asked:
		case late && (o.End || waited):
			asked = true
			t.ask()
		case late:
			waited, next = true, min(next, now()+brief)
		default:
			next = min(next, o.Stop)
		}
		if !killing && now() >= o.Kill {
			killing = true
			continue
		}
		if killing {
			alarm.Stop()
		} else {
			alarm.Reset(min(next-now(), look))
		}
		more, came := false, true
		select {
		case o, more = <-orders:
		case <-alarm.C:
			came = false
		case <-t.changed:
			came = false
		}
		if !came {
			select {
			case o, more = <-orders:
			default:
				continue
			}
		}
		if !more {
			orders, killing = nil, true
			continue
		}
		waited = false
		g.set(&o)
	}
}

// brief is how long an order that waits in the pipe may take to arrive.
const brief = 2 * time.Millisecond

// look is the longest time between two looks at the clock now: it may run on while timers stand still.
const look = time.Second

// describe returns an error of a command, with its name.
func describe(command string, err error) error { return fmt.Errorf("%s: %w", command, err) }
