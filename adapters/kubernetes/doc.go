// Package kubernetes is the lead of a Ringleader member as a resourcelock.Interface of client-go. So an unmodified manager of
// controller-runtime runs with an elected leader where there is no API server for leases, or across several clusters:
//
//	lock, err := kubernetes.New(member)
//	if err != nil {
//		return err
//	}
//	manager, err := ctrl.NewManager(config, ctrl.Options{
//		LeaderElection:                      true,
//		LeaderElectionResourceLockInterface: lock,
//		LeaderElectionReleaseOnCancel:       true,
//		RetryPeriod:                         new(100 * time.Millisecond),
//	})
//	if err != nil {
//		return err
//	}
//	return lock.Run(ctx, manager.Start)
//
// # Losing the lead ends the manager
//
// Client-go never takes a manager back to waiting: who loses the lock ends, and the supervisor restarts the program. So it is here. Run
// returns [ErrLost], the program ends with it, and systemd or the kubelet starts it again. A program that does not end in time is
// ended.
//
// # What makes it safe
//
// A lock alone is not safe here. A manager works on for RenewDeadline, 10 seconds by default, after its lock could not be renewed, and
// the lease of a member lasts half a second by default: another one would lead meanwhile. [Lock.Run] closes that gap, whatever
// LeaseDuration, RenewDeadline and RetryPeriod are:
//
//   - Outside Run the lock refuses everything. In it, it is acquired and renewed only if a majority confirms at that moment
//     that this member leads.
//   - When the lead ends, the context of the manager is done: Timing.Grace and Timing.Margin before the end of the lease, so that the
//     manager can stop.
//   - Meanwhile the lease is renewed if that is possible. If it is not, and the manager has not ended by Timing.Margin before its
//     end, the process ends with status 70, as with any work of [ringleader.Member.Lead]. Config.Overrun must stay at its default: with
//     Log two managers may work at the same time. A process that was paused through that moment ends when it goes on, or its manager does.
//     Between a check and a write it may be paused for any time, so a resource that must have one writer compares terms:
//     package fence.
//   - One Run holds the lock in one term. A manager that has lost it gets it no more, even if its member leads again.
//   - Nothing is handed over before the manager has returned without an error. Its release of the lock proves nothing: it
//     releases, too, when its work has not ended.
//
// Timing.Grace, 50 ms by default, is how long a manager has to stop; one whose reconcilers need longer has a longer Grace and Lease.
//
// # GracefulShutdownTimeout
//
// A manager returns an error if its work has not ended after its GracefulShutdownTimeout, 30 seconds by default. A manager also returns an
// error if it has given up its lock, since no majority has answered for RenewDeadline. Work may still run in both cases. So the process ends
// with status 70, unless [Lock.Left] is set. With a GracefulShutdownTimeout of 0 the manager returns nil while its work runs: never set that. With a negative one it waits,
// and keeps the lead, for ever.
//
// # How long it takes
//
// The lock is acquired as soon as the member leads, for Get waits for that. But when Get has told of another leader, client-go asks
// again only after RetryPeriod, 2 to 4.4 seconds by default, and a member that is elected within that time waits for the end of it. A
// RetryPeriod of 100 ms is better, and costs a message to each member as often while one leads.
//
// A program that calls leaderelection.LeaderElector itself runs it within Run, too. That one returns while the function
// OnStartedLeading may run: start waits for both.
package kubernetes
