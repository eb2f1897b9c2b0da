package record

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// life writes steps into a directory, and ends in order or not.
func life(t *testing.T, path string, steps int, incarnation uint64) {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	sink, options, err := NewFiles(path, LeastSize)
	if err != nil {
		t.Fatal(err)
	}
	head := func() Head {
		h := testHead()
		h.Incarnation = incarnation
		return h
	}
	w := NewWriter(sink, head, options)
	for n := range steps {
		if w.Wants("g", new(uint64)) {
			w.Add(at(time.Duration(n)*time.Millisecond), "g", &Snapshot{Members: []uint64{1}})
		}
		w.Add(at(time.Duration(n)*time.Millisecond), "g", &Note{Text: strings.Repeat("x", 900)})
		if n%100 == 0 {
			w.Sync()
		}
	}
	w.Sync()
	w.Close(time.Minute)
}

func TestARecordNeverGrowsBeyondItsSizeAndDropsTheOldest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "member", Directory)
	for incarnation := range uint64(3) {
		life(t, path, 1000, incarnation)
		total := int64(0)
		entries, err := os.ReadDir(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			total += max(info.Size(), diskBlock)
			if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("%s has the mode %v", e.Name(), info.Mode())
			}
		}
		if total > LeastSize || incarnation > 0 && total < LeastSize/2 {
			t.Errorf("life %d: %d bytes; %d are allowed", incarnation, total, LeastSize)
		}
	}
	r, err := Open(t.Context(), filepath.Dir(path))
	if err != nil || len(r.Logs) != 1 || len(r.Damages) > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	notes := 0
	for e, d := range r.Logs[0].Entries() { // also over the borders of lives
		if d != nil {
			t.Fatal(d)
		}
		if _, is := e.Body.(*Note); is {
			notes++
		}
	}
	if notes < 900 {
		t.Errorf("%d notes", notes)
	}
}

func TestChangesOfTheLeaderAreKeptForAYear(t *testing.T) {
	path := t.TempDir()
	now := time.Now()
	for i, when := range []time.Time{now.Add(-2 * changesAge), now.Add(-changesAge / 2), now.Add(-changesAge / 3), now} {
		sink, options := NewYears(path)
		options.First += uint64(i)
		w := NewWriter(sink, func() Head {
			h := testHead()
			h.Changes = true
			return h
		}, options)
		w.Add(at(0), "g", &Change{Time: when, From: 1, To: uint64(i), Cause: "crashed"})
		w.Sync()
		w.Close(time.Minute)
	}
	r, err := Open(t.Context(), path)
	if err != nil || len(r.Logs) != 1 || len(r.Logs[0].Segments) > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	var to []uint64
	for _, s := range r.Logs[0].Changes {
		for e, d := range s.Entries() {
			if d != nil {
				t.Fatal(d)
			}
			to = append(to, e.Body.(*Change).To)
		}
	}
	if len(to) != 3 || to[0] != 1 || to[2] != 3 {
		t.Errorf("changes to %v are kept; those of a year are to 1, 2 and 3", to)
	}
}

func TestWhatIsAddedIsInTheFileWithoutTheEndOfTheWriter(t *testing.T) {
	path := t.TempDir()
	sink, options, err := NewFiles(path, LeastSize)
	if err != nil {
		t.Fatal(err)
	}
	w := NewWriter(sink, testHead, options)
	defer w.Close(time.Minute)
	for n := range uint64(10) { // the block grows, and is written again in its place
		w.Add(at(time.Duration(n)*time.Millisecond), "g", renewal(n))
		w.Sync()
		r, err := Open(t.Context(), path)
		if err != nil || len(r.Damages) > 0 {
			t.Fatal(r, err)
		}
		steps := uint64(0)
		for _, d := range r.Logs[0].Entries() {
			if d != nil {
				t.Fatal(d)
			}
			steps++
		}
		if steps != n+1 {
			t.Errorf("%d steps are in the file, of %d", steps, n+1)
		}
	}
}

// Segments are numbered anew once the folder was deleted. What was gathered before has the lives before.
func TestLivesAreInOrderAlthoughTheirFilesWereRemovedMeanwhile(t *testing.T) {
	before, after := t.TempDir(), t.TempDir()
	life(t, before, 500, 1)
	life(t, before, 500, 2)
	life(t, after, 1000, 3)
	r, err := Open(t.Context(), after, before)
	if err != nil || len(r.Logs) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	last := Head{}
	for i, s := range r.Logs[0].Segments {
		if h := s.Head; h.Incarnation < last.Incarnation || h.Incarnation == last.Incarnation && h.Segment != last.Segment+1 || r.Logs[0].Missing(i) != nil {
			t.Errorf("segment %d of life %d follows segment %d of life %d", h.Segment, h.Incarnation, last.Segment, last.Incarnation)
		}
		last = s.Head
	}
	if last.Incarnation != 3 {
		t.Errorf("the last life is %d", last.Incarnation)
	}
}
