package process

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/codec"
	"ringleader.example/ringleader/network"
)

// probe returns the state in a slot, with the type that the test knows.
func (ps *Processes) probe(slot int) *probe { return (*probe)(ps.store.state(slot)) }

func (ps *Processes) note(m Message) note { return *(*note)(ps.store.message(m)) }

func (ps *Processes) hold(n note) Message {
	*(*note)(ps.store.blank()) = n
	return ps.store.hold()
}

// held returns the number of held messages.
func held(ps *Processes) int { return int(ps.pool.made) - len(ps.pool.free) }

func TestEachEventCallsItsFunctionWithItsArguments(t *testing.T) {
	program, placed := hidden(t, probing())
	ps := program.New(placed, false, false)
	m := ps.hold(note{9, []uint8{8, 7}})
	ps.Commands(election.Command{Order: 3, Member: 5, Number: 6})
	for _, test := range []struct {
		event Event
		want  []uint32
	}{
		{Event{What: Started}, []uint32{1}},
		{Event{What: Received, Port: 1, Kind: news, Message: m}, []uint32{2, 1, 1, 9, 8, 7}},
		{Event{What: Expired, Timer: 1}, []uint32{3, 1}},
		{Event{What: Recovered}, []uint32{4}},
		{Event{What: Suspected, Port: 1}, []uint32{5, 1}},
		{Event{What: Trusted, Port: 1}, []uint32{6, 1}},
		{Event{What: Commanded}, []uint32{7, 3, 5, 6}},
	} {
		ps.Born(1, 1)
		ps.Step(1, 1, test.event, election.Ticks{})
		if got := ps.probe(1).Log; !slices.Equal(got, test.want) {
			t.Errorf("%+v: %v; want %v", test.event, got, test.want)
		}
	}
	if len(ps.probe(0).Log)+len(ps.probe(2).Log) > 0 {
		t.Error("a step changed the states of others")
	}
}

func TestAMessageIsReceivedAsByAStep(t *testing.T) {
	program, placed := hidden(t, sending(1))
	ps := program.New(placed, false, false)
	ps.Receive(2, 2, 1, news, ps.hold(note{9, []uint8{8, 7}}), election.Ticks{})
	if got := ps.probe(2).Log; !slices.Equal(got, []uint32{2, 1, 1, 9, 8, 7}) {
		t.Errorf("received %v", got)
	}
	now := election.Units(9)
	a := probing()
	a.Receive = func(p *probe, _ election.Port, _ election.Kind, _ note, out out) {
		out.Send(1, vote, note{Number: 6})
		out.NoLeader()
		p.Until = out.Deadline(election.Units(4))
	}
	program, placed = hidden(t, a)
	ps = program.New(placed, true, false)
	e := ps.Receive(2, 2, 1, news, ps.hold(note{}), now)
	if e.First != 4 || len(e.Sent) != 1 || e.Sent[0].On() != 5 || e.Sent[0].Kind() != vote || e.Sent[0].Phase != 6 || len(e.Other) != 1 || e.Other[0].Op != election.NoLeader {
		t.Errorf("effects %+v", e)
	}
	if got := ps.probe(2).Until.Left(now); got != election.Units(4) {
		t.Errorf("a deadline in 4 units is in %s", got)
	}
}

