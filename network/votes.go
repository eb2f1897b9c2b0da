package network

import (
	"errors"
	"fmt"

	"ringleader.example/ringleader/election"
)

// readVotes translates votes for real identifiers into votes for identifiers as algorithms know them.
func (p *Instance) readVotes(i Setup) error {
	n := i.IDs.Len()
	switch {
	case !p.d.Votes && i.Votes != nil:
		return errors.New("it uses no votes")
	case !p.d.Votes:
		return nil
	case n > election.MaxVoters:
		return fmt.Errorf("at most %d processes can vote, not %d", election.MaxVoters, n)
	case i.Votes != nil && len(i.Votes) != n:
		return fmt.Errorf("each process has one vote, so %d have %[1]d, not %d", n, len(i.Votes))
	}
	named := make(map[uint64]election.ID, n)
	for q := range n {
		named[p.Real(q)] = p.ID(q)
	}
	p.votes = make([]election.ID, n)
	for q := range n {
		voter := named[i.IDs.At(q)]
		candidate, exists := voter, true
		if i.Votes != nil {
			candidate, exists = named[i.Votes[q]]
		}
		if !exists {
			return fmt.Errorf("process %d votes for %d, which does not exist; %s", i.IDs.At(q), i.Votes[q], Extent(i.IDs))
		}
		position := q
		if p.d.Topology == election.Complete { // its identifiers were sorted
			position = int(voter) - 1
		}
		p.votes[position] = candidate
	}
	p.winner = p.Tally().Winner()
	return nil
}

// Votes returns the votes of all processes by position, as real identifiers; nil without votes.
func (p *Instance) Votes() []uint64 {
	var votes []uint64
	for _, candidate := range p.votes {
		votes = append(votes, p.RealOf(candidate))
	}
	return votes
}

// Tally counts the votes; nil without votes.
func (p *Instance) Tally() election.Tally { return election.TallyOf(p.votes...) }

// Right returns the identifier that should lead among the processes at some positions; 0 if any may. All votes count,
// also those of other positions.
func (p *Instance) Right(among func(position int) bool) election.ID {
	if p.d.Winner == election.Voted {
		return p.winner
	}
	var best election.ID
	for q := range p.Size() {
		id := p.ID(q)
		if !among(q) {
			continue
		}
		if p.d.Winner == election.Largest && id > best || p.d.Winner == election.Smallest && (best == 0 || id < best) {
			best = id
		}
	}
	return best
}
