package record

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// DefaultSize is how large the record of a member may be, in bytes. It has two days of a group of three in which nothing happens, or some hours with faults.
const DefaultSize = 32 << 20

// LeastSize is the least size of a record.
const LeastSize = 1 << 20

// segmentsOf is how many segments a record has at least, when it is full.
const segmentsOf = 256

// Files is a [Sink] that has each segment in a file of a directory. When they are too large, it removes the oldest ones.
type Files struct {
	path  string
	most  int64
	all   []*segmentFile // in rising order; the last one may be written
	total int64
	file  *os.File

	// What the last life has left in memory, since it was killed.
	last Head
	tail []kept
}

type segmentFile struct {
	number uint64
	size   int64
}

// block is the least space of a file on a disk.
const diskBlock = 4 << 10

func (f *segmentFile) space() int64 { return max(f.size, diskBlock) }

// NewFiles returns a sink for a directory, which need not exist in the one that it is in, and the options for it. It changes nothing yet.
func NewFiles(path string, most int64) (*Files, Options, error) {
	f := &Files{path: path, most: max(most, LeastSize)}
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, Options{}, err
	}
	for _, entry := range entries {
		name, found := strings.CutSuffix(entry.Name(), extension)
		number, err := strconv.ParseUint(name, 10, 64)
		if !found || err != nil {
			continue
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() { // to open a pipe would wait for its writer
			f.all = append(f.all, &segmentFile{number, info.Size()})
			f.total += f.all[len(f.all)-1].space()
		}
	}
	slices.SortFunc(f.all, func(a, b *segmentFile) int { return compare(a.number, b.number) })
	next := uint64(1)
	if len(f.all) > 0 {
		next = f.all[len(f.all)-1].number + 1
		for _, one := range slices.Backward(f.all) { // a life that was killed may have begun its last file, and written nothing in it
			if f.last, f.tail = left(f.name(one.number)); f.last.Segment != 0 {
				break
			}
		}
		for _, k := range f.tail {
			if k.incarnation == f.last.Incarnation {
				next = max(next, k.segment+1)
			}
		}
	}
	return f, Options{Segment: int(max(f.most/segmentsOf, 4*diskBlock)), First: next, directory: path}, nil
}

// left returns the head of a file with a segment, and what its life has left in memory.
func left(path string) (h Head, tail []kept) {
	r := &Records{}
	if err := r.file(path); err != nil || len(r.Logs) == 0 || len(r.Logs[0].Segments) == 0 {
		return h, nil
	}
	h = r.Logs[0].Segments[0].Head
	return h, readTail(&h)
}

// restore writes what the last life has left in memory, and removes it there.
func (f *Files) restore() error {
	h := f.last
	if h.Tail == "" {
		return nil
	}
	for n := h.Segment; ; n++ {
		before, err := os.ReadFile(f.name(n))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		h.Segment = n
		after := joined(before, &h, f.tail)
		if len(after) == 0 {
			break
		}
		if bytes.Equal(after, before) {
			continue
		}
		if err := replace(f.name(n), after); err != nil {
			return err
		}
		i := slices.IndexFunc(f.all, func(one *segmentFile) bool { return one.number == n })
		if i < 0 {
			i, f.all = len(f.all), append(f.all, &segmentFile{number: n})
			f.total += diskBlock
		}
		present := f.all[i]
		f.total -= present.space()
		present.size = int64(len(after))
		f.total += present.space()
	}
	removeTail(h.Tail)
	f.last, f.tail = Head{}, nil
	return nil
}

// replace gives a file another content, or leaves it as it is.
func replace(name string, content []byte) error {
	temporary := name + ".new" // readers leave that alone
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync() // or a power failure after the change of names may leave nothing
	}
	if err = cmp.Or(err, file.Close()); err == nil {
		err = os.Rename(temporary, name)
	}
	if err != nil {
		_ = os.Remove(temporary) // the first error counts
	}
	return err
}

// makeFolder makes the folder of a record, and not the directory that it is in: if that of a member was renamed or its disk was taken away, another
// one must not take its place.
func makeFolder(path string) error {
	err := os.Mkdir(path, 0o700)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return errRemoved
	}
	return err
}

