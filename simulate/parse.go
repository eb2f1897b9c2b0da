package simulate

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// Lines are the faults as text, a line each, which a [FaultReader] reads back as the same faults. Processes go
// by their identifiers; by identifier@position where several have the same; by position where there are none.
func (f *Faults) Lines(p *network.Instance) []string {
	var lines []string
	w := newWriter(p)
	if len(f.Dead) > 0 {
		lines = append(lines, "dead "+w.list(f.Dead))
	}
	for _, c := range f.Crashes {
		lines = append(lines, w.crash(c))
	}
	for _, r := range f.Recoveries {
		lines = append(lines, w.recovery(r))
	}
	for i := range f.Cuts {
		lines = append(lines, w.cut(&f.Cuts[i]))
	}
	for i := range f.Slow {
		lines = append(lines, w.slow(&f.Slow[i]))
	}
	for i := range f.Suspicions {
		lines = append(lines, w.suspicion(&f.Suspicions[i]))
	}
	for i := range f.Drifts {
		lines = append(lines, w.drift(&f.Drifts[i]))
	}
	if f.Lose.Times > 0 {
		lines = append(lines, "lose "+f.Lose.String())
	}
	if f.Duplicate.Times > 0 {
		lines = append(lines, "duplicate "+f.Duplicate.String())
	}
	if f.Unordered {
		lines = append(lines, "reorder")
	}
	if f.Random.any() {
		lines = append(lines, f.Random.String())
	}
	return lines
}

// writer knows what processes are called.
type writer struct {
	p        *network.Instance
	repeated map[uint64]bool // identifiers that several have; nil until somebody asks
}

func newWriter(p *network.Instance) *writer { return &writer{p: p} }

func (w *writer) name(position int) string {
	switch {
	case position < 0 || position >= w.p.Size():
		return fmt.Sprintf("@%d", position)
	case w.p.Anonymous():
		return strconv.Itoa(position)
	case w.repeated == nil:
		w.repeated = map[uint64]bool{}
		seen := make(map[uint64]bool, w.p.Size())
		for q := range w.p.Size() {
			id := w.p.Real(q)
			if seen[id] {
				w.repeated[id] = true
			}
			seen[id] = true
		}
	}
	id := w.p.Real(position)
	if w.repeated[id] {
		return fmt.Sprintf("%d@%d", id, position)
	}
	return strconv.FormatUint(id, 10)
}

func (w *writer) list(positions []int) string {
	names := make([]string, len(positions))
	for i, q := range positions {
		names[i] = w.name(q)
	}
	return strings.Join(names, ",")
}

func (w *writer) crash(c Crash) string {
	line := fmt.Sprintf("crash %s at %s", w.name(c.Process), c.At)
	if c.Amid {
		line += fmt.Sprintf(" after %d sends", c.Sends)
		if c.Sends == 1 {
			line = strings.TrimSuffix(line, "s")
		}
	}
	return line
}

func (w *writer) recovery(r Fault) string {
	return fmt.Sprintf("recover %s at %s", w.name(r.Process), r.At)
}

func (w *writer) cut(c *Cut) string { return w.what(c) + lasting(c.At, c.Until) }

// what is a cut without its times.
func (w *writer) what(c *Cut) string {
	groups := make([]string, len(c.Groups))
	for g, group := range c.Groups {
		groups[g] = w.list(group)
	}
	if c.OneWay {
		return "cut " + strings.Join(groups, " -> ")
	}
	return "partition " + strings.Join(groups, " | ")
}

func (w *writer) slow(s *Slow) string { return s.what(w.name(s.Process)) + lasting(s.At, s.Until) }

// what is a slowness without its times.
func (s *Slow) what(name string) string {
	if s.Factor == 0 {
		return "pause " + name
	}
	return fmt.Sprintf("slow %s by %d", name, s.Factor)
}

func (w *writer) suspicion(s *Suspicion) string {
	return fmt.Sprintf("suspect %s of %s", w.name(s.Process), w.name(s.Of)) + lasting(s.At, s.Until)
}

func (w *writer) drift(d *Drift) string {
	return fmt.Sprintf("drift %s by %s", w.name(d.Process), Chance{d.Times, d.Of})
}

