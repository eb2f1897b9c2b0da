//go:build linux

// Hashicorpraft is a node of hashicorp/raft, with its votes and log in raft-boltdb. Set "timeout" is the heartbeat and
// election timeout, with half of it as the lease; without it the default configuration stands.
package main

import (
	"context"
	"io"
	"strconv"
	"time"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb"

	"ringleader.example/ringleader/bench/failover/node"
)

func main() { node.Main(run) }

func run(ctx context.Context, c *node.Config, r *node.Report) error {
	config := raft.DefaultConfig()
	config.LocalID = raft.ServerID(strconv.Itoa(c.ID))
	config.LogOutput = io.Discard
	if text := c.Set["timeout"]; text != "" {
		timeout, err := time.ParseDuration(text)
		if err != nil {
			return err
		}
		config.HeartbeatTimeout, config.ElectionTimeout, config.LeaderLeaseTimeout = timeout, timeout, timeout/2
	}
	store, err := raftboltdb.NewBoltStore(c.File("raft.db"))
	if err != nil {
		return err
	}
	transport, err := raft.NewTCPTransport(c.Own().Address(), nil, 3, time.Second, io.Discard)
	if err != nil {
		return err
	}
	snapshots := raft.NewInmemSnapshotStore()
	known, err := raft.HasExistingState(store, store, snapshots)
	if err != nil {
		return err
	}
	if !known {
		var all raft.Configuration
		for i, m := range c.Members {
			all.Servers = append(all.Servers, raft.Server{ID: raft.ServerID(strconv.Itoa(i + 1)), Address: raft.ServerAddress(m.Address())})
		}
		if err := raft.BootstrapCluster(config, store, store, snapshots, transport, all); err != nil {
			return err
		}
	}
	member, err := raft.NewRaft(config, machine{}, store, store, snapshots, transport)
	if err != nil {
		return err
	}
	changes := make(chan raft.Observation, 64)
	member.RegisterObserver(raft.NewObserver(changes, false, func(o *raft.Observation) bool {
		_, leader := o.Data.(raft.LeaderObservation)
		return leader
	}))
	leads := func() bool { return member.State() == raft.Leader }
	look := func() {
		_, id := member.LeaderWithID()
		if leader, _ := strconv.Atoi(string(id)); leader != c.ID {
			r.Follow(leader)
		}
	}
	for {
		select {
		case <-ctx.Done():
			_ = member.LeadershipTransfer().Error() // it is not the leader, perhaps
			return member.Shutdown().Error()
		case leading := <-member.LeaderCh():
			if leading {
				r.Lead(int64(member.CurrentTerm()), leads)
			} else {
				look()
			}
		case <-changes:
			if !leads() {
				look()
			}
		}
	}
}

// machine is a replicated state machine with no state.
type machine struct{}

func (machine) Apply(*raft.Log) any                  { return nil }
func (machine) Snapshot() (raft.FSMSnapshot, error)  { return machine{}, nil }
func (machine) Restore(from io.ReadCloser) error     { return from.Close() }
func (machine) Persist(sink raft.SnapshotSink) error { return sink.Close() }
func (machine) Release()                             {}
