package election

import "strconv"

// Topology is the shape of a network: [Ring], [Complete], [Tree] or [UnknownNeighbours].
type Topology uint8

// The shapes.
const (
	Ring              Topology = iota // ports 0 and 1; n = 1 is a self-loop on two ports, n = 2 two parallel links
	Complete                          // of known members (KT1): n ports, port j-1 leads to process j, the process's own back to it
	Tree                              // ports 0 .. degree-1 in the order in which the edges are given
	UnknownNeighbours                 // complete, unknown neighbours (KT0): n-1 ports, in an order of each process's own
)

// String returns its name in JSON and in texts.
func (t Topology) String() string {
	return [...]string{"ring", "complete graph", "tree", "complete graph of strangers"}[t]
}

// Phrase returns the shape in words for people, of n processes unless n is 0. [Topology.String] returns its name in JSON
// and traces.
func (t Topology) Phrase(n int) string {
	name, detail := t.String(), ""
	if t == UnknownNeighbours {
		name, detail = Complete.String(), ", unknown neighbours (KT0)"
	}
	if n > 0 {
		name += " of " + strconv.Itoa(n)
	}
	return name + detail
}
