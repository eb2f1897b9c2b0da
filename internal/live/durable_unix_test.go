//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package live

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"ringleader.example/ringleader/transport"
)

// disk holds what a loss of power would leave: the names in a directory and the content of a file at their last
// synchronisation.
type disk struct {
	names    map[string]map[string]os.FileInfo // by directory
	contents []content                         // the last of a file counts
}

type content struct {
	file  os.FileInfo
	bytes []byte
}

func (d *disk) sync(f *os.File) error {
	file, err := f.Stat()
	if err != nil {
		return err
	}
	if !file.IsDir() {
		b, err := os.ReadFile(f.Name())
		d.contents = append(d.contents, content{file, b})
		return err
	}
	entries, err := os.ReadDir(f.Name())
	if err != nil {
		return err
	}
	names := map[string]os.FileInfo{}
	for _, e := range entries {
		if names[e.Name()], err = e.Info(); err != nil {
			return err
		}
	}
	d.names[filepath.Clean(f.Name())] = names
	return nil
}

// left returns what a loss of power leaves of a file below a durable directory.
func (d *disk) left(directory string, path ...string) []byte {
	var file os.FileInfo
	for _, name := range path {
		if file = d.names[directory][name]; file == nil {
			return nil
		}
		directory = filepath.Join(directory, name)
	}
	var b []byte
	for _, c := range d.contents {
		if os.SameFile(c.file, file) {
			b = c.bytes
		}
	}
	return b
}

func TestWhatIsKeptSurvivesALossOfPower(t *testing.T) {
	base := t.TempDir()
	d := disk{names: map[string]map[string]os.FileInfo{}}
	s, _, err := openStore(filepath.Join(base, "new", "directory"), d.sync, 1, transport.Digest{}, []byte("newborn"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := s.begin(); err != nil {
		t.Fatal(err)
	}
	header := s.record.header
	for _, kept := range []string{"newborn", "one vote", "another vote"} {
		if err := s.save([]byte(kept)); err != nil {
			t.Fatal(err)
		}
		r, err := decodeRecord(d.left(base, "new", "directory", "state"))
		if err != nil || string(r.kept) != kept || r.header != header {
			t.Errorf("of %q there is left %q of %+v, %v", kept, r.kept, r.header, err)
		}
	}
}

// A crashed life may have made it without making its name durable.
func TestADirectoryThatWasThereIsMadeDurableToo(t *testing.T) {
	base := t.TempDir()
	directory := filepath.Join(base, "made", "before")
	if err := os.MkdirAll(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	d := disk{names: map[string]map[string]os.FileInfo{}}
	s, _, err := openStore(directory, d.sync, 1, transport.Digest{}, []byte("newborn"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := s.begin(); err != nil {
		t.Fatal(err)
	}
	if r, err := decodeRecord(d.left(base, "made", "before", "state")); err != nil || string(r.kept) != "newborn" {
		t.Errorf("there is left %q, %v", r.kept, err)
	}
	s.close()
	next := disk{names: map[string]map[string]os.FileInfo{}}
	again, _, err := openStore(directory, next.sync, 1, transport.Digest{}, nil)
	if err != nil || len(next.names) > 0 {
		t.Errorf("the next life makes the same names durable again: %v, %v", next.names, err)
	}
	again.close()
}

// Directories above may have other owners.
func TestADirectoryMayBeOneWhoseParentWeMayNotRead(t *testing.T) {
	sync := func(*os.File) error { return fs.ErrPermission }
	directory := t.TempDir()
	s, _, err := openStore(directory, sync, 1, transport.Digest{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.close()
	if _, _, err := openStore(filepath.Join(directory, "new"), sync, 1, transport.Digest{}, nil); !errors.Is(err, ErrData) {
		t.Errorf("a directory that we have made, and cannot make durable: %v", err)
	}
}

func TestADirectoryThatCannotBeSynchronisedIsAnError(t *testing.T) {
	broken := syscall.ENOSPC
	sync := func(f *os.File) error {
		if file, err := f.Stat(); err != nil || file.IsDir() {
			return errors.Join(broken, err)
		}
		return f.Sync()
	}
	directory := t.TempDir()
	if _, _, err := openStore(directory, sync, 1, transport.Digest{}, nil); !errors.Is(err, broken) || !errors.Is(err, ErrData) {
		t.Errorf("a directory that was there, and may be lost: %v", err)
	}
	if _, _, err := openStore(filepath.Join(directory, "new"), sync, 1, transport.Digest{}, nil); !errors.Is(err, broken) || !errors.Is(err, ErrWrite) {
		t.Errorf("a directory that may be lost: %v", err)
	}
	s, _, err := openStore(directory, (*os.File).Sync, 1, transport.Digest{}, nil) // and its lock is free
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	s.sync = sync
	if err := s.begin(); !errors.Is(err, broken) || !errors.Is(err, ErrWrite) {
		t.Errorf("a state file that may be lost: %v", err)
	}
	if err := s.save([]byte("a vote")); !errors.Is(err, broken) || !errors.Is(err, ErrData) {
		t.Errorf("a vote that may be lost: %v", err)
	}
}
