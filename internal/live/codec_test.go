package live

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/codec"
	"ringleader.example/ringleader/internal/process"
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
	prepared, err := ballots.Prepare(election.On(1, 2, 3))
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
		before := p.Kept()
		e, err := p.Step(process.Input{What: process.Received, Port: 1, Message: b}, election.Ticks{})
		changed := !bytes.Equal(p.Kept(), before)
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

func TestADataDirectoryThatCannotBeUsedIsRefusedByName(t *testing.T) {
	group := digestOf("a group")
	directory := filepath.Join(t.TempDir(), "data")
	state := filepath.Join(directory, "state")
	open := func(id uint64, group digest) error {
		s, _, err := openStore(directory, id, group, []byte("kept"))
		if err == nil {
			err = s.close()
		}
		return err
	}
	if err := open(1, group); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	damaged, newer := bytes.Clone(good), bytes.Clone(good)
	damaged[len(damaged)/2] ^= 1
	newer[len(recordMagic)-1] = 2
	is := func(text string) string { return "data directory: " + state + " " + text }
	for _, test := range []struct {
		content []byte
		id      uint64
		group   digest
		want    string
	}{
		{good, 2, group, is("belongs to member 1, not 2")},
		{good, 1, digestOf("another"), is("belongs to a group of other members, or of another algorithm")},
		{damaged, 1, group, is("is damaged: its checksum is wrong")},
		{good[:20], 1, group, is("is damaged: its checksum is wrong")},
		{nil, 1, group, is("is not the state of a member")},
		{[]byte("something else"), 1, group, is("is not the state of a member")},
		{newer, 1, group, is("has format 2; this program reads format 1")},
	} {
		if err := os.WriteFile(state, test.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := open(test.id, test.group); err == nil || err.Error() != test.want || !errors.Is(err, ErrData) {
			t.Errorf("%v; want %q", err, test.want)
		}
		if left, err := os.ReadFile(state); err != nil || !bytes.Equal(left, test.content) {
			t.Error("what could not be read was overwritten")
		}
	}
}

func TestADataDirectoryServesOneProcessAtATime(t *testing.T) {
	directory := t.TempDir()
	s, again, err := openStore(directory, 1, digest{}, nil)
	if err != nil || again {
		t.Fatal(again, err)
	}
	want := "data directory " + directory + " is in use by another member"
	if _, _, err := openStore(directory, 1, digest{}, nil); !errors.Is(err, ErrData) || err.Error() != want {
		t.Errorf("to a second one it says %v", err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	next, again, err := openStore(directory, 1, digest{}, nil)
	if err != nil || !again || next.record.Incarnation <= s.record.Incarnation {
		t.Errorf("again %v, incarnation %d after %d, %v", again, next.record.Incarnation, s.record.Incarnation, err)
	}
	next.close()
}

func TestALockThatCannotBeOpenedIsNotOneThatAnotherHolds(t *testing.T) {
	directory := t.TempDir()
	if err := os.Mkdir(filepath.Join(directory, "lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, _, err := openStore(directory, 1, digest{}, nil)
	if !errors.Is(err, ErrData) || strings.Contains(err.Error(), "another member") {
		t.Error(err)
	}
}

func TestAFailedSyncIsAnErrorAndChangesNothing(t *testing.T) {
	s, _, err := openStore(t.TempDir(), 1, digest{}, []byte("before"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	broken := errors.New("no space")
	s.sync = func(*os.File) error { return broken }
	if err := s.save([]byte("before")); err != nil {
		t.Errorf("what has not changed was written: %v", err)
	}
	if err := s.save([]byte("after")); !errors.Is(err, broken) || !errors.Is(err, ErrData) {
		t.Errorf("%v", err)
	}
	b, err := os.ReadFile(filepath.Join(s.directory, "state"))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := decodeRecord(b); err != nil || string(r.kept) != "before" {
		t.Errorf("the file keeps %q, %v", r.kept, err)
	}
}
