//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"

	"ringleader.example/ringleader/bench/failover/node"
)

// network is where the nodes of one group are. Nodes are numbered from 1.
type network interface {
	members() []node.Member
	command(id int, path string, arguments ...string) *exec.Cmd

	// cut prepares to take a node off the network: act does so, silently, and heal brings it back. The fault in lets it still
	// send, and out still receive.
	cut(id int, fault string) (act func() error, err error)
	heal(id int, fault string) error

	// cutLink lets nothing pass between two nodes.
	cutLink(a, b int) error

	// lose drops so many percent of what each node receives.
	lose(percent int) error

	close()
}

// loopback has no faults.
type loopback []node.Member

func newLoopback(n int) (loopback, error) {
	var (
		listeners []net.Listener
		l         loopback
	)
	defer func() {
		for _, open := range listeners {
			open.Close()
		}
	}()
	port := func() (int, error) {
		open, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		listeners = append(listeners, open)
		return open.Addr().(*net.TCPAddr).Port, nil
	}
	for range n {
		first, err := port()
		if err != nil {
			return nil, err
		}
		second, err := port()
		if err != nil {
			return nil, err
		}
		l = append(l, node.Member{Host: "127.0.0.1", Port: first, Extra: second})
	}
	return l, nil
}

func (l loopback) members() []node.Member { return l }

func (l loopback) command(_ int, path string, arguments ...string) *exec.Cmd {
	return exec.Command(path, arguments...)
}

var errLoopback = fmt.Errorf("nothing is cut on loopback")

func (l loopback) cut(int, string) (func() error, error) { return nil, errLoopback }
func (l loopback) heal(int, string) error                { return errLoopback }
func (l loopback) cutLink(int, int) error                { return errLoopback }
func (l loopback) lose(int) error                        { return errLoopback }
func (l loopback) close()                                {}

// namespaces are network namespaces that a bridge joins. The kernel removes old ones late, so each group has other names.
type namespaces struct {
	prefix string
	n      int
}

// groups counts the groups of this process.
var groups int

// subnet is what the addresses of nodes begin with.
const subnet = "10.213.77."

func (n namespaces) bridge() string     { return n.prefix }
func (n namespaces) name(id int) string { return fmt.Sprintf("%s.%d", n.prefix, id) }

func newNamespaces(n int) (namespaces, error) {
	groups++
	all := namespaces{fmt.Sprintf("b%x.%x", os.Getpid(), groups), n} // an interface has 15 characters
	var lines strings.Builder
	fmt.Fprintf(&lines, "link add %s type bridge\nlink set %[1]s up\n", all.bridge())
	for id := 1; id <= n; id++ {
		fmt.Fprintf(&lines, "netns add %s\n", all.name(id))
		fmt.Fprintf(&lines, "link add %s type veth peer name eth0 netns %s\n", all.name(id), all.name(id))
		fmt.Fprintf(&lines, "link set %s master %s up\n", all.name(id), all.bridge())
	}
	if err := ip(lines.String(), "-batch", "-"); err != nil {
		all.close()
		return all, err
	}
	for id := 1; id <= n; id++ {
		inside := fmt.Sprintf("link set lo up\naddr add %s%d/24 dev eth0\nlink set eth0 up\n", subnet, id)
		if err := ip(inside, "-netns", all.name(id), "-batch", "-"); err != nil {
			all.close()
			return all, err
		}
	}
	return all, nil
}

// prepare starts a tool that waits for its input, and returns what gives it that.
func prepare(c *exec.Cmd, input string) (act func() error, err error) {
	stdin, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	c.Stdout, c.Stderr = &text, &text
	if err := c.Start(); err != nil {
		return nil, err
	}
	return func() error {
		_, err := io.WriteString(stdin, input)
		if err = errors.Join(err, stdin.Close(), c.Wait()); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(c.Args, " "), err, &text)
		}
		return nil
	}, nil
}

// use runs a tool with an input.
func use(c *exec.Cmd, input string) error {
	act, err := prepare(c, input)
	if err != nil {
		return err
	}
	return act()
}

func ip(input string, arguments ...string) error { return use(exec.Command("ip", arguments...), input) }

func (n namespaces) members() (members []node.Member) {
	for id := 1; id <= n.n; id++ {
		members = append(members, node.Member{Host: fmt.Sprint(subnet, id), Port: 7001, Extra: 7002})
	}
	return members
}

// command runs in the namespace of a node; ip replaces itself by the program.
func (n namespaces) command(id int, path string, arguments ...string) *exec.Cmd {
	return exec.Command("ip", append([]string{"netns", "exec", n.name(id), path}, arguments...)...)
}

func (n namespaces) cut(id int, fault string) (act func() error, err error) {
	switch fault {
	case in:
		return prepare(n.filter(id), only("iifname eth0"))
	case out: // on the way: a node that drops packets itself is told
		return prepare(exec.Command("nft", "-f", "-"),
			fmt.Sprintf("table netdev %s {\nchain out {\ntype filter hook ingress device %[1]s priority 0\ndrop\n}\n}\n", n.name(id)))
	default:
		return prepare(exec.Command("ip", "-batch", "-"), fmt.Sprintf("link set %s nomaster\n", n.name(id)))
	}
}

func (n namespaces) heal(id int, fault string) error {
	switch fault {
	case in:
		return use(n.filter(id), "delete table ip bench\n")
	case out:
		return use(exec.Command("nft", "-f", "-"), fmt.Sprintf("delete table netdev %s\n", n.name(id)))
	default:
		return ip("", "link", "set", n.name(id), "master", n.bridge())
	}
}

func (n namespaces) cutLink(a, b int) error {
	if err := n.drop(a, fmt.Sprintf("ip saddr %s%d", subnet, b)); err != nil {
		return err
	}
	return n.drop(b, fmt.Sprintf("ip saddr %s%d", subnet, a))
}

func (n namespaces) lose(percent int) error {
	for id := 1; id <= n.n; id++ {
		if err := n.drop(id, fmt.Sprintf("iifname eth0 numgen random mod 100 < %d", percent)); err != nil {
			return err
		}
	}
	return nil
}

// drop lets a node receive nothing of a kind.
func (n namespaces) drop(id int, what string) error { return use(n.filter(id), only(what)) }

// only is a filter that drops a kind of packets that arrive.
func only(what string) string {
	return "table ip bench {\nchain in {\ntype filter hook input priority 0\n" + what + " drop\n}\n}\n"
}

// filter is the command that adds or deletes filters of a node. They are its input.
func (n namespaces) filter(id int) *exec.Cmd {
	return exec.Command("ip", "netns", "exec", n.name(id), "nft", "-f", "-")
}

func (n namespaces) close() {
	for id := 1; id <= n.n; id++ {
		_ = n.heal(id, out) // such a filter outlives its interface
		_ = ip("", "link", "del", n.name(id))
		_ = ip("", "netns", "del", n.name(id))
	}
	_ = ip("", "link", "del", n.bridge())
}
