package repotest

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
)

// logKey is what the key of an attribute in a log looks like, so that a search for key=value finds it in text and in JSON.
var logKey = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

var (
	loggers    = []string{"log", "Log", "Logger", "logger", "slog"}                                                  // the names of variables, fields and the package
	lines      = []string{"Debug", "Info", "Warn", "Error"}                                                          // their first argument is the message
	attributes = []string{"String", "Int", "Int64", "Uint64", "Float64", "Bool", "Time", "Duration", "Any", "Group"} // of package slog: a key, and a value
)

// searchable forbids keys of attributes in logs that are not words in lower case, or not constant.
func searchable(m *module) (complaints []string) {
	for _, p := range m.packages {
		files := append(slices.Clip(p.files), p.tests...)
		constants := texts(files)
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				for _, key := range logKeys(n) {
					literal, constant := key.(*ast.BasicLit)
					if name, named := key.(*ast.Ident); named && constants[name.Name] != nil {
						literal, constant = constants[name.Name], true
					}
					if !constant || literal.Kind != token.STRING {
						complaints = append(complaints, m.at(key, "the key of an attribute in a log is not a constant text"))
					} else if text, err := strconv.Unquote(literal.Value); err != nil || !logKey.MatchString(text) {
						complaints = append(complaints, m.at(key, "the key %s of an attribute in a log does not match %s", literal.Value, logKey))
					}
				}
				return true
			})
		}
	}
	return complaints
}

// texts returns the constants of a package that are literals, by their names.
func texts(files []*ast.File) map[string]*ast.BasicLit {
	constants := map[string]*ast.BasicLit{}
	for _, f := range files {
		for _, d := range f.Decls {
			d, is := d.(*ast.GenDecl)
			if !is || d.Tok != token.CONST {
				continue
			}
			for _, s := range d.Specs {
				s := s.(*ast.ValueSpec)
				for i, value := range s.Values {
					if literal, is := value.(*ast.BasicLit); is {
						constants[s.Names[i].Name] = literal
					}
				}
			}
		}
	}
	return constants
}

// logKeys returns the keys of the attributes in a call that logs, or that prepares it.
func logKeys(n ast.Node) (keys []ast.Expr) {
	call, isCall := n.(*ast.CallExpr)
	if !isCall {
		return nil
	}
	method, isMethod := call.Fun.(*ast.SelectorExpr)
	if !isMethod {
		return nil
	}
	var of string
	switch x := method.X.(type) {
	case *ast.Ident:
		of = x.Name
	case *ast.SelectorExpr:
		of = x.Sel.Name
	}
	pairs := call.Args
	switch name := method.Sel.Name; {
	case !slices.Contains(loggers, of), len(pairs) == 0:
		return nil
	case of == "slog" && slices.Contains(attributes, name):
		return pairs[:1]
	case slices.Contains(lines, name):
		pairs = pairs[1:]
	case name == "Log":
		pairs = pairs[min(3, len(pairs)):] // the context, the level and the message
	case name != "With":
		return nil
	}
	for len(pairs) > 0 {
		if _, isAttribute := pairs[0].(*ast.CallExpr); isAttribute { // it has its own key
			pairs = pairs[1:]
			continue
		}
		keys = append(keys, pairs[0])
		pairs = pairs[min(2, len(pairs)):]
	}
	return keys
}
