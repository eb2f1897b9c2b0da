package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/schema"
	image "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/xeipuuv/gojsonschema"
)

var dist = flag.String("dist", "", "folder of a release to check; .ci/release names it")

var someMoment = time.Unix(1_700_000_000, 0).UTC()

func TestAnArchiveHasTheSameBytesWhateverTheOrderOfItsFiles(t *testing.T) {
	a, b := entry{name: "a/b/c", data: []byte("1")}, entry{name: "a/d", data: []byte("2"), mode: executable}
	one, err := tarball("p/", withFolders([]entry{a, b}), someMoment)
	if err != nil {
		t.Fatal(err)
	}
	other, err := tarball("p/", withFolders([]entry{b, a}), someMoment)
	if err != nil || !bytes.Equal(one, other) {
		t.Errorf("they differ (%v)", err)
	}
}

func TestAnArchiveForWindowsHasTheSameBytesEachTime(t *testing.T) {
	files := []entry{{name: "ringleader.exe", data: []byte("1"), mode: executable}, {name: "a/b", data: []byte("2")}}
	one, err := zipOf("p/", files, someMoment)
	if err != nil {
		t.Fatal(err)
	}
	other, err := zipOf("p/", files, someMoment)
	if err != nil || !bytes.Equal(one, other) {
		t.Errorf("they differ (%v)", err)
	}
	r, err := zip.NewReader(bytes.NewReader(one), int64(len(one)))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range r.File {
		if f.Name != "p/"+files[i].name || !f.Modified.Equal(someMoment) || f.UncompressedSize64 != 1 {
			t.Errorf("%+v", f.FileHeader)
		}
	}
}

func TestAnArchiveHasEachFolderBeforeItsFiles(t *testing.T) {
	data, err := tarOf("", withFolders([]entry{{name: "a/b/c"}, {name: "a/b/"}, {name: "d"}}), someMoment)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(someMoment) || h.Uname != "root" {
			t.Errorf("%s is of %v and %s", h.Name, h.ModTime, h.Uname)
		}
		names = append(names, h.Name)
	}
	if got := strings.Join(names, " "); got != "a/ a/b/ a/b/c d" {
		t.Error(got)
	}
}

