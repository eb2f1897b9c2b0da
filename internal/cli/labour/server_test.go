package labour

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestWorkersThatAreMissedAreAskedForOnceEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var notices []string
		w := &workers{Link: &Link{url: "nats://h:4222"}, program: "ringleader", notice: func(text string) { notices = append(notices, text) }}
		w.Access.URL = "nats://h:4222"
		for _, there := range []int{0, 2, 0} { // the first ones are late, and then they die
			for range 10 * patience / time.Second {
				w.missed(there)
				<-time.After(time.Second)
			}
		}
		want := "no workers; start some with: ringleader worker --nats nats://h:4222"
		if all := strings.Join(notices, "\n"); all != want+"\n"+want {
			t.Errorf("it prints\n%s\nwant twice\n%s", all, want)
		}
	})
}

func TestTheCommandOfAWorkerLeavesOutSecretsAndFilesOfTheServer(t *testing.T) {
	for _, c := range []struct {
		set  func(*Server)
		want string
	}{
		{func(d *Server) { d.Access.Token = "secret" }, " --nats-token-file FILE"},
		{func(d *Server) { d.tokenFile = "of the server" }, " --nats-token-file FILE"},
		{func(d *Server) { d.Access.Credentials = "my creds" }, " --nats-credentials 'my creds'"},
		{func(d *Server) { d.listen, d.store = "0.0.0.0:4222", "store" }, ""},
	} {
		w := &workers{Link: &Link{url: "nats://h:4222"}, program: "ringleader"}
		c.set(&w.Server)
		if got, want := w.command(), "ringleader worker --nats nats://h:4222"+c.want; got != want {
			t.Errorf("it is %s, want %s", got, want)
		}
	}
}
