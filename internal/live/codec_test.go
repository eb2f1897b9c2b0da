package live

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/codec"
	"ringleader.example/ringleader/internal/process"
	"ringleader.example/ringleader/network"
)

func FuzzHello(f *testing.F) {
	f.Add((&hello{From: 1, To: 2, Incarnation: 3}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, ok := decodeHello(b); ok && !bytes.Equal(h.encode(), b) {
			t.Errorf("%v reads as %+v, which is written otherwise", b, h)
		}
	})
}

func FuzzVerdict(f *testing.F) {
	f.Add(verdict{refused, "for a reason"}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := readVerdict(bytes.NewReader(b))
		if err == nil && !bytes.HasPrefix(b, v.encode()) {
			t.Errorf("%v reads as %+v, which is written otherwise", b, v)
		}
	})
}

// Whatever arrives, frames are read without a panic, and those that were read are those that were there.
func FuzzFrames(f *testing.F) {
	f.Add(slices.Concat(heartbeatFrame, []byte{3, 0, 1, 9, 9}, []byte{1, 0, 15}))
	f.Add([]byte{0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, rest := newFrameReader(bytes.NewReader(b)), b
		for {
			kind, payload, err := readFrame(r)
			if err != nil {
				return
			}
			again := process.AppendFrame(nil, kind, func(dst []byte) []byte { return append(dst, payload...) })
			if !bytes.HasPrefix(rest, again) {
				t.Fatalf("%v reads as kind %d with %v", rest, kind, payload)
			}
			rest = rest[len(again):]
		}
	})
}

// A message from the network changes nothing unless it is one.
func FuzzMessage(f *testing.F) {
	plans, err := codec.ForAlgorithm(&ballots)
	if err != nil {
		f.Fatal(err)
	}
	prepared, err := network.Prepare(&ballots.Declaration, network.On(1, 2, 3))
	if err != nil {
		f.Fatal(err)
	}
	program, err := process.Of(&ballots)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(plans.Message.Append(nil, codec.At(&slip{Vote: 3, Path: []uint16{1, 2}}), election.Ticks{}))
	f.Add([]byte{0, 0, 0, 0, 0xff, 0xff, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		p := program.NewMachine(prepared, 0, nil)
		before := p.Durable()
		e, err := p.Step(process.Input{What: process.Received, Port: 1, Message: b}, election.Ticks{})
		changed := !bytes.Equal(p.Durable(), before)
		switch {
		case err != nil && !errors.Is(err, codec.ErrDecode):
			t.Errorf("an error of another kind: %v", err)
		case err != nil && (len(e.Sent) > 0 || changed):
			t.Error("a malformed message did something")
		case err == nil && (len(e.Sent) != 1 || !changed):
			t.Error("a message did nothing")
		}
	})
}

func FuzzRecord(f *testing.F) {
	f.Add((&record{header{1, digest{}, 2}, []byte("kept")}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := decodeRecord(b); err == nil && !bytes.Equal(r.encode(), b) {
			t.Errorf("%v reads as %+v, which is written otherwise", b, r)
		}
	})
}

func TestAFrameIsReadAgainAfterATimeout(t *testing.T) {
	pieces := [][]byte{{3}, {0, 1, 9}, {8}}
	r := newFrameReader(readerFunc(func(b []byte) (int, error) {
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
		kind, payload, err := readFrame(r)
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
