// Package book is the address book of a group: where its members are, as the members tell each other.
//
// A book has a line for each member that it knows, with a version. Of two lines of a member the newer one counts, so the order in which lines
// arrive, and how often, make no difference: all members get to the same book. That includes a book that is full: MostLines limits what a member
// adds itself. What others have added is taken beyond it. A book gives no vote. Its lines tell which processes a member dials and takes.
package book

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"ringleader.example/ringleader/storage"
)

// Version orders the lines of a member: how often it was added after a removal, and then how often it has moved. A removal is newer than all
// moves before the next addition. So a member that moves while it is removed stays removed. Version 0 is a line of the list of a member
// that has this one from its host; it has not changed since.
type Version uint64

const (
	perAddition         = 32
	gone        Version = 1<<perAddition - 1 // the moves of a line that was removed

	// A line with more changes is malformed: a version that no member could raise would stay for ever.
	most = 1 << 24
)

// Removed reports whether the line is that of a member that was removed.
func (v Version) Removed() bool { return v&gone == gone }

// removal, addition and move return the version after a change.
func (v Version) removal() Version  { return v | gone }
func (v Version) addition() Version { return (v>>perAddition + 1) << perAddition }
func (v Version) move() Version     { return v + 1 }

func (v Version) valid() bool { return v>>perAddition < most && (v.Removed() || v&gone < most) }

// Line is what a book has about a member.
type Line struct {
	ID      uint64
	Version Version
	Address string
	Weight  uint16 // its priority; 0: it is a witness
	Votes   bool   // it is to have a vote
}

// The limits of a book.
const (
	MostLines  = 512 // that a member fills itself, with those of members that were removed
	MaxAddress = 180 // bytes
)

// lineHead is the length of an encoded line without its address.
const lineHead = 8 + 8 + 1 + 2

// Append encodes a line.
func (l *Line) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, l.ID), uint64(l.Version))
	flags := byte(0)
	if l.Votes {
		flags = 1
	}
	return append(binary.LittleEndian.AppendUint16(append(dst, flags), l.Weight), l.Address...)
}

// Decode is the inverse of Append. It refuses a line that no member makes.
func Decode(b []byte) (l Line, ok bool) {
	if len(b) < lineHead {
		return l, false
	}
	l.ID, l.Version = binary.LittleEndian.Uint64(b), Version(binary.LittleEndian.Uint64(b[8:]))
	l.Votes, l.Weight, l.Address = b[16] == 1, binary.LittleEndian.Uint16(b[17:]), string(b[lineHead:])
	return l, b[16] <= 1 && l.Check() == nil
}

