package book

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/core/property"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport"
)

// draw draws some lines of few members, with few versions and addresses, so that many are of one member and some of one version.
func draw(t *property.T) (lines []Line) {
	for range property.IntRange(0, 12).Draw(t, "lines") {
		l := Line{
			ID:      property.Uint64Range(1, 4).Draw(t, "member"),
			Version: Version(property.Uint64Range(0, 2).Draw(t, "additions"))<<perAddition | Version(property.Uint64Range(0, 2).Draw(t, "moves")),
			Address: property.SampledFrom([]string{"a:1", "b:1", "c:1"}).Draw(t, "address"),
			Weight:  uint16(property.IntRange(0, 1).Draw(t, "weight")),
			Votes:   property.Bool().Draw(t, "votes"),
		}
		if property.IntRange(0, 4).Draw(t, "removed") == 4 {
			l.Version, l.Votes = l.Version|gone, false
		}
		lines = append(lines, l)
	}
	return lines
}

func bookOf(lines ...Line) (b Book) {
	for _, l := range lines {
		b.Take(l)
	}
	return b
}

// All members get to the same book, whatever the order in which lines arrive, and how often.
func TestBooksMergeInAnyOrderAndAnyNumberOfTimes(t *testing.T) {
	property.Check(t, func(t *property.T) {
		one, two := draw(t), draw(t)
		forth := bookOf(slices.Concat(one, two)...)
		back := slices.Concat(two, one, two)
		slices.Reverse(back)
		if back := bookOf(back...); !slices.Equal(forth.Lines(), back.Lines()) {
			t.Errorf("%+v, and in another order %+v", forth.Lines(), back.Lines())
		}
		both := bookOf(one...)
		for _, l := range two {
			before := both.Clone()
			if both.Take(l) && slices.Equal(before.Lines(), both.Lines()) {
				t.Errorf("%+v is said to change %+v", l, before.Lines())
			}
		}
		if !slices.IsSortedFunc(both.Lines(), func(a, b Line) int { return int(a.ID) - int(b.ID) }) {
			t.Errorf("%+v", both.Lines())
		}
	})
}

// What a member changes is newer than what it had, so all take it. A member that was removed remains so, wherever it moves, until it is added.
func TestAChangeIsNewerThanAllBefore(t *testing.T) {
	property.Check(t, func(t *property.T) {
		b := bookOf(draw(t)...)
		id := property.Uint64Range(1, 4).Draw(t, "changed")
		before, known := b.Line(id)
		changed, err := false, error(nil)
		switch property.IntRange(0, 3).Draw(t, "change") {
		case 0:
			if changed, err = b.Add(Line{ID: id, Address: "d:1", Weight: 1, Votes: true}); !changed {
				t.Errorf("%+v is not added over %+v", id, before)
			}
			if again, _ := b.Add(Line{ID: id, Address: "d:1", Weight: 1, Votes: true}); again {
				t.Errorf("the same addition changes the book")
			}
		case 1:
			changed, err = b.Remove(id, "d:1")
			if now, _ := b.Line(id); !now.Version.Removed() || now.Votes || changed == before.Version.Removed() {
				t.Errorf("%+v is not removed: %+v", before, now)
			}
		case 2:
			changed, err = b.Move(id, "d:1", 1, true)
			if changed == before.Version.Removed() {
				t.Errorf("a move changes %+v: %v", before, changed)
			}
		case 3:
			changed, err = b.Wish(id, false)
			if changed && !before.Votes {
				t.Errorf("%+v", before)
			}
		}
		now, _ := b.Line(id)
		if err != nil || changed != (now != before) || changed && known && !now.After(&before) {
			t.Errorf("%+v becomes %+v: %v, %v", before, now, changed, err)
		}
	})
}

func TestAMemberThatNeverMovedHasNoLine(t *testing.T) {
	var b Book
	if changed, err := b.Move(1, "a:1", 1, false); changed || err != nil || len(b.Lines()) != 0 {
		t.Errorf("%v, %v, %+v", changed, err, b.Lines())
	}
	b = bookOf(Line{ID: 1, Address: "a:1"})
	if changed, err := b.Move(1, "b:1", 1, false); changed || err != nil {
		t.Errorf("%v, %v, %+v", changed, err, b.Lines())
	}
}

