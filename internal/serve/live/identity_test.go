package live

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport"
)

// joinAs starts a process with an identifier, which listens and dials at an address.
func (c *cluster) joinAs(id uint64, at string, change func(*Config)) *Member {
	c.t.Helper()
	config := c.config(id, at)
	if change != nil {
		change(&config)
	}
	m, err := JoinProgram(context.Background(), c.algorithm, config)
	if err != nil {
		c.t.Fatal(err)
	}
	return m
}

// impostor gives all connections to an address the same answer, until the test ends.
func impostor(l net.Listener, answer func(transport.Hello) []byte) {
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			h, err := transport.ReadHello(conn)
			if err == nil {
				conn.Write(answer(h))
				io.Copy(io.Discard, conn)
			}
			conn.Close()
		}
	}()
}

func TestASecondProcessWithOneIdentifierWaitsUntilItIsTheOnlyOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, bully.Algorithm, 3)
		defer c.stopAll()
		c.start(1, 2, 3)
		c.until(1, "follows 3", follows(3))
		settle()
		second := c.joinAs(3, "elsewhere:1", nil)
		defer second.Close()
		settle()
		s, _ := second.Group.State()
		const problem = "refused: another live process has id 3: member 1 is connected with it"
		if leads(s) || s.Leader != 0 || s.Problems[0] != problem {
			t.Errorf("beside the first it knows %+v", s)
		}
		for id := range c.members {
			c.until(id, "was not disturbed", follows(3))
		}
		c.crash(3)
		c.members[3] = second
		c.until(3, "leads", leads)
		c.until(1, "follows it", follows(3))
	})
}

// Only the address in the list is dialed: it determines which of two processes is the member.
func TestAProcessThatDoesNotLiveAtTheAddressOfAMemberIsRefusedWhileOneDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, new(log).witness(), 2)
		defer c.stopAll()
		peer := c.network.Listen(at(2))
		defer peer.Close()
		c.start(1)
		out := c.accept(peer) // incarnation 1 answers
		conn, v := c.present(2)
		conn.Close()
		const want = "another live process has id 2: member 1 reaches it at the address in its list"
		if v != (transport.Verdict{Code: transport.RefusedDuplicate, Reason: want}) {
			t.Errorf("incarnation 2 is answered %+v", v)
		}
		defer out.Close()
		<-time.After(suspicion + 1) // it may have crashed silently: it was never heard
		if conn, v := c.present(2); v.Code != transport.Accepted {
			t.Errorf("after the timeout incarnation 2 is answered %+v", v)
		} else {
			conn.Close()
		}
	})
}

// A double that started during a partition finds all others connected with the first when that heals.
func TestALeaderThatMostOthersTakeForADoubleLeadsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, bully.Algorithm, 3)
		defer c.stopAll()
		c.start(1, 2, 3)
		c.until(1, "follows 3", follows(3))
		c.network.Separate(1, "elsewhere:1")
		double := c.joinAs(3, "elsewhere:1", nil)
		defer double.Close()
		settle()
		if s, _ := double.Group.State(); !leads(s) {
			t.Fatal("it does not lead behind the partition")
		}
		c.network.Separate(0, "elsewhere:1")
		settle()
		if s, _ := double.Group.State(); leads(s) || s.Leader != 0 {
			t.Errorf("it still knows %+v", s)
		}
		c.until(3, "leads", leads)
	})
}

