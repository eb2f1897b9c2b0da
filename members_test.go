package ringleader_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
	"ringleader.example/ringleader/storage"
)

// books is a cluster in which each member starts with a list of its own.
type books struct {
	*ringleadertest.Cluster
	lists map[uint64][]ringleader.MemberAddress
}

// onBooks runs a test on a cluster of five in time of its own. Members 1, 2 and 3 list each other, and run; 3 leads.
func onBooks(t *testing.T, test func(t *testing.T, c *books)) {
	synctest.Test(t, func(t *testing.T) {
		c := &books{ringleadertest.New(t, ringleader.Config{}, 1, 2, 3, 4, 5), map[uint64][]ringleader.MemberAddress{}}
		defer c.Close()
		for id := range uint64(6) {
			c.lists[id] = list("1 2 3")
		}
		c.Configure(func(id uint64, config *ringleader.Config) { config.Members = c.lists[id] })
		c.Start(1, 2, 3)
		c.Await(3)
		test(t, c)
	})
}

// list returns a list of members; a star marks one on standby.
func list(ids string) (members []ringleader.MemberAddress) {
	for _, id := range strings.Fields(ids) {
		number, standby := strings.CutSuffix(id, "*")
		members = append(members, ringleader.MemberAddress{ID: uint64(number[0] - '0'), Address: "member" + number + ":1", Standby: standby})
	}
	return members
}

// relist gives members a list, for now and for their next lives.
func (c *books) relist(t *testing.T, ids string, members ...uint64) {
	t.Helper()
	for _, id := range members {
		c.lists[id] = list(ids)
		if m := c.Member(id); m != nil {
			if err := m.SetMembers(c.lists[id]); err != nil {
				t.Fatalf("member %d: %v", id, err)
			}
		}
	}
}

// follow waits until members follow a leader.
func (c *books) follow(leader uint64, members ...uint64) {
	c.Until("all follow", func() bool {
		return !slices.ContainsFunc(members, func(id uint64) bool { return c.Member(id).View().Leader != leader })
	})
}

// votes changes a vote at a leader.
func (c *books) votes(t *testing.T, leader, id uint64, votes bool) {
	t.Helper()
	change := c.Member(leader).RemoveMember
	if votes {
		change = c.Member(leader).AddMember
	}
	if err := change(t.Context(), id); err != nil {
		t.Fatalf("the vote of %d: %v", id, err)
	}
}

// know waits until members of a group know its voters: each learns of them from the next message of the leader.
func (c *books) know(group string, voters []uint64, members ...uint64) {
	c.Until("all know the voters", func() bool {
		return !slices.ContainsFunc(members, func(id uint64) bool {
			v := c.Group(group, id).Status().Voters
			return v == nil || !slices.Equal(v.Members, voters)
		})
	})
}

// rolled replaces member 1 by the new member 4, without a stop: 2, 3 and 4 vote then, and 1 is in no list.
func rolled(t *testing.T, c *books) {
	t.Helper()
	c.relist(t, "1 2 3 4*", 4)
	c.Start(4)
	c.relist(t, "1 2 3 4*", 1, 2, 3)
	c.follow(3, 1, 2, 4)
	c.votes(t, 3, 4, true)
	c.votes(t, 3, 1, false)
	c.know("", []uint64{2, 3, 4}, 2, 3, 4)
	c.relist(t, "2 3 4*", 2, 3, 4)
}

func TestAMemberAtANewAddressTakesThePlaceOfAnotherWithoutAnElection(t *testing.T) {
	onBooks(t, func(t *testing.T, c *books) {
		before := c.Member(3).View()
		rolled(t, c)
		if now := c.Member(3).View(); now != before {
			t.Errorf("%+v was the leader, and now %+v", before, now)
		}
		c.Until("member 1 is refused", func() bool {
			return strings.Contains(c.Member(1).Status().Members[1].Problem, "the list of member 2 has no member 1")
		})
		if members := c.Member(2).Status().Members; len(members) != 3 || members[0].ID != 2 || members[2].Standby {
			t.Errorf("%+v", members)
		}
		c.Kill(1)
		c.Kill(3)
		c.Await(4) // 2 and 4 are a majority of the three
		c.Start(3)
		c.follow(4, 2, 3)
		if got := c.Member(3).Status().Voters; got == nil || got.Version != 2 || !slices.Equal(got.Members, []uint64{2, 3, 4}) {
			t.Errorf("%+v", got)
		}
	})
}

// The new member has never heard of the one that has left. So it counts the members differently from the others: what they
// send each other names members by their identifiers.
func TestAMemberThatNeverHeardOfOneThatHasLeftJoins(t *testing.T) {
	onBooks(t, func(t *testing.T, c *books) {
		rolled(t, c)
		c.Kill(1)
		c.relist(t, "2 3 4* 5*", 2, 3, 4, 5)
		c.Start(5)
		c.follow(3, 2, 4, 5)
		c.votes(t, 3, 5, true)
		c.votes(t, 3, 2, false)
		c.Kill(2)
		c.know("", []uint64{3, 4, 5}, 3, 4, 5)
		if err := c.Member(3).Transfer(5); err != nil {
			t.Fatal(err)
		}
		c.follow(5, 3, 4, 5)
		c.Kill(5)
		c.Await(4)
		c.Kill(3)
		c.Start(5)
		c.Await(4)
	})
}

