package trials_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/kernel/kerneltest"
)

// fault is what happens to the member that leads. What it has stopped continues when another one leads, or it leads still.
type fault struct {
	name    string
	kind    string // of command: loop, daemon or chain
	stop    []string
	kill    []string
	cut     bool
	endures bool // it may lead on
}

// faults are all faults that are tried.
func faults() (all []fault) {
	add := func(f fault) { all = append(all, f) }
	for _, stop := range [][]string{{"member"}, {"keeper"}, {"warden"}, {"member", "keeper"}, {"member", "warden"}, {"keeper", "warden"}, {"member", "keeper", "warden"}} {
		add(fault{name: fmt.Sprint("stop ", stop), kind: "daemon", stop: stop, endures: slices.Equal(stop, []string{"warden"})})
	}
	for _, kill := range [][]string{{"member"}, {"keeper"}, {"warden"}, {"member", "keeper"}, {"warden", "keeper"}, {"warden", "member", "keeper"}} {
		add(fault{name: fmt.Sprint("kill ", kill), kind: "daemon", kill: kill})
	}
	add(fault{name: "stop the whole tree", kind: "daemon", stop: []string{"tree"}})
	add(fault{name: "stop the keeper, kill the warden", kind: "daemon", stop: []string{"keeper"}, kill: []string{"warden"}})
	add(fault{name: "stop the keeper, kill the member", kind: "daemon", stop: []string{"keeper"}, kill: []string{"member"}})
	add(fault{name: "stop the member, kill the warden", kind: "daemon", stop: []string{"member"}, kill: []string{"warden"}})
	add(fault{name: "cut", kind: "daemon", cut: true})
	add(fault{name: "cut, stop the keeper", kind: "daemon", cut: true, stop: []string{"keeper"}})
	add(fault{name: "cut, stop member and keeper", kind: "daemon", cut: true, stop: []string{"member", "keeper"}})
	for _, f := range []fault{{name: "stop the member", stop: []string{"member"}}, {name: "stop all three", stop: []string{"member", "keeper", "warden"}}, {name: "kill warden and keeper", kill: []string{"warden", "keeper"}}, {name: "cut", cut: true}} {
		f.name, f.kind = f.name+", chain of forks", "chain"
		add(f)
	}
	return all
}

// pids returns the processes that names stand for.
func (p processes) pids(names []string) (all []int) {
	for _, name := range names {
		switch name {
		case "warden":
			all = append(all, p.warden)
		case "member":
			all = append(all, p.member)
		case "keeper":
			all = append(all, p.keeper)
		case "tree":
			all = append(append(all, p.warden), kerneltest.Descendants(p.warden)...)
		}
	}
	return all
}

