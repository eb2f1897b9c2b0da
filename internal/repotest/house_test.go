package repotest

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// rule is one rule of the house.
type rule struct {
	name   string
	check  func(*module) []string // complaints
	broken []breach
}

// breach is a tree that breaks a rule once, and part of the complaint.
type breach struct {
	tree fstest.MapFS
	says string
}

// rules are all of them but the import rules, which are a table of their own.
var rules = []rule{
	{"every package has one package comment, which begins with its name", packageComments, []breach{
		{source("p/p.go", "package p\n"), "package ./p has 0 package comments"},
		{source("p/p.go", "// Useful things.\npackage p\n"), "p/p.go:2: the comment of package p does not begin with \"Package p \""},
	}},
	{"what is exported is documented", documented, []breach{
		{source("p/p.go", "package p\n\nfunc F() {}\n"), "p/p.go:3: F has no comment"},
		{source("p/p.go", "package p\n\n// T is a type.\ntype T[E any] struct{}\n\nfunc (*T[E]) F() {}\n"), "p/p.go:6: F has no comment"},
		{source("p/p.go", "package p\n\ntype T int\n"), "p/p.go:3: T has no comment"},
		{source("p/p.go", "package p\n\nvar (\n\tv int\n\tV int\n)\n"), "p/p.go:5: V has no comment"},
	}},
	{"nothing happens on import", explicit, []breach{
		{source("p/p.go", "package p\n\nfunc init() {}\n"), "p/p.go:3: an init function"},
		{source("p/p.go", "package p\n\nimport _ \"expvar\"\n"), "p/p.go:3: a blank import"},
	}},
	{"no file is too long to be read", readable, []breach{
		{source("p/p.go", "package p\n"+strings.Repeat("\n", longest)), "p/p.go: 601 lines"},
	}},
	{"no package is too long to be kept in mind", compact, []breach{
		{source("p/p.go", "package p\n"+strings.Repeat("\n", longestPackage)), "package ./p has 4001 lines"},
	}},
	{"no struct embeds a generic type", unembedded, []breach{
		{source("p/p.go", "package p\n\ntype run[S any] struct{}\n\ntype engine[S any] struct {\n\trun[S]\n}\n"), "p/p.go:6: a struct embeds a generic type"},
		{source("p/p.go", "package p\n\nimport \"m.example/m/q\"\n\ntype engine struct {\n\t*q.Run[int, bool]\n}\n"), "p/p.go:6: a struct embeds a generic type"},
		{source("p/p.go", "package p\n\ntype run[S any] struct{}\n\nfunc f() {\n\tvar _ struct{ run[int] }\n}\n"), "p/p.go:6: a struct embeds a generic type"},
	}},
	{"no function has more ways through it than can be kept in mind", surveyable, []breach{
		{source("p/p.go", "package p\n\nfunc f(a, b bool) {\n"+strings.Repeat("\tif a && b {\n\t}\n\tif a || b {\n\t}\n", mostWays/4)+"}\n"), "p/p.go:3: there are 21 ways through f"},
		{source("p/p.go", "package p\n\nfunc f(n int) {\n\tswitch n {\n"+cases(mostWays)+"\tdefault:\n\t}\n}\n"), "p/p.go:3: there are 21 ways through f"},
		{source("p/p_test.go", "package p\n\nvar fs = []func(){\n\tfunc() {\n"+strings.Repeat("\t\tfor range 2 {\n\t\t}\n", mostWays)+"\t},\n}\n"), "p/p_test.go:3: there are 21 ways"},
		{source("p/p.go", "package p\n\nfunc f(c chan int) {\n\tselect {\n"+strings.Repeat("\tcase <-c:\n", mostWays)+"\t}\n}\n"), "p/p.go:3: there are 21 ways through f"},
	}},
	{"tests do not sleep", sleepless, []breach{
		{source("p/p_test.go", "package p\n\nimport \"time\"\n\nfunc f() {\n\t"+sleep+"(1)\n}\n"), "p/p_test.go:6: " + sleep},
		{source("p/p_test.go", "package p\n\nimport \"time\"\n\nfunc f() {\n\t<-time.After(1)\n}\n"), "p/p_test.go:6: <-time.After"},
		{source("p/testdata/a.txtar", "exec true\nexec sleep 1\n"), "p/testdata/a.txtar:2: exec sleep"},
	}},
	{"what may run before others is reaped in one place", reaped, []breach{
		{source("p/p.go", "package p\n\nimport \"syscall\"\n\nfunc f() {\n\tsyscall.Wait4(1, nil, 0, nil)\n}\n"), "p/p.go:6: syscall.Wait4"},
	}},
	{"algorithms use nothing of the contract that is for engines", forEngines, []breach{
		{parted("// Collector is an end. For engines.\ntype Collector[M any] struct{}\n", "var c election.Collector[int]"), "algorithms/a/a.go:5: election.Collector is for engines"},
		{parted("// The effects. For\n// engines.\nconst (\n\tLead = 1\n\tFollow = 2\n)\n", "var c = election.Follow"), "algorithms/a/a.go:5: election.Follow is for engines"},
		{parted("// In is made. For engines.\nfunc In() {}\n", "func f() { election.In() }"), "algorithms/a/a.go:5: election.In is for engines"},
		{parted("// Sent is a message.\ntype Sent struct{}\n", ""), "the comment of Sent"},
		{parted("// Left is left.\nfunc (d Deadline) Left() {}\n", ""), "the comment of Left"},
		{parted("func In() {}\n", ""), "the comment of In"},
	}},
	{"pure code does not depend on the order of a map", mapOrder, []breach{
		{source("simulate/s.go", "package simulate\n\ntype set map[int]bool\n\nfunc f(s set) {\n\tfor range s {\n\t}\n}\n"), "simulate/s.go:6: ranges over a map"},
		{source("simulate/s.go", "package simulate\n\nimport \"maps\"\n\nvar s = maps.Keys(map[int]bool{})\n"), "simulate/s.go:5: maps.Keys"},
		{source("simulate/s.go", "package simulate\n\nvar s int = true\n"), "simulate/s.go:3:13: cannot use true"},
	}},
	{"keys in logs are words without spaces", searchable, []breach{
		{source("p/p.go", "package p\n\nfunc f() {\n\tm.log.Warn(\"a line\", \"peer\", 1, \"the reason\", err)\n}\n"), "p/p.go:4: the key \"the reason\" of an attribute"},
		{source("p/p.go", "package p\n\nfunc f() {\n\tLogger.With(\"Member\", 1)\n}\n"), "p/p.go:4: the key \"Member\" of an attribute"},
		{source("p/p.go", "package p\n\nfunc f() {\n\tlog.Info(\"a line\", slog.Int(\"two words\", 1), \"peer\", 1)\n}\n"), "p/p.go:4: the key \"two words\" of an attribute"},
		{source("p/p.go", "package p\n\nfunc f(key string) {\n\tslog.Error(\"a line\", key, 1)\n}\n"), "p/p.go:4: the key of an attribute in a log is not a constant text"},
	}},
	{"the comment of a type names its values", enumerated, []breach{
		{source("fence/f.go", "package fence\n\n// State is a state: [On].\ntype State int\n\n// The states.\nconst (\n\tOn State = iota\n\tOff\n)\n"), "fence/f.go:4: the comment of State does not name [Off]"},
		{source("fence/f.go", "package fence\n\n// State is a state.\ntype State int\n\nfunc (State) String() string { return \"\" }\n"), "fence/f.go:6: the method String of State has no comment"},
	}},
	{"work is done, not noted down", finished, []breach{
		{source("p/notes.md", "One.\nFIX"+"ME later\n"), "p/notes.md:2: FIX" + "ME"},
	}},
	{"no file names the paths of one machine", portable, []breach{
		{source("p/script", "cd /ro"+"ot/project\n"), "p/script:1: /ro" + "ot/"},
		{source("p/script", "\nexport GOPRO"+"XY=https://packages.example\n"), "p/script:2: GOPRO" + "XY=http"},
	}},
}

