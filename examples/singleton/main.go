// Singleton runs a job on one of three processes at a time.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/examples/internal/start"
)

func main() {
	ctx, m := start.Member("singleton", "Runs a job on one of three processes at a time. Kill the process that runs it, and another one goes on.", ringleader.Config{})
	defer m.Close()
	log.Print(m.Lead(ctx, job))
}

// job works until its context is done.
func job(ctx context.Context, l ringleader.Leadership) error {
	fmt.Println("the job begins, in term", l.Term())
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for n := 1; ; n++ {
		select {
		case <-ticker.C:
			fmt.Println("step", n)
		case <-ctx.Done():
			fmt.Println("the job stops:", context.Cause(ctx))
			return nil
		}
	}
}
