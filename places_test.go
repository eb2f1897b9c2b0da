package ringleader_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/clock/clocktest"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport"
	"ringleader.example/ringleader/transport/transporttest"
)

// diary is a log that is read while it is written.
type diary struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (d *diary) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.Write(b)
}

func (d *diary) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.String()
}

// town is a group whose members have addresses on a network of connections. All have the first three in their lists, and those that join
// know one other address.
type town struct {
	t       *testing.T
	network *transporttest.LAN
	disks   map[uint64]*storage.Disk
	members map[uint64]*ringleader.Member
	logs    map[uint64]*diary
}

// onATown runs a test on three members, of which 3 leads, in time of their own.
func onATown(t *testing.T, test func(t *testing.T, c *town)) {
	synctest.Test(t, func(t *testing.T) {
		c := &town{t, transporttest.NewLAN(), map[uint64]*storage.Disk{}, map[uint64]*ringleader.Member{}, map[uint64]*diary{}}
		for id := uint64(1); id <= 3; id++ {
			c.found(id)
		}
		c.until("3 leads", func() bool { return c.members[1].View().Leader == 3 && c.members[2].View().Leader == 3 })
		test(t, c)
		for id := range c.members {
			c.stop(id)
		}
	})
}

// home is where a member is at first.
func home(id uint64) string { return fmt.Sprintf("host%d:1", id) }

// found starts a member that has the list of the first three, at home or elsewhere.
func (c *town) found(id uint64, elsewhere ...string) {
	var members []ringleader.MemberAddress
	for i := uint64(1); i <= 3; i++ {
		members = append(members, ringleader.MemberAddress{ID: i, Address: home(i)})
	}
	for _, address := range elsewhere {
		members[id-1].Address = address
	}
	c.start(id, members[id-1].Address, ringleader.Config{Members: members})
}

// join starts a member that knows one other address, and perhaps its own one.
func (c *town) join(id uint64, at, own, seed string) {
	c.start(id, at, ringleader.Config{Members: []ringleader.MemberAddress{{ID: id, Address: own}}, Join: []string{seed}})
}

func (c *town) start(id uint64, at string, config ringleader.Config) {
	c.t.Helper()
	if c.disks[id] == nil {
		c.disks[id] = storage.Memory()
	}
	m, err := c.open(id, at, c.disks[id], config)
	if err != nil {
		c.t.Fatalf("member %d: %v", id, err)
	}
	c.members[id] = m
}

func (c *town) open(id uint64, at string, on *storage.Disk, config ringleader.Config) (*ringleader.Member, error) {
	disk, err := on.Open()
	if err != nil {
		return nil, err
	}
	if c.logs[id] == nil {
		c.logs[id] = &diary{}
	}
	config.ID, config.Storage, config.Timing, config.Overrun, config.Listen = id, disk, ringleader.Test(), ringleader.Log, at
	config.Clock = clocktest.New() // that of the system shows in a bubble what the machine does meanwhile
	config.Logger = slog.New(slog.NewTextHandler(c.logs[id], nil))
	config.Transport = transport.TCP{Insecure: true, Listener: c.network.Listen(at), Dial: c.network.Dialer(at)}.Open
	return ringleader.Join(c.t.Context(), config)
}

func (c *town) stop(ids ...uint64) {
	for _, id := range ids {
		c.members[id].Close()
		delete(c.members, id)
	}
}

