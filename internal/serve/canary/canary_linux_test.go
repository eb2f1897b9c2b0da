package canary

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/internal/serve/disktest"
)

// TestMain is a program that reads its arguments before it calls Be, as those with commands do.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		os.Exit(2)
	}
	Be()
	os.Exit(m.Run())
}

// looks expects the result of a look.
func looks(t *testing.T, c *Canary, want string) {
	t.Helper()
	_, err := c.Look(0)
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("a look finds %v; want %q", err, want)
	}
}

// at returns a canary of a directory.
func at(t *testing.T, directory string) *Canary {
	c := New(Place{Kind: Path, Path: directory, File: FileOf(7)})
	t.Cleanup(c.Close)
	return c
}

func TestADirectoryThatIsRemovedOrReplacedFails(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "path")
	c := at(t, directory)
	looks(t, c, "no such file")
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	looks(t, c, "")
	if err := os.Rename(directory, directory+".old"); err != nil {
		t.Fatal(err)
	}
	looks(t, c, "it was removed or renamed")
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	looks(t, c, "another directory has its place")
	c.running().kill(t) // it is known of the directory what it was
	looks(t, c, "another directory has its place")
	if err := os.Remove(directory); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(directory+".old", directory); err != nil {
		t.Fatal(err)
	}
	looks(t, c, "")
}

// kill kills the process of a canary.
// running returns the process. Another goroutine takes note of its end.
func (c *Canary) running() *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.process
}

func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.command.Process.Kill(); err != nil {
		t.Error(err)
	}
}

func TestACanaryThatIsKilledIsNoFailure(t *testing.T) {
	c := at(t, t.TempDir())
	for range 5 {
		looks(t, c, "")
		c.running().kill(t)
	}
	looks(t, c, "")
}

func TestAFullDiskFails(t *testing.T) {
	disk := disktest.Mount(t, "size=1m")
	c := at(t, string(disk))
	looks(t, c, "")
	disk.Fill(t)
	looks(t, c, "no space left")
	disk.Free(t)
	looks(t, c, "")
	p := c.running()
	c.Close()
	<-p.ended // it has no file open when the disk is unmounted
}

// The questions end while the looks are under way.
func TestACanaryLeavesNothingInADirectory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 50 {
			directory := t.TempDir()
			serve([]Place{{Kind: Path, Path: directory, File: FileOf(7)}}, strings.NewReader("0\n0\n"), io.Discard)
			synctest.Wait()
			if left, err := os.ReadDir(directory); len(left) > 0 || err != nil {
				t.Fatalf("it leaves %v, %v", left, err)
			}
		}
	})
}

// The canary opens a named pipe for writing, which blocks while no process reads it.
func TestACanaryWhoseLookHangsEndsWithItsMember(t *testing.T) {
	directory := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(directory, FileOf(7)+".new"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := at(t, directory)
	if _, err := c.ask(0); err != nil {
		t.Fatal(err)
	}
	p := c.running()
	c.Close()
	select {
	case <-p.ended:
	case <-time.After(60 * giveUp):
		t.Error("it goes on")
	}
}

func TestATouchedFileIsSeen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "alive")
	c := New(Place{Kind: File, Path: name})
	defer c.Close()
	seen := map[string]bool{}
	for i := range 3 {
		touched, err := c.Look(0)
		if err != nil || seen[touched] {
			t.Errorf("touch %d: %q, %v", i, touched, err)
		}
		seen[touched] = true
		if err := os.WriteFile(name, []byte(fmt.Sprint(strings.Repeat("x", i))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// frozen is a file system on a loop device, which the test freezes.
func frozen(t *testing.T) (directory string) {
	t.Helper()
	directory = t.TempDir()
	image := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, 16<<20); err != nil {
		t.Fatal(err)
	}
	for _, call := range [][]string{{"mkfs.ext4", "-q", image}, {"mount", "-o", "loop", image, directory}} {
		if text, err := exec.Command(call[0], call[1:]...).CombinedOutput(); err != nil {
			t.Skipf("no file system on a loop device, which needs root: %v: %s", err, text)
		}
	}
	t.Cleanup(func() { syscall.Unmount(directory, syscall.MNT_DETACH) })
	return directory
}

func freeze(t *testing.T, how, directory string) {
	t.Helper()
	if text, err := exec.Command("fsfreeze", how, directory).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

func TestAFrozenFileSystemHoldsUpOnlyTheCanary(t *testing.T) {
	directory := frozen(t)
	c := at(t, directory)
	looks(t, c, "")
	freeze(t, "--freeze", directory)
	defer freeze(t, "--unfreeze", directory)
	waiting, err := c.ask(0)
	if err != nil {
		t.Fatal(err)
	}
	p := c.running()
	for { // until it hangs
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.command.Process.Pid))
		if len(threads) == 0 {
			t.Fatal("it has ended")
		}
		hangs := false
		for _, thread := range threads {
			stat, _ := os.ReadFile(thread)
			hangs = hangs || strings.Contains(string(stat), ") D ")
		}
		if hangs {
			break
		}
	}
	select {
	case a := <-waiting:
		t.Errorf("it has an answer: %+v", a)
	default:
	}
	c.Close() // it waits for nothing
	if _, answered := <-waiting; answered {
		t.Error("it has an answer after its end")
	}
	select {
	case <-p.ended:
		t.Error("a process with a write in a frozen file system has ended")
	default:
	}
}
