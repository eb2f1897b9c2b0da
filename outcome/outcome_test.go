package outcome_test

import (
	"fmt"
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/itairodeh"
	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/outcome"
)

func TestAProcessIsCalledByItsIdentifierOrElseByItsPosition(t *testing.T) {
	named, err := network.Prepare(&lcr.Algorithm.Declaration, network.On(30, 10, 20))
	if err != nil {
		t.Fatal(err)
	}
	anonymous, err := network.Prepare(&itairodeh.Algorithm.Declaration, network.On(30, 10, 20))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		outcome.Outcome
		want      uint64
		anonymous bool
	}{
		{outcome.Outcome{Prepared: named}, 20, false},
		{outcome.Outcome{IDs: election.List{30, 10, 20}}, 20, false},
		{outcome.Outcome{Prepared: anonymous}, 2, true},
	} {
		if got := c.Identifier(2); got != c.want || c.Anonymous() != c.anonymous {
			t.Errorf("position 2 is called %d, anonymous: %t; want %d", got, c.Anonymous(), c.want)
		}
	}
}

func TestAFaultIsReportedOnceAndFewAreReported(t *testing.T) {
	var o outcome.Outcome
	var want []string
	for i := range 2 * outcome.MostFaults {
		o.Fault(fmt.Sprint("fault ", i))
		o.Fault(fmt.Sprint("fault ", i))
		if i < outcome.MostFaults {
			want = append(want, fmt.Sprint("fault ", i))
		}
	}
	if !slices.Equal(o.Faults, want) {
		t.Errorf("%v; want %v", o.Faults, want)
	}
}

func TestPhasesAreCountedInAnyOrder(t *testing.T) {
	var o outcome.Outcome
	o.AddPhase(2, 5)
	o.AddPhase(0, 1)
	o.AddPhase(2, 1)
	if !slices.Equal(o.ByPhase, []uint64{1, 0, 6}) {
		t.Errorf("%v", o.ByPhase)
	}
}

func TestMessagesAreTalliedByClass(t *testing.T) {
	d := election.Declaration{
		Kinds: []election.MessageKind{
			{Name: "probe"}, {Name: "beat", Class: election.Overhead}, {Name: "leader", Class: election.Announcement}, {Name: "reply"},
		},
	}
	m := outcome.MessagesOf(&d, []uint64{1, 20, 300, 4000, 9, 9, 9})
	if m.Election != 4001 || m.Announcement != 300 || m.Overhead != 20 || m.Total != 4301 || !slices.Equal(m.ByKind, []uint64{1, 20, 300, 4000}) {
		t.Errorf("%+v", m)
	}
	if m.Of("election") != 4001 || m.Of("announcement") != 300 || m.Of("total") != 4301 {
		t.Errorf("%d, %d, %d", m.Of("election"), m.Of("announcement"), m.Of("total"))
	}
}
