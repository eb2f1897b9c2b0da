package network_test

import (
	"errors"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

func TestADecisionThatTheTaskAllowsIsMade(t *testing.T) {
	type decision = network.Decision
	const self = 9
	lead := func(term election.Term) election.Effect { return election.Effect{Op: election.Lead, Term: term} }
	follow := func(id election.ID, term election.Term) election.Effect {
		return election.Effect{Op: election.Follow, ID: id, Term: term}
	}
	doubt := election.Effect{Op: election.NoLeader}
	leader := func(term election.Term) decision { return decision{term, self, network.Leader} }
	follower := func(id election.ID, term election.Term) decision { return decision{term, id, network.Follower} }
	undecided := func(term election.Term) decision { return decision{Term: term} }
	for _, test := range []struct {
		task   election.Task
		before decision
		effect election.Effect
		after  decision
		err    error
		text   string
	}{
		{election.Once, undecided(0), lead(0), leader(0), nil, ""},
		{election.Once, undecided(0), follow(3, 0), follower(3, 0), nil, ""},
		{election.Once, undecided(0), follow(0, 0), follower(0, 0), nil, ""},
		{election.Once, undecided(0), doubt, undecided(0), network.ErrIrrevocable, "decided twice: was undecided, then undecided"},
		{election.Once, leader(0), lead(0), leader(0), network.ErrIrrevocable, "decided twice: was leader, then leader"},
		{election.Once, leader(0), follow(3, 0), follower(3, 0), network.ErrIrrevocable, "decided twice: was leader, then follower"},
		{election.Once, follower(3, 0), follow(3, 0), follower(3, 0), network.ErrIrrevocable, "decided twice: was follower, then follower"},
		{election.Once, follower(3, 0), doubt, undecided(0), network.ErrIrrevocable, "decided twice: was follower, then undecided"},
		{election.Once, undecided(0), lead(1), leader(1), network.ErrTerm, "went back on a term: one-shot decisions have term 0, not 1"},

		{election.Service, undecided(0), lead(5), leader(5), nil, ""},
		{election.Service, leader(5), lead(5), leader(5), nil, ""}, // a renewed lease
		{election.Service, leader(5), doubt, undecided(5), nil, ""},
		{election.Service, undecided(5), doubt, undecided(5), nil, ""},
		{election.Service, undecided(5), follow(3, 5), follower(3, 5), nil, ""},
		{election.Service, leader(5), follow(3, 6), follower(3, 6), nil, ""},
		{election.Service, follower(3, 5), follow(3, 5), follower(3, 5), nil, ""},
		{election.Service, follower(3, 0), follow(4, 0), follower(4, 0), nil, ""}, // without terms
		{election.Service, leader(0), follow(4, 0), follower(4, 0), nil, ""},
		{election.Service, leader(5), follow(3, 5), follower(3, 5), network.ErrTerm, "went back on a term: two leaders in term 5"},
		{election.Service, follower(3, 5), lead(5), leader(5), network.ErrTerm, "went back on a term: two leaders in term 5"},
		{election.Service, follower(3, 5), follow(4, 5), follower(4, 5), network.ErrTerm, "went back on a term: two leaders in term 5"},
		{election.Service, leader(5), lead(4), leader(4), network.ErrTerm, "went back on a term: 4 after 5"},
		{election.Service, undecided(5), follow(3, 0), follower(3, 0), network.ErrTerm, "went back on a term: 0 after 5"},

		{election.Groups, leader(5), follow(3, 5), follower(3, 5), nil, ""}, // a leader and its term are the name
		{election.Groups, follower(3, 5), lead(4), leader(4), nil, ""},
		{election.Groups, follower(3, 5), doubt, undecided(5), nil, ""},

		{election.Once, leader(0), election.Effect{Op: election.SetTimer}, leader(0), nil, ""},
		{election.Service, leader(5), election.Effect{Op: election.StopTimer, Term: 1}, leader(5), nil, ""},
	} {
		d := test.before
		err := d.Apply(test.task, test.effect, self)
		if d != test.after || !errors.Is(err, test.err) || err == nil && test.err != nil || err != nil && err.Error() != test.text {
			t.Errorf("%s, %+v, then %+v: %+v, %v", test.task, test.before, test.effect, d, err)
		}
	}
}
