package statushttp_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
	"ringleader.example/ringleader/statushttp"
	"ringleader.example/ringleader/transport/transporttest"
)

// site is the handler of a member of a group, in a synctest bubble.
type site struct {
	*ringleadertest.Cluster
	connect func() client
}

// serveMember starts three members, of which 3 leads, and serves one of them.
func serveMember(t *testing.T, id uint64, test func(site)) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		network := transporttest.NewLAN()
		server := statushttp.Server(statushttp.Handler(c.Member(id)))
		go server.Serve(network.Listen("server:1"))
		defer server.Close()
		synctest.Wait()
		test(site{c, func() client {
			conn, err := network.Dialer("client:1")(context.Background(), "", "server:1")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			return client{conn, t}
		}})
	})
}

const watchRequest = "GET /watch HTTP/1.1\r\nHost: server\r\n\r\n"

// response reads the head of an answer.
func (c client) response() *http.Response {
	c.t.Helper()
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

func TestAStreamHasTheStateNowAndEachChangeAndShowsThatItLives(t *testing.T) {
	serveMember(t, 1, func(s site) {
		c := s.connect()
		defer c.Close()
		c.write(watchRequest)
		r := c.response()
		if kind := r.Header.Get("Content-Type"); kind != "text/event-stream" || r.StatusCode != 200 {
			t.Errorf("%d %q", r.StatusCode, kind)
		}
		lines := bufio.NewScanner(r.Body)
		until := func(want string) {
			t.Helper()
			for lines.Scan() {
				if strings.Contains(lines.Text(), want) {
					return
				}
			}
			t.Fatalf("it ends before %q: %v", want, lines.Err())
		}
		until(`"leader":3,"term":1`)
		until(": alive")
		until(": alive") // longer than a request may take
		s.Member(3).Transfer(2)
		until(`"leader":2,"term":2`)
		s.Member(1).Close()
		until(`"leader":null`)
		for lines.Scan() {
			if lines.Text() != "" {
				t.Errorf("after the end of the member comes %q", lines.Text())
			}
		}
	})
}

func TestASlowReaderGetsTheLastChange(t *testing.T) {
	serveMember(t, 1, func(s site) {
		c := s.connect()
		defer c.Close()
		c.write(watchRequest)
		for i := range 31 { // more than the connection takes
			leader := uint64(3 - i%2)
			s.Member(leader).Transfer(5 - leader)
			s.Await(5 - leader)
		}
		term, alive := fmt.Sprintf(`"term":%d,`, s.Member(1).View().Term), 0
		for lines := bufio.NewScanner(c.response().Body); alive < 2 && lines.Scan(); {
			if strings.Contains(lines.Text(), term) {
				return
			}
			if strings.Contains(lines.Text(), ": alive") {
				alive++
			}
		}
		t.Errorf("it does not get %s", term)
	})
}

func TestStreamsAreLimitedAndOneThatEndsMakesRoom(t *testing.T) {
	serveMember(t, 1, func(s site) {
		var all []client
		for range statushttp.MostWatches {
			c := s.connect()
			defer c.Close()
			c.write(watchRequest)
			if r := c.response(); r.StatusCode != 200 {
				t.Fatalf("%d streams, and the next one gets %d", len(all), r.StatusCode)
			}
			all = append(all, c)
		}
		late := s.connect()
		defer late.Close()
		late.write(watchRequest)
		if r := late.response(); r.StatusCode != 503 {
			t.Errorf("one more gets %d", r.StatusCode)
		}
		all[0].Close()
		s.Settle()
		late = s.connect()
		defer late.Close()
		late.write(watchRequest)
		if r := late.response(); r.StatusCode != 200 {
			t.Errorf("after the end of one, another gets %d", r.StatusCode)
		}
	})
}

// The connection in memory takes some bytes; the system's would take more.
func TestAStreamThatIsNotReadIsClosed(t *testing.T) {
	serveMember(t, 1, func(s site) {
		c := s.connect()
		defer c.Close()
		c.write(watchRequest)
		for i := range 150 { // events of 300 bytes
			leader := uint64(3 - i%2)
			s.Member(leader).Transfer(5 - leader)
			s.Await(5 - leader)
		}
		s.Pass(11 * time.Second)
		c.SetWriteDeadline(time.Now().Add(1))
		if _, err := c.Write([]byte{'x'}); err == nil {
			t.Error("it is open")
		}
	})
}

func TestAMemberIsReadyWhileItKnowsALeader(t *testing.T) {
	serveMember(t, 1, func(s site) {
		ask := func() int {
			c := s.connect()
			defer c.Close()
			c.write("GET /readyz HTTP/1.1\r\nHost: server\r\n\r\n")
			return c.response().StatusCode
		}
		if code := ask(); code != 200 {
			t.Errorf("with a leader it answers %d", code)
		}
		s.Cut()
		s.Until("it knows no leader", func() bool { return !s.Member(1).View().Known })
		if code := ask(); code != 503 {
			t.Errorf("without a leader it answers %d", code)
		}
	})
}

var (
	helpLine   = regexp.MustCompile(`^# HELP (ringleader_[a-z_]+) [A-Z1][^\n]*\.$`)
	typeLine   = regexp.MustCompile(`^# TYPE (ringleader_[a-z_]+) (gauge|counter|summary|histogram)$`)
	sampleLine = regexp.MustCompile(`^(ringleader_[a-z_]+)(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? ([0-9.e+-]+)$`)
)

// The rules are those of the text format 0.0.4 and of the names that Prometheus recommends.
func TestMetricsKeepTheRulesOfPrometheus(t *testing.T) {
	serveMember(t, 3, func(s site) {
		c := s.connect()
		defer c.Close()
		c.write("GET /metrics HTTP/1.0\r\n\r\n")
		r := c.response()
		if kind := r.Header.Get("Content-Type"); kind != "text/plain; version=0.0.4; charset=utf-8" {
			t.Errorf("the type is %q", kind)
		}
		values, kind, name := map[string]string{}, "", ""
		for lines := bufio.NewScanner(r.Body); lines.Scan(); {
			line := lines.Text()
			if help := helpLine.FindStringSubmatch(line); help != nil {
				if name, kind = help[1], ""; values["help "+name] != "" {
					t.Errorf("%s comes twice", name)
				}
				values["help "+name] = line
				continue
			}
			if of := typeLine.FindStringSubmatch(line); of != nil {
				if kind = of[2]; of[1] != name || (kind == "counter") != strings.HasSuffix(name, "_total") {
					t.Errorf("%q follows the help of %s", line, name)
				}
				continue
			}
			sample := sampleLine.FindStringSubmatch(line)
			if sample == nil || kind == "" || !belongs(sample[1], name, kind) {
				t.Errorf("%q follows %s %s", line, kind, name)
				continue
			}
			if values[sample[1]+sample[2]] != "" {
				t.Errorf("%q is the second of its name and labels", line)
			}
			values[sample[1]+sample[2]] = sample[4]
		}
		for name, want := range map[string]string{
			`info{id="3",algorithm="quorum-bully"}`: "1", "healthy": "1", "is_leader": "1", "leader_known": "1", "leader_id": "3", "term": "1",
			"members": "3", "members_reachable": "3", "voters": "3", "voters_reachable": "3", `member_reachable{member="1"}`: "1", "tenures_total": "1", "lease_lapses_total": "0",
			"leader_changes_total": "1", `leader_changes_by_cause_total{cause="elected"}`: "1", `leader_changes_by_cause_total{cause="lapsed"}`: "0", "election_seconds_count": "1", "unsafe_no_quorum": "0", "quorum": "1", "save_failures_total": "0",
		} {
			if got := values["ringleader_"+name]; got != want {
				t.Errorf("%s is %q, want %s", name, got, want)
			}
		}
		if values["ringleader_lease_remaining_seconds"] <= "0.1" || values["ringleader_save_seconds_count"] == "0" {
			t.Errorf("%q", values)
		}
		for _, name := range []string{"save_seconds", "timer_lateness_seconds", "round_trip_seconds"} {
			all := values["ringleader_"+name+"_count"]
			if values["ringleader_"+name+`_bucket{le="+Inf"}`] != all || values["ringleader_"+name+`_bucket{le="10"}`] != all || values["ringleader_"+name+`_bucket{le="0.0001"}`] == "" {
				t.Errorf("%s has %s values, and the buckets do not agree", name, all)
			}
		}
	})
}

// belongs reports whether a sample belongs to a metric of a kind.
func belongs(sample, name, kind string) bool {
	rest, found := strings.CutPrefix(sample, name)
	switch kind {
	case "histogram":
		return found && (rest == "_bucket" || rest == "_sum" || rest == "_count")
	case "summary":
		return found && (rest == "_sum" || rest == "_count")
	}
	return sample == name
}
