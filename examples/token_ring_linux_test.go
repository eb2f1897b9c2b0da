package examples

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader/examples/internal/wire"
	"ringleader.example/ringleader/internal/serve/rig"
)

// signal sends a signal to a process.
func (g *group) signal(id int, s syscall.Signal) {
	if err := g.processes[id].Process.Signal(s); err != nil {
		g.t.Fatal(err)
	}
}

// ring is a printer, and three processes that reach it and each other by links.
type ring struct {
	*group
	printer string               // its address
	links   map[[2]int]*rig.Link // from a process to another one's ring address, or to the printer
	member  map[[2]int]*rig.Link // likewise between members
	pages   []pageLine
	newest  pageLine  // the token of the greatest term, and the process that has made it
	held    *exec.Cmd // the process that was stuck last
}

// thePrinter has this number among the processes.
const thePrinter = 0

func newRing(t *testing.T, arguments ...string) *ring {
	r := &ring{group: newGroup(t, "token-ring", arguments...), links: map[[2]int]*rig.Link{}, member: map[[2]int]*rig.Link{}}
	addresses := free(t, 4) // the first one is the printer's
	r.printer = addresses[thePrinter]
	r.run(thePrinter, program("printer"), "--address", r.printer)
	r.next(`^printing at`)
	for id := 1; id <= 3; id++ {
		links := r.link(r.links, id, addresses)
		r.own[id] = []string{
			"--printer", links[thePrinter], "--ring", strings.Join(links[1:], ","),
			"--addresses", strings.Join(r.link(r.member, id, append([]string{""}, r.addresses...))[1:], ","),
		}
	}
	r.start(1, 2, 3)
	return r
}

// link makes links from a process to the addresses of the others, and returns where they listen.
func (r *ring) link(links map[[2]int]*rig.Link, id int, addresses []string) (all []string) {
	for to, address := range addresses {
		if to != id && address != "" {
			l, err := rig.NewLink(address)
			if err != nil {
				r.t.Fatal(err)
			}
			r.t.Cleanup(l.Close)
			links[[2]int{id, to}] = l
			address = l.Address()
		}
		all = append(all, address)
	}
	return all
}

// isolate cuts a process off from the others, but not from the printer, or heals that.
func (r *ring) isolate(id int, cut bool) {
	for _, links := range []map[[2]int]*rig.Link{r.links, r.member} {
		for ends, l := range links {
			if ends[1] != thePrinter && (ends[0] == id || ends[1] == id) {
				l.Set(rig.Way{Cut: cut}, rig.Way{Cut: cut})
			}
		}
	}
}

// pageLine is what the printer prints.
type pageLine struct{ term, job, process, page int }

var pagePattern = regexp.MustCompile(`^token (\d+), job (\d+) of process (\d+): page (\d+) of 3$`)

// printed waits for a page that has been printed, and judges all pages until then.
func (r *ring) printed(wanted func(p pageLine) bool) pageLine {
	r.t.Helper()
	for late := time.Now().Add(patience); ; {
		if time.Now().After(late) { // pages are printed, so that next does not notice
			r.t.Fatalf("the page that is waited for is not among %v; other lines: %v", r.pages[max(0, len(r.pages)-12):], r.seen)
		}
		_, parts := r.next(pagePattern.String())
		var n [4]int
		for i := range n {
			n[i], _ = strconv.Atoi(parts[i+1])
		}
		p := pageLine{n[0], n[1], n[2], n[3]}
		r.judge(p)
		r.pages = append(r.pages, p)
		if wanted(p) {
			return p
		}
	}
}

// judge fails the test unless a page continues the job before it, or begins a job when that one is complete or its token is
// older.
func (r *ring) judge(p pageLine) {
	r.t.Helper()
	before := pageLine{page: 3}
	if n := len(r.pages); n > 0 {
		before = r.pages[n-1]
	}
	continues := before
	continues.page++
	if p != continues && (p.page != 1 || p.term < before.term || p.term == before.term && (before.page != 3 || p.job <= before.job)) {
		r.t.Errorf("the printer has printed %+v after %+v", p, before)
	}
}

