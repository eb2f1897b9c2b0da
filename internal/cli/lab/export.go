//go:build !js

package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"

	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/show/lab"
	"ringleader.example/ringleader/internal/show/report"
)

// exportLab writes the lab as a site that needs no server of ours, with stories beside those of the program.
func exportLab(ctx context.Context, p *plan.Program, directory string, stories []*lab.Story) error {
	engines, has := lab.Compiled()
	if !has {
		var err error
		if engines, err = compileEngines(ctx, p); err != nil {
			return report.Failed("cannot compile the engines for the browser: %w", err)
		}
	}
	if err := engines.Export(directory, stories); err != nil {
		return report.Failed("cannot write the site: %w", err)
	}
	fmt.Fprintf(p.Out, "%s\n", filepath.Join(directory, "index.html"))
	return nil
}

// compileEngines compiles this program's own package for the browser, in the source tree of the working directory.
func compileEngines(ctx context.Context, p *plan.Program) (e lab.Engines, err error) {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Path == "" {
		return e, errors.New("this program does not know its package; a release has the engines")
	}
	root, err := goTool(ctx, nil, "env", "GOROOT")
	if err != nil {
		return e, err
	}
	if e.Glue, err = os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js")); err != nil {
		return e, err
	}
	folder, err := os.MkdirTemp("", "ringleader-lab-*")
	if err != nil {
		return e, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "lab.wasm")
	fmt.Fprintf(p.Err, "compiling %s for the browser; the first time takes about a minute\n", info.Path)
	if _, err := goTool(ctx, []string{"GOOS=js", "GOARCH=wasm"}, "build", "-trimpath", "-ldflags=-s -w", "-o", file, info.Path); err != nil {
		return e, err
	}
	wasm, err := os.ReadFile(file)
	e.Wasm = lab.Pack(wasm)
	return e, err
}

// goTool runs the Go command.
func goTool(ctx context.Context, environment []string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "go", args...)
	command.Env = append(os.Environ(), environment...)
	var out, problems bytes.Buffer
	command.Stdout, command.Stderr = &out, &problems
	err := command.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("there is no Go command; a release of ringleader has the engines")
	case ctx.Err() != nil:
		return nil, errors.New("stopped")
	case err != nil:
		first, _, _ := strings.Cut(strings.TrimSpace(problems.String()), "\n")
		return nil, fmt.Errorf("go %s: %s; it needs the source of this program in the working directory, and a release does not", args[0], first)
	}
	return out.Bytes(), nil
}
