//go:build linux

// Memberlist is a node of a group whose live member with the largest identifier leads: it has no quorum and no terms, so
// each side of a partition has a leader. Mode "tuned" probes every 100 ms, and suspects for short.
package main

import (
	"context"
	"io"
	"strconv"
	"time"

	"github.com/hashicorp/memberlist"

	"ringleader.example/ringleader/bench/failover/node"
)

func main() { node.Main(run) }

func run(ctx context.Context, c *node.Config, r *node.Report) error {
	config := memberlist.DefaultLANConfig()
	if c.Mode == "tuned" {
		config.ProbeInterval, config.ProbeTimeout = 100*time.Millisecond, 50*time.Millisecond
		config.SuspicionMult, config.SuspicionMaxTimeoutMult = 1, 1
		config.GossipInterval = 20 * time.Millisecond
		config.IndirectChecks = 1
		config.TCPTimeout = time.Second
	}
	config.Name = strconv.Itoa(c.ID)
	config.BindAddr, config.AdvertiseAddr = c.Own().Host, c.Own().Host
	config.BindPort, config.AdvertisePort = c.Own().Port, c.Own().Port
	config.LogOutput = io.Discard
	config.DeadNodeReclaimTime = time.Millisecond // it restarts with the same name
	changed := make(chan struct{}, 1)
	config.Events = events(changed)
	list, err := memberlist.Create(config)
	if err != nil {
		return err
	}
	highest := func() (leader int) {
		for _, m := range list.Members() {
			id, _ := strconv.Atoi(m.Name)
			leader = max(leader, id)
		}
		return leader
	}
	var others []string
	for i, m := range c.Members {
		if i+1 != c.ID {
			others = append(others, m.Address())
		}
	}
	again := func() bool { return list.NumMembers() < len(c.Members) }
	go join(ctx, list, again, others)
	for {
		if leader := highest(); list.NumMembers() == 1 {
			r.Follow(0)
		} else if leader == c.ID {
			r.Lead(0, func() bool { return highest() == c.ID })
		} else {
			r.Follow(leader)
		}
		select {
		case <-ctx.Done():
			_ = list.Leave(time.Second)
			return list.Shutdown()
		case <-changed:
		}
	}
}

// join joins others again and again: they start at the same time, or one is dead.
func join(ctx context.Context, list *memberlist.Memberlist, again func() bool, others []string) {
	for ticks := time.NewTicker(200 * time.Millisecond); ctx.Err() == nil; {
		if again() {
			_, _ = list.Join(others)
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
		}
	}
}

// events wakes the loop whenever a member comes or goes.
type events chan<- struct{}

func (e events) NotifyJoin(*memberlist.Node)   { e.wake() }
func (e events) NotifyLeave(*memberlist.Node)  { e.wake() }
func (e events) NotifyUpdate(*memberlist.Node) {}

func (e events) wake() {
	select {
	case e <- struct{}{}:
	default:
	}
}
