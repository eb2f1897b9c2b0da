package statushttp

import (
	"context"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
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

// Clients that ask as often as they can leave the processor to the member.
func TestAPaceLetsEventsHappenSeldomAndTogether(t *testing.T) {
	for _, test := range []struct {
		name    string
		part    float64 // of a processor that this process uses
		atOnce  int
		number  int           // that happen
		within  time.Duration // in this time
		batches int
	}{
		{"calm", 0.2, burst, burst + 2*MostRequests, 2 * time.Second, int(2*time.Second/together) + 1},
		{"busy", 0.3, burst, burst + 2*fewestRequests, 2*time.Second - 2*lookEvery, // it learns that at its second look
			int(2*time.Second/together) + 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				p := pace{used: func() time.Duration { return time.Duration(test.part * float64(time.Since(begun)+time.Hour)) }}
				time.Sleep(time.Hour)
				first := time.Now()
				at := map[time.Duration]int{}
				for range test.number {
					if !p.wait(t.Context()) {
						t.Fatal("an event is not due")
					}
					at[time.Since(first)]++
				}
				took := time.Since(first)
				if took < test.within-together || took > test.within+together || at[0] < test.atOnce || at[0] > test.atOnce+1 || len(at) > test.batches {
					t.Errorf("%d events take %v, %d of them at once, in %d batches", test.number, took, at[0], len(at))
				}
				gone, leave := context.WithCancel(t.Context())
				leave()
				if p.wait(gone) {
					t.Error("an event that is no longer wanted happens")
				}
			})
		})
	}
}
