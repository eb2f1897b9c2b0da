package incident

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
	"time"

	"ringleader.example/ringleader/internal/serve/explain"
)

//go:embed page.js
var script string

//go:embed page.css
var style string

// page is a page that needs no other file and no network: its title, style, script and data.
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-%[4]s'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>%[1]s</title>
<link rel="icon" href="data:,">
<style>%[2]s</style>
</head>
<body>
<main id="incident"><noscript>This page needs JavaScript.</noscript></main>
<script type="application/json" id="data">%[5]s</script>
<script>%[3]s</script>
</body>
</html>
`

// mostDrawn is how many changes a page draws: the last ones. Each takes some 30 kB.
const mostDrawn = 100

// shown is a group, as the script takes it.
type shown struct {
	Name       string              `json:"name"`
	From       int64               `json:"from"` // in milliseconds since 1970
	To         int64               `json:"to"`
	Recorded   []uint64            `json:"recorded"`
	Missing    []uint64            `json:"missing"`
	Members    []uint64            `json:"members"`
	Clocks     []string            `json:"clocks"`
	Violations []explain.Violation `json:"violations"`
	Changes    []drawn             `json:"changes"`
}

// drawn is a change of the leader with its drawings.
type drawn struct {
	explain.Change

	Number int      `json:"number"`
	Lasts  float64  `json:"lasts"` // of the scene, in milliseconds
	Zero   float64  `json:"zero"`  // the end of the lead in it
	Events []event  `json:"events"`
	Wide   *picture `json:"wide"` // null: the page has too many
	Narrow *picture `json:"narrow"`
}

// picture is a drawing, and the parts of its width at which its time begins and ends.
type picture struct {
	SVG   string  `json:"svg"`
	Begin float64 `json:"begin"`
	End   float64 `json:"end"`
}

// Page writes an HTML page that plays the changes of the leader in a report, and begins with one of them, as [Drawing] chooses it. It is self-contained.
// It ends with the context.
func Page(ctx context.Context, w io.Writer, r *explain.Report, change int) error {
	chosen, err := choose(r, change)
	if err != nil {
		return err
	}
	number, total := 0, 0
	for _, g := range r.Groups {
		total += len(g.Changes)
	}
	var groups []shown
	for _, g := range r.Groups {
		s := shown{
			Name: g.Name, From: g.From.UnixMilli(), To: g.To.UnixMilli(), Recorded: g.Recorded, Missing: g.Missing, Clocks: g.Clocks, Violations: g.Violations, Changes: []drawn{},
			Members: slices.Sorted(slices.Values(slices.Concat(g.Recorded, g.Missing))),
		}
		for i := range g.Changes {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			number++
			d, err := drawnOf(g, i, number, number > total-mostDrawn || number == chosen)
			if err != nil {
				return err
			}
			s.Changes = append(s.Changes, d)
		}
		groups = append(groups, s)
	}
	data, err := json.Marshal(map[string]any{"groups": groups, "chosen": chosen, "damages": r.Damages})
	if err != nil {
		return err
	}
	if strings.Contains(script, "</script") || strings.Contains(style, "</style") {
		return errors.New("the page's script or style ends its element")
	}
	var escaped bytes.Buffer
	json.HTMLEscape(&escaped, data)
	sum := sha256.Sum256([]byte(script))
	_, err = fmt.Fprintf(w, page, html.EscapeString(titleOf(r)), style, script, base64.StdEncoding.EncodeToString(sum[:]), escaped.Bytes())
	return err
}

// titleOf returns the title of the page of a report.
func titleOf(r *explain.Report) string {
	var names []string
	for _, g := range r.Groups {
		names = append(names, fmt.Sprintf("%q", g.Name))
	}
	return "Changes of the leader of " + strings.Join(names, ", ")
}

// drawnOf returns a change of a group; with drawings, if it is to have some.
func drawnOf(g *explain.Group, i, number int, draws bool) (drawn, error) {
	d := drawn{Change: g.Changes[i], Number: number, Events: []event{}}
	if !draws {
		return d, nil
	}
	s := g.Scene(i)
	milliseconds := func(t time.Duration) float64 { return float64(t.Microseconds()) / 1000 }
	d.Lasts, d.Zero, d.Events = milliseconds(s.Lasts), milliseconds(s.Nobody.From), told(&s)
	for name, one := range map[string]struct {
		layout layout
		to     **picture
	}{"wide": {wide, &d.Wide}, "narrow": {narrow, &d.Narrow}} {
		var b bytes.Buffer
		if err := draw(g.Name, s, one.layout).SVG(&b); err != nil {
			return d, err
		}
		l := one.layout
		text := strings.NewReplacer(`"title description"`, fmt.Sprintf(`"t-%s d-%[1]s"`, name), `id="title"`, fmt.Sprintf(`id="t-%s"`, name), `id="description"`, fmt.Sprintf(`id="d-%s"`, name)).Replace(b.String())
		*one.to = &picture{text, l.left / l.width, (l.width - l.margin) / l.width}
	}
	return d, nil
}
