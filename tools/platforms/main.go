// Command platforms checks the types of all packages, with their tests, for systems that nothing is run on here:
//
//	go run . -in ../.. windows/amd64 linux/386 linux/arm/7
//
// A system is GOOS/GOARCH, and for arm also GOARM. What the compiler would refuse is refused: missing functions, and numbers that
// are too large where an int has 32 bits. No code is made: a compiler takes ten times as long for that. Every file is parsed once,
// and what other modules have in their functions is not looked at.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
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
)

func main() {
	in := flag.String("in", ".", "the folder of the module")
	flag.Parse()
	files := &files{set: token.NewFileSet(), parsed: map[string]*parsed{}}
	found := make([]error, flag.NArg())
	var all sync.WaitGroup
	for i, system := range flag.Args() {
		all.Go(func() { found[i] = check(files, *in, system) })
	}
	all.Wait()
	if err := errors.Join(found...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// listed is a package as go list describes it.
type listed struct {
	Dir, ImportPath string
	GoFiles         []string
	ImportMap       map[string]string
	Standard        bool
	Module          *struct{ Main bool }
	Error           *struct{ Err string }
}

// check checks all packages of the module in a folder for a system.
func check(files *files, in, system string) error {
	packages, err := list(in, system)
	if err != nil {
		return fmt.Errorf("%s: %w", system, err)
	}
	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	var wrong []error
	for _, p := range packages { // dependencies come first
		if strings.HasSuffix(p.ImportPath, ".test") || p.ImportPath == "unsafe" {
			continue
		}
		if p.Error != nil {
			wrong = append(wrong, errors.New(p.Error.Err))
		}
		own := p.Module != nil && p.Module.Main
		c := types.Config{
			Importer: importer{checked, p.ImportMap}, Sizes: types.SizesFor("gc", strings.Split(system, "/")[1]),
			IgnoreFuncBodies: !own, FakeImportC: true,
			Error: func(err error) { wrong = append(wrong, err) },
		}
		var syntax []*ast.File
		for _, name := range p.GoFiles {
			file, err := files.parse(filepath.Join(p.Dir, name))
			if err != nil {
				wrong = append(wrong, err)
				continue
			}
			syntax = append(syntax, file)
		}
		path, _, _ := strings.Cut(p.ImportPath, " ")
		checked[p.ImportPath], _ = c.Check(path, files.set, syntax, nil) // the errors are in wrong
	}
	for i, err := range wrong {
		wrong[i] = fmt.Errorf("%s: %w", system, err)
	}
	return errors.Join(wrong...)
}

// list returns all packages of the module, with the variants that tests are compiled with, after those that they import.
func list(in, system string) ([]listed, error) {
	parts := append(strings.Split(system, "/"), "")
	if len(parts) < 3 {
		return nil, errors.New("a system is GOOS/GOARCH or GOOS/GOARCH/GOARM")
	}
	command := exec.Command("go", "list", "-e", "-deps", "-test", "-json=Dir,ImportPath,GoFiles,ImportMap,Standard,Module,Error", "./...")
	command.Dir = in
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
	var packages []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
}

// importer finds what a package imports among those that were checked.
type importer struct {
	checked map[string]*types.Package
	as      map[string]string
}

func (i importer) Import(path string) (*types.Package, error) {
	if as, is := i.as[path]; is {
		path = as
	}
	if p := i.checked[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s was not checked", path)
}

// files holds what was parsed: the files of most packages are the same for all systems.
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

func (f *files) parse(path string) (*ast.File, error) {
	f.mutex.Lock()
	p := f.parsed[path]
	if p == nil {
		p = &parsed{}
		f.parsed[path] = p
	}
	f.mutex.Unlock()
	p.once.Do(func() { p.file, p.err = parser.ParseFile(f.set, path, nil, parser.SkipObjectResolution) })
	return p.file, p.err
}
