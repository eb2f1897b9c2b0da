package trace_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"ringleader.example/ringleader/trace"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; -update accepts it):\n%s", name, diff)
	}
}

func story(t *testing.T, r *trace.Record) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := r.Story(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestStoryIsALineAStep(t *testing.T) {
	golden(t, "lcr.txt", story(t, runLCR(t, false, 5, 4, 3, 2, 1)))
	golden(t, "bully.txt", story(t, runBully(t, options{
		clock: true, starts: []int{1}, crashes: []fault{{4, 8}}, revives: []fault{{4, 20}},
	}, 5)))
}
