package tie

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ringleader.example/ringleader/internal/study/logic"
	"ringleader.example/ringleader/tests/symbolic"
)

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
