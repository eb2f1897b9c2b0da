package logic

import (
	"slices"
)

// form is one of the forms of a model.
type form struct {
	parts       string // for errors
	least, most int    // how many; most is 0: any number
	read        func(r *reader, e *expression, parts []expression)
}

func forms() map[string]form {
	return map[string]form{
		"model":      {`NAME (title "…") (theorem "…") (source "…") (code "FOLDER")`, 1, 0, (*reader).head},
		"assumption": {`NAME "what is assumed" (holds "…") (breaks "…")`, 4, 4, (*reader).assumption},
		"include":    {"NAME", 1, 1, (*reader).include},
		"sort":       {`NAME "words"`, 2, 2, (*reader).newSort},
		"constant":   {`NAME (SORT …) SORT "words"`, 4, 4, (*reader).constant},
		"axiom":      {`NAME "the reason" TERM`, 3, 4, (*reader).axiom},
		"state":      {`NAME (SORT …) SORT "words"`, 4, 4, (*reader).state},
		"define":     {`NAME ((x SORT) …) SORT "words" TERM`, 5, 5, (*reader).define},
		"initially":  {"(f x …) TERM", 2, 2, (*reader).initially},
		"action":     {`NAME ((X SORT) …) "words" CLAUSE …`, 4, 0, (*reader).action},
		"invariant":  {`NAME "words" TERM`, 3, 4, (*reader).invariant},
		"lemma":      {`NAME "words" TERM (by NAME …)`, 4, 4, (*reader).lemma},
		"safety":     {`NAME "words" TERM`, 3, 3, (*reader).safety},
		"step":       {`NAME ACTION "words" TERM`, 4, 4, (*reader).step},
		"premises":   {"ACTION INVARIANT NAME …", 2, 0, (*reader).premises},
		"tie":        {`a|b|c "FOLDER" "TEST"`, 3, 3, (*reader).tie},
	}
}

// reserved are names that mean something to a solver.
var reserved = []string{
	"as", "let", "par", "match", "lambda", "select", "store", "abs", "div", "mod", "xor", "concat", "extract", "repeat", "iand", "choice",
	"true", "false", "forall", "exists", "not", "and", "or", "distinct", "ite", Bool, Int, "Real", "String", "Array", "Set", "Bag", "Seq", "Table", "Relation", "RegLan",
}

