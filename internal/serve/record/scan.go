package record

import (
	"bytes"
	"io"
)

// scan looks for heads of segments. It has little of a file in memory: a file may be large, and be one hole.
type scan struct {
	file   io.ReaderAt // nil: all is in the window
	buffer []byte
	window []byte // what was read, from a place on
	at     int64
	size   int64 // where the end was found; negative: not yet
	work   int   // see maxWork
}

func newScan(file io.ReaderAt, size int64) *scan {
	return &scan{file: file, buffer: make([]byte, min(size, 1<<20)+bytes.MinRead), size: -1, work: maxWork(int(size))}
}

// look returns what there is from a place on: as much as is wanted, or the rest.
func (s *scan) look(place int64, want int) ([]byte, error) {
	if end := s.at + int64(len(s.window)); place >= s.at && (place+int64(want) <= end || end == s.size && place <= end) {
		return s.window[place-s.at:], nil
	}
	if want > len(s.buffer) {
		s.buffer = make([]byte, want)
	}
	n, err := s.file.ReadAt(s.buffer, place)
	s.window, s.at = s.buffer[:n], place
	if err == io.EOF {
		s.size, err = max(s.size, place+int64(n)), nil
	}
	return s.window, err
}

// head returns where the next whole head of a segment is, from a place on, and its payload; -1: nowhere, and then the size is known.
func (s *scan) head(from int64) (at int64, payload []byte, err error) {
	start := []byte{sync0, sync1, blockHead}
	for {
		window, err := s.look(from, headSize)
		if err != nil {
			return 0, nil, err
		}
		i := bytes.Index(window, start)
		if i < 0 || s.work < 0 {
			if len(window) < headSize {
				s.size = max(s.size, from+int64(len(window)))
				return -1, nil, nil
			}
			from += int64(len(window) - len(start) + 1)
			continue
		}
		from += int64(i)
		if window, err = s.look(from, headSize); err == nil && len(window) >= headSize {
			window, err = s.look(from, headSize+lengthOf(window))
		}
		if err != nil {
			return 0, nil, err
		}
		_, payload, ok := unseal(window)
		if ok {
			return from, bytes.Clone(payload), nil
		}
		s.work -= len(payload)
		from++
	}
}

// maxWork is how many bytes are looked at twice for blocks, in bytes that are no record.
func maxWork(size int) int { return 16*size + 1<<20 }
