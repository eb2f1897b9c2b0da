package report

import (
	"bytes"
	"os"
	"testing"
)

func TestDevNullIsNoTerminal(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if IsTerminal(null) || IsTerminal(new(bytes.Buffer)) {
		t.Error("taken for a terminal")
	}
}