func TestABookIsKept(t *testing.T) {
	property.CheckSome(t, 20, func(t *property.T) {
		b := bookOf(draw(t)...)
		want := slices.Clone(b.Lines())
		disk := storage.Memory()
		for range 2 { // the second time nothing has changed
			s, err := disk.Open()
			if err != nil {
				t.Fatal(err)
			}
			if records := b.Changed(); len(records) > 0 {
				if err := s.Save(records); err != nil {
					t.Fatal(err)
				}
			}
			got, err := Load(s)
			if err != nil || !slices.Equal(got.Lines(), want) {
				t.Errorf("%+v is kept as %+v: %v", want, got.Lines(), err)
			}
			if again := got.Changed(); len(again) > 0 {
				t.Errorf("what was read has changed: %v", again)
			}
			s.Close()
		}
	})
}

// alike returns identifiers of one record, in ascending order.
func alike(number int) (ids []uint64) {
	for id := uint64(1); len(ids) < number; id++ {
		if recordOf(id) == recordOf(1) {
			ids = append(ids, id)
		}
	}
	return ids
}

func TestAMemberFillsItsBookToALimit(t *testing.T) {
	for _, apart := range []uint64{1, 16, 256, 1 << 40} { // also identifiers that are alike
		var b Book
		id, added := uint64(0), 0
		for range 2 * MostLines {
			id += apart
			changed, err := b.Add(Line{ID: id, Address: strings.Repeat("a", MaxAddress)})
			if changed && err == nil {
				added++
			}
		}
		if added != MostLines {
			t.Errorf("%d identifiers that are %d apart fit, not %d", added, apart, MostLines)
		}
		if _, err := b.Add(Line{ID: 5000, Address: "a:1"}); err == nil || !strings.Contains(err.Error(), "the address book is full") {
			t.Errorf("%v", err)
		}
		if changed, err := b.Add(Line{ID: apart, Address: "b:1"}); !changed || err != nil {
			t.Errorf("a full book takes no move: %v", err)
		}
		for _, r := range b.Changed() {
			if len(r.Data) > storage.MaxData {
				t.Errorf("the record %s has %d bytes", r.Name, len(r.Data))
			}
		}
	}
}

// Two members fill the last place of their books with different identifiers at the same time. Both take both.
func TestTwoMembersThatFillTheLastPlaceAgree(t *testing.T) {
	var said strings.Builder
	var first Book
	for id := uint64(1); id < MostLines; id++ {
		if _, err := first.Add(Line{ID: id, Address: "a:1", Weight: 1}); err != nil {
			t.Fatal(err)
		}
	}
	var keepers [2]Keeper
	var added [2]Line
	for i := range keepers {
		b := first.Clone()
		keepers[i] = Keeper{Book: &b, Self: uint64(i + 1), Log: slog.New(slog.NewTextHandler(&said, nil))}
		id := uint64(MostLines + i)
		if _, err := b.Add(Line{ID: id, Address: "a:1", Weight: 1}); err != nil {
			t.Fatal(err)
		}
		added[i], _ = b.Line(id)
	}
	for i := range keepers {
		next, answer, ok := keepers[i].Hear(0, added[1-i].Append(nil))
		if next == nil || len(answer) > 0 || !ok {
			t.Fatalf("%+v is not taken", added[1-i])
		}
		keepers[i].Book = next
	}
	if one, other := keepers[0].Book.Lines(), keepers[1].Book.Lines(); !slices.Equal(one, other) || len(one) != MostLines+1 {
		t.Errorf("%d and %d lines", len(one), len(other))
	}
	if _, err := keepers[0].Book.Add(Line{ID: 5000, Address: "a:1"}); err == nil {
		t.Error("a command adds one more")
	}
	if said.Len() > 0 {
		t.Error(said.String())
	}
}

