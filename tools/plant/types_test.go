package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// listed is a package, as go list tells.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// listPackages returns packages with all that they import.
func listPackages(t *testing.T, folders []string) (byPath, byFolder map[string]listed) {
	t.Helper()
	command := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles"}, folders...)...)
	command.Dir, command.Stderr = root, os.Stderr
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	base, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	byPath, byFolder = map[string]listed{}, map[string]listed{}
	for all := json.NewDecoder(strings.NewReader(string(output))); ; {
		var p listed
		if err := all.Decode(&p); err == io.EOF {
			return byPath, byFolder
		} else if err != nil {
			t.Fatal(err)
		}
		byPath[p.ImportPath] = p
		if folder, err := filepath.Rel(base, p.Dir); err == nil {
			byFolder["./"+filepath.ToSlash(folder)] = p
		}
	}
}

// A bug that does not compile is found by no test. Only the edited packages are checked, and what they import is compiled.
func TestEveryBugCompiles(t *testing.T) {
	bugs, err := readBugs("bugs")
	if err != nil {
		t.Fatal(err)
	}
	bugs = slices.DeleteFunc(bugs, func(b bug) bool { return strings.HasSuffix(b.file, "_test.go") })
	var folders []string
	for _, b := range bugs {
		folders = append(folders, "./"+path.Dir(b.file))
	}
	slices.Sort(folders)
	byPath, byFolder := listPackages(t, slices.Compact(folders))
	files := token.NewFileSet()
	imported := importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(byPath[path].Export) })
	for _, b := range bugs {
		content, err := b.planted(root)
		if err != nil {
			continue // another test tells
		}
		if err := compiles(byFolder["./"+path.Dir(b.file)], filepath.Base(b.file), content, files, imported); err != nil {
			t.Errorf("%s: %v", b.name, err)
		}
	}
}

// compiles checks a package with an edited file.
func compiles(p listed, edited string, content []byte, files *token.FileSet, imported types.Importer) error {
	if !slices.Contains(p.GoFiles, edited) {
		return nil // of another system
	}
	var all []*ast.File
	for _, name := range p.GoFiles {
		var source any
		if name == edited {
			source = content
		}
		f, err := parser.ParseFile(files, filepath.Join(p.Dir, name), source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		all = append(all, f)
	}
	config := types.Config{Importer: imported}
	if _, err := config.Check(p.ImportPath, files, all, nil); err != nil {
		return fmt.Errorf("it does not compile: %w", err)
	}
	return nil
}
