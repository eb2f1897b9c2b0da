package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// standing is the votes of each process, the winner first.
func standing(p *network.Instance) election.Tally {
	shares := p.Tally()
	slices.SortFunc(shares, func(a, b election.Share) int {
		return cmp.Or(cmp.Compare(b.Votes, a.Votes), cmp.Compare(b.Candidate, a.Candidate))
	})
	return shares
}

// votesJSON returns the JSON of votes, if processes vote and there is room.
func votesJSON(p *network.Instance) Object {
	votes := p.Votes()
	if votes == nil || len(votes) > shownIDs {
		return nil
	}
	tally := Object{}
	for _, s := range standing(p) {
		tally = append(tally, Field{fmt.Sprint(p.RealOf(s.Candidate)), s.Votes})
	}
	return Object{{"votes", votes}, {"tally", tally}}
}

// tally writes the votes of each process as text.
func (p *Printer) tally(prepared *network.Instance) {
	const shown = 8
	var shares []string
	for _, s := range standing(prepared) {
		if len(shares) == shown {
			shares = append(shares, "…")
			break
		}
		shares = append(shares, fmt.Sprintf("%d for %d", s.Votes, prepared.RealOf(s.Candidate)))
	}
	if shares != nil {
		fmt.Fprintf(p.Out, "  %-12s %s\n", "votes", strings.Join(shares, ", "))
	}
}
