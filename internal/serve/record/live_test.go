package record

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"
)

// writers are those of both records of a member in a directory. The first Note of each is 0.
func writers(t *testing.T, path string, o Options) (all [2]*Writer, add func(n int)) {
	t.Helper()
	sink, options, err := NewFiles(path, LeastSize)
	if err != nil {
		t.Fatal(err)
	}
	years, changes := NewYears(path)
	options.Removed, changes.Removed = o.Removed, o.Removed
	options.Stopped, changes.Stopped = o.Stopped, o.Stopped
	head := func(changes bool) func() Head {
		return func() Head {
			h := testHead()
			h.Changes = changes
			return h
		}
	}
	all = [2]*Writer{NewWriter(sink, head(false), options), NewWriter(years, head(true), changes)}
	for _, w := range all {
		t.Cleanup(func() { w.Close(time.Minute) })
	}
	return all, func(n int) {
		for _, w := range all {
			w.Add(at(time.Duration(n)*time.Millisecond), "g", &Note{Text: strconv.Itoa(n)})
			w.Sync()
		}
	}
}

// notes returns the texts in both records, and what is damaged.
func notes(r *Records) (texts [2][]string, damages []string) {
	for _, d := range r.Damages {
		damages = append(damages, d.String())
	}
	for _, l := range r.Logs {
		for i, segments := range [][]*Segment{l.Segments, l.Changes} {
			for _, s := range segments {
				for e, d := range s.Entries() {
					if d != nil {
						damages = append(damages, d.String())
					} else if n, is := e.Body.(*Note); is {
						texts[i] = append(texts[i], n.Text)
					}
				}
			}
		}
	}
	return texts, damages
}

// A block is written again in its place as it grows. One who has found it as it was reads it as it was.
func TestARecordThatIsWrittenMeanwhileIsNotTorn(t *testing.T) {
	path := t.TempDir()
	_, add := writers(t, path, Options{})
	add(0)
	add(1)
	r, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	add(2)
	for range 2 {
		if texts, damages := notes(r); len(damages) > 0 || !slices.Equal(texts[0], []string{"0", "1"}) || !slices.Equal(texts[1], []string{"0", "1"}) {
			t.Fatalf("%q, %q", texts, damages)
		}
	}
}

// The directory, or one of its files, is removed while the member runs. What comes later is recorded.
func TestARecordThatIsRemovedBeginsAnew(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed")
	}
	path := filepath.Join(t.TempDir(), Directory)
	told := make(chan bool, 9)
	_, add := writers(t, path, Options{Removed: func() { told <- true }})
	add(0)
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	add(1) // is lost: the writer finds out by it
	add(2)
	add(3)
	want := []string{"2", "3"}
	r, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if texts, damages := notes(r); len(damages) > 0 || !slices.Equal(texts[0], want) || !slices.Equal(texts[1], want) {
		t.Errorf("%q, %q", texts, damages)
	}
	if len(told) != 2 {
		t.Errorf("it was told %d times, of two records", len(told))
	}
	files, err := filepath.Glob(filepath.Join(path, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f, info.Mode(), err)
		}
	}
}

// The directory of a member is renamed while the member runs, as its disk may be taken away. No other one takes its place, and when it is back, what comes
// later is recorded in it.
func TestARecordMakesNoDirectoryOfAMember(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the directory of an open file cannot be renamed")
	}
	data := filepath.Join(t.TempDir(), "1")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	told := make(chan bool, 9)
	_, add := writers(t, filepath.Join(data, Directory), Options{Removed: func() { told <- true }, Stopped: func(err error) { t.Error(err) }})
	add(0)
	if err := os.Rename(data, data+".away"); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		add(1 + n)
	}
	if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a directory again: %v", err)
	}
	if err := os.Rename(data+".away", data); err != nil {
		t.Fatal(err)
	}
	add(4)
	add(5)
	r, err := Open(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"0", "4", "5"} // the second record removes 0 as too old: a Note has no time
	if texts, damages := notes(r); len(damages) > 0 || !slices.Equal(texts[0], want) || !slices.Equal(texts[1], want[1:]) {
		t.Errorf("%q, %q", texts, damages)
	}
	if len(told) != 2 {
		t.Errorf("it was told %d times, of two records", len(told))
	}
}

// One directory of several cannot be read. The others are.
func TestADirectoryThatCannotBeReadIsADamage(t *testing.T) {
	path := t.TempDir()
	life(t, filepath.Join(path, "1", Directory), 10, 1)
	closed := filepath.Join(path, "2")
	if err := os.Mkdir(closed, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadDir(closed); !errors.Is(err, os.ErrPermission) {
		t.Skip("this user reads all")
	}
	r, err := Open(t.Context(), path)
	if err != nil || len(r.Logs) != 1 || len(r.Damages) != 1 || r.Damages[0].String() != closed+": it cannot be read: permission denied" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Open(t.Context(), closed); !errors.Is(err, os.ErrPermission) {
		t.Errorf("one that was named: %v", err)
	}
}
