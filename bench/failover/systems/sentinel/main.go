//go:build linux

// Sentinel is a node that runs the installed redis-server twice: as a server, and as its sentinel. The leader is the primary
// server. Set "down" is the time after which a sentinel suspects a server, in ms.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"ringleader.example/ringleader/bench/failover/node"
)

func main() { node.Main(run) }

// Limits of what a node waits for.
const (
	answerLimit  = time.Second     // an answer of a server
	handingLimit = 5 * time.Second // the end of a failover that it has asked for
)

func run(ctx context.Context, c *node.Config, r *node.Report) error {
	r.Group()
	own := c.Own()
	data := []string{
		"--bind", own.Host, "--port", strconv.Itoa(own.Port), "--dir", c.Data, "--protected-mode", "no",
		"--save", "", "--repl-diskless-sync-delay", "0",
	}
	if primary := primary(c); primary != own.Address() {
		host, port, err := net.SplitHostPort(primary)
		if err != nil {
			return err
		}
		data = append(data, "--replicaof", host+" "+port)
	}
	file := c.File("sentinel.conf") // the sentinel notes in it what it knows
	if _, err := os.Stat(file); err != nil {
		if err := os.WriteFile(file, []byte(settings(c)), 0o600); err != nil {
			return err
		}
	}
	ends := make(chan error, 2)
	for _, arguments := range [][]string{data, {file, "--sentinel"}} {
		server := node.Child("redis-server", arguments...)
		if err := server.Start(); err != nil {
			return err
		}
		defer server.Process.Kill()
		go func() { ends <- server.Wait() }()
	}
	watch := &watcher{c: c, r: r}
	watched, stop := context.WithCancel(context.WithoutCancel(ctx)) // it sees the failover that a SIGTERM asks for
	defer stop()
	go c.Every(watched, watch.look)
	select {
	case err := <-ends:
		return fmt.Errorf("redis-server has ended: %w", err)
	case <-ctx.Done():
	}
	if watch.primary.Load() {
		_, _ = ask(own.ExtraAddress(), "SENTINEL", "FAILOVER", "bench") // without one, it is a crash
		for end := time.Now().Add(handingLimit); watch.primary.Load() && time.Now().Before(end); {
			time.Sleep(c.Poll)
		}
	}
	return nil
}

// primary returns the address of the primary server: the one that the other sentinels know, or else that of the first node.
func primary(c *node.Config) string {
	for i, m := range c.Members {
		if i+1 == c.ID {
			continue
		}
		if known, err := ask(m.ExtraAddress(), "SENTINEL", "GET-MASTER-ADDR-BY-NAME", "bench"); err == nil && len(known) == 2 {
			return net.JoinHostPort(known[0], known[1])
		}
	}
	return c.Members[0].Address()
}

// settings returns those of a sentinel that knows nothing yet. A failover that fails is not repeated for twice failover-timeout.
func settings(c *node.Config) string {
	first := c.Members[0]
	return fmt.Sprintf(`bind %s
port %d
dir %s
protected-mode no
sentinel monitor bench %s %d %d
sentinel down-after-milliseconds bench %s
sentinel failover-timeout bench 2000
`, c.Own().Host, c.Own().Extra, c.Data, first.Host, first.Port, len(c.Members)/2+1, c.Set["down"])
}

// watcher asks the node's own server what it is.
type watcher struct {
	c       *node.Config
	r       *node.Report
	server  *connection
	primary atomic.Bool
	settled bool // the sentinel can elect
}

func (w *watcher) look() {
	if w.server == nil {
		var err error
		if w.server, err = dial(w.c.Own().Address()); err != nil {
			return
		}
	}
	role, err := w.server.ask("ROLE")
	if err != nil || len(role) == 0 {
		w.server.Close()
		w.server = nil
		return
	}
	w.primary.Store(role[0] == "master")
	switch {
	case w.primary.Load():
		w.r.Lead(0, w.primary.Load)
	case role[0] == "slave" && len(role) > 3 && role[3] == "connected" && w.settles():
		w.r.Follow(1 + slices.IndexFunc(w.c.Members, func(m node.Member) bool { return m.Host == role[1] && strconv.Itoa(m.Port) == role[2] }))
	default:
		w.r.Follow(0)
	}
}

// settles reports whether the node's sentinel knows all others, and all replicas of the primary. It finds them within seconds of
// its start, and cannot replace a primary before.
func (w *watcher) settles() bool {
	if w.settled {
		return true
	}
	fields, err := ask(w.c.Own().ExtraAddress(), "SENTINEL", "MASTER", "bench")
	others := strconv.Itoa(len(w.c.Members) - 1)
	w.settled = err == nil
	for _, name := range []string{"num-slaves", "num-other-sentinels"} {
		at := slices.Index(fields, name)
		w.settled = w.settled && at >= 0 && at+1 < len(fields) && fields[at+1] == others
	}
	return w.settled
}

// connection is one to a server of Redis, sentinel or not.
type connection struct {
	net.Conn
	answers *bufio.Reader
}

func dial(address string) (*connection, error) {
	c, err := net.DialTimeout("tcp", address, answerLimit)
	if err != nil {
		return nil, err
	}
	return &connection{c, bufio.NewReader(c)}, nil
}

// ask sends one command to a server.
func ask(address string, command ...string) ([]string, error) {
	c, err := dial(address)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.ask(command...)
}

// ask sends a command, and returns the texts and numbers of the answer.
func (c *connection) ask(command ...string) (answer []string, err error) {
	if err := c.SetDeadline(time.Now().Add(answerLimit)); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(c, strings.Join(command, " ")+"\r\n"); err != nil {
		return nil, err
	}
	err = c.read(&answer)
	return answer, err
}

// read appends an answer, in the protocol of Redis.
func (c *connection) read(into *[]string) error {
	line, err := c.answers.ReadString('\n')
	if err != nil {
		return err
	}
	kind, text := line[0], strings.TrimSpace(line[1:])
	switch kind {
	case '-':
		return fmt.Errorf("redis: %s", text)
	case '*':
		n, err := strconv.Atoi(text)
		for i := 0; i < n && err == nil; i++ {
			err = c.read(into)
		}
		return err
	case '$':
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return err
		}
		data := make([]byte, n+2) // with the end of its line
		if _, err := io.ReadFull(c.answers, data); err != nil {
			return err
		}
		text = string(data[:n])
	}
	*into = append(*into, text)
	return nil
}
