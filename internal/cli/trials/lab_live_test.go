//go:build unix

package trials

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/cli/clitest"
)

// liveState is a state of api/live, as far as the tests read it.
type liveState struct {
	Acts    bool `json:"acts"`
	Members []struct {
		ID, Condition, Role, Leader, Problem string
	} `json:"members"`
	Reigns []struct {
		Leader string `json:"leader"`
		Term   uint64 `json:"term,string"`
		Goes   bool   `json:"goes"`
	} `json:"reigns"`
}

// count returns how many members are as wanted.
func (s liveState) count(condition, role string) (n int) {
	for _, m := range s.Members {
		if m.Condition == condition && m.Role == role {
			n++
		}
	}
	return n
}

// followLive returns the states of the group that a lab shows.
func followLive(t *testing.T, address string) <-chan liveState {
	t.Helper()
	response, err := http.Get(address + "api/live")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	states := make(chan liveState)
	go func() {
		defer close(states)
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			var s liveState
			if data, is := strings.CutPrefix(lines.Text(), "data: "); is && json.Unmarshal([]byte(data), &s) == nil {
				select {
				case states <- s:
				case <-t.Context().Done():
					return
				}
			}
		}
	}()
	return states
}

// awaitLive returns the first state with so many leaders, followers and members that have ended.
func awaitLive(t *testing.T, states <-chan liveState, leaders, followers, ended int) (s liveState) {
	t.Helper()
	for late := time.After(clitest.Limit); ; {
		select {
		case next, more := <-states:
			if !more {
				t.Fatalf("the stream has ended; the last state is %+v", s)
			}
			s = next
			if s.count("running", "leader") == leaders && s.count("running", "follower") == followers && s.count("ended", "") == ended {
				return s
			}
		case <-late:
			t.Fatalf("not within %s: %d leaders, %d followers, %d ended; the last state is %+v", clitest.Limit, leaders, followers, ended, s)
		}
	}
}

// A lab shows a group that runs, with its failover, and commands nothing.
func TestALabShowsAGroupThatRuns(t *testing.T) {
	d := startDemo(t, "--members", "3")
	d.awaitAgreement(t, 3)
	places := []string{"9=http://127.0.0.1:9"} // where nothing listens
	for id, m := range d.members {
		places = append(places, fmt.Sprintf("%d=http://%s", id, m.HTTP))
	}
	page, stop := beginLab(t, "--listen", "127.0.0.1:0", "--members", strings.Join(places, ","))
	defer stop()
	address, _, _ := strings.Cut(page, "#/live")
	states := followLive(t, address)
	s := awaitLive(t, states, 1, 2, 1)
	if s.Acts || len(s.Members) != 4 || !strings.Contains(s.Members[3].Problem, "refused") {
		t.Errorf("the state is %+v", s)
	}
	reply, err := http.Post(address+"api/act", "application/json", strings.NewReader(`{"command":"kill 1"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if text, _ := io.ReadAll(reply.Body); !strings.Contains(string(text), `"error":"this page can only look`) {
		t.Errorf("a command is answered %s", text)
	}
	fmt.Fprintln(d.stdin, "kill leader")
	killed := d.await(t, "the leader is killed", func(e demoEventOrSummary) bool { return e.Event == "killed" }).ID
	s = awaitLive(t, states, 1, 1, 2)
	for len(s.Reigns) < 2 || !s.Reigns[len(s.Reigns)-1].Goes { // the lease of the next leader may be late on a busy machine
		s = awaitLive(t, states, 1, 1, 2)
	}
	last, led := s.Reigns[len(s.Reigns)-1], false
	for _, r := range s.Reigns[:len(s.Reigns)-1] {
		led = led || r.Leader == fmt.Sprint(killed)
		if r.Goes || r.Term >= last.Term {
			t.Errorf("the reigns are %+v", s.Reigns)
		}
	}
	if !led || last.Leader == fmt.Sprint(killed) {
		t.Errorf("%d was killed, and the reigns are %+v", killed, s.Reigns)
	}
}
