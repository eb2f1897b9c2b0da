package kernel

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// Share maps a file of numbers into memory, which all processes that map it share. What a process has written is there also if
// it is killed at the next instruction.
func Share(file string, numbers int) ([]int64, error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Map(f, numbers)
}

// Map is [Share] with an open file.
func Map(f *os.File, numbers int) ([]int64, error) {
	size := numbers * int(unsafe.Sizeof(int64(0)))
	if err := f.Truncate(int64(size)); err != nil {
		return nil, err
	}
	memory, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(memory))), numbers), nil
}

// memfd are the numbers of memfd_create(2), for which package syscall has no name.
var memfd = map[string]uintptr{
	"386": 356, "amd64": 319, "arm": 385, "arm64": 279, "loong64": 279, "ppc64le": 360, "riscv64": 279, "s390x": 350,
}

// NewMemory returns a file in memory without a name in any directory, for [Map]. A process gets it as an inherited descriptor.
func NewMemory() (*os.File, error) {
	call, known := memfd[runtime.GOARCH]
	if !known {
		return nil, ErrNone
	}
	const closeOnExec = 1 // MFD_CLOEXEC
	name := []byte("ringleader\x00")
	fd, _, errno := syscall.Syscall(call, uintptr(unsafe.Pointer(unsafe.SliceData(name))), closeOnExec, 0)
	if errno != 0 {
		return nil, fmt.Errorf("memfd_create: %w", errno)
	}
	return os.NewFile(fd, "memory"), nil
}

// Unshare undoes [Share] and [Map].
func Unshare(numbers []int64) error {
	size := len(numbers) * int(unsafe.Sizeof(int64(0)))
	return os.NewSyscallError("munmap", syscall.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), size)))
}
