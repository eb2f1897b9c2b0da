// Package codec encodes plain Go values: integers, booleans, arrays, structs and slices of these.
//
// One plan, made by reflection, serves the checker's states, the disk and the wire, so that an
// algorithm never writes an encoder. Making a plan fails for pointers, maps, strings, functions, channels and
// interfaces; the error names the field. The encoding is little-endian and fixed in
// width, with a four-byte length before a slice; equal values have equal encodings.
//
// A field with the tag `election:"constant"` keeps the value that it has at birth. An encoding can leave such
// fields out, or consist of them alone: the checker compares states by their varying fields. A field with the tag
// `kinds:"probe,reply"` belongs to messages of these kinds only; without it, a field belongs to all of them.
package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"ringleader.example/ringleader/election"
)

// MaxElements is the length of the longest encodable slice.
const MaxElements = 1 << 16

// ErrPlain reports that a type is not plain, ErrDecode that bytes are not an encoding.
var (
	ErrPlain  = errors.New("not a plain value")
	ErrDecode = errors.New("malformed value")
)

// Pointer is the address of a value. The plan that reads it determines the type.
type Pointer = unsafe.Pointer

// At returns the address of v.
func At[T any](v *T) Pointer { return Pointer(v) }

// Words holds a small value of any type inline. See [Plan.Fits].
type Words struct{ a, b, c uint32 }

// Pack returns a fitting value as words.
func Pack[T any](v T) (w Words) {
	*(*T)(unsafe.Pointer(&w)) = v
	return w
}

// Unpack returns the value in words. T must be the type of the packed value.
func Unpack[T any](w Words) T { return *(*T)(unsafe.Pointer(&w)) }

// Plan encodes values of one type.
type Plan struct {
	root  node
	ages  bool // a value can hold a deadline
	names bool // a value can hold an identifier
	lists bool // a value can hold a list
}

// Part is the part of a value that is encoded.
type Part uint8

// The parts.
const (
	Whole    Part = iota
	Varying       // all but the constant fields
	Constant      // the constant fields
)

type form uint8

const (
	integer form = iota // size bytes
	signed
	boolean
	identifier
	deadline
	structure
	array
	slice
)

// node describes one value: its offset in its parent, and its encoding.
type node struct {
	form   form
	name   string   // of a field
	fixed  bool     // the field is constant
	some   bool     // a field of the value is
	kinds  []string // of the messages that have the field; nil: all
	offset uintptr
	size   uintptr // in memory
	least  uint64  // of the encoding, in bytes
	count  int     // of an array
	of     []node  // the fields of a structure, or the one element of an array or slice
	typ    any     // its reflect.Type; see typeOf
}

// typeOf returns the type of a node. Were it a field, or the result of a method, then methods of package reflect would be
// compiled for each algorithm: a quarter of all functions.
func typeOf(d *node) reflect.Type { return d.typ.(reflect.Type) }

// Of returns the plan for a type. Deadlines are an error unless allowed: they mean nothing to another process, or
// after a crash.
func Of(typ reflect.Type, deadlines bool) (*Plan, error) {
	root, err := describe(&trail{typ: typ}, deadlines)
	if err != nil {
		return nil, err
	}
	return &Plan{root, root.holds(deadline), root.holds(identifier), root.holds(slice)}, nil
}

// holds reports whether a value has a part of that form.
func (d *node) holds(f form) bool {
	return d.form == f || slices.ContainsFunc(d.of, func(of node) bool { return of.holds(f) })
}

// constant reports whether a value has a constant field.
func (d *node) constant() bool { return d.fixed || d.some }

// Size returns the size of a value in memory, in bytes, without the targets of its slices.
func (p *Plan) Size() int { return int(p.root.size) }

// Fits reports whether a value fits into [Words]: it is not larger, and has no slice.
func (p *Plan) Fits() bool {
	words, typ := reflect.TypeFor[Words](), typeOf(&p.root)
	return typ.Size() <= words.Size() && typ.Align() <= words.Align() && !p.root.holds(slice)
}

// Ages reports whether the passing of time can change the encoding of a value.
func (p *Plan) Ages() bool { return p.ages }

// trail is where a type is: in which other ones. Only errors need it as a text, and each process makes many.
type trail struct {
	around *trail
	typ    reflect.Type
	field  string // empty: an element
}

func (t *trail) text() string {
	switch {
	case t.around == nil:
		return t.typ.String()
	case t.field == "":
		return t.around.text() + "[]"
	}
	return t.around.text() + "." + t.field
}

// within reports whether a type is around another one.
func (t *trail) within(typ reflect.Type) bool {
	for t = t.around; t != nil; t = t.around {
		if t.typ == typ {
			return true
		}
	}
	return false
}

