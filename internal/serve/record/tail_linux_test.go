package record

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// tailsOf is a variable with the folder of the tails of a test and its children.
const tailsOf = "RINGLEADER_RECORD_TAILS"

// TestMain gives the tests a folder of tails of their own. A member locks each tail of its machine for a moment when it starts, and tests of this package remove
// abandoned tails.
func TestMain(m *testing.M) {
	own := os.Getenv(tailsOf)
	if own == "" {
		made, err := os.MkdirTemp(tailFolder, "tails-of-tests-")
		if err != nil {
			os.Exit(m.Run()) // tests that need tails are skipped
		}
		defer os.RemoveAll(made)
		own = made
		if err := os.Setenv(tailsOf, own); err != nil {
			panic(err)
		}
	}
	tailFolder = own
	m.Run() // the process ends with its status
}

// sharing returns a writer of a life that may be killed, and its tail.
func sharing(t *testing.T, path string, incarnation uint64) *Writer {
	t.Helper()
	return sharingOn(t, path, incarnation, func(f *Files) Sink { return f })
}

// sharingOn is sharing with a disk in the place of the files.
func sharingOn(t *testing.T, path string, incarnation uint64, disk func(*Files) Sink) *Writer {
	t.Helper()
	files, options, err := NewFiles(path, LeastSize)
	if err != nil {
		t.Fatal(err)
	}
	options.Shared = true
	w := NewWriter(disk(files), func() Head {
		h := testHead()
		h.Boot, h.Incarnation = Boot()+" 5 0", incarnation // in a namespace of time of its own, which the next life does not have
		return h
	}, options)
	if w.tail == nil {
		w.Close(time.Minute)
		t.Skip("this machine has no file system in memory")
	}
	t.Cleanup(func() { w.Close(time.Minute) })
	return w
}

// A member in a namespace of time has clocks of its own, though it is on the machine of the others.
func TestANamespaceOfTimeHasANameOfItsOwn(t *testing.T) {
	const machine = "monotonic           0         0\nboottime            0         0\n"
	for offsets, want := range map[string]string{
		"":      "id", // no such file
		machine: "id",
		"monotonic           7         0\nboottime            0         0\n": "id",
		"monotonic           0         0\nboottime      1000000       500\n": "id 1000000 500",
		"monotonic           0         0\nboottime           -1 999999999\n": "id -1 999999999",
	} {
		boot := named("id\n", offsets)
		if h := (&Head{Boot: boot}); boot != want || h.Start() != "id" {
			t.Errorf("%q: %q, of the start %q; want %q", offsets, boot, h.Start(), want)
		}
	}
	command := []string{"unshare", "--time", "--boottime", "1000", "--fork"}
	if os.Getuid() != 0 {
		command = slices.Insert(command, 1, "--user", "--map-root-user")
	}
	var offsets bytes.Buffer
	c := exec.Command(command[0], append(command[1:], "cat", "/proc/self/timens_offsets")...)
	c.Stdout = &offsets
	if err := c.Run(); err != nil {
		t.Skipf("no namespace of time: %v", err)
	}
	if boot := named("id", offsets.String()); boot != "id 1000 0" {
		t.Errorf("%q in %q", boot, offsets.String())
	}
}

// begins writes the beginning of a record, so that its file has the name of the tail.
func begins(w *Writer) *Writer {
	w.Add(at(0), "g", &Snapshot{Members: []uint64{1, 2, 3}, Position: 1, State: []byte{1, 2}})
	w.Sync()
	return w
}

// ticksOf returns the times of the steps in a record.
func ticksOf(t *testing.T, path string) []uint64 {
	t.Helper()
	r, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return ticksIn(t, r)
}

func ticksIn(t *testing.T, r *Records) (ticks []uint64) {
	t.Helper()
	if len(r.Damages) > 0 || len(r.Logs) != 1 {
		t.Fatal(r)
	}
	for e, d := range r.Logs[0].Entries() {
		if d != nil {
			t.Fatal(d)
		}
		if s, is := e.Body.(*Step); is {
			ticks = append(ticks, s.Ticks)
		}
	}
	return ticks
}

