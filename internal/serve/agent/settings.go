package agent

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Setting is a line of a configuration file: a key with a value, or with a list of values.
type Setting struct {
	Name   string
	Values []string
	Line   int // of the key, from 1
}

// ParseSettings reads a configuration file in TOML format. It has no tables. Values are texts, whole numbers and booleans, and
// lists of them. What they mean is up to the caller. Errors begin with the line.
func ParseSettings(text []byte) (all []Setting, err error) {
	if err := toml.Unmarshal(text, &map[string]any{}); err != nil {
		if wrong := new(toml.DecodeError); errors.As(err, &wrong) {
			row, _ := wrong.Position()
			reason := strings.TrimPrefix(wrong.Error(), "toml: ")
			if strings.HasPrefix(reason, "decimal number is too large") { // an identifier may be
				reason = "a whole number above 2⁶³ - 1 is written in quotes"
			}
			return nil, fmt.Errorf("line %d: %s", row, reason)
		}
		return nil, err
	}
	var p unstable.Parser // it knows the lines of keys
	p.Reset(text)
	for p.NextExpression() {
		e := p.Expression()
		var names []string
		line := 0
		for key := e.Key(); key.Next(); {
			names = append(names, string(key.Node().Data))
			line = p.Shape(key.Node().Raw).Start.Line
		}
		if e.Kind != unstable.KeyValue || len(names) != 1 {
			return nil, fmt.Errorf("line %d: %s: settings have no tables", line, strings.Join(names, "."))
		}
		values, ok := valuesOf(e.Value())
		if !ok {
			return nil, fmt.Errorf("line %d: %s is a text in quotes, a whole number, true or false, or a list of them", line, names[0])
		}
		all = append(all, Setting{names[0], values, line})
	}
	return all, p.Error()
}

// valuesOf returns the values of a node.
func valuesOf(node *unstable.Node) (values []string, ok bool) {
	switch node.Kind {
	case unstable.String, unstable.Bool, unstable.Integer:
		return []string{string(node.Data)}, true
	case unstable.Array:
		values = []string{}
		for items := node.Children(); items.Next(); {
			value, ok := valuesOf(items.Node())
			if !ok || items.Node().Kind == unstable.Array {
				return nil, false
			}
			values = slices.Concat(values, value)
		}
		return values, true
	}
	return nil, false
}