// A small message needs no storage: any number of holds is possible, without a release.
func TestASmallMessageIsHeldAsItIs(t *testing.T) {
	type small struct {
		A uint32
		B uint16
		C bool
	}
	a := election.Algorithm[probe, small]{
		Declaration: probing().Declaration,
		New:         probing().New,
		Start: func(_ *probe, out *election.Out[small]) {
			out.Send(1, vote, small{7, 8, true})
			out.Send(0, news, small{9, 10, false})
		},
		Receive: func(p *probe, _ election.Port, kind election.Kind, m small, out *election.Out[small]) {
			p.note(uint32(kind), m.A, uint32(m.B))
			out.Send(0, kind, small{m.A + 1, m.B + 1, !m.C})
		},
		Timeout: func(*probe, election.Timer, *election.Out[small]) {}, Recover: func(*probe, *election.Out[small]) {},
		Durable: probing().Durable, Phase: func(_ election.Kind, m small) int { return int(m.B) },
	}
	program, err := Of(&a)
	if err != nil {
		t.Fatal(err)
	}
	placed, err := network.Prepare(program.Declaration, network.On(1, 2, 3))
	if err != nil {
		t.Fatal(err)
	}
	for _, phases := range []bool{false, true} {
		ps := program.New(placed, phases, false)
		before := ps.Bytes()
		sent := slices.Clone(ps.Step(0, 0, Event{What: Started}, election.Ticks{}).Sent)
		want := []string{"A 7, B 8, C true", "A 9, B 10, C false"}
		for i := range sent {
			if got := ps.Contents(sent[i].Kind(), sent[i].Message); got != want[i] {
				t.Errorf("sent %q; want %q", got, want[i])
			}
			ps.Hold(sent[i].Message)
			ps.Release(sent[i].Message)
			ps.Release(sent[i].Message)
		}
		if phase := sent[0].Phase; phases && phase != 8 || !phases && phase != -1 || sent[1].Phase != -1 {
			t.Errorf("phases %d and %d", phase, sent[1].Phase)
		}
		m, err := ps.Decode(ps.AppendMessage(nil, sent[0].Message))
		if err != nil {
			t.Fatal(err)
		}
		answer := ps.Receive(1, 1, 0, vote, m, election.Ticks{}).Sent
		if got := ps.Contents(answer[0].Kind(), answer[0].Message); len(answer) != 1 || got != "A 8, B 9, C false" || answer[0].On() != 2 {
			t.Errorf("answered %q, %+v", got, answer)
		}
		if got := ps.probe(1).Log; !slices.Equal(got, []uint32{uint32(vote), 7, 8}) {
			t.Errorf("received %v", got)
		}
		if ps.Bytes() != before {
			t.Errorf("%d bytes, and %d before any message", ps.Bytes(), before)
		}
	}
}

func TestAnEventThatAnAlgorithmDoesNotHandleIsNothing(t *testing.T) {
	a := probing()
	a.Suspect, a.Trust, a.Command = nil, nil, nil
	program, placed := hidden(t, a)
	ps := program.New(placed, false, false)
	for _, what := range []What{Suspected, Trusted, Commanded} {
		if e := ps.Step(0, 0, Event{What: what}, election.Ticks{}); len(e.Sent)+len(e.Other)+len(ps.probe(0).Log) > 0 {
			t.Errorf("event %d: %+v", what, e)
		}
	}
}

func TestProcessesAreBornIntoTheSlotsOfTheirPositions(t *testing.T) {
	program, placed := hidden(t, probing())
	ps := program.New(placed, false, false)
	for slot := range 3 {
		if p := ps.probe(slot); p.ID != election.ID(slot+1) || p.Size != 3 {
			t.Errorf("slot %d holds %+v", slot, p)
		}
	}
}

func TestSlotsKeepTheirStatesAsMoreAreMade(t *testing.T) {
	program, placed := hidden(t, probing())
	ps := program.New(placed, false, false)
	want := 3
	for _, more := range []int{1, 4, 1, 100, 1} {
		if first := ps.Grow(more); first != want {
			t.Errorf("%d slots more begin at %d; want %d", more, first, want)
		}
		want += more
		for slot := range want {
			switch got := ps.probe(slot).ID; {
			case slot < 3 && got != election.ID(slot+1):
				t.Fatalf("slot %d of %d holds the state of %d", slot, want, got)
			case slot >= 3 && got != 0:
				t.Fatalf("slot %d of %d is new and holds the state of %d", slot, want, got)
			}
		}
	}
	ps.Copy(want-1, 1)
	ps.probe(1).ID = 7
	if got := ps.probe(want - 1).ID; got != 2 {
		t.Errorf("the copy is the state of %d", got)
	}
	if size := program.Plans.State.Size(); ps.Bytes() < want*size || ps.Bytes() > want*size+3000 {
		t.Errorf("%d bytes for %d states of %d", ps.Bytes(), want, size)
	}
}

