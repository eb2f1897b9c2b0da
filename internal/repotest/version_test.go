package repotest

import (
	"bytes"
	"flag"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write api/v1.txt")

// stable are the packages that are v1. What they export stays, and works as before.
var stable = []string{".", "./election", "./fence", "./statushttp", "./storage", "./transport", "./clock", "./clock/clocktest", "./ringleadertest"}

// A package comment has one of these sentences, which states how stable its API is.
const (
	staysSentence   = "The API of this package is v1"
	changesSentence = "This package is v0"
)

// An algorithm has no API but a value of package election, and an example or another program has none.
func TestEveryPublicPackageSaysHowLongItsAPIStays(t *testing.T) {
	for _, p := range tree(t).packages {
		program := len(p.files) == 0 || p.files[0].Name.Name == "main" || p.path == "./examples"
		if program || isInternal("m.example/"+p.path) || strings.HasPrefix(p.path, "./algorithms/") {
			continue
		}
		want, other := changesSentence, staysSentence
		if slices.Contains(stable, p.path) {
			want, other = other, want
		}
		text := ""
		for _, f := range p.files {
			text += f.Doc.Text()
		}
		if text = strings.Join(strings.Fields(text), " "); !strings.Contains(text, want) || strings.Contains(text, other) {
			t.Errorf("the comment of package %s does not say: %s", p.path, want)
		}
	}
}

func TestVersion1(t *testing.T) {
	t.Parallel()
	name := tree(t).name
	packages := compiled(t, everything(t), func(path string) bool {
		rest, ours := strings.CutPrefix(path, name)
		return ours && slices.Contains(stable, "."+rest)
	})
	if len(packages) != len(stable) {
		t.Fatalf("%d packages are compiled, and %d are v1", len(packages), len(stable))
	}
	t.Run("no package names a type of version 0", func(t *testing.T) { namesNoOther(t, packages) })
	t.Run("what it exports is written down", func(t *testing.T) { writtenDown(t, packages) })
}

func namesNoOther(t *testing.T, packages []*types.Package) {
	t.Helper()
	name := tree(t).name
	for _, p := range packages {
		for _, found := range exposed(p, func(path string) bool {
			rest, ours := strings.CutPrefix(path, name)
			return ours && !slices.Contains(stable, "."+rest)
		}) {
			t.Errorf("%s, which is not v1", found)
		}
	}
}

// What v1 exports, on Linux, is written down, a line an identifier, so that no change of it goes unseen.
func writtenDown(t *testing.T, packages []*types.Package) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("it is written down for Linux")
	}
	file := filepath.Join(root, "api", "v1.txt")
	var now bytes.Buffer
	for _, p := range packages {
		for _, line := range api(p, tree(t).name) {
			fmt.Fprintln(&now, line)
		}
	}
	if *update {
		if err := os.WriteFile(file, now.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(read(t, file), now.String()); diff != "" {
		t.Errorf("api/v1.txt (-written +exported; go test ./internal/repotest -run Version1 -update writes it):\n%s", diff)
	}
}

// ownResults matches the names that the compiler gives to results, where the function has none.
var ownResults = regexp.MustCompile(`#rv\d+ `)

// api lists what a package exports, as api/v1.txt has it.
func api(p *types.Package, module string) (lines []string) {
	short := func(q *types.Package) string {
		if q == p {
			return ""
		}
		return q.Name()
	}
	path := strings.TrimPrefix(p.Path(), module+"/")
	if p.Path() == module {
		path = p.Name()
	}
	text := func(t types.Type) string { return ownResults.ReplaceAllString(types.TypeString(t, short), "") }
	add := func(format string, args ...any) {
		lines = append(lines, "pkg "+path+", "+fmt.Sprintf(format, args...))
	}
	for _, name := range p.Scope().Names() {
		object := p.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		switch o := object.(type) {
		case *types.Const:
			add("const %s %s", name, text(o.Type()))
		case *types.Var:
			add("var %s %s", name, text(o.Type()))
		case *types.Func:
			add("func %s%s", name, strings.TrimPrefix(text(o.Type()), "func"))
		case *types.TypeName:
			if o.IsAlias() {
				add("type %s = %s", name, text(types.Unalias(o.Type())))
				continue
			}
			listed(o.Type().(*types.Named), text, add)
		}
	}
	return lines
}

// listed lists a type with its fields and methods, also those of the structs in it.
func listed(named *types.Named, text func(types.Type) string, add func(format string, args ...any)) {
	name := text(named)
	switch u := named.Underlying().(type) {
	case *types.Struct:
		add("type %s struct", name)
		fields(u, func(f *types.Var) { add("type %s struct, %s %s", name, f.Name(), text(f.Type())) })
	case *types.Interface:
		add("type %s interface", name)
		for m := range u.Methods() {
			if m.Exported() {
				add("type %s interface, %s%s", name, m.Name(), strings.TrimPrefix(text(m.Type()), "func"))
			}
		}
		if slices.ContainsFunc(slices.Collect(u.Methods()), func(m *types.Func) bool { return !m.Exported() }) {
			add("type %s interface, unexported methods", name)
		}
		return
	default:
		add("type %s %s", name, text(u))
	}
	values := types.NewMethodSet(named)
	for s := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		if m := s.Obj(); m.Exported() {
			receiver := "*" + name
			if values.Lookup(m.Pkg(), m.Name()) != nil {
				receiver = name
			}
			add("method (%s) %s%s", receiver, m.Name(), strings.TrimPrefix(text(m.Type()), "func"))
		}
	}
}

// fields visits the exported fields of a struct, also those of unexported structs embedded in it.
func fields(s *types.Struct, visit func(*types.Var)) {
	for f := range s.Fields() {
		if f.Exported() {
			visit(f)
		} else if inner, is := f.Type().Underlying().(*types.Struct); is && f.Embedded() {
			fields(inner, visit)
		}
	}
}
