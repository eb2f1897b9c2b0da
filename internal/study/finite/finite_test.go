package finite_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"ringleader.example/ringleader/internal/study/finite"
	"ringleader.example/ringleader/internal/study/logic"
)

const text = `(model m (title "T") (theorem "T.") (source "S") (code "C"))
(sort Process "processes")
(constant next (Process) Process "the next")
(constant far (Int) Int "far")
(axiom no-fixpoint "w" (forall ((p Process)) (distinct p (next p))))
(state value (Process) Int "w")
(state seen (Process) Bool "w")
(define low ((p Process) (n Int)) Bool "w" (and (< (value p) n) (<= n 3) (=> (seen p) (>= n 1))))
(initially (value p) 0)
(action rise ((P Process) (N Int)) "w"
  (guard "w" (low P N)) (guard "w" (exists ((q Process)) (and (= (next q) P) (not (seen q)))))
  (put (value P) (ite (> N 1) (+ N 1) N)))
(action look ((P Process)) "w" (set (seen p) (or (seen p) (= p (next P)))))
(action far-off ((P Process)) "w" (guard "w" (seen P)) (put (value P) (far (- 0 (value P)))))
(invariant positive "w" (forall ((p Process)) (>= (value p) 0)))
(invariant seen-low "w" (forall ((p Process) (q Process)) (=> (and (seen p) (seen q) (distinct p q)) (< (+ (value p) (value q)) 8))))
`

func interpretation(t *testing.T, next func([]int) int) (*finite.Interpretation, error) {
	t.Helper()
	files := fstest.MapFS{"m.model": {Data: []byte(text)}}
	m, err := logic.Load(files, files, "m.model")
	if err != nil {
		t.Fatal(err)
	}
	return finite.New(m, map[string][]string{"Process": {"a", "b", "c"}}, finite.Range{Least: 0, Most: 4}, map[string]func([]int) int{
		"next": next, "far": func(a []int) int { return -a[0] + 4 },
	})
}

func three(a []int) int { return (a[0] + 1) % 3 }

func TestActionsAreEvaluatedAsTheyAreWritten(t *testing.T) {
	i, err := interpretation(t, three)
	if err != nil {
		t.Fatal(err)
	}
	m, s := i.Model, i.Initial()
	rise, look := m.Action("rise"), m.Action("look")
	var ways []string
	i.Possible(rise, s, func(args []int) bool {
		ways = append(ways, i.Name("Process", args[0])+i.Name(logic.Int, args[1]))
		return true
	})
	if got := strings.Join(ways, " "); got != "a1 a2 a3 b1 b2 b3 c1 c2 c3" {
		t.Errorf("rise is possible for %s", got)
	}
	next := i.After(rise, s, 1, 2)
	if i.Value(next, m.State("value"), 1) != 3 || i.Value(s, m.State("value"), 1) != 0 {
		t.Error("a put changes one value, of the new state only")
	}
	next = i.After(look, next, 0)
	if got := i.Facts(next, s); len(got) != 2 || i.Text(got[0]) != "(value b) = 3" || i.Text(got[1]) != "(seen b)" {
		t.Errorf("%v", got)
	}
	own := i.Initial()
	i.Advance(rise, own, 1, 2)
	i.Advance(look, own, 0)
	if !own.Equal(next) || i.Initial().Equal(next) {
		t.Errorf("after the same actions in its place a state has %v", i.Facts(own, s))
	}
	if at := i.Prevents(rise, next, 1, 2); at != 1 {
		t.Errorf("guard %d prevents rise, want 1", at)
	}
	if at := i.Prevents(rise, next, 2, 2); at != 2 {
		t.Errorf("guard %d prevents rise, want 2", at)
	}
	if at := i.Prevents(rise, next, 0, 2); at != 0 {
		t.Errorf("guard %d prevents rise, want none", at)
	}
	if !i.With(next, m.State("value"), 3, 1).Equal(next) || i.With(next, m.State("value"), 2, 1).Equal(next) {
		t.Error("With changes one value")
	}
	if broken := i.Broken(next); len(broken) != 0 {
		t.Errorf("%s", logic.Names(broken))
	}
	bad := i.With(i.With(i.With(next, m.State("seen"), 1, 0), m.State("value"), 4, 1), m.State("value"), 4, 0)
	if broken := i.Broken(bad); logic.Names(broken) != "seen-low" {
		t.Errorf("%s", logic.Names(broken))
	}
	if i.Value(next, m.State("value"), 7) != 0 {
		t.Error("what is outside is 0")
	}
}