// Check returns what is wrong with a line.
func (l *Line) Check() error {
	switch {
	case l.ID == 0:
		return errors.New("identifiers begin with 1")
	case l.Address == "" || len(l.Address) > MaxAddress:
		return fmt.Errorf("an address has 1 to %d bytes, not %d", MaxAddress, len(l.Address))
	case strings.ContainsFunc(l.Address, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return fmt.Errorf("%q is not an address", l.Address)
	case !l.Version.valid():
		return fmt.Errorf("the line of member %d has changed too often", l.ID)
	case l.Votes && l.Version.Removed():
		return errors.New("a member that was removed has no vote")
	}
	return nil
}

// After reports whether a line is newer than another one of its member. Of two with one version, made at two members at the same time,
// all members take the same one.
func (l *Line) After(other *Line) bool {
	switch {
	case l.Version != other.Version:
		return l.Version > other.Version
	case l.Address != other.Address:
		return l.Address > other.Address
	case l.Weight != other.Weight:
		return l.Weight > other.Weight
	}
	return l.Votes && !other.Votes
}

// Book is an address book. Its zero value is empty.
type Book struct {
	lines []Line        // by identifier
	dirty [records]bool // the records that have changed
	most  int           // instead of MostLines, in tests
}

// Lines returns all lines, by identifier. They are not changed.
func (b *Book) Lines() []Line { return b.lines }

// find returns where the line of a member is, or belongs.
func (b *Book) find(id uint64) (at int, found bool) {
	at = sort.Search(len(b.lines), func(i int) bool { return b.lines[i].ID >= id })
	return at, at < len(b.lines) && b.lines[at].ID == id
}

// Line returns the line of a member.
func (b *Book) Line(id uint64) (l Line, found bool) {
	if at, found := b.find(id); found {
		return b.lines[at], true
	}
	return l, false
}

// Changes returns the lines of some members, or of all, that have changed since the lists of hosts.
func (b *Book) Changes(of ...uint64) (all []Line) {
	for _, l := range b.lines {
		if l.Version != 0 && (len(of) == 0 || slices.Contains(of, l.ID)) {
			all = append(all, l)
		}
	}
	return all
}

// Clone returns a copy.
func (b *Book) Clone() Book { return Book{append([]Line(nil), b.lines...), b.dirty, b.most} }

// Take takes a line if it is newer than that of its member, and its record has room for it. It reports whether it has.
func (b *Book) Take(l Line) bool {
	taken, _ := b.take(l)
	return taken
}

// take returns the line that had to go, too. Of more identifiers than a record has room for the smallest ones stay. Which are in the book then depends on
// which were told, and not on the order.
func (b *Book) take(l Line) (taken bool, gone *Line) {
	at, found := b.find(l.ID)
	if l.Check() != nil || found && !l.After(&b.lines[at]) {
		return false, nil
	}
	if !found {
		if last, full := b.lastOf(recordOf(l.ID)); full && last < at {
			return false, nil
		} else if full {
			out := b.lines[last]
			gone = &out
			b.lines = append(b.lines[:last], b.lines[last+1:]...)
		}
		b.lines = append(b.lines, l)
		copy(b.lines[at+1:], b.lines[at:])
	}
	b.lines[at] = l
	b.dirty[recordOf(l.ID)] = true
	return true, gone
}

// lastOf returns where the last line of a record is, and whether the record is full.
func (b *Book) lastOf(record int) (last int, full bool) {
	lines := 0
	for i := range b.lines {
		if recordOf(b.lines[i].ID) == record {
			last = i
			lines++
		}
	}
	return last, lines == perRecord
}

var errFull = fmt.Errorf("the address book is full: it has room for %d members, with those that were removed", MostLines)

// change takes a line that this member makes. It leaves room for those that others make at the same time.
func (b *Book) change(l Line) error {
	if err := l.Check(); err != nil {
		return err
	}
	if _, known := b.find(l.ID); !known {
		if _, full := b.lastOf(recordOf(l.ID)); full || len(b.lines) >= cmp.Or(b.most, MostLines) {
			return errFull
		}
	}
	b.Take(l)
	return nil
}

// Add adds a member, or gives it another place. It reports whether that changes anything.
func (b *Book) Add(l Line) (changed bool, err error) {
	before, known := b.Line(l.ID)
	l.Version = before.Version
	switch {
	case !known || before.Version.Removed():
		l.Version = before.Version.addition()
	case l == before:
		return false, nil
	default:
		l.Version = before.Version.move()
	}
	return true, b.change(l)
}

// Remove removes a member, which is at an address if the book has no line for it. It reports whether that changes anything.
func (b *Book) Remove(id uint64, address string) (changed bool, err error) {
	l, known := b.Line(id)
	if !known {
		l = Line{ID: id, Address: address, Weight: 1}
	}
	if l.Version.Removed() {
		return false, nil
	}
	l.Version, l.Votes = l.Version.removal(), false
	return true, b.change(l)
}

// Move notes where a member is, as it knows itself. moved reports that it was elsewhere in its life before. It reports whether that
// changes anything: a member that was removed remains so, and the place of one that never moved is in the lists.
func (b *Book) Move(id uint64, address string, weight uint16, moved bool) (changed bool, err error) {
	l, known := b.Line(id)
	switch {
	case l.Version.Removed() || known && l.Address == address && l.Weight == weight || l.Version == 0 && !moved:
		return false, nil
	case !known:
		l.ID = id
	}
	l.Version, l.Address, l.Weight = l.Version.move(), address, weight
	return true, b.change(l)
}

// Wish changes whether a member that the book has is to have a vote. It reports whether that changes anything.
func (b *Book) Wish(id uint64, votes bool) (changed bool, err error) {
	l, known := b.Line(id)
	if !known || l.Version.Removed() || l.Votes == votes {
		return false, nil
	}
	l.Version, l.Votes = l.Version.move(), votes
	return true, b.change(l)
}

// A line stays in its record, so records are written independently of each other. A record has room for a number of lines, however long.
const (
	records   = 128
	perRecord = storage.MaxData / (1 + lineHead + MaxAddress)
)

// recordOf spreads identifiers, also those that are alike modulo some number.
func recordOf(id uint64) int { return int(id * 0x9e3779b97f4a7c15 >> 57) }

func nameOf(record int) string { return fmt.Sprintf("book part %d", record) }

// earlier names the records of earlier versions of the program, which are read and not written.
func earlier(record int) string { return fmt.Sprintf("book %d", record) }

const earlierRecords = 16

// Changed returns the records that have changed since the last call.
func (b *Book) Changed() (all []storage.Record) {
	for n, dirty := range b.dirty {
		if !dirty {
			continue
		}
		var data []byte
		for i := range b.lines {
			if l := &b.lines[i]; recordOf(l.ID) == n {
				data = l.Append(append(data, byte(lineHead+len(l.Address))))
			}
		}
		all = append(all, storage.Record{Name: nameOf(n), Data: data})
	}
	b.dirty = [records]bool{}
	return all
}

// Load reads a book.
func Load(s storage.Storage) (b Book, err error) {
	names := make([]string, 0, earlierRecords+records)
	for n := range earlierRecords {
		names = append(names, earlier(n))
	}
	for n := range records {
		names = append(names, nameOf(n))
	}
	for _, name := range names {
		data, err := s.Load(name)
		if err != nil {
			return b, err
		}
		for len(data) > 0 {
			size := int(data[0])
			if size >= len(data) {
				return b, fmt.Errorf("%w: the address book ends within a line", storage.ErrData)
			}
			l, ok := Decode(data[1 : 1+size])
			if !ok {
				return b, fmt.Errorf("%w: the address book has a malformed line", storage.ErrData)
			}
			b.Take(l)
			data = data[1+size:]
		}
	}
	b.dirty = [records]bool{}
	return b, nil
}
