package incident_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/explain/explaintest"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/show/incident"
)

// report returns what the records of a group with this name tell: member 3 hands over to member 1, which is killed.
func report(t *testing.T, name string) *explain.Report {
	t.Helper()
	records, err := record.Open(t.Context(), explaintest.Records(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return explain.Of(records)
}

var parts = regexp.MustCompile(`(?s)script-src 'sha256-([^']+)'.*<script type="application/json" id="data">(.*?)</script>\n<script>(.*?)</script>`)

func TestAPageOfAnIncidentNeedsNothingElse(t *testing.T) {
	const hostile = `</script><img src=x onerror="alert(1)">`
	r := report(t, hostile)
	var b bytes.Buffer
	if err := incident.Page(t.Context(), &b, r, 0); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if strings.Contains(text, "<img") || strings.Count(text, "<script") != 2 {
		t.Error("a name of a group becomes a part of the page")
	}
	if foreign := regexp.MustCompile(`(src|href)="(http|/|[a-z]+\.)`).FindString(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", "")); foreign != "" || strings.Contains(text, "url(http") {
		t.Errorf("it needs another file: %s", foreign)
	}
	p := parts.FindStringSubmatch(text)
	if p == nil {
		t.Fatal("the page has not its parts")
	}
	if sum := sha256.Sum256([]byte(p[3])); base64.StdEncoding.EncodeToString(sum[:]) != p[1] {
		t.Error("the policy does not allow the script")
	}
	var data struct {
		Chosen int
		Groups []struct {
			Name    string
			Changes []struct {
				Cause, Text  string
				Lasts        float64
				Events       []struct{ Text string }
				Wide, Narrow struct{ SVG string }
			}
		}
	}
	if err := json.Unmarshal([]byte(p[2]), &data); err != nil {
		t.Fatal(err)
	}
	if data.Groups[0].Name != hostile || len(data.Groups[0].Changes) != len(r.Groups[0].Changes) || data.Chosen != 3 {
		t.Errorf("the page begins with change %d of %d", data.Chosen, len(data.Groups[0].Changes))
	}
	killed := data.Groups[0].Changes[2]
	told := ""
	for _, e := range killed.Events {
		told += e.Text + "\n"
	}
	for _, want := range []string{"the record of member 1 ends", "the lead of member 1 ends", "member 3 leads in term ", "asks 2 for its vote", "grants a lease to 3"} {
		if !strings.Contains(told, want) {
			t.Errorf("the story does not tell %q:\n%s", want, told)
		}
	}
	for _, svg := range []string{killed.Wide.SVG, killed.Narrow.SVG} {
		if !strings.HasPrefix(svg, "<svg") || !strings.Contains(svg, "no leader for") {
			t.Errorf("no drawing: %.80s", svg)
		}
	}
}

func TestAChangeThatIsNotThereIsNotDrawn(t *testing.T) {
	r := report(t, "jobs")
	for _, change := range []int{-1, 9} {
		if err := incident.Page(t.Context(), new(bytes.Buffer), r, change); err == nil || !strings.Contains(err.Error(), "--change is from 1 to 3, or 0") {
			t.Errorf("change %d: %v", change, err)
		}
		if _, err := incident.Drawing(r, change); err == nil {
			t.Errorf("change %d is drawn", change)
		}
	}
	if _, err := incident.Drawing(&explain.Report{}, 0); err == nil {
		t.Error("without changes one is drawn")
	}
}

// A group of which no record has details has no drawing, and does not hinder the page of another one.
func TestAGroupWithoutDetailsHasNoDrawing(t *testing.T) {
	older := &explain.Report{Groups: []*explain.Group{{Name: "old", Older: []explain.Older{{Term: 7}}}}}
	if err := incident.Page(t.Context(), &bytes.Buffer{}, older, 0); err == nil || !strings.Contains(err.Error(), "no change of the leader with details") {
		t.Error(err)
	}
	var b bytes.Buffer
	older.Groups = append(older.Groups, report(t, "new").Groups...)
	if err := incident.Page(t.Context(), &b, older, 0); err != nil || strings.Contains(b.String(), `"changes":null`) {
		t.Errorf("%v: the script cannot play what is null", err)
	}
}
