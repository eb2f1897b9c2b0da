package election

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Share is how many votes one candidate has.
type Share struct {
	Candidate ID
	Votes     uint32
}

// Tally is a count of votes: the shares of all candidates that have any, smallest identifier first. Like
// every list it is never written to, so it may be sent and kept.
type Tally []Share

// MaxVoters is how many processes can vote: a tally is a list of at most so many shares.
const MaxVoters = 1 << 16

// TallyOf counts votes.
func TallyOf(votes ...ID) Tally {
	sorted := slices.Sorted(slices.Values(votes))
	var t Tally
	for _, candidate := range sorted {
		if last := len(t) - 1; last >= 0 && t[last].Candidate == candidate {
			t[last].Votes++
			continue
		}
		t = append(t, Share{candidate, 1})
	}
	return t
}

// Plus is the sum of two tallies.
func (t Tally) Plus(u Tally) Tally {
	sum := make(Tally, 0, len(t)+len(u))
	for len(t) > 0 && len(u) > 0 {
		switch first, second := t[0], u[0]; cmp.Compare(first.Candidate, second.Candidate) {
		case -1:
			sum, t = append(sum, first), t[1:]
		case 1:
			sum, u = append(sum, second), u[1:]
		default:
			sum, t, u = append(sum, Share{first.Candidate, first.Votes + second.Votes}), t[1:], u[1:]
		}
	}
	return append(append(sum, t...), u...)
}

// Winner is the candidate with the most votes, of several the one with the largest identifier; 0 if nobody
// has voted.
func (t Tally) Winner() ID {
	var best Share
	for _, s := range t {
		if s.Votes >= best.Votes {
			best = s
		}
	}
	return best.Candidate
}

// readVotes turns votes for identifiers into votes for what algorithms know.
func (p *Prepared) readVotes(i Instance) error {
	n := i.IDs.Len()
	switch {
	case !p.d.Votes && i.Votes != nil:
		return errors.New("nobody votes in it, so votes mean nothing")
	case !p.d.Votes:
		return nil
	case n > MaxVoters:
		return fmt.Errorf("at most %d processes can vote, not %d", MaxVoters, n)
	case i.Votes != nil && len(i.Votes) != n:
		return fmt.Errorf("each process has one vote, so %d have %[1]d, not %d", n, len(i.Votes))
	}
	named := make(map[uint64]ID, n)
	for q := range n {
		named[p.Real(q)] = p.ID(q)
	}
	p.votes = make([]ID, n)
	for q := range n {
		voter := named[i.IDs.At(q)]
		candidate, exists := voter, true
		if i.Votes != nil {
			candidate, exists = named[i.Votes[q]]
		}
		if !exists {
			return fmt.Errorf("process %d votes for %d, who does not exist; %s", i.IDs.At(q), i.Votes[q], Extent(i.IDs))
		}
		position := q
		if p.d.Topology == Complete { // its identifiers were sorted
			position = int(voter) - 1
		}
		p.votes[position] = candidate
	}
	p.winner = p.Tally().Winner()
	return nil
}

// Votes are the votes of all processes by position, as real identifiers; nil where nobody votes.
func (p *Prepared) Votes() []uint64 {
	var votes []uint64
	for _, candidate := range p.votes {
		votes = append(votes, p.RealOf(candidate))
	}
	return votes
}

// Tally counts the votes; nil where nobody votes.
func (p *Prepared) Tally() Tally { return TallyOf(p.votes...) }

// Right is the identifier that ought to lead among the processes at some positions; 0 if any may. Votes
// count whether or not who cast them is among these.
func (p *Prepared) Right(among func(position int) bool) ID {
	if p.d.Winner == Voted {
		return p.winner
	}
	var best ID
	for q := range p.Size() {
		id := p.ID(q)
		if !among(q) {
			continue
		}
		if p.d.Winner == Largest && id > best || p.d.Winner == Smallest && (best == 0 || id < best) {
			best = id
		}
	}
	return best
}
