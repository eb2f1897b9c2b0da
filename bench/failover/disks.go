//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// diskBytes is the size of a file system; what is not used takes no room.
const diskBytes = 1 << 29

// disks are file systems in files, one for each node, so that one node's can be frozen. The folder of a node is where its
// file system is mounted, by identifier - 1.
type disks []string

// mountDisks makes them in a folder.
func mountDisks(folder string, n int) (d disks, err error) {
	for id := 1; id <= n && err == nil; id++ {
		at := filepath.Join(folder, strconv.Itoa(id))
		image := at + ".image"
		if err = os.Mkdir(at, 0o700); err == nil {
			err = os.WriteFile(image, nil, 0o600)
		}
		if err == nil {
			err = os.Truncate(image, diskBytes)
		}
		if err == nil {
			err = command("mkfs.ext4", "-q", image)
		}
		if err == nil {
			err = command("mount", "-o", "loop", image, at)
		}
		if err == nil {
			d = append(d, at)
		}
	}
	return d, err
}

func (d disks) freeze(id int) error { return command("fsfreeze", "--freeze", d[id-1]) }
func (d disks) thaw(id int) error   { return command("fsfreeze", "--unfreeze", d[id-1]) }

// thawAll ends the faults that an interruption has left.
func (d disks) thawAll() {
	for id := range d {
		_ = d.thaw(id + 1) // it fails if the file system is not frozen
	}
}

func (d disks) unmount() {
	for _, at := range d {
		_ = command("umount", at) // what is left is removed with the folder, or the system is told
	}
}

func command(name string, arguments ...string) error {
	if text, err := exec.Command(name, arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, text)
	}
	return nil
}

// tryDisk reports why file systems cannot be frozen here; empty: they can.
func tryDisk(folder string) string {
	if os.Geteuid() != 0 {
		return "only root can freeze a file system"
	}
	folder, err := os.MkdirTemp(folder, "disk")
	if err != nil {
		return err.Error()
	}
	d, err := mountDisks(folder, 1)
	if err == nil {
		err = errors.Join(d.freeze(1), d.thaw(1))
	}
	d.unmount()
	if err != nil {
		return err.Error()
	}
	return ""
}
