//go:build !js

package workbench

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"ringleader.example/ringleader/internal/cli"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/agent"
	"ringleader.example/ringleader/internal/show/report"
)

// Main is the command line: it reads the arguments, streams and environment of the program, knows the user's own
// algorithms and those of the catalogue, and ends the program with the exit status of the command. An interrupt ends the
// command cleanly, and a second one at once. A step of an own algorithm that does not return ends it, too, with a line that names the step
// and exit status 1: nothing can interrupt a step. Exit status 64 with one line on stderr reports an own algorithm that cannot
// be offered: its declaration or its types break the contract, or another algorithm has its name.
func Main(own ...Entry) {
	agent.Be()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal does not wait for a clean end
	process.Watch(patience, func(sentence string) {
		fmt.Fprintf(os.Stderr, "%s: %s\n", nameOf(os.Args), sentence)
		os.Exit(report.ExitNo)
	})
	code := run(ctx, own, os.Args, os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	stop()
	os.Exit(code)
}

// patience is how long a step of an algorithm may take, of which a usual one takes less than a millionth.
const patience = 20 * time.Second

// nameOf returns the name of the program.
func nameOf(args []string) string { return strings.TrimSuffix(filepath.Base(args[0]), ".exe") }

// run is [Main] with explicit arguments, streams and environment. Args begin with the program's name.
func run(ctx context.Context, own []Entry, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	name := nameOf(args)
	all, err := list(own)
	if err != nil {
		fmt.Fprintf(stderr, "%s: %s\n", name, strings.ReplaceAll(err.Error(), "\n", "; "))
		return report.ExitUsage
	}
	return cli.Run(ctx, name, all, args[1:], stdin, stdout, stderr, getenv)
}
