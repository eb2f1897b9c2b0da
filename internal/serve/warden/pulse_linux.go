package warden

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"ringleader.example/ringleader/internal/serve/kernel"
)

const (
	// looks is how many looks without a beat it takes. Each needs the processor, so a host that stands still as a whole kills nothing.
	looks = 6

	// seldom is the time between two looks while nothing is watched.
	seldom = 100 * time.Millisecond
)

// watcher kills a program whose member leads and does not work.
type watcher struct {
	memory []int64
	kept   func() bool      // whether the program could not work
	seen   map[int]*silence // by pulse
}

// newPulses makes the memory; nil: this host has none, and the warden does not watch.
func newPulses() (page *os.File, memory []int64) {
	page, err := kernel.NewMemory()
	if err != nil {
		return nil, nil
	}
	if memory = mapPulses(page); memory == nil {
		return nil, nil
	}
	return page, memory
}

// mapPulses maps the memory, or returns nil.
func mapPulses(page *os.File) []int64 {
	memory, err := kernel.Map(page, 2*mostPulses)
	if err != nil {
		page.Close()
		return nil
	}
	return memory
}

// silence is a pulse that has not beaten.
type silence struct {
	count int64
	since time.Duration // the look that saw the last beat
	looks int           // since then, without those at which the program could not run
}

// watchPulses looks at the pulses of a program until it kills it. It runs before other processes, where that is allowed.
func watchPulses(program *os.Process, memory []int64) {
	runtime.LockOSThread()
	_ = kernel.HurryAlone()
	t := threads{pid: program.Pid}
	w := watcher{memory: memory, kept: t.kept, seen: map[int]*silence{}}
	for begun := time.Now(); ; {
		next, silent := w.look(time.Since(begun))
		if silent > 0 {
			fmt.Fprintf(os.Stderr, "%s: the warden: process %d leads and has not worked for %v, so it is killed\n", filepath.Base(os.Args[0]), program.Pid, silent.Round(time.Millisecond))
			_ = program.Kill() // it may have ended
			return
		}
		time.Sleep(next)
	}
}

// look looks at all pulses. It returns when to look again, and for how long a pulse has not beaten that should have.
func (w *watcher) look(now time.Duration) (next, silent time.Duration) {
	next = seldom
	for i := 0; 2*i < len(w.memory); i++ {
		most := time.Duration(atomic.LoadInt64(&w.memory[2*i+1]))
		if most <= 0 {
			delete(w.seen, i)
			continue
		}
		next = min(next, most/looks)
		count, s := atomic.LoadInt64(&w.memory[2*i]), w.seen[i]
		if s == nil || s.count != count {
			w.seen[i] = &silence{count: count, since: now}
			continue
		}
		s.looks++
		if s.looks > looks/2 && w.kept() { // it excuses a look before, too: where all wait for a processor, some look in vain
			s.looks = max(looks/2, s.looks-2)
		}
		if s.looks >= looks && now-s.since >= most {
			return 0, now - s.since
		}
	}
	return next, 0
}

// threads are those of a program.
type threads struct {
	pid    int
	before map[string]spent // what each had had at the look before
}

// spent is what a thread has had of the processor.
type spent struct{ ran, waited time.Duration }

// kept reports whether the program may work as soon as it gets a processor or an answer of a disk, or whether a debugger holds it: then no
// silence counts.
func (t *threads) kept() (kept bool) {
	now := map[string]spent{}
	all, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", t.pid))
	for _, thread := range all {
		folder := fmt.Sprintf("/proc/%d/task/%s", t.pid, thread.Name())
		stat, _ := os.ReadFile(folder + "/stat")
		fields := afterName(stat)
		if len(fields) == 0 {
			continue // it has ended
		}
		text, _ := os.ReadFile(folder + "/schedstat")
		had := parseSpent(string(text))
		now[thread.Name()] = had
		before, known := t.before[thread.Name()]
		switch state := fields[0]; {
		case state == "D", state == "t", had.waited > before.waited+leastWait && known:
			kept = true
		case state == "R":
			kept = kept || !known || had.ran-before.ran < leastWait // else it runs, to no avail
		}
	}
	t.before = now
	return kept
}

// leastWait is what a thread has to wait for a processor between two looks, if that is to excuse it.
const leastWait = time.Millisecond

// parseSpent parses a schedstat of /proc.
func parseSpent(text string) (s spent) {
	fields := strings.Fields(text)
	if len(fields) < 2 {
		return s
	}
	ran, _ := strconv.ParseInt(fields[0], 10, 64)
	waited, _ := strconv.ParseInt(fields[1], 10, 64)
	return spent{time.Duration(ran), time.Duration(waited)}
}
