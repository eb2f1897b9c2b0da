//go:build unix

package record

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// An operator may have moved the record to another disk, and others may write beside it.
func TestARecordIsReadThroughLinksAndBesideWhatIsNoFile(t *testing.T) {
	member, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "record")
	if err := os.Symlink(elsewhere, filepath.Join(member, Directory)); err != nil {
		t.Fatal(err)
	}
	life(t, elsewhere, 10, 1)
	name := (&Files{path: elsewhere}).name
	if err := syscall.Mkfifo(name(4711), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[uint64]string{4712: "/dev/zero", 4713: "nowhere"} {
		if err := os.Symlink(to, name(link)); err != nil {
			t.Fatal(err)
		}
	}
	life(t, elsewhere, 10, 2)
	r, err := Open(t.Context(), member)
	if err != nil || len(r.Logs) != 1 || len(r.Logs[0].Segments) != 2 || len(r.Damages) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A file may be one large hole, or a large archive.
func TestAFileIsNotReadIntoMemory(t *testing.T) {
	path, size := filepath.Join(t.TempDir(), "hole.rec"), int64(256<<20)
	life(t, filepath.Dir(path), 10, 1)
	for _, err := range []error{os.Rename((&Files{path: filepath.Dir(path)}).name(1), path), os.Truncate(path, size)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := Open(t.Context(), path)
	runtime.ReadMemStats(&after)
	if err != nil || len(r.Damages) != 1 || r.Damages[0].What != "201326592 bytes at the end of segment 1 are not read; no segment has more than 67108864" {
		t.Errorf("%+v, %v", r, err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
		t.Errorf("it takes %d MB", took>>20)
	}
}
