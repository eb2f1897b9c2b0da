package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ringleader.example/ringleader/internal/core/amount"
)

// Damage is a part of a record that cannot be read. The rest can.
type Damage struct {
	File    string
	Segment uint64 // 0: it is in none
	Offset  int64  // in the file
	What    string
	Follows bool // from one before it in the segment, which was told
}

func (d *Damage) String() string {
	switch {
	case d.Segment == 0 && d.Offset == 0:
		return fmt.Sprintf("%s: %s", d.File, d.What)
	case d.Segment == 0:
		return fmt.Sprintf("%s, byte %d: %s", d.File, d.Offset, d.What)
	}
	return fmt.Sprintf("%s, segment %d, byte %d: %s", d.File, d.Segment, d.Offset, d.What)
}

// Records are the records of some members.
type Records struct {
	Logs    []*Log   // in the order of groups and members
	Damages []Damage // outside of all segments

	empty []string // files without a byte
}

// Log is the record of one member.
type Log struct {
	Group    string // see Head
	Member   uint64
	Store    string
	Segments []*Segment // in the order in which they were written
	Changes  []*Segment // those that have nothing but changes of the leader, in the order of files
}

// Segment is a part of a record that stands for itself. It is read from its file whenever its entries are.
type Segment struct {
	Head Head
	File string

	offset, length int64
	memory         []byte // the whole segment, if it is in no file, or is held
	newest         bool   // it is the last one in its file
}

// Directory is the folder of the record in the directory of a member.
const Directory = "record"

// extension is that of a file with a segment.
const extension = ".seg"

// Open finds the records in files and directories: archives, files with segments, directories with these, directories of members, and
// directories of such directories. The error is of a path that cannot be read. Files that are no record are damage if they were named. What is neither a
// file nor a directory may have no end, or never begin, and is refused.
func Open(ctx context.Context, paths ...string) (*Records, error) {
	r := &Records{}
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
		case info.IsDir():
			err = r.directory(ctx, path, 3)
		case info.Mode().IsRegular():
			err = r.file(path)
		default:
			err = fmt.Errorf("%s is neither a regular file nor a directory", path)
		}
		if err != nil {
			return nil, err
		}
	}
	r.order()
	room := int64(mostHeld)
	for _, l := range r.Logs {
		for _, s := range l.Changes {
			s.hold(&room)
		}
		if len(l.Segments) > 0 {
			l.Segments[len(l.Segments)-1].hold(&room)
		}
		r.join(l)
	}
	r.emptied()
	return r, nil
}

// emptied names the files that are empty, and of which nothing is in memory either. One that others follow is missing between segments.
func (r *Records) emptied() {
	for _, path := range r.empty {
		number, err := strconv.ParseUint(strings.TrimSuffix(filepath.Base(path), extension), 10, 64)
		followed := slices.ContainsFunc(r.Logs, func(l *Log) bool {
			return slices.ContainsFunc(l.Segments, func(s *Segment) bool {
				return err == nil && s.Head.Segment >= number && filepath.Dir(s.File) == filepath.Dir(path)
			})
		})
		if !followed && filepath.Base(path) != changesName {
			r.Damages = append(r.Damages, Damage{File: path, What: "it is empty: its member was killed as it began the file, or what was in it is lost"})
		}
	}
}

// Parse finds the records in an archive.
func Parse(name string, archive []byte) *Records {
	r := &Records{}
	r.parse(name, archive)
	r.order()
	return r
}

// directory adds the segments in a directory, and those in directories in it.
func (r *Records) directory(ctx context.Context, path string, depth int) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		inner := filepath.Join(path, entry.Name())
		kind := entry.Type()
		if kind == fs.ModeSymlink {
			info, err := os.Stat(inner)
			if err != nil { // it leads nowhere
				continue
			}
			kind = info.Mode().Type()
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case kind.IsDir() && depth > 1:
			err = r.directory(ctx, inner, depth-1)
		case kind.IsRegular() && strings.HasSuffix(inner, extension):
			err = r.file(inner)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !errors.Is(err, os.ErrNotExist): // a member that runs has dropped it
			r.Damages = append(r.Damages, Damage{File: inner, What: "it cannot be read: " + cause(err).Error()})
		}
	}
	return nil
}

