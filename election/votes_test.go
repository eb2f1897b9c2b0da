package election_test

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/property"
)

// ballots draws votes for a few candidates.
func ballots(t *property.T, label string) []election.ID {
	return property.SliceOfN(property.Custom(func(t *property.T) election.ID { return election.ID(1 + property.IntRange(0, 6).Draw(t, "candidate")) }), 0, 12).Draw(t, label)
}

func TestATallyCountsTheVotesOfEachCandidate(t *testing.T) {
	property.Check(t, func(t *property.T) {
		votes := ballots(t, "votes")
		has := map[election.ID]uint32{}
		for _, v := range votes {
			has[v]++
		}
		tally := election.TallyOf(votes...)
		if len(tally) != len(has) {
			t.Fatalf("%v has shares %v", votes, tally)
		}
		for k, s := range tally {
			if has[s.Candidate] != s.Votes || k > 0 && tally[k-1].Candidate >= s.Candidate {
				t.Fatalf("%v has shares %v", votes, tally)
			}
		}
	})
}

func TestASumOfTalliesIsTheTallyOfAllVotesAndChangesNeither(t *testing.T) {
	property.Check(t, func(t *property.T) {
		a, b := ballots(t, "a"), ballots(t, "b")
		first, second := election.TallyOf(a...), election.TallyOf(b...)
		if sum := first.Plus(second); !slices.Equal(sum, election.TallyOf(slices.Concat(a, b)...)) {
			t.Fatalf("%v + %v = %v", first, second, sum)
		}
		if !slices.Equal(first, election.TallyOf(a...)) || !slices.Equal(second, election.TallyOf(b...)) {
			t.Fatalf("a sum of %v and %v changed them: %v, %v", a, b, first, second)
		}
	})
}

func TestTheWinnerHasTheMostVotesAndOfEquallyManyTheLargestIdentifier(t *testing.T) {
	for _, c := range []struct {
		votes  []election.ID
		winner election.ID
	}{
		{nil, 0},
		{[]election.ID{7}, 7},
		{[]election.ID{1, 2, 3}, 3},
		{[]election.ID{3, 3, 5, 5, 1}, 5},
		{[]election.ID{1, 1, 5}, 1},
		{[]election.ID{4, 2, 4, 2, 9}, 4},
	} {
		if winner := election.TallyOf(c.votes...).Winner(); winner != c.winner {
			t.Errorf("%v elect %d, want %d", c.votes, winner, c.winner)
		}
	}
}
