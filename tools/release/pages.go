package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/cli"
)

// common returns what all archives have besides the program.
func (r *release) common() (entries []entry, err error) {
	for _, name := range []string{"LICENSE", "NOTICE", "README.md", "CHANGELOG.md", "SECURITY.md"} {
		data, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{name: name, from: name, data: data})
	}
	for _, folder := range []string{"packaging/systemd", "packaging/kubernetes", "packaging/recipes", "monitoring", "docs"} {
		files, err := read(os.DirFS(filepath.Join(r.root, folder)))
		if err != nil {
			return nil, err
		}
		for _, e := range files {
			if path.Ext(e.name) != ".go" {
				e.name, e.from = path.Base(folder)+"/"+e.name, folder+"/"+e.name
				entries = append(entries, e)
			}
		}
	}
	tree := cli.Tree("ringleader", all.Algorithms)
	completions, err := completions(tree)
	if err != nil {
		return nil, err
	}
	pages, err := manual(tree, "Ringleader "+r.version, r.moment)
	return append(append(entries, completions...), pages...), err
}

// read returns all files of a folder.
func read(files fs.FS) (entries []entry, err error) {
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		e := entry{name: name, data: data}
		if bytes.HasPrefix(data, []byte("#!")) {
			e.mode = executable
		}
		entries = append(entries, e)
		return nil
	})
	return entries, err
}

// The names of the completions in an archive.
const (
	forBash = "completions/ringleader.bash"
	forZsh  = "completions/_ringleader"
	forFish = "completions/ringleader.fish"
)

// completions returns the scripts with which shells complete a call. They ask the program for words.
func completions(tree *cobra.Command) (entries []entry, err error) {
	for _, shell := range []struct {
		name string
		make func(io.Writer) error
	}{
		{forBash, func(w io.Writer) error { return tree.GenBashCompletionV2(w, true) }},
		{forZsh, tree.GenZshCompletion},
		{forFish, func(w io.Writer) error { return tree.GenFishCompletion(w, true) }},
	} {
		var b bytes.Buffer
		if err := shell.make(&b); err != nil {
			return nil, err
		}
		entries = append(entries, entry{name: shell.name, data: b.Bytes()})
	}
	return entries, nil
}

// manual returns a page for each command.
func manual(tree *cobra.Command, source string, moment time.Time) (entries []entry, err error) {
	folder, err := os.MkdirTemp("", "manual")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	prepare(tree)
	if err := doc.GenManTree(tree, &doc.GenManHeader{Section: "1", Date: &moment, Source: source, Manual: "Ringleader"}, folder); err != nil {
		return nil, err
	}
	entries, err = read(os.DirFS(folder))
	for i := range entries {
		entries[i].name = "man/" + entries[i].name
	}
	return entries, err
}

// prepare makes Markdown of the help of commands, of which pages are made.
func prepare(command *cobra.Command) {
	command.DisableAutoGenTag = true
	command.Long = markdown(command.Long)
	for _, sub := range command.Commands() {
		prepare(sub)
	}
}

// markdown returns a text with its indented lines as code: they are tables and commands.
func markdown(text string) string {
	var lines []string
	code := false
	for line := range strings.SplitSeq(text, "\n") {
		indented := strings.HasPrefix(line, "  ")
		if indented != code && line != "" {
			lines, code = append(lines, ""), indented
		}
		if indented {
			line = "    " + line
		} else {
			line = strings.NewReplacer("<", "&lt;", "*", "\\*", "_", "\\_").Replace(line)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
