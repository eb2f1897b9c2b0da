package book

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/study/finite"
	"ringleader.example/ringleader/internal/study/logic"
	"ringleader.example/ringleader/internal/study/models"
	"ringleader.example/ringleader/storage"
)

// The code is compared with proofs/address-book.model: each step of it must be made of actions of the model, whose guards and invariants are
// evaluated from the file of the model itself. The books are those of three members, and all that can happen to them happens in every order.

// keepers is the number of members. They are also those that books have lines of.
const keepers = 3

// site is a member with its disk.
type site struct {
	lines   string // of the book in memory, as a key
	book    Book
	disk    map[string][]byte
	place   [16]byte // durable, too
	own     string   // its address, as it knows itself; empty: the others know it
	pending []Line   // those that it has had since it saved last
	text    string   // of all that, for the key
}

// world is a state of the code, and beside it a state of the model. It is never changed.
type world struct {
	sites  [keepers]site
	sent   []Line // told by some member; each may come at any time, any number of times, or never
	told   string // of these, for the key
	left   [kinds]int
	model  *finite.State
	before *world
	step   string
	same   bool // as before: the step has changed nothing
}

// The kinds of steps that a scenario allows a number of.
const (
	commands = iota
	crashes
	moves
	backups
	kinds
)

// command is what an operator may do at a member.
type command struct {
	at   int // from 0
	text string
	do   func(b *Book) (bool, error)
}

func addition(at int, id uint64, address string, votes bool) command {
	return command{at, fmt.Sprintf("add %d %s", id, address), func(b *Book) (bool, error) {
		return b.Add(Line{ID: id, Address: address, Weight: 1, Votes: votes})
	}}
}

func removal(at int, id uint64) command {
	return command{at, fmt.Sprintf("remove %d", id), func(b *Book) (bool, error) { return b.Remove(id, "a:1") }}
}

func withoutVote(at int, id uint64) command {
	return command{at, fmt.Sprintf("%d without vote", id), func(b *Book) (bool, error) { return b.Wish(id, false) }}
}

var long = flag.Bool("long", false, "compare the states of the largest scenario with every history that leads there")

// exchange is a scenario.
type exchange struct {
	lists    []Line // of hosts
	own      [keepers]string
	commands []command
	left     [kinds]int
	most     int  // lines that a command fills; 0: MostLines
	backup   int  // the site that is put back, to its first disk
	lean     bool // a state of the code is compared with the history of the first run that leads there, and not with every one
	large    bool // it is lean, unless -long is given
}

var exchanges = map[string]exchange{
	"one identifier is added at two members at once": {
		large:    true,
		commands: []command{addition(0, 3, "a:1", true), addition(1, 3, "b:1", true), removal(0, 3), removal(1, 3)},
		left:     [kinds]int{commands: 3},
	},
	"a member of the lists moves, is removed and comes back": {
		lean:  true,
		lists: []Line{{ID: 3, Address: "a:1", Weight: 1}}, own: [keepers]string{2: "a:1"},
		commands: []command{removal(0, 3), addition(1, 3, "a:1", true)},
		left:     [kinds]int{commands: 2, moves: 1},
	},
	"commands while members crash": {
		lean:     true,
		commands: []command{addition(0, 3, "a:1", true), addition(0, 3, "b:1", true), removal(1, 3), withoutVote(1, 3)},
		left:     [kinds]int{commands: 3, crashes: 1},
	},
	"a member corrects where it is": {
		own:      [keepers]string{2: "c:1"},
		commands: []command{addition(0, 3, "a:1", true), removal(1, 3)},
		left:     [kinds]int{commands: 2, crashes: 1},
	},
	"the directory of a member that was removed is put back": {
		own:      [keepers]string{2: "c:1"},
		commands: []command{addition(0, 3, "c:1", true), removal(0, 3)},
		left:     [kinds]int{commands: 2, backups: 1}, backup: 2, lean: true,
	},
	"the directory of a member that has moved is put back": {
		own:      [keepers]string{2: "c:1"},
		commands: []command{addition(0, 3, "c:1", true)},
		left:     [kinds]int{commands: 1, moves: 1, backups: 1}, backup: 2, lean: true,
	},
	"two identifiers": {
		commands: []command{addition(0, 2, "a:1", true), removal(1, 2), addition(2, 3, "a:1", false)},
		left:     [kinds]int{commands: 3},
	},
	"two members fill the last place": {
		most:     1,
		commands: []command{addition(0, 2, "a:1", true), addition(1, 3, "a:1", true), removal(0, 3)},
		left:     [kinds]int{commands: 3, crashes: 1}, lean: true,
	},
}

