//go:build unix

package rig

import (
	"errors"
	"os"
	"syscall"
)

// FullPipe returns a pipe that is full: see [Fill].
func FullPipe() (r, w *os.File, err error) {
	if r, w, err = os.Pipe(); err != nil {
		return nil, nil, err
	}
	return r, w, Fill(w)
}

// Fill fills a pipe: what writes to it from then on waits until something reads. A process that has been given the pipe writes without waiting meanwhile.
func Fill(pipe *os.File) error {
	descriptor := int(pipe.Fd()) // a file that waits: a deadline would end no write
	if err := syscall.SetNonblock(descriptor, true); err != nil {
		return err
	}
	for _, size := range []int{4096, 1} {
		for {
			if _, err := syscall.Write(descriptor, make([]byte, size)); errors.Is(err, syscall.EAGAIN) {
				break
			} else if err != nil && !errors.Is(err, syscall.EINTR) {
				return err
			}
		}
	}
	return syscall.SetNonblock(descriptor, false)
}
