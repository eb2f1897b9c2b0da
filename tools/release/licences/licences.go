// Package licences finds the licences of the modules that programs link, and writes them down as their terms ask.
package licences

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// Module is a module with the files that have its terms.
type Module struct {
	Path, Version string   // the standard library is "stdlib", and its version is that of Go, without the letters
	Licences      []string // identifiers of SPDX, in the order of the files
	Files         []File
}

// File is a licence or a notice.
type File struct {
	Name string
	Text []byte
}

// names are those of files that have terms.
var names = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// least is how much of a file must be known text of a licence, in percent, to be one: files begin with names and years.
const least = 75

// choices are the terms that are chosen where a module offers several, with the file that has them.
var choices = map[string]struct{ licence, file string }{
	"github.com/golang/freetype": {"FTL", "licenses/ftl.txt"},
	Font:                         {"Bitstream-Vera", "terms.txt"},
}

// The font is no module: the program ringleader has it in itself, from the folder that has its terms.
const (
	Font        = "DejaVu Sans"
	FontVersion = "2.37"
	fontFolder  = "internal/show/render/dejavu"
)

// pageFolder has the libraries of the lab's page, which the program ringleader has in itself: a folder each, as npm has it.
const pageFolder = "web/vendor"

// OfThePage returns the libraries of the lab's page, by their names.
func OfThePage(root string) (all []*Module, err error) {
	folders, err := os.ReadDir(filepath.Join(root, pageFolder))
	if err != nil {
		return nil, err
	}
	for _, f := range folders {
		folder := filepath.Join(root, pageFolder, f.Name())
		text, err := os.ReadFile(filepath.Join(folder, "package.json"))
		if err != nil {
			return nil, err
		}
		var one listed
		if err := json.Unmarshal(text, &one); err != nil {
			return nil, fmt.Errorf("%s: %w", folder, err)
		}
		m, err := Of(f.Name(), one.Version, folder)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// Of reads the terms of a module in a folder. A module without a licence that is known is an error: somebody has to look.
func Of(path, version, folder string) (*Module, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	m := &Module{Path: path, Version: version}
	for _, e := range entries {
		if e.IsDir() || !names.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		m.Files = append(m.Files, File{e.Name(), text})
		cover := licensecheck.Scan(text)
		if cover.Percent < least || strings.HasPrefix(strings.ToLower(e.Name()), "patents") { // a grant beside the licence
			continue
		}
		for _, match := range cover.Match {
			if !slices.Contains(m.Licences, match.ID) {
				m.Licences = append(m.Licences, match.ID)
			}
		}
	}
	if c, chosen := choices[path]; chosen {
		text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(c.file)))
		if err != nil {
			return nil, err
		}
		m.Licences, m.Files = []string{c.licence}, append(m.Files, File{c.file, text})
	}
	if len(m.Licences) == 0 {
		return nil, fmt.Errorf("%s %s has no licence that is known, in %s", path, version, folder)
	}
	return m, nil
}

// listed is what go list tells of a module.
type listed struct{ Path, Version, Dir string }

// Linked returns the modules that a program of the module in a folder links on any of some platforms, by their paths, with the font and the
// libraries of the page where it has them. The first is the standard library.
func Linked(folder, program string, platforms ...string) ([]*Module, error) {
	found := map[string]listed{}
	for _, p := range platforms {
		system, processor, _ := strings.Cut(p, "/")
		list := exec.Command("go", "list", "-deps", "-f", `{{with .Module}}{"Path":{{printf "%q" .Path}},"Version":{{printf "%q" .Version}},"Dir":{{printf "%q" .Dir}},"Main":{{.Main}}}{{end}}`, program)
		list.Dir = folder
		list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0", "GOWORK=off")
		out, err := list.Output()
		if err != nil {
			var e *exec.ExitError
			if errors.As(err, &e) {
				err = fmt.Errorf("%w: %s", err, e.Stderr)
			}
			return nil, err
		}
		for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
			var one listed
			if err := d.Decode(&one); err != nil {
				return nil, err
			}
			if one.Version != "" && one.Version != "v0.0.0" { // of this repository otherwise
				found[one.Path] = one
			}
		}
	}
	goroot, err := Folder("stdlib", "", folder)
	if err != nil {
		return nil, err
	}
	library, err := Of("stdlib", "", goroot)
	if err != nil {
		return nil, err
	}
	all := []*Module{library}
	for _, one := range found {
		m, err := Of(one.Path, one.Version, one.Dir)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	if _, err := os.Stat(filepath.Join(folder, fontFolder)); err == nil {
		font, err := Of(Font, FontVersion, filepath.Join(folder, fontFolder))
		if err != nil {
			return nil, err
		}
		page, err := OfThePage(folder)
		if err != nil {
			return nil, err
		}
		all = append(append(all, font), page...)
	}
	slices.SortFunc(all[1:], func(a, b *Module) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// Together returns the modules of several programs, each once. A module that has two versions has two entries.
func Together(programs ...[]*Module) (all []*Module) {
	for _, one := range programs {
		for _, m := range one {
			if !slices.ContainsFunc(all, func(other *Module) bool { return other.Path == m.Path && other.Version == m.Version }) {
				all = append(all, m)
			}
		}
	}
	slices.SortStableFunc(all[1:], func(a, b *Module) int { return strings.Compare(a.Path, b.Path) })
	return all
}

const head = `Ringleader
Copyright 2026 The Ringleader authors
Licensed under the Apache License, Version 2.0; see LICENSE.

The programs ringleader and ringleader-broker contain the Go standard library and these modules and libraries, each
under its own terms, which follow. The libraries of this repository contain fewer of them.

`

// Notice returns the text that accompanies the programs.
func Notice(modules []*Module) []byte {
	var b bytes.Buffer
	b.WriteString(head)
	for _, m := range modules {
		fmt.Fprintf(&b, "  %-40s %s\n", m.Path, strings.Join(m.Licences, ", "))
	}
	for _, m := range modules {
		for _, f := range m.Files {
			fmt.Fprintf(&b, "\n%s\n%s: %s\n%[1]s\n\n%[4]s\n", strings.Repeat("=", 80), m.Path, f.Name, bytes.TrimSpace(bytes.ReplaceAll(f.Text, []byte("\r\n"), []byte("\n"))))
		}
	}
	return b.Bytes()
}

// Folder returns where this machine has a module, which it downloads if necessary.
func Folder(path, version, root string) (string, error) {
	if path == "stdlib" {
		out, err := exec.Command("go", "env", "GOROOT").Output()
		return strings.TrimSpace(string(out)), err
	}
	if path == Font {
		return filepath.Join(root, fontFolder), nil
	}
	download := exec.Command("go", "mod", "download", "-json", path+"@"+version)
	download.Dir = root
	out, err := download.Output()
	var one listed
	if err == nil {
		err = json.Unmarshal(out, &one)
	}
	if err == nil && one.Dir == "" {
		err = fs.ErrNotExist
	}
	if err != nil {
		return "", fmt.Errorf("%s@%s: %w", path, version, err)
	}
	return one.Dir, nil
}
