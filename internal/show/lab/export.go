//go:build !js

package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
)

// Engines are the engines for the page without a server: compiled to WebAssembly by Go, and the script of that Go which starts them.
type Engines struct {
	Wasm []byte // compressed by gzip
	Glue []byte // wasm_exec.js
}

// Compiled returns the engines in this program; it has them if it was built with the tag labwasm.
func Compiled() (e Engines, has bool) {
	wasm, missing := compiled.ReadFile("wasm/lab.wasm.gz")
	glue, err := compiled.ReadFile("wasm/wasm_exec.js")
	return Engines{wasm, glue}, errors.Join(missing, err) == nil
}

// Pack compresses WebAssembly.
func Pack(wasm []byte) []byte { return packed(wasm) }

// Export writes the page and the engines into a directory, as a site for any web host, which a browser also opens from disk. It replaces
// files of an earlier export. The stories are a list, which comes after those of the engines.
func (e Engines) Export(directory string, stories []*Story) error {
	told, err := json.Marshal(append([]*Story{}, stories...))
	if err != nil {
		return err
	}
	page, err := files()
	if err != nil {
		return err
	}
	site := maps.Clone(page)
	maps.Copy(site, map[string][]byte{"lab.wasm.gz": e.Wasm, "wasm_exec.js": e.Glue, "stories.json": told})
	if site["index.html"], err = withEngines(page["index.html"]); err != nil {
		return err
	}
	if site["lab-disk.js"], err = e.disk(page["lab-worker.js"], told); err != nil {
		return err
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	for name, text := range site {
		if err := os.WriteFile(filepath.Join(directory, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// disk returns the script that a page from disk has in place of the files that it cannot fetch.
func (e Engines) disk(worker, stories []byte) ([]byte, error) {
	held, err := json.Marshal(map[string]any{
		"worker": string(e.Glue) + "\n" + string(worker), "engines": e.Wasm, "stories": json.RawMessage(stories),
	})
	return fmt.Appendf(nil, "window.lab = %s;\n", held), err
}

// withEngines returns the page for a site without a server.
func withEngines(page []byte) ([]byte, error) {
	for _, change := range [][2]string{
		{`name="engine" content="http"`, `name="engine" content="wasm"`},
		{`script-src 'self'`, `script-src 'self' 'wasm-unsafe-eval'`},
		{`worker-src 'self'`, `worker-src 'self' blob:`},
	} {
		if bytes.Count(page, []byte(change[0])) != 1 {
			return nil, fmt.Errorf("the page has no single %s", change[0])
		}
		page = bytes.Replace(page, []byte(change[0]), []byte(change[1]), 1)
	}
	return page, nil
}
