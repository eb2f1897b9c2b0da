//go:build unix

package record

import (
	"os"
	"path/filepath"
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
