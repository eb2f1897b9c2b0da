package logic

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The built-in sorts.
const (
	Bool = "Bool"
	Int  = "Int"
)

// Op is the kind of a term.
type Op uint8

// The kinds.
const (
	Number   Op = iota
	Variable    // of a quantifier, of an action or of a definition
	Call        // of a constant, a state function or a definition
	Operator    // Name is true, false, not, and, or, =>, =, distinct, ite, <, <=, >, >=, + or -
	ForAll
	Exists
)

// Term is a term whose sorts are checked.
type Term struct {
	At       Position
	Op       Op
	Name     string // of a variable or an operator
	Number   int
	Sort     string
	Args     []*Term
	Vars     []Binding // of a quantifier
	Triggers [][]*Term // of a quantifier: for solvers
	Symbol   *Symbol   // of a call
}

// Binding is a variable with its sort.
type Binding struct{ Name, Sort string }

// Role is what a symbol stands for.
type Role uint8

// The roles.
const (
	Constant Role = iota
	State
	Defined
)

// Symbol is a function of a model.
type Symbol struct {
	At         Position
	Role       Role
	Name       string
	Args       []string // sorts
	Result     string   // a sort
	Words      string
	Parameters []Binding // of a definition
	Body       *Term     // of a definition
}

// Visit calls f for a term and all terms in it, but not for those of definitions.
func (t *Term) Visit(f func(*Term)) {
	f(t)
	for _, a := range t.Args {
		a.Visit(f)
	}
}

// Reads reports whether the value of a term depends on a state function for which changed is true.
func (t *Term) Reads(changed func(*Symbol) bool) bool {
	return t.reads(changed, map[*Symbol]bool{})
}

// reads looks into each definition once: others may use it many times.
func (t *Term) reads(changed func(*Symbol) bool, seen map[*Symbol]bool) (reads bool) {
	t.Visit(func(u *Term) {
		switch {
		case reads || u.Op != Call || seen[u.Symbol]:
		case u.Symbol.Role == State:
			reads = changed(u.Symbol)
		case u.Symbol.Role == Defined:
			seen[u.Symbol] = true
			reads = u.Symbol.Body.reads(changed, seen)
		}
	})
	return reads
}

// String returns a term in SMT-LIB, with the patterns of quantifiers.
func (t *Term) String() string { return t.SMT(nil, true) }

// SMT returns a term in SMT-LIB. A symbol for which after is true has a "!" behind its name.
func (t *Term) SMT(after func(*Symbol) bool, patterns bool) string {
	var b strings.Builder
	t.write(&b, after, patterns)
	return b.String()
}

func (t *Term) write(b *strings.Builder, after func(*Symbol) bool, patterns bool) {
	name := t.Name
	switch t.Op {
	case Number:
		b.WriteString(strconv.Itoa(t.Number))
		return
	case Call:
		name = t.Symbol.Name
		if after != nil && after(t.Symbol) {
			name += "!"
		}
	case ForAll, Exists:
		fmt.Fprintf(b, "(%s %s ", t.Name, Bindings(t.Vars))
		marked := patterns && len(t.Triggers) > 0
		if marked {
			b.WriteString("(! ")
		}
		t.Args[0].write(b, after, patterns)
		if marked {
			for _, terms := range t.Triggers {
				texts := make([]string, len(terms))
				for i, u := range terms {
					texts[i] = u.SMT(after, patterns)
				}
				fmt.Fprintf(b, " :pattern (%s)", strings.Join(texts, " "))
			}
			b.WriteString(")")
		}
		b.WriteString(")")
		return
	}
	if len(t.Args) == 0 {
		b.WriteString(name)
		return
	}
	b.WriteString("(" + name)
	for _, a := range t.Args {
		b.WriteString(" ")
		a.write(b, after, patterns)
	}
	b.WriteString(")")
}

// Bindings returns variables with their sorts in SMT-LIB.
func Bindings(vars []Binding) string {
	parts := make([]string, len(vars))
	for i, v := range vars {
		parts[i] = "(" + v.Name + " " + v.Sort + ")"
	}
	return "(" + strings.Join(parts, " ") + ")"
}

// scope holds the variables that a term may use.
type scope []Binding

func (s scope) sort(name string) (sort string, there bool) {
	for _, v := range s {
		if v.Name == name {
			return v.Sort, true
		}
	}
	return "", false
}

// term reads a term of a sort; "" is any.
func (r *reader) term(e *expression, vars scope, sort string) *Term {
	t := r.anyTerm(e, vars)
	if sort != "" && t.Sort != sort {
		e.at.fail("%s has the sort %s, and %s is expected", e, t.Sort, sort)
	}
	return t
}

