package trace_test

import (
	"bytes"
	"testing"

	"ringleader.example/ringleader/trace"
)

func draw(t *testing.T, r *trace.Record) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := r.SVG(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
