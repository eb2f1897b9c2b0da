package transport_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/transport"
)

func TestAFrameComesBackOnTheConnectionThatTheMemberDialed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newLAN(t)
		one, two := n.host(1, nil), n.host(2, nil)
		defer one.t.Close()
		defer two.t.Close()
		out, err := one.dials(t, 2)
		if err != nil {
			t.Fatal(err)
		}
		in := noted(two, func() transport.Teller { return two.in[0].(transport.Teller) })
		in.Tell(frame(3, "abc"))
		synctest.Wait() // frames may overtake each other
		in.Tell(frame(4, "def"))
		<-time.After(suspicion / 2) // the second one waits
		out.Beat(false)
		if got := noted(one, func() []string { return one.told }); !slices.Equal(got, []string{"3 from 2: abc", "4 from 2: def"}) {
			t.Errorf("%q came back", got)
		}
		if broken := noted(one, func() []error { return one.broken }); broken != nil {
			t.Errorf("the connection broke: %v", broken)
		}
		in.Tell(frame(3, strings.Repeat("x", transport.MaxTold)))
		if broken := noted(one, func() []error { return one.broken }); len(broken) != 1 {
			t.Errorf("a frame that is too long broke the connection %d times: it may take no more memory", len(broken))
		}
	})
}
