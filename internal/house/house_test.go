package house

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// rule is one rule of the house.
type rule struct {
	name  string
	check func(*module) []string // complaints
	bad   fstest.MapFS           // a tree that breaks it once
	says  string                 // part of the complaint
}

// rules are all of them but the import rules, which are a table of their own.
var rules = []rule{
	{
		name: "every package has one package comment", check: packageComments,
		bad:  source("p/p.go", "package p\n"),
		says: "package ./p has 0 package comments",
	},
	{
		name: "a package comment begins with the package's name", check: packageComments,
		bad:  source("p/p.go", "// Useful things.\npackage p\n"),
		says: "p/p.go:2: the comment of package p does not begin with \"Package p \"",
	},
	{
		name: "exported functions are documented", check: documented,
		bad:  source("p/p.go", "package p\n\nfunc F() {}\n"),
		says: "p/p.go:3: F has no comment",
	},
	{
		name: "exported methods are documented", check: documented,
		bad:  source("p/p.go", "package p\n\n// T is a type.\ntype T[E any] struct{}\n\nfunc (*T[E]) F() {}\n"),
		says: "p/p.go:6: F has no comment",
	},
	{
		name: "exported types are documented", check: documented,
		bad:  source("p/p.go", "package p\n\ntype T int\n"),
		says: "p/p.go:3: T has no comment",
	},
	{
		name: "exported constants and variables are documented", check: documented,
		bad:  source("p/p.go", "package p\n\nvar (\n\tv int\n\tV int\n)\n"),
		says: "p/p.go:5: V has no comment",
	},
	{
		name: "nothing happens on import", check: explicit,
		bad:  source("p/p.go", "package p\n\nfunc init() {}\n"),
		says: "p/p.go:3: an init function",
	},
	{
		name: "nothing is imported for its side effects", check: explicit,
		bad:  source("p/p.go", "package p\n\nimport _ \"expvar\"\n"),
		says: "p/p.go:3: a blank import",
	},
	{
		name: "no file is too long to be read", check: readable,
		bad:  source("p/p.go", "package p\n"+strings.Repeat("\n", longest)),
		says: "p/p.go: 601 lines",
	},
	{
		name: "tests do not sleep", check: sleepless,
		bad:  source("p/p_test.go", "package p\n\nimport \"time\"\n\nfunc f() {\n\ttime.Sleep(1)\n}\n"),
		says: "p/p_test.go:6: time.Sleep",
	},
	{
		name: "tests do not sleep by another name", check: sleepless,
		bad:  source("p/p_test.go", "package p\n\nimport \"time\"\n\nfunc f() {\n\t<-time.After(1)\n}\n"),
		says: "p/p_test.go:6: <-time.After",
	},
	{
		name: "scripts do not sleep", check: sleepless,
		bad:  source("p/testdata/a.txtar", "exec true\nexec sleep 1\n"),
		says: "p/testdata/a.txtar:2: exec sleep",
	},
	{
		name: "algorithms see one end of the collector only", check: oneEnd,
		bad:  source("algorithms/a/a.go", "package a\n\nimport \"m.example/m/election\"\n\nvar c election.Collector[int]\n"),
		says: "algorithms/a/a.go:5: election.Collector",
	},
	{
		name: "pure code does not depend on the order of a map", check: mapOrder,
		bad:  source("simulate/s.go", "package simulate\n\ntype set map[int]bool\n\nfunc f(s set) {\n\tfor range s {\n\t}\n}\n"),
		says: "simulate/s.go:6: ranges over a map",
	},
	{
		name: "pure code takes the keys of a map in order", check: mapOrder,
		bad:  source("simulate/s.go", "package simulate\n\nimport \"maps\"\n\nvar s = maps.Keys(map[int]bool{})\n"),
		says: "simulate/s.go:5: maps.Keys",
	},
	{
		name: "work is done, not noted down", check: finished,
		bad:  source("p/notes.md", "One.\nFIX"+"ME later\n"),
		says: "p/notes.md:2: FIX" + "ME",
	},
	{
		name: "no file names a folder of somebody's machine", check: portable,
		bad:  source("p/script", "cd /ro"+"ot/project\n"),
		says: "p/script:1: /ro" + "ot/",
	},
	{
		name: "no file names a package proxy", check: portable,
		bad:  source("p/script", "\nexport GOPRO"+"XY=https://packages.example\n"),
		says: "p/script:2: GOPRO" + "XY=http",
	},
}

