package verify

import (
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// scripted is one of three processes that know each other. It has the messages that it has received, as bits.
type scripted struct {
	ID   election.ID
	Seen uint16
}

type line struct{ Of uint8 }

// script is what a process does with its start, which is line 0, or a message; to[id] sends to a process.
type script func(p *scripted, m uint8, to func(id election.ID, m uint8), out *election.Out[line])

// scripting returns the election of a script, among processes 1, 2 and 3 in this order. Process 3 leads, and the others follow
// it, unless the script decides.
func scripting(decides bool, does script) election.Algorithm[scripted, line] {
	step := func(p *scripted, m uint8, out *election.Out[line]) {
		if m == 0 && !decides {
			if p.ID == 3 {
				out.Lead(0)
			} else {
				out.Follow(3, 0)
			}
		}
		does(p, m, func(id election.ID, m uint8) { out.Send(election.Port((id+2-p.ID)%3), 0, line{m}) }, out)
	}
	return election.Algorithm[scripted, line]{
		Declaration: election.Declaration{
			Name: "scripted", Topology: election.UnknownNeighbours, FIFO: true, Winner: election.Largest, Starts: election.AllStart,
			Kinds: []election.MessageKind{{Name: "line"}},
		},
		New:   func(l election.Local) scripted { return scripted{ID: l.ID} },
		Start: func(p *scripted, out *election.Out[line]) { step(p, 0, out) },
		Receive: func(p *scripted, _ election.Port, _ election.Kind, m line, out *election.Out[line]) {
			step(p, m.Of, out)
		},
	}
}

// begin sends messages 1 and 2 from processes 2 and 3 to process 1 when they start.
func begin(p *scripted, m uint8, to func(election.ID, uint8)) {
	if m == 0 && p.ID > 1 {
		to(1, uint8(p.ID)-1)
	}
}

// ordered lets process 2 panic if message 5 comes before message 4.
func ordered(p *scripted, m uint8) {
	if p.ID == 2 && m == 5 && p.Seen&(1<<4) == 0 {
		panic("out of order")
	}
	if p.ID == 2 {
		p.Seen |= 1 << m
	}
}

// Each of these is right in the run from which causes are taken, and not in another one; or it has other messages there.
func TestConfluenceIsNotFoundWhereTheOrderMakesADifference(t *testing.T) {
	for name, test := range map[string]struct {
		decides bool
		does    script
	}{
		"a decision": {true, func(p *scripted, m uint8, to func(election.ID, uint8), out *election.Out[line]) {
			begin(p, m, to)
			switch {
			case p.ID == 3 && m == 0:
				out.Lead(0)
			case p.ID == 2 && m == 0:
				out.Follow(3, 0)
			case p.ID == 1 && m > 0 && p.Seen == 0:
				p.Seen = 1
				out.Follow(election.ID(4-m), 0)
			}
		}},
		"a message": {false, func(p *scripted, m uint8, to func(election.ID, uint8), _ *election.Out[line]) {
			begin(p, m, to)
			if p.ID == 1 {
				if m == 2 && p.Seen&2 != 0 {
					to(2, 4)
				}
				p.Seen |= 1 << m
			}
		}},
		"a message sent twice": {false, func(p *scripted, m uint8, to func(election.ID, uint8), _ *election.Out[line]) {
			begin(p, m, to)
			if p.ID == 1 && m > 0 {
				if m == 1 && p.Seen&4 == 0 || m == 2 {
					to(2, 4)
				}
				p.Seen |= 1 << m
			}
		}},
		"a message sent again": {false, func(p *scripted, m uint8, to func(election.ID, uint8), _ *election.Out[line]) {
			begin(p, m, to)
			if p.ID == 1 && (m == 2 || m == 1 && p.Seen != 0) {
				to(2, 4)
			}
			if p.ID == 1 && m == 2 {
				p.Seen = 1
			}
		}},
		"a message sent early": {false, func(p *scripted, m uint8, to func(election.ID, uint8), _ *election.Out[line]) {
			begin(p, m, to)
			switch {
			case p.ID == 1 && m == 1 && p.Seen == 1, p.ID == 1 && m == 7:
				to(2, 4)
				p.Seen |= uint16(m) & 6
			case p.ID == 1 && m == 2:
				p.Seen = 1
				to(3, 6)
			case p.ID == 3 && m == 6:
				to(1, 7)
			}
		}},
		"a state": {false, func(p *scripted, m uint8, to func(election.ID, uint8), _ *election.Out[line]) {
			begin(p, m, to)
			switch {
			case p.ID == 1 && m == 1 && p.Seen == 1:
				p.Seen = 2
			case p.ID == 1 && m == 2:
				p.Seen = 1
				to(3, 6)
			case p.ID == 3 && m == 6:
				to(1, 7)
			case p.ID == 1 && m == 7 && p.Seen == 2:
				panic("out of order")
			}
		}},
		"what a receipt that changes nothing sends": {false, func(p *scripted, m uint8, to func(election.ID, uint8), _ *election.Out[line]) {
			begin(p, m, to)
			switch {
			case p.ID == 1 && m == 1 && p.Seen == 0:
				to(2, 4)
			case p.ID == 1 && m == 2:
				p.Seen = 1
			}
		}},
		"the order on a link": {false, func(p *scripted, m uint8, to func(election.ID, uint8), _ *election.Out[line]) {
			begin(p, m, to)
			if p.ID == 1 && m > 0 {
				to(2, m+3)
			}
			ordered(p, m)
		}},
		"the order on a link, of messages that change a state": {false, func(p *scripted, m uint8, to func(election.ID, uint8), _ *election.Out[line]) {
			begin(p, m, to)
			if p.ID == 1 && m > 0 {
				p.Seen |= 1 << m
				to(2, m+3)
			}
			ordered(p, m)
		}},
		"the order in a step": {false, func(p *scripted, m uint8, to func(election.ID, uint8), _ *election.Out[line]) {
			begin(p, m, to)
			switch {
			case p.ID == 1 && m == 1:
				to(2, 4+uint8(p.Seen))
				to(2, 5-uint8(p.Seen))
			case p.ID == 1 && m == 2:
				p.Seen = 1
			}
			ordered(p, m)
		}},
		// In the run, process 1 sends 5 when it receives 3, which process 2 sends when it has received 4. Message 7 comes
		// later, over more hops, and may come first.
		"what a message needs": {false, func(p *scripted, m uint8, to func(election.ID, uint8), _ *election.Out[line]) {
			switch {
			case p.ID == 3 && m == 0:
				to(2, 4)
				to(1, 10)
			case p.ID == 2 && m == 4:
				to(1, 3)
			case m >= 10 && m < 13:
				to(4-p.ID, m+1)
			case p.ID == 3 && m == 13:
				to(1, 7)
			case p.ID == 1 && (m == 3 || m == 7) && p.Seen == 0:
				p.Seen = 1
				to(2, 5)
			}
			ordered(p, m)
		}},
		"the leader, always wrong": {true, func(p *scripted, m uint8, _ func(election.ID, uint8), out *election.Out[line]) {
			if m == 0 && p.ID == 1 {
				out.Lead(0)
			} else if m == 0 {
				out.Follow(0, 0)
			}
		}},
	} {
		o := Options{Setup: network.On(1, 2, 3)}
		whole, err := Run(scripting(test.decides, test.does), o)
		if err != nil {
			t.Fatal(err)
		}
		o.Reduce = Confluence
		r, err := Run(scripting(test.decides, test.does), o)
		if err != nil || r.Confluent > 0 || essence(t, r) != essence(t, whole) {
			t.Errorf("%s: %+v, %v; the whole search finds %s", name, r, err, essence(t, whole))
		}
		if whole.Violation == nil && *whole.MaxMessages == *whole.MinMessages {
			t.Errorf("%s makes no difference", name)
		}
	}
}

// What is not so in any run is not tried: a message before the start that must come first, or before what it needs.
func TestConfluenceIsFoundWhereNoRunHasTheOtherOrder(t *testing.T) {
	a := scripting(false, func(p *scripted, m uint8, to func(election.ID, uint8), _ *election.Out[line]) {
		begin(p, m, to)
		switch {
		case m > 0 && p.Seen&1 == 0:
			panic("before the start")
		case p.ID == 1 && m == 1:
			to(2, 4)
			to(3, 6)
		case p.ID == 3 && m == 6:
			to(2, 5)
		}
		p.Seen |= 1 << m
	})
	o := Options{Setup: network.On(1, 2, 3), Starts: Each, Reduce: Confluence}
	if r, err := Run(a, o); err != nil || r.Confluent != 1 || r.Violation != nil {
		t.Errorf("%+v, %v", r, err)
	}
	late := scripting(false, func(p *scripted, m uint8, to func(election.ID, uint8), _ *election.Out[line]) {
		begin(p, m, to)
		switch {
		case p.ID == 1 && m == 1:
			to(2, 4)
			to(2, 5)
		case p.ID == 1 && m == 2:
			to(2, 6)
		}
		ordered(p, m)
	})
	o.Starts = AllFirst
	if r, err := Run(late, o); err != nil || r.Confluent != 1 || r.Violation != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// A host that is to stop the work of its process says so at any time.
func TestConfluenceIsNotFoundWhereAHostMayAct(t *testing.T) {
	a := scripting(false, func(p *scripted, m uint8, _ func(election.ID, uint8), out *election.Out[line]) {
		if p.ID == 3 && m == 0 {
			out.StopWork()
		}
	})
	a.Command = func(*scripted, election.Command, *election.Out[line]) { panic("it has stopped") }
	if r, err := Run(a, Options{Setup: network.On(1, 2, 3), Reduce: Confluence}); err != nil || r.Violation == nil || r.Violation.Property != Panicked {
		t.Errorf("%+v, %v", r, err)
	}
}

// On one of the two rings process 1 has process 2 at a port, and on the other one process 3. It sends a message if what process 2 sends to that port
// comes first.
func TestConfluenceIsDecidedForEachOrder(t *testing.T) {
	for port := range election.Port(2) {
		a := forwarding(election.Ring, 0, 0)
		a.Start = func(p *made, out *election.Out[token]) {
			if uint8(p.ID) == p.Last {
				out.Lead(0)
			}
			if p.ID > 1 {
				out.Send(0, 0, token{Type: uint8(p.ID)})
				out.Send(1, 0, token{Type: uint8(p.ID)})
			}
		}
		a.Receive = func(p *made, at election.Port, _ election.Kind, m token, out *election.Out[token]) {
			if p.ID == 1 && p.Count == 0 && at == port && m.Type == 2 {
				out.Send(at, 0, token{})
			}
			p.Count = 1
		}
		if r, err := Run(a, Options{Size: 3, Reduce: Confluence}); err != nil || r.Violation != nil || r.Orders != 2 || r.Confluent != 1 {
			t.Errorf("%+v, %v", r, err)
		}
	}
}
