package record

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// childOf is a variable with the folder of the record that this process is to write, as a child of its test.
const childOf = "RINGLEADER_RECORD_CHILD"

// child returns a process that runs a test of its own.
func child(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	c.Env = append(os.Environ(), childOf+"="+path)
	return c
}

// Each entry whose Add has returned is read after a kill at any moment, within a write or not.
func TestAProcessThatIsKilledLosesNoEntry(t *testing.T) {
	if path := os.Getenv(childOf); path != "" {
		w := sharing(t, path, 7)
		begins(w)
		for n := uint64(0); ; n++ {
			w.Add(at(80*time.Duration(n)*time.Millisecond), "g", renewal(n*n))
			fmt.Printf("added %d\n", n)
			if n%10 == 9 {
				w.Sync() // no member adds as fast as this loop, and its memory has some blocks only
			}
		}
	}
	sharing(t, t.TempDir(), 1) // or the test is skipped
	random := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	for range 8 {
		path, last, most := t.TempDir(), -1, random.IntN(400)
		c := child(t, path)
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			_, _ = fmt.Sscanf(lines.Text(), "added %d", &last)
			if last >= most {
				_ = c.Process.Kill() // and it has added more meanwhile
			}
		}
		_ = c.Wait()
		if last < most {
			t.Fatalf("the child has added %d entries of %d", last+1, most+1)
		}
		got := ticksOf(t, path)
		if len(got) < last+1 || got[last] != 80*uint64(last)*uint64(last) {
			t.Errorf("%d entries were added, and %d are read", last+1, len(got))
		}
		r, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		segments := r.Logs[0].Segments
		if !segments[len(segments)-1].Head.Joined {
			t.Error("the record does not say that it has what was in memory")
		}
		next := sharing(t, path, 8)
		next.Add(at(0), "g", renewal(1))
		next.Sync()
		if after := ticksOf(t, path); len(after) != len(got)+1 {
			t.Errorf("the next life has left %d entries of %d", len(after)-1, len(got))
		}
		next.Close(time.Minute)
	}
}

// The child has a file system in memory of its own, which is full.
func TestAFullFileSystemInMemoryIsNotUsed(t *testing.T) {
	if path := os.Getenv(childOf); path != "" {
		must := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		must(syscall.Mount("none", tailFolder, "tmpfs", 0, "size=16k"))
		full, err := os.Create(filepath.Join(tailFolder, "full"))
		must(err)
		if _, err := full.Write(make([]byte, 1<<16)); !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		sink, options, err := NewFiles(path, LeastSize)
		must(err)
		options.Shared = true
		w := NewWriter(sink, testHead, options)
		if w.tail != nil {
			t.Error("there is a tail")
		}
		w.Add(at(0), "g", &Snapshot{Members: []uint64{1, 2, 3}, Position: 1, State: []byte{1, 2}})
		for n := range uint64(300) {
			w.Add(at(80*time.Duration(n)*time.Millisecond), "g", renewal(n*n))
		}
		w.Sync()
		w.Close(time.Minute)
		if files, err := os.ReadDir(tailFolder); err != nil || len(files) != 1 {
			t.Errorf("%v is there, %v", files, err)
		}
		return
	}
	path := t.TempDir()
	c := child(t, path)
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	var out strings.Builder
	c.Stdout, c.Stderr = &out, io.Discard
	if err := c.Start(); err != nil {
		t.Skip("this machine gives no namespace of mounts:", err)
	}
	err := c.Wait()
	if strings.Contains(out.String(), "operation not permitted") || strings.Contains(out.String(), "permission denied") {
		t.Skip("this machine mounts nothing:", out.String())
	}
	if got := ticksOf(t, path); err != nil || len(got) != 300 {
		t.Errorf("%d steps are recorded, of 300: %v\n%s", len(got), err, out.String())
	}
}
