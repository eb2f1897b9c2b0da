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
