package record

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// archive returns a record of some segments with all kinds of entries.
func archive(t testing.TB, steps int) []byte {
	t.Helper()
	var m Memory
	w := NewWriter(&m, testHead, Options{Segment: 4 << 10})
	for n := range uint64(steps) {
		now := time.Duration(n) * 80 * time.Millisecond
		if w.Wants("g", new(uint64)) {
			w.Add(at(now), "g", &Snapshot{Members: []uint64{1, 2, 3}, Position: 1, State: make([]byte, 100)})
		}
		w.Add(at(now), "g", renewal(n))
		switch n % 40 {
		case 7:
			w.Add(at(now), "", &Lost{Peer: 3, Reason: "it is silent", Silent: time.Second})
		case 11:
			w.Add(at(now), "g", &Change{From: 3, To: 2, Term: n, Cause: "crashed", Detail: "its death is proven"})
		}
	}
	w.Sync()
	defer w.Close(time.Minute)
	return m.Archive()
}

// read reads a record, and returns how many entries and which damages it has.
func read(content []byte) (entries int, changes int, damages []string) {
	r := Parse("hostile", content)
	for _, d := range r.Damages {
		damages = append(damages, d.String())
	}
	for _, l := range r.Logs {
		for e, d := range l.Entries() {
			switch {
			case d != nil:
				damages = append(damages, d.String())
			default:
				entries++
				if _, is := e.Body.(*Change); is {
					changes++
				}
			}
		}
		for range l.Notable() {
		}
	}
	return entries, changes, damages
}

func TestDamageCostsLittleMoreThanWhatIsDamaged(t *testing.T) {
	whole := archive(t, 4000)
	all, changes, damages := read(whole)
	if len(damages) > 0 {
		t.Fatal(damages)
	}
	segments := len(Parse("", whole).Logs[0].Segments)
	if segments < 4 {
		t.Fatalf("%d segments", segments)
	}
	second := int(Parse("", whole).Logs[0].Segments[1].offset)
	third := int(Parse("", whole).Logs[0].Segments[2].offset)
	for _, c := range []struct {
		name, want string
		content    []byte
	}{
		{"a torn end", "the end is torn", whole[:len(whole)-100]},
		{"a flipped bit", "cannot be read", flip(whole, third-700)},
		{"a missing segment", "segment 2 is missing", append(append([]byte{}, whole[:second]...), whole[third:]...)},
		{"bytes before", "bytes before the first segment", append([]byte("garbage"), whole...)},
		{"another version", "has the version 9 of the format", append(other(t, `{"Version":9,"Segment":3}`), whole...)},
		{"another group", "", append(other(t, `{"Version":2,"Segment":1,"Group":"another"}`), whole...)},
	} {
		entries, found, damages := read(c.content)
		if entries < all-all/segments-200 || found < changes-changes/segments-2 {
			t.Errorf("%s: %d entries of %d are read, and %d changes of %d", c.name, entries, all, found, changes)
		}
		if c.want != "" && (len(damages) == 0 || len(damages) > 3 || !strings.Contains(strings.Join(damages, "\n"), c.want)) {
			t.Errorf("%s: %q", c.name, damages)
		}
	}
	if _, _, damages := read([]byte("no record at all")); len(damages) != 1 || !strings.Contains(damages[0], "it is no record") {
		t.Errorf("%q", damages)
	}
}

// What is before a hole is told, however long that is, and what is behind the next head.
func TestASegmentBeforeALongHoleIsTold(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	whole := archive(t, 4000)
	all, changes, damages := read(whole)
	for _, end := range []bool{true, false} {
		content := slices.Concat(whole, make([]byte, maxSegment))
		if !end {
			second := Parse("", whole).Logs[0].Segments[1].offset
			content = slices.Concat(whole[:second], make([]byte, maxSegment), whole[second:])
		}
		entries, found, told := read(content)
		if len(damages) > 0 || entries != all || found != changes || len(told) > 3 || !strings.Contains(strings.Join(told, "\n"), " at the end of segment ") {
			t.Errorf("at the end: %t: %d entries of %d, %d changes of %d, %q", end, entries, all, found, changes, told)
		}
	}
}