func lasting(at, until election.Ticks) string {
	if until.IsZero() {
		return " from " + at.String()
	}
	return fmt.Sprintf(" from %s until %s", at, until)
}

// String is the chance as a fraction.
func (c Chance) String() string {
	if c.Of == 1 {
		return strconv.FormatUint(c.Times, 10)
	}
	return fmt.Sprintf("%d/%d", c.Times, c.Of)
}

// ParseChance reads a probability, such as 1/10 or 0.1.
func ParseChance(text string) (Chance, error) {
	times, of, ok := ratio(text)
	if c := (Chance{times, of}); ok && c.possible() {
		return c, nil
	}
	return Chance{}, fmt.Errorf("a chance is from 0 to 1, such as 1/10 or 0.1, not %.40q", text)
}

// ratio reads a number of at least 0 as a fraction.
func ratio(text string) (times, of uint64, ok bool) {
	const longest = 41 // two numbers below 2⁶⁴ and what is between them
	if len(text) > longest || strings.Trim(text, "0123456789./") != "" {
		return 0, 0, false
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok || !r.Num().IsUint64() || !r.Denom().IsUint64() {
		return 0, 0, false
	}
	return r.Num().Uint64(), r.Denom().Uint64(), true
}

// FaultReader reads faults, a line each:
//
//	dead 3                                  never runs
//	crash 7 at 30                           between two steps
//	crash 7 at 30 after 2 sends             in the middle of the next step that sends more
//	recover 7 at 80
//	partition 1,2 | 3,4 | others from 30 until 150
//	cut 1 -> 2,3 from 10 until 20           one way
//	slow 3 by 4 from 0 until 100            what it sends takes 4 times as long
//	pause 3 from 10 until 50                it stands still
//	suspect 2 of 5 from 10 until 20         2 takes 5 for dead, which lives
//	drift 4 by 11/10                        its clock runs fast
//	lose 1/20
//	duplicate 1/50
//	reorder
//	random 2 crashes, 1 recovery, 1 partition until 500
//
// Without until, what lasts is never over; without from, it begins at 0. The processes that are in no group
// of a partition keep all links; others are all that are in no other group.
type FaultReader struct {
	Faults Faults // what was read so far

	ids       election.Arrangement
	positions map[uint64][]int // by identifier; nil until somebody asks
}

// ReadFaults reads faults of processes that have these identifiers.
func ReadFaults(ids election.Arrangement) *FaultReader { return &FaultReader{ids: ids} }

// The forms of lines, by their first word, as examples.
var forms = []struct{ verb, example string }{
	{"dead", "dead 3"},
	{"crash", "crash 7 at 30, or crash 7 at 30 after 2 sends"},
	{"recover", "recover 7 at 80"},
	{"partition", "partition 1,2 | 3,4 from 30 until 150"},
	{"cut", "cut 1 -> 2 from 10 until 20"},
	{"slow", "slow 3 by 4 from 0 until 100"},
	{"pause", "pause 3 from 10 until 50"},
	{"suspect", "suspect 2 of 5 from 10 until 20"},
	{"drift", "drift 4 by 11/10"},
	{"lose", "lose 1/20"},
	{"duplicate", "duplicate 1/50"},
	{"reorder", "reorder"},
	{"random", "random 2 crashes, 1 recovery until 500"},
}

// Line reads a line. The error says what is wrong, and what would be right.
func (r *FaultReader) Line(line string) error {
	l := &faultLine{FaultReader: r, words: split(line)}
	verb, example, verbs := l.next(), "", make([]string, len(forms))
	for i, form := range forms {
		verbs[i] = form.verb
		if form.verb == verb {
			example = form.example
		}
	}
	if example == "" {
		return fmt.Errorf("no fault begins with %.40q; there is %s", verb, strings.Join(verbs, ", "))
	}
	before := r.Faults
	l.read(verb)
	if l.err == nil && len(l.words) > 0 {
		l.wrong("%.40q is too much", l.words[0])
	}
	if l.err != nil {
		r.Faults = before
		if l.said {
			return l.err
		}
		return fmt.Errorf("%w; as in %s", l.err, example)
	}
	return nil
}

// faultLine is what is left to read of a line. After an error nothing more is read.
type faultLine struct {
	*FaultReader
	words []string
	err   error
	said  bool // the error says itself what would be right
}

// split is the words of a line; a comma, a bar and an arrow are words.
func split(line string) []string {
	for _, mark := range []string{",", "|", "->"} {
		line = strings.ReplaceAll(line, mark, " "+mark+" ")
	}
	return strings.FieldsFunc(line, func(r rune) bool { return unicode.IsSpace(r) })
}

func (l *faultLine) wrong(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf(format, args...)
		l.words = nil
	}
}

