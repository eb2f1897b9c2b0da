package warden

import (
	"fmt"
	"maps"
	"os"
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

	// beating is the part of the longest silence after which the warden looks: if all that is watched beats more often, it sleeps. All further looks are
	// in what is left of that silence, if that began with the alarm.
	beating = 2
)

// watcher kills a program whose member leads and does not work.
type watcher struct {
	memory  []int64
	program func() (kept func() bool) // begins to watch whether the program cannot work
	seen    map[int]*silence          // by pulse
}

// newPulses makes the memory and the alarm; nil: this host has none, and the warden does not watch.
func newPulses() (page *os.File, alarm *kernel.Alarm, memory []int64) {
	page, err := kernel.NewMemory()
	if err != nil {
		return nil, nil, nil
	}
	if alarm, err = kernel.NewAlarm(); err != nil {
		page.Close()
		return nil, nil, nil
	}
	if memory = mapPulses(page); memory == nil {
		return nil, nil, nil // such a process ends soon: it has no memory
	}
	return page, alarm, memory
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
	since int64       // the last beat
	looks int         // since it was seen, without those at which the program could not run
	kept  func() bool // whether it could not, since the look before
}

// watchPulses looks at the pulses of a program until it kills it. It runs before other processes, where that is allowed.
func watchPulses(program *os.Process, memory []int64, alarm *kernel.Alarm) {
	runtime.LockOSThread()
	var visit func() (time.Duration, error)
	if kernel.HurryAlone() == nil { // else a visit waits for other processes
		visit = kernel.Visit
	}
	w := watcher{memory: memory, program: func() func() bool { return newThreads(program.Pid, visit).kept }, seen: map[int]*silence{}}
	for {
		next, silent := w.look(kernel.Monotonic())
		if silent > 0 {
			if program.Kill() == nil { // else it has ended
				say("the warden: process %d leads and has not worked for %v, so it is killed", program.Pid, silent.Round(time.Millisecond))
			}
			return
		}
		if next != kernel.Never && alarm.Set(next) != nil || alarm.Await() != nil {
			return // never: both processes have the descriptor
		}
	}
}

// look looks at all pulses. It returns after what time to look again, and for how long a pulse has not beaten that should have. The time is
// [kernel.Never] if nothing is watched.
func (w *watcher) look(now time.Duration) (next, silent time.Duration) {
	next = kernel.Never
	for i := 0; 2*i < len(w.memory); i++ {
		most := time.Duration(atomic.LoadInt64(&w.memory[2*i+1]))
		if most <= 0 {
			delete(w.seen, i)
			continue
		}
		last, s := atomic.LoadInt64(&w.memory[2*i]), w.seen[i]
		if s == nil || s.since != last {
			s = &silence{since: last}
			w.seen[i] = s
		}
		lasts := now - time.Duration(last)
		if lasts < most/beating {
			next = min(next, most/beating-lasts)
			continue
		}
		next = min(next, (most-most/beating)/(looks-1))
		s.looks++
		if s.kept == nil && s.looks >= looks/2 {
			s.kept = w.program()
		} else if s.kept != nil && s.kept() { // it excuses a look before, too: where all wait for a processor, some look in vain
			s.looks = max(looks/2, s.looks-2)
		}
		if s.looks >= looks && lasts >= most {
			return 0, lasts
		}
	}
	return next, 0
}

// threads are those of a program, from one look of a silence on.
type threads struct {
	pid   int
	at    time.Time         // of the look before
	had   map[string]thread // at the look before, by identifier
	first map[string]thread // when each was seen first
	age   time.Duration     // since the first look

	visit  func() (longest time.Duration, err error) // of all processors; nil: the warden waits for them as the program does
	stands int                                       // how many visits have found one that stood still
}

// thread is what a thread does, and what it has had of the processor.
type thread struct {
	state string // as /proc tells it
	spent
}

// spent is for how long a thread has run and has waited for a processor, and how often it got one.
type spent struct {
	ran, waited time.Duration
	turns       int64
}

