package network_test

import (
	"errors"
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/property"
	"ringleader.example/ringleader/network"
)

var (
	votesOnRing     = election.Declaration{Name: "ballot", Topology: election.Ring, Votes: true, Winner: election.Voted}
	votesOnComplete = election.Declaration{Name: "ballot", Topology: election.Complete, Votes: true, Winner: election.Voted}
)

func TestVotesAreOfWhoStandsThereAndForWhoIsNamed(t *testing.T) {
	property.Check(t, func(t *property.T) {
		ids := distinct(t)
		i := network.On(ids...)
		for range ids {
			i.Votes = append(i.Votes, property.SampledFrom(ids).Draw(t, "vote"))
		}
		for _, d := range []*election.Declaration{&votesOnRing, &votesOnComplete} {
			p, err := network.Prepare(d, i)
			must(t, p, err)
			most, right := 0, uint64(0)
			for _, candidate := range ids {
				votes := 0
				for _, v := range i.Votes {
					if v == candidate {
						votes++
					}
				}
				if votes > most || votes == most && candidate > right {
					most, right = votes, candidate
				}
			}
			if winner := p.RealOf(p.Right(func(int) bool { return false })); winner != right {
				t.Fatalf("%v vote %v: %d should win, not %d", ids, i.Votes, right, winner)
			}
			for q := range ids {
				want := i.Votes[slices.Index(ids, p.Real(q))]
				if vote := p.RealOf(p.Local(q).Vote); vote != want || p.Votes()[q] != want {
					t.Fatalf("on a %s %d votes for %d, and should for %d", d.Topology, p.Real(q), vote, want)
				}
			}
		}
	})
}

func TestWithoutVotesEachVotesForItself(t *testing.T) {
	for _, d := range []*election.Declaration{&votesOnRing, &votesOnComplete} {
		p, err := network.Prepare(d, network.On(30, 10, 20))
		if err != nil {
			t.Fatal(err)
		}
		for q := range 3 {
			if l := p.Local(q); l.Vote != l.ID {
				t.Errorf("on a %s %d votes for %d", d.Topology, l.ID, l.Vote)
			}
		}
		if right := p.RealOf(p.Right(func(int) bool { return true })); right != 30 {
			t.Errorf("on a %s %d should win", d.Topology, right)
		}
	}
}

func TestVotesThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		d     *election.Declaration
		ids   election.Arrangement
		votes []uint64
		says  string
	}{
		{&onRing, election.List{1, 2}, []uint64{1, 2}, "cannot run ring: it uses no votes"},
		{&votesOnRing, election.List{4, 2}, []uint64{4}, "cannot run ballot: each process has one vote, so 2 have 2, not 1"},
		{&votesOnRing, election.List{4, 2}, []uint64{}, "cannot run ballot: each process has one vote, so 2 have 2, not 0"},
		{&votesOnRing, election.List{4, 2}, []uint64{4, 1}, "cannot run ballot: process 2 votes for 1, which does not exist; the 2 processes have identifiers from 2 to 4"},
		{&votesOnRing, upTo(2), []uint64{0, 1}, "cannot run ballot: process 1 votes for 0, which does not exist; the 2 processes have identifiers from 1 to 2"},
		{&votesOnComplete, election.List{4, 2}, []uint64{5, 2}, "cannot run ballot: process 4 votes for 5, which does not exist; the 2 processes have identifiers from 2 to 4"},
		{&votesOnRing, upTo(election.MaxVoters + 1), nil, "cannot run ballot: at most 65536 processes can vote, not 65537"},
	} {
		_, err := network.Prepare(c.d, network.Setup{IDs: c.ids, Votes: c.votes})
		if err == nil || !errors.Is(err, network.ErrSetup) || err.Error() != c.says {
			t.Errorf("%v, votes %v: %v, want %s", c.ids, c.votes, err, c.says)
		}
	}
}
