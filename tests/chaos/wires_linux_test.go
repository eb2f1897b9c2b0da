package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"ringleader.example/ringleader/internal/serve/rig"
)

// quality is how bad one direction between two members is.
type quality struct {
	cuts  int           // how many cuts it is part of; 0: it is whole
	delay time.Duration // of a piece of data, at most; 0: none
	one   int           // one of so many pieces or packets is lost; 0: none
}

// wires are what members are connected by. A direction is a pair of members: from, to.
type wires interface {
	listens(id uint64) string            // where a member listens
	spare(id uint64) string              // where an impostor of a member listens
	dials(from, to uint64) string        // what a member dials to reach another
	set(all map[[2]uint64]quality) error // sets all directions; those that are missing are good
	delays() bool                        // whether it can delay
	reset(from, to uint64) bool          // ends the connections that a member has dialed to another, if it can
	command(id uint64, program string) *exec.Cmd
	close()
}

// relays forward connections between processes that all listen on loopback.
type relays struct {
	addresses []string
	links     map[[2]uint64]*rig.Link
}

func newRelays(n int) (wires, error) {
	addresses, err := rig.FreeAddresses(n + 1)
	if err != nil {
		return nil, err
	}
	r := &relays{addresses, map[[2]uint64]*rig.Link{}}
	for from := range uint64(n) {
		for to := range uint64(n) {
			if from == to {
				continue
			}
			link, err := rig.NewLink(addresses[to])
			if err != nil {
				return nil, err
			}
			r.links[[2]uint64{from + 1, to + 1}] = link
		}
	}
	return r, nil
}

func (r *relays) listens(id uint64) string     { return r.addresses[id-1] }
func (r *relays) spare(uint64) string          { return r.addresses[len(r.addresses)-1] }
func (r *relays) dials(from, to uint64) string { return r.links[[2]uint64{from, to}].Address() }
func (r *relays) delays() bool                 { return true }

func (r *relays) reset(from, to uint64) bool {
	r.links[[2]uint64{from, to}].Reset()
	return true
}

func (r *relays) command(_ uint64, program string) *exec.Cmd { return exec.Command(program) }

func (r *relays) set(all map[[2]uint64]quality) error {
	way := func(from, to uint64) rig.Way {
		q := all[[2]uint64{from, to}]
		w := rig.Way{Cut: q.cuts > 0}
		if q.delay > 0 || q.one > 0 {
			w.Delay = q.late
		}
		return w
	}
	for ends, link := range r.links {
		link.Set(way(ends[0], ends[1]), way(ends[1], ends[0]))
	}
	return nil
}

// late draws how late a piece is. TCP sends a lost one again: after 200 ms, and then after twice that.
func (q quality) late() (late time.Duration) {
	if q.delay > 0 {
		late = time.Duration(rand.Int64N(int64(q.delay)))
	}
	const again = 200 * time.Millisecond
	for wait := again; q.one > 0 && rand.IntN(q.one) == 0 && wait < 4*lease; wait *= 2 {
		late += wait
	}
	return late
}

func (r *relays) close() {
	for _, link := range r.links {
		link.Close()
	}
}

// namespaces give each member a network of its own, and connect these by a bridge. Cuts and losses are those of packets,
// so connections time out, and the kernel repeats what is lost.
type namespaces struct {
	name string
	n    uint64
	last map[uint64]string // the rules of each
}

var numbers struct {
	sync.Mutex
	next int
}

func newNamespaces(n int) (wires, error) {
	numbers.Lock()
	numbers.next++
	s := &namespaces{name: fmt.Sprintf("chaos-%d-%d", os.Getpid(), numbers.next), n: uint64(n), last: map[uint64]string{}}
	numbers.Unlock()
	lines := []string{
		"netns add " + s.of(0), "-n " + s.of(0) + " link add name switch type bridge", "-n " + s.of(0) + " link set switch up",
	}
	for id := uint64(1); id <= s.n; id++ {
		here, there := s.of(0), s.of(id)
		lines = append(lines,
			"netns add "+there,
			fmt.Sprintf("-n %s link add name port%d type veth peer name eth0 netns %s", here, id, there),
			fmt.Sprintf("-n %s link set port%d master switch up", here, id),
			fmt.Sprintf("-n %s addr add %s/24 dev eth0", there, s.ip(id)),
			"-n "+there+" link set eth0 up", "-n "+there+" link set lo up",
		)
	}
	for _, line := range lines {
		if err := run("", "ip", strings.Fields(line)...); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// run runs a command of the system. One may wait long while other processes remove namespaces.
func run(input, name string, arguments ...string) error {
	const limit = 2 * time.Minute
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := exec.CommandContext(ctx, name, arguments...)
	c.Stdin = strings.NewReader(input)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %v: %w: %s", name, arguments, err, out)
	}
	return nil
}

func (s *namespaces) of(id uint64) string       { return fmt.Sprintf("%s-%d", s.name, id) }
func (s *namespaces) net(id uint64) string      { return "--net=/run/netns/" + s.of(id) }
func (s *namespaces) ip(id uint64) string       { return fmt.Sprintf("10.99.0.%d", id) }
func (s *namespaces) listens(id uint64) string  { return s.ip(id) + ":7000" }
func (s *namespaces) spare(id uint64) string    { return s.ip(id) + ":7001" }
func (s *namespaces) dials(_, to uint64) string { return s.listens(to) }
func (s *namespaces) delays() bool              { return false }
func (s *namespaces) reset(_, _ uint64) bool    { return false }

func (s *namespaces) command(id uint64, program string) *exec.Cmd {
	return exec.Command("nsenter", s.net(id), program)
}

// set replaces the rules of each receiver.
func (s *namespaces) set(all map[[2]uint64]quality) error {
	faults := make([]error, s.n+1)
	var changes sync.WaitGroup
	for to := uint64(1); to <= s.n; to++ {
		rules := "table ip chaos\ndelete table ip chaos\ntable ip chaos {\nchain in {\ntype filter hook input priority 0;\n"
		for from := uint64(1); from <= s.n; from++ {
			switch q := all[[2]uint64{from, to}]; {
			case q.cuts > 0:
				rules += fmt.Sprintf("ip saddr %s drop\n", s.ip(from))
			case q.one > 0:
				rules += fmt.Sprintf("ip saddr %s numgen random mod %d == 0 drop\n", s.ip(from), q.one)
			}
		}
		rules += "}\n}\n"
		if s.last[to] != rules {
			s.last[to] = rules
			changes.Go(func() { faults[to] = run(rules, "nsenter", s.net(to), "nft", "-f", "-") })
		}
	}
	changes.Wait()
	return errors.Join(faults...)
}

func (s *namespaces) close() {
	for id := range s.n + 1 {
		_ = run("", "ip", "netns", "del", s.of(id)) // one that was not made need not end
	}
}
