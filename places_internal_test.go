package ringleader

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/internal/serve/book"
)

// A member that was removed stays in the list as long as it votes: the majority without it may need its answers.
func TestARemovedMemberStaysInTheListAsLongAsItVotes(t *testing.T) {
	c := Config{ID: 1, Members: []MemberAddress{{ID: 1, Address: "a:1"}, {ID: 2, Address: "b:1"}}}
	var b book.Book
	for _, line := range []book.Line{{ID: 2, Address: "b:1", Weight: 1}, {ID: 3, Address: "c:1", Weight: 1}} {
		if _, err := b.Add(line); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Remove(line.ID, line.Address); err != nil {
			t.Fatal(err)
		}
	}
	for _, voters := range [][]uint64{{1}, {1, 2}, {1, 3}, {1, 2, 3}} {
		var ids []uint64
		for _, m := range merged(&c, &b, func(id uint64) bool { return slices.Contains(voters, id) }) {
			ids = append(ids, m.ID)
		}
		if !slices.Equal(ids, voters) {
			t.Errorf("members %v vote, and the list has %v", voters, ids)
		}
	}
}

// Who may lead next hears of a death first.
func TestTheWardenTellsTheHighestRankFirst(t *testing.T) {
	b := addressBook{config: Config{ID: 3, Members: []MemberAddress{
		{ID: 1, Address: "a:1", Priority: 2}, {ID: 2, Address: "b:1"}, {ID: 3, Address: "c:1"}, {ID: 4, Address: "d.service"}, {ID: 5, Address: "e:1", Witness: true}, {ID: 6, Address: "f:1"},
	}}, found: map[uint64][]string{4: {"10.0.0.4:1", "10.0.0.5:1"}}}
	if got, want := b.others(), []string{"a:1", "f:1", "10.0.0.4:1", "10.0.0.5:1", "b:1", "e:1"}; !slices.Equal(got, want) {
		t.Errorf("it tells %q; want %q", got, want)
	}
}
