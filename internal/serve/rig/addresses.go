package rig

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net"
	"strconv"
)

// FreeAddresses returns n addresses of this machine on which nothing listens now. The ports are below those from which any
// system dials out, so that no connection sits on a member's port while the member is down. No port is returned twice in
// the life of this process, nor, on Linux, to another process that calls FreeAddresses.
func FreeAddresses(n int) ([]string, error) {
	const first, ports, tries = 20000, 12000, 1000
	var addresses []string
	for range tries {
		if len(addresses) == n {
			return addresses, nil
		}
		var random [2]byte
		rand.Read(random[:])
		port := first + int(binary.BigEndian.Uint16(random[:]))%ports
		if reserve(port) {
			addresses = append(addresses, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		}
	}
	return nil, fmt.Errorf("found no %d free ports on 127.0.0.1 from %d to %d; stop some servers, or ask for fewer members", n, first, first+ports-1)
}