// describe makes the node of the type at the end of a trail.
func describe(path *trail, deadlines bool) (node, error) {
	t := path.typ
	d := node{size: t.Size(), least: uint64(t.Size()), typ: t}
	if t == reflect.TypeFor[election.Deadline]() {
		if !deadlines {
			return d, fmt.Errorf("%w: %s is a Deadline, which only the state of one life may hold", ErrPlain, path.text())
		}
		d.form = deadline
		return d, nil
	}
	if path.within(t) {
		return d, fmt.Errorf("%w: %s is a %s within a %[3]s", ErrPlain, path.text(), t)
	}
	switch t.Kind() {
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		d.form = integer
		if t == reflect.TypeFor[election.ID]() {
			d.form = identifier
		}
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		d.form = signed
	case reflect.Bool:
		d.form = boolean
	case reflect.Struct:
		d.form, d.least, d.of = structure, 0, make([]node, 0, t.NumField())
		for f := range t.Fields() {
			of, err := describe(&trail{path, f.Type, f.Name}, deadlines)
			if err != nil {
				return d, err
			}
			of.name, of.offset, of.fixed = f.Name, f.Offset, f.Tag.Get("election") == "constant"
			if kinds, tagged := f.Tag.Lookup("kinds"); tagged {
				of.kinds = strings.Split(kinds, ",")
			}
			d.of, d.least, d.some = append(d.of, of), d.least+of.least, d.some || of.constant()
		}
	case reflect.Array, reflect.Slice:
		of, err := describe(&trail{path, t.Elem(), ""}, deadlines)
		if err != nil {
			return d, err
		}
		if of.size == 0 { // a few bytes would encode any number of them
			return d, fmt.Errorf("%w: %s is a list of values that take no space", ErrPlain, path.text())
		}
		if of.constant() {
			return d, fmt.Errorf("%w: %s is a list of values with constant fields", ErrPlain, path.text())
		}
		d.form, d.least, d.of = slice, 4, []node{of}
		if t.Kind() == reflect.Array {
			d.form, d.count, d.least = array, t.Len(), uint64(t.Len())*of.least
		}
	default:
		return d, fmt.Errorf("%w: %s is a %s", ErrPlain, path.text(), t.Kind())
	}
	return d, nil
}

// Append appends the encoding of the value that v points to. A deadline is written as its remaining time, so that
// equal situations at different times are equal.
func (p *Plan) Append(dst []byte, v Pointer, now election.Ticks) []byte {
	return p.root.append(dst, v, now)
}

// AppendPart is Append of a part of the value.
func (p *Plan) AppendPart(dst []byte, v Pointer, now election.Ticks, part Part) []byte {
	for d, at := range p.root.parts(v, part) {
		dst = d.append(dst, at, now)
	}
	return dst
}

// parts yields the values that make up a part of the value at v, in order.
func (d *node) parts(v Pointer, part Part) iter.Seq2[*node, Pointer] {
	return func(yield func(*node, Pointer) bool) { d.visit(v, part, yield) }
}

func (d *node) visit(v Pointer, part Part, yield func(*node, Pointer) bool) bool {
	if part == Whole || part == Varying && !d.constant() || part == Constant && d.fixed {
		return yield(d, v)
	}
	if d.fixed || d.form != structure {
		return true
	}
	for i := range d.of {
		if !d.of[i].visit(unsafe.Add(v, d.of[i].offset), part, yield) {
			return false
		}
	}
	return true
}

func (d *node) append(dst []byte, v unsafe.Pointer, now election.Ticks) []byte {
	switch d.form {
	case integer, signed, identifier, boolean:
		switch d.size {
		case 1:
			return append(dst, *(*uint8)(v))
		case 2:
			return binary.LittleEndian.AppendUint16(dst, *(*uint16)(v))
		case 4:
			return binary.LittleEndian.AppendUint32(dst, *(*uint32)(v))
		}
		return binary.LittleEndian.AppendUint64(dst, *(*uint64)(v))
	case deadline:
		left := (*election.Deadline)(v).Left(now)
		dst = binary.LittleEndian.AppendUint64(dst, left.Lo)
		return binary.LittleEndian.AppendUint64(dst, left.Hi)
	case structure:
		for i := range d.of {
			dst = d.of[i].append(dst, unsafe.Add(v, d.of[i].offset), now)
		}
	case array:
		for i := range d.count {
			dst = d.of[0].append(dst, unsafe.Add(v, uintptr(i)*d.of[0].size), now)
		}
	case slice:
		s := (*header)(v)
		if s.len > MaxElements {
			panic(fmt.Sprintf("codec: a slice of %d elements; at most %d are allowed", s.len, MaxElements))
		}
		dst = binary.LittleEndian.AppendUint32(dst, uint32(s.len))
		for i := range s.len {
			dst = d.of[0].append(dst, unsafe.Add(s.data, uintptr(i)*d.of[0].size), now)
		}
	}
	return dst
}

