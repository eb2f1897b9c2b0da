package leasefile

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// always returns a length of time.
func always(d time.Duration) func() time.Duration { return func() time.Duration { return d } }

// both returns a new file's writer and reader.
func both(t *testing.T) (w *Writer, r *Reader, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "lease")
	w, err := Create(path, "jobs", 7)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	r, err = Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return w, r, path
}

func TestALeaseIsValidUntilItsEnd(t *testing.T) {
	w, r, _ := both(t)
	if _, _, valid := r.Valid(); valid {
		t.Error("a new file is valid")
	}
	w.Show(true, 3, always(time.Hour), "http://x")
	term, left, valid := r.Valid()
	if !valid || term != 3 || left <= 0 || left > time.Hour {
		t.Errorf("%d, %v, %v", term, left, valid)
	}
	s, err := r.Read()
	if err != nil || s.Member != 7 || s.Group != "jobs" || s.Value != "http://x" || s.Closed {
		t.Errorf("%+v, %v", s, err)
	}
	w.Show(true, 3, always(0), "")
	if _, _, valid := r.Valid(); valid {
		t.Error("a lease that has ended is valid")
	}
	w.Show(true, 4, always(time.Hour), strings.Repeat("x", MostValue+9))
	if s, err := r.Read(); err != nil || len(s.Value) != MostValue || !s.Leads {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestAMemberThatDoesNotLeadHasNoLease(t *testing.T) {
	w, r, _ := both(t)
	w.Show(false, 4, always(time.Hour), "")
	if _, _, valid := r.Valid(); valid {
		t.Error("a member that does not lead is valid")
	}
	w.Show(true, 5, always(time.Hour), "")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w.Show(true, 6, always(time.Hour), "")
	if s, err := r.Read(); err != nil || s.Leads || !s.Closed || s.Term != 5 {
		t.Errorf("after the end of its writer: %+v, %v", s, err)
	}
}

// Each clock alone ends a lease: one goes on during suspension, and the other is all that some languages have.
func TestALeaseEndsOnEachClock(t *testing.T) {
	w, r, _ := both(t)
	w.Show(true, 3, always(time.Hour), "")
	for _, end := range []func(*State){func(s *State) { s.Boottime = 1 }, func(s *State) { s.Monotonic = 1 }} {
		s := w.written
		end(&s)
		write(w.file[slots[0]:slots[0]+slotSize], w.sequence+2, &s)
		w.sequence += 2
		if _, _, valid := r.Valid(); valid {
			t.Errorf("%+v is valid", s)
		}
	}
}

func TestALeaseOfAnotherStartOfTheSystemIsNotValid(t *testing.T) {
	w, r, _ := both(t)
	w.Show(true, 3, always(time.Hour), "")
	r.boot[3]++
	if _, _, valid := r.Valid(); valid {
		t.Error("it is valid")
	}
}

// A writer that is killed in the middle of a write leaves the other slot.
func TestAWriteThatWasInterruptedDoesNotCount(t *testing.T) {
	w, r, _ := both(t)
	w.Show(true, 3, always(time.Hour), "one")
	w.Show(true, 3, always(2*time.Hour), "two")
	at := slots[(w.sequence+1)%2]
	for i := range valueAt + 3 { // so much of the next write of this slot is there
		copy(w.file[at:at+8], make([]byte, 8))
		w.file[at+8+i] ^= 0x40
		if s, err := r.Read(); err != nil || s.Value != "one" || !s.Leads {
			t.Errorf("%d bytes: %+v, %v", i, s, err)
		}
	}
}

// The writer may have been killed in the middle of a write.
func TestTheFileOfADeadWriterIsEnded(t *testing.T) {
	for _, torn := range []bool{false, true} {
		for n := range 3 {
			w, r, path := both(t)
			for i := range n {
				w.Show(true, uint64(i+1), always(time.Duration(i+1)*time.Hour), "x")
			}
			if torn {
				at := slots[w.sequence%2] // of the next write
				copy(w.file[at:], make([]byte, 8))
			}
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if err := End(f); err != nil {
				t.Fatal(err)
			}
			if s, err := r.Read(); err != nil || s.Leads || !s.Closed || s.Term != uint64(n) {
				t.Errorf("torn %t, after %d writes: %+v, %v", torn, n, s, err)
			}
		}
	}
	foreign, err := os.Create(filepath.Join(t.TempDir(), "foreign"))
	if err != nil {
		t.Fatal(err)
	}
	defer foreign.Close()
	for range 2 {
		if err := End(foreign); !errors.Is(err, ErrFormat) {
			t.Errorf("a foreign file: %v", err)
		}
		if err := foreign.Truncate(size); err != nil {
			t.Fatal(err)
		}
	}
	if err := End(nil); err == nil {
		t.Error("no file has an end")
	}
}

// What no writer leaves is damage: then the member does not lead, whatever the older slot says.
func TestADamagedSlotDoesNotLead(t *testing.T) {
	w, r, _ := both(t)
	w.Show(true, 3, always(time.Hour), "one")
	w.Show(true, 3, always(2*time.Hour), "two")
	at := slots[(w.sequence+1)%2]
	whole := append([]byte(nil), w.file[at:at+slotSize]...)
	for i := range valueAt + 3 {
		copy(w.file[at:], whole)
		w.file[at+i] ^= 0x40
		if s, err := r.Read(); err != nil || s.Leads && (i < 42 || i >= valueAt) {
			t.Errorf("byte %d: %+v, %v", i, s, err)
		}
	}
}

func TestAFileOfAWriterThatStartsAgainIsFound(t *testing.T) {
	w, r, path := both(t)
	w.Show(true, 3, always(time.Hour), "")
	next, err := Create(path, "jobs", 7)
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	next.Show(true, 9, always(time.Hour), "")
	if term, _, _ := r.Valid(); term != 3 {
		t.Errorf("while the lease of the old file runs: term %d", term)
	}
	w.Close()
	if term, _, valid := r.Valid(); term != 9 || !valid {
		t.Errorf("after it: term %d, %v", term, valid)
	}
}

func TestFilesThatAreNoLeaseFiles(t *testing.T) {
	_, _, path := both(t)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(at int, value byte, again bool) []byte {
		b := append([]byte(nil), good...)
		b[at] = value
		if again {
			binary.LittleEndian.PutUint32(b[8:], crc32.ChecksumIEEE(b[12:headSize]))
		}
		return b
	}
	for name, c := range map[string]struct {
		file []byte
		want error
		text string
	}{
		"empty":           {nil, ErrFormat, ""},
		"short":           {good[:200], ErrFormat, "200 bytes"},
		"the magic alone": {good[:6], ErrFormat, "6 bytes"},
		"no version":      {changed(7, 'x', true), ErrFormat, ""},
		"foreign":         {[]byte(strings.Repeat("x", size)), ErrFormat, ""},
		"other version":   {changed(7, '2', true), ErrVersion, "02"},
		"damaged":         {changed(40, 1, false), ErrFormat, "damaged"},
		"other clocks":    {changed(41, good[41]+1, true), ErrTimeNamespace, ""},
		"too long a name": {changed(48, 201, true), ErrFormat, "no sense"},
	} {
		file := filepath.Join(t.TempDir(), "lease")
		if err := os.WriteFile(file, c.file, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(file); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, t.TempDir(), os.DevNull} {
		if _, err := Open(path); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := Create(filepath.Join(t.TempDir(), "lease"), strings.Repeat("x", 201), 1); err == nil {
		t.Error("a name of 201 bytes is taken")
	}
}

// What the path has may be larger than the memory. Here it is a hole.
func TestALargeFileOfSomebodyElseIsNotReadAsAWhole(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 1<<42); err != nil {
		t.Fatal(err)
	}
	if err := Check(large, "jobs", 7); !errors.Is(err, ErrTaken) {
		t.Error(err)
	}
}

// A path that is wrong costs nobody a file.
func TestALeaseFileReplacesNothingElse(t *testing.T) {
	_, _, path := both(t)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	second := append([]byte(nil), good...)
	second[7] = '2'
	for name, c := range map[string]struct {
		file   []byte
		group  string
		member uint64
		want   string
	}{
		"the same member":      {good, "jobs", 7, ""},
		"an empty file":        {nil, "jobs", 7, ""},
		"another member":       {good, "jobs", 8, `that of member 7 of group "jobs"`},
		"another group":        {good, "mail", 7, `that of member 7 of group "jobs"`},
		"another version":      {second, "jobs", 7, "02"},
		"foreign":              {[]byte("root:x:0:0"), "jobs", 7, "no lease file"},
		"foreign, of its size": {make([]byte, size), "jobs", 7, "no lease file"},
		"cut off":              {good[:100], "jobs", 7, "100 bytes"},
	} {
		file := filepath.Join(t.TempDir(), "lease")
		if err := os.WriteFile(file, c.file, 0o600); err != nil {
			t.Fatal(err)
		}
		w, err := Create(file, c.group, c.member)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else {
				w.Close()
			}
			continue
		}
		if !errors.Is(err, ErrTaken) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := os.ReadFile(file); err != nil || string(left) != string(c.file) {
			t.Errorf("%s: the file has changed: %v", name, err)
		}
	}
	for file, want := range map[string]error{
		path:                                 nil,
		filepath.Join(t.TempDir(), "new"):    nil,
		filepath.Join(path, "below"):         syscall.ENOTDIR,
		filepath.Join(path+".none", "below"): os.ErrNotExist,
	} {
		if err := Check(file, "jobs", 7); !errors.Is(err, want) {
			t.Errorf("%s: %v", file, err)
		}
	}
	if err := Check(path, "jobs", 8); !errors.Is(err, ErrTaken) {
		t.Errorf("the file of member 7: %v", err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(link, "jobs", 7); !errors.Is(err, ErrTaken) {
		t.Errorf("a link: %v", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("what is left beside the file: %v, %v", entries, err)
	}
}

// A state that is written while the clocks are read is the one that counts.
func TestTheClocksAreReadWhileTheStateIsTheNewest(t *testing.T) {
	w, r, _ := both(t)
	w.Show(true, 3, always(time.Hour), "")
	again := 0
	s := r.view.read(r.file, func() {
		if again++; again == 1 {
			w.Show(false, 3, always(0), "")
		}
	})
	if s.Leads || again != 2 {
		t.Errorf("%+v, after %d attempts", s, again)
	}
}

func BenchmarkValid(b *testing.B) {
	path := filepath.Join(b.TempDir(), "lease")
	w, err := Create(path, "jobs", 7)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	w.Show(true, 3, always(time.Hour), "http://127.0.0.1:8080")
	r, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	for b.Loop() {
		if _, _, valid := r.Valid(); !valid {
			b.Fatal("it is not valid")
		}
	}
}

func TestAFolderThatIsMissingIsNamed(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "missing")
	if _, err := Create(filepath.Join(folder, "lease"), "jobs", 1); err == nil || err.Error() != "open "+folder+": no such file or directory" {
		t.Error(err)
	}
}
