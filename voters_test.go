package ringleader_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
)

// onStandby runs a test on a cluster of four, of which the fourth is on standby and the third leads.
func onStandby(t *testing.T, test func(t *testing.T, c *ringleadertest.Cluster)) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{Members: []ringleader.MemberAddress{{ID: 4, Standby: true}}}, 1, 2, 3, 4)
		defer c.Close()
		c.Start(1, 2, 3, 4)
		c.Await(3)
		test(t, c)
	})
}

// none checks that no member leads for a long time.
func none(t *testing.T, c *ringleadertest.Cluster, ids ...uint64) {
	t.Helper()
	for range 2000 {
		c.Pass(time.Millisecond)
		for _, id := range ids {
			if v := c.Member(id).View(); v.Role == ringleader.Leader {
				t.Fatalf("%+v", v)
			}
		}
	}
}

func TestAMemberOnStandbyHasNoVoteUntilItIsAdded(t *testing.T) {
	onStandby(t, func(t *testing.T, c *ringleadertest.Cluster) {
		c.Kill(1)
		c.Kill(2)
		none(t, c, 4)
		if v := c.Member(3).View(); v.Known {
			t.Fatalf("one of three voters leads: %+v", v)
		}
		for id, want := range map[uint64]string{
			3: "1 of 3 members with a vote can communicate with this one, itself included, and a leader needs the votes of 2",
			4: "this member has no vote, and never leads: it is on standby, or was removed",
		} {
			if why := c.Member(id).Status().Why; !slices.ContainsFunc(why, func(reason string) bool { return strings.HasPrefix(reason, want) }) {
				t.Errorf("%d: %q", id, why)
			}
		}
		c.Start(1)
		leader := c.AwaitAny()
		if err := c.Member(leader).AddMember(t.Context(), 4); err != nil {
			t.Fatal(err)
		}
		c.Kill(leader)
		none(t, c, 4-leader, 4) // two of four are no majority
		c.Start(2)
		c.AwaitAny()
	})
}

func TestAVoteThatIsAsWantedBeforeAnyChangeIsNoError(t *testing.T) {
	onStandby(t, func(t *testing.T, c *ringleadertest.Cluster) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for _, id := range []uint64{1, 3} {
			if err := c.Member(3).AddMember(ctx, id); err != nil {
				t.Errorf("%d votes: %v", id, err)
			}
		}
		if err := c.Member(3).RemoveMember(ctx, 4); err != nil {
			t.Errorf("4 is on standby: %v", err)
		}
	})
}

