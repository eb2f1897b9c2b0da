package main

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	image "github.com/opencontainers/image-spec/specs-go/v1"
)

// user is the user and the group in a container: neither root nor one of the host.
const user = 65532

// layout is an image in the layout of OCI, as the files of its archive.
type layout struct{ entries []entry }

// add adds a blob, and returns what refers to it.
func (l *layout) add(kind string, data []byte) image.Descriptor {
	d := digest.FromBytes(data)
	l.entries = append(l.entries, entry{name: "blobs/sha256/" + d.Encoded(), data: data})
	return image.Descriptor{MediaType: kind, Digest: d, Size: int64(len(data))}
}

// put adds a value as JSON.
func (l *layout) put(kind string, value any) (image.Descriptor, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return image.Descriptor{}, err
	}
	return l.add(kind, data), nil
}

// image writes the archive of an image for several processors. It holds the program, its terms and the folder of its data, and nothing
// else: no shell, no package manager, no other user.
func (r *release) image(programs []built) error {
	var l layout
	index := image.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: image.MediaTypeImageIndex}
	for _, b := range programs {
		manifest, err := r.manifest(&l, b)
		if err != nil {
			return err
		}
		manifest.Platform = &image.Platform{OS: b.system, Architecture: b.processor}
		index.Manifests = append(index.Manifests, manifest)
	}
	all, err := l.put(image.MediaTypeImageIndex, index)
	if err != nil {
		return err
	}
	all.Annotations = map[string]string{image.AnnotationRefName: r.version}
	top, err := json.Marshal(image.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: image.MediaTypeImageIndex, Manifests: []image.Descriptor{all}})
	if err != nil {
		return err
	}
	mark, err := json.Marshal(image.ImageLayout{Version: image.ImageLayoutVersion})
	if err != nil {
		return err
	}
	l.entries = append(l.entries, entry{name: image.ImageIndexFile, data: top}, entry{name: image.ImageLayoutFile, data: mark})
	data, err := tarOf("", withFolders(l.entries), r.moment)
	if err != nil {
		return err
	}
	return r.write("ringleader_"+r.version+"_oci.tar", data)
}

// manifest adds the image for one platform.
func (r *release) manifest(l *layout, b built) (image.Descriptor, error) {
	entries := []entry{{name: "data/", mode: 0o700, owner: user}, {name: "ringleader", data: b.program, mode: executable}}
	for _, name := range []string{"LICENSE", "NOTICE"} {
		text, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return image.Descriptor{}, err
		}
		entries = append(entries, entry{name: name, data: text})
	}
	files, err := tarOf("", withFolders(entries), r.moment)
	if err != nil {
		return image.Descriptor{}, err
	}
	layer, err := compressed(files)
	if err != nil {
		return image.Descriptor{}, err
	}
	labels := map[string]string{
		image.AnnotationTitle: "ringleader", image.AnnotationVersion: r.version, image.AnnotationLicenses: "Apache-2.0",
		image.AnnotationDescription: "Elect one leader among a group of processes",
	}
	config, err := l.put(image.MediaTypeImageConfig, image.Image{
		Created:  &r.moment,
		Platform: image.Platform{OS: b.system, Architecture: b.processor},
		Config: image.ImageConfig{
			User: "65532:65532", Entrypoint: []string{"/ringleader"}, WorkingDir: "/", Volumes: map[string]struct{}{"/data": {}}, Labels: labels,
		},
		RootFS:  image.RootFS{Type: "layers", DiffIDs: []digest.Digest{digest.FromBytes(files)}},
		History: []image.History{{Created: &r.moment, CreatedBy: "tools/release"}},
	})
	if err != nil {
		return image.Descriptor{}, err
	}
	return l.put(image.MediaTypeImageManifest, image.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: image.MediaTypeImageManifest,
		Config: config, Layers: []image.Descriptor{l.add(image.MediaTypeImageLayerGzip, layer)}, Annotations: labels,
	})
}
