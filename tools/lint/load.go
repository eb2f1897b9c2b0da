package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"
)

// listed is a package as go list describes it.
type listed struct {
	Dir, ImportPath, Name, ForTest string
	GoFiles, IgnoredGoFiles        []string
	SFiles                         []string
	ImportMap                      map[string]string
	Standard                       bool
	Module                         *struct {
		Path, Dir, GoVersion string
		Main                 bool
	}
	Error *struct{ Err string }
}

// own tells whether it is a package of the module in a folder. A workspace has several main modules.
func (p listed) own(folder string) bool {
	return p.Module != nil && p.Module.Main && p.Module.Dir == folder
}

// load checks the types of packages of the module in a folder and of all that they import, for a system, and returns the module's own.
func load(files *files, folder, system string, patterns []string) ([]*packages.Package, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	all, err := list(folder, system, patterns)
	if err != nil {
		return nil, err
	}
	checked := map[string]*packages.Package{"unsafe": {ID: "unsafe", Types: types.Unsafe, Fset: files.set}}
	var own []*packages.Package
	var wrong []error
	for _, p := range all { // dependencies come first
		if strings.HasSuffix(p.ImportPath, ".test") || p.ImportPath == "unsafe" {
			continue
		}
		if p.Error != nil {
			wrong = append(wrong, errors.New(p.Error.Err))
		}
		is := p.own(folder)
		c, errs := check(files, p, is, system, checked)
		checked[p.ImportPath] = c
		wrong = append(wrong, errs...)
		if is {
			own = append(own, c)
		}
	}
	return own, errors.Join(wrong...)
}

// check checks the types of a package, with the bodies of functions only if it is the module's own.
func check(files *files, p listed, own bool, system string, checked map[string]*packages.Package) (*packages.Package, []error) {
	path, _, _ := strings.Cut(p.ImportPath, " ")
	c := &packages.Package{
		ID: p.ImportPath, Name: p.Name, PkgPath: path, ForTest: p.ForTest, Dir: p.Dir, Fset: files.set,
		TypesSizes: types.SizesFor("gc", strings.Split(system, "/")[1]), Imports: map[string]*packages.Package{},
		GoFiles: in(p.Dir, p.GoFiles), IgnoredFiles: in(p.Dir, p.IgnoredGoFiles), OtherFiles: in(p.Dir, p.SFiles),
	}
	var wrong []error
	config := types.Config{
		Importer: importer{c, checked, p.ImportMap}, Sizes: c.TypesSizes,
		IgnoreFuncBodies: !own, FakeImportC: true,
		Error: func(err error) { wrong = append(wrong, err) },
	}
	if p.Module != nil {
		c.Module = &packages.Module{Path: p.Module.Path, Dir: p.Module.Dir, GoVersion: p.Module.GoVersion, Main: p.Module.Main}
		config.GoVersion = "go" + p.Module.GoVersion
	}
	c.TypesInfo = &types.Info{Defs: map[*ast.Ident]types.Object{}}
	if !config.IgnoreFuncBodies {
		c.TypesInfo = &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{}, Defs: map[*ast.Ident]types.Object{},
			Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{}, Scopes: map[ast.Node]*types.Scope{},
			Selections: map[*ast.SelectorExpr]*types.Selection{}, FileVersions: map[*ast.File]string{},
		}
	}
	for _, path := range c.GoFiles {
		file, err := files.parse(path)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		c.Syntax = append(c.Syntax, file)
	}
	c.Types, _ = config.Check(path, files.set, c.Syntax, c.TypesInfo) // the errors are in wrong
	return c, wrong
}

func in(folder string, names []string) []string {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = filepath.Join(folder, name)
	}
	return paths
}

// list returns packages of the module, with the variants that tests are compiled with, after those that they import.
func list(folder, system string, patterns []string) ([]listed, error) {
	parts := append(strings.Split(system, "/"), "")
	if len(parts) < 3 {
		return nil, errors.New("a system is GOOS/GOARCH or GOOS/GOARCH/GOARM")
	}
	fields := "-json=Dir,ImportPath,Name,ForTest,GoFiles,IgnoredGoFiles,SFiles,ImportMap,Standard,Module,Error"
	command := exec.Command("go", append([]string{"list", "-e", "-deps", "-test", fields, "--"}, patterns...)...)
	command.Dir = folder
	command.Env = append(os.Environ(), "GOOS="+parts[0], "GOARCH="+parts[1], "CGO_ENABLED=0")
	if parts[2] != "" {
		command.Env = append(command.Env, "GOARM="+parts[2])
	}
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, complaints.String())
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

// importer finds what a package imports among those that were checked, and notes it.
type importer struct {
	of      *packages.Package
	checked map[string]*packages.Package
	as      map[string]string
}

func (i importer) Import(path string) (*types.Package, error) {
	if as, is := i.as[path]; is {
		path = as
	}
	p := i.checked[path]
	if p == nil || p.Types == nil {
		return nil, fmt.Errorf("%s was not checked", path)
	}
	if path != "unsafe" {
		i.of.Imports[path] = p
	}
	return p.Types, nil
}

// files holds what was parsed: the files of most packages are the same for all systems and modules.
type files struct {
	set    *token.FileSet
	mutex  sync.Mutex
	parsed map[string]*parsed
}

type parsed struct {
	once sync.Once
	file *ast.File
	err  error
}

func newFiles() *files { return &files{set: token.NewFileSet(), parsed: map[string]*parsed{}} }

func (f *files) parse(path string) (*ast.File, error) {
	f.mutex.Lock()
	p := f.parsed[path]
	if p == nil {
		p = &parsed{}
		f.parsed[path] = p
	}
	f.mutex.Unlock()
	p.once.Do(func() {
		p.file, p.err = parser.ParseFile(f.set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	})
	return p.file, p.err
}
