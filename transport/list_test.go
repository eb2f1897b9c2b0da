package transport_test

import (
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/transport"
	"ringleader.example/ringleader/transport/transporttest"
)

func TestANewListMovesAMemberAddsOneAndRefusesOne(t *testing.T) {
	n := names(t)
	here, _ := free(t)
	own, _ := free(t)
	second := openNamed(t, 2, 100, here, own, n)
	first := openNamed(t, 1, 1, own, "127.0.0.1:1", n)
	relist := func(members ...transport.Member) {
		t.Helper()
		if err := first.member.List(members); err != nil {
			t.Fatal(err)
		}
	}
	first.member.Dial(1, 0)
	first.await("the wrong place", refusedWith("refused"))
	one := transport.Member{ID: 1, Address: own}
	relist(one, transport.Member{ID: 2, Address: here})
	first.await("a connection to the address of the new list", connected)

	// A third member comes, by a name.
	_, port, _ := net.SplitHostPort(here)
	n.Set("three.example", transporttest.Record{IP: "127.0.0.1"})
	three := transport.Member{ID: 3, Address: "three.example:" + port}
	relist(one, transport.Member{ID: 2, Address: here}, three)
	first.member.Dial(2, 0)
	first.await("another member answers there", refusedWith("this is member 2, not 3"))

	// The second one is in the list no more, and keeps its position.
	second.member.Dial(0, 0)
	second.await("a connection", connected)
	relist(one, transport.Member{ID: 2, Unlisted: true}, three)
	second.member.Dial(0, 0)
	second.await("a refusal", refusedWith("the list of member 1 has no member 2"))
	first.member.Dial(1, 0)
	first.await("no attempt", refusedWith("it is not in the list of members"))
}

// A list of a member in clear text stays on loopback, as the first one does.
func TestAListThatIsNotSecureChangesNothing(t *testing.T) {
	member, err := transport.TCP{Listen: "127.0.0.1:0"}.Open(transport.Config{
		Members: []transport.Member{{ID: 1, Address: "127.0.0.1:1"}}, Log: slog.New(slog.DiscardHandler),
		Timing: transport.Timing{Heartbeat: time.Hour, Suspicion: time.Minute}, Post: func(any) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer member.Close()
	members := []transport.Member{{ID: 1, Address: "127.0.0.1:1"}, {ID: 2, Address: "10.0.0.1:1"}}
	if err := member.List(members); err == nil || !strings.Contains(err.Error(), "10.0.0.1:1 is not a loopback address") {
		t.Errorf("%v", err)
	}
	members[1].Unlisted = true
	if err := member.List(members); err != nil {
		t.Error(err)
	}
}
