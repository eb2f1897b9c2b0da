package warden

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// NewGroup makes a control group below that of this process, for processes that are to die together. It needs version 2, and
// leave to write there.
func NewGroup(name string) (group string, err error) {
	parent, err := ownGroup()
	if err != nil {
		return "", err
	}
	group = filepath.Join(parent, name)
	if err := os.Mkdir(group, 0o755); err != nil {
		return "", err
	}
	// A kernel before 5.14 cannot kill a group.
	if kill, err := os.OpenFile(filepath.Join(group, "cgroup.kill"), os.O_WRONLY, 0); err != nil {
		return "", errors.Join(err, os.Remove(group))
	} else if err := kill.Close(); err != nil {
		return "", err
	}
	return group, nil
}

// ownGroup returns the folder of the control group of this process, in version 2.
func ownGroup() (string, error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(own)) {
		if path, found := strings.CutPrefix(line, "0::"); found {
			mounts, err := os.ReadFile("/proc/self/mountinfo")
			if err != nil {
				return "", err
			}
			for mount := range strings.Lines(string(mounts)) {
				// … root point options … - type source options: see proc_pid_mountinfo(5)
				before, after, _ := strings.Cut(mount, " - ")
				fields := strings.Fields(before)
				if !strings.HasPrefix(after, "cgroup2 ") || len(fields) < 5 {
					continue
				}
				if within, err := filepath.Rel(fields[3], strings.TrimSpace(path)); err == nil && !strings.HasPrefix(within, "..") {
					return filepath.Join(fields[4], within), nil
				}
			}
		}
	}
	return "", errors.New("no control group of version 2")
}

// KillGroup kills all processes of a control group and of the groups that they have made there, also those that come meanwhile, and removes the
// groups. It returns nil when no process is left. The error is why some may be.
func KillGroup(group string) error {
	for {
		err := os.WriteFile(filepath.Join(group, "cgroup.kill"), []byte("1"), 0)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		events, read := os.ReadFile(filepath.Join(group, "cgroup.events"))
		switch {
		case read == nil && bytes.Contains(events, []byte("populated 0")):
			_ = removeGroup(group) // what is empty harms nobody
			return nil
		case err != nil || read != nil:
			return fmt.Errorf("the control group %s is not killed: %w", group, errors.Join(err, read))
		}
		time.Sleep(time.Millisecond) // the kernel has no call that waits for it
	}
}

// removeGroup removes a control group without processes, after those within it.
func removeGroup(group string) error {
	within, err := os.ReadDir(group)
	for _, entry := range within {
		if entry.IsDir() {
			err = errors.Join(err, removeGroup(filepath.Join(group, entry.Name())))
		}
	}
	if err = errors.Join(err, os.Remove(group)); errors.Is(err, os.ErrNotExist) {
		return nil // another process has removed it
	}
	return err
}
