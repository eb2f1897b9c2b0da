package repotest

import (
	"go/ast"
	"go/importer"
	"go/types"
	"slices"
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
	all, err := here() // what foreign trees import is of the standard library, and is needed here, too
	if err != nil {
		return []string{err.Error()}
	}
	config := types.Config{Importer: importer.ForCompiler(m.fset, "gc", exports(all))}
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

func TestNoExceptionOutlivesItsReason(t *testing.T) {
	m := tree(t)
	for name := range anyOrder {
		if !slices.ContainsFunc(m.texts, func(t text) bool { return t.name == name && strings.Contains(string(t.data), "range ") }) {
			t.Errorf("anyOrder has %s, which ranges over nothing", name)
		}
	}
}
