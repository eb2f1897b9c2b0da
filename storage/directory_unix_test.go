//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package storage

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// durableNames holds what a loss of power would leave of directories: the names in each at its last synchronisation.
type durableNames map[string]map[string]os.FileInfo

func (n durableNames) sync(f *os.File) error {
	entries, err := os.ReadDir(f.Name())
	if err != nil {
		return err
	}
	in := map[string]os.FileInfo{}
	for _, e := range entries {
		if in[e.Name()], err = e.Info(); err != nil {
			return err
		}
	}
	n[filepath.Clean(f.Name())] = in
	return nil
}

// left reports whether a loss of power leaves a path below a durable directory.
func (n durableNames) left(t *testing.T, directory string, path ...string) bool {
	t.Helper()
	for _, name := range path {
		is, err := os.Stat(filepath.Join(directory, name))
		if err != nil {
			t.Fatal(err)
		}
		if was := n[directory][name]; was == nil || !os.SameFile(was, is) {
			return false
		}
		directory = filepath.Join(directory, name)
	}
	return true
}

func TestInitMakesAllNamesOnThePathDurable(t *testing.T) {
	base := t.TempDir()
	before := filepath.Join(base, "made", "before") // by an Init that was killed, perhaps
	if err := os.MkdirAll(before, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range [][]string{{"new", "directory"}, {"made", "before"}} {
		n := durableNames{}
		s := realSystem
		s.sync = n.sync
		if err := s.init(filepath.Join(append([]string{base}, path...)...), owner, InitOptions{}); err != nil {
			t.Fatal(err)
		}
		if !n.left(t, base, append(path, fileName)...) {
			t.Errorf("of %v there is left %v", path, n)
		}
	}
	n := durableNames{}
	s := realSystem
	s.sync = n.sync
	d, err := s.open(before, owner)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if !n.left(t, before, fileName) {
		t.Error("an Init that was killed at the end may not have made the name of the store durable, and Open does not")
	}
}

// Directories above may have other owners.
func TestTheParentOfADirectoryThatExistsNeedNotBeReadable(t *testing.T) {
	base := t.TempDir()
	directory := filepath.Join(base, "data")
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	s := realSystem
	s.sync = func(f *os.File) error {
		if filepath.Clean(f.Name()) == base {
			return fs.ErrPermission
		}
		return f.Sync()
	}
	if err := s.init(directory, owner, InitOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.init(filepath.Join(base, "new"), owner, InitOptions{}); !errors.Is(err, ErrData) {
		t.Errorf("a directory that Init has made, and cannot make durable: %v", err)
	}
}

func TestADirectoryThatCannotBeSynchronisedIsAnError(t *testing.T) {
	for _, failing := range []string{"data", "."} {
		base := t.TempDir()
		directory := filepath.Join(base, "data")
		s := realSystem
		s.sync = func(f *os.File) error {
			if filepath.Clean(f.Name()) == filepath.Join(base, failing) {
				return syscall.EIO
			}
			return f.Sync()
		}
		if err := s.init(directory, owner, InitOptions{}); !errors.Is(err, ErrWrite) || !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", failing, err)
		}
		if left, err := filepath.Glob(filepath.Join(directory, fileName+"*")); err != nil || len(left) > 0 {
			t.Errorf("there is %v, %v", left, err)
		}
		mustInit(t, directory) // and its lock is free
		_, err := s.open(directory, owner)
		if failing == "data" && (!errors.Is(err, ErrFlush) || !errors.Is(err, ErrData)) {
			t.Errorf("the name of the store may be lost: %v", err)
		}
	}
}

func TestAStoreThatIsNotUnderItsNameSavesNothing(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "data")
	mustInit(t, directory)
	first := mustOpen(t, directory)
	save(t, first, "r", "one")

	// The lock is on the directory itself, not on what is in it.
	if err := os.Remove(filepath.Join(directory, fileName)); err != nil {
		t.Fatal(err)
	}
	if err := first.Save([]Record{{"r", []byte("two")}}); !errors.Is(err, ErrWrite) || !errors.Is(err, ErrData) {
		t.Errorf("the file is removed: %v", err)
	}
	if err := Init(directory, owner, InitOptions{}); !errors.Is(err, ErrLocked) {
		t.Errorf("the file is gone, and with it the lock: %v", err)
	}
	first.Close()

	mustInit(t, directory)
	second := mustOpen(t, directory)
	if err := os.RemoveAll(directory); err != nil {
		t.Fatal(err)
	}
	if err := second.Save([]Record{{"r", []byte("two")}}); !errors.Is(err, ErrWrite) {
		t.Errorf("the directory is removed: %v", err)
	}
}