func (c *town) until(what string, holds func() bool) {
	c.t.Helper()
	for range 3000 {
		if synctest.Wait(); holds() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	for id, m := range c.members {
		c.t.Logf("member %d: %+v\n%s", id, m.Status(), c.logs[id])
	}
	c.t.Fatalf("not: %s", what)
}

// are waits until these vote and follow one leader, and have no other member in their lists.
func (c *town) are(voters ...uint64) {
	c.t.Helper()
	c.until(fmt.Sprintf("voters %v", voters), func() bool {
		for _, id := range voters {
			m := c.members[id]
			if m == nil {
				continue
			}
			s := m.Status()
			same := s.Voters == nil && len(s.Members) == len(voters) || s.Voters != nil && slices.Equal(s.Voters.Members, voters)
			if !same || s.Leader == nil || len(s.Members) != len(voters) {
				return false
			}
		}
		return true
	})
}

// reach waits until all members reach one at an address.
func (c *town) reach(id uint64, at string) {
	c.t.Helper()
	c.until(fmt.Sprintf("member %d is at %s", id, at), func() bool {
		for _, m := range c.members {
			if !slices.ContainsFunc(m.Status().Members, func(s ringleader.MemberStatus) bool { return s.ID == id && s.Address == at && s.Reachable }) {
				return false
			}
		}
		return true
	})
}

func (c *town) add(at, id uint64, address string) {
	c.t.Helper()
	if err := c.members[at].AddAddress(ringleader.MemberAddress{ID: id, Address: address}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *town) remove(at, id uint64) {
	c.t.Helper()
	if err := c.members[at].RemoveAddress(id); err != nil {
		c.t.Fatal(err)
	}
}

func TestAMemberIsAddedAtOneMemberAndJoinsByOneAddress(t *testing.T) {
	onATown(t, func(t *testing.T, c *town) {
		before := c.members[3].View()
		c.add(1, 7, "host7:1")
		c.add(2, 7, "host7:1") // twice is no error
		c.join(7, "host7:1", "", home(2))
		c.are(1, 2, 3, 7)
		if now := c.members[3].View(); now != before {
			t.Errorf("%+v was the leader, and now %+v", before, now)
		}
		if all := c.members[7].Status().Members; !slices.IsSortedFunc(all, func(a, b ringleader.MemberStatus) int { return cmp.Compare(a.ID, b.ID) }) {
			t.Errorf("member 7 shows the others in the order %+v", all)
		}
		if log := c.logs[7].String(); strings.Contains(log, "cannot be reached") {
			t.Errorf("member 7 did not know its address, and says that it is wrong:\n%s", log)
		}

		// It has learnt where the others are: it starts again without any that answers, and all from their disks.
		c.stop(1, 2, 3, 7)
		c.join(7, "host7:1", "", "nowhere:1")
		for id := uint64(1); id <= 3; id++ {
			c.found(id)
		}
		c.are(1, 2, 3, 7)
		c.until("7 leads", func() bool { return c.members[1].View().Leader == 7 }) // of the highest rank
	})
}

// Only a leader takes the vote of a member that was removed. Until there is one, the member is marked.
func TestARemovedMemberThatStillVotesIsMarked(t *testing.T) {
	onATown(t, func(t *testing.T, c *town) {
		c.stop(2, 3)
		c.remove(1, 3)
		marked := func() (ids []uint64) {
			for _, m := range c.members[1].Status().Members {
				if m.Removed {
					ids = append(ids, m.ID)
				}
			}
			return ids
		}
		c.until("3 is marked, and no other", func() bool { return slices.Equal(marked(), []uint64{3}) })
		c.found(2)
		c.are(1, 2)
	})
}

// A member without founders has no vote until the group tells it who votes, whatever it is alone with.
func TestAMemberThatJoinsElectsNoneByItself(t *testing.T) {
	onATown(t, func(t *testing.T, c *town) {
		c.stop(1, 2, 3)
		c.join(1, "host1:1", "host1:1", "nowhere:1") // with the disk of a founder, which has its promises
		c.disks[7], c.disks[8] = storage.Memory(), storage.Memory()
		c.join(7, "host7:1", "host7:1", "nowhere:1")
		c.join(8, "host8:1", "host8:1", "host7:1")
		for range 1000 {
			time.Sleep(20 * time.Millisecond)
			for id, m := range c.members {
				if v := m.View(); v.Role == ringleader.Leader || v.Known {
					t.Fatalf("member %d: %+v", id, v)
				}
			}
		}
		c.until("8 is refused by 7", func() bool { return strings.Contains(c.logs[8].String(), "the list of member 7 has no member 8") })
		if why := strings.Join(c.members[7].Status().Why, "; "); !strings.Contains(why, "this member has no vote") {
			t.Errorf("the reasons are %q", why)
		}
	})
}

// A crash would take back a line that is not durable. Its member would then make another one of the same version, and some would take the older one.
func TestALineIsToldWhenItIsDurable(t *testing.T) {
	onATown(t, func(t *testing.T, c *town) {
		var full atomic.Bool
		full.Store(true)
		c.disks[1].Intercept(func([]storage.Record) error {
			if full.Load() {
				return errors.New("no space")
			}
			return nil
		})
		for range 100 {
			time.Sleep(20 * time.Millisecond)
		}
		added := make(chan error, 1)
		go func() { added <- c.members[1].AddAddress(ringleader.MemberAddress{ID: 7, Address: home(7)}) }()
		for range 100 {
			time.Sleep(20 * time.Millisecond)
		}
		c.network.ResetAll() // each connection begins anew, and each begins with all lines
		for range 100 {
			time.Sleep(20 * time.Millisecond)
		}
		for id := uint64(2); id <= 3; id++ {
			if all := c.members[id].Status().Members; len(all) != 3 {
				t.Errorf("member %d has heard of a line that is not durable: %+v", id, all)
			}
		}
		select {
		case err := <-added:
			t.Errorf("the command has returned: %v", err)
		default:
		}
		full.Store(false)
		c.until("all have the line", func() bool {
			return len(c.members[2].Status().Members) == 4 && len(c.members[3].Status().Members) == 4
		})
		if err := <-added; err != nil {
			t.Error(err)
		}
	})
}

func TestAMemberThatMovesIsFollowed(t *testing.T) {
	onATown(t, func(t *testing.T, c *town) {
		c.add(3, 7, home(7))
		c.join(7, home(7), home(7), home(3))
		c.are(1, 2, 3, 7)
		c.stop(7)
		c.join(7, "elsewhere:1", "elsewhere:1", home(1))
		c.reach(7, "elsewhere:1")
		c.stop(2) // a founder, which no book has
		c.found(2, "elsewhere:2")
		c.reach(2, "elsewhere:2")

		// While it was down all others have moved: one address is enough.
		c.stop(7)
		for id := uint64(1); id <= 3; id++ {
			c.stop(id)
			c.found(id, fmt.Sprintf("new%d:1", id))
			c.until("it is back", func() bool { return c.members[id].View().Known })
		}
		c.join(7, "elsewhere:1", "elsewhere:1", "new2:1")
		for id := uint64(1); id <= 3; id++ {
			c.reach(id, fmt.Sprintf("new%d:1", id))
		}
		c.are(1, 2, 3, 7)
	})
}

// A directory that comes from a backup has an older line of its own member. That member is dialled where it is no more, so it learns of the newer
// line on the connection that it has dialed itself.
func TestAMemberWithAnOlderBookIsTold(t *testing.T) {
	for name, founder := range map[string]bool{"with a line": false, "without one": true} {
		t.Run(name, func(t *testing.T) {
			onATown(t, func(t *testing.T, c *town) {
				c.add(3, 7, home(7))
				c.join(7, home(7), home(7), home(3))
				c.are(1, 2, 3, 7)
				id := uint64(7)
				again := func(at string) { c.join(7, at, at, home(3)) }
				if founder {
					id = 1
					again = func(at string) { c.found(1, at) }
				}
				backup := c.disks[id].Copy()
				for _, at := range []string{"second:1", "third:1"} {
					c.stop(id)
					again(at)
					c.reach(id, at)
				}
				for _, at := range []string{"a:1", "zz:1", home(id)} { // addresses before and after the newest one in the order of the book
					c.stop(id)
					c.disks[id] = backup.Copy()
					again(at)
					c.reach(id, at)
				}
			})
		})
	}
}

func TestMembersAreRemoved(t *testing.T) {
	onATown(t, func(t *testing.T, c *town) {
		c.add(3, 7, home(7))
		c.join(7, home(7), "", home(1))
		c.are(1, 2, 3, 7)
		c.until("7 leads", func() bool { c.members[3].Transfer(7); return c.members[1].View().Leader == 7 })
		c.remove(1, 7) // the leader, at another one
		c.are(1, 2, 3)
		c.until("it is refused", func() bool {
			return strings.Contains(fmt.Sprint(c.members[7].Status().Members), "the list of member 3 has no member 7")
		})
		c.until("it is told", func() bool { return strings.Contains(c.logs[7].String(), "this member was removed from the group") })
		c.remove(2, 7) // twice is no error
		if err := c.members[7].AddAddress(ringleader.MemberAddress{ID: 8, Address: home(8)}); !errors.Is(err, ringleader.ErrConfig) || !strings.Contains(err.Error(), "member 7 was removed from the group") {
			t.Errorf("a member that was removed takes a command that no other one hears of: %v", err)
		}

		c.stop(7)
		c.join(7, "elsewhere:1", "elsewhere:1", home(1)) // a move does not bring it back
		c.until("it is refused again", func() bool { return strings.Contains(fmt.Sprint(c.members[7].Status().Members), "has no member 7") })
		c.are(1, 2, 3)
		c.add(1, 7, "elsewhere:1")
		c.are(1, 2, 3, 7)

		c.stop(2)
		c.remove(7, 2) // a founder that does not run
		c.are(1, 3, 7)
		c.found(2)
		c.until("it is refused", func() bool { return strings.Contains(fmt.Sprint(c.members[2].Status().Members), "has no member 2") })
		c.are(1, 3, 7)
	})
}

// An old command line has --join with the address of a member that was removed since, and that still runs.
func TestAMemberThatWasRemovedIsFoundAndNotTaken(t *testing.T) {
	onATown(t, func(t *testing.T, c *town) {
		c.remove(3, 1)
		c.are(2, 3)
		c.until("3 leads", func() bool { c.members[2].Resign(t.Context()); return c.members[3].View().Role == ringleader.Leader })
		c.remove(3, 2)
		c.are(3)
		c.stop(3)
		c.join(3, home(3), home(3), home(2))
		said := func() int { return strings.Count(c.logs[3].String(), "member is in the list now") }
		c.until("2 is found", func() bool { return said() > 0 })
		c.are(3)
		for range 1500 {
			time.Sleep(20 * time.Millisecond)
		}
		if n := said(); n > 1 || len(c.members[3].Status().Members) != 1 {
			t.Errorf("in half a minute it was in the list %d times: %+v", n, c.members[3].Status().Members)
		}
		c.add(3, 2, home(2))
		c.are(2, 3)
	})
}

// It may have been added again, and the member that finds it not know that.
func TestAMemberThatWasAddedAgainIsFound(t *testing.T) {
	onATown(t, func(t *testing.T, c *town) {
		c.remove(3, 2)
		c.are(1, 3)
		c.stop(3)
		c.add(1, 2, home(2))
		c.until("2 is told", func() bool { return len(c.members[2].Status().Members) == 3 })
		c.join(3, home(3), home(3), home(2))
		c.are(1, 2, 3)
	})
}

func TestAVoteThatAnOperatorTakesStaysTaken(t *testing.T) {
	onATown(t, func(t *testing.T, c *town) {
		c.add(1, 7, home(7))
		c.join(7, home(7), "", home(1))
		c.are(1, 2, 3, 7)
		var leader uint64
		c.until("the vote is taken", func() bool {
			leader = c.members[1].View().Leader
			if leader == 7 {
				c.members[7].Resign(t.Context())
				return false
			}
			return leader != 0 && c.members[leader].RemoveMember(t.Context(), 7) == nil
		})
		for range 500 {
			time.Sleep(20 * time.Millisecond)
		}
		if s := c.members[leader].Status(); !slices.Equal(s.Voters.Members, []uint64{1, 2, 3}) || len(s.Members) != 4 {
			t.Errorf("%+v", s.Voters)
		}
	})
}

// Too few of those that remain answer, so the removed member keeps its vote. That is one state, and one line of the log.
func TestARemovalThatWaitsForOthersIsToldOnce(t *testing.T) {
	onATown(t, func(t *testing.T, c *town) {
		c.stop(3)
		c.until("2 leads, and the grant of 3 has run out", func() bool { // it may count as a voice for the removal
			s := c.members[2].Status()
			return s.Role == ringleader.Leader && (s.Members[2].Grant == nil || *s.Members[2].Grant <= 0)
		})
		c.remove(1, 1)
		for range 3000 {
			time.Sleep(20 * time.Millisecond)
		}
		log := c.logs[2].String()
		if strings.Count(log, "is not yet as the address book wants it") != 1 || !strings.Contains(log, "of=1 votes=false not_reachable=[3]") {
			t.Errorf("a minute of one state:\n%s", log)
		}
		if s := c.members[2].Status(); s.Voters != nil && !slices.Contains(s.Voters.Members, 1) {
			t.Errorf("the vote is gone without a majority of the others: %+v", s.Voters)
		}
		c.found(3)
		c.are(2, 3)
		c.until("the end is told", func() bool {
			return strings.Contains(c.logs[2].String()+c.logs[3].String(), "is as the address book wants it now") || c.members[3].View().Leader == 3
		})
	})
}

// Each wrong line is one clear text, and the group goes on.
func TestWrongAddresses(t *testing.T) {
	onATown(t, func(t *testing.T, c *town) {
		refused := func(err error, want string) {
			t.Helper()
			if !errors.Is(err, ringleader.ErrConfig) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
		m := c.members[1]
		refused(m.AddAddress(ringleader.MemberAddress{ID: 7, Address: "host7"}), "is not host:port")
		refused(m.AddAddress(ringleader.MemberAddress{ID: 7, Address: home(2)}), "members 2 and 7 have the same address host2:1")
		refused(m.AddAddress(ringleader.MemberAddress{ID: 1, Address: "other:1"}), "changes only with a restart")
		refused(m.AddAddress(ringleader.MemberAddress{ID: 2, Address: home(2), Standby: true}), "member 2 has a vote, and standby takes none")
		refused(m.AddAddress(ringleader.MemberAddress{ID: 7, Address: strings.Repeat("a", 200) + ":1"}), "an address has 1 to 180 bytes")
		refused(m.AddAddress(ringleader.MemberAddress{ID: 7, Address: "0.0.0.0:7001"}), "each member would dial its own machine")
		refused(m.AddAddress(ringleader.MemberAddress{ID: 7, Address: "[::]:7001"}), "each member would dial its own machine")
		refused(m.AddAddress(ringleader.MemberAddress{ID: 7, Address: "host2:01"}), "the port of host2:01 begins with 0") // member 2 is there
		refused(m.RemoveAddress(7), "there is no member 7")
		for seed, want := range map[string]string{
			"127.0.0.1": "has no port", "::1": "is not host:port", ":7001": "has no host", "0.0.0.0:7001": "is where", "[::]:7001": "is where", "a b": "is neither host:port nor a name", "a b:7001": "is neither",
			" a:7001": "is neither", "a,b:7001": "is neither", "[fe80::1%]:7001": "is neither",
		} {
			config := ringleader.Config{ID: 7, Members: []ringleader.MemberAddress{{ID: 7, Address: home(7)}}, Join: []string{seed}}
			refused(config.Check(), "Join: ")
			refused(config.Check(), seed)
			refused(config.Check(), want)
		}

		// An address that reaches another group.
		other := ringleader.Config{Group: "other", Members: []ringleader.MemberAddress{{ID: 9, Address: "host9:1"}}}
		c.start(9, "host9:1", other)
		c.add(1, 7, "host9:1")
		c.until("the problem is shown", func() bool {
			return strings.Contains(fmt.Sprint(c.members[3].Status().Members), "member 9 belongs to the group \"other\"")
		})
		c.stop(9)
		c.add(2, 7, home(7)) // corrected
		c.join(7, home(7), "", home(1))
		c.are(1, 2, 3, 7)

		// A seed of another group.
		c.start(9, "host9:1", other)
		c.add(1, 8, home(8))
		c.join(8, home(8), "", "host9:1")
		c.until("the seed is refused", func() bool {
			return strings.Contains(c.logs[8].String(), "belongs to the group \\\"other\\\", and the process that dials it to another")
		})
		c.stop(8, 9)
	})
}

// Two machines get one new identifier. One of them takes part; they correct each other's line a few times, and no more.
func TestTwoMachinesWithOneNewIdentifier(t *testing.T) {
	onATown(t, func(t *testing.T, c *town) {
		c.add(1, 7, "east:1")
		c.add(2, 7, "west:1")
		c.join(7, "east:1", "east:1", home(1))
		west, err := c.open(7, "west:1", storage.Memory(), ringleader.Config{Members: []ringleader.MemberAddress{{ID: 7, Address: "west:1"}}, Join: []string{home(2)}})
		if err != nil {
			t.Fatal(err)
		}
		defer west.Close()
		for range 1500 {
			time.Sleep(20 * time.Millisecond)
		}
		for id := uint64(1); id <= 3; id++ { // one line for the state, and few before it is known
			log := c.logs[id].String()
			changed, moved := strings.Count(log, "the address book has changed"), strings.Count(log, "another address in the list")
			if changed > 4 || moved > 4 || strings.Count(log, "at two addresses in turn") > 1 {
				t.Errorf("member %d: %d and %d lines tell that member 7 has moved:\n%s", id, changed, moved, log)
			}
		}
		if text := c.logs[7].String(); !strings.Contains(text, "another process") && !strings.Contains(text, "another live process has id 7") && !strings.Contains(text, "another store") {
			t.Errorf("no line tells of the other one: %s", text)
		}
		for id := uint64(1); id <= 3; id++ {
			if v := c.members[id].View(); !v.Known || v.Leader > 3 && v.Leader != 7 {
				t.Errorf("member %d: %+v", id, v)
			}
		}
		leads := 0
		for _, m := range []*ringleader.Member{c.members[1], c.members[2], c.members[3], c.members[7], west} {
			if m.IsLeader() {
				leads++
			}
		}
		if leads != 1 {
			t.Errorf("%d lead", leads)
		}
	})
}
