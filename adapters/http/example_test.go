package leaderhttp_test

import (
	"context"
	"net/http"

	"ringleader.example/ringleader"
	leaderhttp "ringleader.example/ringleader/adapters/http"
)

// Every member takes requests, and the leader serves them.
func ExampleHandler() {
	serve := func(ctx context.Context, member *ringleader.Member, url string, service http.Handler) error {
		go member.Lead(ctx, func(ctx context.Context, l ringleader.Leadership) error {
			if err := l.Publish(url); err != nil {
				return err
			}
			<-ctx.Done()
			return nil
		})
		return http.ListenAndServe(":8080", leaderhttp.Handler(member, service, leaderhttp.Options{}))
	}
	_ = serve
}
