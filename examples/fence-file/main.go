// Fence-file shows the late write of a leader that was replaced, in a file: once unfenced, which loses the newer write, and
// once fenced, which refuses the late one.
package main

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"ringleader.example/ringleader/examples/internal/start"
	"ringleader.example/ringleader/fence"
)

func main() {
	log.SetFlags(0)
	start.Flags("Shows that a write of a replaced leader can arrive late, and how a file is fenced against it.")
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	directory, err := os.MkdirTemp("", "fence-file")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory)

	unfenced := filepath.Join(directory, "unfenced")
	fmt.Println("without a fence")
	err = start.LateWrite(func(_ uint64, text string) error { return os.WriteFile(unfenced, []byte(text), 0o600) })
	if err != nil {
		return err
	}
	content, err := os.ReadFile(unfenced)
	if err != nil {
		return err
	}
	fmt.Printf("the file has: %s. The newer write is lost.\n\nwith a fence\n", content)

	fenced, err := open(filepath.Join(directory, "fenced"))
	if err != nil {
		return err
	}
	late := start.LateWrite(fenced.write)
	if !errors.Is(late, fence.ErrStale) {
		return fmt.Errorf("the late write was not refused: %w", late)
	}
	_, text, err := fenced.read()
	fmt.Printf("refused: %v\nthe file has: %s\n", late, text)
	return err
}

// file is a file that one process owns, and leaders write to. Its first line is the highest term that has written.
type file struct {
	name  string
	guard *fence.Guard
}

func open(name string) (*file, error) {
	f := &file{name: name}
	term, _, err := f.read()
	f.guard = fence.New(term)
	return f, err
}

func (f *file) read() (term uint64, text string, err error) {
	content, err := os.ReadFile(f.name)
	if errors.Is(err, os.ErrNotExist) {
		return 0, "", nil
	}
	if err != nil {
		return 0, "", err
	}
	first, text, _ := strings.Cut(string(content), "\n")
	_, err = fmt.Sscanf(first, "term %d", &term)
	return term, text, err
}

// write replaces the content, and the term with it, as a whole.
func (f *file) write(term uint64, text string) error {
	return f.guard.Do(term, func() error {
		next := f.name + ".next"
		if err := os.WriteFile(next, fmt.Appendf(nil, "term %d\n%s", term, text), 0o600); err != nil {
			return err
		}
		return os.Rename(next, f.name)
	})
}
