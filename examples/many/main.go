// Many measures a group of three processes that are members of many groups: how long until all groups have leaders, what they
// cost while nothing happens, and how long groups are without a leader after a process was killed.
//
// It reads what Linux tells about processes.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/examples/internal/start"
	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/storage"
)

var (
	groups    = flag.Int("groups", 1000, "`number` of groups")
	idle      = flag.Duration("idle", 20*time.Second, "how long nothing happens")
	lease     = flag.Duration("lease", 2*time.Second, "the lease")
	answers   = flag.Duration("answers", 100*time.Millisecond, "how long a member waits for answers")
	id        = flag.Int("id", 0, "for the processes that it starts: their `number`")
	addresses = flag.String("addresses", "", "for the processes that it starts: `list` of addresses")
	data      = flag.String("data", "", "for the processes that it starts: `directory`")
)

func main() {
	log.SetFlags(0)
	start.Flags("Measures three processes that are members of many groups.")
	var err error
	if *id > 0 {
		err = member()
	} else {
		err = measure()
	}
	if err != nil {
		log.Fatal(err)
	}
}

// member joins all groups, and prints each change of a leader that it sees: the group, and the leader.
func member() error {
	ctx := context.Background()
	c := ringleader.Config{Group: "many", ID: uint64(*id), Data: filepath.Join(*data, fmt.Sprint(*id)), Timing: timing()}
	for i, a := range strings.Split(*addresses, ",") {
		c.Members = append(c.Members, ringleader.MemberAddress{ID: uint64(i + 1), Address: a})
	}
	m, err := ringleader.Join(ctx, c)
	if err != nil {
		return err
	}
	var printing sync.Mutex
	for i := range *groups {
		shard, err := m.Join(ctx, ringleader.GroupConfig{Group: fmt.Sprint("group ", i), Priorities: map[uint64]uint16{uint64(i%3 + 1): 2}})
		if err != nil {
			return err
		}
		go func() {
			for v := range shard.Observe(ctx) {
				printing.Lock()
				fmt.Println(i, v.Leader)
				printing.Unlock()
			}
		}()
	}
	<-m.Done()
	return m.Err()
}

// timing gives an answer the time that it needs behind those of all other groups.
func timing() ringleader.Timing {
	return ringleader.Timing{Lease: *lease, Answers: *answers, Claim: 2 * *answers, Suspicion: *lease, Preempt: time.Minute}
}

// process is one that measure has started.
type process struct {
	*exec.Cmd
	id int
}

// change is what a process prints, or its end.
type change struct {
	id, group, leader int
	ended             bool
}

func measure() error {
	directory, err := os.MkdirTemp("", "many")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory)
	free, err := rig.FreeAddresses(3)
	if err != nil {
		return err
	}
	list := strings.Join(free, ",")
	changes := make(chan change, 1000)
	var processes []process
	begun := time.Now()
	for i := 1; i <= 3; i++ {
		owner := storage.Owner{Group: "many", Member: uint64(i)}
		if err := storage.Init(filepath.Join(directory, fmt.Sprint(i)), owner, storage.InitOptions{Records: 2 + *groups}); err != nil {
			return err
		}
	}
	fmt.Printf("%d groups of 3; stores made in %v\n", *groups, time.Since(begun).Round(time.Millisecond))
	begun = time.Now()
	for i := 1; i <= 3; i++ {
		c := exec.Command(os.Args[0], "--id", fmt.Sprint(i), "--data", directory, "--addresses", list, "--groups", fmt.Sprint(*groups), "--lease", fmt.Sprint(*lease), "--answers", fmt.Sprint(*answers))
		c.Stderr = os.Stderr
		out, err := c.StdoutPipe()
		if err != nil {
			return err
		}
		if err := c.Start(); err != nil {
			return err
		}
		defer c.Wait()
		defer c.Process.Kill()
		processes = append(processes, process{c, i})
		go func() {
			for s := bufio.NewScanner(out); s.Scan(); {
				ch := change{id: i}
				if n, _ := fmt.Sscan(s.Text(), &ch.group, &ch.leader); n == 2 {
					changes <- ch
				}
			}
			changes <- change{id: i, ended: true}
		}()
	}
	known := agreement{}
	if _, err := known.wait(changes, 0); err != nil {
		return err
	}
	fmt.Printf("all groups agree after %v\n", time.Since(begun).Round(time.Millisecond))
	if _, err := known.drain(changes, 3*time.Second); err != nil {
		return err
	}
	before := usage(processes)
	moved, err := known.drain(changes, *idle)
	if err != nil {
		return err
	}
	after := usage(processes)
	for i, p := range processes {
		fmt.Printf("idle: process %d takes %.1f %% of a core and %d MB, and leads %d groups\n",
			p.id, 100*(after[i].cpu-before[i].cpu).Seconds()/idle.Seconds(), after[i].bytes>>20, known.led(p.id))
	}
	fmt.Printf("idle: %d changes of leaders in %v\n", moved, *idle)
	victim := slices.MaxFunc([]int{1, 2, 3}, func(a, b int) int { return known.led(a) - known.led(b) })
	begun = time.Now()
	processes[victim-1].Process.Kill()
	times, err := known.wait(changes, victim)
	if err != nil {
		return err
	}
	if len(times) == 0 {
		return fmt.Errorf("process %d led no group any more when it was killed", victim)
	}
	for i := range times {
		times[i] -= time.Duration(begun.UnixNano())
	}
	slices.Sort(times)
	fmt.Printf("kill -9 of a process that leads %d groups: the first leader is replaced after %v, the median after %v, the last after %v\n",
		len(times), times[0].Round(time.Millisecond), times[len(times)/2].Round(time.Millisecond), times[len(times)-1].Round(time.Millisecond))
	return nil
}

