package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	gofumpt "mvdan.cc/gofumpt/format"
)

// unformatted returns the Go files in a folder that gofumpt would change, a line each: those of all systems and of inner modules. It
// leaves out testdata, and folders that the go command leaves out.
func unformatted(folder string) ([]string, error) {
	var found []string
	options := map[string]gofumpt.Options{} // by folder
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			name := entry.Name()
			if path != folder && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
				return filepath.SkipDir
			}
			options[path], err = optionsOf(path, options[filepath.Dir(path)])
			return err
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		formatted, err := formatted(text, options[filepath.Dir(path)])
		if err != nil {
			return fmt.Errorf("%s: %w", relative(path), err)
		}
		if !bytes.Equal(text, formatted) {
			found = append(found, relative(path)+": gofumpt writes it otherwise (gofumpt)")
		}
		return nil
	})
	return found, err
}

// optionsOf are the options for the files of a folder: those of its own module, or of the folder around it.
func optionsOf(folder string, around gofumpt.Options) (gofumpt.Options, error) {
	path := filepath.Join(folder, "go.mod")
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return around, nil
	}
	if err != nil {
		return around, err
	}
	module, err := modfile.ParseLax(path, text, nil)
	if err != nil {
		return around, err
	}
	var options gofumpt.Options
	if module.Module != nil {
		options.ModulePath = module.Module.Mod.Path
	}
	if module.Go != nil {
		options.LangVersion = "go" + module.Go.Version
	}
	return options, nil
}

// formatted is a file as gofumpt writes it. What a program has written needs to be as gofmt writes it.
func formatted(text []byte, options gofumpt.Options) ([]byte, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(file) {
		return format.Source(text)
	}
	return gofumpt.Source(text, options)
}
