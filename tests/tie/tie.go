package tie

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
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
