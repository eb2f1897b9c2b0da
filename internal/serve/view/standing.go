package view

import (
	"encoding/binary"
	"strings"

	"ringleader.example/ringleader/transport"
)

// Standing is how a member stands for election in a group. The algorithm knows only the weight. The members tell each other
// their standing, for people.
type Standing struct {
	Weight uint16 // its rank among members that are as warm; 0: a witness
	Unable string // why it may not lead at present; empty: it may
	Warmth Warmth
	Cold   string // why it could not become warm; empty: it could
}

// Warmth is how far the preparation of a member for the lead is. The order is that of rank.
type Warmth uint8

// The degrees. A member that has nothing to prepare ranks as one that has failed, so all members of a group prepare, or none.
const (
	Unprepared Warmth = iota // it has nothing to prepare, or has not told
	Failed                   // it could not become warm, and tries again
	Warming
	Warm
)

// MaxPreparedWeight is the largest weight of members that prepare: what is above it tells the algorithm how warm a member is.
const MaxPreparedWeight = 1<<14 - 1

// Weighs returns the weight that counts for the algorithm. A warm member is above one that becomes warm, and that above all others, whatever
// their weights are.
func (s Standing) Weighs() uint16 {
	switch {
	case s.Unable != "" || s.Weight == 0:
		return 0
	case s.Warmth == Warm:
		return min(s.Weight, MaxPreparedWeight) + 2*(MaxPreparedWeight+1)
	case s.Warmth == Warming:
		return min(s.Weight, MaxPreparedWeight) + MaxPreparedWeight + 1
	}
	return s.Weight
}

// StandingSize is the length of a standing without its reason: the weight, and the warmth.
const StandingSize = 3

// Append encodes a standing, with at most that many bytes of its reason. A member that may not lead does not tell why it is cold.
func (s Standing) Append(to []byte, most int) []byte {
	to = append(binary.LittleEndian.AppendUint16(to, s.Weight), byte(s.Warmth)<<1)
	reason := s.Cold
	if s.Unable != "" {
		to[len(to)-1] |= 1
		reason = s.Unable
	}
	return append(to, reason[:min(len(reason), most)]...)
}

// DecodeStanding is the inverse of [Standing.Append].
func DecodeStanding(from []byte) (s Standing, err error) {
	if len(from) < StandingSize || from[2]>>1 > byte(Warm) {
		return s, transport.ErrFrame
	}
	s.Weight, s.Warmth = binary.LittleEndian.Uint16(from), Warmth(from[2]>>1)
	reason := strings.ToValidUTF8(string(from[StandingSize:]), "")
	if from[2]&1 == 1 {
		s.Unable = reason
	} else {
		s.Cold = reason
	}
	return s, nil
}
