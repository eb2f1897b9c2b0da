package kernel

import (
	"os"
	"syscall"
	"unsafe"
)

// What waitid(2) takes.
const (
	each    = 0          // P_ALL
	process = 1          // P_PID
	exited  = 4          // WEXITED
	noWait  = 0x01000000 // WNOWAIT
)

// Ended reports whether a child of this process has ended. It does not reap it, and does not wait.
func Ended(pid int) bool {
	var information [32]int32 // a siginfo_t: the first number is 0 if the child runs
	_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, process, uintptr(pid), uintptr(unsafe.Pointer(&information)), exited|syscall.WNOHANG|noWait, 0, 0)
	return errno != 0 || information[0] != 0
}

// AwaitChild waits until a child of this process has ended, and returns its number. It does not reap it.
func AwaitChild() (pid int, err error) {
	var information [32]int32 // a siginfo_t: after three numbers comes a union, at a multiple of the size of a pointer
	const child = (3*4 + unsafe.Sizeof(uintptr(0)) - 1) / unsafe.Sizeof(uintptr(0)) * unsafe.Sizeof(uintptr(0)) / 4
	if _, _, errno := syscall.Syscall6(syscall.SYS_WAITID, each, 0, uintptr(unsafe.Pointer(&information)), exited|noWait, 0, 0); errno != 0 {
		return 0, os.NewSyscallError("waitid", errno)
	}
	return int(information[child]), nil
}

// What pidfd_open(2) takes: its number, the same on all architectures, and the flag for a thread that is not the first of its process.
const (
	pidfdOpen   = 434
	pidfdThread = syscall.O_EXCL // PIDFD_THREAD
)

// OpenThread opens a thread of any process, for [AwaitThread]. Linux can do so since 6.9.
func OpenThread(thread int) (*os.File, error) {
	fd, _, errno := syscall.Syscall(pidfdOpen, uintptr(thread), pidfdThread|syscall.O_NONBLOCK, 0)
	if errno != 0 {
		return nil, os.NewSyscallError("pidfd_open", errno)
	}
	return os.NewFile(fd, "thread"), nil
}

// AwaitThread waits until a thread has ended, or its file is closed.
func AwaitThread(thread *os.File) error {
	raw, err := thread.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Read(readable) // it calls this at once, and when something has come since
}

// readable reports whether a read of a descriptor would not wait.
func readable(descriptor uintptr) bool {
	const in = 1 // POLLIN
	one := struct {
		descriptor    int32
		events, found int16
	}{int32(descriptor), in, 0}
	var now syscall.Timespec
	n, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&one)), 1, uintptr(unsafe.Pointer(&now)), 0, 0, 0)
	return errno == 0 && n == 1
}
