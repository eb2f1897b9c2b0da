package repotest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

// longest is how many lines a file may have.
const longest = 600

// longestPackage is the largest number of lines of a package, without tests.
const longestPackage = 4000

func packageComments(m *module) (complaints []string) {
	for _, p := range m.packages {
		comments := 0
		for _, f := range p.files {
			if f.Doc == nil {
				continue
			}
			comments++
			name := f.Name.Name
			if name != "main" && !strings.HasPrefix(f.Doc.Text(), "Package "+name+" ") {
				complaints = append(complaints, m.at(f, "the comment of package %s does not begin with \"Package %[1]s \"", name))
			}
		}
		if comments != 1 && len(p.files) > 0 {
			complaints = append(complaints, fmt.Sprintf("package %s has %d package comments, and should have one", p.path, comments))
		}
	}
	return complaints
}

// known are methods whose interface documents them.
var known = []string{"String", "Error", "Unwrap", "Is", "MarshalJSON", "UnmarshalJSON"}

func documented(m *module) (complaints []string) {
	need := func(name *ast.Ident, comments ...*ast.CommentGroup) {
		if name.IsExported() && !slices.ContainsFunc(comments, func(c *ast.CommentGroup) bool { return c != nil }) {
			complaints = append(complaints, m.at(name, "%s has no comment", name.Name))
		}
	}
	for _, p := range m.packages {
		for _, f := range p.files {
			if f.Name.Name == "main" {
				continue
			}
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if d.Recv == nil || ast.IsExported(receiver(d)) && !slices.Contains(known, d.Name.Name) {
						need(d.Name, d.Doc)
					}
				case *ast.GenDecl:
					for _, s := range d.Specs {
						switch s := s.(type) {
						case *ast.TypeSpec:
							need(s.Name, d.Doc, s.Doc, s.Comment)
						case *ast.ValueSpec:
							for _, name := range s.Names {
								need(name, d.Doc, s.Doc, s.Comment)
							}
						}
					}
				}
			}
		}
	}
	return complaints
}

// receiver is the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		}
	}
}

// explicit forbids what happens behind the reader's back.
func explicit(m *module) (complaints []string) {
	for _, p := range m.packages {
		for _, f := range p.files {
			for _, s := range f.Imports {
				if s.Name != nil && s.Name.Name == "_" && m.imported(s) != "embed" { // embed gives a comment its meaning
					complaints = append(complaints, m.at(s, "a blank import"))
				}
			}
			for _, d := range f.Decls {
				if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && d.Name.Name == "init" {
					complaints = append(complaints, m.at(d, "an init function"))
				}
			}
		}
	}
	return complaints
}

func readable(m *module) (complaints []string) {
	for _, p := range m.packages {
		for _, f := range p.files {
			file := m.fset.File(f.FileStart)
			if n := file.LineCount(); n > longest && !ast.IsGenerated(f) {
				complaints = append(complaints, fmt.Sprintf("%s: %d lines; more than %d are too many to read", file.Name(), n, longest))
			}
		}
	}
	return complaints
}

// compact reports packages that are too long.
func compact(m *module) (complaints []string) {
	for _, p := range m.packages {
		lines := 0
		for _, f := range p.files {
			if file := m.fset.File(f.FileStart); !strings.HasSuffix(file.Name(), "_test.go") {
				lines += file.LineCount()
			}
		}
		if lines > longestPackage {
			complaints = append(complaints, fmt.Sprintf("package %s has %d lines; more than %d are too many", p.path, lines, longestPackage))
		}
	}
	return complaints
}

var sleepInScript = regexp.MustCompile(`(?m)^\s*!?\s*(exec\s+)?sleep\s`)

// sleep is what tests do not do. It is in two parts so that a search of the tests for it does not find this rule.
const sleep = "time." + "Sleep"

// sleepless forbids to wait for time instead of a condition. Where the tests of a file run in synctest
// bubbles, time is false and a sleep exact, so that it is allowed there.
func sleepless(m *module) (complaints []string) {
	for _, p := range m.packages {
		for _, f := range p.tests {
			if slices.ContainsFunc(f.Imports, func(s *ast.ImportSpec) bool { return m.imported(s) == "testing/synctest" }) {
				continue
			}
			limits := map[ast.Stmt]bool{} // of selects: they bound a wait for something else
			ast.Inspect(f, func(n ast.Node) bool {
				if c, ok := n.(*ast.CommClause); ok {
					limits[c.Comm] = true
				}
				if from, name := called(n); from+"."+name == sleep {
					complaints = append(complaints, m.at(n, "%s in a test; wait for a condition", sleep))
				}
				if s, ok := n.(*ast.ExprStmt); ok && !limits[s] {
					if u, ok := s.X.(*ast.UnaryExpr); ok && u.Op == token.ARROW {
						if from, name := called(u.X); from == "time" && name == "After" {
							complaints = append(complaints, m.at(n, "<-time.After in a test; wait for a condition"))
						}
					}
				}
				return true
			})
		}
	}
	for _, t := range m.texts {
		if slices.Contains(strings.Split(path.Dir(t.name), "/"), "testdata") {
			complaints = append(complaints, found(t, sleepInScript, "; wait for a condition")...)
		}
	}
	return complaints
}

