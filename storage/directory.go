package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// fileName is the name of the store in its directory.
const fileName = "state"

// file is an open store.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Size() (int64, error)
	Flush() error // makes durable what was written, and the size
}

// osFile is a file of the operating system.
type osFile struct{ *os.File }

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f osFile) Flush() error { return flush(f.File) }

// Directory is a store in a directory, which is locked while it is open.
type Directory struct {
	root   *os.Root // all accesses use it: another directory that takes its name is not touched
	lock   io.Closer
	file   file
	name   string      // of the file, for messages
	path   string      // of the directory, absolute
	opened os.FileInfo // of the directory
	probe  file        // nil: it cannot be made
	header header
	own    pair // of the header
	kept   map[string]*kept
	free   []pair // of no record yet
	broken error  // of a flush
}

// kept is a record with its place.
type kept struct {
	pair
	data []byte // what is durable; nil if the record never was
}

// Open locks a store and reads it. The error is an [ErrData], and one of ErrMissing, ErrLocked, ErrForeign and
// ErrDamaged if it is one of these. What Open has read is durable when it returns.
func Open(directory string, owner Owner) (*Directory, error) {
	return realSystem.open(directory, owner)
}

func (s system) open(directory string, owner Owner) (_ *Directory, err error) {
	d := &Directory{name: filepath.Join(directory, fileName)}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	if d.root, err = os.OpenRoot(directory); err == nil {
		d.lock, err = lockDirectory(d.root)
	}
	if err == nil {
		d.file, err = s.file(d.root, fileName, os.O_RDWR)
	}
	if err == nil {
		d.path, err = filepath.Abs(directory)
	}
	if err == nil {
		d.opened, err = d.root.Stat(".")
	}
	switch {
	case errors.Is(err, ErrLocked):
		return nil, fmt.Errorf("%w %s %w", ErrData, directory, ErrLocked)
	case errors.Is(err, fs.ErrNotExist):
		return nil, d.fail(ErrMissing, errors.New("ringleader init makes it, once in the life of a member"))
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrData, err)
	}
	if err := d.read(owner); err != nil {
		return nil, err
	}
	// Init may have been killed before it did this.
	if err := syncDirectory(d.root, s.sync); err != nil {
		return nil, d.fail(ErrFlush, err)
	}
	d.openProbe(os.O_CREATE)
	return d, nil
}

// fail returns an error about the file.
func (d *Directory) fail(kind, why error) error {
	return fmt.Errorf("%w: %s %w: %w", ErrData, d.name, kind, why)
}

// read reads and judges all pages, and makes durable that they are what was read. They may be in the cache of the
// operating system only: the process before this one was killed before it flushed, or its flush has failed. After a failed flush the
// cache no longer knows that the device lacks something, so all is written again.
func (d *Directory) read(owner Owner) error {
	size, err := d.readHeader(owner)
	if err != nil {
		return err
	}
	want := (1 + int64(d.header.records)) * pairSize
	if size < want {
		return d.fail(ErrDamaged, fmt.Errorf("of %d bytes it has %d", want, size))
	}
	pages := make([]byte, want)
	if _, err := d.file.ReadAt(pages, 0); err != nil {
		return d.unreadable(err)
	}
	d.kept = map[string]*kept{}
	for number := uint64(1); number <= uint64(d.header.records); number++ {
		p := pair{number: number}
		content, ok := p.judge(d.header.store, pages[number*pairSize:][:pairSize])
		if !ok {
			return d.fail(ErrDamaged, fmt.Errorf("what was saved last in pages %d and %d is lost, or may be", 2*number, 2*number+1))
		}
		r, ok := decodeRecord(content)
		switch {
		case !ok || r != nil && d.kept[r.Name] != nil:
			return d.fail(ErrDamaged, fmt.Errorf("pages %d and %d hold no record, or one that is elsewhere, too", 2*number, 2*number+1))
		case r == nil:
			d.free = append(d.free, p)
		default:
			d.kept[r.Name] = &kept{p, r.Data}
		}
	}
	if _, err := d.file.WriteAt(pages, 0); err != nil {
		return d.fail(ErrWrite, err)
	}
	return d.flush()
}

// readHeader reads the header, checks the owner, and returns the size of the file.
func (d *Directory) readHeader(owner Owner) (size int64, err error) {
	if size, err = d.file.Size(); err != nil {
		return size, d.unreadable(err)
	}
	pages := make([]byte, pairSize)
	if _, err := d.file.ReadAt(pages[:min(size, pairSize)], 0); err != nil {
		return size, d.unreadable(err)
	}
	version := len(magic) - 1
	switch content, ok := d.own.judge([16]byte{}, pages); {
	case string(pages[:version]) != magic[:version]:
		return size, d.fail(ErrDamaged, errors.New("it does not begin as the state of a member does"))
	case pages[version] != magic[version]:
		return size, d.fail(ErrForeign, fmt.Errorf("it has format %d, and this program reads format %d", pages[version], magic[version]))
	case !ok:
		return size, d.fail(ErrDamaged, errors.New("its header is lost, or may be"))
	default:
		d.header = decodeHeader(content)
	}
	if d.header.owner != owner {
		return size, d.fail(ErrForeign, fmt.Errorf("it belongs to %s, and this is %s", d.header.owner, owner))
	}
	return size, nil
}

