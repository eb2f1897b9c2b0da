package disktest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"ringleader.example/ringleader/internal/core/needs"
)

// Disk is the folder of an empty file system in memory.
type Disk string

// Mount mounts a disk until the test ends. It takes the options of tmpfs, such as size=8m.
func Mount(t testing.TB, options string) Disk {
	t.Helper()
	folder := t.TempDir()
	if err := syscall.Mount("disk", folder, "tmpfs", 0, options); err != nil {
		needs.Missing(t, "only root can mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, 0); err != nil {
			t.Error(err)
		}
	})
	return Disk(folder)
}

// Join returns the path of a name on the disk.
func (d Disk) Join(name string) string { return filepath.Join(string(d), name) }

const filler = "filler"

// Fill leaves no room on a disk of less than 16 MiB.
func (d Disk) Fill(t testing.TB) {
	t.Helper()
	if err := os.WriteFile(d.Join(filler), bytes.Repeat([]byte("x"), 16<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
}

// Free removes what fills the disk.
func (d Disk) Free(t testing.TB) {
	t.Helper()
	if err := os.Remove(d.Join(filler)); err != nil {
		t.Fatal(err)
	}
}

// Resize gives the disk another size.
func (d Disk) Resize(t testing.TB, size string) {
	t.Helper()
	if err := syscall.Mount("disk", string(d), "tmpfs", syscall.MS_REMOUNT, "size="+size); err != nil {
		t.Fatal(err)
	}
}

// Protect mounts the disk for reading only, as the kernel does after errors.
func (d Disk) Protect(t testing.TB) {
	t.Helper()
	if err := syscall.Mount("disk", string(d), "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
}