// reaped forbids to reap a process otherwise than kernel.Wait does: a thread that runs before others could keep a processor for a second.
func reaped(m *module) (complaints []string) {
	for _, p := range m.packages {
		if p.path == "./internal/serve/kernel" {
			continue
		}
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool {
				if from, name := called(n); from == "syscall" && name == "Wait4" {
					complaints = append(complaints, m.at(n, "syscall.Wait4; call kernel.Wait"))
				}
				return true
			})
		}
	}
	return complaints
}

// enginesFile is the part of the contract for engines, relative to the module.
const enginesFile = "election/engines.go"

// forEngines keeps the engines' part of the contract from algorithms, which could take back with it what they have
// sent. The comments there mark it, since documentation has no files.
func forEngines(m *module) (complaints []string) {
	names := map[string]bool{}
	mark := func(name *ast.Ident, comment *ast.CommentGroup) {
		if name.IsExported() && !strings.Contains(strings.Join(strings.Fields(comment.Text()), " "), "For engines") {
			complaints = append(complaints, m.at(name, "the comment of %s does not end in \"For engines.\"", name.Name))
		}
	}
	for _, p := range m.packages {
		for _, f := range p.files {
			if m.fset.Position(f.Pos()).Filename != enginesFile {
				continue
			}
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if d.Recv == nil {
						names[d.Name.Name] = true
					}
					if d.Recv == nil || !names[receiver(d)] {
						mark(d.Name, d.Doc)
					}
				case *ast.GenDecl:
					for _, name := range declared(d) {
						names[name.Name] = true
						mark(name, d.Doc)
					}
				}
			}
		}
	}
	for _, p := range m.packages {
		if !matches("./algorithms/...", p.path) {
			continue
		}
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool {
				if from, name := selected(n); from == "election" && names[name] {
					complaints = append(complaints, m.at(n, "election.%s is for engines", name))
				}
				return true
			})
		}
	}
	return complaints
}

// declared returns the names of types, constants and variables.
func declared(d *ast.GenDecl) (names []*ast.Ident) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			names = append(names, s.Name)
		case *ast.ValueSpec:
			names = append(names, s.Names...)
		}
	}
	return names
}

// These two are written so that they do not match themselves.
var (
	unfinished = regexp.MustCompile(`\b(TOD[O]|FIXM[E]|XX[X])\b`)
	elsewhere  = regexp.MustCompile(`(^|[^\w.~/-])(/(root|work|home|Users)/|[A-Z]:\\Users\\)|` +
		`(GOPROXY|GOSUMDB|https?_proxy|HTTPS?_PROXY)["']?\s*[:=,]\s*["']?https?:|(proxy|sum)\.golang\.org|goproxy\.(io|cn)`)
)

// Whatever matches has one of these. To look for them takes a tenth of the time.
var (
	unfinishedHints = []string{"TO" + "DO", "FIX" + "ME", "XX" + "X"}
	elsewhereHints  = []string{
		"/ro" + "ot/", "/wo" + "rk/", "/ho" + "me/", "/Us" + "ers/", `\Us` + `ers\`, "GOPRO" + "XY", "GOSUM" + "DB", "_pro" + "xy", "_PRO" + "XY",
		"golang" + ".org", "gopro" + "xy.",
	}
)

func finished(m *module) (complaints []string) {
	for _, t := range hinted(m.texts, unfinishedHints) {
		complaints = append(complaints, found(t, unfinished, "; do it, or leave it")...)
	}
	return complaints
}

func portable(m *module) (complaints []string) {
	for _, t := range hinted(m.texts, elsewhereHints) {
		complaints = append(complaints, found(t, elsewhere, " is not so on another machine")...)
	}
	return complaints
}

// hinted are the texts that have one of some words.
func hinted(texts []text, hints []string) []text {
	return slices.DeleteFunc(slices.Clone(texts), func(t text) bool {
		return !slices.ContainsFunc(hints, func(hint string) bool { return bytes.Contains(t.data, []byte(hint)) })
	})
}

// found complains about every match in a text.
func found(t text, pattern *regexp.Regexp, complaint string) (complaints []string) {
	for _, at := range pattern.FindAllIndex(t.data, -1) {
		match := strings.TrimSpace(string(t.data[at[0]:at[1]]))
		line := 1 + bytes.Count(t.data[:at[1]-1], []byte("\n"))
		complaints = append(complaints, fmt.Sprintf("%s:%d: %s%s", t.name, line, match, complaint))
	}
	return complaints
}
