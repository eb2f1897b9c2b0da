package storage

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

var _ Prober = (*Directory)(nil)

func TestAProbeFindsOutThatALaterProcessWouldNotFindTheStore(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the system removes and renames no directory that is open")
	}
	for _, test := range []struct {
		what   string
		change func(directory string) error
		want   string
	}{
		{"nothing", func(string) error { return nil }, ""},
		{"the directory is removed", os.RemoveAll, "is gone, so no later process would find what this member has promised: its directory was removed or renamed"},
		{"its parent is removed", func(d string) error { return os.RemoveAll(filepath.Dir(d)) }, "removed or renamed"},
		{"it is renamed", func(d string) error { return os.Rename(d, d+".old") }, "its directory was removed or renamed"},
		{"another one is made in its place", func(d string) error {
			return errors.Join(os.Rename(d, d+".old"), Init(d, owner, InitOptions{}))
		}, "another directory has the place of its own"},
		{"a file is made in its place", func(d string) error {
			return errors.Join(os.RemoveAll(filepath.Dir(d)), os.WriteFile(filepath.Dir(d), nil, 0o600))
		}, "its directory was removed or renamed"},
		{"the store is removed", func(d string) error { return os.Remove(filepath.Join(d, fileName)) }, "is gone, so no later process would find what this member has promised: it was removed or renamed"},
		{"the file of the probe is removed", func(d string) error { return os.Remove(filepath.Join(d, probeName)) }, ""},
	} {
		directory := filepath.Join(t.TempDir(), "parent", "data")
		mustInit(t, directory)
		d := mustOpen(t, directory)
		if err := test.change(directory); err != nil {
			t.Fatal(err)
		}
		switch err := d.Probe(); {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.what, err)
		case test.want != "" && (!errors.Is(err, ErrData) || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: %v; want %q", test.what, err, test.want)
		}
	}
}

// A process that only probes may start when its directory is being removed.
func TestAProberMakesNoFile(t *testing.T) {
	directory := t.TempDir()
	p, err := OpenProber(directory)
	if err != nil {
		t.Fatal(err)
	}
	defer p.(*Directory).Close()
	if err := p.Probe(); !errors.Is(err, ErrData) || !strings.Contains(err.Error(), "it was removed or renamed") {
		t.Errorf("a directory without a store: %v", err)
	}
	if left, err := os.ReadDir(directory); len(left) > 0 || err != nil {
		t.Errorf("it makes %v, %v", left, err)
	}
}

// unflushed is a file that cannot be flushed.
type unflushed struct{ file }

func (unflushed) Flush() error { return syscall.EIO }

func TestAProbeThatCannotWriteFailsAndNoProbeFileIsNoFailure(t *testing.T) {
	directory := t.TempDir()
	mustInit(t, directory)
	d := mustOpen(t, directory)
	save(t, d, "a", "vote")
	kept := d.probe
	defer kept.Close()
	if d.probe = nil; d.Probe() != nil {
		t.Error("without the file of the probe it fails")
	}
	readOnly, err := os.Open(filepath.Join(directory, probeName))
	if err != nil {
		t.Fatal(err)
	}
	d.probe = osFile{readOnly}
	if err := d.Probe(); !errors.Is(err, ErrData) || !strings.Contains(err.Error(), "cannot be written: ") || errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a probe that cannot be written: %v", err)
	}
	readOnly.Close()
	d.probe = unflushed{kept}
	if d.Probe() == nil {
		t.Error("it cannot be flushed, and the probe succeeds")
	}
	if data, err := d.Load("a"); err != nil || string(data) != "vote" {
		t.Errorf("%q, %v", data, err)
	}
}
