package leasefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"
)

// The layout of version 1; docs/lease-file.md has it as a table.
const (
	magic   = "RLEASE"
	version = "01"

	size      = 4096
	headSize  = 256
	slotSize  = 1920
	valueAt   = 48 // in a slot
	groupAt   = 50 // in the head
	mostGroup = 200

	// MostValue is the largest length of a value, in bytes.
	MostValue = 1024

	leads  = 1
	closed = 2
)

// slots are where the two slots begin: the one for odd sequences, and the one for even ones.
var slots = [2]int{headSize, headSize + slotSize}

// The errors of a reader.
var (
	ErrFormat  = errors.New("this is no lease file")
	ErrVersion = errors.New("this lease file has a version that this program does not know")

	// ErrTimeNamespace reports that the member reads other clocks than this process, so that the end of its lease means nothing here.
	ErrTimeNamespace = errors.New("this lease file is of another time namespace")
)

// ErrTaken reports that a lease file would replace something else, which stays as it is.
var ErrTaken = errors.New("a lease file takes the place of an earlier one of the same member, and of nothing else")

// State is what a lease file says.
type State struct {
	Member uint64   // the identifier of the member that writes the file
	Group  string   // the name of its group
	Boot   [16]byte // the start of the system in which it writes

	// TimeNamespace is the number of the time namespace whose clocks it reads; 0: it is not known.
	TimeNamespace uint64

	Leads  bool // the member leads, if the lease has not ended
	Closed bool // the writer has ended, and will not write again
	Term   uint64

	Boottime  time.Duration // when the lease ends, on CLOCK_BOOTTIME
	Monotonic time.Duration // the same on CLOCK_MONOTONIC, which stops while the machine is suspended

	Value string // what the member publishes
}

// encodeHead returns the head of a file.
func encodeHead(s *State) ([]byte, error) {
	if len(s.Group) > mostGroup {
		return nil, fmt.Errorf("a lease file has room for %d bytes of the name of a group, not %d", mostGroup, len(s.Group))
	}
	b := make([]byte, headSize)
	copy(b, magic+version)
	binary.LittleEndian.PutUint32(b[12:], size)
	copy(b[16:], s.Boot[:])
	binary.LittleEndian.PutUint64(b[32:], s.Member)
	binary.LittleEndian.PutUint64(b[40:], s.TimeNamespace)
	binary.LittleEndian.PutUint16(b[48:], uint16(len(s.Group)))
	copy(b[groupAt:], s.Group)
	binary.LittleEndian.PutUint32(b[8:], crc32.ChecksumIEEE(b[12:]))
	return b, nil
}

// decodeHead sets what the head of a file says.
func decodeHead(b []byte, s *State) error {
	if len(b) < size {
		return fmt.Errorf("%w: it has %d bytes, and not %d", ErrFormat, len(b), size)
	}
	switch number := b[len(magic) : len(magic)+len(version)]; {
	case string(b[:len(magic)]) != magic || len(bytes.Trim(number, "0123456789")) > 0:
		return ErrFormat
	case string(number) != version:
		return fmt.Errorf("%w: %q", ErrVersion, number)
	case binary.LittleEndian.Uint32(b[8:]) != crc32.ChecksumIEEE(b[12:headSize]):
		return fmt.Errorf("%w: its head is damaged", ErrFormat)
	}
	group := int(binary.LittleEndian.Uint16(b[48:]))
	if group > mostGroup || binary.LittleEndian.Uint32(b[12:]) != size {
		return fmt.Errorf("%w: its head makes no sense", ErrFormat)
	}
	copy(s.Boot[:], b[16:])
	s.Member, s.TimeNamespace, s.Group = binary.LittleEndian.Uint64(b[32:]), binary.LittleEndian.Uint64(b[40:]), string(b[groupAt:groupAt+group])
	return nil
}

// write writes a slot. Its sequence is 0 meanwhile, so that no reader takes half of it.
func write(slot []byte, sequence uint64, s *State) {
	value := s.Value[:min(len(s.Value), MostValue)]
	binary.LittleEndian.PutUint64(slot, 0)
	flags := uint32(0)
	if s.Leads {
		flags |= leads
	}
	if s.Closed {
		flags |= closed
	}
	binary.LittleEndian.PutUint32(slot[12:], flags)
	binary.LittleEndian.PutUint64(slot[16:], s.Term)
	binary.LittleEndian.PutUint64(slot[24:], uint64(s.Boottime))
	binary.LittleEndian.PutUint64(slot[32:], uint64(s.Monotonic))
	binary.LittleEndian.PutUint16(slot[40:], uint16(len(value)))
	copy(slot[valueAt:], value)
	binary.LittleEndian.PutUint32(slot[8:], sum(slot, sequence, len(value)))
	binary.LittleEndian.PutUint64(slot, sequence)
}

// sum is the checksum of a slot.
func sum(slot []byte, sequence uint64, value int) uint32 {
	var number [8]byte
	binary.LittleEndian.PutUint64(number[:], sequence)
	return crc32.Update(crc32.ChecksumIEEE(number[:]), crc32.IEEETable, slot[12:valueAt+value])
}

// decode sets what a slot says, and returns its sequence: 0 if the slot was never written, or is torn.
func decode(slot []byte, s *State) (sequence uint64) {
	sequence = binary.LittleEndian.Uint64(slot)
	value := int(binary.LittleEndian.Uint16(slot[40:]))
	if sequence == 0 || value > MostValue || binary.LittleEndian.Uint32(slot[8:]) != sum(slot, sequence, value) {
		return 0
	}
	flags := binary.LittleEndian.Uint32(slot[12:])
	s.Leads, s.Closed = flags&leads != 0, flags&closed != 0
	s.Term = binary.LittleEndian.Uint64(slot[16:])
	s.Boottime, s.Monotonic = time.Duration(binary.LittleEndian.Uint64(slot[24:])), time.Duration(binary.LittleEndian.Uint64(slot[32:]))
	s.Value = string(slot[valueAt : valueAt+value])
	return sequence
}

// attempts is how often a reader begins again while slots change under it. A writer writes twenty times a second.
const attempts = 100

// view is what a reader has of a file.
type view struct {
	head State // as it was decoded

	slot     [slotSize]byte // the copy that was made last
	size     int            // of it; 0: there is none
	sequence uint64         // of it; 0: its checksum is wrong
	state    State          // that it says
}

// read returns what a file says, and calls meanwhile at a moment at which it said that.
func (v *view) read(file []byte, meanwhile func()) State {
	for range attempts {
		newest, odd := slots[0], uint64(1)
		if sequenceAt(file, slots[1]) > sequenceAt(file, newest) {
			newest, odd = slots[1], 0
		}
		last := v.take(file[newest:])
		meanwhile()
		if last%2 == odd && max(sequenceAt(file, slots[0]), sequenceAt(file, slots[1])) <= last {
			return v.state
		}
	}
	return v.head // which does not lead
}

// take copies a slot and decodes it, unless it is the one that was taken last. It returns the sequence: 0 if the slot was never written, or is
// torn.
func (v *view) take(slot []byte) (sequence uint64) {
	size := valueAt + min(int(binary.LittleEndian.Uint16(slot[40:])), MostValue)
	if size == v.size && bytes.Equal(slot[:size], v.slot[:size]) {
		return v.sequence
	}
	copy(v.slot[:size], slot)
	v.size, v.state = size, v.head
	v.sequence = decode(v.slot[:], &v.state)
	return v.sequence
}

func sequenceAt(file []byte, slot int) uint64 { return binary.LittleEndian.Uint64(file[slot:]) }
