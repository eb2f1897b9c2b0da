package clients

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader/fence"
	"ringleader.example/ringleader/leasefile"
)

var long = flag.Bool("long", false, "kill each client, and stop it, 1000 times")

// hang ends a wait of a test that waits for ever.
const hang = time.Minute

// resource is what leaders write to. It refuses a lower term than it has seen.
type resource struct {
	guard fence.Guard

	mu      sync.Mutex
	written []uint64 // the terms of all writes that were accepted
}

func (r *resource) write(term uint64) (accepted bool) {
	return r.guard.Do(term, func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.written = append(r.written, term)
		return nil
	}) == nil
}

// attempt is a write that a client was asked for.
type attempt struct {
	asked    int64 // when, before the client has looked into the file
	term     uint64
	accepted bool
}

// longestWork is how long a client works between a look into the file and the write.
const longestWork = 3 * time.Millisecond

// worker is a client that looks into the file, works and writes, again and again.
type worker struct {
	command *exec.Cmd
	in      io.Writer
	out     *bufio.Reader
	ended   chan struct{}

	mu   sync.Mutex
	all  []attempt // with 0 for an answer that the lease is not valid
	more chan struct{}
}

func (l *language) work(t *testing.T, path string, to *resource) *worker {
	d := l.launch(t, t.Output())
	d.ask("open " + path)
	w := &worker{command: d.command, in: d.in, out: d.out, ended: make(chan struct{}), more: make(chan struct{}, 1)}
	go w.run(to)
	return w
}

func (w *worker) run(to *resource) {
	defer close(w.ended)
	for {
		a := attempt{asked: reading(clockBoottime)}
		if _, err := fmt.Fprintf(w.in, "work %f\n", rand.Float64()*longestWork.Seconds()); err != nil {
			return
		}
		line, err := w.out.ReadString('\n')
		if err != nil {
			return // it was killed
		}
		a.term, _ = strconv.ParseUint(strings.TrimSpace(line), 10, 64)
		if a.term != 0 {
			a.accepted = to.write(a.term)
		}
		w.mu.Lock()
		w.all = append(w.all, a)
		w.mu.Unlock()
		select {
		case w.more <- struct{}{}:
		default:
		}
	}
}

// attempts returns those so far.
func (w *worker) attempts() []attempt {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all
}

// await waits until an attempt is as wanted. Meanwhile it calls again, again and again.
func (w *worker) await(t *testing.T, what string, again func(), wanted func(attempt) bool) {
	t.Helper()
	limit := time.NewTimer(hang)
	defer limit.Stop()
	for seen := 0; ; {
		all := w.attempts()
		for ; seen < len(all); seen++ {
			if wanted(all[seen]) {
				return
			}
		}
		again()
		select {
		case <-w.more:
		case <-w.ended:
			t.Fatalf("the client has ended before %s", what)
		case <-limit.C:
			t.Fatalf("the client does not come to %s", what)
		}
	}
}

// kill ends the client.
func (w *worker) kill() {
	_ = w.command.Process.Kill() // it may have ended
	<-w.ended
	_ = w.command.Wait()
}

// until waits for a moment on CLOCK_BOOTTIME.
func until(moment int64) {
	for left := moment - reading(clockBoottime); left > 0; left = moment - reading(clockBoottime) {
		<-time.NewTimer(time.Duration(left)).C
	}
}

// around returns a moment that is at most half that time before or after another one.
func around(moment int64, within time.Duration) int64 {
	return moment + rand.Int64N(int64(within)) - int64(within)/2
}

// trials are those of one client.
type trials struct {
	t      *testing.T
	client *language
	kills  bool // it is killed, and not stopped and resumed
	path   string
	file   *leasefile.Writer
	reader *leasefile.Reader
	to     resource
	worker *worker

	accepted, late int // writes of the client
}

// Each client looks whether its lease is valid, works for some milliseconds and writes. Around the end of the lease it is killed, or stopped
// and resumed, and at the end a successor writes. No client finds the lease valid after that, and what it writes then, of work that it has begun
// before, is refused.
func TestNoWriteIsAcceptedAfterThatOfASuccessor(t *testing.T) {
	stops, kills := 3, 2 // of each driver, whose start is what costs
	if *long {
		stops, kills = 1000, 1000
	}
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			begun, all := time.Now(), &trials{t: t, client: l, path: filepath.Join(t.TempDir(), "lease")}
			var err error
			if all.file, err = leasefile.Create(all.path, "jobs", 7); err != nil {
				t.Fatal(err)
			}
			defer all.file.Close()
			if all.reader, err = leasefile.Open(all.path); err != nil {
				t.Fatal(err)
			}
			defer all.reader.Close()
			all.worker = l.work(t, all.path, &all.to)
			defer func() { all.worker.kill() }()
			for n := range stops + kills {
				if all.kills && n > stops {
					all.worker = l.work(t, all.path, &all.to)
				}
				all.kills = n >= stops
				all.try(n)
			}
			for i, term := range all.to.written[1:] {
				if term < all.to.written[i] {
					t.Errorf("a write in term %d is accepted after one in term %d", term, all.to.written[i])
				}
			}
			t.Logf("%d stops and %d kills in %v: %d writes accepted, %d that came after the successor's refused", stops, kills, time.Since(begun).Round(time.Second), all.accepted, all.late)
		})
	}
}

// try makes a trial. In each second one the lead ends before its lease.
func (all *trials) try(n int) {
	t, term, before := all.t, uint64(2*n+1), len(all.worker.attempts())
	lease := time.Duration(10+rand.IntN(20)) * time.Millisecond
	show := func() { all.file.Show(true, term, func() time.Duration { return lease }, "") }
	all.worker.await(t, "a write", show, func(a attempt) bool { return a.term == term && a.accepted })
	show()
	s, err := all.reader.Read()
	if err != nil {
		t.Fatal(err)
	}
	end, early := int64(s.Boottime), n%2 == 1
	if early {
		end = around(end-int64(lease)/4, lease/2)
	}
	faulty := all.fault(around(end, 6*time.Millisecond))
	until(end)
	if early {
		all.file.Show(false, term, nil, "")
	}
	all.to.write(term + 1)
	successor := reading(clockBoottime)
	<-faulty
	if all.kills {
		all.worker.kill()
	} else {
		until(successor + rand.Int64N(int64(5*time.Millisecond)))
		if err := all.worker.command.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		all.worker.await(t, "an answer after the successor's write", func() {}, func(a attempt) bool { return a.asked > successor })
	}
	all.judge(all.worker.attempts()[before:], term, successor)
}

// fault kills or stops the client at a moment. The result is closed then.
func (all *trials) fault(at int64) (done <-chan struct{}) {
	made, process := make(chan struct{}), all.worker.command.Process
	go func() {
		defer close(made)
		until(at)
		if all.kills {
			_ = process.Kill()
		} else {
			_ = process.Signal(syscall.SIGSTOP)
		}
	}()
	return made
}

// judge looks at what the client has done in a term, whose successor has written.
func (all *trials) judge(attempts []attempt, term uint64, successor int64) {
	for _, a := range attempts {
		switch {
		case a.term == 0:
			continue
		case a.term != term:
			all.t.Errorf("the client has term %d, and the file %d", a.term, term)
		case a.accepted:
			all.accepted++
		default:
			all.late++
		}
		if a.asked > successor {
			all.t.Errorf("the lease in term %d was valid after the first write of the successor", term)
		}
	}
}
