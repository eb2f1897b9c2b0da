package agent

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
)

// signSocket is a socket of sd_notify(3) for a command.
type signSocket struct {
	address string // for NOTIFY_SOCKET: @ begins an abstract address, which needs no directory
	conn    *net.UnixConn
}

// Messages of sd_notify are short. One that waits until it is read has a file descriptor.
const (
	mostNotice = 4096
	mostFiles  = 253 // SCM_MAX_FD
)

// listenForSigns listens for a command that a user runs, and calls tell with each line of its notices.
func listenForSigns(as *credential, tell func(line string)) (*signSocket, error) {
	s := &signSocket{address: fmt.Sprintf("@ringleader-%d-%s", os.Getpid(), rand.Text())}
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: s.address, Net: "unixgram"})
	if err != nil {
		return nil, err
	}
	s.conn = conn
	raw, err := conn.SyscallConn()
	if err == nil {
		var failed error
		err = raw.Control(func(fd uintptr) { failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_PASSCRED, 1) })
		if err == nil {
			err = failed
		}
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	users := []uint32{0, uint32(os.Getuid())}
	if as != nil {
		users = append(users, as.user)
	}
	go s.read(users, tell)
	return s, nil
}

// close ends it. A socket that is nil has no effect.
func (s *signSocket) close() {
	if s != nil {
		s.conn.Close()
	}
}

// read reads notices until the socket is closed.
func (s *signSocket) read(users []uint32, tell func(line string)) {
	text, with := make([]byte, mostNotice), make([]byte, syscall.CmsgSpace(syscall.SizeofUcred)+syscall.CmsgSpace(4*mostFiles))
	for {
		n, m, _, _, err := s.conn.ReadMsgUnix(text, with)
		if err != nil {
			return
		}
		user, known := senderOf(with[:m])
		if !known || !slices.Contains(users, user) {
			continue
		}
		for line := range strings.Lines(string(text[:n])) {
			tell(strings.TrimSuffix(line, "\n"))
		}
	}
}

// senderOf returns the user who has sent a message: every user of the machine can find an abstract address. It closes the files that came with
// the message: the sender may wait for that.
func senderOf(with []byte) (user uint32, known bool) {
	all, err := syscall.ParseSocketControlMessage(with)
	if err != nil {
		return 0, false
	}
	for i := range all {
		if files, err := syscall.ParseUnixRights(&all[i]); err == nil {
			for _, fd := range files {
				syscall.Close(fd)
			}
		}
		if sender, err := syscall.ParseUnixCredentials(&all[i]); err == nil {
			user, known = sender.Uid, true
		}
	}
	return user, known
}
