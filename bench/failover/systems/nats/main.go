//go:build linux

// Nats is a node of a NATS cluster with JetStream, embedded. Mode "meta": the leader is that of the cluster's meta group.
// Mode "kv": each node tries to create one key of a replicated bucket, and the leader renews it; Set "ttl" is the age at
// which the bucket forgets the key.
package main

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"ringleader.example/ringleader/bench/failover/node"
)

func main() { node.Main(run) }

func run(ctx context.Context, c *node.Config, r *node.Report) error {
	var routes []*url.URL
	for _, m := range c.Members {
		routes = append(routes, &url.URL{Scheme: "nats-route", Host: m.Address()})
	}
	s, err := server.NewServer(&server.Options{
		ServerName: strconv.Itoa(c.ID), Host: c.Own().Host, Port: c.Own().Extra,
		Cluster: server.ClusterOpts{Name: "bench", Host: c.Own().Host, Port: c.Own().Port, PoolSize: -1},
		Routes:  routes, JetStream: true, StoreDir: c.File("nats"), NoLog: true, NoSigs: true,
	})
	if err != nil {
		return err
	}
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		return errors.New("the server does not start")
	}
	if c.Mode == "kv" {
		contend(ctx, c, s, r)
	} else {
		c.Every(ctx, func() { look(c, s, r) })
	}
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}

// look reports the leader of the meta group. The server names it in its reports only.
func look(c *node.Config, s *server.Server, r *node.Report) {
	if s.JetStreamIsLeader() {
		r.Lead(0, s.JetStreamIsLeader)
		return
	}
	leader := 0
	if j, err := s.Jsz(&server.JSzOptions{}); err == nil && j.Meta != nil {
		leader, _ = strconv.Atoi(j.Meta.Leader)
	}
	if leader != c.ID {
		r.Follow(leader)
	}
}

const key = "leader"

// contend takes part in the election, until ctx is done.
func contend(ctx context.Context, c *node.Config, s *server.Server, r *node.Report) {
	ttl, err := time.ParseDuration(c.Set["ttl"])
	if err != nil {
		panic(err) // the harness sets it
	}
	connection, err := nats.Connect(s.ClientURL(), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		return
	}
	defer connection.Close()
	js, err := jetstream.New(connection)
	if err != nil {
		return
	}
	var bucket jetstream.KeyValue
	for bucket == nil && ctx.Err() == nil {
		within, cancel := context.WithTimeout(ctx, 5*time.Second)
		if bucket, err = js.KeyValue(within, "bench"); err != nil && c.ID == 1 {
			bucket, err = js.CreateKeyValue(within, jetstream.KeyValueConfig{Bucket: "bench", TTL: ttl, Replicas: len(c.Members)})
		}
		if err != nil {
			bucket = nil
			<-within.Done()
		}
		cancel()
	}
	for ctx.Err() == nil {
		within, cancel := context.WithTimeout(ctx, ttl)
		own := []byte(strconv.Itoa(c.ID))
		revision, err := bucket.Create(within, key, own)
		if err == nil {
			hold(ctx, bucket, own, revision, ttl, r)
		} else if entry, err := bucket.Get(within, key); err == nil {
			if id, _ := strconv.Atoi(string(entry.Value())); id != c.ID {
				r.Follow(id)
			}
		}
		cancel()
		pause(ctx, ttl/20)
	}
}

// hold renews the key until that fails for as long as the key lives, or another node has it.
func hold(ctx context.Context, bucket jetstream.KeyValue, own []byte, revision uint64, ttl time.Duration, r *node.Report) {
	until := node.Now() + ttl
	stamps := make(chan time.Duration, 1)
	stamps <- until
	valid := func() bool {
		end := <-stamps
		stamps <- end
		return node.Now() < end
	}
	r.Lead(int64(revision), valid)
	defer r.Follow(0)
	for valid() {
		pause(ctx, ttl/4)
		asked := node.Now()
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), ttl/4)
		if ctx.Err() != nil { // it hands over
			_ = bucket.Delete(within, key)
			cancel()
			<-stamps
			stamps <- 0
			return
		}
		if next, err := bucket.Update(within, key, own, revision); err == nil {
			revision = next
			<-stamps
			stamps <- asked + ttl
		}
		cancel()
	}
}

func pause(ctx context.Context, wait time.Duration) {
	within, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	<-within.Done()
}