func TestTablesOfTheHelpAreCodeInAManualPage(t *testing.T) {
	const text, want = "A *star* and _name_:\n  ONE  1\n  TWO  2\nThen.", "A \\*star\\* and \\_name\\_:\n\n      ONE  1\n      TWO  2\n\nThen."
	if got := markdown(text); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestVersionsAreThoseOfSemanticVersioning(t *testing.T) {
	for version, right := range map[string]bool{
		"1.2.3": true, "0.0.0": true, "10.20.30-rc.1": true, "1.2.3-0": true, "1.2.3-0a.b0": true, "1.2.3-1.0.x": true,
		"1.2.3-": false, "1.2.3-..": false, "1.2.3-a..b": false, "1.2.3-.a": false, "1.2.3-a.": false, "1.2.3-01": false, "1.2.3-a.01": false,
		"01.2.3": false, "1.02.3": false, "1.2.03": false, "1.2": false, "1.2.3.4": false, "1.2.3-a_b": false, "1.2.3\n": false,
		"1.2.3+build": false, "1.2.3-a-b": false, // right, and not in a name of a Debian package without a revision
	} {
		if versions.MatchString(version) != right {
			t.Errorf("%q: taken is %t", version, !right)
		}
	}
}

// deadLinks returns the links of pages among files that lead to none of them.
func deadLinks(files map[string]string) (dead []string, all int) {
	there := map[string]bool{}
	for name := range files {
		for ; name != "."; name = path.Dir(name) {
			there[name] = true
		}
	}
	for name, text := range files {
		if path.Ext(name) != ".md" {
			continue
		}
		for _, found := range aLink.FindAllStringSubmatch(text, -1) {
			file, _, _ := strings.Cut(found[2], "#")
			if file == "" || strings.Contains(file, ":") {
				continue
			}
			if all++; !there[path.Join(path.Dir(name), file)] {
				dead = append(dead, name+": "+found[2])
			}
		}
	}
	return dead, all
}

func TestALinkOfAPageLeadsToAFileOfTheArchiveOrIsText(t *testing.T) {
	files := map[string]string{}
	for _, e := range relink([]entry{
		{name: "README.md", from: "README.md", data: []byte("[a](docs/a.md#b), [unit](packaging/systemd/u.md), [go](bench/go.md), [`bench/go.md`](bench/go.md), [web](https://go.dev/a.md), [here](#b), `[c](no.md)`\n```\n[d](no.md)\n```\n")},
		{name: "docs/a.md", from: "docs/a.md", data: []byte("![x](x.svg) [up](../README.md) [folder](../packaging/systemd/) [`f`](../packaging/systemd/u.md#x)")},
		{name: "docs/x.svg", from: "docs/x.svg"},
		{name: "systemd/u.md", from: "packaging/systemd/u.md", data: []byte("[a](../../docs/a.md) [none](../deb)")},
		{name: "man/ringleader.1"},
	}) {
		files[e.name] = string(e.data)
	}
	for name, want := range map[string]string{
		"README.md":    "[a](docs/a.md#b), [unit](systemd/u.md), go (`bench/go.md` in the repository), `bench/go.md`, [web](https://go.dev/a.md), [here](#b), `[c](no.md)`\n```\n[d](no.md)\n```\n",
		"docs/a.md":    "![x](x.svg) [up](../README.md) [folder](../systemd) [`f`](../systemd/u.md#x)",
		"systemd/u.md": "[a](../docs/a.md) none (`packaging/deb` in the repository)",
	} {
		if files[name] != want {
			t.Errorf("%s is %q, want %q", name, files[name], want)
		}
	}
	if dead, all := deadLinks(files); len(dead) > 0 || all != 7 {
		t.Errorf("of %d links these are dead: %q", all, dead)
	}
	files["docs/a.md"] += "[gone](gone.md)"
	if dead, _ := deadLinks(files); len(dead) != 1 || dead[0] != "docs/a.md: gone.md" {
		t.Errorf("%q", dead)
	}
}

// The files are those of this repository, or of the archive that -dist has.
func TestNoLinkOfAPackedPageIsDead(t *testing.T) {
	files := map[string]string{}
	if *dist == "" {
		common, err := (&release{version: "1.2.3", root: "../..", moment: someMoment}).common()
		if err != nil {
			t.Fatal(err)
		}
		installed, err := new(release).installed(nil, common)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range slices.Concat(relink(common), installed) {
			files[e.name] = string(e.data)
		}
	} else {
		packed, err := gzip.NewReader(bytes.NewReader(read1(t, "*_linux_amd64.tar.gz")))
		if err != nil {
			t.Fatal(err)
		}
		for r := tar.NewReader(packed); ; {
			h, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			data, wrong := io.ReadAll(r)
			if err = errors.Join(err, wrong); err != nil {
				t.Fatal(err)
			}
			files[path.Clean(h.Name)] = string(data)
		}
	}
	if dead, all := deadLinks(files); len(dead) > 0 || all < 100 {
		t.Errorf("of %d links these are dead:\n%s", all, strings.Join(dead, "\n"))
	}
}

func TestAWrongVersionMakesNothing(t *testing.T) {
	out := filepath.Join(t.TempDir(), "dist")
	for _, args := range [][]string{{"1.2"}, {"v1.2.3; true"}, {}, {"1.2.3", "4"}, {"-only", "plan9/amd64", "1.2.3"}} {
		if err := run(append([]string{"-out", out, "-root", "../.."}, args...)); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("there is a release")
	}
}

func TestTheScriptTakesAVersionAndOne(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	for _, args := range [][]string{{}, {"--one"}, {"next"}, {"--one", "1.2.3"}, {"1.2.3", "--on"}, {"1.2.3", "--one", "more"}} {
		script := exec.Command("bash", append([]string{"../../.ci/release"}, args...)...)
		script.Env = append(os.Environ(), "TMPDIR=/nonexistent") // so that it makes nothing where it takes them
		out, _ := script.CombinedOutput()
		if script.ProcessState.ExitCode() != 64 || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%q: status %d\n%s", args, script.ProcessState.ExitCode(), out)
		}
	}
}