// explorer visits all states of a scenario.
type explorer struct {
	*exchange
	mutant string

	model          *logic.Model
	lines          []Line
	addresses      []string
	interpretation *finite.Interpretation // nil: it collects the lines

	happened map[string]int // actions of the model
	states   int
	ties     int // states in which two members hold different lines of one version
	full     int // commands that find a full book
	beyond   int // states in which a member has more lines than a command fills
}

// key tells states apart. The parts of a state that a step has not changed have their texts from before.
func (x *explorer) key(w *world) string {
	key := fmt.Sprint(w.left)
	for i := range w.sites {
		s := &w.sites[i]
		if was := w.before; was != nil && s.same(&was.sites[i]) {
			s.text = was.sites[i].text
		} else {
			s.text = fmt.Sprint(s.lines, s.own, s.place[0], s.pending)
			for _, name := range slices.Sorted(maps.Keys(s.disk)) {
				s.text += fmt.Sprintf("%s %x ", name, s.disk[name])
			}
		}
		key += s.text + "|"
	}
	if was := w.before; was != nil && len(was.sent) == len(w.sent) {
		w.told = was.told
	} else {
		w.told = fmt.Sprint(w.sent)
	}
	key += w.told
	if w.model != nil && !x.lean {
		key += w.model.Key()
	}
	return key
}

// same reports whether a site is as it was: what changes it makes another disk, or changes one of the others.
func (s *site) same(was *site) bool {
	return was.text != "" && s.lines == was.lines && s.own == was.own && s.place == was.place && slices.Equal(s.pending, was.pending) &&
		maps.EqualFunc(s.disk, was.disk, slices.Equal[[]byte])
}

// mirror is a disk that is read.
type mirror struct {
	storage.Storage
	records map[string][]byte
}

func (m mirror) Load(name string) ([]byte, error) { return m.records[name], nil }

// failure is a step of the code that the model does not allow.
type failure struct{ text string }

func (x *explorer) fail(w *world, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	var steps []string
	for ; w != nil; w = w.before {
		steps = append(steps, w.step)
	}
	slices.Reverse(steps)
	panic(failure{text + " after" + strings.Join(steps, "\n")})
}

// explore visits all states, and returns what the code does that the model does not allow.
func (x *explorer) explore() (failed string) {
	defer func() {
		if r := recover(); r != nil {
			f, ours := r.(failure)
			if !ours {
				panic(r)
			}
			failed = f.text
		}
	}()
	first := &world{left: x.left}
	for i := range first.sites {
		s := &first.sites[i]
		s.book.most = x.most
		s.own, s.disk = x.own[i], map[string][]byte{}
		if s.own != "" {
			x.arrive(i, s, func(string, ...int) {})
		}
	}
	if x.interpretation != nil {
		first.model = x.interpretation.Initial()
	}
	seen, queue := map[string]bool{x.key(first): true}, []*world{first}
	for len(queue) > 0 {
		w := queue[0]
		queue = queue[1:]
		x.states++
		x.check(w)
		for _, next := range x.after(w) {
			if key := x.key(next); !seen[key] {
				seen[key] = true
				queue = append(queue, next)
			}
		}
	}
	return ""
}

