package codec

import (
	"bytes"
	"reflect"
	"unsafe"
)

// Guard finds writes into lists that no step may write into: into their elements, and into the room behind them, where an append that
// is not clipped writes. The zero value guards nothing.
type Guard struct {
	lists  []guarded
	blocks []uint64 // the room for elements without pointers
	used   int
	saved  []byte
}

// guarded is a copy of a list.
type guarded struct {
	at           unsafe.Pointer
	length, room uintptr // in bytes
	saved        int     // where the elements are saved
	poison       byte    // what each byte of the room is
}

// poison fills the room behind elements without pointers. The room behind others is zero.
const poison = 0xa5

// leastRoom is the least number of elements behind a list for which there is room.
const leastRoom = 16

// Lists reports whether a value can hold a list.
func (p *Plan) Lists() bool { return p.lists }

// Clear ends the guard of all lists. What they hold may change then.
func (g *Guard) Clear() { g.lists, g.saved, g.used = g.lists[:0], g.saved[:0], 0 }

// Add replaces each list in the value at v by a copy with room behind it, and guards the copy. A list without room that has no elements is
// left alone: who appends to it writes into nothing.
func (g *Guard) Add(p *Plan, v Pointer) {
	if p.lists {
		g.add(&p.root, v)
	}
}

func (g *Guard) add(d *node, v unsafe.Pointer) {
	switch d.form {
	case structure:
		for i := range d.of {
			g.add(&d.of[i], unsafe.Add(v, d.of[i].offset))
		}
	case array:
		if d.of[0].holds(slice) {
			for i := range d.count {
				g.add(&d.of[0], unsafe.Add(v, uintptr(i)*d.of[0].size))
			}
		}
	case slice:
		g.addList(d, (*header)(v))
	}
}

func (g *Guard) addList(d *node, s *header) {
	if s.cap == 0 {
		return
	}
	element := &d.of[0]
	size, room := element.size, leastRoom+s.len
	list := guarded{length: uintptr(s.len) * size, room: uintptr(room) * size, saved: len(g.saved)}
	from := unsafe.Slice((*byte)(s.data), list.length)
	if element.holds(slice) {
		typ := typeOf(d)
		roomy := reflect.MakeSlice(typ, s.len, s.len+room)
		reflect.Copy(roomy, reflect.NewAt(typ, unsafe.Pointer(s)).Elem())
		list.at = roomy.UnsafePointer()
		for i := range s.len {
			g.add(element, unsafe.Add(list.at, uintptr(i)*size))
		}
		from = unsafe.Slice((*byte)(list.at), list.length)
		list.saved = len(g.saved)
	} else {
		list.at, list.poison = g.block(int(list.length+list.room)), poison
		whole := unsafe.Slice((*byte)(list.at), list.length+list.room)
		copy(whole, from)
		for i := list.length; i < uintptr(len(whole)); i++ {
			whole[i] = poison
		}
	}
	g.saved = append(g.saved, from...)
	s.data, s.cap = list.at, s.len+room
	g.lists = append(g.lists, list)
}

// block returns room for so many bytes. Lists that it gave before stay where they are.
func (g *Guard) block(size int) unsafe.Pointer {
	words := (size + 7) / 8
	if g.used+words > len(g.blocks) {
		g.blocks, g.used = make([]uint64, max(words, 2*len(g.blocks), 64)), 0
	}
	at := unsafe.Pointer(&g.blocks[g.used])
	g.used += words
	return at
}

// Written reports whether an element of a guarded list was written, and whether the room behind one was.
func (g *Guard) Written() (element, beyond bool) {
	for i := range g.lists {
		list := &g.lists[i]
		elements := unsafe.Slice((*byte)(list.at), list.length)
		element = element || !bytes.Equal(elements, g.saved[list.saved:list.saved+len(elements)])
		room := unsafe.Slice((*byte)(unsafe.Add(list.at, list.length)), list.room)
		beyond = beyond || room[0] != list.poison || !bytes.Equal(room[1:], room[:len(room)-1])
	}
	return element, beyond
}

// Room gives each empty list in the value at v room for an element, if the same list in an equal value has room: a copy by its encoding has
// none.
func (p *Plan) Room(v, like Pointer) {
	if p.lists {
		p.root.giveRoom(v, like)
	}
}

func (d *node) giveRoom(v, like unsafe.Pointer) {
	data, from, n := v, like, d.count
	switch d.form {
	case structure:
		for i := range d.of {
			d.of[i].giveRoom(unsafe.Add(v, d.of[i].offset), unsafe.Add(like, d.of[i].offset))
		}
		return
	case slice:
		s, other := (*header)(v), (*header)(like)
		if other.len == 0 && other.cap > 0 {
			list := reflect.NewAt(typeOf(d), v).Elem()
			list.Set(reflect.MakeSlice(typeOf(d), 0, 1))
		}
		data, from, n = s.data, other.data, s.len
	}
	if len(d.of) == 0 || !d.of[0].holds(slice) {
		return
	}
	for i := range n {
		at := uintptr(i) * d.of[0].size
		d.of[0].giveRoom(unsafe.Add(data, at), unsafe.Add(from, at))
	}
}
