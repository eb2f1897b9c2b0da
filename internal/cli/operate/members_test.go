package operate

import (
	"strings"
	"testing"

	"ringleader.example/ringleader"
)

// The state that is printed after a removal may be of the moment before the leader has taken the vote.
func TestAMemberThatWasRemovedAndIsStillListedIsExplained(t *testing.T) {
	s := &ringleader.Status{ID: 1, Members: []ringleader.MemberStatus{{ID: 1}, {ID: 4}}}
	if got := lingers(s, 4); !strings.Contains(got, "Member 4 is removed. It is in the list until") {
		t.Errorf("%q", got)
	}
	for _, id := range []uint64{1, 5} { // itself, and one that is gone
		if got := lingers(s, id); got != "" {
			t.Errorf("member %d: %q", id, got)
		}
	}
}

// Before the first change of the voters no member has to keep them, and the state does not list them if all members vote.
func TestAVoteThatIsAsWantedIsNotAnUnknownChange(t *testing.T) {
	standby := &ringleader.Voters{Members: []uint64{1, 2, 3}}
	begun := &ringleader.Voters{Version: 1, Members: []uint64{1, 2, 3, 4}, Kept: 2}
	done := &ringleader.Voters{Version: 1, Members: []uint64{1, 2, 3, 4}, Kept: 3}
	for _, c := range []struct {
		voters      *ringleader.Voters
		id          uint64
		votes, want bool
	}{
		{nil, 2, true, true},
		{nil, 2, false, false},
		{standby, 2, true, true},
		{standby, 4, false, true},
		{standby, 4, true, false},
		{begun, 4, true, false},
		{done, 4, true, true},
	} {
		if got := changed(&ringleader.Status{Voters: c.voters}, c.id, c.votes); got != c.want {
			t.Errorf("%+v: member %d, votes %v: %v", c.voters, c.id, c.votes, got)
		}
	}
}