func TestAnInterpretationThatIsWrongIsRefused(t *testing.T) {
	if _, err := interpretation(t, func(a []int) int { return a[0] }); err == nil || err.Error() != "the axiom no-fixpoint does not hold" {
		t.Error(err)
	}
	if _, err := interpretation(t, nil); err == nil || err.Error() != "the constant next has no value" {
		t.Error(err)
	}
}

// The invariant is not inductive: two processes with 4 that are not seen yet.
func TestTheSmallestCounterexampleToInductionIsFound(t *testing.T) {
	i, err := interpretation(t, three)
	if err != nil {
		t.Fatal(err)
	}
	search := finite.Search{Facts: 4, States: 1e6, All: 1e6, Integers: finite.Range{Most: 4}}
	found, err := finite.Induction([]*finite.Interpretation{i}, search)
	if err != nil || found == nil {
		t.Fatal(found, err)
	}
	if len(found.Facts) != 3 || logic.Names(found.Broken) != "seen-low" {
		t.Errorf("%d facts, %s breaks %s", len(found.Facts), found.Action.Name, logic.Names(found.Broken))
	}
	for _, all := range []int{0, 1e6} {
		search.All = all
		if again, err := finite.Induction([]*finite.Interpretation{i}, search); err != nil || again == nil || len(again.Facts) != 3 {
			t.Errorf("of %d in turn: %v, %v", all, again, err)
		}
	}
	search.States = 3
	if _, err := finite.Induction([]*finite.Interpretation{i}, search); err == nil || err.Error() != "with up to 0 facts, nor in the first 3 states" {
		t.Error(err)
	}
	search.Facts, search.States = 1, 1e6
	if found, err := finite.Induction([]*finite.Interpretation{i}, search); found != nil || err != nil {
		t.Error(found, err)
	}
}

const times = `(model m (title "T") (theorem "T.") (source "S") (code "C"))
(sort Process "processes")
(state sent (Process Int) Bool "w")
(state last () Int "w")
(initially (sent p t) false)
(initially (last) 0)
(action send ((P Process) (T Int)) "w" (guard "later" (> T last)) (put (sent P T) true) (put (last) (+ T 1)))
(invariant past "w" (forall ((p Process) (t Int)) (=> (sent p t) (< t last))))
`

