//go:build !js

package lab

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync"
)

// media are the types of the files.
var media = map[string]string{".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}

// asset is a file of the page.
type asset struct {
	text   []byte
	packed func() []byte // by gzip
	media  string
	etag   string
}

// assets returns the files of the page by their addresses. They are compressed when they are asked for, once.
func assets() (map[string]*asset, error) {
	all := map[string]*asset{}
	texts, err := files()
	if err != nil {
		return nil, err
	}
	for name, text := range texts {
		sum := sha256.Sum256(text)
		all["/"+name] = &asset{
			text: text, packed: sync.OnceValue(func() []byte { return packed(text) }),
			media: media[path.Ext(name)], etag: hex.EncodeToString(sum[:16]),
		}
	}
	all["/"] = all["/index.html"]
	return all, nil
}

// packed compresses a text.
func packed(text []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
	_, _ = w.Write(text)                                  // a buffer takes all
	_ = w.Close()
	return b.Bytes()
}

// serve answers a request for the file.
func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	text, etag := a.text, a.etag
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		text, etag = a.packed(), etag+"-gzip"
		w.Header().Set("Content-Encoding", "gzip")
	}
	w.Header().Set("Vary", "Accept-Encoding")
	w.Header().Set("Content-Type", a.media)
	w.Header().Set("Cache-Control", "no-cache") // the browser asks whether its copy is current
	w.Header().Set("ETag", `"`+etag+`"`)
	if strings.Contains(r.Header.Get("If-None-Match"), `"`+etag+`"`) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(text) // the client may have left
	}
}
