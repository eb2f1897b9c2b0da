package record

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// place tells where the record of a tail is. The file of the tail has it behind the blocks: another member reads there whether the record is gone.
type place struct {
	Path    []byte   // without symbolic links; a text would have to be UTF-8
	Folders []folder // of the path that are there, from the root on
}

// folder is a folder of a file system. Another one at its path, on another device, is where it was mounted before.
type folder struct{ Device, Inode uint64 }

// mostPlace is how long a place may be, in bytes.
const mostPlace = 64 << 10

// placeOf returns the place of a record, of which some folders need not exist.
func placeOf(path string) (*place, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	missing := ""
	for {
		there, err := filepath.EvalSymlinks(path)
		if err == nil {
			path = filepath.Join(there, missing)
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || path == "/" {
			return nil, err
		}
		path, missing = filepath.Dir(path), filepath.Join(filepath.Base(path), missing)
	}
	p := &place{Path: []byte(path)}
	for _, one := range folders(path) {
		f, err := folderAt(one)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, err
		}
		p.Folders = append(p.Folders, f)
	}
	return p, nil
}

// folders returns the folders of a path, from the root on.
func folders(path string) (all []string) {
	for ; path != "/"; path = filepath.Dir(path) {
		all = append(all, path)
	}
	slices.Reverse(all)
	return append([]string{"/"}, all...)
}

func folderAt(path string) (folder, error) {
	info, err := os.Stat(path)
	if err != nil {
		return folder{}, err
	}
	s := info.Sys().(*syscall.Stat_t)
	return folder{uint64(s.Dev), uint64(s.Ino)}, nil
}

// gone reports whether the folder of a record was removed, or moved. It is not gone if its disk is not mounted, or if it cannot be told.
func (p *place) gone() bool {
	for i, one := range folders(string(p.Path)) {
		is, err := folderAt(one)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return i > 0
		case err != nil:
			return false
		case i < len(p.Folders) && is != p.Folders[i]:
			return is.Device == p.Folders[i].Device
		}
	}
	return false
}

// near reports whether a record is on the devices of another one: to look at a further one might hang.
func (p *place) near(other *place) bool {
	for _, f := range p.Folders {
		if !slices.ContainsFunc(other.Folders, func(o folder) bool { return o.Device == f.Device }) {
			return false
		}
	}
	return len(p.Folders) > 0
}

// mostAbandoned is the number of tails that stay without a record. A user may have moved a record to examine it, and a reader still joins it with its tail.
const mostAbandoned = 64

// removeAbandoned removes the tails of this user whose process has ended and whose record is gone, but for the newest ones. It looks only at records near
// a path.
func removeAbandoned(path string, most int) {
	near, err := placeOf(path)
	if err != nil {
		return
	}
	entries, _ := os.ReadDir(tailFolder) // those it has read
	type abandoned struct {
		name string
		made time.Time
	}
	var all []abandoned
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), tailPrefix) {
			continue
		}
		if made, is := isAbandoned(entry.Name(), near); is {
			all = append(all, abandoned{entry.Name(), made})
		}
	}
	slices.SortFunc(all, func(a, b abandoned) int { return b.made.Compare(a.made) })
	for _, one := range all[min(most, len(all)):] {
		_ = os.Remove(filepath.Join(tailFolder, one.name)) // another process may have done so
	}
}

// isAbandoned reports whether the process of a tail has ended and its record is gone, and returns when the tail was written last.
func isAbandoned(name string, near *place) (made time.Time, is bool) {
	file := openTail(name)
	if file == nil {
		return made, false
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) {
		return made, false
	}
	text, err := io.ReadAll(io.NewSectionReader(file, tailSize, mostPlace))
	p := &place{}
	if err != nil || json.Unmarshal(text, p) != nil || !p.near(near) || !p.gone() { // an older version writes no place
		return made, false
	}
	return info.ModTime(), syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// mark locks the file of a tail as long as its process lives, and then tells where its record is: who reads that may rely on the lock.
func mark(file *os.File, directory string) error {
	if directory == "" {
		return nil
	}
	p, err := placeOf(directory)
	if err != nil {
		return nil // nobody removes it but the next life
	}
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // a text and numbers
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return err
	}
	_, err = file.WriteAt(text, tailSize)
	return err
}
