package electiontest

import (
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/simulate"
)

// Election on a tree by saturation: wake all, let the leaves begin, and two neighbours end up with the maximum of
// all.
type vertex struct {
	ID, Max election.ID
	Ports   election.Port `election:"constant"`
	Heard   uint64        // a bit for each port
	Parent  election.Port
	Stage   uint8 // available, active, processing, done
}

const (
	available uint8 = iota
	active
	processing
	done
)

type greatest struct{ ID election.ID }

const (
	wake election.Kind = iota
	maximum
	notify
)

var saturation = func() election.Algorithm[vertex, greatest] {
	d := title("test-saturation")
	d.Topology = election.Tree
	d.Winner = election.Largest
	d.Kinds = []election.MessageKind{{Name: "wake"}, {Name: "maximum"}, {Name: "notify", Class: election.Announcement}}
	d.Bounds = []election.Bound{{
		Of: "total", Case: election.Worst, Formula: "4n", Value: func(n uint64) uint64 { return 4 * n },
	}}
	return election.Algorithm[vertex, greatest]{
		Declaration: d,
		New: func(l election.Local) vertex {
			return vertex{ID: l.ID, Max: l.ID, Ports: election.Port(l.Degree)}
		},
		Start: func(v *vertex, out *election.Out[greatest]) { v.wake(v.Ports, out) },
		Receive: func(v *vertex, port election.Port, kind election.Kind, m greatest, out *election.Out[greatest]) {
			v.wake(port, out)
			v.receive(port, kind, m, out)
		},
	}
}()

// wake wakes all neighbours except the one behind a port.
func (v *vertex) wake(but election.Port, out *election.Out[greatest]) {
	if v.Stage != available {
		return
	}
	v.Stage = active
	for port := range v.Ports {
		if port != but {
			out.Send(port, wake, greatest{})
		}
	}
	v.check(out)
}

func (v *vertex) check(out *election.Out[greatest]) {
	var silent, last election.Port
	for port := range v.Ports {
		if v.Heard>>port&1 == 0 {
			silent, last = silent+1, port
		}
	}
	switch {
	case v.Ports == 0:
		v.Stage = done
		out.Lead(0)
	case silent == 1:
		v.Stage, v.Parent = processing, last
		out.Send(last, maximum, greatest{v.Max})
	}
}

func (v *vertex) receive(port election.Port, kind election.Kind, m greatest, out *election.Out[greatest]) {
	switch {
	case kind == maximum && v.Stage == active:
		v.Heard |= 1 << port
		v.Max = max(v.Max, m.ID)
		v.check(out)
	case kind == maximum && v.Stage == processing: // on the parent's port: both ends know all
		v.decide(max(v.Max, m.ID), out)
	case kind == notify:
		v.decide(m.ID, out)
	}
}

func (v *vertex) decide(leader election.ID, out *election.Out[greatest]) {
	v.Stage, v.Max = done, leader
	if leader == v.ID {
		out.Lead(0)
	} else {
		out.Follow(leader, 0)
	}
	for port := range v.Ports {
		if port != v.Parent {
			out.Send(port, notify, greatest{leader})
		}
	}
}

func TestSaturationCosts3NPlusKMinus4(t *testing.T) {
	for n := 2; n <= 12; n++ {
		for k := 1; k <= n; k++ {
			i := Setup(&saturation.Declaration, n, uint64(n*k))
			var starts []int
			for p := range k {
				starts = append(starts, (p*5+n)%n)
			}
			if n%5 == 0 {
				continue // the initiators above would not be distinct
			}
			r, err := simulate.New(small(t, saturation)).Run(simulate.Options{Setup: i, Initiators: starts, Schedule: simulate.Random, Seed: 1, Faults: faults.Script{Unordered: true}})
			if err != nil {
				t.Fatal(err)
			}
			if want := uint64(3*n + k - 4); r.Messages.Total != want || !r.Right {
				t.Errorf("tree of %d, %d start: %d messages, want %d; right %v", n, k, r.Messages.Total, want, r.Right)
			}
		}
	}
}