// stuck lets a process wait for the printer's answer to a page that has been printed, and returns that page.
func (r *ring) stuck(id int) (last pageLine) {
	r.t.Helper()
	held := make(chan struct{}, 1)
	r.held = r.processes[id]
	// A link that is cut makes no connection. This one makes them, and holds answers back.
	r.links[[2]int{id, thePrinter}].Set(rig.Way{}, rig.Way{Delay: func() time.Duration {
		select {
		case held <- struct{}{}:
		default:
		}
		return time.Hour
	}})
	select {
	case <-held:
	case <-time.After(patience):
		r.t.Fatalf("process %d does not print", id)
	}
	// What the printer has printed before it refuses this has been read when that is.
	if err := wire.Send(r.printer, struct{}{}, patience); !errors.Is(err, wire.ErrRefused) {
		r.t.Fatalf("the printer takes a page without a token: %v", err)
	}
	r.next(`^token 0, job 0 of process 0: page 0 is refused`)
	for slices.ContainsFunc(r.seen, func(l line) bool { return pagePattern.MatchString(l.text) }) {
		if p := r.printed(func(pageLine) bool { return true }); p.process == id {
			last = p
		}
	}
	// The process that has passed the token on has its answer, for which it would wait as long as this one does.
	ctx, stop := context.WithTimeout(r.t.Context(), patience)
	defer stop()
	for ends, l := range r.links {
		if ends[1] == id {
			if err := l.Idle(ctx); err != nil {
				r.t.Fatalf("process %d waits for an answer from %d: %v", ends[0], id, err)
			}
		}
	}
	return last
}

// goesOn waits until the token goes round without a process whose token was an old one.
func (r *ring) goesOn(without int, old pageLine) {
	r.t.Helper()
	jobs := map[int]int{}
	r.printed(func(p pageLine) bool {
		if p.term > old.term && p.page == 3 {
			jobs[p.process]++
		}
		return jobs[other(without)] > 1 && jobs[other(other(without))] > 1
	})
	if jobs[without] > 0 {
		r.t.Errorf("process %d prints, too", without)
	}
}

// released gives a stuck process its answers, and waits until the printer has refused what the process prints then. A process that led while the machine
// stood still has ended instead, and its token is lost.
func (r *ring) released(id int) {
	r.t.Helper()
	r.links[[2]int{id, thePrinter}].Set(rig.Way{}, rig.Way{})
	or := "|^" + regexp.QuoteMeta(again) + "$"
	for refused := false; !refused; {
		l, _ := r.await(fmt.Sprintf(`^token \d+, job \d+ of process %d: page \d is refused$`, id) + or)
		if l.of == r.held {
			return
		}
		refused = l.text != again
	}
	for thrower := (*exec.Cmd)(nil); thrower != r.held; { // if the machine stands still, a token comes late, and other processes throw it away
		l, _ := r.await(`^token \d+ is thrown away: it refuses` + or)
		thrower = l.of
	}
}

// leader returns the leader, after all processes have printed. Where a machine stalls, it is not the first one.
func (r *ring) leader() (id int) {
	first, _ := r.await(newToken)
	r.newest = pageLine{term: numberIn(first.text), process: first.id}
	waiting := map[int]bool{1: true, 2: true, 3: true}
	r.printed(func(p pageLine) bool {
		delete(waiting, p.process)
		return len(waiting) == 0
	})
	return r.maker()
}

// newToken is where a process begins to lead.
const newToken = `^token \d+ is new`

// maker returns the process that has made the token of the greatest term.
func (r *ring) maker() (id int) {
	for _, l := range r.latest(newToken) {
		if term := numberIn(l.text); term > r.newest.term {
			r.newest = pageLine{term: term, process: l.id}
		}
	}
	return r.newest.process
}