func TestTheVotersThatAMemberKeepsAreInItsList(t *testing.T) {
	onBooks(t, func(t *testing.T, c *books) {
		for _, test := range []struct{ list, want string }{
			{"1 2", "ID 3 is not among the members"},
			{"1 2 3 2", "member 2 is listed twice"},
		} {
			lacks(t, c.Member(3).SetMembers(list(test.list)), ringleader.ErrConfig, test.want)
		}
		moved := list("1 2 3")
		moved[2].Address = "member3:2"
		lacks(t, c.Member(3).SetMembers(moved), ringleader.ErrConfig, "the line of this member, 3, changes only with a restart")
		if members := c.Member(3).Status().Members; len(members) != 3 {
			t.Errorf("a wrong list is taken: %+v", members)
		}
		lacks(t, c.Member(3).AddMember(t.Context(), 4), ringleader.ErrConfig, "there is no member 4 in the list of member 3")

		// The marks of a list count only until there are agreed voters, and the list of a next life needs these.
		c.Kill(2)
		c.lists[2] = list("1 2 3*")
		lacks(t, c.TryStart(2), ringleader.ErrData, "those that vote at first are [1 2], and this directory is that of a group with [1 2 3]")
		c.lists[2] = list("1 2 3")
		c.Start(2)
		c.follow(3, 1, 2)
		rolled(t, c)
		c.Kill(2)
		c.lists[2] = list("2 3")
		lacks(t, c.TryStart(2), ringleader.ErrData, "it lacks member 4, which votes")
		c.lists[2] = list("2 3 4 5")
		c.Start(2)
		c.follow(3, 2)
	})
}

// voting is a group of four that vote, led by 3.
func voting(t *testing.T, c *books) {
	t.Helper()
	c.relist(t, "1 2 3 4*", 1, 2, 3, 4)
	c.Start(4)
	c.follow(3, 4)
	c.votes(t, 3, 4, true)
	c.know("", []uint64{1, 2, 3, 4}, 1, 2, 3, 4)
}

// A vote is removed as soon as a majority keeps that, and a line is deleted at all members then. The others hear of the removal later.
func TestAListWaitsForTheRemovalOfAVote(t *testing.T) {
	onBooks(t, func(t *testing.T, c *books) {
		voting(t, c)
		before := c.Member(3).View()
		c.Hold(func(f ringleadertest.Frame) bool { return f.From == 3 && f.To == 2 })
		c.votes(t, 3, 1, false)
		lacks(t, c.Member(2).SetMembers(list("2 3 4*")), ringleader.ErrListWaits, "it lacks member 1, which votes, as far as this member knows")
		if s := c.Member(2).Status(); s.ListLacks != 1 || len(s.Members) != 4 {
			t.Errorf("the list does not wait: %+v", s)
		}
		c.Hold(nil)
		for len(c.Held()) > 0 {
			c.Deliver(0)
		}
		if s := c.Member(2).Status(); s.ListLacks != 0 || len(s.Members) != 3 || s.Members[0].ID != 2 || s.Members[0].Address != "member2:1" {
			t.Errorf("the list does not hold: %+v", s)
		}
		c.relist(t, "2 3 4*", 3, 4)
		c.Until("member 1 is refused", func() bool {
			return strings.Contains(c.Member(1).Status().Members[1].Problem, "the list of member 2 has no member 1")
		})
		if now := c.Member(3).View(); now != before {
			t.Errorf("%+v was the leader, and now %+v", before, now)
		}
	})
}

func TestAListThatWaitsGivesWayToTheNextOne(t *testing.T) {
	onBooks(t, func(t *testing.T, c *books) {
		voting(t, c)
		lacks(t, c.Member(2).SetMembers(list("2 3 4*")), ringleader.ErrListWaits, "it lacks member 1")
		lacks(t, c.Member(2).SetMembers(list("2 4*")), ringleader.ErrListWaits, "it lacks member 1")
		c.votes(t, 3, 1, false)
		c.Until("it waits for the other", func() bool { return c.Member(2).Status().ListLacks == 3 })
		c.relist(t, "1 2 3 4*", 2)
		if s := c.Member(2).Status(); s.ListLacks != 0 || len(s.Members) != 4 {
			t.Errorf("a list waits: %+v", s)
		}
	})
}

func TestAListWaitsForNoGroupThatTheMemberHasLeft(t *testing.T) {
	onBooks(t, func(t *testing.T, c *books) {
		voting(t, c)
		c.Join(ringleader.GroupConfig{Group: "second"}, 1, 2)
		c.votes(t, 3, 1, false)
		c.know("", []uint64{2, 3, 4}, 2)
		lacks(t, c.Member(2).SetMembers(list("2 3 4*")), ringleader.ErrListWaits, "it lacks member 1")
		c.Leave("second", 2)
		c.Until("the list holds", func() bool { return len(c.Member(2).Status().Members) == 3 })
	})
}