func TestARebornProcessHasWhatItKeptAndNothingElse(t *testing.T) {
	program, placed := hidden(t, probing())
	ps := program.New(placed, false, false)
	*ps.probe(2) = probe{ID: 9, Size: 8, Durable: durable{[]uint32{5, 6}}, Log: []uint32{1}, Until: election.DeadlineIn(election.Units(3), election.Ticks{})}
	old := ps.probe(2).Durable.Votes
	ps.Reborn(2, 2)
	p := ps.probe(2)
	if p.ID != 3 || p.Size != 3 || p.Log != nil || p.Until != (election.Deadline{}) || !slices.Equal(p.Durable.Votes, []uint32{5, 6}) {
		t.Errorf("%+v", p)
	}
	if old[0] = 7; p.Durable.Votes[0] != 5 {
		t.Error("what was kept shares a slice with the life before")
	}
	if kept := ps.Durable(2); len(kept) != 12 {
		t.Errorf("%d bytes are kept: a length and two numbers have 12", len(kept))
	}
	if err := ps.Restore(2, append(ps.Durable(2), 0)); !errors.Is(err, codec.ErrDecode) {
		t.Errorf("a byte too many: %v", err)
	}
	a := probing()
	a.Durable, a.Survives = nil, 0
	program, placed = hidden(t, a)
	ps = program.New(placed, false, false)
	ps.probe(2).Durable.Votes = []uint32{5}
	if ps.Reborn(2, 2); ps.probe(2).Durable.Votes != nil {
		t.Error("something outlasts a crash though nothing is durable")
	}
	if kept := ps.Durable(2); len(kept) > 0 {
		t.Errorf("%v is kept", kept)
	}
}

// sending sends the given number of notes on port 1, numbered from the length of the log on.
func sending(count int) election.Algorithm[probe, note] {
	return starting(func(p *probe, out out) {
		for i := range count {
			out.Send(1, news, note{Number: uint32(len(p.Log) + i)})
		}
		p.note(1)
	})
}

func TestEffectsAreThoseOfOneStep(t *testing.T) {
	program, placed := hidden(t, starting(func(p *probe, out out) {
		out.Send(0, vote, note{Number: 4})
		out.After(1, election.Units(3))
		out.Send(1, news, note{Number: 5})
		out.Lead(2)
		if out.Choose(6) == 5 {
			out.NoLeader()
		}
		p.Until = out.Deadline(election.Units(10))
	}))
	ps := program.New(placed, false, false)
	ps.Choices(func(n uint32) uint32 { return n - 1 })
	for round := range 2 {
		now := election.Units(uint64(7 * round))
		e := ps.Step(2, 2, Event{What: Started}, now)
		first := placed.Network.First(2)
		if len(e.Sent) != 2 || e.Sent[0].On() != first || e.Sent[0].Kind() != vote || e.Sent[1].On() != first+1 || e.Sent[1].Kind() != news {
			t.Fatalf("sent %+v", e.Sent)
		}
		if a, b := ps.note(e.Sent[0].Message).Number, ps.note(e.Sent[1].Message).Number; a != 4 || b != 5 {
			t.Errorf("sent %d and %d; want 4 and 5", a, b)
		}
		if len(e.Other) != 3 || e.Other[0].Op != election.SetTimer || e.Other[0].Timer != 1 || e.Other[1].Op != election.Lead || e.Other[1].Term != 2 || e.Other[2].Op != election.NoLeader {
			t.Errorf("effects %+v", e.Other)
		}
		if got := ps.probe(2).Until.Left(now); got != election.Units(10) {
			t.Errorf("a deadline in 10 units is in %s", got)
		}
	}
}