// It answers in the name of the crashed member 3 that another process has the dialer's identifier.
func TestAListenerAtTheAddressOfADeadMemberEndsAndDeposesNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, bully.Algorithm, 3)
		defer c.stopAll()
		l := c.network.Listen(at(3))
		defer l.Close()
		asked := 0
		impostor(l, func(h transport.Hello) []byte {
			asked++
			v := transport.Verdict{Code: transport.RefusedDuplicate, Reason: "you are two"}
			return slices.Concat((&transport.Hello{Group: c.group, From: 3, To: h.From, Incarnation: 1, Timing: h.Timing}).Encode(), v.Encode())
		})
		c.network.Separate(1, at(3)) // until they have started
		c.start(1, 2)
		c.until(1, "follows 2", follows(2))
		c.network.Separate(0, at(3))
		settle()
		for id := range c.members {
			c.until(id, "follows 2", follows(2))
		}
		if s, _ := c.members[2].Group.State(); asked == 0 || s.Problems[2] != "refused: you are two" || time.Since(s.Since) < settled/2 {
			t.Errorf("asked %d times, member 2 knows %+v", asked, s)
		}
	})
}

// Member 2 died without a word before it had connected to 1: nothing ever showed that what 1 sends goes nowhere.
func TestWhatLedToAFormerLifeIsLeftWhenThereIsANewOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, new(log).witness(), 2)
		defer c.stopAll()
		peer := c.network.Listen(at(2))
		defer peer.Close()
		c.start(1)
		out := c.accept(peer) // incarnation 1 answers
		defer out.Close()
		<-time.After(2 * suspicion)
		defer heartbeats(c.call(2))()
		synctest.Wait()
		if !isLeft(out) || !peer.Called() {
			t.Errorf("it has left the connection to the former life: %v, and dials: %v", isLeft(out), peer.Called())
		}
	})
}

func TestOnlyTheMemberThatIsMeantIsConnectedTo(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*transport.Hello)
		want   string
	}{
		{"another member", func(h *transport.Hello) { h.From = 3 }, "member 3 of another group answers"},
		{"another group", func(h *transport.Hello) { h.Group.Founders[0]++ }, "member 2 of another group answers"},
		{"another algorithm", func(h *transport.Hello) { h.Group.Algorithm[0]++ }, "member 2 of another group answers"},
		{"an answer to another", func(h *transport.Hello) { h.To = 3 }, "member 2 of another group answers"},
		{"itself", func(*transport.Hello) {}, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, new(log).witness(), 2)
			defer c.stopAll()
			l := c.network.Listen(at(2))
			defer l.Close()
			c.start(1)
			impostor(l, func(transport.Hello) []byte {
				h := c.hello(1)
				test.change(&h)
				return slices.Concat(h.Encode(), transport.Verdict{}.Encode())
			})
			<-time.After(beat)
			if s, _ := c.members[1].Group.State(); s.Problems[1] != test.want {
				t.Errorf("%s answers, and it knows %q; want %q", test.name, s.Problems[1], test.want)
			}
		})
	}
}

func TestAnAddressThatLeadsBackIsNoSecondProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, bully.Algorithm, 2)
		defer c.stopAll()
		c.addresses[1].Address = at(1)
		c.start(1)
		c.until(1, "leads", leads)
		settle()
		const want = "refused: the address leads back to the process that dials it"
		if s, _ := c.members[1].Group.State(); !leads(s) || s.Problems[1] != want {
			t.Errorf("it knows %+v", s)
		}
	})
}