// source is a module with one file besides go.mod.
func source(name, text string) fstest.MapFS {
	return fstest.MapFS{
		"go.mod": {Data: []byte("module m.example/m\n\ngo 1.26\n")},
		name:     {Data: []byte(text)},
	}
}

// this is the module that the tests are part of.
var this = sync.OnceValues(func() (*module, error) { return load(os.DirFS(root)) })

// root is where the module begins, seen from this package.
const root = "../.."

func tree(t *testing.T) *module {
	t.Helper()
	m, err := this()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func memory(t *testing.T, files fs.FS) *module {
	t.Helper()
	m, err := load(files)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestThisModuleKeepsTheRules(t *testing.T) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, complaint := range r.check(tree(t)) {
				t.Error(complaint)
			}
		})
	}
}

func TestEveryRuleCanBeBroken(t *testing.T) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			complaints := r.check(memory(t, r.bad))
			if len(complaints) != 1 || !strings.Contains(complaints[0], r.says) {
				t.Errorf("says %q, and should say %q", complaints, r.says)
			}
		})
	}
}

// What looks like a breach and is none.
func TestRulesAllow(t *testing.T) {
	for _, c := range []struct {
		what string
		rule func(*module) []string
		in   fstest.MapFS
	}{
		{"one comment for a group of constants", documented, source("p/p.go", "package p\n\n// The things.\nconst (\n\tA = 1\n\tB = 2\n)\n")},
		{"methods that an interface documents", documented, source("p/p.go", "package p\n\n// T is a type.\ntype T int\n\nfunc (T) String() string { return \"\" }\n")},
		{"methods of what is not exported", documented, source("p/p.go", "package p\n\ntype t int\n\nfunc (t) F() {}\n")},
		{"a program without documentation of its functions", documented, source("p/p.go", "package main\n\nfunc F() {}\n")},
		{"files of tests without a package comment", packageComments, source("p/p_test.go", "package p\n")},
		{
			"sleep where the clock is false", sleepless,
			source("p/p_test.go", "package p\n\nimport (\n\t\"testing/synctest\"\n\t\"time\"\n)\n\nfunc f() {\n\tsynctest.Test(nil, func() { time.Sleep(1) })\n}\n"),
		},
		{"sleep outside tests", sleepless, source("p/p.go", "package p\n\nimport \"time\"\n\nfunc f() { time.Sleep(1) }\n")},
		{"a time limit", sleepless, source("p/p_test.go", "package p\n\nimport \"time\"\n\nfunc f() {\n\tselect {\n\tcase <-time.After(1):\n\t}\n}\n")},
		{"maps that are sorted first", mapOrder, source("simulate/s.go", "package simulate\n\nimport (\n\t\"maps\"\n\t\"slices\"\n)\n\nvar s = slices.Sorted(maps.Keys(map[int]bool{}))\n")},
		{"maps elsewhere", mapOrder, source("p/p.go", "package p\n\nfunc f(s map[int]bool) {\n\tfor range s {\n\t}\n}\n")},
		{"the word in other words", finished, source("p/p.md", "TO"+"DOS, meto"+"do\n")},
		{"folders inside the module", portable, source("p/p.md", "see docs/work/here and ../home/there\n")},
		{"files that are not text", portable, source("p/p.bin", "\x00 /ro"+"ot/x\n")},
		{"another module's packages", packageComments, fstest.MapFS{
			"go.mod":       {Data: []byte("module m.example/m\n")},
			"tools/go.mod": {Data: []byte("module m.example/tools\n")},
			"tools/t.go":   {Data: []byte("package tools\n")},
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			if complaints := c.rule(memory(t, c.in)); len(complaints) > 0 {
				t.Error(complaints)
			}
		})
	}
}

func TestAFileThatDoesNotParseIsNamed(t *testing.T) {
	_, err := load(source("p/p.go", "package\n"))
	if err == nil || !strings.Contains(fmt.Sprint(err), "p/p.go") {
		t.Errorf("got %v", err)
	}
}