// stuck is a disk that takes what is written first, and then nothing.
type stuck struct {
	Sink
	first func()
	then  chan struct{} // closed when it goes on
}

func (s *stuck) WriteAt(block []byte, at int64) error {
	if s.first != nil {
		defer s.first()
		s.first = nil
	} else {
		<-s.then
	}
	return s.Sink.WriteAt(block, at)
}

// The disk takes nothing while ten blocks are closed, and then ten more, for which memory has no room.
func TestALifeThatIsKilledWhileItsDiskHangsLosesNoEntry(t *testing.T) {
	path := t.TempDir()
	written := make(chan struct{})
	disk := &stuck{first: func() { close(written) }, then: make(chan struct{})}
	w := sharingOn(t, path, 7, func(f *Files) Sink {
		disk.Sink = f
		return disk
	})
	defer close(disk.then)
	w.Add(at(0), "g", &Snapshot{Members: []uint64{1, 2, 3}, Position: 1, State: []byte{1, 2}})
	<-written
	added := 0
	blocks := func(more int) {
		for block := w.sequence + more; w.sequence < block; added++ {
			w.Add(at(80*time.Duration(added)*time.Millisecond), "g", renewal(uint64(added*added)))
		}
	}
	blocks(10)
	if got := ticksOf(t, path); len(got) != added {
		t.Errorf("%d entries were added, and %d are read", added, len(got))
	}
	blocks(10) // a segment is full meanwhile
	r, err := Open(t.Context(), path)
	if err != nil || len(r.Damages) != 1 || !strings.Contains(r.Damages[0].What, "the last entries are not here") {
		t.Fatal(r, err)
	}
	if segments := r.Logs[0].Segments; segments[len(segments)-1].Head.Joined {
		t.Error("the record says that it has what was in memory")
	}
}

// A writer that never writes again stands for a process that was killed.
func TestALifeThatIsKilledLosesNoEntry(t *testing.T) {
	path := t.TempDir()
	w := sharing(t, path, 7)
	begins(w)
	for n := range uint64(200) { // some blocks
		w.Add(at(80*time.Duration(n)*time.Millisecond), "g", renewal(n*n))
		if n%10 == 9 {
			if got := ticksOf(t, path); len(got) != int(n+1) || got[n] != 80*n*n {
				t.Fatalf("after %d steps %d are read, the last one in tick %d", n+1, len(got), got[len(got)-1])
			}
		}
	}
	next := sharing(t, path, 8)
	if next.segment < w.segment {
		t.Errorf("the next life begins with segment %d; the last one had %d", next.segment+1, w.segment)
	}
	next.Add(at(0), "g", renewal(1))
	next.Sync()
	if got := ticksOf(t, path); len(got) != 201 {
		t.Errorf("%d steps are in both lives, of 201", len(got))
	}
	if _, err := os.Stat(filepath.Join(tailFolder, w.tail.name)); err == nil {
		t.Error("the next life leaves the tail")
	}
	name := next.tail.name
	next.Close(time.Minute)
	if _, err := os.Stat(filepath.Join(tailFolder, name)); err == nil {
		t.Error("the end of a life leaves its tail")
	}
}

