package repotest

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pure are the packages whose results depend on their arguments only.
var pure = []string{
	"./election", "./network", "./faults", "./outcome", "./algorithms/...", "./simulate/...", "./verify/...", "./internal/study/claims", "./count", "./order", "./trace", "./drawing", "./program",
	"./internal/core/codec", "./internal/core/loops", "./internal/core/mean", "./internal/core/random",
}

// anyOrder are the files of pure packages that range over a map all the same, and why they may.
var anyOrder = map[string]string{
	"election/parameters.go": "the unknown names are sorted before they are named",
}

// mapOrder forbids ranges over maps, whose order is another each time, in pure packages.
func mapOrder(m *module) (complaints []string) {
	var packages []*pkg
	for _, p := range m.packages {
		if matchesAny(pure, p.path) && len(p.files) > 0 {
			packages = append(packages, p)
		}
	}
	exports, err := exported(packages)
	if err != nil {
		return []string{err.Error()}
	}
	config := types.Config{Importer: importer.ForCompiler(m.fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})}
	for _, p := range packages {
		info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
		here := slices.DeleteFunc(slices.Clone(p.files), func(f *ast.File) bool { // what is for a page declares the same names
			return strings.HasSuffix(m.fset.Position(f.Package).Filename, "_js.go")
		})
		if _, err := config.Check(p.path, m.fset, here, &info); err != nil {
			complaints = append(complaints, err.Error())
			continue
		}
		for _, f := range here {
			if anyOrder[m.fset.Position(f.Package).Filename] == "" {
				complaints = append(complaints, m.mapOrderIn(f, &info)...)
			}
		}
	}
	return complaints
}

func (m *module) mapOrderIn(f *ast.File, info *types.Info) (complaints []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch from, name := called(n); {
		case from == "slices" && strings.HasPrefix(name, "Sorted"):
			return false
		case from == "maps" && slices.Contains([]string{"Keys", "Values", "All"}, name):
			complaints = append(complaints, m.at(n, "maps.%s in pure code, not sorted at once", name))
		}
		if s, ok := n.(*ast.RangeStmt); ok {
			if _, isMap := info.TypeOf(s.X).Underlying().(*types.Map); isMap {
				complaints = append(complaints, m.at(n, "ranges over a map in pure code; if its order does not matter, say why in anyOrder"))
			}
		}
		return true
	})
	return complaints
}

// exported is, for all that the packages import, the file with the compiler's export data.
func exported(packages []*pkg) (map[string]string, error) {
	args := []string{"list", "-export", "-f", "{{.ImportPath}} {{.Export}}", "--", "errors"} // never an empty list
	for _, p := range packages {
		for _, f := range p.files {
			for _, s := range f.Imports {
				if path, _ := strconv.Unquote(s.Path.Value); path != "unsafe" && !slices.Contains(args, path) {
					args = append(args, path)
				}
			}
		}
	}
	var message strings.Builder
	list := exec.Command("go", args...)
	list.Dir, list.Stderr = root, &message
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list -export: %w\n%s", err, &message)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = file
	}
	return exports, nil
}

func TestNoExceptionOutlivesItsReason(t *testing.T) {
	m := tree(t)
	for name := range anyOrder {
		if !slices.ContainsFunc(m.texts, func(t text) bool { return t.name == name && strings.Contains(string(t.data), "range ") }) {
			t.Errorf("anyOrder has %s, which ranges over nothing", name)
		}
	}
}