func TestAMessageIsKeptUntilItsLastRelease(t *testing.T) {
	program, placed := hidden(t, sending(2))
	ps := program.New(placed, false, false)
	step := func() (a, b Message) {
		e := ps.Step(0, 0, Event{What: Started}, election.Ticks{})
		return e.Sent[0].Message, e.Sent[1].Message
	}
	a, b := step() // 0 and 1
	if a == b {
		t.Fatalf("messages %d and %d", a, b)
	}
	ps.Hold(a)
	ps.Release(a)
	ps.Release(b)
	c, d := step() // 1 and 2
	if c != b || d == a || d == b {
		t.Errorf("messages %d and %d, while %d is held and %d was released", c, d, a, b)
	}
	if got := fmt.Sprint(ps.note(a).Number, ps.note(c).Number, ps.note(d).Number); got != "0 1 2" {
		t.Errorf("the three messages are %s", got)
	}
	ps.Hold(a)
	ps.Release(a)
	if e, f := step(); e == a || f == a {
		t.Errorf("message %d is not held any more, though it was held twice and released once", a)
	} else {
		ps.Release(e)
		ps.Release(f)
	}
	for _, m := range []Message{a, c, d} {
		ps.Release(m)
	}
	bytes := ps.Bytes()
	if want := 3*program.Plans.State.Size() + int(ps.pool.made)*(4+program.Plans.Message.Size()); bytes != want {
		t.Errorf("%d bytes; three states and %d messages take %d", bytes, int(ps.pool.made), want)
	}
	for range 100 {
		e, f := step()
		if e == f {
			t.Fatalf("messages %d and %d", e, f)
		}
		ps.Release(f)
		ps.Release(e)
	}
	if n := held(ps); n != 0 {
		t.Errorf("%d messages that were released as often as they were held are still held", n)
	}
	if ps.Bytes() != bytes {
		t.Errorf("%d bytes after 100 rounds of two messages, %d before", ps.Bytes(), bytes)
	}
}

func TestPhasesAreOfMessagesOfTheElectionOnly(t *testing.T) {
	both := starting(func(_ *probe, out out) {
		out.Send(0, vote, note{Number: 4})
		out.Send(0, news, note{Number: 5})
		out.Send(0, ballot, note{Number: 6})
	})
	without := both
	without.Phase = nil
	for _, test := range []struct {
		algorithm election.Algorithm[probe, note]
		asked     bool
		want      string
	}{{both, true, "4 -1 6"}, {both, false, "-1 -1 -1"}, {without, true, "-1 -1 -1"}} {
		program, placed := hidden(t, test.algorithm)
		e := program.New(placed, test.asked, false).Step(0, 0, Event{What: Started}, election.Ticks{})
		if got := fmt.Sprint(e.Sent[0].Phase, e.Sent[1].Phase, e.Sent[2].Phase); got != test.want {
			t.Errorf("phases %s; want %s", got, test.want)
		}
	}
}

func TestWithoutAFunctionOfItsOwnAProcessStandsIfItIsWilling(t *testing.T) {
	program, placed := hidden(t, probing())
	ps := program.New(placed, false, false)
	ps.probe(1).Durable.Votes = []uint32{1}
	if !ps.Eligible(0, 0) || ps.Eligible(1, 1) || !ps.Eligible(2, 1) || ps.Eligible(1, 0) {
		t.Error("the state does not say which stands")
	}
	a := probing()
	a.Eligible, a.Willingness = nil, true
	program, err := Of(&a)
	if err != nil {
		t.Fatal(err)
	}
	setup := network.On(1, 2, 3)
	setup.Unwilling = []int{1}
	if placed, err = network.Prepare(program.Declaration, setup); err != nil {
		t.Fatal(err)
	}
	ps = program.New(placed, false, false)
	if !ps.Eligible(1, 0) || ps.Eligible(0, 1) {
		t.Error("an unwilling process stands, or a willing one does not")
	}
}

