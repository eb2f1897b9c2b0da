package gallery

import (
	"slices"

	"ringleader.example/ringleader/algorithms/dolevklawerodeh"
	"ringleader.example/ringleader/algorithms/franklin"
	hs "ringleader.example/ringleader/algorithms/hirschbergsinclair"
	"ringleader.example/ringleader/algorithms/itairodeh"
	irs "ringleader.example/ringleader/algorithms/itairodehsynchronous"
	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/algorithms/lelann"
	"ringleader.example/ringleader/algorithms/peterson"
	"ringleader.example/ringleader/algorithms/stopandgo"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/verify"
)

// rings are elections on rings.
func rings() []Exhibit {
	reorder := func(o verify.Options) verify.Options {
		o.Unordered = true
		return o
	}
	anyTime := func(o verify.Options) verify.Options {
		o.Starts = verify.AnyTime
		return o
	}
	return []Exhibit{
		exhibit(lcr.Algorithm, Exhibit{
			Name: "lcr-equal-identifiers", Broken: "identifiers are distinct", Property: verify.TwoLeaders,
			Options: verify.Options{Setup: network.Setup{IDs: election.List{2, 1, 2}, Duplicates: true}},
		}),
		exhibit(lcrForwardsAll(), Exhibit{
			Name: "lcr-forwards-smaller", Broken: "a smaller identifier is discarded", Property: verify.WrongLeader,
			Options: with(3),
		}),
		exhibit(lelannRelays(), Exhibit{
			Name: "lelann-relays-asleep", Broken: "a process that a message reaches joins before it forwards", Property: verify.WrongLeader,
			Options: anyTime(with(2)),
		}),
		exhibit(dolevklawerodeh.Algorithm, Exhibit{
			Name: "dolev-klawe-rodeh-without-fifo", Broken: "links are FIFO", Property: verify.WrongLeader,
			Command: "dolev-klawe-rodeh --n 4 --start all --reorder", Options: reorder(with(4)),
		}),
		exhibit(franklin.Algorithm, Exhibit{
			Name: "franklin-without-fifo", Broken: "links are FIFO", Property: verify.Undecided,
			Command: "franklin --n 4 --start all --reorder", Options: reorder(with(4)),
		}),
		exhibit(peterson.Algorithm, Exhibit{
			Name: "peterson-without-fifo", Broken: "links are FIFO", Property: verify.BoundBroken,
			Command: "peterson --n 4 --start all --reorder", Options: reorder(with(4)),
		}),
		exhibit(hsShort(), Exhibit{
			Name: "hirschberg-sinclair-one-hop-less", Broken: "a question of stage i passes 2^i processes", Property: verify.BoundBroken,
			Options: with(4),
		}),
		exhibit(itairodeh.Algorithm, Exhibit{
			Name: "itai-rodeh-without-round-numbers", Broken: "links are FIFO, or rounds are numbered", Property: verify.Undecided,
			Command: "itai-rodeh --n 3 --param rounds=unnumbered --start all --reorder", Options: reorder(with(3, "rounds", "unnumbered")),
		}),
		exhibit(itaiRodehSize(-1), Exhibit{
			Name: "itai-rodeh-small-n", Broken: "n is known exactly: it is taken for one less", Property: verify.Irrevocable,
			Options: with(3, "rounds", "unnumbered"),
		}),
		exhibit(irsShort(), Exhibit{
			Name: "itai-rodeh-synchronous-short-phases", Broken: "a phase has n units, not n - 1", Property: verify.TwoLeaders,
			Options: with(3),
		}),
		exhibit(irs.Algorithm, Exhibit{
			Name: "itai-rodeh-synchronous-one-choice", Broken: "there are two values at least to choose from", Property: verify.NeverEnds,
			Command: "itai-rodeh-synchronous --n 3 --param choices=1", Options: with(3, "choices", "1"),
		}),
		exhibit(stopAndGoUnpassed(), Exhibit{
			Name: "stop-and-go-unpassed", Broken: "a hypothesis is at least n: here the last one is below", Property: verify.Undecided,
			Options: with(4),
		}),
	}
}

// lcrForwardsAll is LCR that forwards every identifier but its own.
func lcrForwardsAll() election.Algorithm[lcr.Process, lcr.Message] {
	a := lcr.Algorithm
	a.Receive = func(p *lcr.Process, port election.Port, kind election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
		if kind == lcr.Election && m.ID < p.ID {
			out.Send(lcr.Right, kind, m)
			return
		}
		p.Receive(port, kind, m, out)
	}
	return a
}

// lelannRelays is LeLann's, but a process that is asleep forwards identifiers and does not join.
func lelannRelays() election.Algorithm[lelann.Process, lelann.Message] {
	a := lelann.Algorithm
	a.Receive = func(p *lelann.Process, port election.Port, kind election.Kind, m lelann.Message, out *election.Out[lelann.Message]) {
		if kind == lelann.Identifier && !p.Initiator && m.ID != p.ID {
			out.Send(lelann.Right, kind, m)
			return
		}
		p.Receive(port, kind, m, out)
	}
	return a
}

// hsShort is Hirschberg and Sinclair's, but a question turns back one process too early.
func hsShort() election.Algorithm[hs.Process, hs.Message] {
	a := hs.Algorithm
	a.Receive = func(p *hs.Process, port election.Port, kind election.Kind, m hs.Message, out *election.Out[hs.Message]) {
		if kind == hs.From && m.Y > 1 && m.X+2 == m.Y {
			m.X++
		}
		p.Receive(port, kind, m, out)
	}
	return a
}

// itaiRodehSize is Itai and Rodeh's with a wrong n.
func itaiRodehSize(change int) election.Algorithm[itairodeh.Process, itairodeh.Message] {
	a := itairodeh.Algorithm
	a.New = func(l election.Local) itairodeh.Process {
		l.N += change
		return itairodeh.New(l)
	}
	return a
}

// irsShort is Itai and Rodeh's synchronous one with phases of n - 1 units.
func irsShort() election.Algorithm[irs.Process, irs.Message] {
	a := irs.Algorithm
	a.New = func(l election.Local) irs.Process {
		p := irs.New(l)
		p.N--
		return p
	}
	return a
}

// stopAndGoUnpassed is stop-and-go of S5 whose hypotheses stay below n, so that identities stop at one for ever.
func stopAndGoUnpassed() election.Algorithm[stopandgo.Process, stopandgo.Message] {
	a := stopandgo.P1
	a.New = func(l election.Local) stopandgo.Process {
		p := stopandgo.New(l)
		p.Hypotheses = slices.Clone(p.Hypotheses)
		p.Hypotheses[len(p.Hypotheses)-1] = election.Forever
		return p
	}
	return a
}
