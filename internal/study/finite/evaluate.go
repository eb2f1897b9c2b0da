package finite

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/internal/study/logic"
)

// machine is what a compiled term reads.
type machine struct {
	*Interpretation
	state  *State
	vars   []int
	tracks bool
	reads  []int // while it tracks: the values of state functions on which the value of a term depends
}

// read returns a value of a state function.
func (m *machine) read(place, at int) int {
	if m.tracks {
		m.reads = append(m.reads, m.tables[place].first+at)
	}
	return int(m.state.tables[place][at])
}

// forget forgets what was read from a mark to another one: the value does not depend on it.
func (m *machine) forget(from, to int) {
	if m.tracks && from < to {
		m.reads = append(m.reads[:from], m.reads[to:]...)
	}
}

// evaluate is a compiled term.
type evaluate func(m *machine) int

// The limits of a model that is evaluated. A model that is beyond them is a [TooLargeError].
const (
	mostVars   = 256        // of a term
	mostTerms  = 1_000_000  // of all terms, with definitions in the places where they are used
	mostValues = 1 << 25    // of all functions
	mostFacts  = 1 << 20    // that a search tries
	mostTried  = 50_000_000 // values of variables for all axioms, of a model that anyone may have written
	mostAState = 10_000_000 // likewise, for a state of a search
)

// TooLargeError reports a model that exceeds a limit of this package. What names the part and the limit.
type TooLargeError struct{ Model, What string }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s is too large to be evaluated: %s", e.Model, e.What)
}

// tooLarge ends what a method does that [Interpretation.limited] has begun.
func (i *Interpretation) tooLarge(format string, args ...any) {
	panic(&TooLargeError{i.Model.Name, fmt.Sprintf(format, args...)})
}

// limited does something, and returns the error of a limit that was reached. It tries at most so many values of variables; 0: any number.
func (i *Interpretation) limited(most int, do func()) (err error) {
	defer func() {
		i.left = 0
		if bad := recover(); bad != nil {
			large, is := bad.(*TooLargeError)
			if !is {
				panic(bad)
			}
			err = large
		}
	}()
	i.left = most
	do()
	return nil
}

// run returns the machine for a state and the first variables.
func (i *Interpretation) run(s *State, vars []int) *machine {
	m := &i.machine
	if m.vars == nil {
		m.Interpretation, m.vars = i, make([]int, mostVars)
	}
	m.state = s
	copy(m.vars, vars)
	return m
}

// variable is a variable of a term, and where its value is.
type variable struct {
	name string
	at   int
}

// compile returns a term as a function. The variables are the first ones of the machine.
func (i *Interpretation) compile(t *logic.Term, vars []logic.Binding) evaluate {
	c := &compiler{Interpretation: i}
	for _, v := range vars {
		c.bind(v.Name)
	}
	return c.term(t)
}

type compiler struct {
	*Interpretation
	vars []variable
	used int
	post *logic.Action // nil, or the action after which a term is evaluated, in the state before it; its parameters are the first variables
}

func (c *compiler) bind(name string) int {
	if c.used == mostVars {
		c.tooLarge("a term has more than %d variables", mostVars)
	}
	c.vars = append(c.vars, variable{name, c.used})
	c.used++
	return c.used - 1
}

func (c *compiler) at(name string) int {
	for _, v := range slices.Backward(c.vars) {
		if v.name == name {
			return v.at
		}
	}
	panic("there is no variable " + name)
}

func (c *compiler) terms(all []*logic.Term) []evaluate {
	compiled := make([]evaluate, len(all))
	for k, t := range all {
		compiled[k] = c.term(t)
	}
	return compiled
}

func (c *compiler) term(t *logic.Term) evaluate {
	if c.compiled++; c.compiled > mostTerms {
		c.tooLarge("with definitions in the places where they are used it has more than %d terms", mostTerms)
	}
	switch t.Op {
	case logic.Number:
		return func(*machine) int { return t.Number }
	case logic.Variable:
		at := c.at(t.Name)
		return func(m *machine) int { return m.vars[at] }
	case logic.Operator:
		return operator(t.Name, c.terms(t.Args))
	case logic.Call:
		return c.call(t)
	}
	// All x hold unless one does not.
	outer, positive := c.vars, t.Op == logic.Exists
	conditions := conjuncts(t.Args[0], positive)
	x, y := chain(t.Vars, conditions)
	found := c.search(t.Vars, conditions, x, y)
	c.vars = outer
	return func(m *machine) int { return truth(found(m, nil) == positive) }
}

