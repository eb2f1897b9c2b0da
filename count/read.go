package count

import (
	"context"

	"ringleader.example/ringleader/election"
)

const (
	maxRing  = 1<<32 - 1 // positions are kept in 32 bits
	blockLen = 4096      // 32 KB: a block is still in the nearest cache when it is used
)

// read reads the identifiers with the indices from … to-1 of a ring, block by block. Index 0 is at position begin, and
// indices increase clockwise. Progress may be nil; otherwise it gets the length of each block.
func read(ctx context.Context, ids election.Arrangement, begin, from, to int, progress func(some int), use func(index int, block []uint64)) error {
	n := ids.Len()
	block := make([]uint64, min(to-from, blockLen))
	for index := from; index < to; {
		if err := ctx.Err(); err != nil {
			return err
		}
		position := index + begin
		if position >= n {
			position -= n
		}
		filled := block[:min(len(block), to-index, n-position)]
		fill(ids, filled, position)
		use(index, filled)
		index += len(filled)
		if progress != nil {
			progress(len(filled))
		}
	}
	return nil
}

// summed returns a function for [read] that shows how much of n is done.
func summed(progress func(done, of int), n int) func(some int) {
	if progress == nil {
		return nil
	}
	done := 0
	return func(some int) {
		done += some
		progress(done, n)
	}
}
