package rig

import (
	"errors"
	"os"
	"time"
)

// Fill fills a pipe: what writes to it from then on waits until something reads.
func Fill(pipe *os.File) error {
	for _, size := range []int{4096, 1} {
		for {
			if err := pipe.SetWriteDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
				return err
			}
			if _, err := pipe.Write(make([]byte, size)); errors.Is(err, os.ErrDeadlineExceeded) {
				break
			} else if err != nil {
				return err
			}
		}
	}
	return pipe.SetWriteDeadline(time.Time{})
}
