package repotest

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// module is a source tree as the rules see it.
type module struct {
	name     string // its module path
	fset     *token.FileSet
	packages []*pkg // in the order of their folders; not those of modules inside
	texts    []text // every file that is text
	others   []text // every other file
}

// pkg is one package: all its files, whatever system they are for.
type pkg struct {
	path  string // its import path, "." standing for the module: ".", "./election", …
	files []*ast.File
	tests []*ast.File // of the package, or of its tests' own
}

type text struct {
	name string // from the root of the module, with slashes
	data []byte
}

// notOurs are the names of folders whose files others have written, or programs.
var notOurs = []string{".git", "dist", "vendor", "node_modules"}

// load reads a module.
func load(files fs.FS) (*module, error) {
	m := &module{fset: token.NewFileSet()}
	gomod, err := fs.ReadFile(files, "go.mod")
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(string(gomod), "\n")
	m.name = strings.TrimPrefix(first, "module ")

	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(notOurs, d.Name()):
			return fs.SkipDir
		case !d.Type().IsRegular() || name == ".git": // a file, where this is one of several trees of a repository
			return nil
		}
		data, err := fs.ReadFile(files, name)
		if errors.Is(err, fs.ErrNotExist) { // a file that another process has just removed
			return nil
		}
		if err != nil {
			return err
		}
		if bytes.IndexByte(data, 0) < 0 {
			m.texts = append(m.texts, text{name, data})
		} else {
			m.others = append(m.others, text{name, data})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m, m.parse()
}

// parse makes packages of the Go files.
func (m *module) parse() error {
	other := map[string]bool{} // the folders of modules inside
	for _, t := range m.texts {
		if dir, file := path.Split(t.name); file == "go.mod" && dir != "" {
			other[dir] = true
		}
	}
	byDir := map[string]*pkg{}
	for _, t := range m.texts {
		dir := path.Dir(t.name)
		if path.Ext(t.name) != ".go" || slices.Contains(strings.Split(dir, "/"), "testdata") || inside(other, dir) {
			continue
		}
		f, err := parser.ParseFile(m.fset, t.name, t.data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		p := byDir[dir]
		if p == nil {
			p = &pkg{path: "./" + dir}
			if dir == "." {
				p.path = "."
			}
			byDir[dir] = p
			m.packages = append(m.packages, p)
		}
		if strings.HasSuffix(t.name, "_test.go") {
			p.tests = append(p.tests, f)
		} else {
			p.files = append(p.files, f)
		}
	}
	slices.SortFunc(m.packages, func(a, b *pkg) int { return strings.Compare(a.path, b.path) })
	return nil
}

func inside(dirs map[string]bool, dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if dirs[dir+"/"] {
			return true
		}
	}
	return false
}

// at is a complaint about a place.
func (m *module) at(node ast.Node, format string, args ...any) string {
	position := m.fset.Position(node.Pos())
	return fmt.Sprintf("%s:%d: %s", position.Filename, position.Line, fmt.Sprintf(format, args...))
}

// imported is the path that an import names, "." standing for this module.
func (m *module) imported(spec *ast.ImportSpec) string {
	name, _ := strconv.Unquote(spec.Path.Value)
	if rest, ok := strings.CutPrefix(name, m.name); ok && (rest == "" || rest[0] == '/') {
		return "." + rest
	}
	return name
}

// matches reports whether a path is the pattern, or below one that ends in /... The pattern std is the
// standard library.
func matches(pattern, path string) bool {
	if pattern == "std" {
		first, _, _ := strings.Cut(path, "/")
		return !strings.Contains(first, ".")
	}
	if above, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == above || strings.HasPrefix(path, above+"/")
	}
	return path == pattern
}

func matchesAny(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, path) })
}

// called is the package's name and the function's in a call of an imported function.
func called(n ast.Node) (from, name string) {
	if call, ok := n.(*ast.CallExpr); ok {
		return selected(call.Fun)
	}
	return "", ""
}

// selected is both names of a.b.
func selected(n ast.Node) (from, name string) {
	if s, ok := n.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok {
			return x.Name, s.Sel.Name
		}
	}
	return "", ""
}