func (c *compiler) call(t *logic.Term) evaluate {
	if t.Symbol.Role == logic.Defined {
		return c.definition(t)
	}
	args := c.terms(t.Args)
	values := make([]int, len(args))
	if t.Symbol.Role == logic.Constant {
		value := c.values[t.Symbol]
		return func(m *machine) int {
			for k, a := range args {
				values[k] = a(m)
			}
			return value(values)
		}
	}
	place := c.place[t.Symbol]
	if c.post != nil && c.post.Changes(t.Symbol) {
		return c.changed(place, args)
	}
	table := &c.tables[place]
	return func(m *machine) int {
		at := 0
		for k, a := range args {
			arg := &table.args[k]
			place := arg.place(a(m))
			if place < 0 {
				return 0
			}
			at = at*arg.size() + place
		}
		return m.read(place, at)
	}
}

// definition compiles a definition with its arguments as variables.
func (c *compiler) definition(t *logic.Term) evaluate {
	args, outer := c.terms(t.Args), c.vars
	first := c.used
	c.vars = nil
	if c.post != nil {
		c.vars = outer[:len(c.post.Parameters):len(c.post.Parameters)]
	}
	for _, p := range t.Symbol.Parameters {
		c.bind(p.Name)
	}
	body := c.term(t.Symbol.Body)
	c.vars = outer
	return func(m *machine) int {
		for k, a := range args {
			m.vars[first+k] = a(m)
		}
		return body(m)
	}
}

func truth(is bool) int {
	if is {
		return 1
	}
	return 0
}

// operator returns a built-in function of its arguments.
func operator(name string, args []evaluate) evaluate {
	if name == "ite" {
		return func(m *machine) int { return args[2-args[0](m)](m) }
	}
	if len(args) == 2 {
		if f := binary(args[0], args[1])[name]; f != nil {
			return func(m *machine) int { return truth(f(m)) }
		}
	}
	switch name {
	case "true":
		return func(*machine) int { return 1 }
	case "false":
		return func(*machine) int { return 0 }
	case "not":
		return func(m *machine) int { return 1 - args[0](m) }
	case "and", "or":
		decides := truth(name == "or")
		return func(m *machine) int {
			from := len(m.reads)
			for _, a := range args {
				to := len(m.reads)
				if a(m) == decides {
					m.forget(from, to)
					return decides
				}
			}
			return 1 - decides
		}
	case "distinct":
		return func(m *machine) int {
			for k, a := range args {
				for _, b := range args[:k] {
					if a(m) == b(m) {
						return 0
					}
				}
			}
			return 1
		}
	}
	sign := 1 // + and -
	if name == "-" {
		sign = -1
	}
	return func(m *machine) int {
		sum := args[0](m)
		if len(args) == 1 {
			return sign * sum
		}
		for _, a := range args[1:] {
			sum += sign * a(m)
		}
		return sum
	}
}

func binary(a, b evaluate) map[string]func(m *machine) bool {
	return map[string]func(m *machine) bool{
		"=>": func(m *machine) bool {
			from := len(m.reads)
			if a(m) == 0 {
				return true
			}
			to := len(m.reads)
			if b(m) == 0 {
				return false
			}
			m.forget(from, to)
			return true
		},
		"=":  func(m *machine) bool { return a(m) == b(m) },
		"<":  func(m *machine) bool { return a(m) < b(m) },
		"<=": func(m *machine) bool { return a(m) <= b(m) },
		">":  func(m *machine) bool { return a(m) > b(m) },
		">=": func(m *machine) bool { return a(m) >= b(m) },
	}
}

// condition is a term that has to be true or false.
type condition struct {
	term *logic.Term
	is   bool
}

