package kernel

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// What waitid(2) takes, beside what wait4(2) takes, and the least code of a child that has not ended.
const (
	each    = 0          // P_ALL
	process = 1          // P_PID
	exited  = 4          // WEXITED
	noWait  = 0x01000000 // WNOWAIT
	trapped = 4          // CLD_TRAPPED
)

// Ended reports whether a child of this process has ended. It does not reap it, and does not wait.
func Ended(pid int) bool {
	child, _, err := look(pid, syscall.WNOHANG)
	return err != nil || child != 0
}

// AwaitChild waits until a child of this process has ended, and returns its number. It does not reap it.
func AwaitChild() (pid int, err error) {
	pid, _, err = look(-1, 0)
	return pid, err
}

// Wait is wait4(2) for a child, or for any one with -1. To reap a process the kernel takes what its last thread may still have. It tries again and again: a
// thread that runs before others would not let that one run on its processor, if it is an ordinary one, until Linux does so after a second. So an ordinary
// process is reaped by an ordinary thread.
func Wait(pid int, status *syscall.WaitStatus, options int) (reaped int, err error) {
	child, ended, err := look(pid, options)
	switch {
	case errors.Is(err, syscall.EINTR):
		return 0, syscall.EINTR
	case err != nil: // this host may not allow that
		return syscall.Wait4(pid, status, options, nil)
	case child == 0:
		return 0, nil
	}
	reap := func() {
		reaps()
		reaped, err = syscall.Wait4(child, status, options, nil)
	}
	if ended && !Hurries(child) {
		asOrdinary(reap)
	} else {
		reap()
	}
	return reaped, err
}

// reaps is called before the kernel reaps: for tests.
var reaps = func() {}

// look waits for what wait4(2) would report, with options as it takes, and leaves that to be reported. No child is 0.
func look(pid, options int) (child int, ended bool, err error) {
	kind := process
	if pid == -1 {
		kind = each
	}
	var information [32]int32 // a siginfo_t: after three numbers, the last one of them the code, comes a union, at a multiple of the size of a pointer
	const number = (3*4 + unsafe.Sizeof(uintptr(0)) - 1) / unsafe.Sizeof(uintptr(0)) * unsafe.Sizeof(uintptr(0)) / 4
	if _, _, errno := syscall.Syscall6(syscall.SYS_WAITID, uintptr(kind), uintptr(pid), uintptr(unsafe.Pointer(&information)), uintptr(options)|exited|noWait, 0, 0); errno != 0 {
		return 0, false, os.NewSyscallError("waitid", errno)
	}
	return int(information[number]), information[2] < trapped, nil
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
