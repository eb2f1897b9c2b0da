package finite

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/internal/study/logic"
)

// Range is the integers from Least to Most, or some of them.
type Range struct {
	Least, Most int
	Only        []int // if not nil: these, in rising order, from Least to Most
}

func (r *Range) size() int {
	if r.Only != nil {
		return len(r.Only)
	}
	return r.Most - r.Least + 1
}

// value returns the integer at a place, from 0 on.
func (r *Range) value(place int) int {
	if r.Only != nil {
		return r.Only[place]
	}
	return r.Least + place
}

// place returns where an integer is, or -1.
func (r *Range) place(value int) int {
	if value < r.Least || value > r.Most {
		return -1
	}
	if r.Only == nil {
		return value - r.Least
	}
	place, found := slices.BinarySearch(r.Only, value)
	if !found {
		return -1
	}
	return place
}

// Interpretation is a finite interpretation of a model's sorts and constants. It does not change, but for what its methods keep while they
// run: each goroutine needs one of its own.
type Interpretation struct {
	Model *logic.Model

	elements map[string][]string
	integers Range
	few      []int   // see Try
	tables   []table // of the state functions
	place    map[*logic.Symbol]int
	values   map[*logic.Symbol]func(args []int) int // of the constants
	formulas map[*logic.Formula]evaluate
	actions  map[*logic.Action]*action
	goals    []*logic.Formula // invariants and safety
	initial  []evaluate       // by assignment
	compiled int              // terms
	stored   int              // values of functions
	left     int              // values of variables that may be tried; 0 or less: any number
	machine  machine
}

// table is how the values of a state function are stored.
type table struct {
	symbol *logic.Symbol
	args   []Range // by argument
	length int
	first  int // the number of the first of its values among those of all tables, in a guided search
}

// State is a state of an interpretation. Its tables are shared with other states, and only [Interpretation.Advance] changes it.
type State struct{ tables [][]int32 }

// New returns an interpretation. The elements of each sort have names, and there is a function for each constant: its arguments are as all values
// are. New reports an error if something is missing, if an axiom does not hold, or if the model is too large.
func New(m *logic.Model, elements map[string][]string, integers Range, constants map[string]func(args []int) int) (*Interpretation, error) {
	return interpretation(m, elements, integers, constants, 0)
}

// Bounded is New for a model that anyone may have written. It gives up, as with any model that is too large, if its axioms have too many variables.
func Bounded(m *logic.Model, elements map[string][]string, integers Range, constants map[string]func(args []int) int) (*Interpretation, error) {
	return interpretation(m, elements, integers, constants, mostTried)
}

func interpretation(m *logic.Model, elements map[string][]string, integers Range, constants map[string]func(args []int) int, most int) (*Interpretation, error) {
	i := &Interpretation{
		Model: m, elements: elements, integers: integers,
		place: map[*logic.Symbol]int{}, values: map[*logic.Symbol]func([]int) int{}, formulas: map[*logic.Formula]evaluate{}, actions: map[*logic.Action]*action{},
		goals: slices.Concat(m.Invariants, m.Safety),
	}
	for _, s := range m.Sorts {
		if len(elements[s.Name]) == 0 {
			return nil, fmt.Errorf("the sort %s has no elements", s.Name)
		}
	}
	for _, c := range m.Constants {
		if constants[c.Name] == nil {
			return nil, fmt.Errorf("the constant %s has no value", c.Name)
		}
	}
	var wrong error
	if err := i.limited(most, func() { wrong = i.prepare(constants) }); err != nil {
		return nil, err
	}
	if wrong != nil {
		return nil, wrong
	}
	return i, nil
}

// AxiomError reports an axiom that the constants of an interpretation break.
type AxiomError struct{ Axiom string }

func (e *AxiomError) Error() string { return fmt.Sprintf("the axiom %s does not hold", e.Axiom) }

// prepare compiles the model, and returns an error if an axiom does not hold.
func (i *Interpretation) prepare(constants map[string]func(args []int) int) error {
	m := i.Model
	for _, c := range m.Constants {
		i.values[c] = i.tabulated(c, constants[c.Name])
	}
	for _, s := range m.States {
		i.place[s] = len(i.tables)
		i.tables = append(i.tables, i.table(s))
	}
	for _, f := range slices.Concat(m.Axioms, i.goals, m.Lemmas) {
		i.formulas[f] = i.compile(f.Term, nil)
	}
	for _, a := range m.Actions {
		i.actions[a] = i.compileAction(a)
	}
	for _, set := range m.Initially {
		i.initial = append(i.initial, i.compile(set.Value, set.Vars))
	}
	blank := i.blank()
	for _, f := range m.Axioms {
		if !i.Holds(f, blank) {
			return &AxiomError{f.Name}
		}
	}
	return nil
}

// Try lets quantified integers take these values only; nil: all of the interpretation's range. That changes no formula in which an integer matters
// only where a state function has it as an argument and is not as it was at first there, if the values are all of those arguments.
func (i *Interpretation) Try(integers []int) { i.few = integers }

// domain returns the values of a sort.
func (i *Interpretation) domain(sort string) Range {
	switch sort {
	case logic.Bool:
		return Range{Most: 1}
	case logic.Int:
		return i.integers
	}
	return Range{Most: len(i.elements[sort]) - 1}
}

// tabulated returns a constant whose values are computed once, unless an argument is an integer.
func (i *Interpretation) tabulated(c *logic.Symbol, value func([]int) int) func([]int) int {
	if slices.Contains(c.Args, logic.Int) {
		return value
	}
	t := i.table(c)
	values := make([]int, t.length)
	for at := range values {
		values[at] = value(t.arguments(at))
	}
	return func(args []int) int { return values[t.index(args)] }
}