// conjuncts returns conditions that hold together when the term has the value.
func conjuncts(t *logic.Term, is bool) (all []condition) {
	switch {
	case t.Op == logic.Operator && (t.Name == "and" && is || t.Name == "or" && !is):
		for _, a := range t.Args {
			all = append(all, conjuncts(a, is)...)
		}
		return all
	case t.Op == logic.Operator && t.Name == "=>" && !is:
		return append(conjuncts(t.Args[0], true), conjuncts(t.Args[1], false)...)
	case t.Op == logic.Operator && t.Name == "not":
		return conjuncts(t.Args[0], !is)
	}
	return []condition{{t, is}}
}

// level is a variable of a search, with what can be tested as soon as it has a value.
type level struct {
	at     int
	values Range
	few    *[]int // the values instead, unless it points to nil
	after  int    // the place of a variable whose next integer is the only value; -1: none
	tests  []evaluate
}

// search compiles a search for values of variables with which all conditions hold. It calls found for each, until that returns true;
// nil is a function that does. A condition with few variables comes first, so that most values are never tried. If x and y are a [chain], y takes only the
// integer after x.
func (c *compiler) search(vars []logic.Binding, conditions []condition, x, y string) func(m *machine, found func() bool) bool {
	slots := make([]int, len(vars))
	for k, v := range vars {
		slots[k] = c.bind(v.Name)
	}
	bound := make([]bool, len(vars))
	missing := func(d condition) (open []int) {
		d.term.Visit(func(t *logic.Term) {
			if k := slices.IndexFunc(vars, func(v logic.Binding) bool { return t.Op == logic.Variable && v.Name == t.Name }); k >= 0 && !bound[k] && !slices.Contains(open, k) {
				open = append(open, k)
			}
		})
		return open
	}
	levels := []level{{at: -1, after: -1}} // a variable that is none, with one value
	var bind func(k int)
	bind = func(k int) {
		if bound[k] {
			return
		}
		bound[k] = true
		l := level{at: slots[k], values: c.domain(vars[k].Sort), after: -1}
		if vars[k].Sort == logic.Int {
			l.few = &c.few
		}
		if vars[k].Name == y {
			first := slices.IndexFunc(vars, func(v logic.Binding) bool { return v.Name == x })
			bind(first)
			l.after = slots[first]
		}
		levels = append(levels, l)
	}
	for rest := slices.Clone(conditions); len(rest) > 0; {
		next := 0
		for k := range rest {
			if len(missing(rest[k])) < len(missing(rest[next])) {
				next = k
			}
		}
		for _, k := range missing(rest[next]) {
			bind(k)
		}
		last, value, is := &levels[len(levels)-1], c.term(rest[next].term), truth(rest[next].is)
		last.tests = append(last.tests, func(m *machine) int { return truth(value(m) == is) })
		rest = slices.Delete(rest, next, next+1)
	}
	for k := range vars {
		bind(k)
	}
	return func(m *machine, found func() bool) bool { return try(m, levels, found) }
}

func try(m *machine, levels []level, found func() bool) bool {
	if len(levels) == 0 {
		return found == nil || found()
	}
	l := &levels[0]
	from := len(m.reads)
	if l.few != nil && *l.few != nil {
		for _, v := range *l.few {
			if l.holds(m, v) && try(m, levels[1:], found) {
				return true
			}
		}
		return false
	}
	low, high := 0, l.values.size()
	if l.after >= 0 {
		low = l.values.place(m.vars[l.after]) + 1
		high = min(low+1, high)
	}
	for place := low; place < high; place++ {
		to := len(m.reads)
		if l.holds(m, l.values.value(place)) && try(m, levels[1:], found) {
			m.forget(from, to) // one value is enough
			return true
		}
	}
	return false
}

// holds gives the variable a value, and reports whether all tests pass.
func (l *level) holds(m *machine, value int) bool {
	if m.left--; m.left == 0 { // without a limit it is below
		m.tooLarge("too many values of variables are to be tried")
	}
	if l.at >= 0 {
		m.vars[l.at] = value
	}
	for _, t := range l.tests {
		if t(m) == 0 {
			return false
		}
	}
	return true
}
