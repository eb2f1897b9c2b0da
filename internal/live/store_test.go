package live

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringleader.example/ringleader/transport"
)

func TestADataDirectoryThatCannotBeUsedIsRefusedByName(t *testing.T) {
	group := transport.DigestOf("a group")
	directory := filepath.Join(t.TempDir(), "data")
	state := filepath.Join(directory, "state")
	open := func(id uint64, group transport.Digest) error {
		s, _, err := openStore(directory, (*os.File).Sync, id, group, []byte("kept"))
		if err == nil {
			err = errors.Join(s.begin(), s.close())
		}
		return err
	}
	if err := open(1, group); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	damaged, newer := bytes.Clone(good), bytes.Clone(good)
	damaged[len(damaged)/2] ^= 1
	newer[len(recordMagic)-1] = 2
	is := func(text string) string { return "data directory: " + state + " " + text }
	for _, test := range []struct {
		content []byte
		id      uint64
		group   transport.Digest
		want    string
	}{
		{good, 2, group, is("belongs to member 1, not 2")},
		{good, 1, transport.DigestOf("another"), is("belongs to a group of other members, or of another algorithm")},
		{damaged, 1, group, is("is damaged: its checksum is wrong")},
		{good[:20], 1, group, is("is damaged: its checksum is wrong")},
		{nil, 1, group, is("is not the state of a member")},
		{[]byte("something else"), 1, group, is("is not the state of a member")},
		{newer, 1, group, is("has format 2; this program reads format 1")},
	} {
		if err := os.WriteFile(state, test.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := open(test.id, test.group); err == nil || err.Error() != test.want || !errors.Is(err, ErrData) {
			t.Errorf("%v; want %q", err, test.want)
		}
		if left, err := os.ReadFile(state); err != nil || !bytes.Equal(left, test.content) {
			t.Error("what could not be read was overwritten")
		}
	}
}

func TestADataDirectoryServesOneProcessAtATime(t *testing.T) {
	directory := t.TempDir()
	s, again, err := openStore(directory, (*os.File).Sync, 1, transport.Digest{}, nil)
	if err != nil || again {
		t.Fatal(again, err)
	}
	want := "data directory " + directory + " is in use by another member"
	if _, _, err := openStore(directory, (*os.File).Sync, 1, transport.Digest{}, nil); !errors.Is(err, ErrData) || err.Error() != want {
		t.Errorf("to a second one it says %v", err)
	}
	if err := errors.Join(s.begin(), s.close()); err != nil {
		t.Fatal(err)
	}
	next, again, err := openStore(directory, (*os.File).Sync, 1, transport.Digest{}, nil)
	if err != nil || !again || next.record.Incarnation <= s.record.Incarnation {
		t.Errorf("again %v, incarnation %d after %d, %v", again, next.record.Incarnation, s.record.Incarnation, err)
	}
	next.close()
}

func TestADirectoryThatIsNoneIsNotOneThatAnotherHolds(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := openStore(name, (*os.File).Sync, 1, transport.Digest{}, nil)
	if !errors.Is(err, ErrData) || strings.Contains(err.Error(), "another member") {
		t.Error(err)
	}
}

// Removing its contents does not unlock a directory, and a directory that takes its name is another one.
func TestALockIsOnTheDirectoryItself(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "data")
	open := func() (*store, error) {
		s, _, err := openStore(directory, (*os.File).Sync, 1, transport.Digest{}, []byte("kept"))
		return s, err
	}
	first, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer first.close()
	if err := first.begin(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.Remove(filepath.Join(directory, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := open(); !errors.Is(err, ErrData) {
		t.Errorf("the files are gone, and with them the lock: %v", err)
	}

	if err := os.Rename(directory, directory+".moved"); err != nil {
		t.Fatal(err)
	}
	second, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer second.close()
	if err := first.save([]byte("a vote")); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(directory); err != nil || len(entries) > 0 {
		t.Errorf("the first writes to the directory of the second: %v, %v", entries, err)
	}
}

func TestAFailedSyncIsAnErrorAndChangesNothing(t *testing.T) {
	s, _, err := openStore(t.TempDir(), (*os.File).Sync, 1, transport.Digest{}, []byte("before"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := s.begin(); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("no space")
	s.sync = func(*os.File) error { return broken }
	if err := s.save([]byte("before")); err != nil {
		t.Errorf("what has not changed was written: %v", err)
	}
	if err := s.save([]byte("after")); !errors.Is(err, broken) || !errors.Is(err, ErrData) {
		t.Errorf("%v", err)
	}
	b, err := os.ReadFile(s.state())
	if err != nil {
		t.Fatal(err)
	}
	if r, err := decodeRecord(b); err != nil || string(r.kept) != "before" {
		t.Errorf("the file keeps %q, %v", r.kept, err)
	}
}
