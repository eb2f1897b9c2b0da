package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"path"
	"slices"
	"strings"
	"time"
)

// entry is a file of an archive. A name that ends in a slash, or is empty, is that of a folder.
type entry struct {
	name  string
	from  string // its path in the repository; "": it is made here
	data  []byte
	mode  int64 // 0: 0644, or 0755 for a folder
	owner int   // user and group
}

func (e entry) folder() bool { return e.name == "" || strings.HasSuffix(e.name, "/") }

func (e entry) permissions() int64 {
	switch {
	case e.mode != 0:
		return e.mode
	case e.folder():
		return 0o755
	}
	return 0o644
}

const executable = 0o755 // the mode of what can be run

// withFolders returns the entries with the folders that they are in, in the order of their names.
func withFolders(entries []entry) []entry {
	all := slices.Clone(entries)
	known := map[string]bool{}
	for _, e := range entries {
		known[e.name] = true
	}
	for _, e := range entries {
		for dir := path.Dir(path.Clean(e.name)); dir != "."; dir = path.Dir(dir) {
			if name := dir + "/"; !known[name] {
				known[name] = true
				all = append(all, entry{name: name})
			}
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return all
}

// tarOf returns an archive whose names have a prefix.
func tarOf(prefix string, entries []entry, moment time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := tar.Header{
			Typeflag: tar.TypeReg, Name: prefix + e.name, Mode: e.permissions(), Size: int64(len(e.data)), ModTime: moment, Uid: e.owner, Gid: e.owner, Format: tar.FormatUSTAR,
		}
		if e.owner == 0 {
			h.Uname, h.Gname = "root", "root"
		}
		if e.folder() {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(&h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// compressed returns data in the format of gzip, without a name and a time.
func compressed(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// tarball is a compressed archive.
func tarball(prefix string, entries []entry, moment time.Time) ([]byte, error) {
	data, err := tarOf(prefix, entries, moment)
	if err != nil {
		return nil, err
	}
	return compressed(data)
}

// zipOf returns an archive for Windows.
func zipOf(prefix string, entries []entry, moment time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		f, err := w.CreateHeader(&zip.FileHeader{Name: prefix + e.name, Method: zip.Deflate, Modified: moment})
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(e.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// archive writes the archive for a platform: the programs, and what belongs to them.
func (r *release) archive(p platform, programs, common []entry) error {
	name := "ringleader_" + r.version + "_" + p.system + "_" + p.processor
	entries := slices.Concat(programs, relink(common))
	if p.system == "windows" {
		for i := range programs {
			entries[i].name += ".exe"
		}
		data, err := zipOf(name+"/", entries, r.moment)
		if err != nil {
			return err
		}
		return r.write(name+".zip", data)
	}
	data, err := tarball(name+"/", withFolders(entries), r.moment)
	if err != nil {
		return err
	}
	return r.write(name+".tar.gz", data)
}