// String returns the member and its group for people.
func (o Owner) String() string { return fmt.Sprintf("member %d of group %q", o.Member, o.Group) }

func (d *Directory) unreadable(err error) error {
	return fmt.Errorf("%w: %s cannot be read: %w", ErrData, d.name, err)
}

// ID returns the ID that Init drew.
func (d *Directory) ID() [16]byte { return d.header.store }

// Load returns the data that was last saved under a name, or nil. It reads no file.
func (d *Directory) Load(name string) ([]byte, error) {
	if k := d.kept[name]; k != nil {
		return bytes.Clone(k.data), nil
	}
	return nil, nil
}

// Save makes records durable with one flush for all, and opens nothing. It writes and flushes nothing if no record has changed. If there are
// more names than the store has room for, it first makes room for twice as many, with a flush of its own.
func (d *Directory) Save(records []Record) error {
	if d.broken != nil {
		return d.broken
	}
	if err := checkRecords(records); err != nil {
		return err
	}
	if _, err := d.root.Lstat(fileName); errors.Is(err, fs.ErrNotExist) {
		return d.fail(ErrWrite, errors.New("it was removed, so no later process would find it"))
	}
	changed := map[*kept][]byte{}
	for _, r := range records {
		k, err := d.place(r.Name)
		if err != nil {
			return err
		}
		if k.data != nil && bytes.Equal(k.data, r.Data) && !k.attempted() {
			continue
		}
		if err := d.write(&k.pair, d.header.store, r.encode()); err != nil {
			return err
		}
		changed[k] = append([]byte{}, r.Data...)
	}
	if len(changed) == 0 {
		return nil
	}
	if err := d.flush(); err != nil {
		return err
	}
	for k, data := range changed {
		k.settle()
		k.data = data
	}
	return nil
}

// place returns the record of a name. A new name gets a pair.
func (d *Directory) place(name string) (*kept, error) {
	if k := d.kept[name]; k != nil {
		return k, nil
	}
	if len(d.free) == 0 {
		if err := d.grow(); err != nil {
			return nil, err
		}
	}
	k := &kept{pair: d.free[0]}
	d.kept[name], d.free = k, d.free[1:]
	return k, nil
}

// grow makes room for twice as many records. The new pairs are durable before the header counts them: Open refuses a
// store with fewer pairs than its header counts. The next flush makes the header durable. It comes before a Save that
// uses the pairs returns, and before the header is written again.
func (d *Directory) grow() error {
	h := d.header
	h.records = min(2*h.records, MaxRecords)
	if h.records == d.header.records {
		return fmt.Errorf("%w: %s has room for %d records, and no store has more", ErrData, d.name, MaxRecords)
	}
	var free []pair
	var pages []byte
	for number := uint64(d.header.records) + 1; number <= uint64(h.records); number++ {
		p, unused := newPair(h.store, number, nil)
		free, pages = append(free, p), append(pages, unused...)
	}
	if _, err := d.file.WriteAt(pages, int64(free[0].number)*pairSize); err != nil {
		return d.fail(ErrWrite, err)
	}
	if err := d.flush(); err != nil {
		return err
	}
	if err := d.write(&d.own, [16]byte{}, h.encode()); err != nil {
		return err
	}
	d.own.settle()
	d.header, d.free = h, free
	return nil
}

// write writes the next content of a pair.
func (d *Directory) write(p *pair, store [16]byte, content []byte) error {
	at := p.at(store, p.next)
	page := at.page(p.next, content)
	p.next += 2
	_, err := d.file.WriteAt(page, int64(at.number)*pageSize)
	if err != nil {
		return d.fail(ErrWrite, err)
	}
	return nil
}

// flush makes durable what was written. After an error it is not known what is, and a second flush that succeeds proves
// nothing: the operating system may have dropped what it could not write.
func (d *Directory) flush() error {
	if err := d.file.Flush(); err != nil {
		d.broken = d.fail(ErrFlush, err)
	}
	return d.broken
}

// Close unlocks the store.
func (d *Directory) Close() (err error) {
	if d.file != nil {
		err = d.file.Close()
	}
	if d.probe != nil {
		err = errors.Join(err, d.probe.Close())
	}
	if d.lock != nil {
		err = errors.Join(err, d.lock.Close())
	}
	if d.root != nil {
		err = errors.Join(err, d.root.Close())
	}
	return err
}
