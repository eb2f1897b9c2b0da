package codec

import (
	"bytes"
	"errors"
	"reflect"
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

// ballots keeps a vote and some names, and knows its identifier at birth.
var ballots = election.Algorithm[ballot, slip]{
	Declaration: election.Declaration{Name: "ballots"},
	New:         func(l election.Local) ballot { return ballot{Round: uint32(l.ID)} },
	Durable:     func(b *ballot) any { return &b.Keeps },
}

func mustPlans(t *testing.T) Plans {
	plans, err := ForAlgorithm(&ballots)
	if err != nil {
		t.Fatal(err)
	}
	return plans
}

func TestStatesMessagesAndWhatIsKeptAreReadAsTheyWereWritten(t *testing.T) {
	plans, now := mustPlans(t), election.Units(10)
	state := ballot{Round: 1, Until: election.DeadlineIn(election.Units(5), now)}
	state.Keeps.Names = []election.ID{4}
	var read, revived ballot
	rest, err := plans.State.Decode(plans.State.Append(nil, At(&state), now), At(&read), now)
	if err != nil || len(rest) > 0 || plans.State.Text(At(&read), now, plainly) != "Round 1, Keeps {Names [4]}, Until in 5" {
		t.Errorf("a state: %+v, %v, %v", read, rest, err)
	}
	rest, err = plans.DecodeDurable(plans.AppendDurable(nil, ballots.Durable(&state)), ballots.Durable(&revived))
	if err != nil || len(rest) > 0 || plans.State.Text(At(&revived), now, plainly) != "Keeps {Names [4]}" {
		t.Errorf("what is kept: %+v, %v, %v", revived, rest, err)
	}
	message, got := slip{3, true}, slip{}
	rest, err = plans.Message.Decode(plans.Message.Append(nil, At(&message), now), At(&got), now)
	if err != nil || len(rest) > 0 || got != message || plans.Message.MessageText(At(&got), "ballot", plainly) != "Vote 3, Sure true" {
		t.Errorf("a message: %+v, %v, %v", got, rest, err)
	}
	if plans.Message.Size() != 8 || plans.State.Size() != 56 {
		t.Errorf("a message takes %d bytes, a state %d", plans.Message.Size(), plans.State.Size())
	}
	if !plans.State.Ages() || plans.Message.Ages() {
		t.Error("a state with a deadline ages, and a message without one does not")
	}
}

func plainly(id election.ID) uint64 { return uint64(id) }

func refusal[S, M any](kept func(*S) any) error {
	_, err := ForAlgorithm(&election.Algorithm[S, M]{Declaration: election.Declaration{Name: "mine"}, Durable: kept})
	return err
}

func refusalOn[M any](topology election.Topology) error {
	_, err := ForAlgorithm(&election.Algorithm[ballot, M]{Declaration: election.Declaration{Name: "mine", Topology: topology}})
	return err
}

func TestAnAlgorithmWhoseTypesAreNotPlainIsRefusedWithTheReason(t *testing.T) {
	elsewhere := struct{ Vote election.ID }{}
	for _, test := range []struct {
		err  error
		want string
	}{
		{refusal[struct{ Name string }, slip](nil), `algorithm "mine": state: not a plain value: struct { Name string }.Name is a string`},
		{refusal[ballot, struct{ Who *ballot }](nil), `algorithm "mine": message: not a plain value: struct { Who *codec.ballot }.Who is a ptr`},
		{refusal[ballot, struct{ A, B, C, D, E uint8 }](nil), `algorithm "mine": message: not a plain value: more than 4 fields or 32 bytes`},
		{refusal[ballot, struct{ A [33]uint8 }](nil), `algorithm "mine": message: not a plain value: more than 4 fields or 32 bytes`},
		{refusalOn[struct{ A [33]uint8 }](election.Tree), `algorithm "mine": message: not a plain value: more than 4 fields or 32 bytes`},
		{refusalOn[struct{ A [160]uint8 }](election.Complete), ""},
		{refusalOn[struct{ A [161]uint8 }](election.UnknownNeighbours), `algorithm "mine": message: not a plain value: more than 160 bytes`},
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
			`algorithm "mine": Durable: not a plain value: codec.ballot.Until is a Deadline, which only the state of one life may hold`,
		},
		{refusal[ballot, slip](func(b *ballot) any { return b.Round }), `algorithm "mine": Durable: not a plain value: a uint32, not a pointer into the state`},
		{refusal[ballot, slip](func(*ballot) any { return nil }), `algorithm "mine": Durable: not a plain value: a <nil>, not a pointer into the state`},
		{refusal[ballot, slip](func(*ballot) any { return (*uint32)(nil) }), `algorithm "mine": Durable: not a plain value: a *uint32, not a pointer into the state`},
		{refusal[ballot, slip](func(b *ballot) any { round := b.Round; return &round }), `algorithm "mine": Durable: not a plain value: a *uint32, not a pointer into the state`},
		{
			refusal[ballot, slip](func(*ballot) any { return &elsewhere }),
			`algorithm "mine": Durable: not a plain value: a *struct { Vote election.ID }, not a pointer into the state`,
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

// timed has constants at two depths, among what varies.
type timed struct {
	ID     election.ID
	Wait   election.Ticks `election:"constant"`
	Inside struct {
		Members uint32 `election:"constant"`
		Heard   []bool
	}
	Until election.Deadline
	Size  uint16 `election:"constant"`
}

func TestConstantFieldsAreLeftOutOrTakenAlone(t *testing.T) {
	plan, err := Of(reflect.TypeFor[timed](), true)
	if err != nil {
		t.Fatal(err)
	}
	now := election.Units(3)
	a := timed{ID: 7, Wait: election.Units(5), Until: election.DeadlineIn(election.Units(4), now), Size: 9}
	a.Inside.Members, a.Inside.Heard = 8, []bool{true, false}
	other := a
	other.Wait, other.Inside.Members, other.Size = election.Units(50), 80, 90

	whole, varying, constant := plan.Append(nil, At(&a), now), plan.AppendPart(nil, At(&a), now, Varying), plan.AppendPart(nil, At(&a), now, Constant)
	if !bytes.Equal(whole, plan.AppendPart(nil, At(&a), now, Whole)) || len(varying)+len(constant) != len(whole) || len(constant) != 16+4+2 {
		t.Errorf("%d bytes in all, of which %d vary and %d are constant", len(whole), len(varying), len(constant))
	}
	if !bytes.Equal(varying, plan.AppendPart(nil, At(&other), now, Varying)) {
		t.Error("a constant field is in what varies")
	}
	if bytes.Equal(constant, plan.AppendPart(nil, At(&other), now, Constant)) {
		t.Error("constant fields are not in what is constant")
	}
	changed := a
	changed.ID, changed.Until, changed.Inside.Heard = 1, election.Deadline{}, nil
	if !bytes.Equal(constant, plan.AppendPart(nil, At(&changed), now, Constant)) {
		t.Error("what varies is in what is constant")
	}
	rest, err := plan.DecodePart(varying, At(&other), now, Varying)
	if err != nil || len(rest) > 0 || other.ID != 7 || other.Size != 90 || other.Inside.Members != 80 || other.Wait != election.Units(50) || other.Until != a.Until {
		t.Errorf("what varies was read as %+v, %v, %v", other, rest, err)
	}
	if _, err := plan.DecodePart(varying[:len(varying)-1], At(&other), now, Varying); !errors.Is(err, ErrDecode) {
		t.Errorf("a part that ends early: %v", err)
	}
	if _, err := Of(reflect.TypeFor[[]timed](), true); !errors.Is(err, ErrPlain) {
		t.Errorf("a list of values with constant fields: %v", err)
	}
}

func TestPastDeadlinesAreLeftOutOfATextAsZeroOnesAre(t *testing.T) {
	type shares struct {
		Round uint32
		Until [2]election.Deadline
	}
	plan, err := Of(reflect.TypeFor[shares](), true)
	if err != nil {
		t.Fatal(err)
	}
	v := shares{5, [2]election.Deadline{election.DeadlineIn(election.Units(3), election.Ticks{}), election.DeadlineIn(election.Units(9), election.Ticks{})}}
	for now, want := range map[uint64]string{4: "Round 5, Until [in 0 in 5]", 9: "Round 5"} {
		if got := plan.Text(At(&v), election.Units(now), plainly); got != want {
			t.Errorf("at %d: %q; want %q", now, got, want)
		}
	}
}
