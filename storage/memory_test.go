package storage

import (
	"errors"
	"testing"
)

func TestAStoreInMemoryOutlivesProcesses(t *testing.T) {
	disk := Memory()
	first, err := disk.Open()
	if err != nil {
		t.Fatal(err)
	}
	save(t, first, "r", "one")
	if _, err := disk.Open(); !errors.Is(err, ErrLocked) || !errors.Is(err, ErrData) {
		t.Error(err)
	}
	first.Close()
	second, err := disk.Open()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := second.Load("r"); err != nil || string(b) != "one" {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := second.Load("s"); err != nil || b != nil {
		t.Errorf("what was never saved is %q, %v", b, err)
	}
	save(t, second, "s", "")
	if b, err := second.Load("s"); err != nil || b == nil {
		t.Errorf("what was saved empty is %v, %v", b, err)
	}
	first.Close() // again: it does not take the store from the second
	if err := first.Save([]Record{{"r", []byte("two")}}); !errors.Is(err, ErrWrite) {
		t.Errorf("a process that has ended saves: %v", err)
	}
	if b, err := second.Load("r"); err != nil || string(b) != "one" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestAStoreInMemoryCanFail(t *testing.T) {
	disk := Memory()
	s, err := disk.Open()
	if err != nil {
		t.Fatal(err)
	}
	for _, failure := range []error{ErrWrite, ErrFlush} {
		disk.Intercept(func([]Record) error { return failure })
		if err := s.Save([]Record{{"r", []byte("one")}}); !errors.Is(err, failure) {
			t.Errorf("%v; want %v", err, failure)
		}
	}
	disk.Intercept(nil)
	if err := s.Save(nil); !errors.Is(err, ErrFlush) {
		t.Errorf("after a failed flush it saves: %v", err)
	}
	s.Close()
	if s, err = disk.Open(); err != nil {
		t.Fatal(err)
	}
	if b, err := s.Load("r"); err != nil || b != nil {
		t.Errorf("a Save that failed has kept %q, %v", b, err)
	}
	save(t, s, "r", "two")
	if err := s.Save([]Record{{"r", make([]byte, MaxData+1)}}); !errors.Is(err, ErrData) {
		t.Errorf("too long: %v", err)
	}
}

// While Save waits, the process may be killed, and the next one started.
func TestAStoreInMemoryCanBeSlow(t *testing.T) {
	disk := Memory()
	s, err := disk.Open()
	if err != nil {
		t.Fatal(err)
	}
	save(t, s, "r", "one")
	for _, killed := range []bool{false, true} {
		reached, goOn, done := make(chan string), make(chan bool), make(chan error)
		disk.Intercept(func(records []Record) error {
			reached <- string(records[0].Data)
			<-goOn
			return nil
		})
		go func() { done <- s.Save([]Record{{"r", []byte("two")}}) }()
		if data := <-reached; data != "two" {
			t.Errorf("it saves %q", data)
		}
		if b, err := s.Load("r"); err != nil || string(b) != "one" {
			t.Errorf("before it is durable, it is %q, %v", b, err)
		}
		if killed {
			s.Close()
		}
		close(goOn)
		err := <-done
		disk.Intercept(nil)
		if killed {
			if !errors.Is(err, ErrWrite) {
				t.Errorf("a process that has ended saves: %v", err)
			}
		} else if err != nil {
			t.Error(err)
		} else {
			save(t, s, "r", "one")
		}
	}
}

func TestAStoreInMemoryCanBeLostAndCopied(t *testing.T) {
	disk := Memory()
	s, err := disk.Open()
	if err != nil {
		t.Fatal(err)
	}
	save(t, s, "r", "one")
	copied, err := disk.Copy().Open()
	if err != nil {
		t.Fatal(err)
	}
	save(t, s, "r", "two")
	if b, err := copied.Load("r"); err != nil || string(b) != "one" || copied.ID() != s.ID() {
		t.Errorf("the copy has %q, %v", b, err)
	}
	disk.Lose()
	if err := s.Save([]Record{{"r", []byte("three")}}); !errors.Is(err, ErrWrite) {
		t.Errorf("a lost store saves: %v", err)
	}
	if _, err := s.Load("r"); !errors.Is(err, ErrData) {
		t.Errorf("a lost store loads: %v", err)
	}
	next, err := disk.Open()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := next.Load("r"); err != nil || b != nil || next.ID() == s.ID() || next.ID() == [16]byte{} {
		t.Errorf("after the loss there is %q, %v", b, err)
	}
}
