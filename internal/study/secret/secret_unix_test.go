//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package secret

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestATokenThatOthersMayKnowIsNotBelieved(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	made, err := Own(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o602} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if got, err := Own(path); !errors.Is(err, ErrExposed) || got != "" || !strings.Contains(err.Error(), path) {
			t.Errorf("mode %o: %q, %v", mode, got, err)
		}
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Own(path); err != nil || got != made {
		t.Errorf("%q, %v", got, err)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to others")
	}
	const nobody = 65534
	if err := os.Chown(path, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	if got, err := Own(path); !errors.Is(err, ErrExposed) || got != "" {
		t.Errorf("a file of another user: %q, %v", got, err)
	}
}
