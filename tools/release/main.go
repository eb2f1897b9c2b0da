// Command release makes the files of a release: archives for each system, Debian packages, an image for containers, a list of
// all modules that are linked, and checksums. .ci/release runs it and checks what it has made.
//
// The same commit, version and Go release give the same bytes on every machine and in every folder.
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// platform is an operating system and a processor, as Go names them.
type platform struct{ system, processor string }

func (p platform) String() string { return p.system + "/" + p.processor }

// platforms are those of a release.
var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// versions are those that a release can have: of semantic versioning, without what names of packages cannot have, a hyphen in what follows the
// first one, and a plus.
var versions = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-` + mark + `(\.` + mark + `)*)?$`)

// mark is an identifier of a version before a release: a number without a zero before it, or what has a letter.
const mark = `(0|[1-9]\d*|\d*[A-Za-z][0-9A-Za-z]*)`

// release is a release that is being made.
type release struct {
	version string // without a v
	root    string // of the module
	out     string // folder of the files
	moment  time.Time

	writing sync.Mutex
	made    []string // names of the files
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	root := flags.String("root", ".", "`folder` of the module")
	out := flags.String("out", "dist", "`folder` for the files, which must not exist")
	only := flags.String("only", "", "make the files of one `system/processor` only")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r := &release{version: strings.TrimPrefix(flags.Arg(0), "v"), root: *root, out: *out}
	if flags.NArg() != 1 || !versions.MatchString(r.version) {
		return errors.New("the argument is a version, such as 1.2.3 or 1.2.3-rc.1")
	}
	chosen := platforms
	if *only != "" {
		chosen = slices.DeleteFunc(slices.Clone(platforms), func(p platform) bool { return p.String() != *only })
		if len(chosen) == 0 {
			return fmt.Errorf("-only is one of %v, not %s", platforms, *only)
		}
	}
	var err error
	if r.moment, err = moment(*root); err != nil {
		return err
	}
	return r.make(chosen)
}

// moment returns the time that all files of the release have: that of the commit, unless SOURCE_DATE_EPOCH sets another one.
func moment(root string) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		log := exec.Command("git", "log", "-1", "--format=%ct")
		log.Dir, log.Stderr = root, os.Stderr
		out, err := log.Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("the time of the commit is not known, and SOURCE_DATE_EPOCH not set: %w", err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// make makes all files.
func (r *release) make(chosen []platform) error {
	if err := os.Mkdir(r.out, 0o777); err != nil {
		return err
	}
	common, err := r.common()
	if err != nil {
		return err
	}
	if err := r.engines(); err != nil {
		return fmt.Errorf("the engines for the browser: %w", err)
	}
	programs, err := r.each(chosen, common)
	if err != nil {
		return err
	}
	var linked modules
	var images []built
	for i, p := range chosen {
		for _, program := range programs[i] {
			if err := linked.add(program.data); err != nil {
				return fmt.Errorf("%s: %w", p, err)
			}
		}
		if p.system == "linux" {
			images = append(images, built{p, programs[i][0].data})
		}
	}
	if len(images) > 0 {
		if err := r.image(images); err != nil {
			return err
		}
	}
	if err := r.bill(linked); err != nil {
		return err
	}
	return r.checksums()
}

// each makes the programs and archives of platforms, two at a time: one links or compresses, on one processor, while the other compiles on all.
func (r *release) each(chosen []platform, common []entry) ([][]entry, error) {
	programs, failures, turns := make([][]entry, len(chosen)), make([]error, len(chosen)), make(chan bool, 2)
	var all sync.WaitGroup
	for i, p := range chosen {
		all.Go(func() {
			turns <- true
			defer func() { <-turns }()
			begun := time.Now()
			var err error
			if programs[i], err = r.platform(p, common); err != nil {
				failures[i] = fmt.Errorf("%s: %w", p, err)
				return
			}
			fmt.Printf("%s: %.0f s\n", p, time.Since(begun).Seconds())
		})
	}
	all.Wait()
	return programs, errors.Join(failures...)
}

// platform makes the programs of one platform, its archive and its package.
func (r *release) platform(p platform, common []entry) ([]entry, error) {
	programs, err := r.programs(p)
	if err != nil {
		return nil, err
	}
	if err := r.archive(p, programs, common); err != nil {
		return nil, err
	}
	if p.system == "linux" {
		err = r.debian(p, programs, common)
	}
	return programs, err
}

// built is a program for a platform.
type built struct {
	platform
	program []byte
}

// browser is the platform of the lab's page on a host without a server.
var browser = platform{"js", "wasm"}

// engines puts the program for the browser where the other programs embed it, with the script of Go that starts it.
func (r *release) engines() error {
	fmt.Println(browser)
	wasm, err := r.ringleader(browser)
	if err != nil {
		return err
	}
	packed, err := compressed(wasm)
	if err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	glue, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	folder := filepath.Join(r.root, "internal", "show", "lab", "wasm")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(folder, "lab.wasm.gz"), packed, 0o666),
		os.WriteFile(filepath.Join(folder, "wasm_exec.js"), glue, 0o666),
	)
}

// programs builds the programs for a platform: ringleader, and the server that it starts for --nats embed.
func (r *release) programs(p platform) ([]entry, error) {
	ringleader, err := r.ringleader(p)
	if err != nil {
		return nil, err
	}
	broker, err := r.build(p, "cluster", "./cmd/ringleader-broker", "-s -w")
	return []entry{{name: "ringleader", data: ringleader, mode: executable}, {name: "ringleader-broker", data: broker, mode: executable}}, err
}

// ringleader builds the program, with the engines for the browser in it.
func (r *release) ringleader(p platform) ([]byte, error) {
	return r.build(p, "", "./cmd/ringleader", "-s -w -X ringleader.example/ringleader/internal/cli/plan.release=v"+r.version)
}

// build builds a program of the module in a folder of the root.
func (r *release) build(p platform, module, program, linker string) ([]byte, error) {
	folder, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "program")
	build := exec.Command("go", "build", "-trimpath", "-tags", "labwasm", "-ldflags", linker, "-o", file, program)
	build.Dir, build.Stdout, build.Stderr = filepath.Join(r.root, module), os.Stdout, os.Stderr
	build.Env = append(os.Environ(), "GOOS="+p.system, "GOARCH="+p.processor, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFLAGS=", "GOWORK=off")
	if err := build.Run(); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// write writes a file of the release.
func (r *release) write(name string, data []byte) error {
	r.writing.Lock()
	r.made = append(r.made, name)
	r.writing.Unlock()
	return os.WriteFile(filepath.Join(r.out, name), data, 0o666)
}

// checksums writes the checksums of all files, as sha256sum does.
func (r *release) checksums() error {
	var lines strings.Builder
	slices.Sort(r.made)
	for _, name := range r.made {
		data, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(data), name)
	}
	return r.write("SHA256SUMS", []byte(lines.String()))
}
