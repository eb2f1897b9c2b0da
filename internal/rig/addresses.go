package rig

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net"
	"strconv"
)

// FreeAddresses returns n addresses of this machine on which nothing listens now. The ports are below those from which any
// system dials out, so that no connection sits on a member's port while the member is down.
func FreeAddresses(n int) ([]string, error) {
	const first, ports, tries = 20000, 12000, 1000
	var addresses []string
	for range tries {
		var random [2]byte
		rand.Read(random[:])
		port := first + int(binary.BigEndian.Uint16(random[:]))%ports
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		l, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		defer l.Close() // all at the end, so that no port is found twice
		if addresses = append(addresses, address); len(addresses) == n {
			return addresses, nil
		}
	}
	return nil, fmt.Errorf("found no %d free ports on 127.0.0.1 from %d to %d; stop some servers, or ask for fewer members", n, first, first+ports-1)
}
