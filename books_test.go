package ringleader_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/internal/serve/book"
	"ringleader.example/ringleader/internal/study/finite"
	"ringleader.example/ringleader/internal/study/logic"
	"ringleader.example/ringleader/internal/study/models"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport/transporttest"

	"ringleader.example/ringleader"
)

// noted is a line that became durable at a member, in the order in which that happened to all.
type noted struct {
	at   uint64
	line book.Line
}

// library notes what becomes durable in the books of all members, and which commands were given.
type library struct {
	mu      sync.Mutex
	books   map[uint64]map[string][]byte
	noted   []noted
	ordered map[[2]uint64]int // at a member, of a member: commands so far
	fails   map[uint64]int    // saves that are to fail
}

// watch notes the saves of a member.
func (l *library) watch(id uint64, disk *storage.Disk) {
	disk.Intercept(func(records []storage.Record) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.fails[id] > 0 {
			l.fails[id]--
			return errors.New("no space")
		}
		before := l.read(id)
		for _, r := range records {
			if strings.HasPrefix(r.Name, "book ") {
				if l.books[id] == nil {
					l.books[id] = map[string][]byte{}
				}
				l.books[id][r.Name] = slices.Clone(r.Data)
			}
		}
		after := l.read(id)
		for _, line := range after.Lines() {
			if was, known := before.Line(line.ID); !known || was != line {
				l.noted = append(l.noted, noted{id, line})
			}
		}
		return nil
	})
}

// shelf is a book as a store has it.
type shelf struct {
	storage.Storage
	records map[string][]byte
}

func (s shelf) Load(name string) ([]byte, error) { return s.records[name], nil }

func (l *library) read(id uint64) book.Book {
	b, err := book.Load(shelf{records: l.books[id]})
	if err != nil {
		panic(err)
	}
	return b
}

// Members run with their loops, disks and connections, and are added, moved, removed, cut off and restarted at random, while writes fail. What becomes durable
// in their books is a run of the model, in which all invariants hold.
func TestBooksOfRealMembersRefineTheModel(t *testing.T) {
	t.Parallel()
	happened := map[string]int{}
	seeds := uint64(6)
	if testing.Short() {
		seeds = 1 // for races
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			l := &library{books: map[uint64]map[string][]byte{}, ordered: map[[2]uint64]int{}, fails: map[uint64]int{}}
			synctest.Test(t, func(t *testing.T) { random(t, l, rand.New(rand.NewPCG(seed, 7))) })
			replay(t, l, happened)
		})
	}
	t.Log(happened)
	for _, action := range []string{"add", "place", "move", "remove", "save", "tell", "take"} {
		if happened[action] == 0 && !testing.Short() {
			t.Errorf("%s never happens", action)
		}
	}
}

// random runs a group of four members for a while.
func random(t *testing.T, l *library, r *rand.Rand) {
	c := &town{t, transporttest.NewLAN(), map[uint64]*storage.Disk{}, map[uint64]*ringleader.Member{}, map[uint64]*diary{}}
	places := map[uint64]string{}
	for id := uint64(1); id <= 4; id++ {
		places[id] = home(id)
		c.disks[id] = storage.Memory()
		l.watch(id, c.disks[id])
	}
	start := func(id uint64) {
		if id == 4 {
			c.join(id, places[id], places[id], places[1+r.Uint64N(3)])
		} else {
			c.found(id, places[id])
		}
	}
	for id := range uint64(4) {
		start(id + 1)
	}
	for range 40 {
		at, of := 1+r.Uint64N(4), 1+r.Uint64N(4)
		command := func(do func(*ringleader.Member) error) {
			l.mu.Lock()
			l.ordered[[2]uint64{at, of}]++
			l.mu.Unlock()
			if m := c.members[at]; m != nil && at != of {
				go do(m) // it waits while writes fail
			}
		}
		switch r.IntN(7) {
		case 0, 1:
			address := []string{places[of], fmt.Sprintf("else%d:1", of)}[r.IntN(2)]
			command(func(m *ringleader.Member) error {
				return m.AddAddress(ringleader.MemberAddress{ID: of, Address: address})
			})
		case 2:
			if of > 2 { // two founders stay
				command(func(m *ringleader.Member) error { return m.RemoveAddress(of) })
			}
		case 3:
			c.network.Cut(places[at], places[of])
		case 4:
			c.network.Mend()
		case 5:
			l.mu.Lock()
			l.fails[at] = r.IntN(20)
			l.mu.Unlock()
		case 6:
			c.stop(at)
			if r.IntN(2) == 0 {
				places[at] = fmt.Sprintf("host%d:%d", at, 2+r.IntN(2))
			}
			l.mu.Lock()
			l.fails[at] = 0
			l.mu.Unlock()
			start(at)
		}
		time.Sleep(time.Duration(r.IntN(3000)) * time.Millisecond)
		synctest.Wait()
	}
	c.network.Mend()
	l.mu.Lock()
	clear(l.fails)
	l.mu.Unlock()
	time.Sleep(15 * time.Second)
	l.mu.Lock()
	one, two := l.read(1), l.read(2)
	l.mu.Unlock()
	if !slices.Equal(one.Changes(), two.Changes()) {
		t.Errorf("members 1 and 2, which were never removed, have the books\n%+v\n%+v", one.Lines(), two.Lines())
	}
	for id := range c.members {
		c.stop(id)
	}
	synctest.Wait()
}