// after returns the states after one step.
func (x *explorer) after(w *world) (all []*world) {
	step := func(kind int, text string, do func(n *world, act func(string, ...int))) {
		n := &world{sites: w.sites, sent: slices.Clip(w.sent), left: w.left, model: w.model, before: w, step: text}
		if kind < kinds {
			if n.left[kind]--; n.left[kind] < 0 {
				return
			}
		}
		do(n, func(action string, args ...int) { x.act(n, action, args...) })
		if !n.same {
			all = append(all, n)
		}
	}
	for _, l := range x.lists {
		if !slices.Contains(w.sent, l) {
			step(kinds, fmt.Sprintf("a list has %+v", l), func(n *world, act func(string, ...int)) {
				act("list", x.line(l))
				n.tell(l)
			})
		}
	}
	for _, c := range x.commands {
		step(commands, fmt.Sprintf("%s at %d", c.text, c.at+1), func(n *world, act func(string, ...int)) { x.command(c, n, act) })
	}
	for i := range keepers {
		at := fmt.Sprintf(" at %d", i+1)
		if len(w.sites[i].pending) > 0 {
			step(kinds, "save"+at, func(n *world, act func(string, ...int)) { x.save(i, n, act) })
			step(crashes, "crash"+at, func(n *world, act func(string, ...int)) {
				act("crash", i)
				n.sites[i].pending = nil
				x.load(n, i)
				x.arrive(i, &n.sites[i], act)
			})
		}
		if w.sites[i].own != "" {
			step(moves, "another address"+at, func(n *world, act func(string, ...int)) {
				x.save(i, n, act)
				n.sites[i].own = "d:1"
				x.load(n, i)
				x.arrive(i, &n.sites[i], act)
			})
		}
		for _, l := range w.sent {
			step(kinds, fmt.Sprintf("%+v comes%s", l, at), func(n *world, act func(string, ...int)) { x.hear(i, l, n, act) })
		}
	}
	step(backups, "a backup", func(n *world, act func(string, ...int)) {
		s := &n.sites[x.backup]
		for _, l := range s.book.Lines() {
			act("forget", x.backup, int(l.ID)-1)
		}
		s.disk, s.pending, s.place = map[string][]byte{}, nil, [16]byte{}
		x.load(n, x.backup)
		x.arrive(x.backup, s, act)
	})
	return all
}

