package transport

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"ringleader.example/ringleader/internal/core/framing"
)

func FuzzHello(f *testing.F) {
	f.Add((&Hello{From: 1, To: 2, Incarnation: 3, Store: [16]byte{4}, Death: [32]byte{5}}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, err := ReadHello(bytes.NewReader(b)); err == nil && !bytes.HasPrefix(b, h.Encode()) {
			t.Errorf("%v reads as %+v, which is written otherwise", b, h)
		}
	})
}

func FuzzVerdict(f *testing.F) {
	f.Add(Verdict{Refused, "for a reason"}.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := ReadVerdict(bytes.NewReader(b))
		if err == nil && !bytes.HasPrefix(b, v.Encode()) {
			t.Errorf("%v reads as %+v, which is written otherwise", b, v)
		}
	})
}

// Frames are read from arbitrary bytes without a panic, and each read frame was in those bytes.
func FuzzFrames(f *testing.F) {
	f.Add(slices.Concat(HeartbeatFrame, []byte{3, 0, 1, 9, 9}, []byte{1, 0, 15}))
	f.Add([]byte{0xff, 0xff, 0xff})
	f.Add(AppendFrame(AppendFrame(nil, LastOpaque, make([]byte, MaxOpaque)), LastMessage, make([]byte, MaxPayload)))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, rest := NewFrameReader(bytes.NewReader(b)), b
		for {
			kind, payload, err := ReadFrame(r)
			if err != nil {
				return
			}
			again := framing.Append(nil, kind, func(dst []byte) []byte { return append(dst, payload...) })
			if !bytes.HasPrefix(rest, again) {
				t.Fatalf("%v reads as kind %d with %v", rest, kind, payload)
			}
			rest = rest[len(again):]
		}
	})
}

func TestTheLongestMessageFitsWithTheKeyOfAGroup(t *testing.T) {
	for _, test := range []struct {
		key  int // bytes
		fits bool
	}{{8, true}, {9, false}} {
		frame := AppendFrame(nil, 1, make([]byte, test.key), make([]byte, framing.MaxMessage))
		_, payload, err := ReadFrame(NewFrameReader(bytes.NewReader(frame)))
		if (err == nil) != test.fits || test.fits && len(payload) != test.key+framing.MaxMessage {
			t.Errorf("with a key of %d bytes: %d bytes, %v", test.key, len(payload), err)
		}
	}
}

func TestAFrameIsReadAgainAfterATimeout(t *testing.T) {
	pieces := [][]byte{{3}, {0, 1, 9}, {8}}
	r := NewFrameReader(readerFunc(func(b []byte) (int, error) {
		if len(pieces) == 0 {
			return 0, io.EOF
		}
		piece := pieces[0]
		if piece == nil {
			pieces = pieces[1:]
			return 0, os.ErrDeadlineExceeded
		}
		pieces[0] = nil
		return copy(b, piece), nil
	}))
	timeouts := 0
	for {
		kind, payload, err := ReadFrame(r)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			timeouts++
			continue
		}
		if kind != 1 || !bytes.Equal(payload, []byte{9, 8}) || err != nil || timeouts != 2 {
			t.Errorf("kind %d, %v, %v after %d timeouts", kind, payload, err, timeouts)
		}
		return
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