// cause returns why a file cannot be read, without its name.
func cause(err error) error {
	if path, is := errors.AsType[*fs.PathError](err); is {
		return path.Err
	}
	return err
}

// maxFile is the largest file that is read.
const maxFile = 1 << 30

func (r *Records) file(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() > maxFile {
		r.Damages = append(r.Damages, Damage{File: path, What: fmt.Sprintf("it has %d bytes; no record has more than %d", info.Size(), maxFile)})
		return nil
	}
	return r.find(path, newScan(io.NewSectionReader(file, 0, maxFile), info.Size())) // some files have more than they say
}

// parse adds the segments in some bytes.
func (r *Records) parse(name string, content []byte) {
	_ = r.find(name, &scan{window: content, size: int64(len(content)), work: maxWork(len(content))}) // no error: it has all of them
}

// find adds the segments that a scan finds. A scan without a file has them in memory.
func (r *Records) find(name string, all *scan) error {
	damage := func(at int64, format string, args ...any) {
		r.Damages = append(r.Damages, Damage{File: name, Offset: at, What: fmt.Sprintf(format, args...)})
	}
	begin, payload, err := all.head(0)
	switch {
	case err != nil:
		return err
	case begin < 0 && all.size == 0:
		r.empty = append(r.empty, name)
		return nil
	case begin < 0:
		damage(0, "it is no record: it has no segment that is whole at its beginning")
		return nil
	case begin > 0:
		damage(0, "%s before the first segment cannot be read", amount.Of(begin, "byte"))
	}
	for begin >= 0 {
		end, next, err := all.head(begin + headSize + int64(len(payload)))
		if err != nil {
			return err
		}
		length := all.size - begin
		if end >= 0 {
			length = end - begin
		}
		s := &Segment{File: name, offset: begin, length: length, newest: end < 0}
		switch err := json.Unmarshal(payload, &s.Head); {
		case err != nil && s.Head.Version == Version || s.Head.Version == 0:
			damage(begin, "the head of a segment does not decode")
		case s.Head.Version != Version:
			damage(begin, "segment %d has the version %d of the format; this program reads %d", s.Head.Segment, s.Head.Version, Version)
		default:
			if length > maxSegment { // there is a hole in it
				damage(begin+maxSegment, "%s at the end of segment %d are not read; no segment has more than %d", amount.Of(length-maxSegment, "byte"), s.Head.Segment, maxSegment)
				length, s.length = maxSegment, maxSegment
			}
			if s.Head.Every = min(max(s.Head.Every, 1), 1<<20); all.file == nil {
				s.memory = all.window[begin : begin+length]
			}
			r.add(s)
		}
		begin, payload = end, next
	}
	return nil
}

// add puts a segment into its log.
func (r *Records) add(s *Segment) {
	i := slices.IndexFunc(r.Logs, func(l *Log) bool {
		return l.Group == s.Head.Group && l.Member == s.Head.Member && l.Store == s.Head.Store
	})
	if i < 0 {
		i = len(r.Logs)
		r.Logs = append(r.Logs, &Log{Group: s.Head.Group, Member: s.Head.Member, Store: s.Head.Store})
	}
	if l := r.Logs[i]; s.Head.Changes {
		l.Changes = append(l.Changes, s)
	} else {
		l.Segments = append(l.Segments, s)
	}
}

// order sorts all logs. A segment that was found twice remains once: the longer one, since an archive may have it as it was.
func (r *Records) order() {
	slices.SortStableFunc(r.Logs, func(a, b *Log) int {
		if c := strings.Compare(a.Group, b.Group); c != 0 {
			return c
		}
		if a.Member != b.Member {
			return compare(a.Member, b.Member)
		}
		return strings.Compare(a.Store, b.Store)
	})
	for _, l := range r.Logs {
		slices.SortStableFunc(l.Segments, func(a, b *Segment) int {
			switch {
			case a.Head.Incarnation != b.Head.Incarnation: // first: segments are numbered anew if files were removed
				return compare(a.Head.Incarnation, b.Head.Incarnation)
			case a.Head.Segment != b.Head.Segment:
				return compare(a.Head.Segment, b.Head.Segment)
			}
			return compare(uint64(b.length), uint64(a.length))
		})
		l.Segments = slices.CompactFunc(l.Segments, func(a, b *Segment) bool {
			return a.Head.Segment == b.Head.Segment && a.Head.Incarnation == b.Head.Incarnation
		})
	}
}

