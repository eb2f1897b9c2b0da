package warden

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// A command may make groups within its own, as one that runs containers does.
func TestAControlGroupEndsWithTheGroupsWithin(t *testing.T) {
	group, err := NewGroup(fmt.Sprintf("ringleader-test-%d", os.Getpid()))
	if err != nil {
		t.Skip(err)
	}
	within := filepath.Join(group, "one", "two")
	if err := os.MkdirAll(within, 0o755); err != nil {
		t.Fatal(err)
	}
	folder, err := os.Open(within)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	command := exec.Command("sleep", "1234")
	command.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(folder.Fd())}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if err := KillGroup(group); err != nil {
		t.Error(err)
	}
	command.Wait() // it was killed
	if _, err := os.Stat(group); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the group is left: %v", err)
	}
}

func TestAGroupThatIsEmptyNeedsNoKill(t *testing.T) {
	for events, empty := range map[string]bool{"populated 0\nfrozen 0\n": true, "populated 1\nfrozen 0\n": false, "": false} {
		group := t.TempDir()                                                         // an empty one is removed
		if err := os.Mkdir(filepath.Join(group, "cgroup.kill"), 0o700); err != nil { // which cannot be written
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(group, "cgroup.events"), []byte(events), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := KillGroup(group); (err == nil) != empty {
			t.Errorf("with the events %q: %v", events, err)
		}
	}
}

func TestAChildThatAListLacksIsFound(t *testing.T) {
	lists := [][]int{{11, 12}, {12, 13}}
	list := func() []int {
		first := lists[0]
		lists = lists[1:]
		return first
	}
	keeper := func(pid int) bool { return pid != 13 }
	if got := excepting(keeper, list); !slices.Equal(got, []int{13}) {
		t.Errorf("the children are %v: 13 was not in the list from which 11 was reaped", got)
	}
	lists = [][]int{{11, 12}, {12}, {12}}
	if got := excepting(keeper, list); len(got) > 0 || len(lists) > 0 {
		t.Errorf("the children are %v, with %d lists unread", got, len(lists))
	}
}