// Of more identifiers than a record has room for all members keep the same ones, in whatever order they hear of them, and also after a start.
func TestOfLinesThatHaveNoRoomTheSameOnesGo(t *testing.T) {
	ids := alike(perRecord + 4)
	property.CheckSome(t, 50, func(t *property.T) {
		var said strings.Builder
		k := Keeper{Book: &Book{}, Self: 1, Log: slog.New(slog.NewTextHandler(&said, nil))}
		for rest := slices.Concat(ids, ids); len(rest) > 0; {
			at := property.IntRange(0, len(rest)-1).Draw(t, "of")
			l := Line{ID: rest[at], Version: 1 << perAddition, Address: "a:1"}
			rest = slices.Delete(rest, at, at+1)
			next, answer, ok := k.Hear(0, l.Append(nil))
			if len(answer) > 0 || !ok {
				t.Fatalf("%+v, %v", answer, ok)
			}
			if next != nil {
				k.Book = next
			}
		}
		disk := storage.Memory()
		s, err := disk.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Save(k.Book.Changed()); err != nil {
			t.Fatal(err)
		}
		again, err := Load(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range []*Book{k.Book, &again} {
			var has []uint64
			for _, l := range b.Lines() {
				has = append(has, l.ID)
			}
			if !slices.Equal(has, ids[:perRecord]) {
				t.Errorf("%v stay of %v", has, ids)
			}
		}
		if _, err := k.Book.Add(Line{ID: ids[perRecord], Address: "a:1"}); err == nil {
			t.Error("a line that would go is added")
		}
		if strings.Count(said.String(), "\n") != len(ids)-perRecord {
			t.Errorf("each that goes is told once: %s", said.String())
		}
	})
}

// A book that an earlier version of the program has kept is read, and what has changed since is newer.
func TestABookOfAnEarlierVersionIsRead(t *testing.T) {
	s, err := storage.Memory().Open()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	one, other := Line{ID: 3, Version: 1 << perAddition, Address: "a:1"}, Line{ID: 19, Version: 1 << perAddition, Address: "b:1"}
	var data []byte
	for _, l := range []Line{one, other} {
		data = l.Append(append(data, byte(lineHead+len(l.Address))))
	}
	if err := s.Save([]storage.Record{{Name: "book 3", Data: data}}); err != nil {
		t.Fatal(err)
	}
	b, err := Load(s)
	if err != nil || !slices.Equal(b.Lines(), []Line{one, other}) {
		t.Fatalf("%+v, %v", b.Lines(), err)
	}
	if _, err := b.Remove(3, ""); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(b.Changed()); err != nil {
		t.Fatal(err)
	}
	again, err := Load(s)
	if err != nil || !slices.Equal(again.Lines(), b.Lines()) {
		t.Errorf("%+v becomes %+v: %v", b.Lines(), again.Lines(), err)
	}
}

func TestLinesThatNoMemberMakesAreRefused(t *testing.T) {
	good := Line{ID: 1, Version: 1 << perAddition, Address: "a:1", Weight: 3, Votes: true}
	if got, ok := Decode(good.Append(nil)); !ok || got != good {
		t.Errorf("%+v becomes %+v", good, got)
	}
	for name, l := range map[string]Line{
		"no member":           {Address: "a:1"},
		"no address":          {ID: 1},
		"a long address":      {ID: 1, Address: strings.Repeat("a", MaxAddress+1)},
		"a line feed":         {ID: 1, Address: "a:1\n"},
		"a space":             {ID: 1, Address: "a :1"},
		"not ASCII":           {ID: 1, Address: "é:1"},
		"a vote of no member": {ID: 1, Address: "a:1", Version: gone, Votes: true},
		"too many moves":      {ID: 1, Address: "a:1", Version: most},
		"too many additions":  {ID: 1, Address: "a:1", Version: most << perAddition},
	} {
		if got, ok := Decode(l.Append(nil)); ok {
			t.Errorf("%s: %+v", name, got)
		}
		if b := bookOf(l); len(b.Lines()) > 0 {
			t.Errorf("%s is taken", name)
		}
	}
	flags := good.Append(nil)
	flags[16] = 2
	if _, ok := Decode(flags); ok {
		t.Error("unknown flags are taken")
	}
	worn := Line{ID: 1, Version: most<<perAddition - 1<<perAddition, Address: "a:1"}
	b := bookOf(Line{ID: 1, Version: worn.Version | gone, Address: "a:1"})
	if _, err := b.Add(worn); err == nil || !strings.Contains(err.Error(), "changed too often") {
		t.Errorf("a version that no member could raise is made: %v", err)
	}
}

func FuzzLine(f *testing.F) {
	l := Line{ID: 1, Version: 2<<perAddition | gone, Address: "host:7001", Weight: 1}
	f.Add(l.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, ok := Decode(b)
		if !ok {
			return
		}
		if again := l.Append(nil); string(again) != string(b) {
			t.Errorf("%x reads as %+v, which is written as %x", b, l, again)
		}
	})
}

// fixed is a storage that is read.
type fixed struct {
	storage.Storage
	records map[string][]byte
}

func (f *fixed) Load(name string) ([]byte, error) { return f.records[name], nil }

func FuzzLoad(f *testing.F) {
	b := bookOf(Line{ID: 1, Address: "host:7001"}, Line{ID: 17, Address: "other:7001"})
	f.Add(b.Changed()[0].Data)
	f.Add([]byte{40, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := Load(&fixed{records: map[string][]byte{nameOf(1): data}})
		if err != nil {
			return
		}
		for i := range b.lines {
			b.dirty[recordOf(b.lines[i].ID)] = true
		}
		kept := map[string][]byte{}
		for _, r := range b.Changed() {
			kept[r.Name] = r.Data
		}
		again, err := Load(&fixed{records: kept})
		if err != nil || !reflect.DeepEqual(again.lines, b.lines) {
			t.Errorf("%x reads as %+v, and then as %+v: %v", data, b.lines, again.lines, err)
		}
	})
}

