package kept

import (
	"encoding/binary"

	"ringleader.example/ringleader/election"
)

// Reign is the leader of a term, by its identifier. The term 0 is none.
type Reign struct {
	Term   election.Term
	Leader uint64
}

// ReignSize is the length of an encoded Reign.
const ReignSize = 8 + 8

// Append encodes a reign.
func (r Reign) Append(dst []byte) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, uint64(r.Term)), r.Leader)
}

// DecodeReign is the inverse of Append, for at least ReignSize bytes.
func DecodeReign(b []byte) Reign {
	return Reign{election.Term(binary.LittleEndian.Uint64(b)), binary.LittleEndian.Uint64(b[8:])}
}
