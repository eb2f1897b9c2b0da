package electiontest

import "ringleader.example/ringleader/election"

// Random election on an anonymous ring of known size: Itai and Rodeh in the form of Fokkink and Pang without round
// numbers, and so with finitely many states.
type gambler struct {
	N       uint32 `election:"constant"`
	Coin    uint32
	Passive bool
	Awake   bool
}

type wager struct {
	Coin, Hop uint32
	Unique    bool
}

const (
	wagerKind election.Kind = iota
	wonKind
)

var coins = func() election.Algorithm[gambler, wager] {
	d := title("test-coins")
	d.OneWay = true
	d.FIFO = true
	d.Identifiers = election.Anonymous
	d.KnowsSize = true
	d.Starts = election.AllStart
	d.Kinds = []election.MessageKind{{Name: "wager"}, {Name: "won", Class: election.Announcement}}
	return election.Algorithm[gambler, wager]{
		Declaration: d,
		New:         func(l election.Local) gambler { return gambler{N: uint32(l.N)} },
		Start:       (*gambler).start,
		Receive: func(g *gambler, _ election.Port, kind election.Kind, m wager, out *election.Out[wager]) {
			g.start(out)
			g.receive(kind, m, out)
		},
	}
}()

func (g *gambler) start(out *election.Out[wager]) {
	if !g.Awake {
		g.Awake = true
		g.bet(out)
	}
}

func (g *gambler) bet(out *election.Out[wager]) {
	g.Coin = out.Choose(2)
	out.Send(0, wagerKind, wager{g.Coin, 1, true})
}

func (g *gambler) receive(kind election.Kind, m wager, out *election.Out[wager]) {
	switch {
	case kind == wonKind && g.Passive:
		out.Follow(0, 0)
		out.Send(0, wonKind, m)
	case kind == wonKind: // returned to its origin
	case g.Passive:
		out.Send(0, wagerKind, wager{m.Coin, m.Hop + 1, m.Unique})
	case m.Hop == g.N && m.Unique:
		out.Lead(0)
		out.Send(0, wonKind, wager{})
	case m.Hop == g.N:
		g.bet(out)
	case m.Coin > g.Coin:
		g.Passive = true
		out.Send(0, wagerKind, wager{m.Coin, m.Hop + 1, m.Unique})
	case m.Coin == g.Coin:
		out.Send(0, wagerKind, wager{m.Coin, m.Hop + 1, false})
	}
}
