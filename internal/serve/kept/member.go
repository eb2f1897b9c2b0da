package live

import (
	"encoding/binary"
	"fmt"
	"slices"

	"ringleader.example/ringleader/storage"
)

// memberRecord is the durable state of the member itself: its last incarnation, the founders of its groups, and the stores of its
// peers.
type memberRecord struct {
	store       [16]byte // of this member; not encoded
	incarnation uint64
	founders    []uint64            // the members that vote by the list of the first life, in rising order
	stores      map[uint64][16]byte // by the identifier of a peer: the store that it has
}

// The names of records in a storage. Names of groups are free, so a prefix keeps them apart from others.
const (
	memberRecordName = ""
	groupRecord      = "group "
)

// MaxGroup is the largest length of the name of a group, in bytes.
const MaxGroup = storage.MaxName - len(groupRecord)

const storeEntry = 8 + 16

func (r *memberRecord) encode() storage.Record {
	b := binary.LittleEndian.AppendUint64(nil, r.incarnation)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(r.founders)))
	for _, id := range r.founders {
		b = binary.LittleEndian.AppendUint64(b, id)
	}
	ids := make([]uint64, 0, len(r.stores))
	for id := range r.stores {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		store := r.stores[id]
		b = append(binary.LittleEndian.AppendUint64(b, id), store[:]...)
	}
	return storage.Record{Name: memberRecordName, Data: b}
}

func (r *memberRecord) decode(b []byte) error {
	const head = 8 + 4
	founders := 0
	if len(b) >= head {
		founders = int(binary.LittleEndian.Uint32(b[8:]))
	}
	if stores := len(b) - head - 8*founders; stores < 0 || stores%storeEntry != 0 {
		return fmt.Errorf("%w: a member's record of %d bytes", storage.ErrData, len(b))
	}
	r.incarnation = binary.LittleEndian.Uint64(b)
	r.founders = nil
	for b = b[head:]; len(r.founders) < founders; b = b[8:] {
		r.founders = append(r.founders, binary.LittleEndian.Uint64(b))
	}
	for ; len(b) > 0; b = b[storeEntry:] {
		r.stores[binary.LittleEndian.Uint64(b)] = [16]byte(b[8:])
	}
	return nil
}

// load reads the member's record, and makes that of this life.
func (m *Member) load() error {
	m.record = memberRecord{stores: map[uint64][16]byte{}, founders: foundersOf(m.config.Members)}
	if s := m.config.Storage; s != nil {
		m.record.store = s.ID()
		b, err := s.Load(memberRecordName)
		if err != nil {
			return err
		}
		if b != nil {
			if err := m.record.decode(b); err != nil {
				return err
			}
		}
	}
	if !m.program.Functions.Membership { // its voters never change
		m.record.founders = foundersOf(m.config.Members)
	}
	m.record.incarnation = max(newIncarnation(), m.record.incarnation+1)
	m.incarnation = m.record.incarnation
	return nil
}
