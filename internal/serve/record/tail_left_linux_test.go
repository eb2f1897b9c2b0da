package record

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// orphan returns the name of a tail of a record in a directory, whose process has ended.
func orphan(t *testing.T, directory string) string {
	t.Helper()
	made := newTail(directory)
	if made == nil {
		t.Skip("this machine has no file system in memory")
	}
	path := filepath.Join(tailFolder, made.name)
	kept := path + ".kept" // close removes the other name
	if err := os.Link(path, kept); err != nil {
		t.Fatal(err)
	}
	made.close()
	if err := os.Rename(kept, path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(path) }) // it may be gone
	return made.name
}

// placed changes what the file of a tail says of the place of its record.
func placed(t *testing.T, name string, change func(*place)) {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(tailFolder, name), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	text := make([]byte, info.Size()-tailSize)
	if _, err := file.ReadAt(text, tailSize); err != nil {
		t.Fatal(err)
	}
	p := &place{}
	if err := json.Unmarshal(text, p); err != nil {
		t.Fatal(err)
	}
	change(p)
	if text, err = json.Marshal(p); err != nil {
		t.Fatal(err)
	}
	if err := file.Truncate(tailSize); err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteAt(text, tailSize); err != nil {
		t.Fatal(err)
	}
}

func isThere(name string) bool {
	_, err := os.Lstat(filepath.Join(tailFolder, name))
	return err == nil
}

func TestTailsThatNobodyNeedsAreRemoved(t *testing.T) {
	remove := func(t *testing.T, _, record string) {
		if err := os.RemoveAll(record); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		lose func(t *testing.T, tail, record string)
		goes bool
	}{
		"the record was removed": {lose: remove, goes: true},
		"another folder is in its place": {
			lose: func(t *testing.T, tail, record string) {
				remove(t, tail, record)
				placed(t, tail, func(p *place) { p.Folders[len(p.Folders)-1].Inode = 1<<64 - 1 }) // the new one may have its number again
				if err := os.Mkdir(record, 0o700); err != nil {
					t.Fatal(err)
				}
			},
			goes: true,
		},
		"the record is there": {lose: func(*testing.T, string, string) {}},
		"its disk is not mounted": {lose: func(t *testing.T, tail, record string) {
			remove(t, tail, record)
			near, err := placeOf("/dev")
			if err != nil {
				t.Fatal(err)
			}
			last := near.Folders[len(near.Folders)-1]
			placed(t, tail, func(p *place) {
				if p.Folders[len(p.Folders)-2].Device == last.Device {
					t.Skip("this machine has one device")
				}
				p.Folders[len(p.Folders)-2].Device = last.Device // that of what was mounted above the record
			})
		}},
		"an older version has made it": {lose: func(t *testing.T, tail, record string) {
			remove(t, tail, record)
			if err := os.Truncate(filepath.Join(tailFolder, tail), tailSize); err != nil {
				t.Fatal(err)
			}
		}},
		"it is that of another user": {lose: func(t *testing.T, tail, record string) {
			remove(t, tail, record)
			if err := os.Lchown(filepath.Join(tailFolder, tail), os.Geteuid()+1, -1); err != nil {
				t.Skip("this user gives no files away:", err)
			}
		}},
		"a process has it": {lose: func(t *testing.T, tail, record string) {
			remove(t, tail, record)
			file, err := os.Open(filepath.Join(tailFolder, tail))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { file.Close() })
			if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			record := filepath.Join(t.TempDir(), "\xff", "record") // which is no UTF-8
			if err := os.MkdirAll(record, 0o700); err != nil {
				t.Skip("this file system has texts alone:", err)
			}
			tail := orphan(t, record)
			c.lose(t, tail, record)
			near, err := placeOf(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if devices, err := placeOf("/dev"); err == nil {
				near.Folders = append(near.Folders, devices.Folders...)
			}
			if _, is := isAbandoned(tail, near); is != c.goes {
				t.Errorf("it is abandoned: %v", is)
			}
			removeAbandoned(t.TempDir(), 0)
			if is := isThere(tail); is == c.goes {
				t.Errorf("it is still there: %v", is)
			}
		})
	}
}

// To look at another device may hang.
func TestATailOfARecordOnAnotherDeviceStays(t *testing.T) {
	record := t.TempDir()
	tail := orphan(t, record)
	if err := os.RemoveAll(record); err != nil {
		t.Fatal(err)
	}
	near := &place{Path: []byte("/"), Folders: []folder{{Device: 1<<64 - 1}}}
	if _, is := isAbandoned(tail, near); is {
		t.Error("it was looked at")
	}
}

// A record that was moved is joined with its tail yet, so the newest ones stay.
func TestAMemberRemovesTheTailsOfOthersButTheNewest(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	oldest := orphan(t, gone)
	before := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(tailFolder, oldest), before, before); err != nil {
		t.Fatal(err)
	}
	others := make([]string, mostAbandoned)
	for i := range others {
		others[i] = orphan(t, gone)
	}
	begins(sharing(t, t.TempDir(), 7)).Close(time.Minute)
	if isThere(oldest) {
		t.Error("a member leaves the oldest of more")
	}
	removeAbandoned(t.TempDir(), 0)
	if isThere(others[0]) {
		t.Error("a new one stays, though none should")
	}
}

// The lock of a tail ends with its process, and not before.
func TestATailIsLockedAsLongAsItsProcessLives(t *testing.T) {
	if path := os.Getenv(childOf); path != "" {
		w := begins(sharing(t, path, 7))
		fmt.Printf("tail %s\n", strconv.Quote(w.tail.name))
		end := make(chan os.Signal, 1) // without C, a program of which all wait for ever ends
		signal.Notify(end, os.Interrupt)
		<-end
	}
	sharing(t, t.TempDir(), 1) // or the test is skipped
	path := filepath.Join(t.TempDir(), "record")
	c := child(t, path)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	name := ""
	for lines := bufio.NewScanner(out); name == "" && lines.Scan(); {
		_, _ = fmt.Sscanf(lines.Text(), "tail %q", &name)
	}
	t.Cleanup(func() { _ = os.Remove(filepath.Join(tailFolder, name)) }) // it is gone
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	removeAbandoned(t.TempDir(), 0)
	if name == "" || !isThere(name) {
		t.Errorf("the tail %q of a process that lives was removed", name)
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	removeAbandoned(t.TempDir(), 0)
	if isThere(name) {
		t.Error("the tail of a process that was killed stays")
	}
}
