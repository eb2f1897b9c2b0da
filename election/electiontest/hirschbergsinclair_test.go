package electiontest

import "ringleader.example/ringleader/election"

// Hirschberg and Sinclair as in S3: from, ok and no, on a ring without orientation. Only the leader learns the
// result.
type candidate struct {
	ID        election.ID
	Stage     uint8
	Oks       uint8
	Withdrawn bool
	Elected   bool
}

type from struct {
	ID   election.ID
	X, Y uint32
}

const (
	fromKind election.Kind = iota
	okKind
	noKind
)

var hirschbergSinclair = func() election.Algorithm[candidate, from] {
	d := title("test-hirschberg-sinclair")
	d.Unoriented = true
	d.Starts = election.AllStart
	d.Winner = election.Largest
	d.Decides = election.LeaderOnly
	d.Kinds = []election.MessageKind{{Name: "from"}, {Name: "ok"}, {Name: "no"}}
	d.Bounds = []election.Bound{{
		Of: "election", Case: election.Worst, Formula: "4(n + 2⌊n/2⌋ + 4⌊n/3⌋ + …)", Source: "S3 section 4",
		Value: func(n uint64) uint64 {
			sum := n
			for half := uint64(1); half+1 <= n; half *= 2 {
				sum += 2 * half * (n / (half + 1))
			}
			return 4 * sum
		},
	}}
	return election.Algorithm[candidate, from]{
		Declaration: d,
		New:         func(l election.Local) candidate { return candidate{ID: l.ID} },
		Start:       (*candidate).stage,
		Receive:     (*candidate).receive,
	}
}()

func (c *candidate) stage(out *election.Out[from]) {
	out.Send(0, fromKind, from{c.ID, 0, 1 << c.Stage})
	out.Send(1, fromKind, from{c.ID, 0, 1 << c.Stage})
}

func (c *candidate) receive(port election.Port, kind election.Kind, m from, out *election.Out[from]) {
	switch {
	case kind == fromKind && m.ID == c.ID: // S3 omits this case
		if !c.Elected {
			c.Elected = true
			out.Lead(0)
		}
	case kind == fromKind && m.ID < c.ID:
		out.Send(port, noKind, from{ID: m.ID})
	case kind == fromKind && m.X+1 == m.Y:
		out.Send(port, okKind, from{ID: m.ID})
	case kind == fromKind:
		out.Send(1-port, fromKind, from{m.ID, m.X + 1, m.Y})
	case m.ID != c.ID:
		out.Send(1-port, kind, m)
	case kind == noKind:
		c.Withdrawn = true
	default:
		if c.Oks++; c.Oks == 2 && !c.Withdrawn {
			c.Oks = 0
			c.Stage++
			c.stage(out)
		}
	}
}