// Integers that are far apart need no room for those between; and of those that there are, quantifiers may be limited to some.
func TestIntegersMayBeFew(t *testing.T) {
	files := fstest.MapFS{"m.model": {Data: []byte(times)}}
	m, err := logic.Load(files, files, "m.model")
	if err != nil {
		t.Fatal(err)
	}
	i, err := finite.New(m, map[string][]string{"Process": {"a", "b"}}, finite.Range{Least: 5, Most: 1e9, Only: []int{5, 7000, 1e9}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	send, sent, s := m.Action("send"), m.State("sent"), i.Initial()
	var ways []int
	i.Possible(send, s, func(args []int) bool {
		ways = append(ways, args[1])
		return true
	})
	if !slices.Equal(ways, []int{5, 5, 7000, 7000, 1e9, 1e9}) {
		t.Errorf("it may be sent at %v", ways)
	}
	s = i.After(send, i.After(send, s, 0, 5), 1, 7000)
	if facts := i.Facts(s, i.Initial()); len(facts) != 3 || i.Text(facts[1]) != "(sent b 7000)" || i.Value(s, sent, 0, 5) != 1 || i.Value(s, sent, 0, 6) != 0 {
		t.Errorf("%v", facts)
	}
	wrong := i.With(s, m.State("last"), 7000)
	for _, some := range [][]int{nil, {5, 7000}, {7000}} {
		if i.Try(some); len(i.Broken(s)) > 0 || len(i.Broken(wrong)) != 1 {
			t.Errorf("with %v, %d and %d invariants do not hold", some, len(i.Broken(s)), len(i.Broken(wrong)))
		}
	}
	if i.Try([]int{5}); len(i.Broken(wrong)) > 0 {
		t.Error("a time is tried that is not given")
	}
}

// A model that is too large gives one line, and not a panic, a full memory or an endless search.
func TestAModelThatIsTooLargeIsRefused(t *testing.T) {
	many := func(n int) string {
		var all strings.Builder
		for k := range n {
			fmt.Fprintf(&all, "(v%d Process)", k)
		}
		return all.String()
	}
	var deep strings.Builder
	deep.WriteString("(define d0 () Bool \"w\" true)")
	for n := range 200 {
		fmt.Fprintf(&deep, "(define d%d () Bool \"w\" (and d%d d%[2]d d%[2]d d%[2]d))", n+1, n)
	}
	unequal := "(= false (distinct"
	for k := range 40 {
		unequal += fmt.Sprintf(" v%d", k)
	}
	unequal += "))"
	processes := func(n int) string { return strings.Repeat("Process ", n) }
	const values = "its functions have more than 33554432 values"
	for more, says := range map[string]string{
		"(invariant mine \"w\" (forall (" + many(300) + ") (= v0 v0)))":          "a term has more than 256 variables",
		"(state mine (" + processes(18) + ") Bool \"w\")":                        "with the function mine " + values,
		"(constant mine (" + processes(18) + ") Bool \"w\")":                     "with the function mine " + values,
		strings.Repeat("(state more ("+processes(14)+") Bool \"w\")", 8):         "with the function more7 " + values,
		"(state mine () Bool \"w\")" + deep.String() + "(initially (mine) d200)": "with definitions in the places where they are used it has more than 1000000 terms",
		"(axiom mine \"w\" (forall (" + many(40) + ") " + unequal + "))":         "too many values of variables are to be tried",
		"(invariant mine \"w\" (forall (" + many(40) + ") " + unequal + "))":     "too many values of variables are to be tried",
		"(action mine (" + many(40) + ") \"w\" (put (on) true))":                 "too many values of variables are to be tried",
		// Without the error, what rises would be below 0 after a step.
		"(state mine () Int \"w\")(initially (mine) 2147483647)(action rise () \"w\" (put (mine) (+ mine 1)))(invariant positive \"w\" (>= mine 0))": "an integer is 2147483648",
		"(state mine (" + processes(13) + ") Bool \"w\")": "more than 1048576 facts are possible",
	} {
		for n := range 8 {
			more = strings.Replace(more, "(state more (", fmt.Sprintf("(state more%d (", n), 1)
		}
		files := fstest.MapFS{"m.model": {Data: []byte("(model m (title \"T\") (theorem \"T.\") (source \"S\") (code \"C\"))(sort Process \"w\")(state on () Bool \"w\")(action step () \"w\" (put (on) true))(invariant low \"w\" true)" + more)}}
		m, err := logic.Load(files, files, "m.model")
		if err != nil {
			t.Fatal(err)
		}
		i, err := finite.Bounded(m, map[string][]string{"Process": {"a", "b", "c"}}, finite.Range{}, map[string]func([]int) int{"mine": func([]int) int { return 1 }})
		if err == nil {
			_, err = finite.Induction([]*finite.Interpretation{i}, finite.Search{Facts: 2, States: 1000, All: 1000})
		}
		if err == nil || err.Error() != "m is too large to be evaluated: "+says {
			t.Errorf("%.60s: %v", more, err)
		}
	}
}
