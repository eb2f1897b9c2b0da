package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/token"
	"reflect"
	"slices"
	"sync"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/packages"
	"honnef.co/go/tools/analysis/facts/deprecated"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

// analyzers are those of go vet, and those that staticcheck runs unless told otherwise.
var analyzers = sync.OnceValue(func() []*analysis.Analyzer {
	all := slices.Clone(vet.Suite)
	for _, a := range slices.Concat(simple.Analyzers, staticcheck.Analyzers, stylecheck.Analyzers, []*lint.Analyzer{unused.Analyzer}) {
		if !a.Doc.NonDefault {
			all = append(all, a.Analyzer)
		}
	}
	limit(all, map[*analysis.Analyzer]bool{deprecated.Analyzer: true}) // which needs declarations only
	return all
})

// limit makes analyzers, and those that they require, do nothing where only declarations are known.
func limit(all []*analysis.Analyzer, done map[*analysis.Analyzer]bool) {
	for _, a := range all {
		if done[a] {
			continue
		}
		done[a] = true
		limit(a.Requires, done)
		run := a.Run
		a.Run = func(pass *analysis.Pass) (any, error) {
			if pass.TypesInfo.Types != nil {
				return run(pass)
			}
			if a.ResultType == nil {
				return nil, nil
			}
			return reflect.Zero(a.ResultType).Interface(), nil
		}
	}
}

// A diagnostic is what an analyzer has to say.
type diagnostic struct {
	position       token.Position
	check, message string
}

func (d diagnostic) String() string {
	d.position.Filename = relative(d.position.Filename)
	return fmt.Sprintf("%s: %s (%s)", d.position, d.message, d.check)
}

func (d diagnostic) compare(e diagnostic) int {
	return cmp.Or(
		cmp.Compare(d.position.Filename, e.position.Filename), cmp.Compare(d.position.Offset, e.position.Offset),
		cmp.Compare(d.check, e.check), cmp.Compare(d.message, e.message),
	)
}

// analyze runs all analyzers on packages, and returns what they report, a line each.
func analyze(own []*packages.Package) ([]string, error) {
	graph, err := checker.Analyze(analyzers(), fullest(own), nil)
	if err != nil {
		return nil, err
	}
	var found []diagnostic
	var wrong []error
	for _, a := range graph.Roots {
		if a.Err != nil {
			wrong = append(wrong, fmt.Errorf("%s of %s: %w", a.Analyzer, a.Package, a.Err))
		}
		for _, d := range a.Diagnostics {
			found = append(found, diagnostic{a.Package.Fset.Position(d.Pos), a.Analyzer.Name, d.Message})
		}
		if result, is := a.Result.(unused.Result); is {
			for _, o := range result.Unused {
				found = append(found, diagnostic{o.DisplayPosition, a.Analyzer.Name, o.Kind + " " + o.Name + " is unused"})
			}
		}
	}
	slices.SortFunc(found, diagnostic.compare)
	var lines []string
	for _, d := range slices.Compact(found) {
		lines = append(lines, d.String())
	}
	return lines, errors.Join(wrong...)
}

// fullest leaves of each package the variant with its tests: it has all files of the other. Packages that are compiled again only
// for tests of others are left out.
func fullest(own []*packages.Package) []*packages.Package {
	tested := map[string]bool{}
	for _, p := range own {
		if p.PkgPath == p.ForTest {
			tested[p.PkgPath] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(own), func(p *packages.Package) bool {
		if p.ForTest == "" {
			return tested[p.PkgPath]
		}
		return p.PkgPath != p.ForTest && p.PkgPath != p.ForTest+"_test"
	})
}
