// Web bundles the page of the lab: TypeScript and styles of web/src, with the libraries of web/vendor, into one script and
// one style sheet. It needs no Node.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	source := flag.String("source", "", "the folder web")
	into := flag.String("into", "", "the folder of the results")
	readable := flag.Bool("readable", false, "do not shorten names and spaces")
	flag.Parse()
	if err := bundle(*source, *into, !*readable); err != nil {
		fmt.Fprintln(os.Stderr, "web:", err)
		os.Exit(1)
	}
}

// bundle writes lab.js.gz, lab-style.css.gz and lab-worker.js. The same sources give the same bytes.
func bundle(source, into string, short bool) error {
	root, err := filepath.Abs(source)
	if err != nil {
		return err
	}
	results, err := filepath.Abs(into)
	if err != nil {
		return err
	}
	built := api.Build(api.BuildOptions{
		AbsWorkingDir:       root,
		EntryPointsAdvanced: []api.EntryPoint{{InputPath: "src/main.tsx", OutputPath: "lab"}, {InputPath: "src/styles.css", OutputPath: "lab-style"}, {InputPath: "src/worker-main.ts", OutputPath: "lab-worker"}},
		Outdir:              results,
		Bundle:              true,
		Write:               true,
		Format:              api.FormatIIFE,
		Target:              api.ES2022,
		JSX:                 api.JSXAutomatic,
		JSXImportSource:     "preact",
		NodePaths:           []string{filepath.Join(root, "vendor")},
		MinifyWhitespace:    short,
		MinifyIdentifiers:   short,
		MinifySyntax:        short,
		LegalComments:       api.LegalCommentsEndOfFile,
		LogLevel:            api.LogLevelWarning,
	})
	if len(built.Errors) > 0 {
		return fmt.Errorf("%d errors", len(built.Errors))
	}
	terms, err := terms(filepath.Join(root, "vendor"))
	return errors.Join(err, pack(filepath.Join(results, "lab.js"), terms), pack(filepath.Join(results, "lab-style.css"), terms))
}

// terms returns the licences of the libraries as a comment, since whoever has the page has the libraries: they have none in their own code.
func terms(vendor string) ([]byte, error) {
	files, err := filepath.Glob(filepath.Join(vendor, "*", "LICENSE"))
	if err != nil {
		return nil, err
	}
	var all bytes.Buffer
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&all, "/*!\n%s\n\n%s\n*/\n", filepath.Base(filepath.Dir(file)), bytes.TrimSpace(text))
	}
	return all.Bytes(), nil
}

// pack compresses a file with terms at its end, so that programs that have it are smaller.
func pack(file string, terms []byte) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, terms...))
	return errors.Join(err, w.Close(), os.WriteFile(file+".gz", packed.Bytes(), 0o644), os.Remove(file))
}