// source is a module with one file besides go.mod.
func source(name, text string) fstest.MapFS {
	return fstest.MapFS{
		"go.mod": {Data: []byte("module m.example/m\n\ngo 1.26\n")},
		name:     {Data: []byte(text)},
	}
}

// parted is a module whose contract has a part for engines, and an algorithm with a declaration.
func parted(contract, declaration string) fstest.MapFS {
	m := source(enginesFile, "package election\n\n"+contract)
	m["algorithms/a/a.go"] = &fstest.MapFile{Data: []byte("package a\n\nimport \"m.example/m/election\"\n\n" + declaration + "\n")}
	return m
}

// cases are so many branches of a switch over a number.
func cases(n int) string {
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, "\tcase %d:\n", i)
	}
	return lines.String()
}

// root is where the module begins, seen from this package.
const root = "../.."

// this is the module that the tests are part of; nil until one of them wants it.
var this *module

func tree(t *testing.T) *module {
	t.Helper()
	if this == nil {
		this = loaded(t, os.DirFS(root))
	}
	return this
}

func loaded(t *testing.T, files fs.FS) *module {
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
		for _, b := range r.broken {
			complaints := r.check(loaded(t, b.tree))
			if len(complaints) != 1 || !strings.Contains(complaints[0], b.says) {
				t.Errorf("%s: the rule says %q, and should say %q", r.name, complaints, b.says)
			}
		}
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
			source("p/p_test.go", "package p\n\nimport (\n\t\"testing/synctest\"\n\t\"time\"\n)\n\nfunc f() {\n\tsynctest.Test(nil, func() { "+sleep+"(1) })\n}\n"),
		},
		{"sleep outside tests", sleepless, source("p/p.go", "package p\n\nimport \"time\"\n\nfunc f() { "+sleep+"(1) }\n")},
		{"a time limit", sleepless, source("p/p_test.go", "package p\n\nimport \"time\"\n\nfunc f() {\n\tselect {\n\tcase <-time.After(1):\n\t}\n}\n")},
		{"maps that are sorted first", mapOrder, source("simulate/s.go", "package simulate\n\nimport (\n\t\"maps\"\n\t\"slices\"\n)\n\nvar s = slices.Sorted(maps.Keys(map[int]bool{}))\n")},
		{"a generic type in a field with a name", unembedded, source("p/p.go", "package p\n\ntype run[S any] struct{}\n\ntype engine[S any] struct {\n\trun run[S]\n\tall []run[S]\n}\n")},
		{"as many ways as can be kept in mind", surveyable, source("p/p.go", "package p\n\nfunc f(n int) {\n\tswitch n {\n"+cases(mostWays-1)+"\tdefault:\n\t}\n}\n")},
		{
			"a table of functions with some ways each", surveyable,
			source("p/p_test.go", "package p\n\nvar fs = []func(bool){\n"+strings.Repeat("\tfunc(b bool) {\n\t\tif b {\n\t\t}\n\t},\n", mostWays+1)+"}\n"),
		},
		{
			"the engines' own methods without a mark, and an algorithm that takes effects", forEngines,
			parted("// Sent is a message. For engines.\ntype Sent struct{}\n\n// On is a link.\nfunc (s Sent) On() {}\n", "var o election.Out[int]"),
		},
		{"texts of other methods, messages of logs, and a constant as a key", searchable, source("p/p.go", "package p\n\nconst key = \"key\"\n\nfunc f() {\n\tm.log.Warn(\"It fails\", key, 1)\n\tt.Error(\"It fails\", \"A B\")\n\tm.log.Warn(\"It fails\", \"peer_id\", \"A B\")\n}\n")},
		{"maps elsewhere", mapOrder, source("p/p.go", "package p\n\nfunc f(s map[int]bool) {\n\tfor range s {\n\t}\n}\n")},
		{"the word in other words", finished, source("p/p.md", "TO"+"DOS, meto"+"do\n")},
		{"folders inside the module", portable, source("p/p.md", "see docs/root/here and ../home/there\n")},
		{"files that are not text", portable, source("p/p.bin", "\x00 /ro"+"ot/x\n")},
		{"another module's packages", packageComments, fstest.MapFS{
			"go.mod":       {Data: []byte("module m.example/m\n")},
			"tools/go.mod": {Data: []byte("module m.example/tools\n")},
			"tools/t.go":   {Data: []byte("package tools\n")},
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			if complaints := c.rule(loaded(t, c.in)); len(complaints) > 0 {
				t.Error(complaints)
			}
		})
	}
}