func (f *Files) name(number uint64) string {
	return filepath.Join(f.path, fmt.Sprintf("%012d%s", number, extension))
}

// Begin implements [Sink].
func (f *Files) Begin(segment uint64) error {
	if err := f.Close(); err != nil {
		return err
	}
	if err := makeFolder(f.path); err != nil {
		return err
	}
	if err := f.restore(); err != nil {
		return err
	}
	file, err := os.OpenFile(f.name(segment), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	f.file, f.all = file, append(f.all, &segmentFile{number: segment})
	f.total += diskBlock
	return nil
}

// WriteAt implements [Sink].
func (f *Files) WriteAt(block []byte, at int64) error {
	present := f.all[len(f.all)-1]
	after := *present
	after.size = at + int64(len(block))
	for f.total-present.space()+after.space() > f.most && len(f.all) > 1 {
		oldest := f.all[0]
		if err := os.Remove(f.name(oldest.number)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		f.total -= oldest.space()
		f.all = f.all[1:]
		present = f.all[len(f.all)-1]
	}
	if !f.exists(present) {
		f.all = slices.DeleteFunc(f.all, func(one *segmentFile) bool { return !f.exists(one) })
		f.total = 0
		for _, one := range f.all {
			f.total += one.space()
		}
		return errRemoved
	}
	if _, err := f.file.WriteAt(block, at); err != nil {
		return err
	}
	f.total += after.space() - present.space()
	*present = after
	return nil
}

// exists reports whether a file is there: it may have been removed while the member runs.
func (f *Files) exists(one *segmentFile) bool {
	_, err := os.Lstat(f.name(one.number))
	return !errors.Is(err, fs.ErrNotExist)
}

// Close implements [Sink].
func (f *Files) Close() error {
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}

// changesName is the name of the file with the changes of the leader.
const changesName = "changes" + extension

const (
	changesAge  = 366 * 24 * time.Hour
	changesSize = 4 << 20

	// changesSegment is how large a segment of changes may be. When one begins, old ones are removed.
	changesSegment = 64 << 10
)

// Years is a [Sink] for the changes of the leader of about a year: one file with the segments of all lives.
type Years struct {
	path string
	base int64 // where the present segment begins
	file *os.File
}

// NewYears returns a sink for a directory, which need not exist in the one that it is in, and the options for it.
func NewYears(path string) (*Years, Options) {
	return &Years{path: path}, Options{Segment: changesSegment, First: uint64(time.Now().Unix())}
}

// Begin implements [Sink].
func (y *Years) Begin(uint64) error {
	if err := y.Close(); err != nil {
		return err
	}
	if err := makeFolder(y.path); err != nil {
		return err
	}
	name := filepath.Join(y.path, changesName)
	before, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	kept := recent(before, time.Now())
	if len(kept) != len(before) {
		if err := replace(name, kept); err != nil {
			return err
		}
	}
	y.base = int64(len(kept))
	y.file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o600)
	return err
}

// recent returns the segments of changes that are not too old, the newest ones if they are too many.
func recent(archive []byte, now time.Time) (kept []byte) {
	for _, l := range Parse(changesName, archive).Logs {
		for _, s := range slices.Backward(l.Changes) {
			last := time.Time{}
			for e := range s.Entries() {
				if e == nil {
					continue
				}
				if c, is := e.Body.(*Change); is {
					last = c.Time
				}
			}
			if b, _ := s.Bytes(); now.Sub(last) < changesAge && len(kept)+len(b) <= changesSize {
				kept = append(slices.Clone(b), kept...)
			}
		}
	}
	return kept
}

// WriteAt implements [Sink].
func (y *Years) WriteAt(block []byte, at int64) error {
	if _, err := os.Lstat(filepath.Join(y.path, changesName)); errors.Is(err, fs.ErrNotExist) {
		return errRemoved
	}
	_, err := y.file.WriteAt(block, y.base+at)
	return err
}

// Close implements [Sink].
func (y *Years) Close() error {
	if y.file == nil {
		return nil
	}
	err := y.file.Close()
	y.file = nil
	return err
}
