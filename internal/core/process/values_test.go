package process

import (
	"errors"
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// values returns the values of an algorithm on a ring of three, and the newborn states.
func values(t *testing.T, a election.Algorithm[probe, note]) (v *Values, born []State) {
	t.Helper()
	program, network := hidden(t, a)
	v = program.NewValues(network)
	for position := range 3 {
		born = append(born, v.Born(position))
	}
	return v, born
}

func start(t *testing.T, v *Values, s State) (State, []Post, []election.Effect) {
	t.Helper()
	after, sent, rare, err := v.Step(s, 0, Event{What: Started}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return after, sent, rare
}

func TestEqualStatesHaveEqualNumbers(t *testing.T) {
	v, born := values(t, starting(func(p *probe, _ out) {
		if len(p.Log) < 2 {
			p.note(1)
		}
	}))
	if !slices.Equal(born, []State{0, 1, 2}) || v.Born(1) != 1 {
		t.Errorf("the newborn states are %v, and the second is %d", born, v.Born(1))
	}
	once, _, _ := start(t, v, born[0])
	twice, _, _ := start(t, v, once)
	again, _, _ := start(t, v, born[0])
	still, _, _ := start(t, v, twice)
	if once != 3 || twice != 4 || again != once || still != twice {
		t.Errorf("states %d, %d, %d, %d; want 3, 4, 3, 4", once, twice, again, still)
	}
	if got := []string{v.StateText(born[0]), v.StateText(once), v.StateText(twice)}; !slices.Equal(got, []string{"ID 1, Size 3", "ID 1, Size 3, Log [1]", "ID 1, Size 3, Log [1 1]"}) {
		t.Errorf("%q", got)
	}
}

func TestStatesThatDifferInAConstantFieldOnlyAreDifferent(t *testing.T) {
	a := probing()
	a.New = func(l election.Local) probe { return probe{Size: uint32(l.ID) / 2} } // 0, 1, 1
	v, born := values(t, a)
	if !slices.Equal(born, []State{0, 1, 1}) {
		t.Fatalf("the newborn states are %v; want 0, 1, 1", born)
	}
	zero, _, _ := start(t, v, born[0])
	one, _, _ := start(t, v, born[1])
	if got := v.StateText(zero) + "; " + v.StateText(one); zero == one || got != "Log [1]; Size 1, Log [1]" {
		t.Errorf("after the same step: %s", got)
	}
	if v.Reborn(one, 2) != born[2] || v.Reborn(zero, 0) != born[0] || v.Age(one, election.Units(1)) != one {
		t.Error("a crash or the passing of time changes a constant field")
	}
}

func TestAStepThatChangesAConstantFieldSpoilsIt(t *testing.T) {
	for _, by := range []uint32{0, 1} {
		v, born := values(t, starting(func(p *probe, _ out) { p.Size += by }))
		if _, _, _, err := v.Step(born[0], 0, Event{What: Started}, 0); errors.Is(err, ErrConstant) != (by > 0) || by == 0 && err != nil {
			t.Errorf("a change by %d: %v", by, err)
		}
	}
}

func TestTimeChangesStatesWithDeadlinesOnly(t *testing.T) {
	v, born := values(t, starting(func(p *probe, out out) { p.Until = out.Deadline(election.Units(5)) }))
	ticking, _, _ := start(t, v, born[0])
	if v.Age(born[0], election.Units(3)) != born[0] {
		t.Error("a state without a running deadline ages")
	}
	two := v.Age(v.Age(ticking, election.Units(1)), election.Units(2))
	if two == ticking || two != v.Age(ticking, election.Units(3)) || v.StateText(two) != "ID 1, Size 3, Until in 2" {
		t.Errorf("three units before its deadline: %s", v.StateText(two))
	}
	if v.Age(two, election.Units(2)) != born[0] || v.Age(ticking, election.Power(100)) != born[0] {
		t.Error("a deadline that has passed is not as if there was none")
	}
	if v.StateText(ticking) != "ID 1, Size 3, Until in 5" {
		t.Errorf("its past has aged, too: %s", v.StateText(ticking))
	}

	timeless := probing().Declaration
	a := election.Algorithm[durable, note]{
		Declaration: timeless, New: func(election.Local) durable { return durable{} }, Start: func(*durable, out) {},
		Receive: func(*durable, election.Port, election.Kind, note, out) {}, Timeout: func(*durable, election.Timer, out) {}, Recover: func(*durable, out) {},
	}
	program, err := Of(&a)
	if err != nil {
		t.Fatal(err)
	}
	network, err := network.Prepare(program.Declaration, network.On(1, 2, 3))
	if err != nil {
		t.Fatal(err)
	}
	w := program.NewValues(network)
	if s := w.Born(0); w.Age(s, election.Units(3)) != s {
		t.Error("a state that can hold no deadline ages")
	}
}

func TestAfterACrashAStateIsNewbornButForWhatItKept(t *testing.T) {
	v, born := values(t, starting(func(p *probe, _ out) {
		p.note(1)
		p.Durable.Votes = append(slices.Clip(p.Durable.Votes), 4)
	}))
	voted, _, _ := start(t, v, born[0])
	reborn := v.Reborn(voted, 0)
	if got := v.StateText(reborn); got != "ID 1, Size 3, Durable {[4]}" {
		t.Error(got)
	}
	if v.Reborn(reborn, 0) != reborn || v.Reborn(born[1], 1) != born[1] {
		t.Error("a second crash changes something")
	}
	if v.Eligible(voted, 0) || !v.Eligible(born[0], 0) {
		t.Error("the state does not say which stands")
	}
}

func TestAMessageIsNumberedOnce(t *testing.T) {
	v, born := values(t, starting(func(p *probe, out out) {
		for _, number := range []uint32{5, 6, 5} {
			out.Send(1, news, note{number, []uint8{uint8(number)}})
		}
		out.Send(0, vote, note{Number: 6, List: []uint8{6}})
		out.After(1, election.Units(2))
	}))
	want := []Post{{1, news, 0}, {1, news, 1}, {1, news, 0}, {0, vote, 1}}
	for range 2 {
		_, sent, rare := start(t, v, born[0])
		if !slices.Equal(sent, want) {
			t.Errorf("sent %+v; want %+v", sent, want)
		}
		if len(rare) != 1 || rare[0].Op != election.SetTimer || rare[0].Timer != 1 || rare[0].Ticks != election.Units(2) {
			t.Errorf("effects %+v", rare)
		}
	}
	if got := v.Contents(news, 0) + "; " + v.Contents(vote, 1); got != "Number 5, List [5]; Number 6, List [6]" {
		t.Error(got)
	}
	for range 3 { // it is there each time
		after, _, _, err := v.Step(born[1], 1, Event{What: Received, Port: 1, Kind: vote}, 1)
		if got := v.StateText(after); err != nil || got != "ID 2, Size 3, Log [2 1 0 6 6]" {
			t.Error(got, err)
		}
	}
	if n := held(v.ps); n != 2 {
		t.Errorf("%d messages are held for two numbers", n)
	}
}

func TestWritingIntoAStoredStateIsFound(t *testing.T) {
	v, born := values(t, starting(func(p *probe, _ out) {
		if len(p.Log) > 0 {
			p.Log[0]++
			return
		}
		p.note(1, 2)
	}))
	filled, _, _ := start(t, v, born[0])
	if _, _, _, err := v.Step(filled, 0, Event{What: Started}, 0); !errors.Is(err, ErrShared) {
		t.Errorf("a list of the state: %v", err)
	}
}

func TestWritingIntoAReceivedMessageIsFound(t *testing.T) {
	a := starting(func(_ *probe, out out) { out.Send(0, vote, note{Number: 1, List: []uint8{1, 2}}) })
	a.Receive = func(_ *probe, _ election.Port, _ election.Kind, m note, _ out) { m.List[1]++ }
	v, born := values(t, a)
	start(t, v, born[0])
	if _, _, _, err := v.Step(born[1], 1, Event{What: Received}, 0); !errors.Is(err, ErrShared) {
		t.Errorf("a list of the message: %v", err)
	}
}

// An append that is not clipped writes into the room behind a list, which another process may have, too.
func TestAnAppendThatIsNotClippedIsFound(t *testing.T) {
	buffer := make([]uint32, 0, 8)
	appending := func(log []uint32) election.Algorithm[probe, note] {
		a := starting(func(p *probe, out out) {
			p.Log = append(p.Log, 1)
			out.Send(0, vote, note{List: []uint8{1}})
		})
		a.New = func(election.Local) probe { return probe{Log: log} }
		a.Receive = func(_ *probe, _ election.Port, _ election.Kind, m note, out out) {
			out.Send(0, vote, note{List: append(m.List, 2)})
		}
		return a
	}
	for name, test := range map[string]struct {
		log  []uint32
		want error
	}{"a list": {[]uint32{5}, ErrAppended}, "an empty list with room": {buffer, ErrAppended}, "no list": {nil, nil}} {
		v, born := values(t, appending(test.log))
		if _, _, _, err := v.Step(born[0], 0, Event{What: Started}, 0); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	v, born := values(t, appending(nil))
	start(t, v, born[0])
	if _, _, _, err := v.Step(born[1], 1, Event{What: Received}, 0); !errors.Is(err, ErrAppended) {
		t.Errorf("a list of the message: %v", err)
	}
}

// Sent and stored values are copies, so a later step that changes its own copy changes nothing else.
func TestWhatIsStoredSharesNoSliceWithTheStep(t *testing.T) {
	var mine []uint32 // not pure, in the role of a shared list
	var sent []uint8
	v, born := values(t, starting(func(p *probe, out out) {
		mine, sent = []uint32{1, 2}, []uint8{1, 2}
		p.Log = mine
		out.Send(0, vote, note{List: sent})
	}))
	after, _, _ := start(t, v, born[0])
	mine[0], sent[0] = 9, 9
	if got := v.StateText(after) + "; " + v.Contents(vote, 0); got != "ID 1, Size 3, Log [1 2]; Number 0, List [1 2]" {
		t.Error(got)
	}
}

func TestChoicesOfValuesComeFromWhereTheyAreAskedFor(t *testing.T) {
	v, born := values(t, starting(func(p *probe, out out) { p.note(out.Choose(10)) }))
	v.Choices(func(n uint32) uint32 { return n - 3 })
	after, _, _ := start(t, v, born[0])
	if got := v.StateText(after); got != "ID 1, Size 3, Log [7]" {
		t.Error(got)
	}
}
