//go:build linux

// Etcd is a node of an etcd cluster, embedded. Mode "raft": the leader is that of the cluster. Mode "election": each node
// campaigns with concurrency.Election, through its own server. Set "heartbeat" and "timeout" are those of the cluster in
// milliseconds, and "ttl" is that of the sessions in seconds.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"ringleader.example/ringleader/bench/failover/node"
)

func main() { node.Main(run) }

func run(ctx context.Context, c *node.Config, r *node.Report) error {
	config, err := configuration(c)
	if err != nil {
		return err
	}
	e, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	if c.Mode == "election" {
		<-e.Server.ReadyNotify()
		err = elect(ctx, c, r)
	} else {
		observe(ctx, e, r)
	}
	if ctx.Err() != nil { // the end that the documentation describes: it transfers the lead
		e.Server.Stop()
		return nil
	}
	return errors.Join(err, fmt.Errorf("it ended by itself"))
}

func configuration(c *node.Config) (*embed.Config, error) {
	config := embed.NewConfig()
	config.Name, config.Dir = strconv.Itoa(c.ID), c.File("etcd")
	config.LogLevel, config.LogOutputs = "fatal", []string{"stderr"}
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	peer, client := "http://"+c.Own().Address(), "http://"+c.Own().ExtraAddress()
	peerURL, err := url.Parse(peer)
	if err != nil {
		return nil, err
	}
	clientURL, err := url.Parse(client)
	if err != nil {
		return nil, err
	}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{*peerURL}, []url.URL{*peerURL}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{*clientURL}, []url.URL{*clientURL}
	var all []string
	for i, m := range c.Members {
		all = append(all, fmt.Sprintf("%d=http://%s", i+1, m.Address()))
	}
	config.InitialCluster, config.InitialClusterToken = strings.Join(all, ","), "bench"
	for key, field := range map[string]*uint{"heartbeat": &config.TickMs, "timeout": &config.ElectionMs} {
		if text := c.Set[key]; text != "" {
			value, err := strconv.ParseUint(text, 10, 32)
			if err != nil {
				return nil, err
			}
			*field = uint(value)
		}
	}
	return config, nil
}

// observe reports the leader of the cluster, until ctx is done.
func observe(ctx context.Context, e *embed.Etcd, r *node.Report) {
	leads := func() bool { return e.Server.Leader() == e.Server.MemberID() }
	for {
		changed := e.Server.LeaderChangedNotify()
		switch leader := e.Server.Leader(); {
		case leads():
			r.Lead(int64(e.Server.Term()), leads)
		case leader == 0:
			r.Follow(0)
		default:
			if m := e.Server.Cluster().Member(leader); m != nil {
				id, _ := strconv.Atoi(m.Name)
				r.Follow(id)
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// elect campaigns again and again, until ctx is done, and then resigns.
func elect(ctx context.Context, c *node.Config, r *node.Report) error {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{c.Own().ExtraAddress()}, Logger: zap.NewNop(), DialTimeout: time.Second})
	if err != nil {
		return err
	}
	defer client.Close()
	ttl, err := strconv.Atoi(c.Set["ttl"])
	if err != nil {
		return err
	}
	go follow(ctx, c, client, r)
	for ctx.Err() == nil {
		_ = tenure(ctx, c, client, ttl, r) // no session, or it has ended: another one
	}
	return nil
}

func tenure(ctx context.Context, c *node.Config, client *clientv3.Client, ttl int, r *node.Report) error {
	session, err := concurrency.NewSession(client, concurrency.WithTTL(ttl), concurrency.WithContext(ctx))
	if err != nil {
		return err
	}
	defer session.Close()
	election := concurrency.NewElection(session, "/bench")
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-session.Done():
			cancel()
		case <-within.Done():
		}
	}()
	if err := election.Campaign(within, strconv.Itoa(c.ID)); err != nil {
		return err
	}
	r.Lead(election.Rev(), func() bool {
		select {
		case <-session.Done():
			return false
		case <-ctx.Done():
			return false
		default:
			return true
		}
	})
	select {
	case <-session.Done():
	case <-ctx.Done():
		late, stop := context.WithTimeout(context.Background(), 2*time.Second)
		defer stop()
		return election.Resign(late)
	}
	r.Follow(0)
	return nil
}

// follow reports the leaders that the election has.
func follow(ctx context.Context, c *node.Config, client *clientv3.Client, r *node.Report) {
	for ctx.Err() == nil {
		session, err := concurrency.NewSession(client, concurrency.WithTTL(60), concurrency.WithContext(ctx))
		if err != nil {
			continue
		}
		for response := range concurrency.NewElection(session, "/bench").Observe(ctx) {
			if id, _ := strconv.Atoi(string(response.Kvs[0].Value)); id != c.ID {
				r.Follow(id)
			}
		}
		session.Close()
	}
}
