package storage

import "encoding/binary"

// magic opens a store; its last byte is the version of the format.
const magic = "ringdat\x02"

// header is the content of the first pair of a store.
type header struct {
	store   [16]byte
	owner   Owner
	records uint32 // the number of pairs after this one
}

func (h *header) encode() []byte {
	b := append([]byte(magic), h.store[:]...)
	b = binary.LittleEndian.AppendUint64(b, h.owner.Member)
	b = binary.LittleEndian.AppendUint32(b, h.records)
	b = append(b, byte(len(h.owner.Group)))
	return append(b, h.owner.Group...)
}

// decodeHeader reads a content that was found whole.
func decodeHeader(content []byte) (h header) {
	b := content[len(magic):]
	b = b[copy(h.store[:], b):]
	h.owner.Member, b = binary.LittleEndian.Uint64(b), b[8:]
	h.records, b = binary.LittleEndian.Uint32(b), b[4:]
	h.owner.Group = string(b[1:][:b[0]])
	return h
}

// encode returns the content of a record's pair. The content of an unused pair is zero.
func (r *Record) encode() []byte {
	b := []byte{1, byte(len(r.Name))}
	b = binary.LittleEndian.AppendUint16(b, uint16(len(r.Data)))
	b = append(b, r.Name...)
	return append(b, r.Data...)
}

// decodeRecord reads a content that was found whole. It returns nil for an unused pair, and false if this is no record.
func decodeRecord(content []byte) (*Record, bool) {
	name, data := int(content[1]), int(binary.LittleEndian.Uint16(content[2:]))
	switch {
	case content[0] == 0:
		return nil, true
	case data > MaxData:
		return nil, false
	}
	b := content[4:]
	return &Record{Name: string(b[:name]), Data: append([]byte{}, b[name:][:data]...)}, true
}
