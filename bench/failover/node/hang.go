//go:build linux

package node

import (
	"errors"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Hang is the signal at which a node loops, if [SetHang] has said so.
const Hang = syscall.SIGUSR1

// hangFile returns the path of a file beside the directory of a node. Its first byte tells whether the node is to loop, which it reads
// without a system call.
func hangFile(data string) string { return data + ".hang" }

// SetHang tells a node with this directory whether it is to loop.
func SetHang(data string, loops bool) error {
	word := []byte{0}
	if loops {
		word[0] = 1
	}
	file, err := os.OpenFile(hangFile(data), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.Write(word)
	return errors.Join(err, file.Close())
}

// spin loops while the byte is not 0. The runtime cannot interrupt it, as it is assembly.
//
//go:noescape
func spin(while *byte)

// hang loops whenever the harness asks for it. The collector then waits for the loop, and all else for the collector: the
// process hangs, and uses a core.
func (c *Config) hang() error {
	file, err := os.OpenFile(hangFile(c.Data), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := file.Truncate(1); err != nil {
		return err
	}
	word, err := unix.Mmap(int(file.Fd()), 0, 1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, Hang)
	go func() {
		for range asked {
			go spin(&word[0])
			for word[0] != 0 { // a collection may end before the loop begins
				runtime.GC()
			}
		}
	}()
	return nil
}
