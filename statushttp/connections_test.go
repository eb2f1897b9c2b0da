package statushttp

import (
	"net"
	"net/http"
	"testing"
)

// The server learns of the closing only when it reads: the first bytes of a request may have come before.
func TestAConnectionThatWasClosedToMakeRoomClosesNoOther(t *testing.T) {
	c := &connections{}
	var all []net.Conn
	for range MostConnections + 1 {
		server, client := net.Pipe()
		defer client.Close()
		all = append(all, server)
		c.change(server, http.StateNew)
	}
	closed := all[0]
	c.change(closed, http.StateActive)
	if len(c.conns) != MostConnections || c.index(closed) >= 0 || c.index(all[1]) < 0 {
		t.Errorf("%d connections are counted, the closed one at %d and the next one at %d", len(c.conns), c.index(closed), c.index(all[1]))
	}
}
