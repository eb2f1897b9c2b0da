package secret

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnOwnTokenIsMadeOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "token")
	made := make(chan string, 8)
	for range cap(made) {
		go func() {
			one, err := Own(path)
			if err != nil {
				t.Error(err)
			}
			made <- one
		}()
	}
	first := <-made
	for range cap(made) - 1 {
		if other := <-made; other != first {
			t.Errorf("%q and %q", first, other)
		}
	}
	if err := makeOwn(path); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second time: %v", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	if err := os.WriteFile(path, []byte("secret of another program\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Own(path); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a file with something else: %v", err)
	}
	if _, err := Own(filepath.Dir(path)); !errors.Is(err, ErrExposed) {
		t.Errorf("a folder: %v", err)
	}
}
