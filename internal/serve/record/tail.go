package record

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"slices"
	"strings"
)

// tail keeps the last blocks of a record in memory that outlives the process, so that a member that is killed loses no entry, and the writer need not
// write each. It never waits for a disk. A reader and the next life of the member join it with the files: see [Head.Tail].
//
// It has room for some blocks: what is added while a disk takes nothing for a second or two, with faults, and for minutes without. A block has two heads
// in turn, so one of the two is whole at any moment, and a payload that grows behind them. An entry touches few bytes, as those of an idle member
// are in no cache.
type tail struct {
	name   string // of its file, in the folder of tails
	memory []byte
	close  func()
	leave  func() // likewise, and the file stays for readers, and for the next life

	sequence int    // of the last block
	length   int    // of its payload
	sum      uint32 // likewise
	turn     int    // of its heads
}

const (
	tailRoom   = 4 << 10 // of a block
	tailBlocks = 16
	tailSize   = tailBlocks * tailRoom

	// tailHead has a checksum of the rest of it; the kind of the block and the length of its payload; the checksum of that; the incarnation, the segment and the place in it.
	tailHead  = 4 + 4 + 4 + 3*8
	tailHeads = 128 // the room of both
	tailTurn  = tailHeads / 2

	tailPrefix = "ringleader-"
)

// put keeps a block, which may have grown since it was put with the same sequence number. It reports false if the block is too long.
func (t *tail) put(incarnation, segment uint64, sequence int, at int64, kind byte, payload []byte) bool {
	if t == nil || len(payload) > tailRoom-tailHeads {
		return false
	}
	room := t.memory[sequence%tailBlocks*tailRoom:][:tailRoom]
	if sequence != t.sequence {
		clear(room[:tailHeads])
		t.sequence, t.length, t.sum = sequence, 0, 0
	}
	more := payload[t.length:]
	copy(room[tailHeads+t.length:], more)
	t.length, t.sum, t.turn = len(payload), crc32.Update(t.sum, castagnoli, more), t.turn^tailTurn
	head := room[t.turn:][:tailHead]
	order := binary.LittleEndian
	order.PutUint32(head[4:], uint32(kind)<<24|uint32(t.length))
	order.PutUint32(head[8:], t.sum)
	order.PutUint64(head[12:], incarnation)
	order.PutUint64(head[20:], segment)
	order.PutUint64(head[28:], uint64(at))
	order.PutUint32(head, crc32.Checksum(head[4:], castagnoli))
	return true
}

// kept is a block that a tail has.
type kept struct {
	incarnation, segment uint64
	at                   int64
	block                []byte
}

// blocksOf returns the blocks in the memory of a tail.
func blocksOf(memory []byte) (all []kept) {
	order := binary.LittleEndian
	for ; len(memory) >= tailRoom; memory = memory[tailRoom:] {
		for _, turn := range []int{0, tailTurn} {
			head := memory[turn:][:tailHead]
			kind, length := head[7], int(order.Uint32(head[4:])&(1<<24-1))
			if order.Uint32(head) != crc32.Checksum(head[4:], castagnoli) || length == 0 || length > tailRoom-tailHeads {
				continue
			}
			payload := memory[tailHeads:][:length]
			if order.Uint32(head[8:]) != crc32.Checksum(payload, castagnoli) {
				continue
			}
			block := append(make([]byte, headSize), payload...)
			seal(block, kind)
			all = append(all, kept{order.Uint64(head[12:]), order.Uint64(head[20:]), int64(order.Uint64(head[28:])), block})
		}
	}
	return all
}

// join adds what the last life of a member has in memory, and not in its files.
func (r *Records) join(l *Log) {
	if len(l.Segments) == 0 {
		return
	}
	last := l.Segments[len(l.Segments)-1]
	if !strings.HasSuffix(last.File, extension) { // an archive remains what it is
		return
	}
	all := readTail(&last.Head)
	if len(all) == 0 {
		return
	}
	content, err := last.Bytes()
	if err == nil && loses(content, &last.Head, all) {
		r.Damages = append(r.Damages, Damage{File: last.File, Offset: int64(len(content)), What: "the last entries are not here: the disk took none for so long that memory had no room for them"})
		return
	}
	if err == nil {
		last.memory = joined(content, &last.Head, all)
		last.complete()
	}
	for h := last.Head; ; {
		h.Segment++
		content := joined(nil, &h, all)
		if len(content) == 0 {
			return
		}
		if r.parse(last.File, content); len(l.Segments) > 0 {
			l.Segments[len(l.Segments)-1].complete()
		}
	}
}

// complete notes in the head of a segment, which an archive has, too, that the entries in memory of its machine were added.
func (s *Segment) complete() {
	_, payload, ok := unseal(s.memory)
	s.Head.Joined = true
	head, err := json.Marshal(&s.Head)
	if !ok || err != nil {
		return
	}
	block := append(make([]byte, headSize), head...)
	seal(block, blockHead)
	s.memory = append(block, s.memory[headSize+len(payload):]...)
	s.length = int64(len(s.memory))
}

// joined returns a segment with the blocks of it that a tail has, and its file has not, or not all of them, or not whole: who reads while the writer
// writes may get the beginning of a block from before and its end from after.
func joined(content []byte, h *Head, all []kept) []byte {
	for range all { // at least one more of them is joined each time, unless they contradict each other
		for _, k := range all {
			if k.incarnation != h.Incarnation || k.segment != h.Segment || k.at < 0 || k.at > int64(len(content)) || hasBlock(content[k.at:], len(k.block)) {
				continue
			}
			content = append(content[:k.at:k.at], k.block...)
		}
	}
	return content
}

// loses reports whether entries are lost between a segment, the last one in a file, and the blocks of its tail: the disk took none until the tail had no
// more room for them.
func loses(content []byte, h *Head, all []kept) bool {
	own := slices.DeleteFunc(slices.Clone(all), func(k kept) bool { return k.incarnation != h.Incarnation })
	if len(own) == 0 {
		return false
	}
	first := slices.MinFunc(own, func(a, b kept) int { return cmp.Or(cmp.Compare(a.segment, b.segment), cmp.Compare(a.at, b.at)) })
	return first.segment > h.Segment || first.segment == h.Segment && first.at > int64(len(content))
}

// hasBlock reports whether content begins with a block that is whole, and has so many bytes at least with what follows.
func hasBlock(content []byte, length int) bool {
	_, _, whole := unseal(content)
	return whole && len(content) >= length
}
