package record

import (
	"encoding/binary"
	"hash/crc32"
)

// tail keeps the last blocks of a record in memory that outlives the process, so that a member that is killed loses no entry, and the writer need not
// write each. It never waits for a disk. A reader and the next life of the member join it with the files: see [Head.Tail].
//
// It consists of slots. A block has two of them in turn, so one of the two is whole at any moment. It keeps those until so many blocks later.
type tail struct {
	name   string // of its file, in the folder of tails
	memory []byte
	close  func()
	turn   int // of the two slots of a block
}

const (
	tailSlot   = 4 << 10
	tailBlocks = 4
	tailSize   = 2 * tailBlocks * tailSlot

	// tailHead is the checksum of the rest of it and of the head of the block, and the incarnation, the segment and the place in it.
	tailHead = 4 + 3*8

	tailPrefix = "ringleader-"
)

// put keeps a block, which is sealed, and may grow later: then it has the same sequence number. It reports false if the block is too long.
func (t *tail) put(incarnation, segment uint64, sequence int, at int64, block []byte) bool {
	if t == nil || len(block) > tailSlot-tailHead {
		return false
	}
	t.turn ^= 1
	slot := t.memory[(2*(sequence%tailBlocks)+t.turn)*tailSlot:][:tailSlot]
	order := binary.LittleEndian
	order.PutUint64(slot[4:], incarnation)
	order.PutUint64(slot[12:], segment)
	order.PutUint64(slot[20:], uint64(at))
	copy(slot[tailHead:], block)
	order.PutUint32(slot, crc32.Checksum(slot[4:tailHead+headSize], castagnoli))
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
	for ; len(memory) >= tailSlot; memory = memory[tailSlot:] {
		slot := memory[:tailSlot]
		if order.Uint32(slot) != crc32.Checksum(slot[4:tailHead+headSize], castagnoli) {
			continue
		}
		if _, payload, ok := unseal(slot[tailHead:]); ok {
			k := kept{order.Uint64(slot[4:]), order.Uint64(slot[12:]), int64(order.Uint64(slot[20:])), slot[tailHead:][:headSize+len(payload)]}
			all = append(all, k)
		}
	}
	return all
}

// joined returns a segment with the blocks of it that a tail has, and its file has not, or not all of them.
func joined(content []byte, h *Head, all []kept) []byte {
	for {
		longer := false
		for _, k := range all {
			if k.incarnation != h.Incarnation || k.segment != h.Segment || k.at < 0 || k.at > int64(len(content)) || k.at+int64(len(k.block)) <= int64(len(content)) {
				continue
			}
			content, longer = append(content[:k.at:k.at], k.block...), true
		}
		if !longer {
			return content
		}
	}
}
