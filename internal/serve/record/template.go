package record

import (
	"bytes"
	"encoding/binary"
)

// template is the last step of a class, and how the next one probably differs. A writer and a reader keep the same.
type template struct {
	class
	last    []byte
	grows   []number // what grows by the same amount each time
	changed []number // what has changed last, if that was not as predicted
	later   uint64   // how many times it has grown since last: only a reader lets that wait
	base    *base    // of its group: need not be looked for again

	// Only a writer has these.
	index int       // the number of the class in the segment
	next  *template // of the step that followed the last one of this class
}

// number is a number in a step, of 1 to 8 bytes.
type number struct {
	at, width int
	by        uint64
}

// mostNumbers is how many numbers of a step may grow. More are no numbers.
const mostNumbers = 2048

// gap is how many equal bytes are told with their neighbours, rather than left out.
const gap = 3

// region is a part of a step that differs.
type region struct{ from, to int }

// regions returns where two encodings of equal length differ.
func regions(dst []region, a, b []byte) []region {
	for i := 0; i < len(a); {
		if len(a)-i >= 8 && binary.LittleEndian.Uint64(a[i:]) == binary.LittleEndian.Uint64(b[i:]) {
			i += 8
			continue
		}
		if a[i] == b[i] {
			i++
			continue
		}
		if last := len(dst) - 1; last >= 0 && i-dst[last].to <= gap {
			dst[last].to = i + 1
		} else {
			dst = append(dst, region{i, i + 1})
		}
		i++
	}
	return dst
}

// add adds to a number in an encoding.
func (n *number) add(b []byte, by uint64) {
	if n.width == 8 {
		at := b[n.at : n.at+8]
		binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)+by)
		return
	}
	for i := range n.width {
		by += uint64(b[n.at+i])
		b[n.at+i] = byte(by)
		by >>= 8
	}
}

// read returns a number.
func (n *number) read(b []byte) (v uint64) {
	for i := n.width - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[n.at+i])
	}
	return v
}

// advance makes the last step what the next one is predicted to be, so many times.
func (t *template) advance(times uint64) {
	for i := range t.grows {
		t.grows[i].add(t.last, t.grows[i].by*times)
	}
}

// retreat takes back advance(1).
func (t *template) retreat() {
	for i := range t.grows {
		t.grows[i].add(t.last, -t.grows[i].by)
	}
}

// learn takes a step that is not as predicted. What has grown by the same amount twice is predicted to grow again.
func (t *template) learn(body []byte) {
	before := t.changed
	t.changed = nil
	if len(body) == len(t.last) {
		all := regions(nil, t.last, body)
		for i, r := range all {
			end := len(body)
			if i+1 < len(all) {
				end = all[i+1].from
			}
			n := number{at: r.from, width: min(8, end-r.from)}
			if r.to-r.from > n.width || len(t.changed) >= mostNumbers {
				continue
			}
			n.by = n.read(body) - n.read(t.last)
			if n.width < 8 {
				n.by &= 1<<(8*n.width) - 1
			}
			t.changed = append(t.changed, n)
		}
	}
	t.grows = nil
	for _, n := range t.changed { // both are in rising order
		for len(before) > 0 && before[0].at < n.at {
			before = before[1:]
		}
		if len(before) > 0 && before[0] == n {
			t.grows = append(t.grows, n)
		}
	}
	t.last = append(t.last[:0], body...)
}

// appendDifference encodes a step by its difference from what is predicted.
func (t *template) appendDifference(b, body []byte) (_ []byte, small bool) {
	if len(body) != len(t.last) {
		return b, false
	}
	t.advance(1)
	defer t.retreat()
	all := regions(nil, t.last, body)
	length := 0
	for _, r := range all {
		length += r.to - r.from + 3
	}
	if length > len(body)/2 {
		return b, false
	}
	b = binary.AppendUvarint(b, uint64(len(all)))
	from := 0
	for _, r := range all {
		b = binary.AppendUvarint(b, uint64(r.from-from))
		b = binary.AppendUvarint(b, uint64(r.to-r.from))
		b = append(b, body[r.from:r.to]...)
		from = r.to
	}
	return b, true
}

// catchUp makes the last step what it is, if that has waited.
func (t *template) catchUp() {
	if t.later > 0 {
		t.advance(t.later)
		t.later = 0
	}
}

// skipDifference reads a difference that is of no use.
func skipDifference(c *cursor) {
	for n := c.uvarint(); n > 0 && !c.broken; n-- {
		c.uvarint()
		c.list()
	}
}

// readDifference is the inverse of appendDifference.
func (t *template) readDifference(c *cursor) []byte {
	t.advance(1)
	body := bytes.Clone(t.last)
	t.retreat()
	from := uint64(0)
	for n := c.uvarint(); n > 0; n-- {
		from += c.uvarint()
		part := c.list()
		if c.broken || from > uint64(len(body)) || len(part) > len(body)-int(from) {
			c.broken = true
			return nil
		}
		copy(body[from:], part)
		from += uint64(len(part))
	}
	return body
}