func newThreads(pid int, visit func() (time.Duration, error)) *threads {
	t := &threads{pid: pid, visit: visit}
	t.begin()
	return t
}

// begin begins with what the threads are now.
func (t *threads) begin() {
	t.at, t.age, t.had = time.Now(), 0, readThreads(t.pid)
	t.first = maps.Clone(t.had)
}

// kept reports whether the program may work as soon as it gets a processor or an answer of a disk, whether a debugger holds it, or whether it ends, of
// which its warden is about to hear: then no silence counts.
func (t *threads) kept() bool {
	at, now := time.Now(), readThreads(t.pid)
	kept := t.judge(at.Sub(t.at), now)
	t.at, t.had = at, now
	if kept || !t.stood() {
		return kept
	}
	t.begin() // the kernel may count that time as one in which a thread ran
	return true
}

// The processors of a virtual machine stand still, each by itself, when their host has other work. One that lets the warden wait for standing did so:
// the program may have been on it. A silence is excused mostStands times for that, so that no machine excuses a leader that hangs for ever.
const (
	standing   = 3 * time.Millisecond
	mostStands = 3
)

// stood reports whether a processor stands still, and waits until none does.
func (t *threads) stood() bool {
	if t.visit == nil || t.stands == mostStands {
		return false
	}
	longest, err := t.visit()
	if err != nil || longest < standing {
		return false
	}
	t.stands++
	return true
}

// A thread of a silent program may run for inVain: as long as Go's scheduler lets a goroutine run while others wait. One that has run for
// longer, and for this part of the time, is in a loop, and no lack of a processor keeps the program from its work.
//
// But if another thread has no turn from one look to the next one, that may be the one with the goroutine that works, and Go gives it to none that runs. Where
// many processes run before others, each has a processor for up to 100 ms: only a thread that has run for longer than that is in a loop.
const (
	inVain     = 10 * time.Millisecond
	inVainNext = 120 * time.Millisecond // to a thread without a turn
	partInVain = 20
)

// judge is kept, of what is seen after a time, without a visit.
func (t *threads) judge(passed time.Duration, now map[string]thread) bool {
	t.age += passed
	var waited, ran time.Duration // waited: of all threads together, as each may wait for another one; ran: of one
	waits, starves := false, false
	for id, n := range now {
		before, known := t.had[id]
		if !known {
			t.first[id] = n
		}
		switch {
		case n.state == "D", n.state == "t", n.state == "Z":
			return true
		case !known:
			waits = waits || n.state == "R"
			continue
		case n.state == "R" && n.spent == before.spent: // it has had no turn
			starves = true
		}
		waited += n.waited - before.waited
		ran = max(ran, n.ran-t.first[id].ran)
	}
	loops := func(least time.Duration) bool { return ran >= max(least, t.age/partInVain) }
	// A thread that wakes again and again, as the one that waits for all others before Go's collector may run, waits a little each time.
	return len(now) == 0 || starves && !loops(inVainNext) || !loops(inVain) && (waits || waited > passed/2)
}

// readThreads reads the threads of a process.
func readThreads(pid int) map[string]thread {
	now := map[string]thread{}
	all, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, one := range all {
		folder := fmt.Sprintf("/proc/%d/task/%s", pid, one.Name())
		stat, _ := os.ReadFile(folder + "/stat")
		if fields := afterName(stat); len(fields) > 0 { // else it has ended
			text, _ := os.ReadFile(folder + "/schedstat")
			now[one.Name()] = thread{fields[0], parseSpent(string(text))}
		}
	}
	return now
}

// parseSpent parses a schedstat of /proc.
func parseSpent(text string) (s spent) {
	fields := strings.Fields(text)
	if len(fields) < 3 {
		return s
	}
	ran, _ := strconv.ParseInt(fields[0], 10, 64)
	waited, _ := strconv.ParseInt(fields[1], 10, 64)
	turns, _ := strconv.ParseInt(fields[2], 10, 64)
	return spent{time.Duration(ran), time.Duration(waited), turns}
}
