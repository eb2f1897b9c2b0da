package study

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Keep is a file that keeps the points of a study that are finished, so that it can be stopped and resumed. Its first
// line names the version and the study, and each further one is a point. A line is on disk before the next point is
// begun by whoever finished it, so that a crash loses at most the points in work.
type Keep struct {
	Points []*Point // that were there
	path   string
	head   []byte
	file   *os.File
}

// ErrKeep says that a file cannot keep the points of a study; the text says why.
var ErrKeep = errors.New("cannot keep points")

// head is the first line of a file.
type head struct {
	Format  string `json:"format"`
	Version string `json:"version"`
	Command string `json:"command"`
}

const format = "ringleader points 1"

// OpenKeep opens or creates a file. Half a line at its end, which a crash has left, is cut off.
func (s *Study) OpenKeep(path, version string) (*Keep, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	k := &Keep{path: path}
	var err error
	if k.head, err = line(head{format, version, s.Command()}); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is no regular file", ErrKeep, path)
	}
	if k.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
		return nil, err
	}
	if err := k.begin(s); err != nil {
		k.file.Close()
		return nil, err
	}
	return k, nil
}

// begin reads what there is, and writes the first line if there is none.
func (k *Keep) begin(s *Study) error {
	text, err := io.ReadAll(k.file)
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	if whole > 0 {
		err = k.read(s, bytes.SplitAfter(text[:whole], []byte("\n")))
	} else if !bytes.HasPrefix(k.head, text) {
		err = fmt.Errorf("%w: %s holds something else", ErrKeep, k.path)
	}
	if err != nil {
		return err
	}
	if err := k.file.Truncate(int64(whole)); err != nil || whole > 0 {
		return err
	}
	return errors.Join(k.write(k.head), syncFolder(k.path))
}

// read reads whole lines.
func (k *Keep) read(s *Study, lines [][]byte) error {
	if !bytes.Equal(lines[0], k.head) {
		var other head
		if err := json.Unmarshal(lines[0], &other); err != nil || other.Format != format {
			return fmt.Errorf("%w: %s holds something else", ErrKeep, k.path)
		}
		return fmt.Errorf("%w: %s keeps those of another study, by ringleader %s: %s", ErrKeep, k.path, other.Version, other.Command)
	}
	known := map[string]bool{}
	for _, p := range s.places() {
		known[p.point().key()] = true
	}
	for i, text := range lines[1 : len(lines)-1] {
		point := new(Point)
		if err := json.Unmarshal(text, point); err != nil || !known[point.key()] || !point.whole() {
			return fmt.Errorf("%w: line %d of %s is no point of this study", ErrKeep, i+2, k.path)
		}
		k.Points = append(k.Points, point)
	}
	return nil
}

// whole says whether nothing is missing.
func (p *Point) whole() bool {
	sums := []*Sum{&p.Election, &p.Announcement}
	if p.Elected != nil && p.Quiet != nil {
		sums = append(sums, p.Elected, p.Quiet)
	}
	for _, s := range sums {
		if s.Runs == 0 || s.Total == nil || s.Squares == nil || s.Least == nil || s.Most == nil {
			return false
		}
	}
	return (p.Elected == nil) == (p.Quiet == nil)
}

// Add keeps a point.
func (k *Keep) Add(p *Point) error {
	text, err := line(p)
	if err != nil {
		return err
	}
	return k.write(text)
}

func (k *Keep) write(text []byte) error {
	if _, err := k.file.Write(text); err != nil {
		return err
	}
	return k.file.Sync()
}

// Close ends the file.
func (k *Keep) Close() error { return k.file.Close() }

// Text is what the file holds if the study has all its points, in the order of the study. They need not have ended in
// that order; so whoever replaces the file by this ends a study that was resumed as one that was not.
func (k *Keep) Text(all []*Point) ([]byte, error) {
	text := k.head
	for _, p := range all {
		more, err := line(p)
		if err != nil {
			return nil, err
		}
		text = append(text, more...)
	}
	return text, nil
}

// syncFolder makes a new name durable, on systems where folders can be synced.
func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	_ = folder.Sync()
	return folder.Close()
}

func line(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return append(text, '\n'), err
}
