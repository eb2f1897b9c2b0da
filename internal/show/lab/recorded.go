package lab

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
)

//go:embed static
var static embed.FS

// files returns the files of the page by their names. Those that are compressed are as they were.
var files = sync.OnceValues(func() (map[string][]byte, error) {
	all := map[string][]byte{}
	names, err := fs.Glob(static, "static/*")
	for _, name := range names {
		text, wrong := static.ReadFile(name)
		plain, is := strings.CutSuffix(path.Base(name), ".gz")
		if is && wrong == nil {
			var r io.Reader
			if r, wrong = gzip.NewReader(bytes.NewReader(text)); wrong == nil {
				text, wrong = io.ReadAll(r)
			}
		}
		all[plain], err = text, errors.Join(err, wrong)
	}
	return all, err
})

// recorded is a page of one run: its title, and the script, the style and the data that it has in itself.
const recorded = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '%[1]s'; style-src '%[2]s'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>%[3]s</title>
<link rel="icon" href="data:,">
<style>%[4]s</style>
</head>
<body>
<div id="lab"><noscript>This page needs JavaScript.</noscript></div>
<script type="application/json" id="answer">%[6]s</script>
<script type="application/json" id="listing">%[7]s</script>
<script type="module">%[5]s</script>
</body>
</html>
`

// Recorded returns a page that shows one run, and asks no engine: it works from a file. Answer answers the question run, and
// listing that of the question listing, or empty.
func Recorded(title string, answer, listing json.RawMessage) ([]byte, error) {
	all, err := files()
	if err != nil {
		return nil, err
	}
	script, style := all["lab.js"], all["lab-style.css"]
	if ends(script, "</script") || ends(style, "</style") {
		return nil, errors.New("the page's script or style ends its element")
	}
	return fmt.Appendf(nil, recorded, digest(script), digest(style), html.EscapeString(title), style, script, data(answer), data(listing)), nil
}

// ends reports whether a text ends the element that it is in.
func ends(text []byte, tag string) bool { return bytes.Contains(bytes.ToLower(text), []byte(tag)) }

// digest returns what a policy allows a script or a style by.
func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// data returns JSON that ends no element, in an element.
func data(value json.RawMessage) []byte {
	var b bytes.Buffer
	json.HTMLEscape(&b, value)
	return b.Bytes()
}
