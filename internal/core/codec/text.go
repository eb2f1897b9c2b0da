package codec

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"ringleader.example/ringleader/election"
)

// Text returns *v as text: 5 · [5 3] · ID 5, TTL 3, Unique. Identifiers are mapped by name. Zero fields of a struct
// are left out, and so is the name of its only field.
func (p *Plan) Text(v Pointer, now election.Ticks, name func(election.ID) uint64) string {
	t := texter{now: now, name: name}
	t.write(&p.root, v, true)
	return t.String()
}

// MessageText returns a message of a kind as text, in the same form for each message of that kind: ID 5, TTL 0, Unique false.
// It has all fields of messages of that kind, and others only if they are not zero.
func (p *Plan) MessageText(v Pointer, kind string, name func(election.ID) uint64) string {
	t := texter{name: name, message: true, kind: kind}
	t.write(&p.root, v, true)
	return t.String()
}

// texter writes a value as text.
type texter struct {
	strings.Builder
	now     election.Ticks
	name    func(election.ID) uint64
	message bool // the value is a message
	kind    string
}

// has reports whether the text has a field.
func (t *texter) has(field *node, at unsafe.Pointer) bool {
	if t.message && (field.kinds == nil || slices.Contains(field.kinds, t.kind)) {
		return true
	}
	return !field.empty(at, t.now)
}

// empty reports whether a field is left out of a text. Past deadlines are alike, and as the zero one.
func (d *node) empty(v unsafe.Pointer, now election.Ticks) bool {
	switch d.form {
	case deadline:
		return (*election.Deadline)(v).Left(now).IsZero()
	case structure:
		for i := range d.of {
			if !d.of[i].empty(unsafe.Add(v, d.of[i].offset), now) {
				return false
			}
		}
		return true
	case array:
		for i := range d.count {
			if !d.of[0].empty(unsafe.Add(v, uintptr(i)*d.of[0].size), now) {
				return false
			}
		}
		return true
	}
	return reflect.NewAt(typeOf(d), v).Elem().IsZero()
}

func (t *texter) write(d *node, v unsafe.Pointer, outer bool) {
	if typeOf(d) == reflect.TypeFor[election.Ticks]() {
		t.WriteString((*election.Ticks)(v).String())
		return
	}
	switch d.form {
	case identifier:
		t.identifier(*(*election.ID)(v))
	case integer:
		t.WriteString(strconv.FormatUint(reflect.NewAt(typeOf(d), v).Elem().Uint(), 10))
	case signed:
		t.WriteString(strconv.FormatInt(reflect.NewAt(typeOf(d), v).Elem().Int(), 10))
	case boolean:
		t.WriteString(strconv.FormatBool(*(*bool)(v)))
	case deadline:
		t.WriteString("in " + (*election.Deadline)(v).Left(t.now).String())
	case structure:
		if outer {
			t.fields(d, v)
			return
		}
		t.WriteByte('{')
		t.fields(d, v)
		t.WriteByte('}')
	case array, slice:
		t.list(d, v)
	}
}

// identifier writes an identifier. In a message, 0 means none.
func (t *texter) identifier(id election.ID) {
	if t.message && id == 0 {
		t.WriteString("none")
		return
	}
	t.WriteString(strconv.FormatUint(t.name(id), 10))
}

func (t *texter) fields(d *node, v unsafe.Pointer) {
	before := t.Len()
	for i := range d.of {
		field, at := &d.of[i], unsafe.Add(v, d.of[i].offset)
		alone := len(d.of) == 1
		if (!alone || t.message) && !t.has(field, at) {
			continue
		}
		if t.Len() > before {
			t.WriteString(", ")
		}
		if !alone {
			t.WriteString(field.name)
			if field.form == boolean && !t.message { // it is true
				continue
			}
			t.WriteByte(' ')
		}
		t.write(field, at, false)
	}
}

func (t *texter) list(d *node, v unsafe.Pointer) {
	data, n := v, d.count
	if d.form == slice {
		data, n = (*header)(v).data, (*header)(v).len
	}
	t.WriteByte('[')
	for i := range n {
		if i > 0 {
			t.WriteByte(' ')
		}
		t.write(&d.of[0], unsafe.Add(data, uintptr(i)*d.of[0].size), false)
	}
	t.WriteByte(']')
}
