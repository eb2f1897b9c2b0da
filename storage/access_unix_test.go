//go:build unix

package storage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestADirectoryOrAKeyThatIsOpenToEveryUserIsRefused(t *testing.T) {
	for _, c := range []struct {
		directory, key os.FileMode
		mends          string // "": nothing is wrong
	}{
		{0o700, 0o600, ""},
		{0o755, 0o400, ""},
		{0o775, 0o640, ""}, // umask 0002; ssl-cert
		{0o770, 0o440, ""}, // a volume and a secret of Kubernetes
		{0o777, 0o600, "chmod o-w "},
		{0o702, 0o600, "chmod o-w "},
		{0o1777, 0o600, "chmod o-w "},
		{0o700, 0o644, "chmod o-rw "},
		{0o700, 0o604, "chmod o-rw "},
		{0o700, 0o602, "chmod o-rw "},
	} {
		directory := t.TempDir()
		key := filepath.Join(directory, "1.key")
		if err := os.WriteFile(key, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		// Chmod, since the mode of a new file depends on the umask of this process.
		if err := os.Chmod(key, c.key); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(directory, c.directory); err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(t.TempDir(), "link") // keys of Kubernetes are symbolic links, of mode 0777
		if err := os.Symlink(key, link); err != nil {
			t.Fatal(err)
		}
		err := CheckAccess(directory, link)
		if (err == nil) != (c.mends == "") {
			t.Errorf("directory %o, key %o: %v", c.directory, c.key, err)
		} else if err != nil && (!strings.Contains(err.Error(), c.mends) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("directory %o, key %o: %v; want one line with %s", c.directory, c.key, err, c.mends)
		}
	}
	if err := CheckAccess("", ""); err != nil {
		t.Error(err)
	}
	if err := CheckAccess(filepath.Join(t.TempDir(), "none"), filepath.Join(t.TempDir(), "none")); err != nil {
		t.Errorf("what is missing: %v", err)
	}
}
