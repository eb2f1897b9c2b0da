package count

import (
	"context"

	"ringleader.example/ringleader/election"
)

const (
	maxRing  = 1<<32 - 1 // positions are kept in 32 bits
	maxParts = 32        // more than most machines have processors, so that all of them have work until the end
	minPart  = 1 << 16   // a smaller part is not worth a goroutine
	blockLen = 4096      // 32 KB: a block is still in the nearest cache when it is used
)

// parts returns the number of parts of a ring that are read in parallel. It depends on the ring only, and the results
// do not depend on it.
func parts(n int) int { return min(maxParts, 1+n/minPart) }

// read reads a ring once clockwise, beginning at a position, in parts that are read in parallel. Each part gets its
// own identifiers in order, block by block; index counts from the beginning.
func read(ctx context.Context, ids election.Arrangement, begin, parts int, progress func(done, of int), use func(part, index int, block []uint64)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop() // if progress panics, too
	n := ids.Len()
	blocks := make(chan int, 64) // numbers of identifiers read; parts seldom wait for this queue
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
