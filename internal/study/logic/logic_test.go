package logic_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"ringleader.example/ringleader/internal/study/logic"
)

// small is a model of a counter that never falls.
const small = `(model small (title "T") (theorem "It never falls.") (source "S") (code "C"))
(sort Process "processes")
(constant top () Process "the last")
(state value (Process) Int "its value")
(state seen (Process) Bool "it was looked at")
(initially (value p) 0)
(define positive ((p Process)) Bool "not negative" (>= (value p) 0))
(action rise ((P Process) (N Int)) "It rises."
  (guard "by something" (> N 0))
  (put (value P) (+ (value P) N)))
(action look ((P Process)) "It is looked at."
  (set (seen p) (or (seen p) (= p P))))
(invariant up "It is not negative." (forall ((p Process)) (! (positive p) :pattern ((value p)))))
(lemma still "So is the top." (positive top) (by up))
(safety fine "It is fine." (not (< (value top) 0)))
(step higher rise "N is no less." (>= N 1))
(premises rise up up)
`

func load(text string, more ...string) (*logic.Model, error) {
	files := fstest.MapFS{"m.model": {Data: []byte(text)}}
	for k := 0; k < len(more); k += 2 {
		files[more[k]] = &fstest.MapFile{Data: []byte(more[k+1])}
	}
	return logic.Load(files, files, "m.model")
}

func TestAModelIsReadAndWritten(t *testing.T) {
	m, err := load(small)
	if err != nil {
		t.Fatal(err)
	}
	up := m.Formula("up")
	if got, want := up.Term.String(), "(forall ((p Process)) (! (positive p) :pattern ((value p))))"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	rise, look := m.Action("rise"), m.Action("look")
	if !up.Term.Reads(rise.Changes) || up.Term.Reads(look.Changes) {
		t.Error("an invariant reads what its definitions read, and nothing else")
	}
	less, err := m.Without([]string{"up"}, []string{"rise:1"})
	if err != nil || len(less.Invariants) != 0 || len(less.Actions[0].Guards) != 0 || len(m.Invariants) != 1 || len(m.Actions[0].Guards) != 1 {
		t.Errorf("what is left out: %+v, %v", less, err)
	}
	for _, c := range [][2]string{{"no", ""}, {"", "rise:2"}, {"", "rise"}, {"", "no:1"}} {
		if _, err := m.Without(slices.DeleteFunc([]string{c[0]}, func(s string) bool { return s == "" }), slices.DeleteFunc([]string{c[1]}, func(s string) bool { return s == "" })); err == nil {
			t.Errorf("%q can be left out", c)
		}
	}
}