// table returns how the values of a function are stored.
func (i *Interpretation) table(s *logic.Symbol) table {
	t := table{symbol: s, length: 1}
	for _, sort := range s.Args {
		r := i.domain(sort)
		t.args = append(t.args, r)
		if t.length *= r.size(); t.length > mostValues {
			break
		}
	}
	if i.stored += t.length; i.stored > mostValues {
		i.tooLarge("with the function %s its functions have more than %d values", s.Name, mostValues)
	}
	return t
}

// Name returns a value of a sort as people read it.
func (i *Interpretation) Name(sort string, value int) string {
	switch {
	case sort == logic.Bool:
		return fmt.Sprint(value == 1)
	case sort == logic.Int:
		return fmt.Sprint(value)
	}
	return i.elements[sort][value]
}

// blank returns the state in which all is 0.
func (i *Interpretation) blank() *State {
	s := &State{}
	for _, t := range i.tables {
		s.tables = append(s.tables, make([]int32, t.length))
	}
	return s
}

// Initial returns the first state. What the model leaves open is 0.
func (i *Interpretation) Initial() *State {
	s := i.blank()
	for k, set := range i.Model.Initially {
		t := &i.tables[i.place[set.Symbol]]
		s.tables[i.place[set.Symbol]] = i.all(t, s, nil, i.initial[k])
	}
	return s
}

// all returns the values of a function for all arguments, as a term of them; variables before belong to an action.
func (i *Interpretation) all(t *table, s *State, before []int, value evaluate) []int32 {
	m := i.run(s, before)
	first := len(before)
	values := make([]int32, t.length)
	for at := range values {
		rest := at
		for k := len(t.args) - 1; k >= 0; k-- {
			m.vars[first+k] = t.args[k].value(rest % t.args[k].size())
			rest /= t.args[k].size()
		}
		values[at] = i.stored32(value(m))
	}
	return values
}

// stored32 returns a value as it is stored.
func (i *Interpretation) stored32(value int) int32 {
	if value != int(int32(value)) {
		i.tooLarge("an integer is %d", value)
	}
	return int32(value)
}

// index returns where the value for some arguments is, or -1.
func (t *table) index(args []int) int {
	at := 0
	for k, a := range args {
		place := t.args[k].place(a)
		if place < 0 {
			return -1
		}
		at = at*t.args[k].size() + place
	}
	return at
}

// Value returns the value of a state function.
func (i *Interpretation) Value(s *State, symbol *logic.Symbol, args ...int) int {
	place := i.place[symbol]
	if at := i.tables[place].index(args); at >= 0 {
		return int(s.tables[place][at])
	}
	return 0
}

// With returns a state that differs in one value.
func (i *Interpretation) With(s *State, symbol *logic.Symbol, value int, args ...int) *State {
	place := i.place[symbol]
	at := i.tables[place].index(args)
	if at < 0 {
		return s
	}
	next := &State{slices.Clone(s.tables)}
	next.tables[place] = slices.Clone(s.tables[place])
	next.tables[place][at] = i.stored32(value)
	return next
}

// Equal reports whether two states of an interpretation are the same.
func (s *State) Equal(other *State) bool {
	return slices.EqualFunc(s.tables, other.tables, slices.Equal[[]int32])
}

// Key returns a text that two states of an interpretation have in common if they are the same.
func (s *State) Key() string {
	var b []byte
	for _, t := range s.tables {
		for _, v := range t {
			b = append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
		}
	}
	return string(b)
}

// Fact is a value of a state function.
type Fact struct {
	Symbol *logic.Symbol
	Args   []int
	Value  int
}

// Facts returns the values of a state that differ from those of another one.
func (i *Interpretation) Facts(s, from *State) (facts []Fact) {
	for place, values := range s.tables {
		t := &i.tables[place]
		for at, v := range values {
			if v != from.tables[place][at] {
				facts = append(facts, Fact{t.symbol, t.arguments(at), int(v)})
			}
		}
	}
	return facts
}

func (t *table) arguments(at int) []int {
	args := make([]int, len(t.args))
	for k := len(args) - 1; k >= 0; k-- {
		args[k] = t.args[k].value(at % t.args[k].size())
		at /= t.args[k].size()
	}
	return args
}

// Text returns a fact as people read it.
func (i *Interpretation) Text(f Fact) string {
	text := f.Symbol.Name
	for k, a := range f.Args {
		text += " " + i.Name(f.Symbol.Args[k], a)
	}
	if len(f.Args) > 0 {
		text = "(" + text + ")"
	}
	switch {
	case f.Symbol.Result != logic.Bool:
		return text + " = " + i.Name(f.Symbol.Result, f.Value)
	case f.Value == 0:
		return "not " + text
	}
	return text
}

// Holds reports whether an axiom, an invariant, a lemma or a safety formula holds in a state.
func (i *Interpretation) Holds(f *logic.Formula, s *State) bool {
	return i.formulas[f](i.run(s, nil)) == 1
}

// Broken returns the invariants and safety formulas that do not hold in a state.
func (i *Interpretation) Broken(s *State) (broken []*logic.Formula) {
	for _, f := range i.goals {
		if !i.Holds(f, s) {
			broken = append(broken, f)
		}
	}
	return broken
}

// Elements returns the number of elements of a sort.
func (i *Interpretation) Elements(sort string) int { return len(i.elements[sort]) }