// tell puts a line on its way.
func (w *world) tell(l Line) {
	if !slices.Contains(w.sent, l) {
		w.sent = append(w.sent, l)
		slices.SortFunc(w.sent, func(a, b Line) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
}

// put takes a book that the code has made, and owes the others the line of a member.
func (w *world) put(i int, b Book, changed uint64) {
	s := &w.sites[i]
	s.book, s.lines = b, fmt.Sprint(b.Lines())
	if l, known := b.Line(changed); known {
		s.owe(l)
	}
}

// owe notes a line that is told as soon as it is durable.
func (s *site) owe(l Line) {
	if !slices.Contains(s.pending, l) {
		s.pending = append(slices.Clip(s.pending), l)
	}
}

func (x *explorer) command(c command, n *world, act func(string, ...int)) {
	next := n.sites[c.at].book.Clone()
	changed, err := c.do(&next)
	if errors.Is(err, errFull) && len(next.Lines()) >= cmp.Or(x.most, MostLines) {
		x.full++
		n.same = true
		return
	}
	if err != nil {
		x.fail(n, "%v", err)
	}
	for _, l := range next.Lines() {
		before, known := n.sites[c.at].book.Line(l.ID)
		if l == before {
			continue
		}
		if !changed {
			x.fail(n, "%+v becomes %+v, and the command says that nothing has changed", before, l)
		}
		if x.mutant == "a removal is a move" && l.Version.Removed() {
			next.lines[slices.Index(next.lines, l)].Version = before.Version.move()
			l.Version = before.Version.move()
		}
		if x.mutant == "an addition is a move" && before.Version.Removed() {
			next.lines[slices.Index(next.lines, l)].Version = before.Version&^gone + 1
			l.Version = before.Version&^gone + 1
		}
		switch {
		case strings.HasPrefix(c.text, "remove"):
			act("remove", c.at, x.line(l))
		case !known || before.Version.Removed():
			act("add", c.at, x.line(l))
		default:
			act("place", c.at, x.line(l))
		}
		n.put(c.at, next, l.ID)
		if x.mutant == "a line is told before it is durable" {
			act("tell", c.at, x.line(l))
			n.tell(l)
		}
	}
}

// save makes the book durable. Then all lines go out that the member has had since it saved before: those on their way may come in any order, or never.
func (x *explorer) save(i int, n *world, act func(string, ...int)) {
	s := &n.sites[i]
	s.disk = maps.Clone(s.disk)
	s.book = s.book.Clone()
	for _, r := range s.book.Changed() {
		s.disk[r.Name] = r.Data
	}
	act("save", i)
	for _, l := range s.pending {
		act("tell", i, x.line(l))
		n.tell(l)
	}
	s.pending = nil
}

func (x *explorer) load(n *world, i int) {
	s := &n.sites[i]
	b, err := Load(mirror{records: s.disk})
	if err != nil {
		x.fail(n, "%v", err)
	}
	b.most = x.most
	s.book, s.lines = b, fmt.Sprint(b.Lines())
}

// arrive begins a life. What it changes is durable before another member hears of it.
func (x *explorer) arrive(i int, s *site, act func(string, ...int)) {
	b := s.book.Clone()
	id := uint64(i + 1)
	k := Keeper{Book: &b, Self: id, Own: s.own, Log: slog.New(slog.DiscardHandler)}
	if err := k.Arrive(mirror{records: s.disk}, 1, &s.place); err != nil {
		panic(err)
	}
	b.most = x.most
	now, _ := b.Line(id)
	if before, _ := s.book.Line(id); now != before {
		act("move", i, x.line(now))
		s.owe(now)
	} else if x.mutant == "a move brings back" && before.Version.Removed() {
		now = Line{ID: id, Version: before.Version.addition(), Address: s.own, Weight: 1}
		b.Take(now)
		act("move", i, x.line(now))
	}
	s.book, s.lines = b, fmt.Sprint(b.Lines())
}

// hear lets a line come.
func (x *explorer) hear(i int, l Line, n *world, act func(string, ...int)) {
	s := &n.sites[i]
	b := s.book.Clone()
	k := Keeper{Book: &b, Self: uint64(i + 1), Own: s.own, Log: slog.New(slog.DiscardHandler)}
	next, answer, ok := k.Hear(0, l.Append(nil))
	mine, known := s.book.Line(l.ID)
	if x.mutant == "the first line of a version stays" && next != nil && mine.Version == l.Version && known {
		next = nil
	}
	if x.mutant == "the last line of a version counts" && next == nil && mine.Version == l.Version && mine != l {
		next = &Book{lines: slices.Clone(b.lines), most: x.most}
		for n := range next.dirty {
			next.dirty[n] = true
		}
		next.lines[slices.Index(next.lines, mine)] = l
	}
	switch {
	case !ok:
		x.fail(n, "%+v is no line", l)
	case next == nil:
		was := n.model
		act("refuse", i, x.line(l))
		n.same = was == nil || n.model.Equal(was) // so it need not be looked up among all states
		if len(answer) > 0 && answer[0] != mine || (len(answer) > 0) != mine.After(&l) {
			x.fail(n, "the answer is %+v, and the line %+v", answer, mine)
		}
		return
	}
	act("take", i, x.line(l))
	n.put(i, *next, 0)
	s.owe(l)
	if now, _ := next.Line(l.ID); now != l {
		act("move", i, x.line(now))
		s.owe(now)
	}
}

// line returns the number of a line in the model.
func (x *explorer) line(l Line) int {
	at := slices.Index(x.lines, l)
	if at < 0 {
		if x.interpretation != nil {
			panic(failure{fmt.Sprintf("no run before had the line %+v", l)})
		}
		x.lines = append(x.lines, l)
	}
	return at
}

// act makes an action of the model.
func (x *explorer) act(n *world, action string, args ...int) {
	if x.interpretation == nil {
		return
	}
	a := x.model.Action(action)
	if g := x.interpretation.Prevents(a, n.model, args...); g > 0 {
		x.fail(n, "(%s %v): guard %d: %s", action, args, g, a.Guards[g-1].Words)
	}
	n.model = x.interpretation.After(a, n.model, args...)
	x.happened[action]++
}

// check compares a state of the code with that of the model, in which all invariants hold.
func (x *explorer) check(w *world) {
	for a := range keepers {
		if len(w.sites[a].book.Lines()) > cmp.Or(x.most, MostLines) {
			x.beyond++
		}
		for b := range a {
			for p := range uint64(keepers) {
				one, knows := w.sites[a].book.Line(p + 1)
				other, known := w.sites[b].book.Line(p + 1)
				if knows && known && one.Version == other.Version && one != other {
					x.ties++
				}
			}
		}
	}
	if x.interpretation == nil {
		return
	}
	if broken := x.interpretation.Broken(w.model); len(broken) > 0 {
		x.fail(w, "invariants do not hold: %s", logic.Names(broken))
	}
	value := func(name string, args ...int) int {
		return x.interpretation.Value(w.model, x.model.State(name), args...)
	}
	for m := range w.sites {
		disk, err := Load(mirror{records: w.sites[m].disk})
		if err != nil {
			x.fail(w, "%v", err)
		}
		for p := range keepers {
			for _, of := range []struct {
				has, line string
				book      *Book
			}{{"knows", "held", &w.sites[m].book}, {"keeps", "kept", &disk}} {
				l, known := of.book.Line(uint64(p + 1))
				if known != (value(of.has, m, p) == 1) || known && value(of.line, m, p) != x.line(l) {
					x.fail(w, "member %d: of member %d the code has %+v, and the model another line", m+1, p+1, l)
				}
			}
		}
	}
	for l := range x.lines {
		if (value("sent", l) == 1) != slices.Contains(w.sent, x.lines[l]) {
			x.fail(w, "%+v is on its way in one only", x.lines[l])
		}
	}
}

// collected makes the model of the lines that were collected. The order of two lines of one version is written here again, by their fields.
func (x *explorer) collected() (err error) {
	order := slices.Clone(x.lines)
	slices.SortFunc(order, func(a, b Line) int {
		vote := map[bool]int{true: 1}
		return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Weight, b.Weight), cmp.Compare(vote[a.Votes], vote[b.Votes]))
	})
	rank := func(l Line) int {
		return slices.IndexFunc(order, func(o Line) bool { return o.Address == l.Address && o.Weight == l.Weight && o.Votes == l.Votes })
	}
	var all []models.BookLine
	for _, l := range x.lines {
		if !slices.Contains(x.addresses, l.Address) {
			x.addresses = append(x.addresses, l.Address)
		}
		made := models.BookLine{
			Of: int(l.ID) - 1, Additions: int(l.Version >> perAddition), Removed: l.Version.Removed(),
			Address: slices.Index(x.addresses, l.Address), Order: rank(l),
		}
		if !made.Removed {
			made.Moves = int(l.Version & gone)
		}
		all = append(all, made)
	}
	names := []string{"1", "2", "3"}
	x.interpretation, err = models.Books(x.model, names, all, x.addresses)
	return err
}