func (l *faultLine) next() string {
	if len(l.words) == 0 {
		l.wrong("the line ends early")
		return ""
	}
	word := l.words[0]
	l.words = l.words[1:]
	return word
}

// take takes the next word if it is this one.
func (l *faultLine) take(word string) bool {
	if len(l.words) == 0 || l.words[0] != word {
		return false
	}
	l.words = l.words[1:]
	return true
}

func (l *faultLine) must(word string) {
	if got := l.next(); l.err == nil && got != word {
		l.wrong("%q comes here, not %.40q", word, got)
	}
}

func (l *faultLine) read(verb string) {
	f := &l.Faults
	switch verb {
	case "dead":
		f.Dead = grown(f.Dead, l.processes()...)
	case "crash", "recover":
		l.turn(verb)
	case "partition", "cut":
		l.cut(verb == "cut")
	case "slow", "pause":
		l.slow(verb == "slow")
	case "suspect":
		l.suspicion()
	case "drift":
		l.drift()
	case "lose":
		l.chance(&f.Lose, verb)
	case "duplicate":
		l.chance(&f.Duplicate, verb)
	case "reorder":
		f.Unordered = true
	case "random":
		l.random()
	}
}

// grown appends to a copy, so that an earlier value keeps what it has.
func grown[T any](list []T, more ...T) []T { return append(slices.Clip(list), more...) }

func (l *faultLine) turn(verb string) {
	who := l.processes()
	l.must("at")
	c := Crash{At: l.time()}
	if verb == "crash" && l.take("after") {
		c.Amid, c.Sends = true, l.count()
		if !l.take("send") {
			l.must("sends")
		}
	}
	for _, c.Process = range who {
		if verb == "crash" {
			l.Faults.Crashes = grown(l.Faults.Crashes, c)
		} else {
			l.Faults.Recoveries = grown(l.Faults.Recoveries, Fault{c.Process, c.At})
		}
	}
}

func (l *faultLine) cut(oneWay bool) {
	c := Cut{OneWay: oneWay}
	mark, others := "|", -1
	if oneWay {
		mark = "->"
	}
	for {
		if l.take("others") {
			if others >= 0 {
				l.wrong("others are there twice")
			}
			others = len(c.Groups)
			c.Groups = append(c.Groups, nil)
		} else {
			c.Groups = append(c.Groups, l.processes())
		}
		if l.err != nil || !l.take(mark) {
			break
		}
	}
	if len(c.Groups) < 2 {
		l.must(mark)
	}
	if others >= 0 {
		c.Groups[others] = l.rest(c.Groups)
	}
	c.At, c.Until = l.span()
	l.Faults.Cuts = grown(l.Faults.Cuts, c)
}

// rest is everybody who is in none of the groups.
func (l *faultLine) rest(groups [][]int) []int {
	in := make([]bool, l.ids.Len())
	for _, q := range slices.Concat(groups...) {
		in[q] = true
	}
	var rest []int
	for q := range in {
		if !in[q] {
			rest = append(rest, q)
		}
	}
	if rest == nil {
		l.wrong("there are no others")
	}
	return rest
}

func (l *faultLine) slow(factor bool) {
	var s Slow
	who := l.processes()
	if factor {
		l.must("by")
		word := l.next()
		var err error
		if s.Factor, err = strconv.ParseUint(word, 10, 64); l.err == nil && (err != nil || s.Factor < 2) {
			l.wrong("how many times as slow is a whole number from 2 on, not %.40q", word)
		}
	}
	s.At, s.Until = l.span()
	for _, s.Process = range who {
		l.Faults.Slow = grown(l.Faults.Slow, s)
	}
}

