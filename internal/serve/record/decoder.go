package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
)

// decoder reads the entries of a segment.
type decoder struct {
	coder
	templates []*template         // by their numbers; nil: its class is not known, or not what the last step of it was
	members   map[string][]uint64 // by group: its members, by position
	all       []uint64            // those in the head
	left      int                 // how many bytes may be made
	lost      bool                // a block was lost
	idle      Entry               // of a step that is not made
}

func newDecoder(h *Head, size int) *decoder {
	return &decoder{
		coder: coder{unit: h.Unit, every: h.Every, bases: map[string]*base{}}, members: map[string][]uint64{},
		all: h.Members, left: mostMade*size + spareMade,
	}
}

// The errors of entries.
var (
	errEntry = errors.New("an entry does not decode")
	errMuch  = errors.New("its steps are larger than those of any group")
	errClass = &entryError{errors.New("a step needs one before it that is lost")}
)

// entryError is an error of one entry, after which the next can be read.
type entryError struct{ error }

// begin reads the beginning of a block, and returns its number.
func (d *decoder) begin(c *cursor) (number uint64) {
	c.uint32() // the mark of the segment
	number = c.uvarint()
	d.boot, d.ahead = c.varint(), c.varint()
	d.unchecked = d.every
	return number
}

// lose notes that a block is lost: steps that refer to others cannot be made any more.
func (d *decoder) lose() {
	clear(d.templates)
	clear(d.bases)
	d.lost = true
}

// template returns the template with a number; nil: there is none.
func (d *decoder) template(index uint64) *template {
	if index < uint64(len(d.templates)) {
		return d.templates[index]
	}
	return nil
}

// next decodes one entry. A step that is as predicted is not made at times that are idle: its body is nil. It returns nil for what is no entry.
func (d *decoder) next(c *cursor, idle func(group string, at Clocks) bool) (*Entry, error) {
	k := kind(c.byte())
	switch {
	case k&kindPredicted != 0:
		return d.predicted(c, uint64(k&^kindPredicted), idle)
	case k == kindClock:
		d.ahead += c.varint()
		return nil, nil
	}
	d.boot += int64(c.uvarint())
	if k == kindStep {
		return d.step(c)
	}
	e := &Entry{At: d.clocks(), Group: c.text()}
	content := c.list()
	if c.broken || k == 0 {
		return nil, errEntry
	}
	if by, is := lateOf(content); is && k == kindLate {
		e.Body = &Late{By: by}
		return e, nil
	}
	fresh, known := bodies[k]
	if !known {
		e.Body = &Unknown{uint8(k), append([]byte(nil), content...)}
		return e, nil
	}
	e.Body = fresh()
	if err := json.Unmarshal(content, e.Body); err != nil {
		return nil, &entryError{fmt.Errorf("an entry of kind %d does not decode: %w", k, err)}
	}
	switch body := e.Body.(type) {
	case *Snapshot:
		d.members[e.Group] = body.Members
	case *Members:
		d.members[e.Group] = body.Members
	}
	return e, nil
}

// lateOf reads a [Late] as writers write it; there are many on a busy machine. It reports false for another text, which JSON may read yet.
func lateOf(content []byte) (by time.Duration, is bool) {
	digits, found := bytes.CutPrefix(content, []byte(`{"By":`))
	digits, closed := bytes.CutSuffix(digits, []byte("}"))
	if !found || !closed || len(digits) == 0 || len(digits) > 18 || digits[0] == '0' && len(digits) > 1 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		by = 10*by + time.Duration(c-'0')
	}
	return by, true
}

// named returns the member behind a port; 0: it is not known.
func (d *decoder) named(group string, port election.Port) uint64 {
	members := d.members[group]
	if members == nil {
		members = d.all
	}
	if int(port) < len(members) {
		return members[port]
	}
	return 0
}

func (d *decoder) predicted(c *cursor, index uint64, idle func(group string, at Clocks) bool) (*Entry, error) {
	d.boot += int64(c.uvarint())
	ticks, checked, check := d.ticks(), d.due(), byte(0)
	if checked {
		check = c.byte()
	}
	if c.broken {
		return nil, errEntry
	}
	d.checked(checked)
	t := d.template(index)
	if t == nil {
		return nil, errClass
	}
	t.later++
	base, known := d.based(t, ticks)
	if at := d.clocks(); idle(t.group, at) { // most steps of a record are, so they cost nothing more
		d.idle.At, d.idle.Group = at, t.group
		return &d.idle, nil
	}
	t.catchUp()
	return d.made(&Step{Ticks: ticks, Checked: checked, Check: check}, t.class, t.last, base, known)
}

// based returns the base of a step, and whether it is known: no block was lost since the last timer has expired.
func (d *decoder) based(t *template, ticks uint64) (base uint64, known bool) {
	if t.base != nil && !d.lost {
		return t.base.from(t.what, ticks), true
	}
	known = d.bases[t.group] != nil || !d.lost
	base = d.base(t.group).from(t.what, ticks)
	if !known && t.what != process.Expired {
		delete(d.bases, t.group)
	}
	t.base = d.bases[t.group]
	return base, known
}

// made returns the entry of a step with its body.
func (d *decoder) made(s *Step, of class, body []byte, base uint64, known bool) (*Entry, error) {
	if d.left -= len(body); d.left < 0 {
		return nil, errMuch
	}
	if !parseBody(s, body, of, base) {
		return nil, &entryError{errEntry}
	}
	if !known && slices.ContainsFunc(s.Effects, func(e election.Effect) bool { return e.Deadline }) {
		return nil, errClass
	}
	switch s.Input.What {
	case process.Received, process.Suspected, process.Trusted:
		s.Peer = d.named(of.group, s.Input.Port)
	}
	for i := range s.Sent {
		s.Sent[i].Peer = d.named(of.group, s.Sent[i].Port)
	}
	return &Entry{At: d.clocks(), Group: of.group, Body: s}, nil
}

// step reads a step in full.
func (d *decoder) step(c *cursor) (*Entry, error) {
	flags, index := c.byte(), c.uvarint()
	t := d.template(index)
	if flags&stepNew != 0 {
		t = &template{class: class{c.text(), process.What(c.byte()), election.Port(c.uvarint()), election.Kind(c.byte()), election.Timer(c.byte())}}
	}
	s := Step{Ticks: d.ticks()}
	if s.Checked = flags&stepChecked != 0; s.Checked {
		s.Check = c.byte()
	}
	if flags&stepTicks != 0 {
		s.Ticks = c.uvarint()
	}
	d.checked(s.Checked)
	var body []byte
	switch whole := flags&stepWhole != 0; {
	case whole:
		body = c.list()
	case t == nil:
		skipDifference(c)
	default:
		t.catchUp()
		body = t.readDifference(c)
		d.left -= len(body)
	}
	switch {
	case c.broken || index >= maxClasses || len(body) > maxBody || d.left < 0:
		return nil, errEntry
	case t == nil:
		return nil, errClass
	}
	t.learn(body)
	for uint64(len(d.templates)) <= index {
		d.templates = append(d.templates, nil)
	}
	d.templates[index] = t
	base, known := d.based(t, s.Ticks)
	return d.made(&s, t.class, body, base, known)
}
