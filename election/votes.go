package election

import (
	"cmp"
	"slices"
)

// Share is the number of votes of one candidate.
type Share struct {
	Candidate ID
	Votes     uint32
}

// Tally is a count of votes: the shares of all candidates that have any, smallest identifier first. It is never
// written to, so it may be sent and kept.
type Tally []Share

// MaxVoters is the maximum number of voters: a tally is a list of at most that many shares.
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

// Plus returns the sum of two tallies.
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

// Winner returns the candidate with the most votes, of several the one with the largest identifier; 0 if there are no
// votes.
func (t Tally) Winner() ID {
	var best Share
	for _, s := range t {
		if s.Votes >= best.Votes {
			best = s
		}
	}
	return best.Candidate
}