func TestAMemberThatIsNewAndNotOnStandbyIsRefused(t *testing.T) {
	onBooks(t, func(t *testing.T, c *books) {
		c.relist(t, "1 2 3 4*", 1, 2, 3)
		c.lists[4] = list("1 2 3 4")
		c.Start(4)
		c.Until("member 4 is refused", func() bool {
			return strings.Contains(c.Member(4).Status().Members[0].Problem, "the lists of members differ in 4, standby apart: member 4 has 1 2 3 4, and member 1 has 1 2 3")
		})
		c.Kill(1)
		c.Kill(2)
		c.Until("the lease runs out", func() bool { return c.Member(3).View().Role != ringleader.Leader })
		none(t, c.Cluster, 3, 4) // 4 gives 3 no majority, of three or of four
	})
}

func TestAMemberThatLeftComesBackWithItsStoreAndWithNoOther(t *testing.T) {
	onBooks(t, func(t *testing.T, c *books) {
		rolled(t, c)
		lacks(t, c.Member(3).AddMember(t.Context(), 1), ringleader.ErrConfig, "there is no member 1 in the list of member 3")
		c.Kill(1)
		c.relist(t, "1 2 3 4*", 2, 3, 4)
		kept := c.Host(1).Disk
		c.Host(1).Disk = storage.Memory()
		c.lists[1] = list("1 2 3 4*")
		c.Start(1)
		c.Until("member 1 is refused", func() bool {
			return strings.Contains(c.Member(2).Status().Members[0].Problem, "member 1 has another store than before")
		})
		c.Kill(1)
		c.Host(1).Disk = kept
		c.Start(1)
		c.follow(3, 1)
		c.votes(t, 3, 1, true)
	})
}

func TestAVoterThatTheListLacksIsNamed(t *testing.T) {
	onBooks(t, func(t *testing.T, c *books) {
		c.relist(t, "1 2 3 4*", 2, 3, 4)
		c.Start(4)
		c.follow(3, 4)
		c.votes(t, 3, 4, true)
		c.Until("member 1 knows of the voter", func() bool {
			members := c.Member(1).Status().Members
			return len(members) == 4 && members[3].ID == 4 && members[3].Problem == "it votes, and the list of this member lacks it"
		})
		lacks(t, c.Member(1).SetMembers(list("1 2 3 5*")), ringleader.ErrListWaits, "it lacks member 4, which votes, as far as this member knows")
		c.relist(t, "1 2 3 4*", 1)
		c.Until("they communicate", func() bool { return c.Member(1).Status().Members[3].Reachable })
	})
}

// All groups of a process have one list.
func TestAMemberIsInTheListWhileItVotesInAnyGroup(t *testing.T) {
	onBooks(t, func(t *testing.T, c *books) {
		c.Join(ringleader.GroupConfig{Group: "second", Priorities: map[uint64]uint16{2: 5}}, 1, 2, 3)
		c.Until("the second group has a leader", func() bool { return c.Group("second", 2).View().Role == ringleader.Leader })
		c.relist(t, "1 2 3 4*", 1, 2, 3, 4)
		c.Start(4)
		c.follow(3, 4)
		c.votes(t, 3, 1, false)
		lacks(t, c.Group("second", 3).SetMembers(list("2 3 4*")), ringleader.ErrListWaits, "it lacks member 1, which votes")
		c.Join(ringleader.GroupConfig{Group: "second"}, 4)
		second := c.Group("second", 2)
		if err := second.AddMember(t.Context(), 4); err != nil {
			t.Fatal(err)
		}
		if err := second.RemoveMember(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		c.know("", []uint64{2, 3}, 2, 3, 4)
		c.know("second", []uint64{2, 3, 4}, 2, 3, 4)
		c.Until("the list that waited holds", func() bool { return len(c.Member(3).Status().Members) == 3 })
		c.relist(t, "2 3 4*", 2, 3, 4)
	})
}

func TestThePrioritiesOfANewListAreCompared(t *testing.T) {
	onBooks(t, func(t *testing.T, c *books) {
		members := list("1 2 3 4*")
		members[3].Priority = 7
		set := func(ids ...uint64) {
			for _, id := range ids {
				if err := c.Member(id).SetMembers(members); err != nil {
					t.Fatal(err)
				}
			}
		}
		problems := func(id uint64) (all string) {
			for _, m := range c.Member(id).Status().Members[:3] {
				all += m.Problem
			}
			return all
		}
		set(1, 2)
		c.Until("the lists differ", func() bool {
			return strings.Contains(problems(3), "priorities 4:7") && strings.Contains(problems(1), "priorities 4:7")
		})
		set(3)
		c.Until("they do not differ", func() bool { return problems(1)+problems(2)+problems(3) == "" })
		if w := c.Member(1).Status().Members[3].Weight; w != 7 {
			t.Errorf("the weight of member 4 is %d", w)
		}
	})
}
