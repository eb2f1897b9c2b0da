//go:build linux

// Keepalived is a node that runs the installed keepalived, which has no library. It needs root, and a network namespace. The
// leader is the master of one VRRP instance. Set "advert" is the interval of its advertisements in seconds.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"ringleader.example/ringleader/bench/failover/node"
)

func main() { node.Main(run) }

// The priorities are distinct, so that masters never tie.
const leastPriority = 200

func run(ctx context.Context, c *node.Config, r *node.Report) error {
	r.Group()
	states := c.File("states")
	if err := syscall.Mkfifo(states, 0o600); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if err := os.WriteFile(c.File("conf"), []byte(settings(c, states)), 0o600); err != nil {
		return err
	}
	fifo, err := os.OpenFile(states, os.O_RDWR, 0) // for both, so that it is open before keepalived opens it
	if err != nil {
		return err
	}
	adverts, err := net.ListenPacket("ip4:112", c.Own().Host) // VRRP
	if err != nil {
		return err
	}
	var master atomic.Bool
	go func() {
		for lines := bufio.NewScanner(fifo); lines.Scan(); { // INSTANCE "bench" MASTER 203
			fields := strings.Fields(lines.Text())
			if len(fields) < 3 {
				continue
			}
			// MASTER_RX_LOWER_PRI means that there is another master, with a lower priority.
			if master.Store(strings.HasPrefix(fields[2], "MASTER")); master.Load() {
				r.Lead(0, master.Load)
			} else {
				r.Follow(0)
			}
		}
	}()
	go listen(adverts, c, r, &master)
	pids := []string{c.File("pid"), c.File("vrrp.pid")}
	for _, file := range pids {
		_ = os.Remove(file) // one that was killed has left it, and perhaps is not reaped yet
	}
	daemon := node.Child("keepalived", "--dont-fork", "--vrrp", "--use-file", c.File("conf"), "--pid", pids[0], "--vrrp_pid", pids[1])
	if err := daemon.Start(); err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _ = daemon.Process.Signal(syscall.SIGTERM) })
	err = daemon.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("keepalived has ended: %v", err)
}

// listen reports the sender of an advertisement as the leader, unless this node is the master. An advertisement with priority 0
// means that its sender resigns.
func listen(adverts net.PacketConn, c *node.Config, r *node.Report, master *atomic.Bool) {
	for packet := make([]byte, 1500); ; {
		n, from, err := adverts.ReadFrom(packet)
		if err != nil {
			return
		}
		const priority = 2 // its place in the packet
		at := slices.IndexFunc(c.Members, func(m node.Member) bool { return m.Host == from.String() })
		if n > priority && packet[priority] > 0 && at >= 0 && at+1 != c.ID && !master.Load() {
			r.Follow(at + 1)
		}
	}
}

// settings returns the file of settings: a master that comes back does not take over, as with the other systems.
func settings(c *node.Config, states string) string {
	var peers []string
	for i, m := range c.Members {
		if i+1 != c.ID {
			peers = append(peers, m.Host)
		}
	}
	return fmt.Sprintf(`global_defs {
	router_id bench%d
	vrrp_version 3
	vrrp_notify_fifo %s
}
vrrp_instance bench {
	state BACKUP
	nopreempt
	interface eth0
	virtual_router_id 51
	priority %d
	advert_int %s
	unicast_src_ip %s
	unicast_peer {
		%s
	}
	virtual_ipaddress {
		192.0.2.1/32
	}
}
`, c.ID, states, leastPriority+c.ID, c.Set["advert"], c.Own().Host, strings.Join(peers, "\n\t\t"))
}