// A directory that is renamed keeps its store, and the process goes on with it.
func TestADirectoryThatTakesTheNameOfAnotherIsNotTouched(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "data")
	mustInit(t, directory)
	first := mustOpen(t, directory)
	moved := directory + ".moved"
	if err := os.Rename(directory, moved); err != nil {
		t.Fatal(err)
	}
	mustInit(t, directory)
	state := filepath.Join(directory, fileName)
	before, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	save(t, first, "r", "one")
	if after, err := os.ReadFile(state); err != nil || !bytes.Equal(before, after) {
		t.Error("it was written to")
	}
	second := mustOpen(t, directory)
	if first.ID() == second.ID() {
		t.Error("both have the same ID")
	}
	first.Close()
	if b, err := mustOpen(t, moved).Load("r"); err != nil || string(b) != "one" {
		t.Errorf("where the first has moved there is %q, %v", b, err)
	}
}

func TestASymbolicLinkIsFollowedToADirectoryAndNotOutOfIt(t *testing.T) {
	base := t.TempDir()
	directory, link := filepath.Join(base, "data"), filepath.Join(base, "link")
	mustInit(t, directory)
	if err := os.Symlink(directory, link); err != nil {
		t.Fatal(err)
	}
	d := mustOpen(t, link)
	if _, err := Open(directory, owner); !errors.Is(err, ErrLocked) {
		t.Errorf("under another name it is open already: %v", err)
	}
	d.Close()

	other := filepath.Join(base, "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{filepath.Join(directory, fileName), filepath.Join("..", "data", fileName), "nothing"} {
		name := filepath.Join(other, fileName)
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(other, owner); !errors.Is(err, ErrData) {
			t.Errorf("a link to %s is opened: %v", to, err)
		}
		if err := Init(other, owner, InitOptions{}); !errors.Is(err, ErrData) {
			t.Errorf("a link to %s is overwritten: %v", to, err)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

// holder is the environment variable that makes the test binary a process that opens a store.
const holder = "STORAGE_TEST_OPEN"

func TestMain(m *testing.M) {
	if directory := os.Getenv(holder); directory != "" {
		if _, err := Open(directory, owner); err != nil {
			os.Stdout.WriteString(err.Error())
			os.Exit(1)
		}
		os.Stdout.WriteString("open")
		os.Stdin.Read(make([]byte, 1)) // until it is killed
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestTheLockOfAProcessEndsWithIt(t *testing.T) {
	directory := t.TempDir()
	mustInit(t, directory)
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), holder+"="+directory)
	stdin, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	says := make([]byte, 100)
	if n, err := stdout.Read(says); string(says[:n]) != "open" {
		t.Fatalf("the other process: %s, %v", says[:n], err)
	}
	if _, err := Open(directory, owner); !errors.Is(err, ErrLocked) {
		t.Errorf("another process has it open: %v", err)
	}
	other.Process.Kill()
	other.Wait()
	mustOpen(t, directory)
}

// A child between fork and exec has a copy of each descriptor. It does not keep the lock.
func TestALockEndsThoughAProcessIsBeingStarted(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	first, err := lockDirectory(root)
	if err != nil {
		t.Fatal(err)
	}
	inherited, err := syscall.Dup(int(first.(locked).Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	if _, err := lockDirectory(root); !errors.Is(err, ErrLocked) {
		t.Errorf("while it is locked: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	again, err := lockDirectory(root)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}
