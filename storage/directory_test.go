package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func mustInit(t testing.TB, directory string) {
	t.Helper()
	if err := Init(directory, owner, InitOptions{}); err != nil {
		t.Fatal(err)
	}
}

func mustOpen(t testing.TB, directory string) *Directory {
	t.Helper()
	d, err := Open(directory, owner)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestAStoreThatCannotBeOpenedIsNamed(t *testing.T) {
	directory := t.TempDir()
	name := filepath.Join(directory, "state")
	if err := os.Mkdir(name, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(directory, owner); !errors.Is(err, ErrData) || !strings.Contains(err.Error(), name) {
		t.Error(err)
	}
}

func TestWhatOneProcessSavesTheNextOneLoads(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "new", "data")
	mustInit(t, directory)
	d := mustOpen(t, directory)
	id := d.ID()
	if b, err := d.Load(""); b != nil || err != nil || id == [16]byte{} {
		t.Fatalf("a new store %x has %q, %v", id, b, err)
	}
	records := []Record{
		{"", []byte("incarnation")},
		{"empty", nil},
		{strings.Repeat("n", MaxName), bytes.Repeat([]byte("d"), MaxData)},
		{"twice", []byte("before")},
		{"twice", []byte("after")},
	}
	for range 4 { // each slot of a pair comes to be written, and what has not changed is not
		if err := d.Save(records); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d = mustOpen(t, directory)
	for _, r := range append(records[:3], records[4]) {
		if b, err := d.Load(r.Name); err != nil || b == nil || !bytes.Equal(b, r.Data) {
			t.Errorf("%.10q is %.10q, %v", r.Name, b, err)
		}
	}
	if b, err := d.Load("never"); b != nil || err != nil {
		t.Errorf("what was never saved is %q, %v", b, err)
	}
	if d.ID() != id {
		t.Error("the ID has changed")
	}
}

func TestNoReferenceIsShared(t *testing.T) {
	disk := Memory()
	inMemory, err := disk.Open()
	if err != nil {
		t.Fatal(err)
	}
	m := newMade(t, 1)
	for _, s := range []Storage{m.mustRead(t), inMemory} {
		saved := []byte("data")
		if err := s.Save([]Record{{"r", saved}}); err != nil {
			t.Fatal(err)
		}
		saved[0] = 'X'
		loaded, _ := s.Load("r")
		loaded[1] = 'X'
		if b, err := s.Load("r"); err != nil || string(b) != "data" {
			t.Errorf("%T: %q, %v", s, b, err)
		}
	}
}

func TestARecordThatIsTooLongIsRefused(t *testing.T) {
	m := newMade(t, 1)
	s := m.mustRead(t)
	for _, r := range []Record{{strings.Repeat("n", MaxName+1), nil}, {"r", make([]byte, MaxData+1)}} {
		if err := s.Save([]Record{{"other", []byte("x")}, r}); !errors.Is(err, ErrData) || errors.Is(err, ErrWrite) {
			t.Errorf("%v", err)
		}
	}
	if b, err := m.load("other"); err != nil || b != "" {
		t.Errorf("of a refused Save there is %q, %v", b, err)
	}
	for _, group := range []string{strings.Repeat("g", MaxName+1), "no UTF-8: \xff"} {
		if err := Init(t.TempDir(), Owner{group, 1}, InitOptions{}); !errors.Is(err, ErrData) {
			t.Errorf("%q: %v", group, err)
		}
	}
	for _, records := range []int{-1, MaxRecords + 1} {
		if err := Init(t.TempDir(), owner, InitOptions{Records: records}); !errors.Is(err, ErrData) {
			t.Error(err)
		}
	}
}

func TestOneFlushServesAllRecordsAndNoneWhatHasNotChanged(t *testing.T) {
	m := newMade(t, 100)
	d := m.mustRead(t)
	var records []Record
	for i := range 100 {
		records = append(records, Record{fmt.Sprint(i), []byte("a")})
	}
	for _, c := range []struct{ writes, flushes int }{{100, 1}, {0, 0}} {
		m.writes, m.flushes = 0, 0
		if err := d.Save(records); err != nil || m.writes != c.writes || m.flushes != c.flushes {
			t.Errorf("%v: %d writes and %d flushes; want %v", err, m.writes, m.flushes, c)
		}
	}
}

// The other page may have a write that would count after a crash.
func TestWhatWasSavedBeforeAFailedSaveIsWrittenAgain(t *testing.T) {
	m := newMade(t, 2)
	d := m.mustRead(t)
	save(t, d, "r", "before")
	m.device.write = func(b []byte, _ int64) (int, error) {
		if m.writes%2 == 0 {
			return 0, syscall.ENOSPC
		}
		return len(b), nil
	}
	m.writes = 0
	if err := d.Save([]Record{{"r", []byte("failed")}, {"s", []byte("fails")}}); !errors.Is(err, ErrWrite) || !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	m.device.write = nil
	save(t, d, "r", "before")
	if got, err := m.load("r"); err != nil || got != "before" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestASaveMayBeTriedAgainAfterAWriteThatFailed(t *testing.T) {
	for _, failure := range []struct {
		n   int
		err error
	}{{0, syscall.ENOSPC}, {100, io.ErrShortWrite}, {sectorSize, syscall.EIO}, {pageSize, syscall.EIO}} {
		m := newMade(t, 1)
		d := m.mustRead(t)
		save(t, d, "r", "one")
		m.device.write = func([]byte, int64) (int, error) { return failure.n, failure.err }
		for range 3 {
			if err := d.Save([]Record{{"r", []byte("two")}}); !errors.Is(err, ErrWrite) || !errors.Is(err, ErrData) || !errors.Is(err, failure.err) {
				t.Error(err)
			}
			if b, _ := d.Load("r"); string(b) != "one" {
				t.Errorf("after a failed Save it is %q", b)
			}
		}
		m.device.write = nil
		save(t, d, "r", "three")
		if got, err := m.load("r"); err != nil || got != "three" {
			t.Errorf("%q, %v", got, err)
		}
	}
}

func TestAfterAFailedFlushNothingIsSavedAnyMore(t *testing.T) {
	m := newMade(t, 1)
	d := m.mustRead(t)
	save(t, d, "r", "one")
	m.device.flush, m.writes = func() error { return syscall.EIO }, 0
	for range 2 {
		if err := d.Save([]Record{{"r", []byte("two")}}); !errors.Is(err, ErrFlush) || !errors.Is(err, ErrData) || !errors.Is(err, syscall.EIO) || errors.Is(err, ErrWrite) {
			t.Error(err)
		}
		m.device.flush = nil // a second fsync would succeed
	}
	if err := d.Save(nil); !errors.Is(err, ErrFlush) || m.writes != 1 {
		t.Errorf("%v after %d writes", err, m.writes)
	}
	if b, _ := d.Load("r"); string(b) != "one" {
		t.Errorf("after a failed flush it is %q", b)
	}
}

// Between the two, the power may fail.
func TestWhatOpenReturnsIsDurable(t *testing.T) {
	m := newMade(t, 1)
	d := m.mustRead(t)
	m.device.flush = func() error { // what it has written stays in the cache only, and is not written again
		m.versions = nil
		return syscall.EIO
	}
	if err := d.Save([]Record{{"r", []byte("one")}}); !errors.Is(err, ErrFlush) {
		t.Fatal(err)
	}
	if _, err := m.load("r"); !errors.Is(err, ErrFlush) {
		t.Errorf("the device is still broken: %v", err)
	}
	m.device.flush = nil
	if got, err := m.load("r"); err != nil || got != "one" {
		t.Fatalf("the cache has it, but it is %q, %v", got, err)
	}
	m.lose(func(int) int { return 0 })
	if got, err := m.load("r"); err != nil || got != "one" {
		t.Errorf("after a loss of power it is %q, %v", got, err)
	}
	m.device.write = func([]byte, int64) (int, error) { return 0, syscall.EIO }
	if _, err := m.load("r"); !errors.Is(err, ErrWrite) {
		t.Errorf("it cannot be written: %v", err)
	}
}

func TestAStoreGrowsWithItsRecords(t *testing.T) {
	m := newMade(t, 1)
	d := m.mustRead(t)
	const n = 20
	for i := range n {
		name := fmt.Sprint(i)
		// The first attempt fails at each of its writes, in turns.
		for fails := range 3 {
			left := fails
			m.device.write = func(b []byte, _ int64) (int, error) {
				if left--; left < 0 {
					return len(b) / 2, syscall.ENOSPC
				}
				return len(b), nil
			}
			if err := d.Save([]Record{{name, []byte{byte(i), byte(fails)}}}); err != nil && !errors.Is(err, ErrWrite) {
				t.Fatal(err)
			}
		}
		m.device.write = nil
		save(t, d, name, name)
	}
	d = m.mustRead(t)
	for i := range n {
		if b, err := d.Load(fmt.Sprint(i)); err != nil || string(b) != fmt.Sprint(i) {
			t.Errorf("%d is %q, %v", i, b, err)
		}
	}
	if len(m.cache) != (1+32)*pairSize || d.header.records != 32 {
		t.Errorf("for %d records there are %d bytes, and room for %d", n, len(m.cache), d.header.records)
	}
}

func TestAStoreHasALimit(t *testing.T) {
	m := newMade(t, 1)
	d := m.mustRead(t)
	save(t, d, "first", "x")
	d.header.records = MaxRecords
	if err := d.Save([]Record{{"one more", nil}}); !errors.Is(err, ErrData) || errors.Is(err, ErrWrite) {
		t.Error(err)
	}
}

// What follows would be lost in silence otherwise: a shorter file has fewer records.
func TestATruncatedStoreIsDamaged(t *testing.T) {
	m := newMade(t, 1)
	d := m.mustRead(t)
	for i := range 3 {
		save(t, d, fmt.Sprint(i), "x")
	}
	whole := bytes.Clone(m.cache)
	for size := 0; size < len(whole); size += sectorSize / 2 {
		m.cache = bytes.Clone(whole[:size])
		if _, err := m.load("0"); !errors.Is(err, ErrDamaged) {
			t.Fatalf("%d of %d bytes are left: %v", size, len(whole), err)
		}
	}
	m.cache = append(bytes.Clone(whole), 1, 2, 3) // a process was killed when it made room
	if got, err := m.load("2"); err != nil || got != "x" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAStoreThatCannotBeUsedIsRefusedByName(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "data")
	state := filepath.Join(directory, fileName)
	mustInit(t, directory)
	good, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	older, lost := bytes.Clone(good), bytes.Clone(good)
	older[len(magic)-1] = 1
	clear(lost[3*pageSize : 4*pageSize])
	for _, test := range []struct {
		content []byte
		owner   Owner
		kind    error
		want    string
	}{
		{good, Owner{"a group", 8}, ErrForeign, `is not this member's: it belongs to member 7 of group "a group", and this is member 8 of group "a group"`},
		{good, Owner{"another", 7}, ErrForeign, `is not this member's: it belongs to member 7 of group "a group", and this is member 7 of group "another"`},
		{older, owner, ErrForeign, "is not this member's: it has format 1, and this program reads format 2"},
		{lost, owner, ErrDamaged, "is damaged: what was saved last in pages 2 and 3 is lost, or may be"},
		{good[:pairSize], owner, ErrDamaged, "is damaged: of 24576 bytes it has 8192"},
		{nil, owner, ErrDamaged, "is damaged: it does not begin as the state of a member does"},
		{[]byte("something else"), owner, ErrDamaged, "is damaged: it does not begin as the state of a member does"},
		{good[:100], owner, ErrDamaged, "is damaged: its header is lost, or may be"},
	} {
		if err := os.WriteFile(state, test.content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(directory, test.owner)
		if want := "data directory: " + state + " " + test.want; err == nil || err.Error() != want || !errors.Is(err, test.kind) || !errors.Is(err, ErrData) {
			t.Errorf("%v; want %q", err, want)
		}
		if left, err := os.ReadFile(state); err != nil || !bytes.Equal(left, test.content) {
			t.Error("what could not be used was changed")
		}
	}
}

func TestAMissingStoreIsNotMadeByOpen(t *testing.T) {
	directory := t.TempDir()
	for _, directory := range []string{directory, filepath.Join(directory, "none")} {
		want := "data directory: " + filepath.Join(directory, fileName) + " does not exist: ringleader init makes it, once in the life of a member"
		if _, err := Open(directory, owner); !errors.Is(err, ErrMissing) || !errors.Is(err, ErrData) || err.Error() != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
	if entries, err := os.ReadDir(directory); err != nil || len(entries) > 0 {
		t.Errorf("Open has made %v, %v", entries, err)
	}
}

func TestAStoreServesOneProcessAtATime(t *testing.T) {
	directory := t.TempDir()
	mustInit(t, directory)
	d := mustOpen(t, directory)
	want := "data directory " + directory + " is in use by another process"
	if _, err := Open(directory, owner); !errors.Is(err, ErrLocked) || !errors.Is(err, ErrData) || err.Error() != want {
		t.Error(err)
	}
	if err := Init(directory, owner, InitOptions{}); !errors.Is(err, ErrLocked) || err.Error() != want {
		t.Error(err)
	}
	d.Close()
	mustOpen(t, directory)
}

func TestAStoreIsNeverOverwritten(t *testing.T) {
	directory := t.TempDir()
	mustInit(t, directory)
	state := filepath.Join(directory, fileName)
	before, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	want := "data directory: " + state + " exists, and is not overwritten: it may hold what a member has promised"
	if err := Init(directory, owner, InitOptions{}); !errors.Is(err, ErrData) || !errors.Is(err, ErrExists) || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
	if after, err := os.ReadFile(state); err != nil || !bytes.Equal(before, after) {
		t.Error("it has changed")
	}
}

// broken is a system in which one use of a file fails.
func broken(name string, d device) system {
	return system{
		file: func(directory *os.Root, n string, flag int) (file, error) {
			f, err := realSystem.file(directory, n, flag)
			if err != nil || n != name {
				return f, err
			}
			return &faulty{f, d}, nil
		},
		sync: (*os.File).Sync,
	}
}

type faulty struct {
	file
	faults device
}

func (f *faulty) WriteAt(b []byte, at int64) (int, error) {
	if f.faults.write == nil {
		return f.file.WriteAt(b, at)
	}
	n, err := f.faults.write(b, at)
	_, also := f.file.WriteAt(b[:n], at)
	return n, errors.Join(err, also)
}

func (f *faulty) Flush() error {
	if f.faults.flush != nil {
		return f.faults.flush()
	}
	return f.file.Flush()
}

func TestAnInitThatFailsLeavesNothing(t *testing.T) {
	full := broken(newName, device{write: func(b []byte, _ int64) (int, error) { return len(b) / 2, syscall.ENOSPC }})
	for _, c := range []struct {
		system
		err error
	}{
		{full, syscall.ENOSPC},
		{broken(newName, device{flush: func() error { return syscall.EIO }}), syscall.EIO},
	} {
		directory := filepath.Join(t.TempDir(), "data")
		if err := c.init(directory, owner, InitOptions{}); !errors.Is(err, ErrWrite) || !errors.Is(err, ErrData) || !errors.Is(err, c.err) {
			t.Error(err)
		}
		if left, err := filepath.Glob(filepath.Join(directory, fileName+"*")); err != nil || len(left) > 0 {
			t.Errorf("there is %v, %v", left, err)
		}
		mustInit(t, directory) // and its lock is free
	}
}

// A killed Init may leave a part under its other name.
func TestAnInitThatWasKilledCanBeRepeated(t *testing.T) {
	directory := t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, newName), make([]byte, 100*pageSize), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(directory, owner); !errors.Is(err, ErrMissing) {
		t.Error(err)
	}
	mustInit(t, directory)
	if info, err := os.Stat(filepath.Join(directory, fileName)); err != nil || info.Size() != 3*pairSize {
		t.Errorf("%v, %v", info.Size(), err)
	}
	mustOpen(t, directory)
}

func TestAFileThatCannotBeReadIsAnError(t *testing.T) {
	m := newMade(t, 1)
	for _, failing := range []int{1, 2} {
		f := &unreadable{m.device, failing}
		err := (&Directory{root: m.root, file: f, name: fileName}).read(owner)
		if !errors.Is(err, ErrData) || !errors.Is(err, syscall.EIO) || errors.Is(err, ErrDamaged) {
			t.Error(err)
		}
	}
}

type unreadable struct {
	*device
	failing int
}

func (u *unreadable) ReadAt(b []byte, at int64) (int, error) {
	if u.failing--; u.failing == 0 {
		return 0, syscall.EIO
	}
	return u.device.ReadAt(b, at)
}

func TestADirectoryThatIsNoneIsRefused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(name, owner); !errors.Is(err, ErrData) || errors.Is(err, ErrMissing) {
		t.Error(err)
	}
	for _, name := range []string{name, filepath.Join(name, "below")} {
		if err := Init(name, owner, InitOptions{}); !errors.Is(err, ErrData) || errors.Is(err, ErrWrite) {
			t.Error(err)
		}
	}
}

func TestAnErrorOfPermissionIsNotOneOfTheDisk(t *testing.T) {
	for _, reason := range []error{fs.ErrPermission, errReadOnly} {
		s := realSystem
		s.file = func(*os.Root, string, int) (file, error) { return nil, reason }
		if err := s.init(t.TempDir(), owner, InitOptions{}); !errors.Is(err, ErrData) || !errors.Is(err, reason) || errors.Is(err, ErrWrite) {
			t.Error(err)
		}
		directory := t.TempDir()
		mustInit(t, directory)
		if _, err := s.open(directory, owner); !errors.Is(err, ErrData) || !errors.Is(err, reason) {
			t.Error(err)
		}
	}
}

// The lock cannot see it; peers can, since it has the same ID but another address.
func TestACopiedStoreHasTheSameID(t *testing.T) {
	base := t.TempDir()
	first, second := filepath.Join(base, "first"), filepath.Join(base, "second")
	mustInit(t, first)
	if err := os.CopyFS(second, os.DirFS(first)); err != nil {
		t.Fatal(err)
	}
	third := filepath.Join(base, "third")
	mustInit(t, third)
	a, b, c := mustOpen(t, first), mustOpen(t, second), mustOpen(t, third)
	if a.ID() != b.ID() || a.ID() == c.ID() {
		t.Errorf("%x, its copy %x, another one %x", a.ID(), b.ID(), c.ID())
	}
}

// A program that knows the format could have written it.
func TestAContentThatNoSaveWritesIsDamaged(t *testing.T) {
	m := newMade(t, 3)
	save(t, m.mustRead(t), "r", "data")
	good := bytes.Clone(m.cache)
	store := m.mustRead(t).ID()
	long := Record{"s", make([]byte, MaxData+1)}
	for _, c := range []struct {
		store   [16]byte
		number  uint64
		content []byte
	}{
		{store, 2, long.encode()},
		{store, 2, (&Record{"r", []byte("data")}).encode()},
		{[16]byte{}, 0, (&header{store, owner, 1<<32 - 1}).encode()},
	} {
		copy(m.cache, good)
		_, pages := newPair(c.store, c.number, c.content)
		copy(m.cache[c.number*pairSize:], pages)
		if _, err := m.read(); !errors.Is(err, ErrDamaged) {
			t.Errorf("pair %d: %v", c.number, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	m := newMade(f, 1)
	f.Add(m.cache)
	save(f, m.mustRead(f), "r", "data")
	f.Add(m.cache)
	f.Add(m.cache[:pageSize+10])
	f.Fuzz(func(t *testing.T, b []byte) {
		v := made{&device{cache: b}, m.root}
		d, err := v.read()
		if err != nil {
			if !errors.Is(err, ErrData) {
				t.Error(err)
			}
			return
		}
		save(t, d, "r", "other")
		if got, err := v.load("r"); err != nil || got != "other" {
			t.Errorf("%q, %v", got, err)
		}
	})
}
