package plain

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
)

type ballot struct {
	Round uint32
	Keeps struct {
		Vote  election.ID
		Names []election.ID
	}
	Until election.Deadline
}

type slip struct {
	Vote election.ID
	Sure bool
}

// ballots keeps a vote and some names, and knows at birth who it is.
var ballots = election.Algorithm[ballot, slip]{
	Declaration: election.Declaration{Name: "ballots"},
	New:         func(l election.Local) ballot { return ballot{Round: uint32(l.ID)} },
	Kept:        func(b *ballot) any { return &b.Keeps },
}

func mustPlans(t *testing.T) Plans[ballot, slip] {
	plans, err := ForAlgorithm(&ballots)
	if err != nil {
		t.Fatal(err)
	}
	return plans
}

func TestACrashLeavesWhatWasKeptAndNothingElse(t *testing.T) {
	plans, local := mustPlans(t), election.Local{ID: 7}
	old := ballots.New(local)
	old.Round, old.Until = 99, election.DeadlineIn(election.Units(5), election.Ticks{})
	old.Keeps.Vote, old.Keeps.Names = 3, []election.ID{1, 2}

	reborn := plans.Reborn(&ballots, local, &old)
	if reborn.Round != 7 || reborn.Until != (election.Deadline{}) {
		t.Errorf("it remembers what it did not keep: %+v", reborn)
	}
	if reborn.Keeps.Vote != 3 || !slices.Equal(reborn.Keeps.Names, []election.ID{1, 2}) {
		t.Errorf("it forgot what it kept: %+v", reborn)
	}
	reborn.Keeps.Names[0] = 9
	if old.Keeps.Names[0] != 1 {
		t.Error("two lives share a slice")
	}

	forgetful := ballots
	forgetful.Kept = nil
	none, err := ForAlgorithm(&forgetful)
	if err != nil {
		t.Fatal(err)
	}
	if reborn := none.Reborn(&forgetful, local, &old); reborn.Round != 7 || reborn.Keeps.Vote != 0 || reborn.Keeps.Names != nil {
		t.Errorf("one that keeps nothing is reborn as %+v", reborn)
	}
	if b := none.AppendKept(nil, &forgetful, &old); len(b) > 0 {
		t.Errorf("one that keeps nothing writes %v", b)
	}
}

func TestStatesMessagesAndWhatIsKeptAreReadAsTheyWereWritten(t *testing.T) {
	plans, now := mustPlans(t), election.Units(10)
	state := ballot{Round: 1, Until: election.DeadlineIn(election.Units(5), now)}
	state.Keeps.Names = []election.ID{4}
	var read, revived ballot
	rest, err := plans.DecodeState(plans.AppendState(nil, &state, now), &read, now)
	if err != nil || len(rest) > 0 || plans.StateText(&read, now, plainly) != "Round 1, Keeps {Names [4]}, Until in 5" {
		t.Errorf("a state: %+v, %v, %v", read, rest, err)
	}
	rest, err = plans.DecodeKept(plans.AppendKept(nil, &ballots, &state), &ballots, &revived)
	if err != nil || len(rest) > 0 || plans.StateText(&revived, now, plainly) != "Keeps {Names [4]}" {
		t.Errorf("what is kept: %+v, %v, %v", revived, rest, err)
	}
	message, got := slip{3, true}, slip{}
	rest, err = plans.DecodeMessage(plans.AppendMessage(nil, &message), &got)
	if err != nil || len(rest) > 0 || got != message || plans.MessageText(&got, plainly) != "Vote 3, Sure" {
		t.Errorf("a message: %+v, %v, %v", got, rest, err)
	}
	if plans.MessageSize() != 8 || plans.StateSize() != 56 {
		t.Errorf("a message takes %d bytes, a state %d", plans.MessageSize(), plans.StateSize())
	}
}

func plainly(id election.ID) uint64 { return uint64(id) }

func refusal[S, M any](kept func(*S) any) error {
	_, err := ForAlgorithm(&election.Algorithm[S, M]{Declaration: election.Declaration{Name: "mine"}, Kept: kept})
	return err
}

func TestAnAlgorithmWhoseTypesAreNotPlainIsRefusedAndToldWhy(t *testing.T) {
	elsewhere := struct{ Vote election.ID }{}
	for _, test := range []struct {
		err  error
		want string
	}{
		{refusal[struct{ Name string }, slip](nil), `algorithm "mine": state: not a plain value: struct { Name string }.Name is a string`},
		{refusal[ballot, struct{ Who *ballot }](nil), `algorithm "mine": message: not a plain value: struct { Who *plain.ballot }.Who is a ptr`},
		{refusal[ballot, struct{ A, B, C, D, E uint8 }](nil), `algorithm "mine": message: not a plain value: more than 4 fields or 32 bytes`},
		{refusal[ballot, struct{ A [33]uint8 }](nil), `algorithm "mine": message: not a plain value: more than 4 fields or 32 bytes`},
		{refusal[ballot, struct {
			A [31]uint8
			B bool
		}](nil), ""},
		{refusal[ballot, struct{ A, B, C, D uint64 }](nil), ""},
		{
			refusal[ballot, election.Deadline](nil),
			`algorithm "mine": message: not a plain value: election.Deadline is a Deadline, which only the state of one life may hold`,
		},
		{
			refusal[ballot, slip](func(b *ballot) any { return b }),
			`algorithm "mine": Kept: not a plain value: plain.ballot.Until is a Deadline, which only the state of one life may hold`,
		},
		{refusal[ballot, slip](func(b *ballot) any { return b.Round }), `algorithm "mine": Kept: not a plain value: a uint32, not a pointer into the state`},
		{refusal[ballot, slip](func(*ballot) any { return nil }), `algorithm "mine": Kept: not a plain value: a <nil>, not a pointer into the state`},
		{refusal[ballot, slip](func(*ballot) any { return (*uint32)(nil) }), `algorithm "mine": Kept: not a plain value: a *uint32, not a pointer into the state`},
		{refusal[ballot, slip](func(b *ballot) any { round := b.Round; return &round }), `algorithm "mine": Kept: not a plain value: a *uint32, not a pointer into the state`},
		{
			refusal[ballot, slip](func(*ballot) any { return &elsewhere }),
			`algorithm "mine": Kept: not a plain value: a *struct { Vote election.ID }, not a pointer into the state`,
		},
		{refusal[ballot, slip](func(b *ballot) any { return &b.Round }), ""},
		{refusal[ballot, slip](func(b *ballot) any { return &b.Keeps.Names }), ""},
		{refusal[slip, slip](func(s *slip) any { return s }), ""},
	} {
		switch {
		case test.want == "" && test.err != nil:
			t.Errorf("refused: %v", test.err)
		case test.want != "" && (!errors.Is(test.err, ErrPlain) || strings.TrimSpace(test.err.Error()) != test.want):
			t.Errorf("%v\nwant %s", test.err, test.want)
		}
	}
}
