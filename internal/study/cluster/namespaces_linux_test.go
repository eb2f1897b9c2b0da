package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/core/needs"
	"ringleader.example/ringleader/internal/study/broker"
)

// islands are network namespaces that a bridge joins. They are numbered from 1. The bridge is in a namespace, too: on this machine's own network, its
// firewall may drop what a bridge passes on.
type islands struct{ prefix string }

// subnet is what their addresses begin with.
const subnet = "10.213.79."

func (n islands) name(id int) string { return fmt.Sprintf("%s.%d", n.prefix, id) }

// part runs a process on an island.
func (n islands) act(t *testing.T, id int, p part) *actor {
	t.Helper()
	return act(t, p, "ip", "netns", "exec", n.name(id)) // which replaces itself by the program
}

// cut takes an island off the network, and heal brings it back.
func (n islands) cut(t *testing.T, id int) {
	ip(t, "", "-netns", n.prefix, "link", "set", n.name(id), "nomaster")
}

func (n islands) heal(t *testing.T, id int) {
	ip(t, "", "-netns", n.prefix, "link", "set", n.name(id), "master", "bridge")
}

func ip(t *testing.T, input string, arguments ...string) {
	t.Helper()
	c := exec.Command("ip", arguments...)
	c.Stdin = strings.NewReader(input)
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v: %s", strings.Join(arguments, " "), err, text)
	}
}

func newIslands(t *testing.T, count int) islands {
	t.Helper()
	n := islands{fmt.Sprintf("c%x", os.Getpid())} // an interface has 15 characters
	c := exec.Command("ip", "netns", "add", n.prefix)
	if text, err := c.CombinedOutput(); err != nil {
		needs.Missing(t, "only root can make networks: %v: %s", err, text)
	}
	t.Cleanup(func() { ip(t, "", "netns", "del", n.prefix) })
	ip(t, "link add bridge type bridge\nlink set bridge up\n", "-netns", n.prefix, "-batch", "-")
	for id := 1; id <= count; id++ {
		ip(t, "", "netns", "add", n.name(id))
		t.Cleanup(func() { ip(t, "", "netns", "del", n.name(id)) }) // and its link with it
		ip(t, fmt.Sprintf("link add %s type veth peer name eth0 netns %[1]s\nlink set %[1]s master bridge up\n", n.name(id)), "-netns", n.prefix, "-batch", "-")
		ip(t, fmt.Sprintf("link set lo up\naddr add %s%d/24 dev eth0\nlink set eth0 up\n", subnet, id), "-netns", n.name(id), "-batch", "-")
	}
	return n
}

func TestNetworksThatAreCutLoseNothing(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	n := newIslands(t, 4)
	folder := t.TempDir()
	log, result := filepath.Join(folder, "log"), filepath.Join(folder, "result")
	spec := sums{Of: 600, Wait: 10 * time.Millisecond, Begins: log}
	listen := subnet + "1:4222"
	access := Access{URL: "nats://" + listen, Token: token}
	server := n.act(t, 1, part{Role: "server", Settings: broker.Settings{Listen: listen, Store: filepath.Join(folder, "store"), Token: token}})
	var workers []*actor
	for id := 2; id <= 3; id++ {
		workers = append(workers, n.act(t, id, part{Role: "worker", Access: access, Cores: 2, Patience: time.Second, Log: log}))
	}
	commander := n.act(t, 4, part{Role: "commander", Access: access, Kind: "coarse", Spec: spec, Result: result})
	settled := 0
	further := func(pieces int) { // waits until so many more pieces are done
		t.Helper()
		settled = len(readDiary(t, log).settled) + pieces
		until(t, fmt.Sprintf("the number of pieces %d", settled), func() bool { return len(readDiary(t, log).settled) >= settled || !commander.running() })
	}
	further(30)
	n.cut(t, 2) // the other worker goes on
	further(60)
	n.heal(t, 2)
	further(30)
	n.cut(t, 4) // the workers compute what is in the queue: as much as a busy machine let the commander put there
	settled = len(readDiary(t, log).settled)
	until(t, "a queue that is empty, or four more pieces", func() bool {
		d := readDiary(t, log)
		return len(d.settled) >= settled+4 || !slices.ContainsFunc(d.begun, func(piece string) bool { return !d.settled[piece] })
	})
	n.heal(t, 4)
	further(30)
	n.cut(t, 1) // no process goes on
	workers[0].kill()
	workers[0] = n.act(t, 2, workers[0].part)
	commander.kill()
	commander = n.act(t, 4, commander.part)
	n.heal(t, 1)
	further(30)
	n.cut(t, 3)
	server.kill()
	n.act(t, 1, server.part)
	further(60)
	n.heal(t, 3)
	<-commander.ended
	if commander.err != nil {
		t.Fatalf("the commander ends with %v: %s", commander.err, &commander.stderr)
	}
	got, err := os.ReadFile(result)
	same(t, "coarse", spec, got, err)
}
