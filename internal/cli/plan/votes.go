package plan

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/network"
)

// ballots hold each process's vote.
type ballots struct {
	votes  string
	Scores string
}

// locality is the word for scores that need no file.
const locality = "locality"

func (b *ballots) flags(command *cobra.Command) {
	f := command.Flags()
	f.StringVar(&b.votes, "votes", "", "vote of each process, by position: 3,3,5, or a file of these (default: each for itself)")
	f.StringVar(&b.Scores, "scores", "", "votes go to the highest score: a file with a row for each voter, or one for all; or "+locality+": to the nearest")
}

// read gives a setup its votes. ids are the identifiers by position, as they were given.
func (b *ballots) read(e *catalogue.Entry, i *network.Setup, ids []uint64) (err error) {
	votes := func(e *catalogue.Entry) bool { return e.Votes }
	switch {
	case !votes(e):
		return fmt.Errorf("%s has no votes; --votes and --scores are for %s", e.Name, strings.Join(e.List().Where(votes), ", "))
	case b.votes != "" && b.Scores != "":
		return errors.New("--votes gives all votes; leave out --scores")
	case b.Scores == locality:
		i.Votes, err = nearest(e, *i)
		return err
	case b.Scores != "":
		i.Votes, err = readScores(b.Scores, ids)
	default:
		i.Votes, err = readVotes(b.votes)
	}
	if err != nil || e.Topology != election.Complete || len(i.Votes) != len(ids) {
		return err
	}
	of := map[uint64]uint64{} // voters are sorted there
	for q, id := range ids {
		of[id] = i.Votes[q]
	}
	for q := range i.Votes {
		i.Votes[q] = of[i.IDs.At(q)]
	}
	return nil
}

// readVotes reads a list of votes: what can be read as a list is one, and anything else names a file.
func readVotes(text string) (votes []uint64, err error) {
	if votes, err = numbers(text); err == nil {
		return votes, nil
	}
	rows, err := readRows("votes", strings.TrimPrefix(text, "@"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("--votes: %q is neither a list of identifiers, such as 3,3,5, nor a file", text)
	}
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		row, err := numbers(strings.Join(r.words, ","))
		if err != nil {
			return nil, fmt.Errorf("--votes: %s: %w", r.at, err)
		}
		votes = append(votes, row...)
	}
	return votes, nil
}

// byteOrderMark begins text files of some editors.
const byteOrderMark = "\ufeff"

// mostRows is the size in bytes of the largest file of votes or scores: that of scores of 4000 processes, for example.
const mostRows = 128 << 20

// row is a line of a file that is not blank.
type row struct {
	at    string // file and line
	words []string
}

// readRows reads words, which blanks or commas separate.
func readRows(flag, name string) (rows []row, err error) {
	text, err := option.ReadFile(name, mostRows)
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return nil, fmt.Errorf("--%s: cannot read %s: %w", flag, name, path.Err)
	}
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(string(text), byteOrderMark)) {
		number++
		if words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) }); len(words) > 0 {
			rows = append(rows, row{fmt.Sprintf("%s, line %d", name, number), words})
		}
	}
	if rows == nil {
		return nil, fmt.Errorf("--%s: %s is empty", flag, name)
	}
	return rows, nil
}

// readScores reads a matrix, of which row and column stand for voter and candidate by position, or one row
// for all voters. Each votes for the highest score of its row, and of equal ones for the largest identifier.
func readScores(name string, ids []uint64) ([]uint64, error) {
	rows, err := readRows("scores", name)
	if err != nil {
		return nil, err
	}
	if len(rows) != 1 && len(rows) != len(ids) {
		return nil, fmt.Errorf("--scores: %s has %s for %s; a row for each voter, or one for all", name, amount.Of(len(rows), "row"), amount.Of(len(ids), "process"))
	}
	votes := make([]uint64, len(ids))
	for q := range votes {
		if len(rows) == 1 && q > 0 {
			votes[q] = votes[0]
			continue
		}
		if votes[q], err = best(&rows[q], ids); err != nil {
			return nil, err
		}
	}
	return votes, nil
}

// best returns the candidate with the highest score in a row.
func best(r *row, ids []uint64) (candidate uint64, err error) {
	if len(r.words) != len(ids) {
		return 0, fmt.Errorf("--scores: %s: %s for %s", r.at, amount.Of(len(r.words), "score"), amount.Of(len(ids), "candidate"))
	}
	var highest *big.Rat
	for q, word := range r.words {
		score, ok := election.Rational(word)
		if !ok {
			return 0, fmt.Errorf("--scores: %s: %.40q is not a number such as 3, -1.5 or 3/2", r.at, word)
		}
		order := 1
		if highest != nil {
			order = cmp.Or(score.Cmp(highest), cmp.Compare(ids[q], candidate))
		}
		if order > 0 {
			candidate, highest = ids[q], score
		}
	}
	return candidate, nil
}

// nearest are votes by locality: a score is minus the distance, and no process votes for itself unless it is
// alone. So each votes for a neighbour, the one with the largest identifier.
func nearest(e *catalogue.Entry, i network.Setup) ([]uint64, error) {
	p, err := network.Prepare(e.Declaration, i)
	if err != nil {
		return nil, err
	}
	votes := make([]uint64, p.Size())
	for q := range votes {
		found := false
		for port := range p.Network.Degree(q) {
			neighbour, _ := p.Network.End(p.Network.First(q) + uint32(port))
			if neighbour != q && (!found || p.Real(neighbour) > votes[q]) {
				votes[q], found = p.Real(neighbour), true
			}
		}
		if !found {
			votes[q] = p.Real(q)
		}
	}
	return votes, nil
}
