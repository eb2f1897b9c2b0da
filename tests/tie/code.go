package tie

import (
	"fmt"
	"slices"
	"strings"

	"ringleader.example/ringleader/internal/study/logic"
	"ringleader.example/ringleader/tests/symbolic"
)

// Code says what a handler's fields, messages and paths are in a model. The package comment has its forms.
type Code struct {
	Name      string // of the model
	uses      []string
	ordered   []string // kinds of which a link delivers each message once, in order
	assumed   []worded
	coupled   []worded
	messages  []message
	witnesses []string
	also      []string // processes of which what is coupled is assumed, besides those of the step and their neighbours
	cases     *worded
	decisions []worded
	steps     map[string][][]rule // by handler
	others    []string            // forms of a model
}

type (
	worded  struct{ name, words, term string }
	message struct {
		worded
		witnesses []string
	}
	// rule says which actions a path is, if it has these conditions.
	rule struct {
		when    []string
		actions [][]string
	}
)

// Never is an action that no path may be, and the name of the part that shows it.
const Never = "never"

// expression is an atom, a text in double quotes, or a list.
type expression struct {
	text string // as it was written
	list []expression
	line int
}

// words returns a text without its quotes.
func (e *expression) words() string { return strings.Trim(e.text, `"`) }

// ParseCode reads a correspondence. Terms are checked with the model later.
func ParseCode(file, text string) (code *Code, err error) {
	code = &Code{steps: map[string][][]rule{}}
	all, err := expressions(text)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", file, err)
	}
	for _, e := range all {
		if len(e.list) == 0 || !code.form(&e, e.list[0].text, e.list[1:]) {
			return nil, fmt.Errorf("%s:%d: this is no form of a correspondence: %s", file, e.line, logic.Plain(fmt.Sprintf("%.60s", e.text)))
		}
	}
	if code.Name == "" {
		return nil, fmt.Errorf("%s: there is no form (code MODEL)", file)
	}
	return code, nil
}

// Assumptions returns in words what is assumed before each step.
func (c *Code) Assumptions() (all []string) {
	for _, a := range c.assumed {
		all = append(all, a.words)
	}
	for _, kind := range c.ordered {
		all = append(all, "links deliver each message of the kind "+kind+" once, in the order in which they were sent")
	}
	return append(all, "a process receives what a process has sent to it, from the neighbour behind the port, and each has an identifier of its own")
}

// Coupled returns in words what is proved to hold of each process.
func (c *Code) Coupled() (all []string) {
	for _, w := range c.coupled {
		all = append(all, w.words)
	}
	return all
}

// form reads a form, and reports whether it has the right parts.
func (c *Code) form(e *expression, kind string, parts []expression) bool {
	texts := func() (all []string) {
		for _, p := range parts {
			all = append(all, p.text)
		}
		return all
	}
	two := func() worded { return worded{"", parts[0].words(), parts[1].text} }
	three := func() worded { return worded{parts[0].text, parts[1].words(), parts[2].text} }
	switch n := len(parts); {
	case kind == "code" && n == 1:
		c.Name = parts[0].text
	case kind == "uses":
		c.uses = texts()
	case kind == "in-order":
		c.ordered = texts()
	case kind == "witnesses":
		c.witnesses = texts()
	case kind == "also":
		c.also = texts()
	case kind == "assume" && n == 2:
		c.assumed = append(c.assumed, two())
	case kind == "cases" && n == 2:
		w := two()
		c.cases = &w
	case kind == "coupled" && n == 3:
		c.coupled = append(c.coupled, three())
	case kind == "decision" && n == 3:
		c.decisions = append(c.decisions, three())
	case kind == "message" && n == 4:
		m := message{worded: worded{parts[0].text, parts[2].words(), parts[3].text}}
		for _, w := range parts[1].list {
			m.witnesses = append(m.witnesses, w.text)
		}
		c.messages = append(c.messages, m)
	case kind == "steps" && n > 1:
		return c.rules(parts[0].text, parts[1:])
	case slices.Contains([]string{"include", "constant", "axiom", "define", "state", "action", "assumption"}, kind):
		c.others = append(c.others, e.text)
	default:
		return false
	}
	return true
}

// rules reads the rules of a group: (when ("condition" …) (ACTION ARGUMENT …) …).
func (c *Code) rules(handler string, parts []expression) bool {
	var group []rule
	for _, p := range parts {
		if len(p.list) < 2 || p.list[0].text != "when" {
			return false
		}
		var r rule
		for _, condition := range p.list[1].list {
			r.when = append(r.when, condition.words())
		}
		for _, action := range p.list[2:] {
			var items []string
			for _, item := range action.list {
				items = append(items, item.text)
			}
			if len(items) == 0 {
				return false
			}
			r.actions = append(r.actions, items)
		}
		group = append(group, r)
	}
	c.steps[handler] = append(c.steps[handler], group)
	return true
}

// actions returns which actions a path is, by the first rule of each group whose conditions it has.
func (c *Code) actions(handler string, p *symbolic.Path) (all [][]string, err error) {
	for _, group := range c.steps[handler] {
		i := slices.IndexFunc(group, func(r rule) bool {
			return !slices.ContainsFunc(r.when, func(text string) bool {
				return !slices.ContainsFunc(p.Conditions, func(t *symbolic.Term) bool { return same(t.String(), text) })
			})
		})
		if i < 0 {
			return nil, fmt.Errorf("%s: no rule of its correspondence is for a path with the conditions %v", p, p.Conditions)
		}
		all = append(all, group[i].actions...)
	}
	return all, nil
}

// same reports whether two texts are of one comparison, whatever its order.
func same(x, y string) bool {
	flipped := map[string]string{"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
	a, b := strings.Fields(x), strings.Fields(y)
	return x == y || len(a) == 3 && len(b) == 3 && a[0] == b[2] && a[2] == b[0] && flipped[a[1]] == b[1]
}

// expressions returns the expressions of a text. An error begins with a line.
func expressions(text string) (all []expression, err error) {
	var open []*expression
	line := 1
	add := func(e expression) {
		if len(open) == 0 {
			all = append(all, e)
		} else {
			open[len(open)-1].list = append(open[len(open)-1].list, e)
		}
	}
	var starts []int
	for i := 0; i < len(text); {
		end := i + 1
		switch c := text[i]; c {
		case ' ', '\t', '\r':
		case '\n':
			line++
		case ';':
			line, _, _ := strings.Cut(text[i:], "\n")
			end = i + len(line)
		case '(':
			open, starts = append(open, &expression{line: line}), append(starts, i)
		case ')':
			if len(open) == 0 {
				return nil, fmt.Errorf("%d: a parenthesis is closed that was not opened", line)
			}
			e, start := open[len(open)-1], starts[len(open)-1]
			e.text = text[start:end]
			open, starts = open[:len(open)-1], starts[:len(open)-1]
			add(*e)
		case '"':
			n := strings.IndexByte(text[end:], '"')
			if n < 0 {
				return nil, fmt.Errorf("%d: this text has no end", line)
			}
			end += n + 1
			add(expression{text: text[i:end], line: line})
			line += strings.Count(text[i:end], "\n")
		default:
			if n := strings.IndexAny(text[i:], " \t\r\n();\""); n >= 0 {
				end = i + n
			} else {
				end = len(text)
			}
			add(expression{text: text[i:end], line: line})
		}
		i = end
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("%d: this parenthesis is not closed", open[0].line)
	}
	return all, nil
}
