package kernel

import (
	"os"
	"syscall"
	"unsafe"
)

// Socket is a socket of package net. Such a socket does not block, so each call is too short for Go's scheduler to look after it. A call here wakes no
// thread for that, and a call of package net does.
type Socket struct{ raw syscall.RawConn }

// NewSocket returns the socket of a connection of package net, or nil if it has none.
func NewSocket(connection any) *Socket {
	c, ok := connection.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	return &Socket{raw}
}

// WriteNow writes what the socket has room for, and never waits.
func (s *Socket) WriteNow(b []byte) (n int, err error) {
	var errno syscall.Errno
	err = s.raw.Write(func(socket uintptr) bool {
		n, errno = now(syscall.SYS_WRITE, socket, b)
		return true
	})
	if err == nil && errno != 0 && errno != syscall.EAGAIN {
		err = os.NewSyscallError("write", errno)
	}
	return n, err
}

// Read reads as Read of net.Conn does. It returns 0 bytes and no error at the end.
func (s *Socket) Read(b []byte) (n int, err error) {
	var errno syscall.Errno
	err = s.raw.Read(func(socket uintptr) bool {
		n, errno = now(syscall.SYS_READ, socket, b)
		return errno != syscall.EAGAIN
	})
	if err == nil && errno != 0 {
		err = os.NewSyscallError("read", errno)
	}
	return n, err
}

// now is one call of the system that does not block.
func now(call, socket uintptr, b []byte) (n int, errno syscall.Errno) {
	for {
		r, _, errno := syscall.RawSyscall(call, socket, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
		switch errno {
		case 0:
			return int(r), 0
		case syscall.EINTR:
		default:
			return 0, errno
		}
	}
}