// Two processes have one identifier and different addresses: each hears of the other one, and would correct that for ever.
func TestALifeCorrectsItsOwnLineAFewTimes(t *testing.T) {
	k := Keeper{Book: &Book{}, Self: 4, Own: "here:1", Log: slog.New(slog.DiscardHandler)}
	corrected := 0
	for range 3 * mostCorrections {
		line, _ := k.Book.Line(4)
		line = Line{ID: 4, Version: line.Version.move(), Address: "there:1", Weight: 1}
		next, _, ok := k.Hear(0, line.Append(nil))
		if !ok || next == nil {
			t.Fatalf("%+v is not taken", line)
		}
		if mine, _ := next.Line(4); mine.Address == k.Own && mine.After(&line) {
			corrected++
		}
		k.Book = next
	}
	if corrected != mostCorrections {
		t.Errorf("a life corrected its line %d times, not %d", corrected, mostCorrections)
	}
}

// Two processes with one identifier change its line again and again: that is one state, and one line of the log.
func TestAMemberAtTwoAddressesInTurnIsToldOnce(t *testing.T) {
	var said strings.Builder
	k := Keeper{Book: &Book{}, Self: 1, Log: slog.New(slog.NewTextHandler(&said, nil))}
	now := time.Duration(0)
	at := func(address string, after time.Duration) {
		now += after
		before := k.Book.Clone()
		k.Moved(4, address)
		if _, err := k.Book.Add(Line{ID: 4, Address: address, Weight: 1}); err != nil {
			t.Fatal(err)
		}
		if news := k.News(&before, now); len(news) != 1 {
			t.Errorf("the news are %+v", news)
		}
	}
	counts := func(changed, moved, turns int) {
		t.Helper()
		got := said.String()
		if strings.Count(got, "has changed") != changed || strings.Count(got, "another address in the list") != moved || strings.Count(got, "at two addresses in turn") != turns {
			t.Errorf("%d, %d and %d lines are wanted: %s", changed, moved, turns, got)
		}
	}
	for range 20 {
		at("east:1", time.Second)
		at("west:1", time.Second)
	}
	counts(3, 4, 1) // it may move, and go back
	at("north:1", time.Second)
	counts(4, 4, 1)
	for range 3 {
		at("east:1", 2*soon)
		at("north:1", 2*soon)
	}
	counts(10, 10, 1)
	for range 3 { // it was elsewhere between two looks
		before := k.Book.Clone()
		for _, address := range []string{"south:1", "north:1"} {
			if _, err := k.Book.Move(4, address, 1, true); err != nil {
				t.Fatal(err)
			}
		}
		if news := k.News(&before, now); len(news) != 1 {
			t.Errorf("the news are %+v", news)
		}
	}
	counts(10, 10, 1)
	at("east:1", time.Second)
	at("north:1", time.Second)
	before := k.Book.Clone()
	if _, err := k.Book.Remove(4, ""); err != nil {
		t.Fatal(err)
	}
	k.News(&before, now)
	if !strings.HasSuffix(said.String(), "removed=true\n") {
		t.Errorf("a removal is not told: %s", said.String())
	}
}

// An operator whose command is lost is told so, at the member that had it.
func TestACommandThatIsLostIsTold(t *testing.T) {
	var said strings.Builder
	k := Keeper{Book: &Book{}, Self: 1, Log: slog.New(slog.NewTextHandler(&said, nil))}
	hear := func(l Line, lines int) {
		t.Helper()
		if next, _, _ := k.Hear(0, l.Append(nil)); next != nil {
			k.Book = next
		}
		if got := said.String(); strings.Count(got, "\n") != lines {
			t.Errorf("%d lines are wanted: %s", lines, got)
		}
	}
	hear(Line{ID: 4, Address: "a:1"}, 0)
	hear(Line{ID: 4, Address: "b:1"}, 0) // lists of hosts
	k.Book.Add(Line{ID: 4, Address: "east:1", Weight: 1, Votes: true})
	mine, _ := k.Book.Line(4)
	other := mine
	other.Address = "all:1" // loses, at the other member
	hear(other, 0)
	other.Address = "west:1"
	hear(other, 1)
	if want := "of=4 lost=east:1 lost_votes=true address=west:1 votes=true\n"; !strings.HasSuffix(said.String(), want) {
		t.Errorf("%q is wanted: %s", want, said.String())
	}
	hear(other, 1)
	other.Version, other.Address = other.Version.move(), "north:1"
	hear(other, 1) // a later command
}