// A text that is wrong or hostile gives one error with its place.
func TestAWrongModelIsRefusedAtItsPlace(t *testing.T) {
	many := "(state on () Bool \"w\")"
	for k := range 1000 {
		many += fmt.Sprintf("(action many%d () \"w\" (put on true))", k)
	}
	for k := range 500 {
		many += fmt.Sprintf("(invariant some%d \"w\" on)", k)
	}
	many += "(sort Process"
	for _, c := range []struct{ old, now, says string }{
		{"(sort Process \"processes\")", "(sort Process)", "m.model:2:1: a form sort has the parts NAME \"words\""},
		{"(sort Process \"processes\")", "(srot Process \"processes\")", "m.model:2:2: there is no form srot"},
		{"(sort Process \"processes\")", "(sort Bool \"processes\")", "m.model:2:7: solvers use the name Bool themselves"},
		{"(sort Process \"processes\")", "(sort Process \"processes", "m.model:16:33: this text has no end"},
		{"(constant top ()", "(constant top (Proces)", "m.model:3:16: there is no sort Proces"},
		{"(constant top ()", "(constant select ()", "solvers use the name select"},
		{"(constant top ()", "(constant x!y ()", "\"x!y\" is no name"},
		{"(state seen", "(state value", "m.model:5:8: there is a value already"},
		{"(initially (value p) 0)", "(initially (value p) true)", "m.model:6:22: true has the sort Bool, and Int is expected"},
		{"(initially (value p) 0)", "(initially (value p) (value p))", "what holds at first depends on what never changes only"},
		{"(initially (value p) 0)", "(initially (value p q) 0)", "value takes 1 arguments, not 2"},
		{"(initially (value p) 0)", "(initially (top) p)", "top is no state function"},
		{"(initially (value p) 0)", "(initially (value top) 0)", "there is a top already"},
		{"(initially (value p) 0)", "(axiom zero \"w\" (= (value top) 0))", "an axiom is about what never changes"},
		{"(> N 0)", "(> N M)", "m.model:9:30: nothing is called M"},
		{"(> N 0)", "(> N 0 1)", "> does not take 3 arguments"},
		{"(> N 0)", "(> N P)", "P has the sort Process, and Int is expected"},
		{"(> N 0)", "(positive N)", "N has the sort Int, and Process is expected"},
		{"(> N 0)", "(positive P P)", "positive takes 1 arguments, not 2"},
		{"(> N 0)", "(+ N 0)", "(+ …) has the sort Int, and Bool is expected"},
		{"(> N 0)", "(> N 007)", "007 is no number"},
		{"(> N 0)", "(> N 99999999999999999999)", "is no number"},
		{"(> N 0)", "()", "a term is expected here, not ()"},
		{"(> N 0)", "\"N\"", "a term is expected here, not a text"},
		{"(> N 0)", "(forall () true)", "forall needs a variable"},
		{"(> N 0)", "(forall ((P Process)) true)", "there is a variable P already"},
		{"(> N 0)", "(forall ((value Process)) true)", "there is a value already"},
		{"(> N 0)", "(! true :pattern (P))", "a pattern stands directly in a quantifier"},
		{"(> N 0)", "(forall ((p Process)) (! true :named x))", ":pattern and terms are expected here"},
		{"(> N 0)", strings.Repeat("(not ", 200) + "true" + strings.Repeat(")", 200), "more than 100 parentheses are open"},
		{"(> N 0))", "(> N 0))))", "a parenthesis is closed that was not opened"},
		{"(put (value P)", "(put (value N)", "N has the sort Int, and Process is expected"},
		{"(put (value P) (+ (value P) N))", "(put (value P) 1) (put (value P) 2)", "the action changes value already"},
		{"(put (value P) (+ (value P) N))", "(guard \"w\" true)", "the action rise changes nothing"},
		{"(put (value P) (+ (value P) N))", "(add (value P) N)", "a clause is (guard"},
		{"(action look", "(action rise", "there is an action of that name already"},
		{"(by up)", "(by down)", "m.model:14:50: no invariant or earlier lemma is called down"},
		{"(safety fine", "(safety up", "there is a formula up already"},
		{"(step higher rise", "(step higher fall", "there is no action fall"},
		{"(premises rise up up)", "(premises rise down up)", "no invariant is called down"},
		{"(theorem \"It never falls.\")", "", "m.model:1:1: the head has no theorem"},
		{"(code \"C\"))", "(code \"C\") (color \"red\"))", "the head has title, theorem, source, code and search"},
		{"(title \"T\")", "(title \"\xff\")", "m.model:1:22: the text is not UTF-8"},
		{"(sort Process \"processes\")", "(include nothing) (sort Process \"processes\")", "nothing.axioms cannot be read"},
		{"(sort Process \"processes\")", "(tie d \"folder\" \"Test\") (sort Process \"processes\")", "m.model:2:6: a tie is a, b or c, not d"},
		{"(sort Process \"processes\")", "(include ../x) (sort Process \"processes\")", "../x is no name of a file"},
		{"(sort Process \"processes\")", "(include loop) (sort Process \"processes\")", "loop.axioms:1:1: loop is no name of a file, or it is included already"},
		{small, "", "m.model:1:1: the model has no head"},
		{small, "(model m (title \"t\") (theorem \"t\") (source \"s\") (code \"c\"))", "a model needs an action and an invariant"},
		{small, "x", "m.model:1:1: a form is expected here, in parentheses, not x"},
		{small, "()", "m.model:1:1: a form is expected here, not ()"},
		{small, strings.Repeat(";", 2<<20), "m.model:1:1: the text has more than 1048576 bytes"},
		{"(> N 0)", "(> N \x1b[31mM)", "m.model:9:30: a model has no character '\\x1b'"},
		{"(title \"T\")", "(title \"a\u202eb\")", "m.model:1:23: a model has no character '\\u202e'"},
		{"(> N 0)", "(> N " + strings.Repeat("m", 1000) + ")", "nothing is called " + strings.Repeat("m", 200) + "…"},
		{"(> N 0)", "(> N (" + strings.Repeat("m", 1000) + " N))", "nothing is called " + strings.Repeat("m", 200) + "…"},
		{"(title \"T\")", "(title " + strings.Repeat("m", 1000) + ")", "not \"" + strings.Repeat("m", 200) + "\"…"},
		{"(safety fine", "(safety " + strings.Repeat("m", 61), "is no name: up to 60 letters"},
		{"(sort Process", many, "m.model:1:1: 1002 actions and 501 invariants are too many for a text of"},
	} {
		if !strings.Contains(small, c.old) {
			t.Fatalf("%q is not in the model", c.old)
		}
		_, err := load(strings.Replace(small, c.old, c.now, 1), "loop.axioms", "(include loop)")
		wrong := new(logic.Error)
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.says) || strings.ContainsAny(err.Error(), "\n\x1b") || len(err.Error()) > 400 {
			t.Errorf("%.60q gives %v, want %s", c.now, err, c.says)
		}
	}
}

