package storage

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"ringleader.example/ringleader/internal/serve/disktest"
)

func TestADiskThatIsReallyFull(t *testing.T) {
	const size = 64 << 10
	base := string(disktest.Mount(t, "size=64k"))
	directory := filepath.Join(base, "data")

	// There is no room for all pages.
	if err := Init(directory, owner, InitOptions{Records: size / pairSize}); !errors.Is(err, ErrWrite) || !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(directory); err != nil || len(entries) > 0 {
		t.Errorf("there is %v, %v", entries, err)
	}

	// There is, and then other files fill the disk. What Init has allocated stays usable.
	if err := Init(directory, owner, InitOptions{Records: 2}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base, "other"), make([]byte, size), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	d := mustOpen(t, directory)
	for range 3 {
		save(t, d, "", "incarnation")
		save(t, d, "a", "vote")
	}
	if err := d.Probe(); err != nil {
		t.Errorf("the votes have their room, and a probe fails: %v", err)
	}
	if err := d.Save([]Record{{"b", []byte("vote")}}); !errors.Is(err, ErrWrite) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("there is no room for a third record: %v", err)
	}
	save(t, d, "a", "another vote")
	if err := os.Remove(filepath.Join(base, "other")); err != nil {
		t.Fatal(err)
	}
	save(t, d, "b", "vote")
	d.Close()
	d = mustOpen(t, directory)
	defer d.Close() // before the file system is unmounted
	for name, want := range map[string]string{"": "incarnation", "a": "another vote", "b": "vote"} {
		if b, err := d.Load(name); err != nil || string(b) != want {
			t.Errorf("%q is %q, %v", name, b, err)
		}
	}
}

func TestADiskThatIsReallyReadOnly(t *testing.T) {
	base := string(disktest.Mount(t, ""))
	directory := filepath.Join(base, "data")
	mustInit(t, directory)
	if err := syscall.Mount("storage", base, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(directory, owner); !errors.Is(err, ErrData) || !errors.Is(err, syscall.EROFS) {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"data2", "data3/below"} {
		if err := Init(filepath.Join(base, name), owner, InitOptions{}); !errors.Is(err, syscall.EROFS) || errors.Is(err, ErrWrite) {
			t.Errorf("%v", err)
		}
	}
}