func (r *reader) anyTerm(e *expression, vars scope) *Term {
	switch {
	case e.kind == words:
		e.at.fail("a term is expected here, not a text")
	case e.kind == atom:
		return r.leaf(e, vars)
	case len(e.list) == 0:
		e.at.fail("a term is expected here, not ()")
	}
	head, rest := &e.list[0], e.list[1:]
	name := head.atom("a function")
	switch name {
	case "forall", "exists":
		return r.quantified(e, name, vars)
	case "!":
		e.at.fail("a pattern stands directly in a quantifier")
	}
	if sorts, is := operators[name]; is {
		return r.operation(e, name, sorts, vars)
	}
	t := &Term{At: e.at, Op: Call, Symbol: r.symbols[name]}
	if t.Symbol == nil {
		head.at.fail("nothing is called %s", name)
	}
	if len(rest) != len(t.Symbol.Args) || len(rest) == 0 {
		e.at.fail("%s takes %d arguments, not %d", name, len(t.Symbol.Args), len(rest))
	}
	for i := range rest {
		t.Args = append(t.Args, r.term(&rest[i], vars, t.Symbol.Args[i]))
	}
	t.Sort = t.Symbol.Result
	return t
}

// leaf reads a number, a variable, a truth value, or a function without arguments.
func (r *reader) leaf(e *expression, vars scope) *Term {
	t := &Term{At: e.at, Name: e.text}
	if e.text[0] >= '0' && e.text[0] <= '9' {
		n, err := strconv.Atoi(e.text)
		if err != nil || n > math.MaxInt32 || strconv.Itoa(n) != e.text {
			e.at.fail("%s is no number that a model may have", e.text)
		}
		t.Op, t.Number, t.Sort = Number, n, Int
		return t
	}
	if sort, there := vars.sort(e.text); there {
		t.Op, t.Sort = Variable, sort
		return t
	}
	if e.text == "true" || e.text == "false" {
		t.Op, t.Sort = Operator, Bool
		return t
	}
	t.Op, t.Name, t.Symbol = Call, "", r.symbols[e.text]
	switch {
	case t.Symbol == nil:
		e.at.fail("nothing is called %s", e.text)
	case len(t.Symbol.Args) > 0:
		e.at.fail("%s takes %d arguments", e.text, len(t.Symbol.Args))
	}
	t.Sort = t.Symbol.Result
	return t
}

// operators are the built-in functions: the sort of arguments, "" if they are all of any one sort, and of the result.
var operators = map[string]struct {
	args, result string
	least, most  int
}{
	"not": {Bool, Bool, 1, 1}, "and": {Bool, Bool, 1, 0}, "or": {Bool, Bool, 1, 0}, "=>": {Bool, Bool, 2, 2},
	"=": {"", Bool, 2, 2}, "distinct": {"", Bool, 2, 0}, "ite": {"", "", 3, 3},
	"<": {Int, Bool, 2, 2}, "<=": {Int, Bool, 2, 2}, ">": {Int, Bool, 2, 2}, ">=": {Int, Bool, 2, 2}, "+": {Int, Int, 2, 0}, "-": {Int, Int, 1, 2},
}

func (r *reader) operation(e *expression, name string, takes struct {
	args, result string
	least, most  int
}, vars scope,
) *Term {
	t, rest := &Term{At: e.at, Op: Operator, Name: name, Sort: takes.result}, e.list[1:]
	if len(rest) < takes.least || takes.most > 0 && len(rest) > takes.most {
		e.at.fail("%s does not take %d arguments", name, len(rest))
	}
	sort := takes.args
	for i := range rest {
		want := sort
		if name == "ite" && i == 0 {
			want = Bool
		}
		a := r.term(&rest[i], vars, want)
		if want == "" {
			sort = a.Sort
		}
		t.Args = append(t.Args, a)
	}
	if t.Sort == "" {
		t.Sort = sort
	}
	return t
}

func (r *reader) quantified(e *expression, name string, vars scope) *Term {
	if len(e.list) != 3 {
		e.at.fail("%s takes variables and one term", name)
	}
	t := &Term{At: e.at, Op: ForAll, Name: name, Sort: Bool, Vars: r.bindings(&e.list[1], vars)}
	if name == "exists" {
		t.Op = Exists
	}
	if len(t.Vars) == 0 {
		e.list[1].at.fail("%s needs a variable", name)
	}
	body, inner := &e.list[2], append(vars[:len(vars):len(vars)], t.Vars...)
	if body.kind == list && len(body.list) > 1 && body.list[0].text == "!" {
		for i := 2; i < len(body.list); i += 2 {
			if body.list[i].text != ":pattern" || i+1 == len(body.list) {
				body.list[i].at.fail(":pattern and terms are expected here, not %s", &body.list[i])
			}
			var terms []*Term
			for _, p := range body.list[i+1].items("terms") {
				terms = append(terms, r.anyTerm(&p, inner))
			}
			t.Triggers = append(t.Triggers, terms)
		}
		body = &body.list[1]
	}
	t.Args = []*Term{r.term(body, inner, Bool)}
	return t
}

// bindings reads variables with their sorts. None may have the name of a function or of another variable.
func (r *reader) bindings(e *expression, outer scope) (vars []Binding) {
	for _, v := range e.items("variables with their sorts") {
		pair := v.items("a variable with its sort")
		if len(pair) != 2 {
			v.at.fail("a variable with its sort is expected here, not %s", &v)
		}
		name := r.name(&pair[0])
		if _, there := append(outer[:len(outer):len(outer)], vars...).sort(name); there {
			pair[0].at.fail("there is a variable %s already", name)
		}
		vars = append(vars, Binding{name, r.sort(&pair[1])})
	}
	return vars
}
