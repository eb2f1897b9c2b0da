// Shards spreads twelve shards over three processes: each shard is a group with a leader of its own.
package main

import (
	"context"
	"fmt"
	"log"
	"sync"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/examples/internal/start"
)

const shards = 12

func main() {
	ctx, m := start.Member("shards", "Spreads twelve shards over three processes. Kill one, and the others take over its shards; start it again, and it gets them back.",
		ringleader.Config{Preempt: true})
	defer m.Close()
	var running sync.WaitGroup
	for i := range uint64(shards) {
		shard, err := m.Join(ctx, ringleader.GroupConfig{
			Group:      fmt.Sprint("shard-", i),
			Priorities: map[uint64]uint16{i%3 + 1: 2}, // so each process leads a third of them
		})
		if err != nil {
			log.Fatal(err)
		}
		running.Go(func() {
			shard.Lead(ctx, func(ctx context.Context, l ringleader.Leadership) error {
				fmt.Printf("shard %d is here, in term %d\n", i, l.Term())
				<-ctx.Done()
				fmt.Printf("shard %d leaves: %v\n", i, context.Cause(ctx))
				return nil
			})
		})
	}
	running.Wait()
}
