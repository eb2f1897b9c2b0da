package symbolic

import (
	"fmt"
	"go/token"
	"strings"
)

// Term is a number or a truth value, as a function of what a step begins with. Its text in Go is for people: two things may have one name
// there, such as a parameter and a constant of the package. Terms are the same if their texts in SMT-LIB are.
type Term struct {
	op    token.Token // ILLEGAL: a number, a truth value or a name
	args  []*Term
	text  string // of a number or a name: in Go; else of the whole, once
	smt   string // of a number or a name
	known bool   // a number or a truth value
	truth bool   // of the sort Bool
	value int64  // of a number; 1 for true
}

// Name returns a term for something that a step begins with, as Go and SMT-LIB write it. It is a truth value or a number.
func Name(text, smt string, truth bool) *Term { return &Term{text: text, smt: smt, truth: truth} }

// number returns a number; text is how Go writes it, if it has a name.
func number(value int64, text string) *Term {
	smt := fmt.Sprint(value)
	if value < 0 {
		smt = fmt.Sprintf("(- %d)", -value)
	}
	if text == "" {
		text = fmt.Sprint(value)
	}
	return &Term{known: true, value: value, text: text, smt: smt}
}

func boolean(b bool) *Term {
	t := &Term{known: true, truth: true, text: fmt.Sprint(b), smt: fmt.Sprint(b)}
	if b {
		t.value = 1
	}
	return t
}

// opposite has the negation of each comparison.
var opposite = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.GEQ, token.GEQ: token.LSS, token.GTR: token.LEQ, token.LEQ: token.GTR,
}

// not returns the negation of a truth value.
func not(t *Term) *Term {
	switch {
	case t.known:
		return boolean(t.value == 0)
	case t.op == token.NOT:
		return t.args[0]
	case opposite[t.op] != token.ILLEGAL && !t.args[0].truth:
		return &Term{op: opposite[t.op], args: t.args, truth: true}
	}
	return &Term{op: token.NOT, args: []*Term{t}, truth: true}
}

// compare returns a comparison of two terms.
func compare(op token.Token, x, y *Term) *Term {
	if x.known && y.known {
		a, b := x.value, y.value
		return boolean(map[token.Token]bool{
			token.EQL: a == b, token.NEQ: a != b, token.LSS: a < b, token.LEQ: a <= b, token.GTR: a > b, token.GEQ: a >= b,
		}[op])
	}
	if x.same(y) {
		return boolean(op == token.EQL || op == token.LEQ || op == token.GEQ)
	}
	return &Term{op: op, args: []*Term{x, y}, truth: true}
}

// larger returns the larger of two numbers, or the smaller.
func larger(x, y *Term, op token.Token) *Term {
	return &Term{op: token.IF, args: []*Term{compare(op, x, y), x, y}}
}

// Known returns the value of a number that does not depend on what a step begins with.
func (t *Term) Known() (value int64, known bool) { return t.value, t.known }

// Truth reports whether a term is a truth value, and not a number.
func (t *Term) Truth() bool { return t.truth }

// same reports whether two terms are of the same text in SMT-LIB.
func (t *Term) same(other *Term) bool { return t.SMT() == other.SMT() }

// String returns a term as Go would write it.
func (t *Term) String() string {
	if t.text != "" {
		return t.text
	}
	switch t.op {
	case token.NOT:
		t.text = "!" + t.args[0].String()
	case token.IF:
		t.text = fmt.Sprintf("%s(%v, %v)", map[token.Token]string{token.GEQ: "max", token.LEQ: "min"}[t.args[0].op], t.args[1], t.args[2])
	default:
		t.text = fmt.Sprintf("%v %v %v", t.args[0], t.op, t.args[1])
	}
	return t.text
}

// SMT returns a term in SMT-LIB.
func (t *Term) SMT() string {
	names := map[token.Token]string{
		token.NOT: "not", token.IF: "ite", token.EQL: "=", token.NEQ: "distinct", token.LSS: "<", token.LEQ: "<=", token.GTR: ">", token.GEQ: ">=",
	}
	if t.smt != "" {
		return t.smt
	}
	parts := []string{names[t.op]}
	for _, a := range t.args {
		parts = append(parts, a.SMT())
	}
	return "(" + strings.Join(parts, " ") + ")"
}

// order has for each comparison which of <, = and > it allows.
var order = map[token.Token]uint{
	token.LSS: 1, token.EQL: 2, token.GTR: 4, token.LEQ: 3, token.NEQ: 5, token.GEQ: 6,
}

// known returns true or false for a condition that follows from others, or whose negation does, by the order of two numbers.
func known(c *Term, others []*Term) *Term {
	possible := uint(7)
	for _, o := range others {
		switch {
		case o.same(c):
			return boolean(true)
		case o.same(not(c)):
			return boolean(false)
		case order[c.op] == 0 || order[o.op] == 0:
		case o.args[0].same(c.args[0]) && o.args[1].same(c.args[1]):
			possible &= order[o.op]
		case o.args[0].same(c.args[1]) && o.args[1].same(c.args[0]):
			possible &= order[o.op]&2 | order[o.op]>>2&1 | order[o.op]<<2&4
		}
	}
	switch {
	case possible&order[c.op] == 0 && order[c.op] != 0:
		return boolean(false)
	case possible&^order[c.op] == 0 && order[c.op] != 0:
		return boolean(true)
	}
	return c
}
