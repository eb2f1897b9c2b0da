package claims

import (
	"math/big"
	"slices"
	"testing"
)

// around makes the rows of a phase, each of which lists the identities that a processor sends, and paints them.
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
		{"case 2, two red ones", [][]*walk{{a}, {b, a}, {c, a}, {d, c, a}, {d, c}, {d, e}}, b, d, []*walk{b, c, d}, true, 3, 1},
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

func TestEachStepOfTheProofCanFail(t *testing.T) {
	const h = 2
	identity := func(id uint64, home int, t int64) *walk { return &walk{id: id, home: home, t: big.NewInt(t)} }
	type found = func(p *proof) string
	for _, test := range []struct {
		is    string
		a, b  *walk // a is id(1); a processor sends b before it
		c     *walk // and one sends c, if that is in B(1)
		d     *walk // beyond
		in    bool  // c is in B(1)
		n     int64
		first int
		fails found
	}{
		{"nothing", identity(1, 0, 20), identity(7, 1, 8), identity(3, 2, 8), identity(5, 3, 20), true, 12, 0, nil},
		{"h_m(k(i) - id(i)) is more", identity(1, 0, 20), identity(7, 1, 9), identity(3, 2, 8), identity(5, 3, 20), true, 12, 0, func(p *proof) string { return p.oneFails }},
		{"there are more in B(i)", identity(1, 0, 20), identity(2, 1, 8), identity(2, 2, 8), identity(5, 3, 20), true, 12, 0, func(p *proof) string { return p.oneFails }},
		{"the sum is more than n", identity(1, 0, 20), identity(7, 1, 8), identity(3, 2, 8), identity(5, 3, 20), true, 11, 0, func(p *proof) string { return p.sumsFails }},
		{"k(i) lies beyond id(i+1)", identity(1, 0, 30), identity(7, 1, 8), identity(3, 2, 8), identity(9, 3, 8), false, 30, 0, func(p *proof) string { return p.ordered }},
		{"id(1) is passed over", identity(1, 0, 30), identity(7, 1, 8), identity(9, 3, 8), identity(5, 2, 8), false, 30, 2, func(p *proof) string { return p.ordered }},
	} {
		rows := [][]*walk{{test.a}, {test.b, test.a}, {test.c}, {test.d}}
		switch {
		case test.in:
			rows[2] = []*walk{test.c, test.a}
		case test.first == 0:
			rows[3] = []*walk{test.d, test.a}
		default: // c is red, and d, which is not in B(1), comes between
			rows[3], rows[2] = []*walk{test.c, test.a}, []*walk{test.d}
			rows = append(rows, []*walk{test.c})
		}
		p := proof{n: big.NewInt(test.n)}
		f := around(rows...)
		others := 0
		for _, x := range f.around {
			if !f.colours[x].black {
				others += f.messages[x]
			}
		}
		p.goRound(1, big.NewInt(h), f, test.first, others)
		if test.fails == nil {
			more := proof{n: p.n}
			if more.goRound(1, big.NewInt(h), f, test.first, 99); more.sumsFails == "" {
				t.Error("more messages than the sum, and that is not found")
			}
			if p.oneFails+p.twoFails+p.nextFails+p.ordered+p.considered+p.sumsFails != "" {
				t.Errorf("%s: %+v", test.is, p)
			}
		} else if test.fails(&p) == "" {
			t.Errorf("%s, and that is not found: %+v", test.is, p)
		}
	}
}
