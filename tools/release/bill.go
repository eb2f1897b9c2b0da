package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"

	"ringleader.example/ringleader/tools/release/licences"
)

// modules are the modules that programs link, by package URL.
type modules map[string]module

type module struct{ path, version, sum string }

// ownModule is the module of this repository.
const ownModule = "ringleader.example/ringleader"

// add adds the modules of a program, and the standard library, as the linker has noted them in it.
func (m *modules) add(program []byte) error {
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return err
	}
	if *m == nil {
		*m = modules{}
	}
	m.note(module{path: "stdlib", version: strings.TrimPrefix(info.GoVersion, "go")})
	for _, d := range info.Deps {
		if d.Path == ownModule { // of the server's program, which is in a module of its own
			continue
		}
		if d.Replace != nil {
			return fmt.Errorf("%s is replaced: a list of modules would be wrong", d.Path)
		}
		m.note(module{d.Path, d.Version, d.Sum})
	}
	return nil
}

func (m *modules) note(one module) { (*m)["pkg:golang/"+one.path+"@"+one.version] = one }

// noteFont adds the font.
func (m *modules) noteFont() {
	(*m)["pkg:generic/dejavu-fonts@"+licences.FontVersion] = module{path: licences.Font, version: licences.FontVersion}
}

// notePage adds the libraries of the lab's page.
func (m *modules) notePage(libraries []*licences.Module) {
	for _, one := range libraries {
		(*m)["pkg:npm/"+one.Path+"@"+one.Version] = module{path: one.Path, version: one.Version}
	}
}

// bill writes the bill of materials: the modules that are linked into the programs of any platform, the font and the libraries of the page. The
// checksum of a module is that of go.sum.
func (r *release) bill(linked modules) error {
	b := cyclonedx.NewBOM()
	own := "pkg:golang/" + ownModule + "@v" + r.version
	b.Metadata = &cyclonedx.Metadata{
		Timestamp: r.moment.Format(time.RFC3339),
		Component: &cyclonedx.Component{
			BOMRef: own, PackageURL: own, Type: cyclonedx.ComponentTypeApplication, Name: "ringleader", Version: "v" + r.version,
			Licenses: &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}},
		},
	}
	var components []cyclonedx.Component
	linked.noteFont()
	page, err := licences.OfThePage(r.root)
	if err != nil {
		return err
	}
	linked.notePage(page)
	needs := slices.Sorted(maps.Keys(linked))
	for _, url := range needs {
		one := linked[url]
		c := cyclonedx.Component{BOMRef: url, PackageURL: url, Type: cyclonedx.ComponentTypeLibrary, Name: one.path, Version: one.version, Scope: cyclonedx.ScopeRequired}
		if sum, found := strings.CutPrefix(one.sum, "h1:"); found {
			raw, err := base64.StdEncoding.DecodeString(sum)
			if err != nil {
				return err
			}
			c.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(raw)}}
		}
		terms, err := r.terms(one, page)
		if err != nil {
			return err
		}
		c.Licenses = &cyclonedx.Licenses{}
		for _, id := range terms.Licences {
			*c.Licenses = append(*c.Licenses, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: id}})
		}
		components = append(components, c)
	}
	b.Components = &components
	b.Dependencies = &[]cyclonedx.Dependency{{Ref: own, Dependencies: &needs}}
	var text bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&text, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(b, cyclonedx.SpecVersion1_6); err != nil {
		return err
	}
	return r.write("ringleader_"+r.version+".cdx.json", text.Bytes())
}

// terms returns the terms of a module, or of a library of the page.
func (r *release) terms(one module, page []*licences.Module) (*licences.Module, error) {
	for _, library := range page {
		if library.Path == one.path {
			return library, nil
		}
	}
	folder, err := licences.Folder(one.path, one.version, r.root)
	if err != nil {
		return nil, err
	}
	return licences.Of(one.path, one.version, folder)
}
