package electiontest

import "ringleader.example/ringleader/election"

// The list that goes round a ring and collects identifiers, S2 section 2.4, without failures. The list is never
// written to: each process sends a longer one.
type collector struct {
	ID        election.ID
	Initiator bool
	Decided   bool
}

type collection struct {
	List   []election.ID // the first is the initiator
	Leader election.ID
}

const (
	listKind election.Kind = iota
	coordinatorKind
)

var collecting = func() election.Algorithm[collector, collection] {
	d := title("test-collecting")
	d.OneWay = true
	d.Winner = election.Largest
	d.Kinds = []election.MessageKind{{Name: "election"}, {Name: "coordinator", Class: election.Announcement}}
	d.Bounds = []election.Bound{{
		Of: "total", Case: election.Worst, Formula: "2n²", Value: func(n uint64) uint64 { return 2 * n * n },
	}}
	return election.Algorithm[collector, collection]{
		Declaration: d,
		New:         func(l election.Local) collector { return collector{ID: l.ID} },
		Start: func(c *collector, out *election.Out[collection]) {
			c.Initiator = true
			out.Send(0, listKind, collection{List: []election.ID{c.ID}})
		},
		Receive: (*collector).receive,
	}
}()

func (c *collector) receive(_ election.Port, kind election.Kind, m collection, out *election.Out[collection]) {
	home := m.List[0] == c.ID
	switch {
	case kind == listKind && home:
		for _, id := range m.List {
			m.Leader = max(m.Leader, id)
		}
		out.Send(0, coordinatorKind, collection{List: m.List[:1], Leader: m.Leader})
	case kind == listKind:
		m.List = append(m.List[:len(m.List):len(m.List)], c.ID)
		out.Send(0, listKind, m)
	default:
		if !c.Decided && m.Leader == c.ID {
			out.Lead(0)
		} else if !c.Decided {
			out.Follow(m.Leader, 0)
		}
		c.Decided = true
		if !home {
			out.Send(0, coordinatorKind, m)
		}
	}
}
