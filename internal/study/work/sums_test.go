package work_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/big"

	"ringleader.example/ringleader/internal/study/work"
)

// sums is the trivial kind: the sum of the hashes of numbers.
type sums struct {
	Of    uint64 `json:"of"`
	fails uint64 // from this unit on; 0: never
	ends  uint64 // at this unit; 0: never
}

func (s *sums) Units() uint64 { return s.Of }

type sum struct {
	Sum  *big.Int `json:"sum"`
	Ends bool     `json:"ends,omitempty"`
}

var errSums = errors.New("a sum fails")

func (s *sums) Compute(ctx context.Context, p work.Piece) ([]byte, error) {
	total := sum{Sum: new(big.Int)}
	for u := p.From; u < p.To && !total.Ends; u++ {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if s.fails > 0 && u >= s.fails {
			return nil, errSums
		}
		hash := sha256.Sum256(binary.BigEndian.AppendUint64(nil, u))
		total.Sum.Add(total.Sum, new(big.Int).SetBytes(hash[:]))
		total.Ends = s.ends > 0 && u >= s.ends
	}
	return json.Marshal(total)
}

func (s *sums) Join(first, second []byte) ([]byte, error) {
	var a, b sum
	if err := errors.Join(json.Unmarshal(first, &a), json.Unmarshal(second, &b)); err != nil {
		return nil, err
	}
	if a.Sum == nil || b.Sum == nil {
		return nil, errors.New("no sum")
	}
	if a.Ends {
		return first, nil
	}
	a.Sum.Add(a.Sum, b.Sum)
	a.Ends = b.Ends
	return json.Marshal(a)
}

func (s *sums) Ends(result []byte) bool {
	var a sum
	return json.Unmarshal(result, &a) == nil && a.Ends
}

// heavier is sums whose weight grows with the unit.
type heavier struct{ sums }

func (heavier) Weight(p work.Piece) float64 {
	return float64(p.To)*float64(p.To+1)/2 - float64(p.From)*float64(p.From+1)/2
}
