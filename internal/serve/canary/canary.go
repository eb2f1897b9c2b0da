package canary

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"ringleader.example/ringleader/internal/serve/warden"
)

// variable is the variable of the environment by which this program knows that it is a canary: its places, as JSON.
const variable = "RINGLEADER_CANARY"

// linger is how long a canary that has nothing to do any more remains. The end of a process takes a processor for milliseconds, and those after the
// end of its member are the ones in which the others elect.
const linger = time.Second / 10

// giveUp is how long a canary waits for a look under way when its member has ended. A device that is silent for longer may be so for ever.
const giveUp = time.Second

// able reports whether this program can be a canary.
var able atomic.Bool

// Be carries out the part of a canary, and ends the process, if this process was started for that. Otherwise it returns at once.
func Be() {
	text, is := os.LookupEnv(variable)
	if !is {
		able.Store(true)
		return
	}
	var places []Place
	if err := json.Unmarshal([]byte(text), &places); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", variable, err)
		os.Exit(1)
	}
	// The member decides when it ends: by the end of the standard input.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	serve(places, os.Stdin, os.Stdout)
	os.Exit(0)
}

// Able reports whether a process of its own looks at places.
func Able() bool { return able.Load() }

// answer is the result of a look, one JSON object a line.
type answer struct {
	Place    int    `json:"place"`
	Problem  string `json:"problem,omitempty"`
	Touched  string `json:"touched,omitempty"`
	Identity string `json:"identity,omitempty"` // of the place
}

// serve looks at the places whose numbers it reads, one a line. A place that gives no answer holds up no other one. After the last question it
// waits for the looks under way, so that nothing is written after it has removed what it wrote.
func serve(places []Place, questions io.Reader, answers io.Writer) {
	var (
		mu      sync.Mutex
		encoder = json.NewEncoder(answers)
		looks   = make([]chan struct{}, len(places))
		all     sync.WaitGroup
	)
	for i := range places {
		looks[i] = make(chan struct{}, 1)
		all.Go(func() {
			for range looks[i] {
				a := answer{Place: i}
				touched, err := places[i].look()
				if err != nil {
					a.Problem = err.Error()
				}
				a.Touched, a.Identity = touched, places[i].Identity
				mu.Lock()
				_ = encoder.Encode(a) // else the member has ended, and so do the questions
				mu.Unlock()
			}
			places[i].forget()
		})
	}
	for lines := bufio.NewScanner(questions); lines.Scan(); {
		var i int
		if _, err := fmt.Sscan(lines.Text(), &i); err == nil && i < len(looks) {
			select {
			case looks[i] <- struct{}{}:
			default: // the same question waits
			}
		}
	}
	for _, look := range looks {
		close(look)
	}
	over := make(chan struct{})
	go func() {
		all.Wait()
		close(over)
	}()
	late := time.After(giveUp)
	<-time.After(linger)
	select {
	case <-over:
	case <-late:
	}
}

// Canary looks at places.
type Canary struct {
	mu      sync.Mutex
	places  []Place
	process *process // nil: there is none yet, or it has ended
	closed  bool
}

// New returns a canary for some places. Its process starts with the first look.
func New(places ...Place) *Canary { return &Canary{places: places} }

// ErrClosed reports that the canary looks no more.
var ErrClosed = errors.New("the canary is closed")

// attempts is how many processes may end at a look: then the directory is used in the process of the member.
const attempts = 3

// Look looks at a place, by its number. At most one look at a place is under way. It lasts for as long as the device gives no answer.
func (c *Canary) Look(i int) (touched string, err error) {
	for range attempts {
		waiting, err := c.ask(i)
		switch {
		case errors.Is(err, ErrClosed):
			return "", err
		case err != nil:
			return c.lookHere(i)
		}
		if a, answered := <-waiting; answered {
			c.mu.Lock()
			c.places[i].Identity = a.Identity
			c.mu.Unlock()
			if a.Problem != "" {
				err = errors.New(a.Problem)
			}
			return a.Touched, err
		}
	}
	return c.lookHere(i)
}

// lookHere looks in this process.
func (c *Canary) lookHere(i int) (touched string, err error) {
	c.mu.Lock()
	place := c.places[i]
	c.mu.Unlock()
	touched, err = place.look()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.places[i] = place
	return touched, err
}

// ask asks the process, and returns what gets its answer.
func (c *Canary) ask(i int) (<-chan answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	if c.process == nil {
		p, err := c.start()
		if err != nil {
			return nil, err
		}
		c.process = p
	}
	waiting := make(chan answer, 1)
	c.process.waiting[i] = waiting
	fmt.Fprintln(c.process.questions, i) // the process reads at once, or has ended: then there is no answer
	return waiting, nil
}

// Close ends the canary. It waits for nothing: a process that hangs is left, and ends when the device answers.
func (c *Canary) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.process != nil {
		c.process.questions.Close()
		for i, waiting := range c.process.waiting {
			close(waiting)
			delete(c.process.waiting, i)
		}
	}
}

// process is the process of a canary.
type process struct {
	questions io.WriteCloser
	waiting   map[int]chan answer // by place
	command   *exec.Cmd
	ended     chan struct{} // closed when it was reaped
}

var errUnable = errors.New("this program cannot be a canary")

// start starts the process.
func (c *Canary) start() (*process, error) {
	if !able.Load() {
		return nil, errUnable
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	order, err := json.Marshal(c.places)
	if err != nil {
		return nil, err
	}
	command := exec.Command(program)
	command.Args = os.Args // a program that reads them first comes to Be by the same way
	command.Env = append(os.Environ(), variable+"="+string(order))
	questions, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	answers, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	spared, err := warden.StartSpared(command)
	if err != nil {
		return nil, err
	}
	p := &process{questions, map[int]chan answer{}, command, make(chan struct{})}
	go c.read(p, answers, func() {
		_ = command.Wait() // how it ended does not matter
		spared()
		close(p.ended)
	})
	return p, nil
}

// read passes answers on until the process has ended.
func (c *Canary) read(p *process, answers io.Reader, end func()) {
	decoder := json.NewDecoder(answers)
	for {
		var a answer
		if decoder.Decode(&a) != nil {
			break
		}
		c.mu.Lock()
		if waiting := p.waiting[a.Place]; waiting != nil {
			waiting <- a
			delete(p.waiting, a.Place)
		}
		c.mu.Unlock()
	}
	c.mu.Lock()
	if c.process == p {
		c.process = nil
	}
	for i, waiting := range p.waiting {
		close(waiting)
		delete(p.waiting, i)
	}
	c.mu.Unlock()
	end()
}

// Prober returns a prober of a place.
func (c *Canary) Prober(i int) Prober { return Prober{c, i} }

// Prober probes a place. It is a storage.Prober.
type Prober struct {
	canary *Canary
	place  int
}

// Probe looks at the place.
func (p Prober) Probe() error {
	_, err := p.canary.Look(p.place)
	return err
}