// A definition that is used many times by others is looked into once, so that no text takes for ever.
func TestDefinitionsOfDefinitionsTakeNoTime(t *testing.T) {
	deep := "(define d0 () Bool \"w\" (= top top))"
	for n := range 200 {
		deep += fmt.Sprintf("(define d%d () Bool \"w\" (and d%d d%[2]d d%[2]d d%[2]d))", n+1, n)
	}
	m, err := load(strings.Replace(small, "(safety fine", deep+"(axiom deep \"w\" d200)(safety fine", 1))
	if err != nil || m.Axioms[0].Term.Reads(func(*logic.Symbol) bool { return true }) {
		t.Error(err)
	}
}

// A file that has no end is not read: a pipe, for example. One that is too long is read up to the limit.
func TestWhatIsNoRegularFileIsNotRead(t *testing.T) {
	files := fstest.MapFS{"m.model": {Mode: fs.ModeNamedPipe}, "n.model": {Data: []byte("(include pipe)")}, "pipe.axioms": {Mode: fs.ModeNamedPipe}}
	if _, err := logic.Load(files, files, "m.model"); err == nil || err.Error() != `"m.model" is no regular file` {
		t.Error(err)
	}
	if _, err := logic.Load(files, files, "n.model"); err == nil || err.Error() != "n.model:1:1: pipe.axioms cannot be read" {
		t.Error(err)
	}
	long := &endless{MapFS: fstest.MapFS{"m.model": {Data: nil}}}
	if _, err := logic.Load(long, long, "m.model"); err == nil || !strings.Contains(err.Error(), "the text has more than") || long.read > 4<<20 {
		t.Error(err, long.read)
	}
}

// endless are files without an end.
type endless struct {
	fstest.MapFS
	read int
}

type endlessFile struct {
	fs.File
	*endless
}

func (e *endless) Open(name string) (fs.File, error) {
	f, err := e.MapFS.Open(name)
	return endlessFile{f, e}, err
}

func (e endlessFile) Read(into []byte) (int, error) {
	for k := range into {
		into[k] = ';'
	}
	e.read += len(into)
	return len(into), nil
}

// No text makes the reader panic.
func FuzzLoad(f *testing.F) {
	f.Add(small)
	for k := range len(small) / 40 {
		f.Add(small[:40*k])
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := load(text)
		if wrong := new(logic.Error); (m == nil) != (err != nil) || err != nil && !errors.As(err, &wrong) {
			t.Errorf("%v, %v", m, err)
		}
	})
}
