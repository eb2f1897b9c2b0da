package rig

import "syscall"

// reserve keeps a port of 127.0.0.1 for those who get its number, and reports whether it was free. The socket that does
// it is bound until this process ends, but never listens. It was bound without SO_REUSEADDR, which fails where any
// other socket is, another reservation, too. With the option set afterwards it admits a listener that has the option, as
// those of Go have.
func reserve(port int) bool {
	s, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return false
	}
	if syscall.Bind(s, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}) == nil &&
		syscall.SetsockoptInt(s, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1) == nil {
		return true
	}
	syscall.Close(s)
	return false
}