// Each attempt has a port of its own, and the error of a connection has that in its text.
func TestASeedThatIsNoMemberIsToldOnce(t *testing.T) {
	var said strings.Builder
	k := Keeper{Book: &Book{}, Self: 4, Log: slog.New(slog.NewTextHandler(&said, nil))}
	for port := range 3 {
		for address, err := range map[string]error{"a:1": io.EOF, "b:1": net.ErrClosed} {
			if k.Meet(transport.Met{Address: address, Err: &net.OpError{Op: "read", Net: "tcp", Source: &net.TCPAddr{Port: 40000 + port}, Err: err}}) {
				t.Error("a stranger is met")
			}
		}
		k.Meet(transport.Met{Address: "c:1", Err: &net.DNSError{Name: "c", Server: "10.0.0.53:53", Err: fmt.Sprintf("read udp 10.0.0.1:%d->10.0.0.53:53: i/o timeout", 40000+port)}})
		k.Meet(transport.Met{Address: "d:1", Err: &net.DNSError{Name: "d", Server: "10.0.0.53:53", Err: "no such host"}})
	}
	got := said.String()
	if want := "lookup c on 10.0.0.53:53: i/o timeout"; !strings.Contains(got, fmt.Sprintf("join=c:1 error=%q\n", want)) {
		t.Errorf("%s\nwithout %q", got, want)
	}
	if strings.Count(got, "\n") != 4 || !strings.Contains(got, "join=a:1 error=EOF\n") || !strings.Contains(got, fmt.Sprintf("join=b:1 error=%q\n", errSilent)) {
		t.Error(got)
	}
}

// seeker is a transport that only seeks.
type seeker struct{ transport.Transport }

func (seeker) Seek(string) {}

// A name may lead to this member, too, which is no news. If it leads nowhere else, no other member is ever found.
func TestSeedsThatLeadToThisMemberOnlyAreToldOnce(t *testing.T) {
	for _, c := range []struct {
		others []transport.Met // that answer, besides this member
		told   string
	}{
		{nil, "no other member is found there yet\" join=a:1 error=\"this member itself is there\"\n"},
		{[]transport.Met{{Address: "b:1", ID: 2}}, ""},
		{[]transport.Met{{Address: "b:1", Err: io.EOF}}, "no other member is found there yet\" join=b:1 error=EOF\n"},
	} {
		var said strings.Builder
		k := Keeper{Book: &Book{}, Self: 4, Seeds: []string{"all:1"}, Log: slog.New(slog.NewTextHandler(&said, nil))}
		for second := range 3 {
			k.Seek(seeker{}, time.Duration(second)*seekEvery)
			k.Meet(transport.Met{Address: "a:1", ID: 4})
			for _, e := range c.others {
				k.Meet(e)
			}
		}
		if got := said.String(); !strings.HasSuffix(got, c.told) || (got == "") != (c.told == "") || strings.Count(got, "\n") > 1 {
			t.Errorf("it tells %q, want %q", got, c.told)
		}
	}
}

// A member that was removed may not know that yet when it is found. Its older line does not tell. When it has been told, it sends the line of its removal.
func TestAMemberThatHasLeftIsNoLongerPlacedWhenItKnows(t *testing.T) {
	k := Keeper{Book: &Book{}, Self: 4, Log: slog.New(slog.DiscardHandler)}
	before := Line{ID: 2, Version: Version(0).addition(), Address: "west:1", Weight: 1, Votes: true}
	k.Book.Take(before)
	k.Book.Remove(2, "")
	left, _ := k.Book.Line(2)
	placed := func(want int, from uint64, line Line) {
		t.Helper()
		next, _, _ := k.Hear(from, line.Append(nil))
		if got := len(k.Place(nil)); got != want || (next != nil) != (want == 0) {
			t.Errorf("%d members are placed, and %d are wanted; the list changes: %v", got, want, next != nil)
		}
	}
	found := func() bool { return k.Meet(transport.Met{ID: 2, Address: "west:1"}) }
	if !found() {
		t.Fatal("it is not found")
	}
	placed(1, 2, before)
	placed(1, 5, left) // another member may know no more than this one
	placed(0, 2, left)
	if found() {
		t.Error("it is found again at once")
	}
	k.due += soon
	if !found() {
		t.Error("it is not found a minute later")
	}
}
