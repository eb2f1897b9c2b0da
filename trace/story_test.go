package trace_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"ringleader.example/ringleader/internal/study/tracetest"
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
	golden(t, "lcr.txt", story(t, tracetest.LCR(t, false, 5, 4, 3, 2, 1)))
	golden(t, "bully.txt", story(t, tracetest.Bully(t, tracetest.Options{
		Clock: true, Starts: []int{1}, Crashes: []tracetest.Fault{{Position: 4, Time: 8}}, Recovers: []tracetest.Fault{{Position: 4, Time: 20}},
	}, 5)))
}

func TestStoriesOfContradictionsAreRefused(t *testing.T) {
	r := tracetest.LCR(t, false, 2, 1)
	r.Steps[2].Message = 99
	var b bytes.Buffer
	if err := r.Story(&b); !errors.Is(err, trace.ErrRecord) || b.Len() != 0 {
		t.Errorf("%v", err)
	}
}