// One who reads while the writer writes may find the last block torn, which has its whole length. The memory has it whole.
func TestATornBlockIsReadFromMemory(t *testing.T) {
	path := t.TempDir()
	w := begins(sharing(t, path, 7))
	for n := range uint64(100) { // some blocks
		w.Add(at(80*time.Duration(n)*time.Millisecond), "g", renewal(n))
	}
	w.Sync()
	file, err := os.OpenFile(filepath.Join(path, "000000000001.seg"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w.mu.Lock()
	size, end := int64(w.size), int64(w.size+len(w.block))
	w.mu.Unlock()
	if _, err := file.WriteAt([]byte{sync0, sync1, blockEntries, 0, 0, 0}, size); err != nil || end-size < 2*headSize {
		t.Fatal(size, end, err)
	}
	if got := ticksOf(t, path); len(got) != 100 {
		t.Errorf("%d steps are read, of 100", len(got))
	}
	parts, err := Parts(path, time.Time{})
	if err != nil || len(parts) != 1 {
		t.Fatal(parts, err)
	}
	var archive bytes.Buffer
	if _, err := parts[0].WriteTo(&archive); err != nil {
		t.Fatal(err)
	}
	if got := ticksIn(t, Parse("archive", archive.Bytes())); len(got) != 100 {
		t.Errorf("%d steps are in the archive, of 100", len(got))
	}
	if info, err := file.Stat(); err != nil || info.Size() != end {
		t.Errorf("the file has %d bytes, and not %d: %v", info.Size(), end, err)
	}
	w.mu.Lock() // as if it were killed
	w.failed = true
	w.mu.Unlock()
	sharing(t, path, 8)
	if got := ticksOf(t, path); len(got) != 100 {
		t.Errorf("%d steps are left to the next life, of 100", len(got))
	}
}

// An archive of a member that runs has what is in its memory, too.
func TestPartsOfARecordHaveWhatIsInMemory(t *testing.T) {
	path := t.TempDir()
	w := sharing(t, path, 7)
	begins(w)
	w.mu.Lock() // so it writes nothing: the last file is older than both times
	defer w.mu.Unlock()
	for n := range uint64(100) { // some blocks
		w.add(at(80*time.Duration(n)*time.Millisecond), "g", renewal(n))
	}
	for _, since := range []time.Time{{}, time.Now()} {
		parts, err := Parts(path, since)
		if err != nil {
			t.Fatal(err)
		}
		var archive bytes.Buffer
		for i := range parts {
			if n, err := parts[i].WriteTo(&archive); err != nil || n != parts[i].Size {
				t.Fatal(n, parts[i].Size, err)
			}
		}
		if got := ticksIn(t, Parse("archive", archive.Bytes())); len(got) != 100 {
			t.Errorf("since %v: %d steps are in the archive, of 100", since, len(got))
		}
	}
}

// The file has the first segment only: the writer had no time for the second one.
func TestSegmentsThatAreInMemoryAloneAreRead(t *testing.T) {
	path := t.TempDir()
	w := sharing(t, path, 7)
	begins(w)
	w.mu.Lock() // so it writes nothing
	w.cut()
	w.encoder, w.groups = nil, nil
	w.fresh(at(time.Second))
	s := renewal(5)
	w.add(at(time.Second), "g", s)
	if got := ticksOf(t, path); len(got) != 1 || got[0] != s.Ticks {
		t.Errorf("steps in ticks %d are read", got)
	}
	_, options, err := NewFiles(path, LeastSize)
	if err != nil || options.First != w.segment+1 {
		t.Errorf("the next life begins with segment %d, %v", options.First, err)
	}
	w.mu.Unlock()
}

// A life is killed between the creation of its file and the first write: the file is empty, and all of the segment is in memory.
func TestASegmentWhoseFileIsEmptyIsRestored(t *testing.T) {
	path := t.TempDir()
	w := sharing(t, path, 7)
	begins(w)
	w.mu.Lock() // so it writes nothing
	defer w.mu.Unlock()
	w.cut()
	w.encoder, w.groups = nil, nil
	w.fresh(at(time.Second))
	w.add(at(time.Second), "g", renewal(5))
	if err := os.WriteFile(filepath.Join(path, "000000000002"+extension), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if records, err := Open(t.Context(), path); err != nil || len(records.Damages) > 0 {
		t.Errorf("nothing is lost, and there are the damages %v, %v", records.Damages, err)
	}
	next := sharing(t, path, 8)
	next.Add(at(0), "g", renewal(1))
	next.Sync()
	if got := ticksOf(t, path); len(got) != 2 {
		t.Errorf("steps in ticks %d are read, of one in each life", got)
	}
}

// The disk may be full, or the process end: a file is whole at each moment, so it is another file that takes what was in memory.
func TestAFileIsNotTruncatedForWhatWasInMemory(t *testing.T) {
	path := t.TempDir()
	w := sharing(t, path, 7)
	begins(w)
	name, before := filepath.Join(path, "000000000001"+extension), filepath.Join(t.TempDir(), "before")
	if err := os.Link(name, before); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(before)
	if err != nil {
		t.Fatal(err)
	}
	w.mu.Lock() // so it writes nothing
	defer w.mu.Unlock()
	w.add(at(time.Second), "g", renewal(5))
	next := sharing(t, path, 8)
	next.Add(at(0), "g", renewal(1))
	next.Sync()
	if got := ticksOf(t, path); len(got) != 2 {
		t.Errorf("steps in ticks %d are read, of one in each life", got)
	}
	if now, err := os.ReadFile(before); err != nil || !bytes.Equal(now, content) {
		t.Errorf("the file had %d bytes, and was written over with %d, %v", len(content), len(now), err)
	}
	if rest, err := filepath.Glob(filepath.Join(path, "*.new")); len(rest) > 0 || err != nil {
		t.Errorf("%q is left, %v", rest, err)
	}
}

func TestATailOfAnyBytesIsReadAsFarAsItGoes(t *testing.T) {
	path := t.TempDir()
	w := sharing(t, path, 7)
	begins(w)
	for n := range uint64(50) {
		w.Add(at(80*time.Duration(n)*time.Millisecond), "g", renewal(n))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		for range 1 + r.IntN(20) {
			w.tail.memory[r.IntN(tailSize)] ^= 1 << r.IntN(8)
		}
		records, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		for e, d := range records.Logs[0].Entries() {
			if e == nil && d == nil {
				t.Fatal("nothing was read")
			}
		}
	}
}

// A record names its tail. It cannot name another file.
func TestATailIsNoPath(t *testing.T) {
	for _, name := range []string{"", "../../etc/passwd", "ringleader-../x", "ringleader-zz", "other-00"} {
		if file := openTail(name); file != nil {
			file.Close()
			t.Errorf("%q is opened", name)
		}
	}
	h := testHead()
	h.Boot, h.Tail = "another start", "ringleader-00"
	if all := readTail(&h); all != nil {
		t.Error("a tail of another start of the system is read")
	}
}

// A disk that is full ends the record. The last entries are in memory of the machine, and stay there for readers, and for the next life.
func TestTheLastEntriesBeforeADiskWasFullAreRead(t *testing.T) {
	path := t.TempDir()
	sink, options, err := NewFiles(path, LeastSize)
	if err != nil {
		t.Fatal(err)
	}
	options.Shared = true
	filled := &filling{Files: sink}
	w := NewWriter(filled, func() Head {
		h := testHead()
		h.Boot, h.Incarnation = Boot(), 7
		return h
	}, options)
	if w.tail == nil {
		w.Close(time.Minute)
		t.Skip("this machine has no file system in memory")
	}
	w.Add(at(0), "g", &Snapshot{Members: []uint64{1, 2, 3}, Position: 1, State: []byte{1, 2}})
	w.Add(at(time.Millisecond), "g", renewal(1))
	w.Sync()
	filled.full.Store(true)
	w.Add(at(2*time.Millisecond), "g", renewal(2)) // waits, as it is as usual
	w.Sync()
	w.Add(at(3*time.Millisecond), "g", renewal(3)) // the record has ended
	if got := ticksOf(t, path); !slices.Equal(got, []uint64{80, 160}) {
		t.Errorf("while the member runs: %v", got)
	}
	w.Close(time.Minute)
	if got := ticksOf(t, path); !slices.Equal(got, []uint64{80, 160}) {
		t.Errorf("after its end: %v", got)
	}
	next := sharing(t, path, 8)
	next.Add(at(0), "g", renewal(3))
	next.Sync()
	if got := ticksOf(t, path); !slices.Equal(got, []uint64{80, 160, 240}) {
		t.Errorf("in the next life: %v", got)
	}
}

// filling is a directory on a disk that is full from some time on.
type filling struct {
	*Files
	full atomic.Bool
}

func (f *filling) WriteAt(block []byte, at int64) error {
	if f.full.Load() {
		return syscall.ENOSPC
	}
	return f.Files.WriteAt(block, at)
}