// One place that is damaged is one line, and one about what needs it, wherever it is in a segment of the usual size.
func TestAPlaceThatIsDamagedIsToldOnce(t *testing.T) {
	var m Memory
	w := NewWriter(&m, testHead, Options{})
	defer w.Close(time.Minute)
	w.Add(at(0), "g", &Snapshot{Members: []uint64{1, 2, 3}, Position: 1, State: make([]byte, 100)})
	for n := range uint64(4000) {
		w.Add(at(time.Duration(n)*80*time.Millisecond), "g", renewal(n*n))
	}
	w.Sync()
	whole := m.Archive()
	l := Parse("", flip(whole, len(whole)/4)).Logs[0]
	if len(l.Segments) != 1 || len(whole) < 40<<10 {
		t.Fatalf("%d segments, %d bytes", len(l.Segments), len(whole))
	}
	var told []string
	follows := 0
	for _, d := range l.Entries() {
		switch {
		case d == nil:
		case d.Follows:
			follows++
		default:
			told = append(told, d.What)
		}
	}
	if len(told) != 2 || !strings.HasSuffix(told[0], "cannot be read") || !strings.HasPrefix(told[1], "steps from block") || follows == 0 {
		t.Errorf("%q, and %d follow", told, follows)
	}
}

// The head of a segment is lost. Its blocks are not of the segment before it in the archive, which may be of another member.
func TestBlocksWithoutTheirHeadAreOfNoOtherSegment(t *testing.T) {
	member := func(id uint64, text string) []byte {
		var m Memory
		w := NewWriter(&m, func() Head {
			h := testHead()
			h.Member = id
			return h
		}, Options{})
		defer w.Close(time.Minute)
		for n := range 300 {
			w.Add(at(time.Duration(n)*time.Second), "g", &Note{Text: text})
		}
		w.Sync()
		return m.Archive()
	}
	one, two := member(1, "one"), member(2, "two")
	for name, second := range map[string][]byte{"one bit": flip(two, 20), "more than the first has": append(make([]byte, len(two)/2), two[len(two)/2:]...)} {
		r := Parse("test", append(append([]byte(nil), one[:len(one)/3]...), second...))
		if len(r.Logs) != 1 || r.Logs[0].Member != 1 {
			t.Fatal(r)
		}
		var damages []string
		for e, d := range r.Logs[0].Entries() {
			if d != nil {
				damages = append(damages, d.What)
			} else if n, is := e.Body.(*Note); is && n.Text != "one" {
				t.Fatalf("%s: member 1 has an entry of member 2", name)
			}
		}
		if len(damages) != 1 || !strings.HasSuffix(damages[0], "its head is lost") {
			t.Errorf("%s: %q", name, damages)
		}
	}
}

// other returns a head of a segment.
func other(t testing.TB, head string) []byte {
	b := append(make([]byte, headSize), head...)
	seal(b, blockHead)
	return b
}

func flip(content []byte, at int) []byte {
	b := append([]byte(nil), content...)
	b[at] ^= 0x10
	return b
}

// counted counts what is read.
type counted struct {
	*bytes.Reader
	bytes int
}

func (c *counted) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.Reader.ReadAt(b, at)
	c.bytes += n
	return n, err
}

// Heads of segments may be anywhere in a file, which is read in parts.
func TestSegmentsAreFoundWhereverTheyAreInAFile(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	whole := archive(t, 1000)
	for ahead := range 40 {
		content := slices.Concat(make([]byte, 1<<20+bytes.MinRead-ahead), whole, []byte{sync0, sync1, blockHead}, make([]byte, 2<<20), whole, make([]byte, ahead))
		var here, there Records
		here.parse("x", content)
		if err := there.find("x", newScan(bytes.NewReader(content), int64(len(content)))); err != nil {
			t.Fatal(err)
		}
		if len(here.Logs) != 1 || len(here.Logs[0].Segments) < 6 || !slices.Equal(here.Damages, there.Damages) {
			t.Fatalf("%d segments, %+v, %+v", len(here.Logs[0].Segments), here, there)
		}
		for i, s := range here.Logs[0].Segments {
			if other := there.Logs[0].Segments[i]; other.offset != s.offset || other.length != s.length || other.Head.Segment != s.Head.Segment || other.memory != nil {
				t.Errorf("a segment is at %d in memory, with %d bytes, and at %d in a file, with %d", s.offset, s.length, other.offset, other.length)
			}
		}
	}
}

