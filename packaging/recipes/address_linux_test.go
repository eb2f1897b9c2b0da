package recipes_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ringleader.example/ringleader/internal/core/needs"
)

// machines are network namespaces, three for members and one, 0, for their network and a client.
type machines struct {
	*testing.T
	name string
}

func (m machines) of(id int) string { return fmt.Sprintf("%s-%d", m.name, id) }

// ip runs the command ip, and returns what it prints.
func (m machines) ip(arguments ...string) string {
	m.Helper()
	out, err := exec.Command("ip", arguments...).CombinedOutput()
	if err != nil {
		m.Fatalf("ip %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
	return string(out)
}

// newMachines makes machines 10.0.0.1, 10.0.0.2 and 10.0.0.3 on one network.
func newMachines(t *testing.T) machines {
	t.Helper()
	m := machines{t, fmt.Sprintf("ringleader-%d", os.Getpid())}
	if out, err := exec.Command("ip", "netns", "add", m.of(0)).CombinedOutput(); err != nil {
		needs.Missing(t, "network namespaces need root: %v: %s", err, out)
	}
	t.Cleanup(func() { m.ip("netns", "del", m.of(0)) })
	m.ip("-n", m.of(0), "link", "add", "bridge0", "type", "bridge")
	m.ip("-n", m.of(0), "address", "add", "10.0.0.10/24", "dev", "bridge0")
	m.ip("-n", m.of(0), "link", "set", "bridge0", "up")
	for id := 1; id <= 3; id++ {
		m.ip("netns", "add", m.of(id))
		t.Cleanup(func() { m.ip("netns", "del", m.of(id)) })
		cable := fmt.Sprintf("cable%d", id)
		m.ip("-n", m.of(0), "link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", m.of(id))
		m.ip("-n", m.of(0), "link", "set", cable, "master", "bridge0", "up")
		m.ip("-n", m.of(id), "address", "add", fmt.Sprintf("10.0.0.%d/24", id), "dev", "eth0")
		m.ip("-n", m.of(id), "link", "set", "eth0", "up")
		m.ip("-n", m.of(id), "link", "set", "lo", "up")
	}
	return m
}

// holds reports whether a machine has the address of the leader.
func (m machines) holds(id int) bool {
	return strings.Contains(m.ip("-n", m.of(id), "address", "show", "dev", "eth0"), "10.0.0.100/24")
}

// answers returns the member that a client on the network reaches at the address of the leader.
func (m machines) answers() (id int) {
	out, err := exec.Command("ip", "netns", "exec", m.of(0), "fetch", "http://10.0.0.100:9000/").Output()
	if err != nil {
		return 0
	}
	fmt.Sscanf(string(out), "member %d", &id)
	return id
}

func TestAnAddressMovesWithTheLeader(t *testing.T) {
	t.Parallel()
	needs.Program(t, "ip", "iproute2")
	needs.Program(t, "arping", "iputils-arping")
	m := newMachines(t)
	script, err := filepath.Abs("virtual-ip.sh")
	if err != nil {
		t.Fatal(err)
	}
	var members []*exec.Cmd
	for id := 1; id <= 3; id++ {
		start(t, "ip", "netns", "exec", m.of(id), "service", ":9000", fmt.Sprintf("member %d", id))
		c := append([]string{"netns", "exec", m.of(id), "ringleader"}, member(t, id, script, "10.0.0.100/24", "eth0")...)
		for i := range c {
			if c[i] == "--member" { // the network has no other machines
				c = append(c[:i:i], append([]string{"--insecure"}, c[i:]...)...)
				break
			}
		}
		members = append(members, start(t, "ip", c...))
	}
	var first, second int
	await(t, "the leader answers", func() bool { first = m.answers(); return first != 0 })
	members[first-1].Process.Signal(syscall.SIGTERM)
	members[first-1].Wait()
	if m.holds(first) {
		t.Errorf("member %d has ended in good order, and its machine holds the address", first)
	}
	await(t, "the next leader answers", func() bool { second = m.answers(); return second != 0 && second != first })

	// Two of three are needed, so the first one comes back before the second one is killed.
	again := append([]string(nil), members[first-1].Args[1:]...)
	start(t, "ip", again...)
	await(t, "all members run", func() bool {
		return strings.Count(m.ip("netns", "exec", m.of(second), "fetch", fmt.Sprintf("http://10.0.0.%d:8001/status", second)), `"reachable":true`) == 3
	})
	end(members[second-1])
	await(t, "another leader answers", func() bool { id := m.answers(); return id != 0 && id != second })
	await(t, "the machine of a killed member gives up the address", func() bool { return !m.holds(second) })
}
