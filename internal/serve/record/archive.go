package record

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Part is a file of a record, which is some whole segments.
type Part struct {
	Path    string
	Size    int64
	Written time.Time // last

	joined []byte // the file and what its member has in memory; nil: it is the file
}

// Parts returns the files of a record that were written since a moment, the oldest first: each is a part of an archive. With the zero time that is
// all of them, and the changes of the leader of a year are among them. The error is that of os.ReadDir.
func Parts(directory string, since time.Time) (all []Part, err error) {
	entries, err := os.ReadDir(directory) // in the order of names, and so of segments
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		name := entry.Name()
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(name, extension) { // its member has just removed it, or it is another file
			continue
		}
		all = append(all, Part{Path: filepath.Join(directory, name), Size: info.Size(), Written: info.ModTime()})
	}
	for i := range slices.Backward(all) {
		if filepath.Base(all[i].Path) != changesName {
			all[i].join()
			break
		}
	}
	return slices.DeleteFunc(all, func(p Part) bool {
		return !since.IsZero() && (filepath.Base(p.Path) == changesName || p.Written.Before(since))
	}), nil
}

// join adds what the member has in memory, and not in its last file.
func (p *Part) join() {
	r := &Records{}
	if err := r.file(p.Path); err != nil {
		return
	}
	r.order()
	var content []byte
	room := int64(mostHeld)
	for _, l := range r.Logs {
		if n := len(l.Segments); n > 0 {
			l.Segments[n-1].hold(&room)
		}
		r.join(l)
		for _, s := range l.Segments {
			b, err := s.Bytes()
			if err != nil {
				return
			}
			content = append(content, b...)
		}
	}
	switch n := int64(len(content)); {
	case n > p.Size:
		p.joined, p.Size, p.Written = content, n, time.Now()
	case n == p.Size: // else there is more in the file, which is no block
		p.joined = content
	}
}

// Newest returns the last parts that have at most so many bytes together. The changes of a year are not among them: they may have more.
func Newest(all []Part, most int64) []Part {
	all = slices.DeleteFunc(slices.Clone(all), func(p Part) bool { return filepath.Base(p.Path) == changesName })
	for i, p := range slices.Backward(all) {
		if most -= p.Size; most < 0 {
			return all[i+1:]
		}
	}
	return all
}

// WriteTo writes the part. A part that its member has removed meanwhile is empty.
func (p *Part) WriteTo(to io.Writer) (int64, error) {
	if p.joined != nil {
		n, err := to.Write(p.joined)
		return int64(n), err
	}
	f, err := os.Open(p.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return io.Copy(to, f)
}

// Joined returns the records of several sources as those of one.
func Joined(all ...*Records) *Records {
	r := &Records{}
	for _, one := range all {
		for _, l := range one.Logs {
			for _, s := range slices.Concat(l.Segments, l.Changes) {
				r.add(s)
			}
		}
		r.Damages = append(r.Damages, one.Damages...)
	}
	r.order()
	return r
}
