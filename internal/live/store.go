package live

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"ringleader.example/ringleader/transport"
)

// ErrData reports that a data directory cannot be used; the text names the file.
var ErrData = errors.New("data directory")

// ErrWrite reports that a data directory is usable, but writing the persistent state failed.
var ErrWrite = errors.New("cannot be written")

// errLocked reports that another process has locked a directory.
var errLocked = errors.New("locked")

// record is the persistent state of a member.
type record struct {
	header
	kept []byte // the algorithm's persistent state
}

type header struct {
	ID          uint64
	Group       transport.Digest // identifiers of the members, algorithm and layout of its persistent state
	Incarnation uint64           // of the life; greater than those before it
}

// recordMagic opens a state file; its last byte is the version of the format.
const recordMagic = "ringdat\x01"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encode returns magic, header, persistent state, and a checksum of all three.
func (r *record) encode() []byte {
	b, err := binary.Append([]byte(recordMagic), binary.LittleEndian, r.header)
	if err != nil {
		panic(err) // all fields are of fixed size
	}
	b = append(b, r.kept...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func decodeRecord(b []byte) (r record, err error) {
	size := len(recordMagic) + binary.Size(r.header)
	switch {
	case len(b) < len(recordMagic) || string(b[:len(recordMagic)-1]) != recordMagic[:len(recordMagic)-1]:
		return r, errors.New("is not the state of a member")
	case b[len(recordMagic)-1] != recordMagic[len(recordMagic)-1]:
		return r, fmt.Errorf("has format %d; this program reads format %d", b[len(recordMagic)-1], recordMagic[len(recordMagic)-1])
	case len(b) < size+4 || crc32.Checksum(b[:len(b)-4], castagnoli) != binary.LittleEndian.Uint32(b[len(b)-4:]):
		return r, errors.New("is damaged: its checksum is wrong")
	}
	if _, err := binary.Decode(b[len(recordMagic):], binary.LittleEndian, &r.header); err != nil {
		return r, err
	}
	r.kept = bytes.Clone(b[size : len(b)-4])
	return r, nil
}

// store is the data directory of a member: it holds the file state, and is locked while the member lives. All
// accesses use a handle of the directory, so another directory that takes its name is not touched. A nil store keeps
// nothing.
type store struct {
	directory *os.Root
	lock      *os.File
	record    record               // as last written, or as begin will write it
	sync      func(*os.File) error // (*os.File).Sync, except in tests
}

// openStore locks a directory, creates it if needed, and reads its state; begin writes the next one. An unused
// directory gets the persistent state of a newborn process; otherwise again is true.
func openStore(directory string, sync func(*os.File) error, id uint64, group transport.Digest, newborn []byte) (s *store, again bool, err error) {
	switch err := makeDirectory(directory, sync); {
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR): // another directory may work
		return nil, false, fmt.Errorf("%w: %w", ErrData, err)
	case err != nil:
		return nil, false, fmt.Errorf("%w: %s %w: %w", ErrData, directory, ErrWrite, err)
	}
	s = &store{sync: sync}
	if s.directory, err = os.OpenRoot(directory); err != nil {
		return nil, false, fmt.Errorf("%w: %w", ErrData, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
			s = nil
		}
	}()
	switch s.lock, err = lockDirectory(s.directory); {
	case errors.Is(err, errLocked):
		return s, false, fmt.Errorf("%w %s is in use by another member", ErrData, directory)
	case err != nil:
		return s, false, fmt.Errorf("%w: %w", ErrData, err)
	}
	fail := func(format string, args ...any) (*store, bool, error) {
		return s, false, fmt.Errorf("%w: %s %w", ErrData, s.state(), fmt.Errorf(format, args...))
	}
	s.record = record{header{id, group, newIncarnation()}, newborn}
	b, err := s.directory.ReadFile("state")
	switch {
	case err == nil:
		before, err := decodeRecord(b)
		switch {
		case err != nil:
			return fail("%w", err)
		case before.ID != id:
			return fail("belongs to member %d, not %d", before.ID, id)
		case before.Group != group:
			return fail("belongs to a group of other members, or of another algorithm")
		}
		s.record.kept, again = before.kept, true
		s.record.Incarnation = max(s.record.Incarnation, before.Incarnation+1)
	case !errors.Is(err, fs.ErrNotExist):
		return fail("cannot be read: %w", err)
	}
	return s, again, nil
}

// state returns the name of the file, for messages.
func (s *store) state() string { return filepath.Join(s.directory.Name(), "state") }

// makeDirectory makes a directory and its missing parents. Their names are durable when it returns: a state file is
// lost with any directory on its path. An existing directory may have been made just before a crash, so its name is
// made durable, too, if permitted. Mount points of other file systems existed at the start. If there is a state file,
// an earlier life has done all that.
func makeDirectory(name string, sync func(*os.File) error) error {
	name, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(name, "state")); err == nil {
		return nil
	}
	missing := map[string]bool{} // names in these are new
	for child, parent := name, filepath.Dir(name); child != parent; child, parent = parent, filepath.Dir(parent) {
		if _, err := os.Stat(child); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing[parent] = true
	}
	if err := os.MkdirAll(name, 0o700); err != nil {
		return err
	}
	for child, parent := name, filepath.Dir(name); child != parent && sameFileSystem(child, parent); child, parent = parent, filepath.Dir(parent) {
		d, err := os.OpenRoot(parent)
		if err == nil {
			err = errors.Join(syncDirectory(d, sync), d.Close())
		}
		if err != nil && (missing[parent] || !errors.Is(err, fs.ErrPermission)) {
			return err
		}
	}
	return nil
}

// newIncarnation returns the wall clock in nanoseconds, random in the last millisecond: two processes that are
// started together by mistake differ.
func newIncarnation() uint64 { return uint64(time.Now().UnixNano())>>20<<20 | below(1<<20) }

// save makes the persistent state durable, if it has changed.
func (s *store) save(kept []byte) error {
	if s == nil || bytes.Equal(kept, s.record.kept) {
		return nil
	}
	return s.write(record{s.record.header, bytes.Clone(kept)})
}

// begin makes durable that a new life has begun.
func (s *store) begin() error {
	if s == nil {
		return nil
	}
	return s.write(s.record)
}

// write replaces the state file as a whole. The lock makes the name of the new file safe to share.
func (s *store) write(r record) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w: %s %w: %w", ErrData, s.state(), ErrWrite, err)
		}
	}()
	f, err := s.directory.OpenFile("state.new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(r.encode())
	if err == nil {
		err = s.sync(f)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := s.directory.Rename("state.new", "state"); err != nil {
		return err
	}
	if err := syncDirectory(s.directory, s.sync); err != nil {
		return err
	}
	s.record = r
	return nil
}

func (s *store) close() error {
	if s == nil {
		return nil
	}
	err := s.directory.Close()
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close()) // and so it is unlocked
	}
	return err
}
