package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestThePageNamesPlacesOfRecords(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.rec")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for place, want := range map[string]string{
		"": "shows no group", file: "is no directory", file + "/none": "", "https://127.0.0.1:1": "needs the --cert, --key and --ca", "ftp://x:1": "begins with http:// or https://",
	} {
		if _, err := (&groupOptions{}).gather(t.Context(), place); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", place, err)
		}
	}
	if r, err := (&groupOptions{members: []string{"1=" + t.TempDir()}}).gather(t.Context(), ""); err != nil || len(r.Logs) != 0 {
		t.Errorf("a directory without a record: %v, %v", r, err)
	}
}