func TestARemovedMemberFollowsAndDoesNotCount(t *testing.T) {
	onStandby(t, func(t *testing.T, c *ringleadertest.Cluster) {
		for _, id := range []uint64{2, 1} { // 1 is the last one that is removed
			if err := c.Member(3).RemoveMember(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		c.Kill(1)
		c.Kill(2)
		c.Pass(time.Second)
		c.Await(3) // alone it is a majority
		c.Start(1, 2)
		c.Kill(3)
		none(t, c, 1, 2, 4)
		c.Start(3)
		c.Await(3)
		if got := c.Member(1).Status(); got.Voters == nil || got.Voters.Version != 2 || len(got.Voters.Members) != 1 || !got.Members[0].Standby {
			t.Errorf("%+v of %+v", got.Voters, got)
		}
	})
}

func TestVotersSurviveARestartOfTheWholeGroup(t *testing.T) {
	onStandby(t, func(t *testing.T, c *ringleadertest.Cluster) {
		if err := c.Member(3).AddMember(t.Context(), 4); err != nil {
			t.Fatal(err)
		}
		if err := c.Member(3).RemoveMember(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		for _, id := range []uint64{1, 2, 3, 4} {
			c.Kill(id)
		}
		c.Start(1, 4)
		none(t, c, 1, 4) // 4 is one of three voters, and 1 is none
		c.Start(2)
		leader := c.Member(c.AwaitAny())
		if got := leader.Status().Voters; got.Version != 2 || got.Kept != 0 {
			t.Errorf("%+v", got)
		}
		if err := leader.AddMember(t.Context(), 4); err != nil { // it is one already: a majority keeps that
			t.Fatal(err)
		}
		if got := leader.Status().Voters; got.Version != 2 || got.Kept < 2 {
			t.Errorf("%+v", got)
		}
	})
}

func TestALeaderThatReachesNoMajorityChangesNoVoters(t *testing.T) {
	onStandby(t, func(t *testing.T, c *ringleadertest.Cluster) {
		c.Cut([]uint64{1, 2}, []uint64{3, 4})
		leader := c.Member(3)
		lacks(t, leader.AddMember(t.Context(), 4), ringleader.ErrUnknown, "leads no more")
		c.Await(2)
		for _, id := range []uint64{1, 3} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			err := c.Member(2).RemoveMember(ctx, id)
			if id == 1 {
				lacks(t, err, ringleader.ErrUnknown, "deadline") // 2 and 3 would be the voters, and 3 does not answer
			} else if err != nil {
				t.Fatal(err)
			}
		}
		c.Heal()
		c.Await(2)
		if got := c.Member(2).Status().Voters; got.Version != 1 || len(got.Members) != 2 {
			t.Errorf("%+v", got)
		}
		c.Until("all know the voters", func() bool {
			for _, id := range []uint64{1, 3, 4} {
				if c.Member(id).Status().Voters.Version != 1 {
					return false
				}
			}
			return true
		})
	})
}

func TestAChangeThatHasNotBegunIsWithdrawnWithItsCall(t *testing.T) {
	onStandby(t, func(t *testing.T, c *ringleadertest.Cluster) {
		c.Kill(4)
		c.Kill(1)
		c.Until("the grant of the dead voter has run out", func() bool { // it may count as a voice for the change
			grant := c.Member(3).Status().Members[0].Grant
			return grant == nil || *grant <= 0
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		lacks(t, c.Member(3).AddMember(ctx, 4), ringleader.ErrUnknown, "deadline") // 2 of 4 would be no majority
		c.Start(1, 4)
		c.Pass(time.Second)
		c.Await(3)
		if got := c.Member(3).Status().Voters; got.Version != 0 || len(got.Members) != 3 {
			t.Errorf("%+v", got)
		}
	})
}

func TestMembersOnStandbyHaveTheLargestIdentifiersAndDoNotLead(t *testing.T) {
	for want, c := range map[string]ringleader.Config{
		"member 1 is on standby, and member 2 is not: members on standby have the largest identifiers": {Members: []ringleader.MemberAddress{{ID: 1, Standby: true}, {ID: 2}}},
		"all members are witnesses or on standby, so none can lead":                                    {Members: []ringleader.MemberAddress{{ID: 1, Witness: true}, {ID: 2, Standby: true}}},
		"or is on standby, which bully does not know":                                                  {Members: []ringleader.MemberAddress{{ID: 1}, {ID: 2, Standby: true}}, Algorithm: ringleader.Bully},
	} {
		lacks(t, c.Check(), ringleader.ErrConfig, want)
	}
}

func TestWhoMayChangeWhichVoters(t *testing.T) {
	onStandby(t, func(t *testing.T, c *ringleadertest.Cluster) {
		lacks(t, c.Member(1).AddMember(t.Context(), 4), ringleader.ErrNotLeader, "member 3 leads")
		lacks(t, c.Member(3).RemoveMember(t.Context(), 3), ringleader.ErrConfig, "does not remove itself")
		lacks(t, c.Member(3).AddMember(t.Context(), 5), ringleader.ErrConfig, "no member 5")
		lacks(t, c.Member(3).Transfer(4), ringleader.ErrConfig, "member 4 has no vote")
		c.Cut()
		c.Pass(time.Second)
		lacks(t, c.Member(3).AddMember(t.Context(), 4), ringleader.ErrNotLeader, "knows no leader")
	})
}
