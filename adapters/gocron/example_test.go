package leadergocron_test

import (
	"context"
	"log"

	"github.com/go-co-op/gocron/v2"

	"ringleader.example/ringleader"
	leadergocron "ringleader.example/ringleader/adapters/gocron"
)

func report() { /* … */ }

// The scheduler of each member has the same jobs. Only the leader runs them.
func ExampleNewElector() {
	schedule := func(member *ringleader.Member) (gocron.Scheduler, error) {
		s, err := gocron.NewScheduler(gocron.WithDistributedElector(leadergocron.NewElector(member)))
		if err != nil {
			return nil, err
		}
		_, err = s.NewJob(gocron.CronJob("0 3 * * *", false), gocron.NewTask(report))
		s.Start()
		return s, err
	}
	_ = schedule
}

// A job that takes long ends with the lead, and hands its term to what it writes to.
func ExampleLocker() {
	schedule := func(ctx context.Context, member *ringleader.Member) (gocron.Scheduler, error) {
		locker := leadergocron.NewLocker(member)
		go func() { log.Print(locker.Run(ctx)) }()
		s, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
		if err != nil {
			return nil, err
		}
		cleanUp := func(ctx context.Context) error {
			ctx, lead, stop := locker.Leadership(ctx)
			defer stop()
			return removeOld(ctx, lead.Term())
		}
		_, err = s.NewJob(gocron.CronJob("0 3 * * *", false), gocron.NewTask(cleanUp), gocron.WithName("clean up"))
		s.Start()
		return s, err
	}
	_ = schedule
}

// removeOld stands for what a job writes, with its fencing token.
func removeOld(context.Context, uint64) error { return nil }
