package option

import (
	"errors"
	"fmt"
	"net"
	"strconv"
)

var errID = errors.New("it is not an identifier")

// ID returns an identifier.
func ID(text string) (uint64, error) {
	id, err := strconv.ParseUint(text, 10, 64)
	if err == nil && id == 0 {
		err = errID
	}
	return id, err
}

// Address checks an address. Without a host it is loopback.
func Address(flag, address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if number, e := strconv.ParseUint(port, 10, 16); err != nil || e != nil || number == 0 {
		return "", fmt.Errorf("%s wants HOST:PORT, such as 127.0.0.1:7001, not %q", flag, address)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// IsLoopback reports whether an address with a port is of this machine only.
func IsLoopback(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
