package electiontest

import (
	"fmt"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
)

func TestImpureStepsAreFound(t *testing.T) {
	calls := election.ID(0)
	counting := collecting
	counting.Start = func(c *collector, out *election.Out[collection]) {
		calls++
		out.Send(0, listKind, collection{List: []election.ID{calls}})
	}
	appending := collecting
	appending.Receive = func(c *collector, port election.Port, kind election.Kind, m collection, out *election.Out[collection]) {
		if len(m.List) > 0 {
			m.List[0] = 99
		}
		collecting.Receive(c, port, kind, m, out)
	}
	growing := collecting
	growing.Receive = func(_ *collector, _ election.Port, kind election.Kind, m collection, out *election.Out[collection]) {
		out.Send(0, kind, collection{List: append(m.List, 1)})
	}
	for want, a := range map[string]election.Algorithm[collector, collection]{
		"one step from one state had two effects": counting,
		"wrote to a slice that was received":      appending,
		"appended to a slice x that was received": growing,
	} {
		if found := impure(t, a); !strings.Contains(found, want) {
			t.Errorf("found %q, want %q", found, want)
		}
	}
	hoarding := election.Algorithm[hoarder, collection]{
		Declaration: collecting.Declaration,
		New:         func(election.Local) hoarder { return hoarder{make([]uint8, 0, 2)} },
		Start:       func(h *hoarder, _ *election.Out[collection]) { h.List = append(h.List, 1) },
		Receive:     func(*hoarder, election.Port, election.Kind, collection, *election.Out[collection]) {},
	}
	if found := impure(t, hoarding); !strings.Contains(found, "appended to a slice x that was stored") {
		t.Errorf("found %q of an append to a list of the state", found)
	}
	changing := coins
	changing.Start = func(g *gambler, out *election.Out[wager]) {
		g.N++
		coins.Start(g, out)
	}
	if found := impure(t, changing); !strings.Contains(found, "changed a field that is declared constant") {
		t.Errorf("found %q of a constant that grows", found)
	}
}

// hoarder is a process that appends to its list.
type hoarder struct{ List []uint8 }

// impure returns the fault that Pure finds in a run among three.
func impure[S, M any](t *testing.T, a election.Algorithm[S, M]) (fault string) {
	defer func() {
		if f := recover(); f != nil {
			fault = f.(string)
		}
	}()
	_, err := simulate.New(small(t, Pure(a))).Run(simulate.Options{Setup: network.On(1, 2, 3), Limit: 1000})
	return fmt.Sprint(err)
}

func TestJudgeSeesWhatIsWrong(t *testing.T) {
	d := &hirschbergSinclair.Declaration
	good, err := simulate.New(small(t, hirschbergSinclair)).Run(simulate.Options{Setup: Setup(d, 8, 1)})
	if err != nil {
		t.Fatal(err)
	}
	if problem := judge(d, nil, good); problem != "" {
		t.Fatalf("a good run: %s", problem)
	}
	for name, change := range map[string]func(*simulate.Result){
		"does not end":  func(r *simulate.Result) { r.Complete = false },
		"decided twice": func(r *simulate.Result) { r.Faults = []string{"decided twice"} },
		"no agreement":  func(r *simulate.Result) { r.Agreed = false },
		"is not the":    func(r *simulate.Result) { r.Right = false },
	} {
		bad := *good
		change(&bad)
		if problem := judge(d, nil, &bad); !strings.Contains(problem, name) {
			t.Errorf("%s: judged %q", name, problem)
		}
	}
}
