package repotest

import (
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// compiled returns the types of packages of a module in a folder, by the compiler's export data, in the order of their paths.
func compiled(t *testing.T, dir string, packages ...string) (all []*types.Package) {
	t.Helper()
	list := exec.Command("go", append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}\t{{.DepOnly}}\t{{.Name}}"}, packages...)...)
	list.Dir, list.Stderr = dir, os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%s: %v", list, err)
	}
	files, wanted := map[string]string{}, []string(nil)
	for line := range strings.Lines(string(out)) {
		column := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		files[column[0]] = column[1]
		if column[1] != "" && column[2] == "false" && column[3] != "main" { // a folder of tests exports nothing
			wanted = append(wanted, column[0])
		}
	}
	reader := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	for _, path := range wanted {
		p, err := reader.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(p, q *types.Package) int { return strings.Compare(p.Path(), q.Path()) })
	return all
}

// isInternal reports whether a package is an internal one, and not of the standard library.
func isInternal(path string) bool {
	folders := strings.Split(path, "/")
	return strings.Contains(folders[0], ".") && slices.Contains(folders, "internal")
}

// exposure finds types of other packages that a package names in what it exports.
type exposure struct {
	of    *types.Package
	alien func(path string) bool // the packages whose types are meant
	found []string
	seen  map[types.Type]bool
}

// exposed returns each exported identifier of a package that names a type of certain packages, with the type.
func exposed(p *types.Package, alien func(path string) bool) []string {
	e := &exposure{of: p, alien: alien, seen: map[types.Type]bool{}}
	for _, name := range p.Scope().Names() {
		object := p.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		at := p.Path() + "." + name
		if named, is := object.Type().(*types.Named); is && named.Obj() == object {
			e.declared(at, named)
		} else if alias, is := object.Type().(*types.Alias); is && alias.Obj() == object {
			e.visit(at, alias.Rhs())
		} else {
			e.visit(at, object.Type())
		}
	}
	return e.found
}

// declared visits what a declared type exports.
func (e *exposure) declared(at string, named *types.Named) {
	named = named.Origin()
	if e.seen[named] {
		return
	}
	e.seen[named] = true
	e.parameters(at, named.TypeParams())
	e.visit(at, named.Underlying())
	for method := range named.Methods() {
		if method.Exported() {
			e.visit(at+"."+method.Name(), method.Type())
		}
	}
}

func (e *exposure) parameters(at string, list *types.TypeParamList) {
	for parameter := range list.TypeParams() {
		e.visit(at, parameter.Constraint())
	}
}

func (e *exposure) visit(at string, t types.Type) {
	switch t := t.(type) {
	case *types.Alias:
		e.visit(at, types.Unalias(t))
	case *types.Named:
		e.named(at, t)
	case *types.Map:
		e.visit(at, t.Key())
		e.visit(at, t.Elem())
	case interface{ Elem() types.Type }: // of a pointer, slice, array or channel
		e.visit(at, t.Elem())
	case *types.Signature:
		e.parameters(at, t.TypeParams())
		e.visit(at, t.Params())
		e.visit(at, t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			e.visit(at, v.Type())
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() || f.Embedded() {
				e.visit(at+"."+f.Name(), f.Type())
			}
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			if m.Exported() {
				e.visit(at+"."+m.Name(), m.Type())
			}
		}
		for embedded := range t.EmbeddedTypes() {
			e.visit(at, embedded)
		}
	case *types.Union:
		for term := range t.Terms() {
			e.visit(at, term.Type())
		}
	}
}

// named visits a type by its name. What an unexported type exports is visible through those that name it.
func (e *exposure) named(at string, t *types.Named) {
	for argument := range t.TypeArgs().Types() {
		e.visit(at, argument)
	}
	switch p := t.Obj().Pkg(); {
	case p == nil: // error
	case e.alien(p.Path()):
		e.found = append(e.found, fmt.Sprintf("%s names %s", at, t))
	case p == e.of && !t.Obj().Exported():
		e.declared(at, t)
	}
}

// A program of another module can name whatever a public package exports.
func TestNoPublicPackageExportsAnInternalType(t *testing.T) {
	t.Parallel()
	for _, p := range compiled(t, root, "./...") {
		if isInternal(p.Path()) {
			continue
		}
		for _, found := range exposed(p, isInternal) {
			t.Errorf("%s, of an internal package: another module could not name it", found)
		}
	}
}

func TestInternalTypesAreFoundWhereverTheyAreNamed(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module m.example/m\n\n"+goLine.FindString(read(t, filepath.Join(root, "go.mod")))+"\n")
	if err := os.MkdirAll(filepath.Join(dir, "internal", "in"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "internal", "in", "in.go"), "package in\n\ntype T struct{}\n\ntype G[A any] struct{ A A }\n\ntype I interface{ M() }\n\nconst C = 1\n")
	write(t, filepath.Join(dir, "p.go"), `package m

import "m.example/m/internal/in"

type (
	Alias    = in.T
	Field    struct{ F map[string][]*in.T }
	Embedded struct{ in.T }
	Hidden   struct{ f in.T }
	Through  struct{ f hidden }
	Promoted struct{ hidden }
	Method   int
	Func     func(chan in.T)
	Generic  struct{ F list[in.T] }
	Bound[A in.I] struct{}
	list[A any] []A
	hidden struct{ F in.T }
)

func (Method) M() in.T { return in.T{} }

func (Method) m() in.T { return in.T{} }

func Argument(...in.G[int]) {}

func Result() (h hidden) { return h }

const Constant = in.C

var Variable [1]in.T

var Error error

func inside(in.T) {}
`)
	var found []string
	for _, f := range exposed(compiled(t, dir, ".")[0], isInternal) {
		name, _, _ := strings.Cut(strings.TrimPrefix(f, "m.example/m."), " ")
		found = append(found, name)
	}
	want := []string{
		"Alias", "Argument", "Bound", "Embedded.T", "Field.F", "Func", "Generic.F", "Method.M", "Promoted.hidden.F", "Variable",
	}
	if !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
}
