package report

import (
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/outcome"
)

// A part of an election shows already what is wrong for ever, and what is not.
func TestAWrongLeaderIsNamedBeforeTheEnd(t *testing.T) {
	d := &lcr.Algorithm.Declaration
	prepared, err := network.Prepare(d, network.On(1, 2, 3))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		leaders []int
		agreed  bool
		faults  []string
		usurped bool
		want    string
	}{
		{[]int{0}, false, nil, true, "leader 1, not agreed; 1 of 3 decided; the leader must have the largest identifier"},
		{[]int{2}, false, nil, false, "leader 3, not agreed; 1 of 3 decided"},
		{[]int{1, 2}, false, nil, true, "2 leaders: 2, 3; not agreed"},
		{nil, false, nil, false, "no leader; 1 of 3 decided"},
		{[]int{2}, true, []string{"process 3 decided twice"}, false, "leader 3, agreed by all 3"},
		{[]int{0}, true, nil, true, "leader 1, agreed by all 3, but the leader must have the largest identifier"},
	} {
		r := &outcome.Outcome{Prepared: prepared, Faults: test.faults}
		r.Leaders, r.Agreed, r.Decided, r.Live = test.leaders, test.agreed, 1, 3
		text, _ := verdict(d, r)
		if got := Usurped(d, r); got != test.usurped || !strings.HasPrefix(text, test.want) || len(text) != len(test.want) {
			t.Errorf("leaders %v: %v, %q; want %v, %q", test.leaders, got, text, test.usurped, test.want)
		}
	}
}
