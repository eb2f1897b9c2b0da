package finite_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"ringleader.example/ringleader/internal/study/finite"
	"ringleader.example/ringleader/internal/study/logic"
)

// For a monotonic or constant function, the evaluator compares only consecutive integers. The answer is the same as for all pairs.
func TestOfWhatRisesNeighboursAreCompared(t *testing.T) {
	const most = 300
	dip := func(at int) func(x int) int {
		return func(x int) int {
			if x == at {
				return -1
			}
			return x / 10
		}
	}
	one := func(x int) int { return 7 + x/most }
	for name, c := range map[string]struct {
		axiom string
		f     func(x int) int
		holds bool
		pairs bool // all are needed
	}{
		"it rises":                    {"(=> (<= a b) (<= (f p a) (f p b)))", dip(-1), true, false},
		"it falls once":               {"(=> (<= a b) (<= (f p a) (f p b)))", dip(133), false, false},
		"it falls at the end":         {"(=> (<= a b) (<= (f p a) (f p b)))", dip(most), false, false},
		"it rises, the other way":     {"(=> (<= b a) (<= (f p b) (f p a)))", dip(-1), true, false},
		"it falls, the other way":     {"(=> (<= b a) (<= (f p b) (f p a)))", dip(1), false, false},
		"a condition of another one":  {"(=> (and (distinct p (next p)) (<= a b)) (<= (+ 1 (f p a)) (+ 1 (f p b))))", dip(133), false, false},
		"it stays":                    {"(= (f p a) (f p b))", func(int) int { return 7 }, true, false},
		"it changes at the end":       {"(= (f p a) (f p b))", one, false, false},
		"it changes once":             {"(=> (<= a b) (= (f p a) (f p b)))", dip(200), false, false},
		"it does not fall":            {"(=> (<= a b) (>= (f p a) (f p b)))", func(x int) int { return -x }, true, true},
		"two functions":               {"(=> (<= a b) (<= (f p a) (+ 300 (f p b))))", dip(-1), true, true},
		"a condition of both":         {"(=> (and (<= a b) (< (+ a 9) b)) (<= (f p a) (f p b)))", func(x int) int { return x%2 + x/2*2 }, true, true},
		"far ones fall":               {"(=> (and (<= a b) (< (+ a 9) b)) (<= (f p a) (f p b)))", dip(133), false, true},
		"no two are the same":         {"(=> (= (f p a) (f p b)) (= a b))", func(x int) int { return -x }, true, true},
		"two that are apart are same": {"(=> (= (f p a) (f p b)) (= a b))", func(x int) int { return x % most }, false, true},
	} {
		text := fmt.Sprintf(`(model m (title "T") (theorem "T.") (source "S") (code "C"))
(sort Process "processes")
(constant next (Process) Process "the next")
(constant f (Process Int) Int "a function")
(axiom a "w" (forall ((p Process) (a Int) (b Int)) %s))
(state value (Process) Int "w")
(initially (value p) 0)
(action look ((P Process)) "w" (put (value P) 1))
(invariant positive "w" (forall ((p Process)) (>= (value p) 0)))
`, c.axiom)
		files := fstest.MapFS{"m.model": {Data: []byte(text)}}
		m, err := logic.Load(files, files, "m.model")
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		_, err = finite.New(m, map[string][]string{"Process": {"a", "b"}}, finite.Range{Most: most}, map[string]func([]int) int{
			"next": func(a []int) int { return 1 - a[0] },
			"f":    func(a []int) int { calls++; return c.f(a[1]) },
		})
		if c.holds != (err == nil) || err != nil && !strings.Contains(err.Error(), "the axiom a does not hold") {
			t.Errorf("%s: %v", name, err)
		}
		if neighbours := 2 * 2 * (most + 1); c.holds && (calls > neighbours) != c.pairs {
			t.Errorf("%s: the function is evaluated %d times", name, calls)
		}
	}
}
