package statushttp_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
	"ringleader.example/ringleader/statushttp"
	"ringleader.example/ringleader/transport/transporttest"
)

// sites is a group whose members serve their states, and a client of them, in a synctest bubble.
type sites struct {
	*ringleadertest.Cluster
	t       *testing.T
	network *transporttest.LAN
	client  *http.Client
	servers map[uint64]*http.Server
}

func withSites(t *testing.T, c ringleader.Config, test func(*testing.T, *sites)) {
	synctest.Test(t, func(t *testing.T) {
		s := &sites{Cluster: ringleadertest.New(t, c, 1, 2, 3), t: t, network: transporttest.NewLAN(), servers: map[uint64]*http.Server{}}
		defer s.Close()
		over := &http.Transport{DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			return s.network.Dialer("observer:1")(ctx, "", address)
		}}
		defer over.CloseIdleConnections()
		s.client = &http.Client{Transport: over}
		for id := range uint64(3) {
			s.serve(id + 1)
		}
		defer func() {
			for _, server := range s.servers {
				server.Close()
			}
		}()
		test(t, s)
	})
}

// serve starts a member and its server.
func (s *sites) serve(id uint64) {
	s.Start(id)
	server := statushttp.Server(statushttp.Handler(s.Member(id)))
	s.servers[id] = server
	go server.Serve(s.network.Listen(fmt.Sprintf("member%d:1", id)))
}

// observed is a view, or the reason for which no leader is known.
type observed struct {
	ringleader.View
	err error
}

// observe observes the members from now on. The channel has room for all that a test makes.
func (s *sites) observe(urls ...string) (views chan observed, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	views = make(chan observed, 100)
	go func() {
		defer close(views)
		for v, err := range statushttp.Observe(ctx, s.client, urls...) {
			views <- observed{v, err}
		}
	}()
	return views, func() {
		cancel()
		for range views {
		}
	}
}

// until reads views until one is right.
func (s *sites) until(what string, views <-chan observed, right func(observed) bool) observed {
	s.t.Helper()
	limit := time.After(2 * time.Minute)
	var last observed
	for {
		select {
		case v := <-views:
			if last = v; right(v) {
				return v
			}
		case <-limit:
			s.t.Fatalf("%s: the last view is %+v", what, last)
		}
	}
}

func leads(id uint64) func(observed) bool {
	return func(v observed) bool { return v.Known && v.Leader == id && v.err == nil }
}

func TestAnObserverThatIsNoMemberSeesWhichOneLeads(t *testing.T) {
	withSites(t, ringleader.Config{}, func(t *testing.T, s *sites) {
		s.Await(3)
		views, stop := s.observe("http://member1:1", "http://member2:1/", "http://member3:1")
		defer stop()
		first := s.until("3 leads", views, leads(3))
		if first.Term == 0 || first.Role != "" || first.Since.IsZero() {
			t.Errorf("%+v", first)
		}
		go s.Member(2).Lead(t.Context(), func(ctx context.Context, l ringleader.Leadership) error {
			if err := l.Publish("here"); err != nil {
				t.Error(err)
			}
			<-ctx.Done()
			return nil
		})
		if err := s.Member(3).Transfer(2); err != nil {
			t.Fatal(err)
		}
		next := s.until("2 leads, and its value is known", views, func(v observed) bool { return v.Leader == 2 && v.Value == "here" })
		if next.Term <= first.Term {
			t.Errorf("term %d follows %d", next.Term, first.Term)
		}
		s.Kill(2)
		s.servers[2].Close()
		s.until("1 or 3 leads", views, func(v observed) bool { return v.Known && v.Leader != 2 })
		s.Kill(1)
		s.servers[1].Close()
		s.until("no majority is left", views, func(v observed) bool {
			return !v.Known && v.err != nil && strings.Contains(v.err.Error(), "http://member3:1: member 3 knows no leader: 1 of 3 members")
		})
	})
}

func TestAnObserverAsksAgainAMemberThatDidNotAnswer(t *testing.T) {
	withSites(t, ringleader.Config{}, func(t *testing.T, s *sites) {
		s.Await(3)
		views, stop := s.observe("http://member1:1")
		defer stop()
		s.until("3 leads", views, leads(3))
		s.Kill(1)
		s.servers[1].Close()
		s.until("none answers", views, func(v observed) bool { return !v.Known })
		s.serve(1)
		s.until("3 leads", views, leads(3))
	})
}

// say serves what a member that does not exist says about the leader, and then nothing more.
func (s *sites) say(address, status string) {
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "event: status\ndata: {%s}\n\n", status)
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})}
	s.servers[uint64(len(s.servers)+1)] = server
	go server.Serve(s.network.Listen(address))
}

func TestOfMembersThatDifferTheHighestTermCounts(t *testing.T) {
	withSites(t, ringleader.Config{}, func(t *testing.T, s *sites) {
		for address, status := range map[string]string{
			"old:1": `"leader":7,"term":2`, "new:1": `"leader":8,"term":3`, "more:1": `"leader":8,"term":3,"value":"here"`, "none:1": `"term":4`,
			"bully:1": `"leader":5`, "bully:2": `"leader":6`,
		} {
			s.say(address, status)
		}
		for _, c := range []struct {
			urls string
			want ringleader.View
		}{
			{"old:1 new:1 none:1", ringleader.View{Leader: 8, Known: true, Term: 3}},
			{"more:1 new:1 old:1", ringleader.View{Leader: 8, Known: true, Term: 3, Value: "here"}},
			{"bully:1 bully:2", ringleader.View{Leader: 5, Known: true}},
			{"bully:2 bully:1", ringleader.View{Leader: 6, Known: true}},
		} {
			var urls []string
			for address := range strings.FieldsSeq(c.urls) {
				urls = append(urls, "http://"+address)
			}
			views, stop := s.observe(urls...)
			s.Settle()
			var last observed
			for len(views) > 0 {
				last = <-views
			}
			stop()
			if last.Since = (time.Time{}); last.View != c.want || last.err != nil {
				t.Errorf("%s: %+v, want %+v", c.urls, last, c.want)
			}
		}
	})
}

func TestAnObserverSaysWhyNoMemberAnswers(t *testing.T) {
	withSites(t, ringleader.Config{}, func(t *testing.T, s *sites) {
		other := &http.Server{Handler: http.NotFoundHandler()}
		defer other.Close()
		go other.Serve(s.network.Listen("other:1"))
		views, stop := s.observe("http://other:1", "http://nowhere:1", ":")
		defer stop()
		v := s.until("none answers", views, func(v observed) bool { return !v.Known })
		for _, part := range []string{"http://other:1: it answers 404", "http://nowhere:1: ", ":: parse"} {
			if v.err == nil || !strings.Contains(v.err.Error(), part) {
				t.Errorf("%v lacks %q", v.err, part)
			}
		}
	})
}

// A machine that has died closes no connection.
func TestWhatAMemberSaidCountsUntilItIsSilentForLong(t *testing.T) {
	withSites(t, ringleader.Config{}, func(t *testing.T, s *sites) {
		s.say("silent:1", `"leader":7,"term":99`)
		views, stop := s.observe("http://silent:1")
		defer stop()
		s.until("7 leads", views, leads(7))
		begun := time.Now()
		s.until("it is silent", views, func(v observed) bool {
			return !v.Known && strings.Contains(v.err.Error(), "no sign of life for 45s")
		})
		if took := time.Since(begun); took != 45*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}