// read1 returns the only file of the release with a name like the pattern.
func read1(t *testing.T, pattern string) []byte {
	t.Helper()
	if *dist == "" {
		t.Skip("there is no release to check: -dist")
	}
	names, err := filepath.Glob(filepath.Join(*dist, pattern))
	if err != nil || len(names) != 1 {
		t.Fatalf("%s: %q, %v", pattern, names, err)
	}
	data, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestAReleaseHasABillOfMaterialsThatKeepsToItsSchema(t *testing.T) {
	text := read1(t, "*.cdx.json")
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	here := func(name string) gojsonschema.JSONLoader {
		return gojsonschema.NewReferenceLoader("file://" + filepath.ToSlash(filepath.Join(strings.TrimSpace(string(folder)), "schema", name)))
	}
	schemas := gojsonschema.NewSchemaLoader()
	for url, name := range map[string]string{"spdx.schema.json": "spdx.schema.json", "jsf-0.82.schema.json": "jsf-0.82.schemax.json"} {
		if err := schemas.AddSchema("http://cyclonedx.org/schema/"+url, here(name)); err != nil {
			t.Fatal(err)
		}
	}
	var bom cyclonedx.BOM
	if err := json.Unmarshal(text, &bom); err != nil {
		t.Fatal(err)
	}
	rules, err := schemas.Compile(here("bom-" + bom.SpecVersion.String() + ".schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	result, err := rules.Validate(gojsonschema.NewBytesLoader(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range result.Errors() {
		t.Error(e)
	}
	found := map[string]bool{}
	for _, c := range *bom.Components {
		found[c.Name] = true
	}
	for _, name := range []string{"stdlib", "github.com/spf13/cobra", "golang.org/x/sys", "DejaVu Sans", "preact", "uplot"} {
		if !found[name] {
			t.Errorf("%s is not in it", name)
		}
	}
}

func TestAReleaseHasAnImageThatKeepsToItsSchemas(t *testing.T) {
	files := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(read1(t, "*_oci.tar"))); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	valid := func(v schema.Validator, data []byte, into any) {
		t.Helper()
		if err := v.Validate(bytes.NewReader(data)); err != nil {
			t.Error(err)
		}
		if err := json.Unmarshal(data, into); err != nil {
			t.Fatal(err)
		}
	}
	blob := func(d image.Descriptor) []byte {
		data := files["blobs/sha256/"+d.Digest.Encoded()]
		if int64(len(data)) != d.Size || digest.FromBytes(data) != d.Digest {
			t.Errorf("%s is damaged", d.Digest)
		}
		return data
	}
	var mark image.ImageLayout
	valid(schema.ValidatorMediaTypeLayoutHeader, files[image.ImageLayoutFile], &mark)
	var top, index image.Index
	valid(schema.ValidatorMediaTypeImageIndex, files[image.ImageIndexFile], &top)
	valid(schema.ValidatorMediaTypeImageIndex, blob(top.Manifests[0]), &index)
	for _, d := range index.Manifests {
		var m image.Manifest
		var c image.Image
		valid(schema.ValidatorMediaTypeManifest, blob(d), &m)
		valid(schema.ValidatorMediaTypeImageConfig, blob(m.Config), &c)
		if c.Config.User != "65532:65532" || c.Platform.Architecture != d.Platform.Architecture {
			t.Errorf("%+v", c)
		}
		blob(m.Layers[0])
	}
}
