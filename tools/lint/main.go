// Command lint looks at the Go files of modules, and prints what is wrong with them:
//
//	go run . [-format FOLDER] [-packages PATTERNS] FOLDER...
//	go run . -systems windows/amd64,linux/386,linux/arm/7 FOLDER...
//
// It does in one process what gofumpt, go vet and staticcheck do: each file is read once, its types are checked once, and the
// analyzers of both share what they make of it. Nothing is compiled, and of other modules only declarations are looked at: those
// three tools look into every function of every module that is imported, which takes most of their time. What is lost thereby is
// little (a function of another module that never returns nil is not known to). go vet and staticcheck themselves run now and then.
//
// With -systems it checks the types of all packages, with their tests, for systems that nothing is run on here. A system is
// GOOS/GOARCH, and for arm also GOARM. What the compiler would refuse is refused: missing functions, and numbers that are too large
// where an int has 32 bits.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

const usage = `Lint tells what gofumpt, go vet and staticcheck find in modules, and what compilers for other systems would refuse.

Examples:
  go -C tools/lint run . -format ../.. ../..
  go -C tools/lint run . -systems windows/amd64,linux/386 ../.. ../../cluster

Flags:
`

func main() {
	systems := flag.String("systems", "", "check types only, for each `GOOS/GOARCH[/GOARM],…`")
	format := flag.String("format", "", "a `folder` whose Go files are to be as gofumpt writes them")
	packages := flag.String("packages", "./...", "the `patterns` of packages, with spaces between")
	flag.Usage = func() {
		fmt.Fprint(os.Stderr, usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 && *format == "" {
		fmt.Fprintln(os.Stderr, "lint: name the folders of modules; try -help")
		os.Exit(2)
	}
	patterns := strings.Fields(*packages)
	files := newFiles()
	var jobs []func() ([]string, error)
	if *format != "" {
		jobs = append(jobs, func() ([]string, error) { return unformatted(*format) })
	}
	for _, folder := range flag.Args() {
		if *systems == "" {
			jobs = append(jobs, func() ([]string, error) { return report(files, folder, patterns) })
			continue
		}
		for system := range strings.SplitSeq(*systems, ",") {
			jobs = append(jobs, func() ([]string, error) { return nil, checkFor(files, folder, system, patterns) })
		}
	}
	found, err := inParallel(jobs)
	for _, line := range found {
		fmt.Println(line)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || len(found) > 0 {
		os.Exit(1)
	}
}

// report returns what is wrong with a module, a line each.
func report(files *files, folder string, patterns []string) ([]string, error) {
	packages, err := load(files, folder, host(), patterns)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	return analyze(packages)
}

// checkFor checks the types of a module for a system.
func checkFor(files *files, folder, system string, patterns []string) error {
	if _, err := load(files, folder, system, patterns); err != nil {
		return fmt.Errorf("%s: %w", system, err)
	}
	return nil
}

// host is the system that this program runs on.
func host() string { return runtime.GOOS + "/" + runtime.GOARCH }

// inParallel does jobs, as many at once as there are processors, and returns what they found, in their order.
func inParallel(jobs []func() ([]string, error)) ([]string, error) {
	found, wrong := make([][]string, len(jobs)), make([]error, len(jobs))
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for i, job := range jobs {
		all.Go(func() {
			free <- struct{}{}
			found[i], wrong[i] = job()
			<-free
		})
	}
	all.Wait()
	return slices.Concat(found...), errors.Join(wrong...)
}

// relative is a path as it is shortest to read.
func relative(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if short, err := filepath.Rel(here, path); err == nil {
		return short
	}
	return path
}