func TestAMemberThatCannotBeReachedAtItsAddressDoesNotLead(t *testing.T) {
	for _, test := range []struct {
		name string
		at   func(c *cluster) (leave func()) // what is at the address of member 2
		want string
	}{
		{"nothing", func(*cluster) func() { return func() {} }, "its own address does not lead to it: connection refused: no process listens there"},
		{
			"another process of member 2",
			func(c *cluster) func() {
				c.start(2)
				return func() { c.crash(2) }
			},
			"its own address does not lead to it: refused: this is another process with id 2",
		},
		{
			"a liar",
			func(c *cluster) func() {
				l := c.network.Listen(at(2))
				impostor(l, func(transport.Hello) []byte {
					return c.answer(transport.Verdict{Code: transport.RefusedSelf})
				})
				return func() { l.Close() }
			},
			"its own address does not lead to it: it does not speak this version of the protocol",
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			var l log
			c := newCluster(t, new(log).witness(), 2)
			defer c.stopAll()
			c.start(1)
			leave := test.at(c)
			c.algorithm = hidden(l.witness())
			m := c.joinAs(2, "elsewhere:1", func(c *Config) { c.Elsewhere = true })
			defer m.Close()
			settle()
			if s, _ := m.Group.State(); len(l.sofar()) > 0 || s.Problems[1] != test.want {
				t.Errorf("%s is there: it has done %q, and knows %q; want %q", test.name, l.sofar(), s.Problems[1], test.want)
			}
			leave()
			c.network.Alias(at(2), "elsewhere:1") // as a proxy does
			settle()
			if s, _ := m.Group.State(); !slices.Contains(l.sofar(), "start") || s.Problems[1] != "" {
				t.Errorf("%s was there: then it has done %q, and knows %q", test.name, l.sofar(), s.Problems)
			}
		})
	}
}

func TestTimingsAndAddressesMayDifferAndAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, bully.Algorithm, 3)
		defer c.stopAll()
		c.start(1, 2, 3)
		for id := range c.members {
			c.until(id, "follows 3", follows(3))
		}
		settle()
		c.crash(1)
		settle()
		c.addresses = slices.Clone(c.addresses)
		c.addresses[1].Address = strings.ToUpper(at(2)) // another spelling
		c.network.Alias(c.addresses[1].Address, at(2))
		c.members[1] = c.joinAs(1, at(1), func(c *Config) {
			c.Heartbeat, c.Suspicion, c.Parameters = 10*beat, 80*beat, map[string]string{"delay": "7"}
		})
		c.until(1, "follows 3", follows(3))
		s1, _ := c.members[1].Group.State()
		settle()
		for range 100 { // the silence between its heartbeats is longer than the others' suspicion
			<-time.After(17 * time.Millisecond)
			if s, _ := c.members[2].Group.State(); s.Leader != 3 || !s.Reachable[0] {
				t.Fatalf("member 2 knows %+v", s)
			}
		}
		if s, _ := c.members[1].Group.State(); s.Since != s1.Since || s.Leader != 3 {
			t.Errorf("member 1 knows %+v, after %+v", s, s1)
		}
		const want = "it has heartbeat 500ms, suspicion 4s and delay 7ms; this member has 50ms, 400ms and 1ms"
		if s, _ := c.members[3].Group.State(); s.Problems[0] != want || s.Problems[1] != "" {
			t.Errorf("member 3 reports %q; want %q", s.Problems, want)
		}
	})
}

func TestARecordBelongsToAGroupOfTheSameMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, ballots, 1)
		c.disks[1] = storage.Memory()
		c.start(1)
		settle()
		c.crash(1)
		c.addresses = append(c.addresses, transport.Member{ID: 2, Address: at(2)})
		if _, err := JoinProgram(context.Background(), c.algorithm, c.config(1, at(1))); !errors.Is(err, storage.ErrData) {
			t.Errorf("a member of a group of other members takes it: %v", err)
		}
		c.addresses[1].Standby = true
		c.start(1) // more members on standby change nothing about what it has promised
		c.crash(1)
		c.addresses = c.addresses[:1]
		c.addresses[0].Standby = true
		if _, err := JoinProgram(context.Background(), c.algorithm, c.config(1, at(1))); !errors.Is(err, storage.ErrData) {
			t.Errorf("a member that was no first voter takes it: %v", err)
		}
	})
}

func TestGroupsOfOtherNamesDoNotMix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, new(log).witness(), 2)
		defer c.stopAll()
		c.start(1)
		c.members[2] = c.joinAs(2, at(2), func(c *Config) { c.Group = "another" })
		settle()
		for id, m := range c.members {
			if s, _ := m.Group.State(); s.Reachable[2-id] {
				t.Errorf("member %d reaches the other", id)
			}
		}
	})
}
