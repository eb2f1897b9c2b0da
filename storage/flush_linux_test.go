package storage

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"
)

// What Save has returned is on the device, as far as the kernel knows: no page of the file is dirty, or on its way.
func TestWhatIsSavedIsFlushed(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "data")
	mustInit(t, directory)
	path := filepath.Join(directory, fileName)
	if err := os.WriteFile(path+".other", make([]byte, pageSize), 0o600); err != nil {
		t.Fatal(err)
	}
	if dirty(t, path+".other") == 0 {
		t.Skip("this file system has no dirty pages: it may be in memory, or write at once")
	}
	d := mustOpen(t, directory)
	defer d.Close()
	if n := dirty(t, path); n > 0 {
		t.Errorf("after Open %d pages are dirty", n)
	}
	save(t, d, "a", "vote")
	if n := dirty(t, path); n > 0 {
		t.Errorf("after Save %d pages are dirty", n)
	}
}

// dirty returns the number of pages of a file that the kernel has still to write.
func dirty(t *testing.T, path string) uint64 {
	t.Helper()
	const cachestat = 451 // the same on all architectures; since Linux 6.5
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var (
		all struct{ offset, length uint64 } // length 0: to the end
		is  struct{ cached, dirty, writing, evicted, recently uint64 }
	)
	_, _, errno := syscall.Syscall6(cachestat, f.Fd(), uintptr(unsafe.Pointer(&all)), uintptr(unsafe.Pointer(&is)), 0, 0, 0)
	switch {
	case errors.Is(errno, syscall.ENOSYS), errors.Is(errno, syscall.EPERM), errors.Is(errno, syscall.EOPNOTSUPP):
		t.Skipf("the kernel does not tell: %v", errno)
	case errno != 0:
		t.Fatal(errno)
	}
	return is.dirty + is.writing
}

func TestAFlushThatTheSystemRefusesIsAnError(t *testing.T) {
	r, w, err := os.Pipe() // nothing of a pipe can be made durable
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if err := flush(w); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("it is flushed: %v", err)
	}
}
