package record

import (
	"errors"
	"slices"
	"testing"
)

// The reader reads a segment again until all its blocks are whole, or two reads are equal.
func TestASegmentIsReadUntilItIsWhole(t *testing.T) {
	block := func(payload string) []byte {
		b := append(make([]byte, headSize), payload...)
		seal(b, blockEntries)
		return b
	}
	short, long := block("one"), block("one and two")
	torn := slices.Concat(short[:headSize+1], long[headSize+1:]) // its head is from before, and its end from after
	failure := errors.New("it cannot be read")
	for name, c := range map[string]struct {
		reads [][]byte
		err   error // after them
		want  int   // reads
	}{
		"whole":                    {[][]byte{slices.Concat(long, short), long}, nil, 1},
		"empty":                    {[][]byte{{}, long}, nil, 1},
		"torn once":                {[][]byte{torn, long, short}, nil, 2},
		"torn behind what is not":  {[][]byte{slices.Concat(short, torn), slices.Concat(short, long)}, nil, 2},
		"torn for ever":            {[][]byte{torn, torn, long}, nil, 2},
		"written faster than read": {slices.Repeat([][]byte{torn, torn[1:]}, mostReads), nil, mostReads},
		"removed meanwhile":        {[][]byte{torn}, failure, 2},
	} {
		n := 0
		content, err := settled(func() ([]byte, error) {
			if n++; n > len(c.reads) {
				return nil, c.err
			}
			return c.reads[n-1], nil
		})
		if n != c.want || !errors.Is(err, c.err) || err == nil && !slices.Equal(content, c.reads[n-1]) {
			t.Errorf("%s: %d reads, %v; want %d", name, n, err, c.want)
		}
	}
}

// The memory of a tail may have anything. Two blocks that lie over each other end the joining all the same.
func TestBlocksThatContradictEachOtherAreJoined(t *testing.T) {
	block := append(make([]byte, headSize), "a payload"...)
	seal(block, blockEntries)
	all := []kept{{1, 1, 0, block}, {1, 1, headSize, block}}
	if got := joined(nil, &Head{Incarnation: 1, Segment: 1}, all); len(got) < len(block) {
		t.Errorf("%q", got)
	}
}