func (l *faultLine) suspicion() {
	who := l.processes()
	l.must("of")
	of := l.processes()
	at, until := l.span()
	for _, p := range who {
		for _, q := range of {
			l.Faults.Suspicions = grown(l.Faults.Suspicions, Suspicion{p, q, at, until})
		}
	}
}

func (l *faultLine) drift() {
	who := l.processes()
	l.must("by")
	word := l.next()
	times, of, ok := ratio(word)
	if l.err == nil && (!ok || times == 0) {
		l.wrong("the rate of a clock is a number above 0, such as 11/10 or 0.9, not %.40q", word)
	}
	for _, q := range who {
		l.Faults.Drifts = grown(l.Faults.Drifts, Drift{q, times, of})
	}
}

func (l *faultLine) chance(into *Chance, verb string) {
	word := l.next()
	if into.Of != 0 {
		l.wrong("%s is there twice; one chance will do", verb)
	}
	if l.err != nil {
		return
	}
	c, err := ParseChance(word)
	if err != nil {
		l.said = true
		l.wrong("%w", err)
	}
	*into = c
}

// processes reads a list of processes.
func (l *faultLine) processes() []int {
	var all []int
	for {
		word := l.next()
		if l.err != nil {
			return nil
		}
		found, err := l.find(word)
		if err != nil {
			l.said = true
			l.wrong("%w", err)
			return nil
		}
		all = append(all, found...)
		if !l.take(",") {
			return all
		}
	}
}

// find is where the processes stand that a word names.
func (r *FaultReader) find(word string) ([]int, error) {
	name, place, placed := strings.Cut(word, "@")
	id, err := strconv.ParseUint(name, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%.40q is no identifier; they are natural numbers up to 2^64 - 1", word)
	}
	if r.positions == nil {
		r.positions = make(map[uint64][]int, r.ids.Len())
		for q := range r.ids.Len() {
			r.positions[r.ids.At(q)] = append(r.positions[r.ids.At(q)], q)
		}
	}
	found := r.positions[id]
	if placed {
		position, err := strconv.Atoi(place)
		if err != nil || !slices.Contains(found, position) {
			return nil, fmt.Errorf("there is no process %d at position %.40s", id, place)
		}
		return []int{position}, nil
	}
	if found == nil {
		return nil, fmt.Errorf("there is no process %d; %s", id, network.Extent(r.ids))
	}
	return found, nil
}

// errNoTime leaves room above the greatest time for what comes of a fault then.
var errNoTime = errors.New("a time is a whole number of units below 2^127")

func (l *faultLine) time() election.Ticks {
	word := l.next()
	if l.err != nil {
		return election.Ticks{}
	}
	var t election.Ticks
	if word == "" || t.UnmarshalJSON([]byte(word)) != nil || t.Hi >= 1<<63 {
		l.wrong("%w, not %.40q", errNoTime, word)
	}
	return t
}

// span reads from when until when.
func (l *faultLine) span() (at, until election.Ticks) {
	if l.take("from") {
		at = l.time()
	}
	if l.take("until") {
		until = l.time()
		if l.err == nil && !at.Less(until) {
			l.wrong("it is over at %s, before it begins at %s", until, at)
		}
	}
	return at, until
}

// count reads a small number.
func (l *faultLine) count() int {
	const most = 1 << 20
	word := l.next()
	n, err := strconv.ParseUint(word, 10, 32)
	if l.err == nil && (err != nil || n > most) {
		l.wrong("how many is a whole number up to %d, not %.40q", most, word)
	}
	return int(n)
}

func (l *faultLine) random() {
	if l.Faults.Random.any() {
		l.wrong("random is there twice; one line draws all")
	}
	b := &l.Faults.Random
	for l.err == nil {
		n, noun := l.count(), l.next()
		if l.err != nil {
			return
		}
		into := b.of(noun)
		switch {
		case into == nil:
			l.wrong("what is drawn is %s, not %.40q", strings.Join(drawnNames(), ", "), noun)
		case *into != 0 || n == 0:
			l.wrong("how many %s is said once, and at least 1", noun)
		default:
			*into = n
		}
		if !l.take(",") {
			break
		}
	}
	l.must("until")
	if b.Until = l.time(); l.err == nil && b.Until.IsZero() {
		l.wrong("there is no time until 0 to draw from")
	}
}