// header is the layout of a slice in memory.
type header struct {
	data     unsafe.Pointer
	len, cap int
}

// Decode decodes a value into *v and returns the bytes after it.
func (p *Plan) Decode(src []byte, v Pointer, now election.Ticks) ([]byte, error) {
	return p.root.decode(src, v, now)
}

// Copy returns a deep copy of *v.
func (p *Plan) Copy(v Pointer, now election.Ticks) any {
	fresh := reflect.New(typeOf(&p.root))
	if _, err := p.Decode(p.Append(nil, v, now), fresh.UnsafePointer(), now); err != nil {
		panic(fmt.Sprintf("codec: an encoding does not decode: %v", err))
	}
	return fresh.Elem().Interface()
}

// DecodePart decodes a part of a value into *v and returns the bytes after it.
func (p *Plan) DecodePart(src []byte, v Pointer, now election.Ticks, part Part) (rest []byte, err error) {
	for d, at := range p.root.parts(v, part) {
		if src, err = d.decode(src, at, now); err != nil {
			return nil, err
		}
	}
	return src, nil
}

func (d *node) decode(src []byte, v unsafe.Pointer, now election.Ticks) (rest []byte, err error) {
	switch d.form {
	case integer, signed, identifier, boolean:
		return d.decodeScalar(src, v)
	case deadline:
		return decodeDeadline(src, (*election.Deadline)(v), now)
	case structure:
		for i := range d.of {
			if src, err = d.of[i].decode(src, unsafe.Add(v, d.of[i].offset), now); err != nil {
				return nil, err
			}
		}
		return src, nil
	case array:
		return d.of[0].decodeAll(src, v, d.count, now)
	}
	return d.decodeSlice(src, v, now)
}

func (d *node) decodeScalar(src []byte, v unsafe.Pointer) ([]byte, error) {
	if len(src) < int(d.size) {
		return nil, fmt.Errorf("%w: it ends early", ErrDecode)
	}
	switch {
	case d.form == boolean && src[0] > 1:
		return nil, fmt.Errorf("%w: %d is no truth value", ErrDecode, src[0])
	case d.size == 1:
		*(*uint8)(v) = src[0]
	case d.size == 2:
		*(*uint16)(v) = binary.LittleEndian.Uint16(src)
	case d.size == 4:
		*(*uint32)(v) = binary.LittleEndian.Uint32(src)
	default:
		*(*uint64)(v) = binary.LittleEndian.Uint64(src)
	}
	return src[d.size:], nil
}

func decodeDeadline(src []byte, v *election.Deadline, now election.Ticks) ([]byte, error) {
	if len(src) < 16 {
		return nil, fmt.Errorf("%w: it ends early", ErrDecode)
	}
	left := election.Ticks{Lo: binary.LittleEndian.Uint64(src), Hi: binary.LittleEndian.Uint64(src[8:])}
	if end := (election.Ticks{Hi: math.MaxUint64, Lo: math.MaxUint64}); end.Sub(now).Less(left) {
		return nil, fmt.Errorf("%w: a deadline after the end of time", ErrDecode)
	}
	*v = election.DeadlineIn(left, now)
	return src[16:], nil
}

func (d *node) decodeSlice(src []byte, v unsafe.Pointer, now election.Ticks) ([]byte, error) {
	if len(src) < 4 {
		return nil, fmt.Errorf("%w: it ends early", ErrDecode)
	}
	n := binary.LittleEndian.Uint32(src)
	src = src[4:]
	// So no encoded length allocates much more memory than the input has.
	if n > MaxElements || uint64(n)*d.of[0].least > uint64(len(src)) {
		return nil, fmt.Errorf("%w: a list of %d elements", ErrDecode, n)
	}
	list := reflect.NewAt(typeOf(d), v).Elem()
	list.SetZero()
	if n == 0 {
		return src, nil
	}
	list.Set(reflect.MakeSlice(typeOf(d), int(n), int(n)))
	return d.of[0].decodeAll(src, (*header)(v).data, int(n), now)
}

