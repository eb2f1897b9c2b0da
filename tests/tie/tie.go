package tie

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing/fstest"

	"ringleader.example/ringleader/internal/study/logic"
	"ringleader.example/ringleader/internal/study/prove"
	"ringleader.example/ringleader/tests/symbolic"
)

// Tie is the claim that each step of some handlers is a sequence of actions of a model.
type Tie struct {
	code     *Code
	handlers *symbolic.Handlers
	files    fs.FS
	text     string // the model, and what all paths share
	base     *logic.Model
	fields   []symbolic.Field // of a process, as New leaves them
	message  []symbolic.Field // as a step receives it
	Paths    []*Tied
}

// Tied is a path with the actions that it is.
type Tied struct {
	*symbolic.Path
	Case    string // a condition by which the path is split; "" if it is not
	Actions [][]string
	Parts   []Part
	text    string // of its form action, and of what that needs
}

// Part is something to prove of a path.
type Part struct {
	Name  string // what holds after the path: guards, coupled, messages or decisions
	Goals []string
}

// New ties handlers to a model. The files are those of folder proofs.
func New(files fs.FS, code *Code, h *symbolic.Handlers) (*Tie, error) {
	t := &Tie{code: code, handlers: h, files: files}
	model, err := fs.ReadFile(files, code.Name+".model")
	if err != nil {
		return nil, err
	}
	t.fields, t.message = h.Begin()
	t.text = string(model) + t.shared()
	if t.base, err = t.load(""); err != nil {
		return nil, err
	}
	for _, handler := range []string{"new", "start", "receive"} {
		paths, err := h.Execute(handler)
		if err != nil {
			return nil, err
		}
		if handler == "new" {
			t.Paths = append(t.Paths, t.first(paths))
			continue
		}
		for _, p := range paths {
			if err := t.add(handler, p); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

// load reads the model with more text behind it.
func (t *Tie) load(more string) (*logic.Model, error) {
	name := t.code.Name + ".code"
	return logic.Load(fstest.MapFS{name: {Data: []byte(t.text + more)}}, t.files, name)
}

func isOrdered(c *Code, kind string) bool { return slices.Contains(c.ordered, kind) }

// sort returns the sort of a field in a model.
func sort(f symbolic.Field) string {
	if f.Value.Truth() {
		return logic.Bool
	}
	return logic.Int
}

// shared returns the forms that all paths share.
func (t *Tie) shared() string {
	var b strings.Builder
	f := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	f("")
	var includes []string
	for _, o := range t.code.others {
		if strings.HasPrefix(o, "(include ") {
			includes = append(includes, o)
		}
	}
	f("%s", strings.Join(includes, "\n"))
	f(`(constant me () Process "the process that takes the step")(constant other () Process "another process")`)
	f(`(constant m-kind () Int "of the message that is received")(constant m-port () Int "where it arrives")`)
	f(`(constant any-n () Process "the receiver of any message")(constant any-port () Int "where it arrives")(constant any-number () Int "its number")`)
	for _, field := range t.fields {
		f("(state go-%s (Process) %s \"the field of that name\")", field.Name, sort(field))
	}
	for _, field := range t.message {
		f("(constant m-%s () %s \"of the message\")(constant any-%[1]s () %s \"of any message\")", field.Name, sort(field), sort(field))
	}
	for _, kind := range t.code.ordered {
		f("(state out-%s (Process Int) Int \"how many the process has sent out of that port\")", kind)
		f("(state in-%s (Process Int) Int \"how many it has received on that port\")", kind)
	}
	f(`(state done () Bool "a step was made")`)
	for _, o := range t.code.others {
		if !strings.HasPrefix(o, "(include ") {
			f("%s", o)
		}
	}
	for _, c := range t.code.coupled {
		f("(define coupled-%s ((n Process)) Bool %q %s)", c.name, c.words, c.term)
	}
	for _, d := range t.code.decisions {
		parameters := map[string]string{"Follow": "(leader Int)"}[d.name]
		f("(define decision-%s (%s) Bool %q %s)", d.name, parameters, d.words, d.term)
	}
	for _, m := range t.code.messages {
		parameters := "(n Process) (port Int)"
		for _, field := range t.message {
			parameters += fmt.Sprintf(" (%s %s)", field.Name, sort(field))
		}
		for _, w := range m.witnesses {
			f("(constant m-%s () Process \"of the message\")(constant any-%[1]s () Process \"of any message\")", w)
			parameters += fmt.Sprintf(" (%s Process)", w)
		}
		if isOrdered(t.code, m.name) {
			parameters += " (number Int)"
		}
		f("(define message-%s (%s) Bool %q %s)", m.name, parameters, m.words, m.term)
	}
	return b.String()
}

// kind returns the number of a kind.
func (t *Tie) kind(name string) int { return slices.Index(t.handlers.Kinds, name) }

// begins returns what holds before each step.
func (t *Tie) begins(handler string) (guards []string) {
	guards = append(guards, "(distinct other me)")
	for _, c := range t.code.coupled {
		for _, p := range append([]string{"me", "other", "(next me)", "(left-of me)", "(next other)", "(left-of other)"}, t.code.also...) {
			guards = append(guards, fmt.Sprintf("(coupled-%s %s)", c.name, p))
		}
	}
	natural := func(fields []symbolic.Field, format string) {
		for _, field := range fields {
			if field.Natural {
				guards = append(guards, fmt.Sprintf("(<= 0 "+format+")", field.Name))
			}
		}
	}
	natural(t.fields, "(go-%s me)")
	if handler == "receive" {
		natural(t.message, "m-%s")
		guards = append(guards, "(or (= m-port 0) (= m-port 1))", fmt.Sprintf("(and (<= 0 m-kind) (< m-kind %d))", len(t.handlers.Kinds)))
		for _, m := range t.code.messages {
			args := t.arguments("m-", m)
			if isOrdered(t.code, m.name) {
				args += fmt.Sprintf(" (in-%s me m-port)", m.name)
			}
			guards = append(guards, fmt.Sprintf("(=> (= m-kind %d) (message-%s me m-port%s))", t.kind(m.name), m.name, args))
		}
	}
	for _, a := range t.code.assumed {
		guards = append(guards, a.term)
	}
	return guards
}

// arguments returns the fields and witnesses of a message, with a prefix.
func (t *Tie) arguments(prefix string, m message) string {
	var b strings.Builder
	for _, field := range t.message {
		b.WriteString(" " + prefix + field.Name)
	}
	for _, w := range m.witnesses {
		b.WriteString(" " + prefix + w)
	}
	return b.String()
}

// first returns the claim that New and the beginning of the model are coupled.
func (t *Tie) first(paths []*symbolic.Path) *Tied {
	var any []string
	constants := map[string]bool{}
	for _, p := range paths {
		all := []string{}
		for _, c := range p.Conditions {
			all = append(all, c.SMT())
		}
		for _, field := range p.Fields {
			all = append(all, fmt.Sprintf("(= (go-%s n) %s)", field.Name, field.Value.SMT()))
		}
		any = append(any, "(and "+strings.Join(all, " ")+")")
		for _, word := range strings.FieldsFunc(p.Text(), func(r rune) bool { return strings.ContainsRune("() ", r) }) {
			if strings.HasPrefix(word, "any-") || strings.HasPrefix(word, "l-") {
				constants[word] = true
			}
		}
	}
	guards := []string{"(forall ((n Process)) (or " + strings.Join(any, " ") + "))"}
	for _, kind := range t.code.ordered {
		guards = append(guards, fmt.Sprintf("(forall ((n Process) (port Int)) (and (= (in-%s n port) 0) (= (out-%[1]s n port) 0)))", kind))
	}
	for _, set := range t.base.Initially {
		term := equal(call(set.Symbol.Name, names(set.Vars)), set.Value.String())
		if len(set.Vars) > 0 {
			term = fmt.Sprintf("(forall %s %s)", logic.Bindings(set.Vars), term)
		}
		guards = append(guards, term)
	}
	tied := &Tied{Path: &symbolic.Path{Name: "new", At: paths[0].At}}
	for _, c := range slices.Sorted(maps.Keys(constants)) {
		switch {
		case c == "l-ID":
			tied.text += "(constant l-ID (Process) Int \"of what New is given\")\n(axiom given \"New is given the identifier\" (forall ((p Process)) (= (l-ID p) (id p))))\n"
		case strings.HasPrefix(c, "any-"):
			tied.text += fmt.Sprintf("(constant %s () Bool \"whether the parameter has this value\")\n", c)
		default:
			tied.text += fmt.Sprintf("(constant %s (Process) Int \"of what New is given\")\n", c)
		}
	}
	tied.text += action(tied.Name, guards)
	var goals []string
	for _, c := range t.code.coupled {
		goals = append(goals, fmt.Sprintf("(coupled-%s me)", c.name))
	}
	tied.Parts = []Part{{"coupled", goals}}
	return tied
}

// action returns the form of an action with these guards.
func action(name string, guards []string) string {
	return fmt.Sprintf("(action %s () \"a path\"\n  (guard \"%[1]s\" %s)\n  (put (done) true))\n", name, strings.Join(guards, ")\n  (guard \""+name+"\" "))
}

// add ties a path, in each case.
func (t *Tie) add(handler string, p *symbolic.Path) error {
	cases := []string{""}
	if t.code.cases != nil && handler == "receive" {
		cases = []string{t.code.cases.term, "(not " + t.code.cases.term + ")"}
	}
	for i, c := range cases {
		inCase := *p
		if len(cases) > 1 {
			inCase.Name += string(rune('a' + i))
			yes := symbolic.Name([]string{"", "!"}[i]+t.code.cases.words, c, true)
			inCase.Conditions = append(slices.Clone(p.Conditions), yes)
		}
		actions, err := t.code.actions(handler, &inCase)
		if err != nil {
			return err
		}
		tied, err := t.tie(handler, &Tied{Path: &inCase, Case: c, Actions: actions})
		if err != nil {
			return err
		}
		t.Paths = append(t.Paths, tied)
	}
	return nil
}

// ofTie are the names of definitions that a tie makes.
var ofTie = regexp.MustCompile("^(coupled|message|decision)-")

// world has the present names of symbols that a path has changed.
type world struct {
	*Tie
	prefix string
	now    map[string]string
	text   strings.Builder
	count  int
}

// tie writes down what is to be proved of a path.
func (t *Tie) tie(handler string, p *Tied) (*Tied, error) {
	w := &world{Tie: t, prefix: p.Name, now: map[string]string{}}
	for _, c := range p.Computed {
		fmt.Fprintf(&w.text, "(constant %s () Int \"a result of arithmetic\")\n", c.Name)
	}
	guards := t.begins(handler)
	for _, c := range p.Conditions {
		guards = append(guards, c.SMT())
	}
	for _, c := range p.Computed {
		guards = append(guards, fmt.Sprintf("(and (<= 0 %s) (<= %[1]s %s))", c.Name, large(c.Most)))
		if c.Exact != "" {
			guards = append(guards, fmt.Sprintf("(=> (and (<= 0 %s) (<= %[1]s %s)) (= %s %[1]s))", c.Exact, large(c.Most), c.Name))
		}
	}
	may := Part{Name: "guards"}
	for _, a := range p.Actions {
		if a[0] == Never {
			p.text, p.Parts = w.text.String()+action(p.Name, guards), []Part{{Never, []string{"false"}}}
			return p, nil
		}
		goals, err := w.step(a[0], a[1:])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		may.Goals = append(may.Goals, goals...)
	}
	messages, decisions, err := w.effects(handler, p)
	if err != nil {
		return nil, err
	}
	for i, field := range p.Fields {
		if before := t.fields[i].Value.SMT(); field.Value.SMT() != before {
			w.define("go-"+field.Name, []string{"n Process"}, sort(field), fmt.Sprintf("(ite (= n me) %s (go-%s n))", field.Value.SMT(), field.Name))
		}
	}
	w.definitions(true)
	coupled := Part{Name: "coupled"}
	for _, c := range t.code.coupled {
		if after, changed := w.now["coupled-"+c.name]; changed {
			coupled.Goals = append(coupled.Goals, "("+after+" me)", "("+after+" other)")
		}
	}
	kept := Part{Name: "messages"}
	for _, m := range t.code.messages {
		if after, changed := w.now["message-"+m.name]; changed {
			args := "any-n any-port" + t.arguments("any-", m)
			if isOrdered(t.code, m.name) {
				args += " any-number"
			}
			kept.Goals = append(kept.Goals, fmt.Sprintf("(=> (message-%s %s) (%s %[2]s))", m.name, args, after))
		}
	}
	for _, goal := range messages {
		kept.Goals = append(kept.Goals, goal())
	}
	told := Part{Name: "decisions"}
	for _, goal := range decisions {
		told.Goals = append(told.Goals, w.given(goal()))
	}
	p.text = w.text.String() + action(p.Name, guards)
	for _, part := range []Part{may, coupled, kept, told} {
		if len(part.Goals) > 0 {
			p.Parts = append(p.Parts, part)
		}
	}
	return p, nil
}

// large returns a number in SMT-LIB. A model has no number beyond 2³¹.
func large(n int64) string {
	if n < 1<<31 {
		return strconv.FormatInt(n, 10)
	}
	return fmt.Sprintf("(+ %d %d 1)", n/2, n/2)
}

// define gives a symbol a new meaning.
func (w *world) define(symbol string, parameters []string, sort, body string) {
	w.count++
	name := fmt.Sprintf("%s-%d-%s", w.prefix, w.count, symbol)
	list := ""
	if len(parameters) > 0 {
		list = "(" + strings.Join(parameters, ") (") + ")"
	}
	fmt.Fprintf(&w.text, "(define %s (%s) %s \"after the step\" %s)\n", name, list, sort, body)
	w.now[symbol] = name
}

// symbol returns the present name of a symbol.
func (w *world) symbol(name string) string {
	if now, changed := w.now[name]; changed {
		return now
	}
	return name
}

// render returns a term in the present, with these values of variables.
func (w *world) render(t *logic.Term, values map[string]string) string {
	text := t.Name
	switch t.Op {
	case logic.Number:
		return strconv.Itoa(t.Number)
	case logic.Variable:
		if v, there := values[t.Name]; there {
			return v
		}
		return t.Name
	case logic.Call:
		text = w.symbol(t.Symbol.Name)
	case logic.ForAll, logic.Exists:
		return fmt.Sprintf("(%s %s %s)", t.Name, logic.Bindings(t.Vars), w.render(t.Args[0], values))
	}
	args := make([]string, len(t.Args))
	for i, a := range t.Args {
		args[i] = w.render(a, values)
	}
	return call(text, args)
}

func call(function string, args []string) string {
	if len(args) == 0 {
		return function
	}
	return "(" + function + " " + strings.Join(args, " ") + ")"
}

func equal(x, y string) string { return "(= " + x + " " + y + ")" }

func names(vars []logic.Binding) (all []string) {
	for _, v := range vars {
		all = append(all, v.Name)
	}
	return all
}

// step makes an action happen, and returns its guards as they were before it.
func (w *world) step(name string, args []string) (guards []string, err error) {
	a := w.base.Action(name)
	if a == nil || len(a.Parameters) != len(args) {
		return nil, fmt.Errorf("%s has no action %s with %d arguments", w.code.Name, name, len(args))
	}
	w.definitions(false)
	values := map[string]string{}
	for i, p := range a.Parameters {
		values[p.Name] = args[i]
	}
	for _, g := range a.Guards {
		guards = append(guards, w.render(g.Term, values))
	}
	var after []func()
	for _, set := range a.Assignments {
		value := w.render(set.Value, values)
		var parameters, same []string
		for i, v := range set.Vars {
			parameters = append(parameters, v.Name+" "+set.Symbol.Args[i])
		}
		for i, where := range set.Where {
			parameters = append(parameters, fmt.Sprintf("x%d %s", i, set.Symbol.Args[i]))
			same = append(same, equal(fmt.Sprintf("x%d", i), w.render(where, values)))
		}
		if len(same) > 0 {
			var before []string
			for i := range set.Where {
				before = append(before, fmt.Sprintf("x%d", i))
			}
			value = fmt.Sprintf("(ite (and %s) %s %s)", strings.Join(same, " "), value, call(w.symbol(set.Symbol.Name), before))
		}
		after = append(after, func() { w.define(set.Symbol.Name, parameters, set.Symbol.Result, value) })
	}
	for _, f := range after {
		f()
	}
	return guards, nil
}

// definitions gives definitions that read what has changed their new meanings: those of the model, or all at the end of a path.
func (w *world) definitions(all bool) {
	for _, d := range w.base.Definitions {
		if (all || !ofTie.MatchString(d.Name)) && d.Body.Reads(func(s *logic.Symbol) bool { return w.now[s.Name] != "" }) {
			var parameters []string
			for _, v := range d.Parameters {
				parameters = append(parameters, v.Name+" "+v.Sort)
			}
			w.define(d.Name, parameters, d.Result, w.render(d.Body, nil))
		}
	}
}

// given returns a goal that may use the invariants as they are after the path: its actions keep them, as the model's own proof shows.
func (w *world) given(goal string) string {
	var after []string
	for _, f := range w.base.Invariants {
		if slices.Contains(w.code.uses, f.Name) && f.Term.Reads(func(s *logic.Symbol) bool { return w.now[s.Name] != "" }) {
			after = append(after, w.render(f.Term, nil))
		}
	}
	if len(after) == 0 {
		return goal
	}
	return "(=> (and " + strings.Join(after, " ") + ") " + goal + ")"
}

// sent is a message that a path sends.
type sent struct {
	message
	kind   string // a condition: the message is of this kind; "" if that is known
	port   string
	fields []string
	number string
}

// effects returns what is to be proved of messages and decisions, as functions of the world after the path. Ghosts change here.
func (w *world) effects(handler string, p *Tied) (messages, decisions []func() string, err error) {
	var all []sent
	for _, e := range p.Effects {
		if e.Name == "Send" {
			more, err := w.send(e, all)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", p, err)
			}
			all = append(all, more...)
			continue
		}
		if !slices.ContainsFunc(w.code.decisions, func(d worded) bool { return d.name == e.Name }) {
			return nil, nil, fmt.Errorf("%s: its correspondence does not say what %s means", p, e.Name)
		}
		var args []string
		if e.Name == "Follow" {
			args = []string{e.Args[0].SMT()}
		}
		decisions = append(decisions, func() string { return call(w.symbol("decision-"+e.Name), args) })
	}
	for _, s := range all {
		messages = append(messages, func() string { return s.goal(w) })
	}
	w.counts(handler, all)
	return messages, decisions, nil
}

// send returns the messages that a call of Send may be: one for each kind, if that is not known.
func (w *world) send(e symbolic.Effect, before []sent) (all []sent, err error) {
	port, kind := e.Args[0], e.Args[1]
	for _, m := range w.code.messages {
		s := sent{message: m, port: port.SMT()}
		value, known := kind.Known()
		switch number := int64(w.kind(m.name)); {
		case known && value != number:
			continue
		case !known && len(w.code.ordered) > 0:
			return nil, errors.New("the kind of a message is not known, and kinds have an order")
		case !known:
			s.kind = equal(kind.SMT(), fmt.Sprint(number))
		}
		for _, f := range e.Fields {
			s.fields = append(s.fields, f.Value.SMT())
		}
		s.number = fmt.Sprintf("(out-%s me %s)", m.name, s.port)
		for _, b := range before {
			if b.name == m.name {
				s.number = fmt.Sprintf("(+ %s (ite (= %s %s) 1 0))", s.number, b.port, s.port)
			}
		}
		ghost := w.base.Action("send-" + m.name)
		if ghost != nil && !known {
			return nil, errors.New("the kind of a message is not known, and an action happens when it is sent")
		}
		if ghost != nil {
			values := map[string]string{"port": s.port, "number": s.number}
			for i, f := range w.message {
				values[f.Name] = s.fields[i]
			}
			var args []string
			for _, v := range ghost.Parameters {
				args = append(args, values[v.Name])
			}
			if _, err := w.step(ghost.Name, args); err != nil {
				return nil, err
			}
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("its correspondence does not say what a message of the kind %v means", kind)
	}
	return all, nil
}

// goal returns that a message means after the path what its form says, for one of the witnesses.
func (s *sent) goal(w *world) string {
	var any []string
	candidates := []string{""}
	if len(s.witnesses) > 0 {
		candidates = w.code.witnesses
	}
	for _, c := range candidates {
		args := slices.Concat([]string{fmt.Sprintf("(leads-to me %s)", s.port), fmt.Sprintf("(arrives-at me %s)", s.port)}, s.fields)
		for range s.witnesses {
			args = append(args, c)
		}
		if isOrdered(w.code, s.name) {
			args = append(args, s.number)
		}
		any = append(any, call(w.symbol("message-"+s.name), args))
	}
	term := fmt.Sprintf("(and (or (= %s 0) (= %[1]s 1)) (or %s))", s.port, strings.Join(any, " "))
	if s.kind != "" {
		return fmt.Sprintf("(=> %s %s)", s.kind, term)
	}
	return term
}

// counts counts the messages of kinds that links keep in order.
func (w *world) counts(handler string, all []sent) {
	for _, kind := range w.code.ordered {
		sum := fmt.Sprintf("(out-%s n port)", kind)
		for _, s := range all {
			if s.name == kind {
				sum = fmt.Sprintf("(+ %s (ite (and (= n me) (= port %s)) 1 0))", sum, s.port)
			}
		}
		if strings.Contains(sum, "+") {
			w.define("out-"+kind, []string{"n Process", "port Int"}, logic.Int, sum)
		}
		if handler == "receive" {
			w.define("in-"+kind, []string{"n Process", "port Int"}, logic.Int,
				fmt.Sprintf("(+ (in-%s n port) (ite (and (= n me) (= port m-port) (= m-kind %d)) 1 0))", kind, w.kind(kind)))
		}
	}
}

// Plan returns what is to be proved of a path: a part at a time, or each goal by itself.
func (t *Tie) Plan(p *Tied, each bool) (*prove.Plan, error) {
	var b strings.Builder
	for _, part := range p.Parts {
		goals := []string{"(and " + strings.Join(part.Goals, " ") + ")"}
		if each {
			goals = part.Goals
		}
		for i, g := range goals {
			name := p.Name + "-" + part.Name
			if each {
				name = fmt.Sprintf("%s-%d", name, i+1)
			}
			fmt.Fprintf(&b, "(step %s %s \"a part of the tie\" %s)\n", name, p.Name, g)
		}
	}
	m, err := t.load(p.text + b.String())
	if err != nil {
		return nil, err
	}
	m.Invariants = slices.DeleteFunc(m.Invariants, func(f *logic.Formula) bool { return !slices.Contains(t.code.uses, f.Name) })
	m.Lemmas, m.Safety, m.Actions, m.Premises = nil, nil, []*logic.Action{m.Action(p.Name)}, nil
	m.Steps = slices.DeleteFunc(m.Steps, func(f *logic.Formula) bool { return f.Action != p.Name })
	if p.Name == "new" {
		m.Invariants = nil
	}
	plan := prove.Obligations(m)
	plan.Kept = 0
	plan.Obligations = slices.DeleteFunc(plan.Obligations, func(o prove.Obligation) bool { return o.Goal != nil && o.Goal.Action == "" })
	return plan, nil
}