// exploreAll visits all states twice: the model has all lines from the beginning.
func exploreAll(t *testing.T, e exchange, mutant string) (x *explorer, failed string) {
	t.Helper()
	m, err := models.Load("address-book")
	if err != nil {
		t.Fatal(err)
	}
	x = &explorer{exchange: &e, mutant: mutant, model: m, happened: map[string]int{}}
	if failed := x.explore(); failed != "" {
		return x, failed
	}
	if err := x.collected(); err != nil {
		t.Fatal(err)
	}
	x.states, x.ties, x.full, x.beyond = 0, 0, 0, 0
	return x, x.explore()
}

// Each step of the code is made of actions of the model, in every state, and all invariants hold.
func TestEveryExchangeRefinesTheModel(t *testing.T) {
	if testing.Short() {
		t.Skip("it visits many states, in one goroutine")
	}
	happened, ties := map[string]int{}, 0
	for _, name := range slices.Sorted(maps.Keys(exchanges)) {
		e := exchanges[name]
		e.lean = e.lean || e.large && !*long
		x, failed := exploreAll(t, e, "")
		if failed != "" {
			t.Errorf("%s: %s", name, failed)
		}
		t.Logf("%s: %d states, %d lines, %d pairs of one version, %v", name, x.states, len(x.lines), x.ties, x.happened)
		ties += x.ties
		if e.most > 0 && (x.full == 0 || x.beyond == 0) {
			t.Errorf("%s: a full book refuses a command %d times, and is filled beyond %d times", name, x.full, x.beyond)
		}
		for action, n := range x.happened {
			happened[action] += n
		}
	}
	for _, action := range []string{"list", "add", "place", "move", "remove", "save", "tell", "take", "refuse", "crash", "forget"} {
		if happened[action] == 0 {
			t.Errorf("%s never happens", action)
		}
	}
	if ties == 0 {
		t.Error("no two commands make lines of one version, so nothing is said of them")
	}
}

