package storage

import (
	"bytes"
	"os"
	"testing"
)

// device is a file in memory that behaves as one on a disk does: what was written and not flushed may be lost, sector by sector, when the
// power fails. It fails on demand.
type device struct {
	cache    []byte           // what a process reads
	disk     []byte           // what was flushed
	versions map[int][][]byte // of a sector: what the disk may hold besides that

	write func(b []byte, at int64) (int, error) // nil writes all; otherwise how much is written, and the error
	flush func() error                          // nil flushes

	writes, flushes int
}

func (v *device) ReadAt(b []byte, at int64) (int, error) {
	if len(b) == 0 {
		return 0, nil // as a file does, also at its end
	}
	return bytes.NewReader(v.cache).ReadAt(b, at)
}

func (v *device) WriteAt(b []byte, at int64) (n int, err error) {
	v.writes++
	n = len(b)
	if v.write != nil {
		n, err = v.write(b, at)
	}
	v.put(b[:n], int(at))
	return n, err
}

func (v *device) put(b []byte, at int) {
	if missing := at + len(b) - len(v.cache); missing > 0 {
		v.cache = append(v.cache, make([]byte, missing)...)
	}
	copy(v.cache[at:], b)
	if v.versions == nil {
		v.versions = map[int][][]byte{}
	}
	for sector := at / sectorSize; sector*sectorSize < at+len(b); sector++ {
		v.versions[sector] = append(v.versions[sector], bytes.Clone(v.sector(v.cache, sector)))
	}
}

func (v *device) sector(of []byte, sector int) []byte {
	return of[sector*sectorSize : min((sector+1)*sectorSize, len(of))]
}

func (v *device) Flush() error {
	v.flushes++
	if v.flush != nil {
		if err := v.flush(); err != nil {
			return err
		}
	}
	v.disk, v.versions = bytes.Clone(v.cache), nil
	return nil
}

// spill brings to the disk any version of each sector that was not flushed, and forgets that they differ from the
// cache. choose picks one of n.
func (v *device) spill(choose func(n int) int) {
	size := len(v.disk) + choose(len(v.cache)-len(v.disk)+1)
	v.disk = append(v.disk, make([]byte, len(v.cache)-len(v.disk))...)
	oldest := choose(2) // with 1, each sector has been written at least once
	for sector := range len(v.cache)/sectorSize + 1 {
		if versions := v.versions[sector]; len(versions) > 0 {
			if i := oldest + choose(len(versions)+1-oldest); i > 0 {
				copy(v.sector(v.disk, sector), versions[i-1])
			}
		}
	}
	v.disk, v.versions = v.disk[:size], nil
}

// lose is a loss of power.
func (v *device) lose(choose func(n int) int) {
	v.spill(choose)
	v.cache = bytes.Clone(v.disk)
}

func (v *device) Size() (int64, error) { return int64(len(v.cache)), nil }

func (v *device) Close() error { return nil }

var owner = Owner{Group: "a group", Member: 7}

// made is a store on a device. Its directory has an empty file in place of it.
type made struct {
	*device
	root *os.Root
}

func newMade(t testing.TB, records int) made {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	m := made{&device{}, root}
	s := system{
		file: func(directory *os.Root, name string, flag int) (file, error) {
			f, err := directory.OpenFile(name, flag, 0o600)
			if err != nil {
				return nil, err
			}
			return m.device, f.Close()
		},
		sync: func(*os.File) error { return nil },
	}
	if err := s.init(root.Name(), owner, InitOptions{Records: records}); err != nil {
		t.Fatal(err)
	}
	return m
}

// read opens the store as Open does, without a lock.
func (m made) read() (*Directory, error) {
	d := &Directory{root: m.root, file: m.device, name: fileName}
	return d, d.read(owner)
}

func (m made) mustRead(t testing.TB) *Directory {
	t.Helper()
	d, err := m.read()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// load opens the store for a moment, and returns one record.
func (m made) load(name string) (string, error) {
	d, err := m.read()
	if err != nil {
		return "", err
	}
	b, err := d.Load(name)
	return string(b), err
}

func save(t testing.TB, s Storage, name, data string) {
	t.Helper()
	if err := s.Save([]Record{{name, []byte(data)}}); err != nil {
		t.Fatal(err)
	}
}