// What looks like the head of a long block, again and again between heads, costs no more than the file is long, some times over.
func TestHeadsThatAreNoneCostLittle(t *testing.T) {
	long := []byte{sync0, sync1, blockHead, 0, 0, 32, 0, 0, 0, 0} // 2 MiB, so it is read anew
	head := append(make([]byte, headSize), `{"Version":2}`...)
	seal(head, blockHead)
	content := append(bytes.Repeat(append(bytes.Repeat(long, 30), head...), 100), make([]byte, 5<<20)...)
	file := &counted{Reader: bytes.NewReader(content)}
	if err := new(Records).find("x", newScan(file, int64(len(content)))); err != nil || file.bytes < len(content) || file.bytes > 2*maxWork(len(content)) {
		t.Errorf("%d bytes of %d are read, %v", file.bytes, len(content), err)
	}
}

// mutations is the number of hostile records.
const mutations = 10_000

func TestHostileBytesNeitherPanicNorFillTheMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	whole := archive(t, 300)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := mutations
	if testing.Short() {
		n /= 20
	}
	for i := range n {
		b := mutate(r, whole)
		if _, _, damages := read(b); len(damages) > 3+len(b)/headSize {
			t.Fatalf("mutation %d: %d lines of damage", i, len(damages))
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / uint64(n); each > 64<<20 {
		t.Errorf("each takes %d MB", each>>20)
	}
}

// mutate changes some bytes, and seals the blocks again half of the time, so that a reader looks into them.
func mutate(r *rand.Rand, whole []byte) []byte {
	b := append([]byte(nil), whole...)
	for range 1 + r.IntN(6) {
		i := r.IntN(len(b))
		switch r.IntN(5) {
		case 0:
			b[i] ^= 1 << r.IntN(8)
		case 1:
			b[i] = byte(r.Uint32())
		case 2:
			b[i] = 0xFF
		case 3:
			b = b[:max(i, 1)]
		case 4:
			b = append(b[:i:i], b[min(len(b), i+r.IntN(40)):]...)
		}
		if len(b) == 0 {
			return b
		}
	}
	if r.IntN(2) == 0 {
		return b
	}
	for i := 0; i+headSize <= len(b); i++ {
		if b[i] != sync0 || b[i+1] != sync1 {
			continue
		}
		if size := int(b[i+3]) | int(b[i+4])<<8 | int(b[i+5])<<16; size <= len(b)-i-headSize {
			seal(b[i:i+headSize+size], b[i+2])
		}
	}
	return b
}

func FuzzRecords(f *testing.F) {
	f.Add(archive(f, 50))
	f.Fuzz(func(_ *testing.T, b []byte) { read(b) })
}

func TestASinkThatFailsStopsTheRecordOnce(t *testing.T) {
	told := make(chan error, 9)
	w := NewWriter(&full{}, testHead, Options{Stopped: func(err error) { told <- err }})
	for n := range uint64(1000) {
		w.Add(at(time.Duration(n)*time.Millisecond), "g", renewal(n))
	}
	w.Sync()
	w.Close(time.Minute)
	if err := <-told; err.Error() != "full" || len(told) > 0 {
		t.Errorf("%v, and %d more", err, len(told))
	}
}

type full struct{ Memory }

func (*full) WriteAt([]byte, int64) error { return fmt.Errorf("full") }

func TestWhatDoesNotFitIsAGapAndASnapshotFollows(t *testing.T) {
	s := &slow{open: make(chan struct{})}
	w := NewWriter(s, testHead, Options{Buffer: 8 << 10})
	big := &Note{Text: strings.Repeat("x", 1000)}
	w.Add(at(0), "g", &Snapshot{Members: []uint64{1}})
	for n := range 100 { // none of them waits
		w.Add(at(time.Duration(n)*time.Millisecond), "g", big)
	}
	if w.Wants("g", new(uint64)) {
		t.Error("a snapshot is wanted that would not be recorded")
	}
	close(s.open)
	w.Sync()
	if !w.Wants("g", new(uint64)) {
		t.Error("no snapshot is wanted after the gap")
	}
	w.Add(at(time.Second), "g", big)
	w.Sync()
	w.Close(time.Minute)
	notes, lost := 0, 0
	for e, d := range Parse("", s.Archive()).Logs[0].Entries() {
		if d != nil {
			t.Fatal(d)
		}
		switch body := e.Body.(type) {
		case *Note:
			notes++
		case *Gap:
			lost += body.Entries
		}
	}
	if lost == 0 || notes+lost != 101 {
		t.Errorf("%d notes, and %d are lost", notes, lost)
	}
}

type slow struct {
	Memory
	open chan struct{}
}

func (s *slow) WriteAt(b []byte, at int64) error {
	<-s.open
	return s.Memory.WriteAt(b, at)
}
