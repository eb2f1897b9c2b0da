// Package brokertest builds the program of package broker, for tests.
package brokertest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ringleader.example/ringleader/internal/core/needs"
	"ringleader.example/ringleader/internal/study/broker"
)

// Module returns the folder of the program's module.
func Module() (string, error) {
	folder, err := os.Getwd() // that of the package that is tested
	for err == nil {
		module := filepath.Join(folder, "cluster")
		if _, none := os.Stat(filepath.Join(module, "go.mod")); none == nil {
			return module, nil
		}
		if above := filepath.Dir(folder); above != folder {
			folder = above
		} else {
			err = errors.New("no folder above this one has cluster/go.mod")
		}
	}
	return "", err
}

// Program returns the path of the program. Where modules that it needs cannot be downloaded, the test is skipped, but not in CI.
func Program(t testing.TB) string {
	t.Helper()
	path, err := built()
	if errors.Is(err, errModules) {
		needs.Missing(t, "%v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// built builds the program once. Go keeps it among what it has compiled, so another test finds it there.
var built = sync.OnceValues(func() (string, error) {
	module, err := Module()
	if err != nil {
		return "", err
	}
	if err := noted(module); err != nil {
		return "", err
	}
	defer alone(module)()
	// Both go tool and go run keep the program. But go tool ignores GOFLAGS, and would compile all again where CI sets -trimpath.
	path, err := kept(module)
	if err != nil {
		if _, missing := tool(module, "list", "-deps", "-test", "./..."); missing != nil {
			err = fmt.Errorf("%w: %w", errModules, missing)
		}
	}
	return path, err
})

// kept returns the path of the program among what Go keeps.
func kept(module string) (path string, err error) {
	for range 2 { // the run that builds the program runs it before it is kept
		// The program is handed to go version, which prints its path.
		line, err := tool(module, "run", "-exec", "go version", "./cmd/"+broker.Program)
		if err != nil {
			return "", err
		}
		last := strings.LastIndex(line, ": ")
		if last < 0 {
			return "", fmt.Errorf("go version prints %q", line)
		}
		path = line[:last]
		if _, err = os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is built, and not kept", broker.Program)
}

var errModules = errors.New("the modules of " + broker.Program + " cannot be downloaded")

// noted looks at all files of the module, so that the result of a test counts as old when one has changed.
func noted(module string) error {
	return filepath.WalkDir(module, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			_, err = os.Stat(path)
		}
		return err
	})
}

// environment is that of before the tests, which may give themselves other directories of caches.
var environment = os.Environ()

// tool runs the go command in the module, and returns what it prints.
func tool(module string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	run := exec.Command("go", append([]string{"-C", module}, args...)...)
	run.Env, run.Stdout, run.Stderr = environment, &stdout, &stderr
	if err := run.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", run, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimSpace(stdout.String()), nil
}