// decodeAll decodes consecutive values.
func (d *node) decodeAll(src []byte, v unsafe.Pointer, count int, now election.Ticks) (rest []byte, err error) {
	for i := range count {
		if src, err = d.decode(src, unsafe.Add(v, uintptr(i)*d.size), now); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// Identifiers yields the addresses of the identifiers in the value at v, in the order of the encoding.
func (p *Plan) Identifiers(v Pointer) iter.Seq[*election.ID] {
	return func(yield func(*election.ID) bool) {
		if p.names {
			p.root.identifiers(v, yield)
		}
	}
}

func (d *node) identifiers(v unsafe.Pointer, yield func(*election.ID) bool) bool {
	data, n := v, d.count
	switch d.form {
	case identifier:
		return yield((*election.ID)(v))
	case structure:
		for i := range d.of {
			if !d.of[i].identifiers(unsafe.Add(v, d.of[i].offset), yield) {
				return false
			}
		}
		return true
	case slice:
		data, n = (*header)(v).data, (*header)(v).len
	}
	for i := range n { // none, if it is a number
		if !d.of[0].identifiers(unsafe.Add(data, uintptr(i)*d.of[0].size), yield) {
			return false
		}
	}
	return true
}

// Schema names the type's layout, for peers and files to compare.
func (p *Plan) Schema() string {
	var b strings.Builder
	p.root.schema(&b)
	return b.String()
}

func (d *node) schema(b *strings.Builder) {
	switch d.form {
	case structure:
		b.WriteByte('{')
		for i := range d.of {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(d.of[i].name)
			b.WriteByte(':')
			d.of[i].schema(b)
		}
		b.WriteByte('}')
	case array, slice:
		b.WriteByte('[')
		if d.form == array {
			b.WriteString(strconv.Itoa(d.count))
		}
		b.WriteByte(']')
		d.of[0].schema(b)
	default:
		fmt.Fprintf(b, "%d/%d", d.form, d.size*8)
	}
}

// Plans are the plans that an engine needs for an algorithm: its states, its messages and its persistent state (nil
// if none).
type Plans struct {
	State, Message, Durable *Plan
}

// ForAlgorithm makes the plans of an algorithm, and checks how large a message is. On rings and trees it has at most 4 fields
// and 32 bytes: more would not travel in registers, at several times the cost of a delivery, and networks there are large.
func ForAlgorithm[S, M any](a *election.Algorithm[S, M]) (plans Plans, err error) {
	var kept any
	s := new(S)
	if a.Durable != nil {
		kept = a.Durable(s)
	}
	return forTypes(&a.Declaration, s, new(M), a.Durable != nil, kept, Pointer(s))
}

// mostBytes is the largest size of a message in bytes on a complete graph.
const mostBytes = 160

// forTypes makes the plans of what two pointers point to.
func forTypes(d *election.Declaration, s, m any, keeps bool, kept any, at Pointer) (plans Plans, err error) {
	name, state, message := d.Name, reflect.TypeOf(s).Elem(), reflect.TypeOf(m).Elem()
	if plans.State, err = Of(state, true); err != nil {
		return plans, fmt.Errorf("algorithm %q: state: %w", name, err)
	}
	if plans.Message, err = Of(message, false); err != nil {
		return plans, fmt.Errorf("algorithm %q: message: %w", name, err)
	}
	switch small := d.Topology == election.Ring || d.Topology == election.Tree; {
	case small && (message.Size() > 32 || message.Kind() == reflect.Struct && message.NumField() > 4):
		return plans, fmt.Errorf("algorithm %q: message: %w: more than 4 fields or 32 bytes", name, ErrPlain)
	case message.Size() > mostBytes:
		return plans, fmt.Errorf("algorithm %q: message: %w: more than %d bytes", name, ErrPlain, mostBytes)
	}
	if !keeps {
		return plans, nil
	}
	if !pointsInto(kept, at, state.Size()) {
		return plans, fmt.Errorf("algorithm %q: Durable: %w: a %T, not a pointer into the state", name, ErrPlain, kept)
	}
	if plans.Durable, err = Of(reflect.TypeOf(kept).Elem(), false); err != nil {
		return plans, fmt.Errorf("algorithm %q: Durable: %w", name, err)
	}
	return plans, nil
}

// pointsInto reports whether a value is a pointer into an object. If Durable returned a pointer to a copy, the copy
// would be written, and never read.
func pointsInto(v any, object unsafe.Pointer, size uintptr) bool {
	p := reflect.ValueOf(v)
	if p.Kind() != reflect.Pointer {
		return false
	}
	offset := p.Pointer() - uintptr(object) // huge if the pointer is before the object
	return offset <= size && p.Type().Elem().Size() <= size-offset
}

// Target returns the address of the persistent state: the target of kept, the result of Durable.
func Target(kept any) Pointer { return reflect.ValueOf(kept).UnsafePointer() }

// AppendDurable encodes the persistent state: the target of kept, the result of Durable. It appends nothing if there
// is none.
func (p *Plans) AppendDurable(dst []byte, kept any) []byte {
	if p.Durable == nil {
		return dst
	}
	return p.Durable.Append(dst, Target(kept), election.Ticks{})
}

// DecodeDurable decodes the persistent state into the target of kept, the result of Durable.
func (p *Plans) DecodeDurable(src []byte, kept any) ([]byte, error) {
	if p.Durable == nil {
		return src, nil
	}
	return p.Durable.Decode(src, Target(kept), election.Ticks{})
}