// inflict tries a fault on a group: it waits for a command, lets the fault happen at a random moment, awaits the next command, and repairs
// all.
func (g *group) inflict(f fault, random *rand.Rand) {
	g.Helper()
	work, p := g.leads(random, true)
	id, term := work.member(), work.term() // the lead may be another one's by now, and the term a later one: then the fault is none, and the next command runs already
	g.Logf("term %d, at %v: %s", term, now(), f.name)
	stopped, killed := p.pids(f.stop), p.pids(f.kill)
	if f.cut {
		g.cut(id, true)
	}
	for _, pid := range stopped {
		syscall.Kill(pid, syscall.SIGSTOP)
	}
	for _, pid := range killed {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	begun := now()
	g.await("another command runs after "+f.name, func() bool {
		e, is := g.runs(begun)
		return is && e.term() > term || f.endures && now()-begun > time.Second
	})
	g.pass(200*time.Millisecond, random) // in which the old command may run still
	for _, pid := range stopped {
		syscall.Kill(pid, syscall.SIGCONT)
	}
	if f.cut {
		g.cut(id, false)
	}
	if slices.Contains(f.kill, "warden") || slices.Contains(f.kill, "member") || !alive(p.member) { // a warden kills a leader that is stopped
		<-g.ends[id]
		g.await("the member ends with its warden", func() bool { return !alive(p.member) })
		g.start(id)
	}
}

// lists shares the faults that are wanted among groups that run at the same time: to start a group is most of the work of a trial. One of the
// groups has the chains.
func lists() (all [][]int) {
	wanted := regexp.MustCompile(*only)
	var daemons, chains []int
	for i, f := range faults() {
		switch {
		case !wanted.MatchString(f.name):
		case f.kind == "chain":
			chains = append(chains, i)
		default:
			daemons = append(daemons, i)
		}
	}
	if n := len(daemons); n > 0 {
		all = slices.Collect(slices.Chunk(daemons, (n-1)/max(1, *groups-1)+1))
	}
	if len(chains) > 0 {
		all = append(all, chains)
	}
	return all
}

func TestTwoCommandsNeverRunAtTheSameTime(t *testing.T) {
	decisive(t)
	load(t)
	var (
		mu      sync.Mutex
		tried   int
		closest = -time.Hour
	)
	t.Run("groups", func(t *testing.T) { // ends when all have
		for which, list := range lists() {
			t.Run("group", func(t *testing.T) {
				t.Parallel()
				all, random := faults(), rand.New(rand.NewPCG(*seed, uint64(which)))
				g := newGroup(t, 3, setup{Kind: all[list[0]].kind, Hang: *hang})
				for i := range *trials * len(list) {
					if i%8 == 7 { // commands that were killed begin again after pauses that double
						g.renew()
					}
					g.inflict(all[list[i%len(list)]], random)
				}
				worst := g.overlap()
				if worst >= 0 {
					t.Errorf("two commands run at the same time for %v", worst)
				}
				t.Logf("the next command began at least %v after the last instruction of the one before", -worst)
				mu.Lock()
				defer mu.Unlock()
				closest, tried = max(closest, worst), tried+*trials*len(list)
			})
		}
	})
	t.Logf("%d trials, %d idle and %d busy processes: the next command began at least %v after the last instruction of the one before", tried, *idle, *busy, -closest)
}

func TestNothingRunsAfterTheEndOfItsLease(t *testing.T) {
	decisive(t)
	load(t)
	for _, what := range []string{"exec", "Lead"} {
		if regexp.MustCompile(*only).MatchString(what) {
			t.Run(what, func(t *testing.T) {
				t.Parallel() // both at the same time, with half of the groups each
				nothingRuns(t, what == "Lead", (*groups+1)/2)
			})
		}
	}
}

// nothingRuns stops the work of groups around the ends of their leases: that of exec, or that of Lead.
func nothingRuns(t *testing.T, lead bool, groups int) {
	var (
		next atomic.Int64
		mu   sync.Mutex
		left []time.Duration // between the last instruction and the end of the lease
	)
	t.Run("groups", func(t *testing.T) { // it ends when all have
		for i := range groups {
			t.Run("group", func(t *testing.T) {
				t.Parallel()
				members, stop := 1, (*group).stopExec
				if lead {
					members, stop = 2, (*group).stopLead
				}
				g, random := newGroup(t, members, setup{Kind: "daemon", Lead: lead}), rand.New(rand.NewPCG(*seed, uint64(i)))
				for range (*stops + groups - 1) / groups {
					// The fractions of multiples of the golden ratio are spread evenly, however few there are.
					_, part := math.Modf(float64(next.Add(1)) * math.Phi)
					d := stop(g, part, random)
					mu.Lock()
					left = append(left, d)
					mu.Unlock()
				}
			})
		}
	})
	slices.Sort(left)
	if len(left) == 0 {
		t.Fatal("nothing was tried")
	}
	at := func(part float64) time.Duration {
		return left[int(part*float64(len(left)-1))].Round(100 * time.Microsecond)
	}
	t.Logf("%d stops: the last instruction came before the end of the lease by %v at least, %v in 1 of 100, %v in the median, %v at most", len(left), at(0), at(0.01), at(0.5), at(1))
	if left[0] < 0 {
		t.Errorf("something ran until %v after the end of its lease", -left[0])
	}
}

// leads waits until the work of a member runs, for a random time, and returns the work and the processes of its member.
func (g *group) leads(random *rand.Rand, kept bool) (work entry, p processes) {
	g.Helper()
	g.await("something runs", func() bool {
		g.revive()
		e, is := g.runs(now() - 20*time.Millisecond)
		if !is || now()-e.began() < 50*time.Millisecond {
			return false
		}
		work, p = e, g.of(e.member())
		return p.member != 0 && (p.keeper != 0 || !kept)
	})
	g.pass(90*time.Millisecond, random) // the phase of renewals is what varies
	return work, p
}

// pass waits for a random time.
func (g *group) pass(most time.Duration, random *rand.Rand) {
	g.around(now(), 0, most, random.Float64())
}

// around waits until a moment in a span about another one; part tells where in the span.
func (g *group) around(moment, before, after time.Duration, part float64) {
	at := moment - before + time.Duration(part*float64(before+after))
	g.await("a moment", func() bool { return now() >= at })
}

// ends returns the end of the lease of a member.
func (t tape) ends(id int) time.Duration { return time.Duration(atomic.LoadInt64(&t.numbers[ends+id])) }

// last returns when the last instruction came, and forgets all.
func (t tape) last() (last time.Duration) {
	for _, e := range t.all() {
		last = max(last, e.ran())
	}
	clear(t.numbers)
	return last
}

// stopExec stops a member, so that its lease ends, and its keeper some time before or after that. It returns how long before the end
// the last instruction of the command came.
func (g *group) stopExec(part float64, random *rand.Rand) time.Duration {
	g.Helper()
	work, p := g.leads(random, true)
	id := work.member()
	syscall.Kill(p.member, syscall.SIGSTOP)
	g.await("it stands still", func() bool { return state(p.member) == 'T' || !alive(p.member) })
	ends := g.tape.ends(id)
	g.around(ends, 200*time.Millisecond, 50*time.Millisecond, part)
	syscall.Kill(p.keeper, syscall.SIGSTOP)
	g.await("the end of the lease", func() bool { return now() > ends+50*time.Millisecond })
	g.end(id)
	left := g.left(ends)
	g.start(id)
	return left
}

// left returns how long before the end of a lease the last instruction came. What ran after the end is listed.
func (g *group) left(end time.Duration) time.Duration {
	g.Helper()
	all := fmt.Sprint(g.tape.all()) // before it is forgotten
	left := end - g.tape.last()
	if left < 0 {
		g.Logf("the lease ended at %v; what ran under it: %s", end, all)
	}
	return left
}

// stopLead cuts a member off whose work ignores its context, so that its lease ends, stops it, and lets it continue some time before or
// after the end. It returns how long before that the last instruction of the work came.
func (g *group) stopLead(part float64, random *rand.Rand) time.Duration {
	g.Helper()
	work, p := g.leads(random, false)
	id := work.member()
	g.cut(id, true)
	g.pass(100*time.Millisecond, random) // it has not ended by itself then
	syscall.Kill(p.member, syscall.SIGSTOP)
	g.await("it stands still", func() bool { return state(p.member) == 'T' || !alive(p.member) })
	g.around(g.tape.ends(id), 200*time.Millisecond, 50*time.Millisecond, part)
	syscall.Kill(p.member, syscall.SIGCONT)
	<-g.ends[id]
	left := g.left(g.tape.ends(id))
	g.cut(id, false)
	g.start(id)
	return left
}