// replayed is a run of the model that is made of what was noted.
type replayed struct {
	*finite.Interpretation
	lines    []book.Line
	ordered  map[[2]uint64]int
	state    *finite.State
	happened map[string]int
}

// replay makes what was noted in the model.
func replay(t *testing.T, l *library, happened map[string]int) {
	t.Helper()
	m, err := models.Load("address-book")
	if err != nil {
		t.Fatal(err)
	}
	r := &replayed{ordered: l.ordered, happened: happened}
	for _, n := range l.noted {
		if !slices.Contains(r.lines, n.line) {
			r.lines = append(r.lines, n.line)
		}
	}
	if r.Interpretation, err = interpreted(m, r.lines); err != nil {
		t.Fatal(err)
	}
	r.state = r.Initial()
	for k, n := range l.noted {
		at, line := int(n.at-1), slices.Index(r.lines, n.line)
		err := r.keeps(n, line)
		if err == nil {
			err = errors.Join(r.act("save", at), r.act("tell", at, line))
		}
		if err != nil {
			t.Fatalf("member %d keeps %+v: %v: step %d of\n%+v", n.at, n.line, err, k, l.noted[:k+1])
		}
		if broken := r.Broken(r.state); len(broken) > 0 {
			t.Fatalf("%s: step %d", logic.Names(broken), k)
		}
	}
}

func (r *replayed) act(name string, args ...int) error {
	a := r.Model.Action(name)
	if g := r.Prevents(a, r.state, args...); g > 0 {
		return fmt.Errorf("(%s %v): guard %d: %s", name, args, g, a.Guards[g-1].Words)
	}
	r.state = r.After(a, r.state, args...)
	r.happened[name]++
	return nil
}

func (r *replayed) value(name string, args ...int) int {
	return r.Value(r.state, r.Model.State(name), args...)
}

// keeps makes that a member has a line: one of another member, or its own, or that of a command.
func (r *replayed) keeps(n noted, line int) error {
	at, of := int(n.at-1), int(n.line.ID-1)
	switch {
	case r.value("sent", line) == 1:
		return r.act("take", at, line)
	case n.line.Version == 0:
		return errors.Join(r.act("list", line), r.act("take", at, line))
	}
	// It may have taken the line before this one, and saved both at once.
	for k, l := range r.lines {
		if l.ID == n.line.ID && l.Version+1 == n.line.Version && r.value("sent", k) == 1 && r.Prevents(r.Model.Action("take"), r.state, at, k) == 0 {
			if err := r.act("take", at, k); err != nil {
				return err
			}
			break
		}
	}
	there := r.value("knows", at, of) == 1 && !r.lines[r.value("held", at, of)].Version.Removed()
	switch {
	case at == of:
		return r.act("move", at, line)
	case r.ordered[[2]uint64{n.at, n.line.ID}] == 0:
		return errors.New("no other one had it, and there was no command")
	case n.line.Version.Removed():
		return r.act("remove", at, line)
	case there:
		return r.act("place", at, line)
	}
	return r.act("add", at, line)
}

// interpreted returns the model with these lines.
func interpreted(m *logic.Model, lines []book.Line) (*finite.Interpretation, error) {
	var addresses []string
	var all []models.BookLine
	for _, l := range lines {
		if !slices.Contains(addresses, l.Address) {
			addresses = append(addresses, l.Address)
		}
		order := 0
		for _, other := range lines {
			if other.ID, other.Version = l.ID, l.Version; l.After(&other) {
				order++
			}
		}
		all = append(all, models.BookLine{Of: int(l.ID - 1), Address: slices.Index(addresses, l.Address), Order: order})
	}
	for k, l := range lines {
		all[k].Additions, all[k].Removed = int(l.Version>>32), l.Version.Removed()
		if !l.Version.Removed() {
			all[k].Moves = int(l.Version & (1<<32 - 1))
		}
	}
	return models.Books(m, []string{"1", "2", "3", "4"}, all, addresses)
}
