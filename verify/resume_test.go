package verify

import (
	"testing"

	"ringleader.example/ringleader/internal/runners/logicalring"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify/internal/model"
)

// A suspicion across a cut takes no budget, and is none that may still come.
func TestFaultsOfTheRunLeaveTheBudgetAsItIs(t *testing.T) {
	s, err := simulate.New(logicalring.Program).Session(simulate.Options{Setup: network.On(1, 2, 3), AnyTime: true})
	if err != nil {
		t.Fatal(err)
	}
	cut, err := s.Cut("partition 3 | 1,2")
	if err == nil {
		err = s.Step(cut)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Faults() {
		if c.What == simulate.Distrust && c.Process == 2 {
			if err := s.Step(c); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	if len(s.Made()) != 2 {
		t.Fatalf("it has made %+v", s.Made())
	}
	o := Options{Setup: network.On(1, 2, 3), Starts: AnyTime, from: &model.Prefix{Record: s.Record(), Remaining: model.Global{Losses: 2}}}
	o.past(s.Record())
	program := logicalring.Program.Hidden()
	if err := o.check(program.Declaration, program.Functions); err != nil {
		t.Fatal(err)
	}
	c, err := model.NewChecker(program, o.model(), o.Setup)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Resume()
	if err != nil {
		t.Fatal(err)
	}
	if g := c.Global(r.Last); g.Cuts+g.Suspicions+g.Commands+g.Crashes != 0 || g.Losses != 2 || len(g.Cut) != 1 || !g.Disturbed {
		t.Errorf("%+v may still come", g)
	}
}
