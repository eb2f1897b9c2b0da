package framing_test

import (
	"bytes"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/core/framing"
)

func TestAFrameBeginsWithWhatFollows(t *testing.T) {
	if got := framing.Append([]byte{7}, 3, nil); !bytes.Equal(got, []byte{7, 1, 0, 3}) {
		t.Errorf("an empty frame is % x", got)
	}
	long := framing.Append(nil, 0, func(dst []byte) []byte { return append(dst, strings.Repeat("x", framing.MaxMessage)...) })
	if len(long) != framing.HeadSize+framing.MaxMessage || long[0] != 0 || long[1] != 0x40 {
		t.Errorf("the longest frame has %d bytes, of which the first are % x", len(long), long[:2])
	}
}
