package trials_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
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
			all = append(all, tree(p.warden)...)
		}
	}
	return all
}

// inflict tries a fault on a group: it waits for a command, lets the fault happen at a random moment, awaits the next command, and repairs
// all.
func (g *group) inflict(f fault, random *rand.Rand) {
	g.Helper()
	var (
		leads entry
		p     processes
	)
	g.await("a command runs", func() (is bool) {
		since := now() - 20*time.Millisecond
		if leads, is = g.runs(since); is && now()-time.Duration(leads.First) > 100*time.Millisecond {
			p = g.of(int(leads.Member))
			return p.member != 0 && p.keeper != 0
		}
		return false
	})
	time.Sleep(time.Duration(random.Int64N(int64(90 * time.Millisecond)))) // the phase of renewals is what varies
	id := int(leads.Member)
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
		return is && e.Term > leads.Term || f.endures && now()-begun > time.Second
	})
	time.Sleep(time.Duration(random.Int64N(int64(200 * time.Millisecond)))) // in which the old command may run still
	for _, pid := range stopped {
		syscall.Kill(pid, syscall.SIGCONT)
	}
	if f.cut {
		g.cut(id, false)
	}
	if slices.Contains(f.kill, "warden") || slices.Contains(f.kill, "member") {
		<-g.ends[id]
		g.await("the member ends with its warden", func() bool { return !alive(p.member) })
		g.start(id)
	}
}

func TestTwoCommandsNeverRunAtTheSameTime(t *testing.T) {
	hurried(t)
	load(t)
	var (
		wanted  = regexp.MustCompile(*only)
		queue   = make(chan fault)
		all     sync.WaitGroup
		tried   atomic.Int64
		mu      sync.Mutex
		closest = -time.Hour
	)
	for i := range *groups {
		all.Go(func() {
			random := rand.New(rand.NewPCG(*seed, uint64(i)))
			for f := range queue {
				g := newGroup(t, 3, setup{Kind: f.kind})
				for range *trials {
					g.inflict(f, random)
					tried.Add(1)
				}
				worst := g.overlap()
				if worst >= 0 {
					t.Errorf("%s: two commands run at the same time for %v", f.name, worst)
				}
				mu.Lock()
				closest = max(closest, worst)
				mu.Unlock()
				for id := range g.run {
					g.end(id)
				}
				if testing.Verbose() {
					t.Logf("%-45s next command at least %v after the last instruction", f.name, -worst)
				}
			}
		})
	}
	for _, f := range faults() {
		if wanted.MatchString(f.name) {
			queue <- f
		}
	}
	close(queue)
	all.Wait()
	t.Logf("%d trials, %d idle and %d busy processes: the next command began at least %v after the last instruction of the one before", tried.Load(), *idle, *busy, -closest)
}

func TestNothingRunsAfterTheEndOfItsLease(t *testing.T) {
	hurried(t)
	load(t)
	for _, lead := range []bool{false, true} {
		var (
			all  sync.WaitGroup
			mu   sync.Mutex
			left []time.Duration // between the last instruction and the end of the lease
		)
		for i := range *groups {
			all.Go(func() {
				random := rand.New(rand.NewPCG(*seed, uint64(i)))
				g := newGroup(t, 1, setup{Kind: "daemon", Lead: lead})
				for range (*stops + *groups - 1) / *groups {
					d := g.stopAtEnd(lead, random)
					mu.Lock()
					left = append(left, d)
					mu.Unlock()
				}
			})
		}
		all.Wait()
		slices.Sort(left)
		if len(left) > 0 {
			t.Logf("lead %v, %d stops: the last instruction came %v before the end of the lease at least, %v in the median", lead, len(left), left[0], left[len(left)/2])
			if left[0] < 0 {
				t.Errorf("lead %v: something ran until %v after the end of its lease", lead, -left[0])
			}
		}
	}
}

// stopAtEnd stops a member, and its keeper some time before or after the end of the lease, and returns how long before the end the last
// instruction came.
func (g *group) stopAtEnd(lead bool, random *rand.Rand) time.Duration {
	g.Helper()
	var p processes
	g.await("something runs", func() bool {
		e, is := g.runs(now() - 20*time.Millisecond)
		if p = g.of(1); is && now()-time.Duration(e.First) > 50*time.Millisecond {
			return p.member != 0 && (lead || p.keeper != 0)
		}
		return false
	})
	time.Sleep(time.Duration(random.Int64N(int64(90 * time.Millisecond))))
	end := func() time.Duration { return time.Duration(atomic.LoadInt64(&g.tape.numbers[ends+1])) }
	syscall.Kill(p.member, syscall.SIGSTOP)
	g.await("it stands still", func() bool { return state(p.member) == 'T' || !alive(p.member) })
	ends := end()
	if !lead {
		wait := ends - now() - 200*time.Millisecond + time.Duration(random.Int64N(int64(250*time.Millisecond)))
		time.Sleep(max(0, wait))
		syscall.Kill(p.keeper, syscall.SIGSTOP)
	}
	g.await("the end of the lease", func() bool { return now() > ends+50*time.Millisecond })
	var last int64
	for _, e := range g.tape.all() {
		last = max(last, e.Last)
	}
	g.end(1)
	for _, e := range g.tape.all() { // what ran on meanwhile
		last = max(last, e.Last)
	}
	clear(g.tape.numbers) // its processes have ended
	g.start(1)
	return ends - time.Duration(last)
}