// agreement is the leader of each group, as each process sees it.
type agreement map[[2]int]int

// take takes a change. The end of a process is an error, but for the one that was killed.
func (a agreement) take(c change, killed int) error {
	switch {
	case !c.ended:
		a[[2]int{c.id, c.group}] = c.leader
	case c.id != killed:
		return fmt.Errorf("process %d has ended", c.id)
	}
	return nil
}

// wait takes changes until all processes but the one that is gone agree on the leader of each group, and it is another one. It
// returns, for each group of which they did not agree before, when they did, in nanoseconds since 1970.
func (a agreement) wait(changes <-chan change, gone int) (times []time.Duration, err error) {
	missing := map[int]bool{}
	for g := range *groups {
		if !a.agreed(g, gone) {
			missing[g] = true
		}
	}
	for len(missing) > 0 {
		c := <-changes
		if err := a.take(c, gone); err != nil {
			return nil, err
		}
		if missing[c.group] && a.agreed(c.group, gone) {
			delete(missing, c.group)
			times = append(times, time.Duration(time.Now().UnixNano()))
		}
	}
	return times, nil
}

// agreed reports whether all processes but the one that is gone see the same leader of a group, and it is another one.
func (a agreement) agreed(group, gone int) bool {
	leader := 0
	for id := 1; id <= 3; id++ {
		switch sees := a[[2]int{id, group}]; {
		case id == gone:
		case sees == 0 || sees == gone || leader != 0 && sees != leader:
			return false
		default:
			leader = sees
		}
	}
	return true
}

// drain takes changes for a time.
func (a agreement) drain(changes <-chan change, d time.Duration) (n int, err error) {
	end := time.After(d)
	for {
		select {
		case c := <-changes:
			if err := a.take(c, 0); err != nil {
				return n, err
			}
			n++
		case <-end:
			return n, nil
		}
	}
}

func (a agreement) led(id int) (n int) {
	for g := range *groups {
		if a[[2]int{id, g}] == id {
			n++
		}
	}
	return n
}

type used struct {
	cpu   time.Duration
	bytes int
}

// usage returns what processes have used.
func usage(processes []process) (all []used) {
	for _, p := range processes {
		var u used
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Process.Pid))
		if _, after, ok := strings.Cut(string(stat), ") "); ok {
			fields := strings.Fields(after)
			const ticks = 100 // a second
			for _, field := range fields[11:13] {
				n, _ := strconv.Atoi(field)
				u.cpu += time.Duration(n) * time.Second / ticks
			}
			pages, _ := strconv.Atoi(fields[21])
			u.bytes = pages * os.Getpagesize()
		}
		all = append(all, u)
	}
	return all
}
