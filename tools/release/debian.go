package main

import (
	"bytes"
	"crypto/md5" // the format has it
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// places are where a Debian system has what an archive has, by the beginning of the name.
var places = []struct{ from, to string }{
	{forBash, "usr/share/bash-completion/completions/ringleader"},
	{forZsh, "usr/share/zsh/vendor-completions/_ringleader"},
	{forFish, "usr/share/fish/vendor_completions.d/ringleader.fish"},
	{"man/", "usr/share/man/man1/"},
	{"systemd/ringleader@.service", "usr/lib/systemd/system/ringleader@.service"},
	{"systemd/sysusers.conf", "usr/lib/sysusers.d/ringleader.conf"},
	{"systemd/tmpfiles.conf", "usr/lib/tmpfiles.d/ringleader.conf"},
	{"systemd/", "usr/share/doc/ringleader/examples/"},
	{"recipes/", "usr/share/doc/ringleader/examples/"},
	{"kubernetes/", "usr/share/doc/ringleader/examples/kubernetes/"},
	{"monitoring/", "usr/share/doc/ringleader/examples/monitoring/"},
	{"docs/", "usr/share/doc/ringleader/docs/"},
	{"README.md", "usr/share/doc/ringleader/README.md"},
	{"NOTICE", "usr/share/doc/ringleader/NOTICE"},
	{"SECURITY.md", "usr/share/doc/ringleader/SECURITY.md"},
	{"CHANGELOG.md", "usr/share/doc/ringleader/CHANGELOG.md"},
}

// debian writes the Debian package for a platform.
func (r *release) debian(p platform, programs, common []entry) error {
	files, err := r.installed(programs, common)
	if err != nil {
		return err
	}
	data, err := tarball("./", append([]entry{{}}, withFolders(files)...), r.moment)
	if err != nil {
		return err
	}
	version := strings.Replace(r.version, "-", "~", 1) // so that 1.0.0~rc.1 is before 1.0.0
	scripts, err := r.control(p, version, files)
	if err != nil {
		return err
	}
	control, err := tarball("./", append([]entry{{}}, scripts...), r.moment)
	if err != nil {
		return err
	}
	return r.write("ringleader_"+version+"_"+p.processor+".deb", ar(r.moment, []entry{
		{name: "debian-binary", data: []byte("2.0\n")}, {name: "control.tar.gz", data: control}, {name: "data.tar.gz", data: data},
	}))
}

// installed returns the files that the package installs.
func (r *release) installed(programs, common []entry) ([]entry, error) {
	files := []entry{{name: "etc/ringleader/"}}
	for _, e := range programs {
		e.name = "usr/bin/" + e.name
		files = append(files, e)
	}
	for _, e := range common {
		for _, place := range places {
			rest, found := strings.CutPrefix(e.name, place.from)
			if !found {
				continue
			}
			e.name = place.to + rest
			if place.from == "man/" {
				page, err := compressed(e.data)
				if err != nil {
					return nil, err
				}
				e.name, e.data = e.name+".gz", page
			}
			files = append(files, e)
			break
		}
	}
	changes, err := compressed(fmt.Appendf(nil, "ringleader (%s) stable; urgency=medium\n\n  * This version.\n\n -- %s  %s\n", r.version, maintainer, r.moment.Format(time.RFC1123Z)))
	return append(relink(files),
		entry{name: "usr/share/doc/ringleader/copyright", data: []byte(copyright)},
		entry{name: "usr/share/doc/ringleader/changelog.gz", data: changes},
	), err
}

const (
	maintainer = "The Ringleader authors <authors@ringleader.example>"
	copyright  = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Ringleader

Files: *
Copyright: 2026 The Ringleader authors
License: Apache-2.0
 On Debian systems, the full text of the licence is in
 /usr/share/common-licenses/Apache-2.0.
`
)

// control returns the entries of the control archive.
func (r *release) control(p platform, version string, files []entry) ([]entry, error) {
	var size int
	var sums strings.Builder
	for _, e := range files {
		size += len(e.data)
		if !e.folder() {
			fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(e.data), e.name)
		}
	}
	entries := []entry{
		{name: "control", data: fmt.Appendf(nil, `Package: ringleader
Version: %s
Architecture: %s
Maintainer: %s
Installed-Size: %d
Section: admin
Priority: optional
Description: elect one leader among a group of processes
 A member of a group elects, with the other members, the one process that
 leads. It holds a lease from a majority of them, so two never lead at the
 same time. No lock server is needed. A member can run a command on the
 leader only, run hooks when the leader changes, and tell load balancers
 over HTTP which member leads.
 .
 The program also simulates, counts and verifies elections.
`, version, p.processor, maintainer, (size+1023)/1024)},
		{name: "md5sums", data: []byte(sums.String())},
	}
	for _, name := range []string{"postinst", "postrm", "prerm"} {
		data, err := os.ReadFile(filepath.Join(r.root, "packaging", "debian", name))
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{name: name, data: data, mode: executable})
	}
	return entries, nil
}

// ar returns an archive in the format of ar, of which a Debian package is one.
func ar(moment time.Time, entries []entry) []byte {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, e := range entries {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", e.name, moment.Unix(), 0, 0, "100644", len(e.data))
		b.Write(e.data)
		if len(e.data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}
