package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
)

// Keep is a file with the finished points of a study, so that it can be stopped and resumed. Its first
// line names the version and the study, and each further one is a point. The goroutine that finished a point writes
// its line to disk before it begins another point, so a crash loses only unfinished points.
type Keep struct {
	Points []*Point // that the file had
	path   string
	head   []byte
	file   *os.File
}

// ErrKeep reports that a file cannot keep the points of a study; the text gives the reason.
var ErrKeep = errors.New("cannot keep points")

// head is the first line of a file.
type head struct {
	Format  string `json:"format"`
	Version string `json:"version"`
	Command string `json:"command"`
}

const format = "ringleader points 1"

// OpenKeep opens or creates a file. It cuts off half a line at the end, which a crash may leave.
func (s *Study) OpenKeep(path, version string) (*Keep, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	k := &Keep{path: path}
	var err error
	if k.head, err = line(head{format, version, s.Command()}); err != nil {
		return nil, err
	}
	info, missing := os.Stat(path)
	if missing == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is no regular file", ErrKeep, path)
	}
	if k.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
		return nil, err
	}
	if err := k.begin(s); err != nil {
		k.file.Close()
		if missing != nil { // a failure leaves no new file
			os.Remove(path)
		}
		return nil, err
	}
	return k, nil
}

// begin reads the file, and writes the first line if there is none.
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
	if whole < len(text) {
		err = k.file.Truncate(int64(whole))
	}
	if err != nil || whole > 0 {
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
	places := map[string]*Point{}
	for _, p := range s.places() {
		point := p.point()
		places[point.key()] = point
	}
	there := map[string]bool{}
	for i, text := range lines[1 : len(lines)-1] {
		point := new(Point)
		err := json.Unmarshal(text, point)
		key := point.key()
		if place := places[key]; err != nil || place == nil || point.How != place.How || point.Varies != place.Varies || !point.whole() {
			return fmt.Errorf("%w: line %d of %s is no point of this study", ErrKeep, i+2, k.path)
		}
		if !there[key] { // or two studies wrote to the file at once
			there[key] = true
			k.Points = append(k.Points, point)
		}
	}
	return nil
}

// whole reports whether the point is complete, and its numbers are possible.
func (p *Point) whole() bool {
	if !p.Election.whole() || !p.Announcement.whole() || p.Election.Runs != p.Announcement.Runs {
		return false
	}
	if p.Elected == nil || p.Quiet == nil {
		return p.Elected == p.Quiet
	}
	return p.Elected.whole() && p.Quiet.whole() && p.Elected.Runs == p.Quiet.Runs && p.Elected.Runs <= p.Runs()
}

// whole reports whether the sum is possible. The sum of squares is least if all values are equal.
func (s *Sum) whole() bool {
	if s.Runs == 0 || s.Total == nil || s.Squares == nil || s.Least == nil || s.Most == nil || s.Least.Sign() < 0 {
		return false
	}
	runs := new(big.Int).SetUint64(s.Runs)
	return new(big.Int).Mul(s.Least, runs).Cmp(s.Total) <= 0 && new(big.Int).Mul(s.Most, runs).Cmp(s.Total) >= 0 &&
		new(big.Int).Mul(s.Squares, runs).Cmp(new(big.Int).Mul(s.Total, s.Total)) >= 0
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

// Text returns the file of a complete study, with points in the order of the study. They need not have ended in that
// order. With this text, the files of a resumed and an uninterrupted study are the same.
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
