package verify

import (
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
)

// A counter without a limit ends the search, and is named.
func TestAFieldThatGrowsIsNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	a := calling(election.Asynchronous, once)
	a.Receive = func(p *caller, _ election.Port, _ election.Kind, _ call, out calls) {
		p.Heard++
		out.Send(0, ring, call{1})
	}
	r, err := Run(a, Options{Size: 2, Initiators: []int{0}, MaxDepth: 3000})
	if err != nil || r.Complete || r.Limit != DepthLimit || !strings.HasPrefix(r.Growing, "Heard of process ") {
		t.Errorf("%+v, %v", r, err)
	}
	a.Receive = func(p *caller, _ election.Port, _ election.Kind, _ call, out calls) {
		p.Heard = (p.Heard + 1) % 1200
		out.Send(0, ring, call{1})
	}
	if r, err = Run(a, Options{Size: 2, Initiators: []int{0}, MaxStates: 2390}); err != nil || r.Limit != StateLimit {
		t.Errorf("%+v, %v", r, err)
	}
}
