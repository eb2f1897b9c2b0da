// Package code runs the tests of what ties the code to the models, of chaos on real processes, and whatever else is beside the tests in a browser.
package code

import (
	"path/filepath"
	"testing"

	"ringleader.example/ringleader/internal/repotest/modules"
)

func TestTiesAndChaos(t *testing.T) {
	const folder = "../../../../tests"
	files, err := filepath.Glob(filepath.Join(folder, "*", "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	var packages []string
	last := ""
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		if name != "browser" && name != last {
			packages = append(packages, "./"+name)
		}
		last = name
	}
	modules.Pass(t, folder, packages...)
}