// isName reports whether a text has the form of a name. A regular expression would cost each process a millisecond when it starts.
func isName(text string) bool {
	for i, c := range []byte(text) {
		letter := 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return 0 < len(text) && len(text) <= 60
}

// name reads a new name.
func (r *reader) name(e *expression) string {
	name := e.atom("a name")
	switch {
	case !isName(name):
		e.at.fail("%q is no name: up to 60 letters, digits and hyphens, of which the first is a letter", name)
	case slices.Contains(reserved, name):
		e.at.fail("solvers use the name %s themselves", name)
	case r.symbols[name] != nil || r.isSort(name):
		e.at.fail("there is a %s already", name)
	}
	return name
}

// title reads a new name of a formula.
func (r *reader) title(e *expression) string {
	name := e.atom("a name")
	if !isName(name) {
		e.at.fail("%q is no name: up to 60 letters, digits and hyphens, of which the first is a letter", name)
	}
	if r.names[name] {
		e.at.fail("there is a formula %s already", name)
	}
	r.names[name] = true
	return name
}

func (r *reader) isSort(name string) bool {
	return name == Bool || name == Int || slices.ContainsFunc(r.Sorts, func(s Sort) bool { return s.Name == name })
}

func (r *reader) sort(e *expression) string {
	name := e.atom("a sort")
	if !r.isSort(name) {
		e.at.fail("there is no sort %s", name)
	}
	return name
}

func (r *reader) head(e *expression, parts []expression) {
	if r.Name != "" {
		e.at.fail("a model has one head")
	}
	r.Name = r.name(&parts[0])
	texts := map[string]*string{"title": &r.Title, "theorem": &r.Theorem, "source": &r.Source, "code": &r.Code}
	for _, p := range parts[1:] {
		field := p.items("a part of the head")
		switch {
		case len(field) == 1 && field[0].text == "search":
			r.Search = true
		case len(field) == 2 && texts[field[0].text] != nil:
			*texts[field[0].text] = field[1].words("a text")
		default:
			p.at.fail("the head has title, theorem, source, code and search, not %s", &p)
		}
	}
	for _, name := range []string{"title", "theorem", "source", "code"} {
		if *texts[name] == "" {
			e.at.fail("the head has no %s", name)
		}
	}
}

func (r *reader) assumption(_ *expression, parts []expression) {
	r.Assumptions = append(r.Assumptions, Assumption{
		parts[0].atom("a name"), parts[1].words("what is assumed"), labelled(&parts[2], "holds"), labelled(&parts[3], "breaks"),
	})
}

// labelled reads a list of a word and a text.
func labelled(e *expression, label string) string {
	pair := e.items("(" + label + ` "…")`)
	if len(pair) != 2 || pair[0].text != label {
		e.at.fail("(%s \"…\") is expected here, not %s", label, e)
	}
	return pair[1].words("a text")
}

func (r *reader) include(e *expression, parts []expression) {
	name := parts[0].atom("a name") + ".axioms"
	if !isName(parts[0].text) || r.included[name] {
		e.at.fail("%s is no name of a file, or it is included already", parts[0].text)
	}
	r.included[name] = true
	text, err := read(r.files, name)
	if err != nil {
		e.at.fail("%s cannot be read", name)
	}
	r.text(name, text)
}

func (r *reader) newSort(_ *expression, parts []expression) {
	r.Sorts = append(r.Sorts, Sort{r.name(&parts[0]), parts[1].words("words")})
}

func (r *reader) symbol(role Role, parts []expression) *Symbol {
	s := &Symbol{At: parts[0].at, Role: role, Name: r.name(&parts[0]), Words: parts[3].words("words")}
	for _, a := range parts[1].items("sorts") {
		s.Args = append(s.Args, r.sort(&a))
	}
	s.Result = r.sort(&parts[2])
	r.symbols[s.Name] = s
	return s
}

func (r *reader) constant(_ *expression, parts []expression) {
	r.Constants = append(r.Constants, r.symbol(Constant, parts))
}

func (r *reader) state(_ *expression, parts []expression) {
	r.States = append(r.States, r.symbol(State, parts))
}

func (r *reader) define(_ *expression, parts []expression) {
	s := &Symbol{At: parts[0].at, Role: Defined, Name: r.name(&parts[0]), Parameters: r.bindings(&parts[1], nil), Result: r.sort(&parts[2]), Words: parts[3].words("words")}
	for _, v := range s.Parameters {
		s.Args = append(s.Args, v.Sort)
	}
	s.Body = r.term(&parts[4], s.Parameters, s.Result)
	r.symbols[s.Name] = s
	r.Definitions = append(r.Definitions, s)
}

// formula reads a name, words, and a formula, with (spare …) where that may be.
func (r *reader) formula(parts []expression, vars scope) *Formula {
	f := &Formula{At: parts[0].at, Name: r.title(&parts[0]), Words: parts[1].words("words"), Term: r.term(&parts[2], vars, Bool)}
	if len(parts) > 3 {
		f.Spare = labelled(&parts[3], "spare")
	}
	return f
}

func (r *reader) axiom(e *expression, parts []expression) {
	f := r.formula(parts, nil)
	if f.Term.Reads(func(*Symbol) bool { return true }) {
		e.at.fail("an axiom is about what never changes")
	}
	r.Axioms = append(r.Axioms, f)
}

func (r *reader) invariant(_ *expression, parts []expression) {
	r.Invariants = append(r.Invariants, r.formula(parts, nil))
}

func (r *reader) safety(_ *expression, parts []expression) {
	r.Safety = append(r.Safety, r.formula(parts, nil))
}

func (r *reader) lemma(_ *expression, parts []expression) {
	by := r.by(&parts[3])
	f := r.formula(parts[:3], nil)
	f.By = by
	r.Lemmas = append(r.Lemmas, f)
}

// by reads the names of invariants and lemmas in (by …).
func (r *reader) by(e *expression) (names []string) {
	items := e.items("(by NAME …)")
	if len(items) == 0 || items[0].text != "by" {
		e.at.fail("(by NAME …) is expected here, not %s", e)
	}
	return r.known(items[1:])
}

// known reads names of invariants and earlier lemmas.
func (r *reader) known(items []expression) (names []string) {
	for _, n := range items {
		if r.Formula(n.atom("a name")) == nil {
			n.at.fail("no invariant or earlier lemma is called %s", n.text)
		}
		names = append(names, n.text)
	}
	return names
}

func (r *reader) step(_ *expression, parts []expression) {
	a := r.actionOf(&parts[1])
	f := r.formula([]expression{parts[0], parts[2], parts[3]}, a.Parameters)
	f.Action = a.Name
	r.Steps = append(r.Steps, f)
}

func (r *reader) actionOf(e *expression) *Action {
	a := r.Action(e.atom("an action"))
	if a == nil {
		e.at.fail("there is no action %s", e.text)
	}
	return a
}

func (r *reader) premises(e *expression, parts []expression) {
	p := Premises{e.at, r.actionOf(&parts[0]).Name, parts[1].atom("an invariant"), r.known(parts[2:])}
	if named(r.Invariants, p.Invariant) == nil {
		parts[1].at.fail("no invariant is called %s", p.Invariant)
	}
	r.Premises = append(r.Premises, p)
}

func (r *reader) tie(_ *expression, parts []expression) {
	kind := parts[0].atom("a, b or c")
	if !slices.Contains([]string{"a", "b", "c"}, kind) {
		parts[0].at.fail("a tie is a, b or c, not %s", kind)
	}
	r.Ties = append(r.Ties, Tie{kind, parts[1].words("a folder"), parts[2].words("a test")})
}

func (r *reader) initially(e *expression, parts []expression) {
	set := r.assignment(e, "set", parts, nil)
	if slices.ContainsFunc(r.Initially, func(other *Assignment) bool { return other.Symbol == set.Symbol }) {
		e.at.fail("%s has a value at first already", set.Symbol.Name)
	}
	if set.Value.Reads(func(*Symbol) bool { return true }) {
		e.at.fail("what holds at first depends on what never changes only")
	}
	r.Initially = append(r.Initially, set)
}

// assignment reads a change of a state function.
func (r *reader) assignment(e *expression, how string, parts []expression, vars scope) *Assignment {
	target := &parts[0]
	items := []expression{*target}
	if target.kind == list {
		items = target.list
	}
	if len(items) == 0 {
		target.at.fail("a state function is expected here, not ()")
	}
	set := &Assignment{At: e.at, Symbol: r.symbols[items[0].atom("a state function")]}
	switch {
	case set.Symbol == nil || set.Symbol.Role != State:
		items[0].at.fail("%s is no state function", items[0].text)
	case len(items)-1 != len(set.Symbol.Args):
		target.at.fail("%s takes %d arguments, not %d", set.Symbol.Name, len(set.Symbol.Args), len(items)-1)
	}
	inner := vars
	for i := range items[1:] {
		arg, sort := &items[i+1], set.Symbol.Args[i]
		if how == "put" {
			set.Where = append(set.Where, r.term(arg, vars, sort))
			continue
		}
		name := r.name(arg)
		if _, there := inner.sort(name); there {
			arg.at.fail("there is a variable %s already", name)
		}
		set.Vars = append(set.Vars, Binding{name, sort})
		inner = append(inner[:len(inner):len(inner)], Binding{name, sort})
	}
	set.Value = r.term(&parts[1], inner, set.Symbol.Result)
	return set
}

func (r *reader) action(e *expression, parts []expression) {
	name := parts[0].atom("a name")
	if !isName(name) || r.Action(name) != nil {
		parts[0].at.fail("%s is no name, or there is an action of that name already", name)
	}
	a := &Action{At: e.at, Name: name, Parameters: r.bindings(&parts[1], nil), Words: parts[2].words("words")}
	for i := range parts[3:] {
		r.clause(a, &parts[3+i])
	}
	if len(a.Assignments) == 0 {
		e.at.fail("the action %s changes nothing", a.Name)
	}
	r.Actions = append(r.Actions, a)
}

func (r *reader) clause(a *Action, c *expression) {
	items := c.items("a clause")
	if len(items) < 3 {
		c.at.fail("a clause is (guard \"words\" TERM), (put (f TERM …) TERM) or (set (f x …) TERM), not %s", c)
	}
	switch how := items[0].text; {
	case how == "guard" && len(items) <= 4:
		g := &Formula{At: c.at, Words: items[1].words("words"), Term: r.term(&items[2], a.Parameters, Bool)}
		if len(items) == 4 {
			g.Spare = labelled(&items[3], "spare")
		}
		a.Guards = append(a.Guards, g)
	case (how == "put" || how == "set") && len(items) == 3:
		set := r.assignment(c, how, items[1:], a.Parameters)
		if a.Changes(set.Symbol) {
			c.at.fail("the action changes %s already", set.Symbol.Name)
		}
		a.Assignments = append(a.Assignments, set)
	default:
		c.at.fail("a clause is (guard \"words\" TERM), (put (f TERM …) TERM) or (set (f x …) TERM), not %s", c)
	}
}
