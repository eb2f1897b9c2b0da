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
	"sync"
	"testing"
)

// unit is a package as go list tells of it.
type unit struct {
	path, export string // the latter is the file with the compiler's export data
	wanted       bool   // it matches a pattern, and exports something
	needs        []string
}

// compiling lists packages of a module in a folder, and all that they need, compiled.
func compiling(dir string, packages ...string) (all []unit, err error) {
	const line = "{{.ImportPath}}\t{{.Export}}\t{{not (or .DepOnly (eq .Name `main`))}}\t{{if not .Standard}}{{join .Deps ` `}}{{end}}"
	var message strings.Builder
	list := exec.Command("go", append([]string{"list", "-export", "-deps", "-f", line, "--"}, packages...)...)
	list.Dir, list.Stderr = dir, &message
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", list, err, &message)
	}
	for line := range strings.Lines(string(out)) {
		column := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		wanted := column[1] != "" && column[2] == "true" // a folder of tests exports nothing
		all = append(all, unit{column[0], column[1], wanted, strings.Fields(column[3])})
	}
	return all, nil
}

// here is this module compiled, once for all tests: each call of go list takes a second of a processor.
var here = sync.OnceValues(func() ([]unit, error) { return compiling(root, "./...") })

// everything is [here] for a test.
func everything(t *testing.T) []unit {
	t.Helper()
	all, err := here()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// exports opens the export data of packages.
func exports(all []unit) importer.Lookup {
	files := map[string]string{}
	for _, b := range all {
		files[b.path] = b.export
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
}

// compiled returns the types of those packages that are wanted, in the order of their paths.
func compiled(t *testing.T, packages []unit, wanted func(path string) bool) (all []*types.Package) {
	t.Helper()
	reader := importer.ForCompiler(token.NewFileSet(), "gc", exports(packages))
	for _, b := range packages {
		if !b.wanted || !wanted(b.path) {
			continue
		}
		p, err := reader.Import(b.path)
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
	public := compiled(t, everything(t), func(path string) bool { return !isInternal(path) })
	if len(public) < 20 {
		t.Errorf("only %d packages are public", len(public))
	}
	for _, p := range public {
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
	packages, err := compiling(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range exposed(compiled(t, packages, func(string) bool { return true })[0], isInternal) {
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
