// Package kept has what a member keeps in its storage beside the state of the algorithm, as bytes.
package kept

import (
	"encoding/binary"
	"fmt"
	"slices"

	"ringleader.example/ringleader/storage"
)

// Member is the durable state of a member itself: its last incarnation, the founders of its groups, the stores of its
// peers, and where its last life was.
type Member struct {
	Store       [16]byte // of this member; not encoded
	Incarnation uint64
	Founders    []uint64            // the members that vote by the list of the first life, in rising order
	Stores      map[uint64][16]byte // by the identifier of a peer: the store that it has
	Place       [16]byte            // the digest of the address of this member in its last life; zero: it had none
}

// The names of records in a storage. Names of groups are free, so a prefix keeps them apart from others.
const (
	MemberName  = ""
	GroupPrefix = "group "
)

// MaxGroup is the largest length of the name of a group, in bytes.
const MaxGroup = storage.MaxName - len(GroupPrefix)

const storeEntry = 8 + 16

// Encode returns the record.
func (r *Member) Encode() storage.Record {
	b := binary.LittleEndian.AppendUint64(nil, r.Incarnation)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(r.Founders)))
	for _, id := range r.Founders {
		b = binary.LittleEndian.AppendUint64(b, id)
	}
	ids := make([]uint64, 0, len(r.Stores))
	for id := range r.Stores {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if r.Place != [16]byte{} { // no member has the identifier 0
		b = append(binary.LittleEndian.AppendUint64(b, 0), r.Place[:]...)
	}
	for _, id := range ids {
		store := r.Stores[id]
		b = append(binary.LittleEndian.AppendUint64(b, id), store[:]...)
	}
	return storage.Record{Name: MemberName, Data: b}
}

// Decode is the inverse of Encode, for a Member whose map of Stores is made.
func (r *Member) Decode(b []byte) error {
	const head = 8 + 4
	founders := 0
	if len(b) >= head {
		founders = int(binary.LittleEndian.Uint32(b[8:]))
	}
	if stores := len(b) - head - 8*founders; stores < 0 || stores%storeEntry != 0 {
		return fmt.Errorf("%w: a member's record of %d bytes", storage.ErrData, len(b))
	}
	r.Incarnation = binary.LittleEndian.Uint64(b)
	r.Founders = nil
	for b = b[head:]; len(r.Founders) < founders; b = b[8:] {
		r.Founders = append(r.Founders, binary.LittleEndian.Uint64(b))
	}
	for ; len(b) > 0; b = b[storeEntry:] {
		if id := binary.LittleEndian.Uint64(b); id != 0 {
			r.Stores[id] = [16]byte(b[8:])
		} else {
			r.Place = [16]byte(b[8:])
		}
	}
	return nil
}

// Load reads the record of a member, and makes that of its next life, which has the incarnation least or a later one. The founders are those of
// the first life or, if the voters of the algorithm never change, those given. A storage of nil keeps nothing.
func Load(s storage.Storage, founders []uint64, fixed bool, least uint64) (r Member, err error) {
	r = Member{Stores: map[uint64][16]byte{}, Founders: founders}
	if s != nil {
		r.Store = s.ID()
		b, err := s.Load(MemberName)
		if err != nil {
			return r, err
		}
		if b != nil {
			if err := r.Decode(b); err != nil {
				return r, err
			}
		}
	}
	if fixed {
		r.Founders = founders
	}
	r.Incarnation = max(least, r.Incarnation+1)
	return r, nil
}
