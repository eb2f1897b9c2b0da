package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/serve/explain/explaintest"
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

func TestAMemberWithoutARecordIsToldWithTheRecordsOfTheOthers(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	r, err := (&groupOptions{members: []string{"1=" + explaintest.Records(t, "shop"), "2=" + none}}).gather(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Logs) != 3 || len(r.Damages) != 1 || !strings.HasPrefix(r.Damages[0].String(), none+": no record came: ") {
		t.Errorf("%d logs, %v", len(r.Logs), r.Damages)
	}
}
