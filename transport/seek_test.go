package transport_test

import (
	"fmt"
	"testing"

	"ringleader.example/ringleader/transport"
	"ringleader.example/ringleader/transport/transporttest"
)

// A name may have several addresses, of members and of none, and this member is at one of them.
func TestASeekerAsksWhoIsAtEachAddressOfAName(t *testing.T) {
	n := names(t)
	here, herePort := free(t)
	there, therePort := free(t)
	nowhere, nowherePort := free(t)
	one := openNamed(t, 1, 11, here, "127.0.0.1:1", n)
	openNamed(t, 2, 22, there, "127.0.0.1:1", n)
	n.Set("a.example", transporttest.Record{IP: "127.0.0.1"})
	n.Set("all.example",
		transporttest.Record{Target: "a.example", Port: nowherePort},
		transporttest.Record{Target: "a.example", Port: herePort},
		transporttest.Record{Target: "a.example", Port: therePort})
	seeker := one.member.(transport.Seeker)
	for _, c := range []struct {
		seed string
		at   map[string]uint64 // 0: no member
	}{
		{there, map[string]uint64{there: 2}},
		{here, map[string]uint64{here: 1}},
		{nowhere, map[string]uint64{nowhere: 0}},
		{fmt.Sprintf("a.example:%d", therePort), map[string]uint64{there: 2}},
		{"all.example", map[string]uint64{nowhere: 0, here: 1, there: 2}},
		{"none.example", map[string]uint64{"none.example": 0}},
		{"none.example:7001", map[string]uint64{"none.example:7001": 0}},
	} {
		seeker.Seek(c.seed)
		for len(c.at) > 0 {
			one.await(fmt.Sprintf("%s leads to %v", c.seed, c.at), func(event any) bool {
				e, is := event.(transport.Met)
				if !is {
					return false
				}
				if want, known := c.at[e.Address]; !known || e.ID != want || (e.Err == nil) != (want != 0) {
					t.Fatalf("%s: %+v; want %v", c.seed, e, c.at)
				}
				delete(c.at, e.Address)
				return true
			})
		}
	}
}
