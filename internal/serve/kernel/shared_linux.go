package kernel

import (
	"os"
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

// Unshare undoes [Share].
func Unshare(numbers []int64) error {
	size := len(numbers) * int(unsafe.Sizeof(int64(0)))
	return os.NewSyscallError("munmap", syscall.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), size)))
}
