package canary

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"ringleader.example/ringleader/storage"
)

// Kind is what a place is.
type Kind string

// The kinds.
const (
	Store Kind = "store" // the directory of a member's store
	Path  Kind = "path"  // a directory in which File is written
	File  Kind = "file"  // a file that another process touches: it is only looked at
)

// Place is what a canary looks at.
type Place struct {
	Kind Kind   `json:"kind"`
	Path string `json:"path"`
	File string `json:"file,omitempty"` // of a Path: the name of the file that is written there

	// Identity is which directory it was at the first look, so that another one in its place is found; empty: no look has succeeded yet.
	Identity string `json:"identity,omitempty"`

	prober storage.Prober // of a Store, once it is open
}

// sector is what is written: one sector, of no meaning.
var sector = make([]byte, 512)

// look looks at the place. It lasts for as long as the device gives no answer. Touched is when a file was touched last, as a text that differs
// after each touch; empty: there is none.
func (p *Place) look() (touched string, err error) {
	info, err := os.Stat(p.Path)
	switch {
	case p.Kind == File && errors.Is(err, fs.ErrNotExist):
		return "", nil // it is yet to be touched
	case p.Kind == File && err == nil:
		return fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size(), " ", identity(info)), nil
	case errors.Is(err, fs.ErrNotExist) && p.Identity != "" && p.Kind != Store:
		return "", errors.New("it was removed or renamed")
	case err != nil && p.Kind == Path:
		return "", err
	}
	switch now := identityOf(info); {
	case p.Kind == Store:
		return "", p.lookAtStore(now)
	case !info.IsDir():
		return "", errors.New("it is no directory")
	case p.Identity == "":
		defer func() {
			if err == nil {
				p.Identity = now
			}
		}()
	case now != p.Identity:
		return "", errors.New("another directory has its place")
	}
	return "", write(filepath.Join(p.Path, p.File))
}

// lookAtStore looks at the store of a member. The prober has the texts for what is wrong with it.
func (p *Place) lookAtStore(now string) (err error) {
	if p.prober == nil {
		switch {
		case p.Identity != "" && now != p.Identity:
			return fmt.Errorf("%w: %s was removed, renamed or replaced, so no later process would find what this member has promised", storage.ErrData, p.Path)
		default:
			if p.prober, err = storage.OpenProber(p.Path); err != nil {
				return err
			}
		}
	}
	return p.prober.Probe()
}

// write writes a sector anew beside the last one, so that it needs room as the work's own writes do, and returns when that is durable.
func write(name string) error {
	next := name + ".new"
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(sector)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(next))
	}
	return os.Rename(next, name)
}

// identityOf returns which directory it is; empty: there is none, or the system does not tell.
func identityOf(info os.FileInfo) string {
	if info == nil {
		return ""
	}
	return identity(info)
}

// Identity returns which directory a path leads to; empty: it is not known.
func Identity(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return identity(info)
}

// forget removes what the canary has written.
func (p *Place) forget() {
	if p.Kind == Path && p.Identity != "" && Identity(p.Path) == p.Identity {
		_ = os.Remove(filepath.Join(p.Path, p.File))
	}
}

// FileOf returns the name of the file that the canary of a member writes.
func FileOf(member uint64) string { return ".ringleader-canary-" + strconv.FormatUint(member, 10) }
