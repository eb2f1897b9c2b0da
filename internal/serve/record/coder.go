package record

import (
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"strconv"
	"time"

	"ringleader.example/ringleader/internal/core/process"
)

// The form of a block. See the comment of the package.
const (
	sync0, sync1 = 0xF5, 0x9D
	blockHead    = 1
	blockEntries = 2
	headSize     = 10
)

// The limits of what a reader takes. No writer comes near them.
const (
	maxSegment = 64 << 20
	maxClasses = 1 << 13
	maxBody    = 1 << 20

	// A few bytes can stand for a long step, so what is made of a segment is limited: to so many bytes for each of its own, and some more.
	mostMade  = 1000
	spareMade = 64 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CheckOf returns the checksum of an encoded state that is in [Step.Check].
func CheckOf(state []byte) uint8 {
	c := crc32.Checksum(state, castagnoli)
	return uint8(c ^ c>>8 ^ c>>16 ^ c>>24)
}

// seal writes the head of a block, for which there is room before the payload.
func seal(block []byte, kind byte) {
	n := len(block) - headSize
	block[0], block[1], block[2] = sync0, sync1, kind
	block[3], block[4], block[5] = byte(n), byte(n>>8), byte(n>>16)
	sum := crc32.Update(crc32.Checksum(block[2:6], castagnoli), castagnoli, block[headSize:])
	binary.LittleEndian.PutUint32(block[6:], sum)
}

// lengthOf returns how long the payload of a block is.
func lengthOf(head []byte) int { return int(head[3]) | int(head[4])<<8 | int(head[5])<<16 }

// unseal returns the block at the beginning of some bytes, if it is whole.
func unseal(b []byte) (kind byte, payload []byte, ok bool) {
	if len(b) < headSize || b[0] != sync0 || b[1] != sync1 || b[2] != blockHead && b[2] != blockEntries {
		return 0, nil, false
	}
	n := lengthOf(b)
	if n > len(b)-headSize {
		return 0, nil, false
	}
	payload = b[headSize : headSize+n]
	sum := crc32.Update(crc32.Checksum(b[2:6], castagnoli), castagnoli, payload)
	return b[2], payload, sum == binary.LittleEndian.Uint32(b[6:])
}

// coder is what the writer and the reader of a segment both know at an entry.
type coder struct {
	unit      time.Duration // of steps
	every     int           // one of so many steps that are as predicted has a check
	boot      int64         // the last reading of Boottime, in Resolution
	ahead     int64         // how much Monotonic is ahead of it
	unchecked int           // steps since the last check

	// bases has, by group, the time of its last step that was an expired timer. The ends of leases are told from there: in most steps of a leader they
	// are then the same.
	bases map[string]*base
}

// base is a time in units.
type base struct{ ticks uint64 }

// base returns that of the steps of a group.
func (c *coder) base(group string) *base {
	b := c.bases[group]
	if b == nil {
		b = &base{}
		c.bases[group] = b
	}
	return b
}

// from returns the base of a step. That of the steps after it is another one if a timer has expired.
func (b *base) from(what process.What, ticks uint64) uint64 {
	is := b.ticks
	if what == process.Expired {
		b.ticks = ticks
	}
	return is
}

func (c *coder) clocks() Clocks {
	return Clocks{time.Duration(c.boot+c.ahead) * Resolution, time.Duration(c.boot) * Resolution}
}

// ticks returns the time of a step that begins now, in units.
func (c *coder) ticks() uint64 {
	if c.unit <= 0 {
		return 0
	}
	return uint64(time.Duration(c.boot) * Resolution / c.unit)
}

// due reports whether a step that is as predicted has a check.
func (c *coder) due() bool { return c.unchecked+1 >= c.every }

// checked counts a step.
func (c *coder) checked(is bool) {
	c.unchecked++
	if is {
		c.unchecked = 0
	}
}

// The flags of a step in full.
const (
	stepChecked = 1 << iota
	stepTicks   // its time in units follows
	stepWhole   // all of it follows, and no difference
	stepNew     // the first one of its class, which follows its number
)

// encoder writes the entries of a segment.
type encoder struct {
	coder
	mark      uint32      // of the segment
	templates []*template // by their numbers
	byClass   map[class]int
	last      *template // of the last step
	body      []byte
}

func newEncoder(h *Head) *encoder {
	return &encoder{mark: h.mark(), coder: coder{unit: h.Unit, every: h.Every, bases: map[string]*base{}}, byClass: map[class]int{}, last: &template{}}
}

// begin begins the payload of a block.
func (e *encoder) begin(b []byte, number int, at Clocks) []byte {
	e.boot = int64(at.Boottime / Resolution)
	e.ahead = int64(at.Monotonic/Resolution) - e.boot
	e.unchecked = e.every // the first step that is as predicted has a check: the block before may be lost
	b = binary.AppendUvarint(binary.LittleEndian.AppendUint32(b, e.mark), uint64(number))
	return binary.AppendVarint(binary.AppendVarint(b, e.boot), e.ahead)
}

// moves reports whether an entry at a reading needs a new block: the clock of deadlines was set back.
func (e *encoder) moves(at Clocks) bool { return int64(at.Boottime/Resolution) < e.boot }

// mostApart is how much, in Resolution, a reading of Monotonic may differ from what the last one lets expect.
const mostApart = 100

// pass appends an adjustment of Monotonic if one is necessary, and returns the time since the last entry.
func (e *encoder) pass(b []byte, at Clocks) (_ []byte, passed uint64) {
	boot := int64(at.Boottime / Resolution)
	passed = uint64(boot - e.boot)
	e.boot = boot
	if apart := int64(at.Monotonic/Resolution) - boot - e.ahead; apart < -mostApart || apart > mostApart {
		e.ahead += apart
		b = binary.AppendVarint(append(b, byte(kindClock)), apart)
	}
	return b, passed
}

// step appends a step. It reports whether the step was as predicted.
func (e *encoder) step(b []byte, at Clocks, group string, s *Step) (_ []byte, predicted bool) {
	b, passed := e.pass(b, at)
	t, known := e.template(classOf(group, &s.Input))
	e.body = appendBody(e.body[:0], s, t.base.from(t.what, s.Ticks))
	if known && t.index < int(kindPredicted) && s.Ticks == e.ticks() && (s.Checked || s.Checks != nil || !e.due()) {
		t.advance(1)
		if string(t.last) == string(e.body) {
			b = binary.AppendUvarint(append(b, byte(kindPredicted)|byte(t.index)), passed)
			if e.due() {
				s.check()
				b = append(b, s.Check)
				e.checked(true)
			} else {
				e.checked(false)
			}
			return b, true
		}
		t.retreat()
	}
	b = binary.AppendUvarint(append(b, byte(kindStep)), passed)
	at0, flags := len(b), byte(0)
	b = append(b, flags)
	b = binary.AppendUvarint(b, uint64(t.index))
	if !known {
		flags |= stepNew
		b = append(binary.AppendUvarint(b, uint64(len(group))), group...)
		b = binary.AppendUvarint(append(b, byte(t.what)), uint64(t.port))
		b = append(b, byte(t.kind), byte(t.timer))
	}
	if s.check(); s.Checked {
		flags |= stepChecked
		b = append(b, s.Check)
	}
	if s.Ticks != e.ticks() {
		flags |= stepTicks
		b = binary.AppendUvarint(b, s.Ticks)
	}
	b, small := t.appendDifference(b, e.body)
	if !small {
		flags |= stepWhole
		b = append(binary.AppendUvarint(b, uint64(len(e.body))), e.body...)
	}
	b[at0] = flags
	e.checked(s.Checked)
	t.learn(e.body)
	return b, false
}

// template returns the template of a class, and whether it is known already. Steps repeat in a row, so it is mostly the one that followed the last time.
func (e *encoder) template(of class) (t *template, known bool) {
	last := e.last
	if t = last.next; t == nil || t.class != of {
		index, known := e.byClass[of]
		if !known {
			index = len(e.templates)
			e.byClass[of] = index
			e.templates = append(e.templates, &template{class: of, index: index, base: e.base(of.group)})
		}
		e.last = e.templates[index]
		last.next = e.last
		return e.last, known
	}
	e.last = t
	return t, true
}

// entry appends an entry that is no step.
func (e *encoder) entry(b []byte, at Clocks, group string, body Body) ([]byte, error) {
	var content []byte
	var err error
	switch body := body.(type) {
	case *Late: // a busy machine makes some each second
		content = append(strconv.AppendInt(append(e.body[:0], `{"By":`...), int64(body.By), 10), '}')
	case *Unknown:
		content = body.Content
	default:
		content, err = json.Marshal(body)
	}
	if err != nil {
		return b, err
	}
	b, passed := e.pass(b, at)
	b = binary.AppendUvarint(append(b, byte(body.kind())), passed)
	b = append(binary.AppendUvarint(b, uint64(len(group))), group...)
	return append(binary.AppendUvarint(b, uint64(len(content))), content...), nil
}