// What the code does right is done wrong here, one thing at a time. Each is found.
func TestMutantsDoNotRefineTheModel(t *testing.T) {
	if testing.Short() {
		t.Skip("it visits many states, in one goroutine")
	}
	for mutant, where := range map[string]struct {
		exchange string
		commands int
		guard    string
	}{
		"a line is told before it is durable": {"commands while members crash", 2, "guard 1: the line is durable, or a newer one is"},
		"an addition is a move":               {"one identifier is added at two members at once", 3, "guard 2: it is one addition more"},
		"a removal is a move":                 {"one identifier is added at two members at once", 2, "guard 2: the line is a removal"},
		"a move brings back":                  {"a member of the lists moves, is removed and comes back", 2, "guard 2: it was not removed"},
		"the first line of a version stays":   {"one identifier is added at two members at once", 2, "guard 3: the one that has come is not after it"},
		"the last line of a version counts":   {"one identifier is added at two members at once", 2, "guard 2: it is after the one that the member has"},
	} {
		e := exchanges[where.exchange]
		e.left[commands], e.lean = where.commands, true
		if x, failed := exploreAll(t, e, mutant); !strings.Contains(failed, where.guard) {
			t.Errorf("%s: %d states, and what is found is %q", mutant, x.states, failed)
		}
	}
}

// The order of lines is total: the assumption total-order of the model.
func TestOfTwoLinesOneIsAfterTheOther(t *testing.T) {
	var all []Line
	for _, version := range []Version{0, 1, 2, gone, 1 << perAddition, 1<<perAddition | 1, 1<<perAddition | gone} {
		for _, address := range []string{"a:1", "b:1"} {
			for weight := range uint16(2) {
				all = append(all, Line{1, version, address, weight, false}, Line{1, version, address, weight, true})
			}
		}
	}
	for i := range all {
		for j := range all {
			if all[i].After(&all[j]) == all[j].After(&all[i]) != (i == j) {
				t.Errorf("%+v and %+v", all[i], all[j])
			}
			for k := range all {
				if all[i].After(&all[j]) && all[j].After(&all[k]) && !all[i].After(&all[k]) {
					t.Errorf("%+v, %+v and %+v", all[i], all[j], all[k])
				}
			}
		}
	}
}
