package report

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestALineOfProgressFitsTheTerminal(t *testing.T) {
	var out bytes.Buffer
	bar := &Progress{w: &out, width: 20, started: time.Now()}
	bar.Show("%s", strings.Repeat("é", 30))
	if want := "\r\x1b[K" + strings.Repeat("é", 19); out.String() != want {
		t.Errorf("it writes %q, want %q", out.String(), want)
	}
}
