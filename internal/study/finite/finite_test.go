package finite_test

import (
	"errors"
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

func instance(t *testing.T, next func([]int) int) (*finite.Instance, error) {
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
	i, err := instance(t, three)
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

func TestAnInstanceThatIsWrongIsRefused(t *testing.T) {
	if _, err := instance(t, func(a []int) int { return a[0] }); err == nil || err.Error() != "the axiom no-fixpoint does not hold" {
		t.Error(err)
	}
	if _, err := instance(t, nil); err == nil || err.Error() != "the constant next has no value" {
		t.Error(err)
	}
}

// The invariant is not inductive: two processes with 4 that are not seen yet.
func TestTheSmallestCounterexampleToInductionIsFound(t *testing.T) {
	i, err := instance(t, three)
	if err != nil {
		t.Fatal(err)
	}
	found, err := finite.Induction([]*finite.Instance{i}, 4, 1e6)
	if err != nil || found == nil {
		t.Fatal(found, err)
	}
	if len(found.Facts) != 3 || logic.Names(found.Broken) != "seen-low" {
		t.Errorf("%d facts, %s breaks %s", len(found.Facts), found.Action.Name, logic.Names(found.Broken))
	}
	if _, err := finite.Induction([]*finite.Instance{i}, 4, 3); !errors.Is(err, finite.ErrTooMany) {
		t.Error(err)
	}
	if found, err := finite.Induction([]*finite.Instance{i}, 1, 1e6); found != nil || err != nil {
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
	i, err := finite.New(m, map[string][]string{"Process": {"a", "b"}}, finite.Range{Least: 5, Most: 1e12, Only: []int{5, 7000, 1e12}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	send, sent, s := m.Action("send"), m.State("sent"), i.Initial()
	var ways []int
	i.Possible(send, s, func(args []int) bool {
		ways = append(ways, args[1])
		return true
	})
	if !slices.Equal(ways, []int{5, 5, 7000, 7000, 1e12, 1e12}) {
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