func TestStatesAndMessagesAreReadAndWrittenWhole(t *testing.T) {
	program, placed := hidden(t, sending(1))
	ps := program.New(placed, false, false)
	now := election.Units(5)
	*ps.probe(0) = probe{ID: 3, Size: 8, Log: []uint32{1, 2}, Until: election.DeadlineIn(election.Units(4), now)}
	encoded := ps.AppendState([]byte{7}, 0, now, codec.Whole)
	if encoded[0] != 7 {
		t.Error("a state is not appended")
	}
	if err := ps.DecodeState(encoded[1:], 1, codec.Whole); err != nil {
		t.Fatal(err)
	}
	if p := ps.probe(1); p.ID != 3 || p.Size != 8 || !slices.Equal(p.Log, []uint32{1, 2}) || p.Until.Left(election.Ticks{}) != election.Units(4) {
		t.Errorf("%+v", p)
	}
	if err := ps.DecodeState(append(encoded[1:], 0), 1, codec.Whole); !errors.Is(err, codec.ErrDecode) {
		t.Errorf("a byte too many: %v", err)
	}
	if got, want := ps.StateText(0, now), "ID 3, Size 8, Log [1 2], Until in 4"; got != want {
		t.Errorf("%q; want %q", got, want)
	}

	m, err := ps.Decode(ps.AppendMessage(nil, ps.Step(1, 0, Event{What: Started}, now).Sent[0].Message))
	if err != nil || ps.note(m).Number != 2 || ps.Contents(vote, m) != "Number 2, List []" {
		t.Errorf("%s, %v", ps.Contents(vote, m), err)
	}
	before := held(ps)
	for range 3 { // malformed input holds nothing
		if _, err := ps.Decode([]byte{1, 2}); !errors.Is(err, codec.ErrDecode) {
			t.Error(err)
		}
	}
	if n := held(ps); n != before {
		t.Errorf("%d messages are held after three malformed messages, %d before", n, before)
	}
	if _, err := ps.Decode(append(ps.AppendMessage(nil, m), 0)); !errors.Is(err, codec.ErrDecode) {
		t.Errorf("a byte too many: %v", err)
	}
}

func TestOnlyPlainTypesOfCompleteAlgorithmsAreHidden(t *testing.T) {
	a := probing()
	a.Receive = nil
	if _, err := Of(&a); err == nil {
		t.Error("an algorithm that cannot receive")
	}
	type pointing struct{ To *int }
	b := election.Algorithm[pointing, note]{
		Declaration: probing().Declaration, New: func(election.Local) pointing { return pointing{} },
		Start: func(*pointing, out) {}, Receive: func(*pointing, election.Port, election.Kind, note, out) {},
		Timeout: func(*pointing, election.Timer, out) {}, Recover: func(*pointing, out) {},
	}
	if _, err := Of(&b); !errors.Is(err, codec.ErrPlain) {
		t.Errorf("a state with a pointer: %v", err)
	}
}

// What an algorithm panics with cannot command the terminal, and fills no more than some lines of it.
func TestATextOfAPanicIsOneLineThatATerminalShows(t *testing.T) {
	for with, want := range map[any]string{
		"a\nb\tc":                         "panics: a b c",
		"\x1b[31mred\a\x00":               `panics: \x1b[31mred\a\x00`,
		"\u202eback \xff ⌊n⌋":             `panics: \u202eback \xff ⌊n⌋`,
		strings.Repeat("é", 10_000):       "panics: " + strings.Repeat("é", 400-len("panics: ")) + "… (19216 bytes more)",
		election.KindError(16):            "sends a message of kind 16; there are at most 16 kinds",
		fmt.Errorf("%w: \x1b", ErrBroken): `\x1b`,
	} {
		if _, got := Blame(with); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
}