// Whatever a pattern finds has one of the words that are looked for first.
func TestHintsMissNothing(t *testing.T) {
	for _, c := range []struct {
		pattern *regexp.Regexp
		hints   []string
		samples []string
	}{
		{unfinished, unfinishedHints, []string{"TO" + "DO", "FIX" + "ME", "XX" + "X"}},
		{elsewhere, elsewhereHints, []string{
			"/ro" + "ot/a", " /wo" + "rk/a", "(/ho" + "me/a", "\n/Us" + "ers/a", `C:\Us` + `ers\a`, "GOPRO" + "XY=https:", "GOSUM" + "DB: http:",
			"http_pro" + "xy = 'http:", "HTTPS_PRO" + "XY=http:", "https://pro" + "xy.golang.org", "sum.gol" + "ang.org", "gopro" + "xy.io", "gopro" + "xy.cn",
		}},
	} {
		for _, sample := range c.samples {
			if !c.pattern.MatchString(sample) || len(hinted([]text{{"", []byte(sample)}}, c.hints)) == 0 {
				t.Errorf("%s is not found", sample)
			}
		}
	}
}

func TestAFileThatDoesNotParseIsNamed(t *testing.T) {
	_, err := load(source("p/p.go", "package\n"))
	if err == nil || !strings.Contains(fmt.Sprint(err), "p/p.go") {
		t.Errorf("got %v", err)
	}
}
