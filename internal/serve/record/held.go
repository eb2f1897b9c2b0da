package record

import (
	"bytes"
	"strings"
)

// mostHeld is how many bytes of segments are read when they are found.
const mostHeld = 16 << 20

// hold reads a segment that a member may be writing: a block that grows between two looks would be torn. What is in the file after it is not of it.
func (s *Segment) hold(room *int64) {
	const grows = 256 << 10 // what is written meanwhile, at most
	if s.memory != nil || !s.newest || !strings.HasSuffix(s.File, extension) || s.length+grows > *room {
		return
	}
	content, err := settled(func() ([]byte, error) { return s.read(s.length + grows) })
	if err != nil { // it is told when it is read
		return
	}
	if _, head, ok := unseal(content); ok {
		rest := scan{window: content, size: int64(len(content)), work: maxWork(len(content))}
		if end, _, _ := rest.head(headSize + int64(len(head))); end >= 0 {
			content = content[:end]
		}
	}
	s.memory, s.length = content, int64(len(content))
	*room -= s.length
}

// mostReads is how often a segment is read at most until it is whole.
const mostReads = 20

// settled reads a segment again while a block is torn and two reads differ: then a member is writing it.
func settled(read func() ([]byte, error)) (content []byte, err error) {
	for range mostReads {
		before := content
		if content, err = read(); err != nil || whole(content) || bytes.Equal(content, before) {
			break
		}
	}
	return content, err
}

// whole reports whether there are blocks only.
func whole(content []byte) bool {
	for len(content) > 0 {
		_, payload, ok := unseal(content)
		if !ok {
			return false
		}
		content = content[headSize+len(payload):]
	}
	return true
}
