package stopandgo

import (
	"math"
	"math/big"

	"ringleader.example/ringleader/election"
)

// The parameters of each protocol.
var (
	p1c = election.Number{Name: "c", Least: 2, Default: "2", About: "the first hypothesis, and the factor, such as 3 or 5/2"}

	p2c = election.Number{Name: "c", Whole: true, Least: 2, Default: "2", About: "the first hypothesis"}
	p2a = election.Number{Name: "a", Least: 1, Above: true, Default: "2", About: "the exponent, greater than 1, such as 3/2"}

	p3c = election.Number{
		Name: "c", Whole: true, Least: 2, Default: "3",
		About: "the first hypothesis; with 2 the hypotheses do not grow, so n is at most 2",
	}

	p4c = election.Number{
		Name: "c", Whole: true, Least: 2, Default: "2",
		About: "the first hypothesis; for epsilon up to 0.53 it must be large: above 16 for 1/2",
	}
	p4epsilon = election.Number{Name: "epsilon", Above: true, Default: "1", About: "the exponent of the exponent, greater than 0, such as 3/4"}
)

// The four protocols of S5 section 5.
var (
	P1 = With(election.Declaration{
		Name:   "stop-and-go-p1",
		Title:  "Stop and go P1 (Marchetti-Spaccamela)",
		Year:   1987,
		Source: "Marchetti-Spaccamela 1987, sections 3 and 5, P1 (S5)",
		About: about + "Here each hypothesis is c times the one before: O(n log n / log c) messages and O(c·n·i) time, " +
			"where i is the smallest identifier.",
		Parameters: []election.Parameter{&p1c},
	}, times, "c of at least 2 would do")

	P2 = With(election.Declaration{
		Name:   "stop-and-go-p2",
		Title:  "Stop and go P2 (Marchetti-Spaccamela)",
		Year:   1987,
		Source: "Marchetti-Spaccamela 1987, sections 3 and 5, P2 (S5)",
		About: about + "Here each hypothesis is a power of the one before: O(n log_a log_c n) messages and O(n^a·i) time, " +
			"where i is the smallest identifier.",
		Parameters: []election.Parameter{&p2c, &p2a},
	}, toThePower, "a greater than 1 would do")

	P3 = With(election.Declaration{
		Name:   "stop-and-go-p3",
		Title:  "Stop and go P3 (Marchetti-Spaccamela)",
		Year:   1987,
		Source: "Marchetti-Spaccamela 1987, sections 3 and 5, P3 (S5)",
		About: about + "Here each hypothesis is h^(lg h) after h: O(n lg lg lg n) messages and O(n^(lg n)·i) time, " +
			"where i is the smallest identifier.",
		Parameters: []election.Parameter{&p3c},
	}, toItsLogarithm, "c of at least 3 would do")

	P4 = With(election.Declaration{
		Name:   "stop-and-go-p4",
		Title:  "Stop and go P4 (Marchetti-Spaccamela)",
		Year:   1987,
		Source: "Marchetti-Spaccamela 1987, sections 3 and 5, P4 (S5)",
		About: about + "Here each hypothesis is 2^(h^epsilon) after h: O(n log* n) messages and O(2^(n^epsilon)·i) time, " +
			"where i is the smallest identifier.",
		Parameters: []election.Parameter{&p4c, &p4epsilon},
	}, twoToThePower, "epsilon of at least 0.54 would do with any c, or c above the larger solution of c = 2^(c^epsilon), which is 16 for epsilon = 1/2")
)

const about = "Identities travel round the ring and stop for a time proportional to their value, as if the length of the ring " +
	"were h_1, then h_2, …, until a hypothesis is at least that length. A processor kills an identity if it knows a smaller one. "

// With returns the scheme with any rule for the hypotheses. The declaration d gives what is particular to it: name,
// title, year, source, description and parameters. grows is the advice for parameters whose hypotheses stop growing.
func With(d election.Declaration, rule Rule, grows string) election.Algorithm[Process, Message] {
	d.Topology = election.Ring
	d.OneWay = true
	d.Timing = election.Synchronous
	d.Identifiers = election.Computed
	d.Willingness = true
	d.FIFO = true
	d.Counts = election.CountsStartFirst
	d.Winner = election.Smallest
	d.Kinds = []election.MessageKind{
		{Name: "election started", Class: election.Election},
		{Name: "identity", Class: election.Election},
		{Name: "elected", Class: election.Announcement},
	}
	d.Timers = []string{"stop"}
	d.Sequence = func(set election.Parameters, n uint64, bits uint) ([]*big.Int, error) {
		return rule.sequence(set, n, bits, grows)
	}
	d.Adjust = func(d *election.Declaration, set election.Parameters) { d.Bounds = bounds(d, set) }
	if set, err := d.Set(nil); err == nil { // if not, Validate reports it
		d.Bounds = bounds(&d, set)
	}
	return election.Algorithm[Process, Message]{
		Declaration: d,
		New:         New,
		Start:       (*Process).Start,
		Receive:     (*Process).Receive,
		Timeout:     (*Process).Timeout,
		Eligible:    (*Process).participates,
		Phase:       phase,
	}
}

// bounds returns S5's bounds of messages. Its bounds of time depend on the smallest identifier.
func bounds(d *election.Declaration, set election.Parameters) []election.Bound {
	hypotheses := d.Sequence
	return []election.Bound{
		{
			Of: "election", Case: election.Worst, Formula: "n + t(2n-1), where h_(t-1) < n <= h_t",
			Source: "S5 theorems 4.2 and 4.3: n in phase 0, and fewer than 2n in each of t phases",
			Value: func(n uint64) uint64 {
				all, err := hypotheses(set, n, 64)
				if err != nil { // there is no election
					return math.MaxUint64
				}
				return n + uint64(len(all))*(2*n-1)
			},
		},
		{
			Of: "election", Case: election.Best, Formula: "2n", Source: "the leader's identity goes round after phase 0; reached if it alone participates",
			Value: func(n uint64) uint64 { return 2 * n },
		},
	}
}