// stuckLeader lets the leader be stuck, as stuck does. If another one leads meanwhile, that goes to a process that is cut off then with its token, and
// waits there.
func (r *ring) stuckLeader() (holder int, last pageLine) {
	r.t.Helper()
	holder = r.leader()
	for {
		last = r.stuck(holder)
		now := r.maker()
		if now == holder {
			return holder, last
		}
		r.links[[2]int{holder, thePrinter}].Set(rig.Way{}, rig.Way{})
		holder = now
	}
}

// other returns another process.
func other(id int) int { return id%3 + 1 }

func TestATokenIsLostWithItsHolderAndRegenerated(t *testing.T) {
	t.Parallel()
	for name, leads := range map[string]bool{"the holder leads": true, "another process leads": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRing(t, "--page", "5ms", "--missing", "3s", "--answer", "10m")
			holder := r.leader()
			if !leads {
				holder = other(holder)
			}
			lost := r.stuck(holder)
			r.kill(holder)
			r.goesOn(holder, lost)
			r.links[[2]int{holder, thePrinter}].Set(rig.Way{}, rig.Way{})
			r.start(holder)
			r.printed(func(p pageLine) bool { return p.process == holder && p.page == 3 })
		})
	}
}

func TestTheTokenOfAStoppedHolderIsAnOldOneWhenItContinues(t *testing.T) {
	t.Parallel()
	r := newRing(t, "--page", "5ms", "--missing", "3s", "--answer", "10m")
	holder := other(r.leader())
	old := r.stuck(holder)
	r.signal(holder, syscall.SIGSTOP)
	r.goesOn(holder, old)
	r.signal(holder, syscall.SIGCONT)
	r.released(holder)
	r.printed(func(p pageLine) bool { return p.process == holder && p.term > old.term && p.page == 3 })
}

func TestTheTokenOfAHolderThatWasCutOffIsRefused(t *testing.T) {
	t.Parallel()
	r := newRing(t, "--page", "5ms", "--missing", "3s", "--answer", "10m")
	holder, old := r.stuckLeader()
	r.isolate(holder, true)
	r.goesOn(holder, old)
	r.released(holder)
	r.isolate(holder, false)
	r.printed(func(p pageLine) bool { return p.process == holder && p.term > old.term && p.page == 3 })
}

// Each token arrives at 2, and 1 does not learn it.
func TestATokenThatPerhapsHasArrivedIsNotSentAgain(t *testing.T) {
	t.Parallel()
	r := newRing(t, "--page", "5ms", "--missing", "10m", "--answer", "1s")
	r.leader()
	r.links[[2]int{1, 2}].Set(rig.Way{}, rig.Way{Delay: func() time.Duration { return time.Hour }})
	for range 3 {
		for id := 0; id != 1; { // on a machine that stalls another one does not learn it, too
			id, _ = r.next(`^token \d+ is thrown away: .*timeout`)
		}
		jobs := len(r.pages)
		r.printed(func(p pageLine) bool { return p.process == 3 && p.page == 3 && len(r.pages) > jobs+6 })
	}
}

// Processes 2 and 3 resign in turn while the link from 1 to 2 is cut, so that each of them makes a token.
func TestATokenThatWasUnderWayForTooLongIsRefused(t *testing.T) {
	t.Parallel()
	r := newRing(t, "--page", "5ms", "--missing", "1s", "--answer", "1s")
	r.leader()
	link := r.links[[2]int{1, 2}]
	link.Set(rig.Way{Cut: true}, rig.Way{})
	old := r.printed(func(p pageLine) bool { return p.process == 1 && p.page == 3 })
	r.printed(func(p pageLine) bool { return p.process == 2 && p.term > old.term })
	link.Set(rig.Way{}, rig.Way{})
	for id := 0; id != 2; { // on a machine that stalls another token may be late, too
		id, _ = r.next(`^token \d+ is refused`)
	}
	r.printed(func(p pageLine) bool { return p.process == 1 && p.term > old.term && p.page == 3 })
}
