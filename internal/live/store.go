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
	"time"

	"ringleader.example/ringleader/internal/transport"
)

// ErrData says that a data directory cannot be used; the text names the file.
var ErrData = errors.New("data directory")

// errLocked says that another process has locked a file.
var errLocked = errors.New("locked")

// record is what survives a crash of a member.
type record struct {
	header
	kept []byte // what the algorithm keeps
}

type header struct {
	ID          uint64
	Group       transport.Digest // identifiers of the members, algorithm and layout of what it keeps
	Incarnation uint64           // of the life; greater than those before it
}

// recordMagic opens a state file; its last byte is the version of the format.
const recordMagic = "ringdat\x01"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encode is magic, header, what is kept, and a checksum of all that.
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

// store is the data directory of a member: the file state, and the file lock, which is locked while the
// member lives. A nil store keeps nothing.
type store struct {
	directory string
	lock      *os.File
	record    record               // as last written
	sync      func(*os.File) error // (*os.File).Sync, but for tests
}

// openStore locks a directory, which is made if need be, and reads what is there. A directory that was
// never used is filled with what a newborn keeps, else again is true.
func openStore(directory string, sync func(*os.File) error, id uint64, group transport.Digest, newborn []byte) (s *store, again bool, err error) {
	if err := makeDirectory(directory, sync); err != nil {
		return nil, false, fmt.Errorf("%w: %w", ErrData, err)
	}
	s = &store{directory: directory, sync: sync}
	switch s.lock, err = lockFile(filepath.Join(directory, "lock")); {
	case errors.Is(err, errLocked):
		return nil, false, fmt.Errorf("%w %s is in use by another member", ErrData, directory)
	case err != nil:
		return nil, false, fmt.Errorf("%w: %w", ErrData, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	name := filepath.Join(directory, "state")
	fail := func(format string, args ...any) (*store, bool, error) {
		return s, false, fmt.Errorf("%w: %s %w", ErrData, name, fmt.Errorf(format, args...))
	}
	next := record{header{id, group, newIncarnation()}, newborn}
	b, err := os.ReadFile(name)
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
		next.kept, again = before.kept, true
		next.Incarnation = max(next.Incarnation, before.Incarnation+1)
	case !errors.Is(err, fs.ErrNotExist):
		return fail("cannot be read: %w", err)
	}
	return s, again, s.write(next)
}

// makeDirectory makes a directory and those above it, as far as they are missing. Their names are durable when it
// returns: a state file is lost with the directory that holds it.
func makeDirectory(name string, sync func(*os.File) error) error {
	var parents []string // of those that are missing
	for child, parent := name, filepath.Dir(name); child != parent; child, parent = parent, filepath.Dir(parent) {
		if _, err := os.Stat(child); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		parents = append(parents, parent)
	}
	if err := os.MkdirAll(name, 0o700); err != nil {
		return err
	}
	for _, parent := range parents {
		if err := syncDirectory(parent, sync); err != nil {
			return err
		}
	}
	return nil
}

// newIncarnation is the wall clock in nanoseconds, with chance in the last millisecond: two processes that are
// started together by mistake are told apart.
func newIncarnation() uint64 { return uint64(time.Now().UnixNano())>>20<<20 | below(1<<20) }

// save makes what is kept durable, if it has changed.
func (s *store) save(kept []byte) error {
	if s == nil || bytes.Equal(kept, s.record.kept) {
		return nil
	}
	return s.write(record{s.record.header, bytes.Clone(kept)})
}

// write replaces the state file as a whole. The lock makes the name of the new file safe to share.
func (s *store) write(r record) (err error) {
	name := filepath.Join(s.directory, "state")
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w: %s cannot be written: %w", ErrData, name, err)
		}
	}()
	f, err := os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
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
	if err := os.Rename(name+".new", name); err != nil {
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
	return s.lock.Close() // and so it is unlocked
}
