package lab

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// between returns the part of a page between two texts.
func between(t *testing.T, page, from, to string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, from)
	part, _, ended := strings.Cut(rest, to)
	if !found || !ended {
		t.Fatalf("the page has no %s … %s", from, to)
	}
	return part
}

func TestAPageOfARunHoldsHostileTextsAsTheyAre(t *testing.T) {
	hostile := map[string]string{"text": "</script><script>alert(1)</script><!-- \u2028 \u2029 & \" ' \\ ]]>"}
	answer, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	answer = bytes.ReplaceAll(answer, []byte(`\u003c`), []byte("<")) // as the lab writes it
	answer = bytes.ReplaceAll(answer, []byte(`\u003e`), []byte(">"))
	page, err := Recorded(`</title><img src=x onerror="alert(2)">`, answer, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	var held map[string]string
	if err := json.Unmarshal([]byte(between(t, text, `id="answer">`, "</script>")), &held); err != nil || held["text"] != hostile["text"] {
		t.Errorf("it holds %q, %v", held, err)
	}
	if listing := between(t, text, `id="listing">`, "</script>"); listing != "" {
		t.Errorf("it has the listing %s", listing)
	}
	for _, tag := range []string{"<img", "alert(1)</script>", "\u2028"} {
		if strings.Contains(text, tag) {
			t.Errorf("it has %q", tag)
		}
	}
}

func TestAPageOfARunAllowsItsOwnScriptAndStyleAlone(t *testing.T) {
	page, err := Recorded("LCR", json.RawMessage("{}"), json.RawMessage("{}"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for part, policy := range map[string]string{
		between(t, text, `<script type="module">`, "</script>"): between(t, text, "script-src '", "'"),
		between(t, text, "<style>", "</style>"):                 between(t, text, "style-src '", "'"),
	} {
		if digest([]byte(part)) != policy {
			t.Errorf("the policy allows %s, and %d bytes have %s", policy, len(part), digest([]byte(part)))
		}
	}
	for _, address := range []string{`src="`, `url(http`, "//cdn"} {
		if strings.Contains(strings.ReplaceAll(text, between(t, text, `<script type="module">`, "</script>"), ""), address) {
			t.Errorf("it refers to %s", address)
		}
	}
}
