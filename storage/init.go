package storage

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"unicode/utf8"
)

// InitOptions are options of [Init].
type InitOptions struct {
	Records int // how many records there is room for at first, at most MaxRecords; 0 is 2: for the member, and one group
}

// newName is the name of a store that Init has not finished.
const newName = "state.new"

// Init makes a store in a directory, and the directory with its parents if they do not exist. All that the
// records need is allocated, and durable. Init never overwrites a store: a member that lost its promises without
// notice could break them.
func Init(directory string, owner Owner, options InitOptions) error {
	return realSystem.init(directory, owner, options)
}

// InitIfMissing is Init, unless the directory has a store of that owner already, which it reports and leaves as it is. For a
// store of another owner, and for one that is damaged, it returns the error of [Open].
func InitIfMissing(directory string, owner Owner, options InitOptions) (exists bool, err error) {
	if err := Init(directory, owner, options); !errors.Is(err, ErrExists) {
		return false, err
	}
	s, err := Open(directory, owner)
	if err != nil {
		return false, err
	}
	return true, s.Close()
}

// system is what a store uses of the operating system.
type system struct {
	file func(directory *os.Root, name string, flag int) (file, error) // opens a file
	sync func(*os.File) error                                          // makes the names in a directory durable
}

var realSystem = system{
	file: func(directory *os.Root, name string, flag int) (file, error) {
		f, err := directory.OpenFile(name, flag, 0o600)
		if at := new(fs.PathError); errors.As(err, &at) { // it names the file in the directory only
			return nil, &fs.PathError{Op: "open", Path: filepath.Join(directory.Name(), name), Err: at.Err}
		}
		if err != nil {
			return nil, err
		}
		return osFile{f}, nil
	},
	sync: (*os.File).Sync,
}

func (s system) init(directory string, owner Owner, options InitOptions) (err error) {
	if options.Records == 0 {
		options.Records = 2
	}
	switch {
	case options.Records < 0 || options.Records > MaxRecords:
		return fmt.Errorf("%w: a store has room for 1 to %d records, not %d", ErrData, MaxRecords, options.Records)
	case len(owner.Group) > MaxName:
		return fmt.Errorf("%w: the name of the group has %d bytes, and at most %d are kept", ErrData, len(owner.Group), MaxName)
	case !utf8.ValidString(owner.Group):
		return fmt.Errorf("%w: the name %q of the group is not in UTF-8", ErrData, owner.Group)
	}
	if err := makeDirectory(directory, s.sync); err != nil {
		return initFailed(directory, err)
	}
	root, err := os.OpenRoot(directory)
	if err != nil {
		return initFailed(directory, err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	lock, err := lockDirectory(root)
	switch {
	case errors.Is(err, ErrLocked):
		return fmt.Errorf("%w %s %w", ErrData, directory, ErrLocked)
	case err != nil:
		return initFailed(directory, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	name := filepath.Join(directory, fileName)
	switch _, err := root.Lstat(fileName); {
	case err == nil:
		return fmt.Errorf("%w: %s %w", ErrData, name, ErrExists)
	case !errors.Is(err, fs.ErrNotExist):
		return initFailed(name, err)
	}
	if err := s.create(root, header{owner: owner, records: uint32(options.Records)}); err != nil {
		return initFailed(name, errors.Join(err, remove(root, newName), remove(root, fileName)))
	}
	return nil
}

// initFailed returns the error of an Init. Without permission another directory may work; otherwise this one is right.
func initFailed(name string, err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, errReadOnly) {
		return fmt.Errorf("%w: %w", ErrData, err)
	}
	return fmt.Errorf("%w: %s %w: %w", ErrData, name, ErrWrite, err)
}

func remove(root *os.Root, name string) error {
	if err := root.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// create writes a store under another name first, so there is a whole one or none. Pages are written, not only
// reserved: a page that reads as zero is damaged, and a flush of a page that was never written must change the
// file system's own records, too.
func (s system) create(root *os.Root, h header) error {
	rand.Read(h.store[:])
	_, pages := newPair([16]byte{}, 0, h.encode())
	for number := uint64(1); number <= uint64(h.records); number++ {
		_, unused := newPair(h.store, number, nil)
		pages = append(pages, unused...)
	}
	f, err := s.file(root, newName, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(pages, 0)
	if err == nil {
		err = f.Flush()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := root.Rename(newName, fileName); err != nil {
		return err
	}
	return syncDirectory(root, s.sync)
}

// makeDirectory makes a directory and its missing parents. Their names are durable when it returns: a store is
// lost with any directory on its path. An existing directory may have been made just before a crash, so its name is
// made durable, too, if permitted. Mount points of other file systems existed at the start.
func makeDirectory(name string, sync func(*os.File) error) error {
	name, err := filepath.Abs(name)
	if err != nil {
		return err
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