func compare(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Entries yields the entries of a segment in order, each with the damage before it, if there is any; then the entry is nil. An entry is the caller's.
func (s *Segment) Entries() iter.Seq2[*Entry, *Damage] {
	return s.entries(func(string, Clocks) bool { return false })
}

// Notable is Entries without the steps that were as predicted, such as renewals while nothing happens. An [Idle] stands for those of a block, or of a part of a block, in a row.
// It is valid until the next entry. Notable is many times as fast.
func (s *Segment) Notable() iter.Seq2[*Entry, *Damage] {
	return s.entries(func(string, Clocks) bool { return true })
}

// Detailed is Entries for groups at times that matter, and Notable otherwise.
func (s *Segment) Detailed(matters func(group string, at Clocks) bool) iter.Seq2[*Entry, *Damage] {
	return s.entries(func(group string, at Clocks) bool { return !matters(group, at) })
}

// Entries yields the entries of all segments in order. A segment that is missing between others is damage.
func (l *Log) Entries() iter.Seq2[*Entry, *Damage] { return l.entries((*Segment).Entries) }

// Notable is likewise.
func (l *Log) Notable() iter.Seq2[*Entry, *Damage] { return l.entries((*Segment).Notable) }

func (l *Log) entries(of func(*Segment) iter.Seq2[*Entry, *Damage]) iter.Seq2[*Entry, *Damage] {
	return func(yield func(*Entry, *Damage) bool) {
		for i, s := range l.Segments {
			if missing := l.Missing(i); missing != nil && !yield(nil, missing) {
				return
			}
			for e, d := range of(s) {
				if !yield(e, d) {
					return
				}
			}
		}
	}
}

// Missing returns that segments are missing before one; nil: none are.
func (l *Log) Missing(i int) *Damage {
	if i == 0 || l.Segments[i].Head.Segment <= l.Segments[i-1].Head.Segment+1 {
		return nil
	}
	s, first := l.Segments[i], l.Segments[i-1].Head.Segment+1
	return &Damage{File: s.File, Segment: s.Head.Segment, What: lost("segment", first, s.Head.Segment-1, "missing")}
}

// lost tells that some numbered things are lost.
func lost(thing string, from, to uint64, how string) string {
	if from == to {
		return fmt.Sprintf("%s %d is %s", thing, from, how)
	}
	return fmt.Sprintf("%ss %d to %d are %s", thing, from, to, how)
}

// Bytes returns the whole segment, as an archive has it.
func (s *Segment) Bytes() ([]byte, error) {
	if s.memory != nil {
		return s.memory, nil
	}
	return s.read(s.length)
}

// read reads so much from its file.
func (s *Segment) read(length int64) ([]byte, error) {
	f, err := os.Open(s.File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content := make([]byte, length)
	n, err := f.ReadAt(content, s.offset)
	if n < len(content) && err != nil && n == 0 {
		return nil, err
	}
	return content[:n], nil
}

func (s *Segment) entries(idle func(group string, at Clocks) bool) iter.Seq2[*Entry, *Damage] {
	return func(yield func(*Entry, *Damage) bool) {
		content, err := s.Bytes()
		if err != nil {
			yield(nil, s.damage(0, "it cannot be read: %v", err))
			return
		}
		w := walk{segment: s, decoder: newDecoder(&s.Head, len(content)), content: content, mark: s.Head.mark(), idle: idle, yield: yield}
		w.blocks()
	}
}

func (s *Segment) damage(at int, format string, args ...any) *Damage {
	return &Damage{File: s.File, Segment: s.Head.Segment, Offset: s.offset + int64(at), What: fmt.Sprintf(format, args...)}
}

// walk reads a segment.
type walk struct {
	segment *Segment
	decoder *decoder
	content []byte
	idle    func(group string, at Clocks) bool
	yield   func(*Entry, *Damage) bool

	mark    uint32 // of the segment
	foreign bool   // blocks of other segments were found in what cannot be read
	follows bool   // steps were found that need a lost one

	span  Idle // that was not yielded yet
	group string
	place Place

	idled struct { // what is yielded for spans: a busy machine has many
		Entry
		Idle
	}
}

// blocks walks over all blocks.
func (w *walk) blocks() {
	_, head, _ := unseal(w.content)
	at, expected, work := headSize+len(head), uint64(1), maxWork(len(w.content))
	for told := false; at < len(w.content); told = false {
		payload, ok := w.whole(w.content[at:])
		if !ok {
			from := at
			at = w.resume(at, &work)
			if !w.yield(nil, w.segment.damage(from, "%s cannot be read%s", amount.Of(at-from, "byte"), w.torn(at))) {
				return
			}
			w.decoder.lose()
			if payload, told = w.whole(w.content[at:]); !told { // it is the end
				return
			}
		}
		c := cursor{b: payload}
		number := w.decoder.begin(&c)
		if number != expected && !c.broken {
			what := lost("block", expected, number-1, "lost")
			if number <= expected {
				what = fmt.Sprintf("block %d comes again", number)
			}
			if w.decoder.lose(); !told && !w.yield(nil, w.segment.damage(at, "%s", what)) {
				return
			}
		}
		expected = number + 1
		w.place = Place{Segment: w.segment.Head.Segment, Block: int(number)}
		if !w.block(&c, at+headSize+len(payload)) {
			return
		}
		at += headSize + len(payload)
	}
}

// whole returns the block at the beginning of some bytes, if it is whole, of entries and of this segment.
func (w *walk) whole(b []byte) (payload []byte, ok bool) {
	kind, payload, ok := unseal(b)
	if !ok || kind != blockEntries {
		return payload, false
	}
	c := cursor{b: payload}
	other := c.uint32() != w.mark
	w.foreign = w.foreign || other
	return payload, !other
}

// torn returns the probable reason why bytes cannot be read, or nothing.
func (w *walk) torn(at int) string {
	foreign := w.foreign
	w.foreign = false
	switch {
	case foreign:
		return ": they are of another segment, and its head is lost"
	case at == len(w.content):
		return ": the end is torn"
	}
	return ""
}

// resume returns where the next whole block is.
func (w *walk) resume(at int, work *int) int {
	for at++; at < len(w.content) && *work > 0; at++ {
		i := bytes.Index(w.content[at:], []byte{sync0, sync1, blockEntries})
		if i < 0 {
			break
		}
		at += i
		payload, ok := w.whole(w.content[at:])
		if ok {
			return at
		}
		*work -= len(payload)
	}
	return len(w.content)
}

// block yields the entries of a block.
func (w *walk) block(c *cursor, end int) (more bool) {
	unreadable, needs := 0, false
	var why error
	for len(c.b) > 0 {
		w.place.Entry++
		at := end - len(c.b)
		e, err := w.decoder.next(c, w.idle)
		switch {
		case errors.Is(err, errClass):
			needs = true
			continue
		case err != nil && isOne(err):
			unreadable, why = unreadable+1, err
			continue
		case err != nil:
			w.decoder.lose()
			return w.flush() && w.yield(nil, w.segment.damage(at, "the rest of block %d cannot be read: %v", w.place.Block, err))
		case e == nil:
			continue
		}
		e.Place = w.place
		if e.Body == nil {
			if w.span.Steps == 0 || w.group != e.Group {
				if !w.flush() {
					return false
				}
				w.span.From, w.group = e.At, e.Group
			}
			w.span.Steps, w.span.To = w.span.Steps+1, e.At
			continue
		}
		if !w.flush() || !w.yield(e, nil) {
			return false
		}
	}
	if needs {
		d := w.segment.damage(end, "steps from block %d on cannot be read: %v", w.place.Block, errClass)
		d.Follows, w.follows = w.follows, true
		if !w.flush() || !w.yield(nil, d) {
			return false
		}
	}
	if unreadable > 0 {
		return w.flush() && w.yield(nil, w.segment.damage(end, "%s of block %d cannot be read: %v", amount.Of(unreadable, "entry"), w.place.Block, why))
	}
	return w.flush()
}

// isOne reports whether an error is of one entry.
func isOne(err error) bool {
	var one *entryError
	return errors.As(err, &one)
}

// flush yields the idle steps that were left out.
func (w *walk) flush() bool {
	if w.span.Steps == 0 {
		return true
	}
	w.idled.Idle, w.span = w.span, Idle{}
	w.idled.Entry = Entry{Place: w.place, At: w.idled.To, Group: w.group, Body: &w.idled.Idle}
	return w.yield(&w.idled.Entry, nil)
}
