package claims

import (
	"slices"
	"testing"
)

// around makes the rows of a phase, of which each lists who a processor sends, and paints them.
func around(rows ...[]*walk) *painted {
	w := &walks{sent: [][][]*walk{nil, rows}}
	return w.paint(1)
}

func TestColoursAreThoseOfTheProof(t *testing.T) {
	a, b, c, d := &walk{id: 1, home: 0}, &walk{id: 2, home: 1}, &walk{id: 3, home: 2}, &walk{id: 9, home: 4}
	f := around([]*walk{a}, []*walk{b, a}, []*walk{c, a}, []*walk{c}, []*walk{d})
	for x, want := range map[*walk]colour{a: {black: true}, b: {white: true}, c: {}, d: {black: true}} {
		if f.colours[x] != want {
			t.Errorf("identity %d: %+v, want %+v", x.id, f.colours[x], want)
		}
	}
	if !slices.Equal(f.around, []*walk{a, b, c, d}) || !slices.Equal(f.before[a], []*walk{b, c}) || len(f.before[c]) > 0 || f.messages[a] != 3 {
		t.Errorf("%+v", f)
	}
}

func TestPairsAreThoseOfTheCases(t *testing.T) {
	a, b, c, d, e := &walk{id: 1, home: 0}, &walk{id: 7, home: 1}, &walk{id: 3, home: 2}, &walk{id: 5, home: 3}, &walk{id: 9, home: 5}
	for _, test := range []struct {
		is       string
		rows     [][]*walk
		k, next  *walk
		of       []*walk
		two      bool
		distance int
		to       int
	}{
		{"case 1", [][]*walk{{a}, {b, a}, {c, a}, {d}, {d}, {e}}, b, d, []*walk{b, c}, false, 3, 1},
		{"case 2, the last one is red", [][]*walk{{a}, {b, a}, {c, a}, {d, a}, {d}, {e}}, b, d, []*walk{b, c, d}, true, 3, 1},
		{"case 2, one beyond the red one", [][]*walk{{a}, {b, a}, {c, a}, {d, c, a}, {c}, {e}}, b, c, []*walk{b, c}, true, 2, 1},
		{"without any in B", [][]*walk{{a}, {b}, {c}, {d}, {e}, {e}}, nil, b, nil, false, 1, 0},
	} {
		s := around(test.rows...).share(0)
		if s.id != a || s.k != test.k || s.next != test.next || !slices.Equal(s.of, test.of) || s.two != test.two || s.distance != test.distance || s.to != test.to {
			t.Errorf("%s: %+v", test.is, s)
		}
	}
	f := around([]*walk{a}, []*walk{b, a}, []*walk{c, a}, []*walk{d, c, a}, []*walk{c}, []*walk{e})
	if all, beyond := f.shares(0); len(all) != 2 || all[0].id != a || all[1].id != c || beyond != 0 {
		t.Errorf("%d pairs, %d beyond: %+v", len(all), beyond, all)
	}
}
