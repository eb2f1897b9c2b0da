package work

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Shard is one of several parts of a job that are computed apart and merged later. The zero value is the whole job.
type Shard struct{ Number, Of uint64 } // Number is 1 … Of

// mostShards is the largest number of shards of a job.
const mostShards = 1 << 16

// ParseShard reads a shard such as 3/16. Some batch systems count from 0: shard 0/16 is shard 16/16.
func ParseShard(text string) (s Shard, err error) {
	number, of, found := strings.Cut(text, "/")
	s.Number, err = strconv.ParseUint(number, 10, 64)
	if err == nil && found {
		s.Of, err = strconv.ParseUint(of, 10, 64)
	}
	if s.Number == 0 {
		s.Number = s.Of
	}
	if err != nil || s.Number < 1 || s.Number > s.Of || s.Of > mostShards {
		return Shard{}, fmt.Errorf("%q is not a shard, such as 3/16: the third of 16, of at most %d", text, mostShards)
	}
	return s, nil
}

func (s Shard) String() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Number, s.Of)
}

// dealt is the number of blocks of units that each shard gets, if there are enough units. Units with a similar number
// often take a similar time, so that blocks from everywhere make the shards take equal time.
const dealt = 64

// Pieces returns the units of the shard, of that many.
func (s Shard) Pieces(units uint64) (pieces []Piece) {
	if s.Of == 0 {
		return []Piece{{0, units}}
	}
	blocks := min(units, dealt*s.Of)
	border := func(block uint64) uint64 { // block·units/blocks
		high, low := bits.Mul64(block, units)
		quotient, _ := bits.Div64(high, low, blocks)
		return quotient
	}
	for block := s.Number - 1; block < blocks; block += s.Of {
		from, to := border(block), units
		if block+1 < blocks {
			to = border(block + 1)
		}
		pieces = append(pieces, Piece{from, to})
	}
	return pieces
}

// Only makes a shard's units the only ones that are needed.
func (r *Results) Only(s Shard) {
	var needed Ranges
	for _, p := range s.Pieces(r.task.Units()) {
		needed.Add(p)
	}
	for _, other := range needed.Missing(r.task.Units()) {
		r.Skip(other)
	}
}

// Lacks reports whether a unit of a shard is needed and not computed.
func (r *Results) Lacks(s Shard) bool {
	for _, p := range s.Pieces(r.task.Units()) {
		if r.Needs(p) {
			return true
		}
	}
	return false
}
