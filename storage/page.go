package storage

import (
	"encoding/binary"
	"hash/crc32"
)

// The sizes of the parts of a store, in bytes. A device writes a sector as a whole or not at all.
const (
	pageSize   = 4096
	sectorSize = 512
	sealSize   = 8 + 4 + 4
	sealAt     = sectorSize - sealSize                // in a sector
	capacity   = (pageSize / sectorSize) * sealAt     // of a page, for its content
	pairSize   = 2 * pageSize                         // a content has two pages, so that one is whole at any moment
	bound      = len(place{}.store) + 8 + 8 + (8 + 4) // what the sum of a seal is about
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// place is where a page belongs. A page that is elsewhere has no valid seal.
type place struct {
	store  [16]byte // zero for the pages that tell it
	number uint64   // of the page in the file
}

// seal returns the end of a sector: the sequence number of the write, the checksum of the rest of the sector, and a checksum of these
// two and the place. So a seal proves the number of its write even if the rest of its sector is damaged.
func (at place) seal(sector int, sequence uint64, sum uint32) [sealSize]byte {
	var b [bound]byte
	n := copy(b[:], at.store[:])
	binary.LittleEndian.PutUint64(b[n:], at.number)
	binary.LittleEndian.PutUint64(b[n+8:], uint64(sector))
	binary.LittleEndian.PutUint64(b[n+16:], sequence)
	binary.LittleEndian.PutUint32(b[n+24:], sum)
	var s [sealSize]byte
	copy(s[:], b[n+16:])
	binary.LittleEndian.PutUint32(s[12:], crc32.Checksum(b[:], castagnoli))
	return s
}

// page returns the page of a content that is at most capacity bytes long.
func (at place) page(sequence uint64, content []byte) []byte {
	p := make([]byte, pageSize)
	for sector := range pageSize / sectorSize {
		s := p[sector*sectorSize:][:sectorSize]
		content = content[copy(s[:sealAt], content):]
		seal := at.seal(sector, sequence, crc32.Checksum(s[:sealAt], castagnoli))
		copy(s[sealAt:], seal[:])
	}
	return p
}

// look is what the seals of a page tell.
type look struct {
	lowest, highest uint64 // sequence numbers of valid seals
	sealed          bool   // one seal at least is valid
	whole           bool   // all are, with the same number, and so is what they seal
	content         []byte // of capacity bytes, if it is whole
}

func (at place) look(p []byte) look {
	l := look{whole: true}
	for sector := range pageSize / sectorSize {
		s := p[sector*sectorSize:][:sectorSize]
		seal := [sealSize]byte(s[sealAt:])
		sequence, sum := binary.LittleEndian.Uint64(seal[:]), binary.LittleEndian.Uint32(seal[8:])
		if seal != at.seal(sector, sequence, sum) {
			l.whole = false
			continue
		}
		if !l.sealed {
			l.lowest, l.highest, l.sealed = sequence, sequence, true
		}
		l.lowest, l.highest = min(l.lowest, sequence), max(l.highest, sequence)
		l.whole = l.whole && sum == crc32.Checksum(s[:sealAt], castagnoli)
		l.content = append(l.content, s[:sealAt]...)
	}
	l.whole = l.whole && l.lowest == l.highest
	return l
}

// pair is where a content is kept: in the pages 2·number and 2·number + 1 of the file, in turns. A page of an even
// number has writes of even sequence numbers.
type pair struct {
	number  uint64
	durable uint64 // the sequence number of the content that counts
	next    uint64 // the sequence number of the next write, which goes to the other page
}

// newPair returns a pair as it is made, with its two pages: a write 0 and a write 1 of the same content.
func newPair(store [16]byte, number uint64, content []byte) (pair, []byte) {
	p := pair{number, 1, 2}
	return p, append(p.at(store, 0).page(0, content), p.at(store, 1).page(1, content)...)
}

func (p *pair) at(store [16]byte, sequence uint64) place {
	return place{store, 2*p.number + sequence&1}
}

// judge finds the write that counts in the two pages of a pair, and returns its content. If it returns false, a write
// that was acknowledged may be lost. The package comment has the reasons.
func (p *pair) judge(store [16]byte, pages []byte) ([]byte, bool) {
	newest, other := p.at(store, 0).look(pages[:pageSize]), p.at(store, 1).look(pages[pageSize:])
	if !newest.whole || other.whole && other.highest > newest.highest {
		newest, other = other, newest
	}
	if !newest.whole {
		return nil, false
	}
	incomplete := other.sealed && other.lowest < max(other.highest, newest.highest)
	if !other.whole && !incomplete {
		return nil, false
	}
	p.durable = newest.highest
	p.next = max(newest.highest+1, other.highest+2) // never a number that the page has: two writes could not be told apart
	return newest.content, true
}

// attempted reports whether the page that does not count may have a write that was not acknowledged. The write may count after a crash.
func (p *pair) attempted() bool { return p.next != p.durable+1 }

// settle makes the last write the one that counts, because it is durable.
func (p *pair) settle() {
	p.durable = p.next - 2
	p.next = p.durable + 1
}
