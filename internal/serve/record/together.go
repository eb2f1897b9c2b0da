package record

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Together does work for each of some numbers, with all processors, until a context ends. Segments are read so: each can be read without the others.
func Together[T any](ctx context.Context, n int, work func(i int) T) []T {
	all := make([]T, n)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				all[i] = work(i)
			}
		})
	}
	workers.Wait()
	return all
}
