//go:build linux

// Clientgo is a node that takes part in the leader election of client-go, with a Lease on the program in systems/leases. Set
// "lease", "renew" and "retry" are its lengths of time; without them it uses the default of Kubernetes' own components.
package main

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"ringleader.example/ringleader/bench/failover/node"
)

func main() { node.Main(run) }

func run(ctx context.Context, c *node.Config, r *node.Report) error {
	klog.SetLogger(logr.Discard())
	client, err := coordination.NewForConfig(&rest.Config{
		Host: "http://" + c.Server.Address(), QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"},
	})
	if err != nil {
		return err
	}
	own := strconv.Itoa(c.ID)
	var times [3]time.Duration
	for i, setting := range [3][2]string{{"lease", "15s"}, {"renew", "10s"}, {"retry", "2s"}} {
		if times[i], err = time.ParseDuration(cmp.Or(c.Set[setting[0]], setting[1])); err != nil {
			return err
		}
	}
	look := func(id string) {
		if leader, _ := strconv.Atoi(id); id != own {
			r.Follow(leader)
		}
	}
	var elector *leaderelection.LeaderElector
	elector, err = leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: "bench", Name: "leader"}, Client: client,
			LockConfig: resourcelock.ResourceLockConfig{Identity: own},
		},
		LeaseDuration: times[0], RenewDeadline: times[1], RetryPeriod: times[2], ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { r.Lead(0, func() bool { return ctx.Err() == nil }) },
			OnStoppedLeading: func() { look(elector.GetLeader()) }, // it may have been told before that another one leads
			OnNewLeader:      look,
		},
	})
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		elector.Run(ctx) // it returns when the lead is lost
	}
	return nil
}
