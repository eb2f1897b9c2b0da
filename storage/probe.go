package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Prober is a [Storage] that can find out whether it still keeps what is saved, also while nothing is.
type Prober interface {
	// Probe writes something of no meaning to where the records are, and returns nil when it is durable. It returns an error
	// if that fails, and if no later process would find the records. It lasts for as long as the device gives no answer.
	// At most one runs at a time; each other method may be called meanwhile.
	Probe() error
}

// probeName is the file that Probe writes. It has no meaning.
const probeName = "probe"

// probeSize is the number of bytes that Probe writes, always to the same place: one sector.
const probeSize = 512

// openProbe makes ready for Probe; flags may have O_CREATE. The store works without it, so an error leaves only the directory to look at.
func (d *Directory) openProbe(flags int) {
	if probe, err := d.root.OpenFile(probeName, os.O_RDWR|flags, 0o600); err == nil {
		d.probe = osFile{probe}
	}
}

// Probe writes and flushes a sector beside the records, and looks whether a later process would find these. A full disk is no
// error: the records have their room.
func (d *Directory) Probe() error {
	if err := d.present(); err != nil {
		return err
	}
	if d.probe == nil {
		return nil
	}
	_, err := d.probe.WriteAt(make([]byte, probeSize), 0)
	if err == nil {
		err = d.probe.Flush()
	}
	if err != nil && !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w: the directory of %s cannot be written: %w", ErrData, d.name, err)
	}
	return nil
}

// present returns an error if the directory has lost its place, or its file.
func (d *Directory) present() error {
	gone := func(why string) error {
		return fmt.Errorf("%w: %s is gone, so no later process would find what this member has promised: %s", ErrData, d.name, why)
	}
	now, err := os.Stat(d.path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return gone("its directory was removed or renamed")
	case err == nil && !os.SameFile(now, d.opened):
		return gone("another directory has the place of its own")
	}
	if _, err := d.root.Lstat(fileName); errors.Is(err, fs.ErrNotExist) {
		return gone("it was removed or renamed")
	}
	return nil
}

// OpenProber opens the store in a directory for its probes only, without its lock. It is for a process that looks after the store of another
// one, and that may hang with the device. It creates no file, so it leaves nothing in a directory that is being removed: the process that has
// opened the store creates the file that Probe writes.
func OpenProber(directory string) (Prober, error) {
	d := &Directory{name: filepath.Join(directory, fileName)}
	var err error
	if d.root, err = os.OpenRoot(directory); err == nil {
		d.opened, err = d.root.Stat(".")
	}
	if err == nil {
		d.path, err = filepath.Abs(directory)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrData, err), d.Close())
	}
	d.openProbe(0)
	return d, nil
}
