package faults

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

// Reader reads faults, a line each, in the form that the package comment shows.
type Reader struct {
	Script Script // the faults read so far

	ids       election.Arrangement
	positions map[uint64][]int // by identifier; nil until the first name is read
}

// NewReader returns a Reader of lines about processes that have these identifiers, by position.
func NewReader(ids election.Arrangement) *Reader { return &Reader{ids: ids} }

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

// Line reads a line and adds its faults to Script. The error states in one line what is wrong and a remedy; Script is
// then unchanged.
func (r *Reader) Line(line string) error {
	l := &faultLine{Reader: r, words: split(line)}
	verb, example, verbs := l.next(), "", make([]string, len(forms))
	for i, form := range forms {
		verbs[i] = form.verb
		if form.verb == verb {
			example = form.example
		}
	}
	if example == "" {
		return fmt.Errorf("no fault begins with %.40q; choose one of %s", verb, strings.Join(verbs, ", "))
	}
	before := r.Script
	l.read(verb)
	if l.err == nil && len(l.words) > 0 {
		l.wrong("%.40q is unexpected", l.words[0])
	}
	if l.err != nil {
		r.Script = before
		if l.said {
			return l.err
		}
		return fmt.Errorf("%w; as in %s", l.err, example)
	}
	return nil
}

// faultLine is the unread rest of a line. After an error nothing more is read.
type faultLine struct {
	*Reader
	words []string
	err   error
	said  bool // the error itself states a remedy
}

// split returns the words of a line; a comma, a bar and an arrow are words.
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
		l.wrong("want %q, not %.40q", word, got)
	}
}

func (l *faultLine) read(verb string) {
	f := &l.Script
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
			l.Script.Crashes = grown(l.Script.Crashes, c)
		} else {
			l.Script.Recoveries = grown(l.Script.Recoveries, Recovery{c.Process, c.At})
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
				l.wrong("others is given twice")
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
	l.Script.Cuts = grown(l.Script.Cuts, c)
}

// rest returns the processes that are in none of the groups.
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
		l.Script.Slow = grown(l.Script.Slow, s)
	}
}

func (l *faultLine) suspicion() {
	who := l.processes()
	l.must("of")
	of := l.processes()
	at, until := l.span()
	for _, p := range who {
		for _, q := range of {
			l.Script.Suspicions = grown(l.Script.Suspicions, Suspicion{p, q, at, until})
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
		l.Script.Drifts = grown(l.Script.Drifts, Drift{q, times, of})
	}
}

func (l *faultLine) chance(into *Chance, verb string) {
	word := l.next()
	if into.Of != 0 {
		l.wrong("%s is given twice; give one chance", verb)
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

// find returns the positions of the processes that a word names.
func (r *Reader) find(word string) ([]int, error) {
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

// errNoTime leaves room above the greatest time for the effects of a fault at that time.
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

// span reads the beginning and the end of a fault.
func (l *faultLine) span() (at, until election.Ticks) {
	if l.take("from") {
		at = l.time()
	}
	if l.take("until") {
		until = l.time()
		if l.err == nil && !at.Less(until) {
			l.wrong("it ends at %s, before it begins at %s", until, at)
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
	if l.Script.Random.any() {
		l.wrong("random is given twice; one line draws all")
	}
	b := &l.Script.Random
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
			l.wrong("give the number of %s once, at least 1", noun)
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

// ParseChance reads a probability, such as 1/10 or 0.1.
func ParseChance(text string) (Chance, error) {
	times, of, ok := ratio(text)
	if c := (Chance{times, of}); ok && c.Possible() {
		return c, nil
	}
	return Chance{}, fmt.Errorf("a chance is from 0 to 1, such as 1/10 or 0.1, not %.40q", text)
}

// ratio reads a number of at least 0 as a fraction.
func ratio(text string) (times, of uint64, ok bool) {
	const longest = 41 // two numbers below 2⁶⁴ and the separator
	if len(text) > longest || strings.Trim(text, "0123456789./") != "" {
		return 0, 0, false
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok || !r.Num().IsUint64() || !r.Denom().IsUint64() {
		return 0, 0, false
	}
	return r.Num().Uint64(), r.Denom().Uint64(), true
}
