//go:build !linux

package rig

import (
	"net"
	"strconv"
	"sync"
)

// reserved are the ports that were reserved.
var reserved sync.Map

// reserve reports whether a port of 127.0.0.1 is free and was not reserved before.
func reserve(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	l.Close()
	_, before := reserved.LoadOrStore(port, true)
	return !before
}
