package count

import (
	"context"

	"ringleader.example/ringleader/election"
)

const (
	maxRing  = 1<<32 - 1 // positions are kept in 32 bits
	maxParts = 32        // more than most machines have processors, so that all of them have work to the end
	minPart  = 1 << 16   // what is less is not worth a goroutine
	blockLen = 4096      // 32 KB: a block is still in the nearest cache when it is used
)

// parts is into how many parts a ring is cut that are read at the same time. It depends on nothing but the
// ring; the results do not even depend on that.
func parts(n int) int { return min(maxParts, 1+n/minPart) }

// read reads a ring once clockwise, beginning at a position, in parts that are read at the same time.
// Each part gets its own identifiers in order, block by block; index counts from the beginning.
func read(ctx context.Context, ids election.Arrangement, begin, parts int, progress func(done, of int), use func(part, index int, block []uint64)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop() // if progress panics, too
	n := ids.Len()
	blocks := make(chan int, 64) // how much was read; so many that parts seldom wait to tell
	for part := range parts {
		go func() {
			block := make([]uint64, min(n, blockLen))
			end := (part + 1) * n / parts
			for index := part * n / parts; index < end; {
				position := index + begin
				if position >= n {
					position -= n
				}
				filled := block[:min(len(block), end-index, n-position)]
				fill(ids, filled, position)
				use(part, index, filled)
				index += len(filled)
				select {
				case blocks <- len(filled):
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	for done := 0; done < n; {
		if err := ctx.Err(); err != nil {
			return err
		}
		select {
		case some := <-blocks:
			if done += some; progress != nil {
				progress(done, n)
			}
		case <-ctx.Done():
		}
	}
	return nil
}
