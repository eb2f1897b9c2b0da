package labour_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"testing"

	"ringleader.example/ringleader/internal/cli/labour"
)

// A version that programs of different sources may have does not name what a program computes; its own bytes do.
func TestAVersionOfManyProgramsNamesThisOne(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	digest := fmt.Sprintf("%x", sha256.Sum256(program))[:12]
	for read, want := range map[string]string{
		"":        digest,
		"(devel)": "(devel) " + digest,
		"v0.0.0-20261130120000-0123456789ab+dirty 0123456789ab": "v0.0.0-20261130120000-0123456789ab+dirty 0123456789ab " + digest,
		"v0.0.0-20261130120000-0123456789ab 0123456789ab":       "v0.0.0-20261130120000-0123456789ab 0123456789ab",
		"v1.2.3": "v1.2.3",
	} {
		if got := labour.Version(read); got != want {
			t.Errorf("%q: %q, want %q", read, got, want)
		}
	}
}
