package algorithms_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms"
)

func TestAListingHasEachFileOfAnAlgorithm(t *testing.T) {
	folders, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range folders {
		if !entry.IsDir() {
			continue
		}
		folder := entry.Name()
		lines, number := algorithms.Listing(folder)
		listing := strings.Join(lines, "\n")
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if has := strings.Contains(listing, strings.TrimSuffix(string(text), "\n")); has == strings.HasSuffix(file, "_test.go") {
				t.Errorf("the listing of %s has %s: %v", folder, file, has)
			}
			name, own := filepath.Base(file), strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
			if strings.HasSuffix(file, "_test.go") {
				own = nil
			}
			for i, line := range own {
				if at := number(name, i+1); at < 1 || at > len(lines) || lines[at-1] != line {
					t.Fatalf("line %d of %s is line %d of the listing", i+1, file, at)
				}
			}
			for _, beyond := range []int{-1, 0, len(own) + 1} {
				if at := number(name, beyond); at != 0 {
					t.Errorf("line %d of %s is line %d of the listing", beyond, file, at)
				}
			}
		}
	}
}

func TestAListingBeginsWithTheFileThatIsNamedLikeTheFolder(t *testing.T) {
	for folder, first := range map[string]string{"invitation": "// invitation.go", "quorumbully": "// quorumbully.go", "lcr": "// Package lcr"} {
		lines, _ := algorithms.Listing(folder)
		if len(lines) == 0 || !strings.HasPrefix(lines[0], first) {
			t.Errorf("the listing of %s begins with %.1q, and not with %q", folder, lines, first)
		}
	}
}

func TestThereIsNoListingOfAnUnknownFolder(t *testing.T) {
	for _, folder := range []string{"", "nothing", "..", "["} {
		if lines, number := algorithms.Listing(folder); lines != nil || number("lcr.go", 1) != 0 {
			t.Errorf("the listing of %q has %d lines", folder, len(lines))
		}
	}
}
