package storage

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// errReadOnly is the error of a write to a medium that is write-protected.
const errReadOnly = syscall.Errno(19)

// lockDirectory opens a file in a directory that no other process has open, until the result is closed or this
// process ends. While it is open it cannot be removed.
func lockDirectory(d *os.Root) (io.Closer, error) {
	name := filepath.Join(d.Name(), "lock")
	path, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	const share = 0 // with no process
	h, err := syscall.CreateFile(path, syscall.GENERIC_READ|syscall.GENERIC_WRITE, share, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	const sharingViolation = syscall.Errno(32)
	switch {
	case err == sharingViolation:
		return nil, ErrLocked
	case err != nil:
		return nil, &os.PathError{Op: "lock", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

// syncDirectory does nothing: a directory cannot be synchronised here, and renamings are in the journal.
func syncDirectory(*os.Root, func(*os.File) error) error { return nil }

func sameFileSystem(string, string) bool { return false }
