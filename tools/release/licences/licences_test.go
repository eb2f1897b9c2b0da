package licences

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write NOTICE")

const root = "../../.."

// The platforms of a release; a module that one of them alone links has terms, too.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/arm64", "windows/amd64", "js/wasm"}

func TestTheNoticeHasTheTermsOfAllThatIsLinked(t *testing.T) {
	program, err := Linked(root, "./cmd/ringleader", platforms...)
	if err != nil {
		t.Fatal(err)
	}
	broker, err := Linked(filepath.Join(root, "cluster"), "./cmd/ringleader-broker", platforms[:4]...)
	if err != nil {
		t.Fatal(err)
	}
	got := Notice(Together(program, broker))
	file := filepath.Join(root, "NOTICE")
	if *update {
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("NOTICE is not what is linked (%v): go -C tools/release test ./licences -update", err)
	}
}

func TestAModuleWithoutALicenceIsAnError(t *testing.T) {
	folder := t.TempDir()
	if _, err := Of("example.org/none", "v1.0.0", folder); err == nil || !strings.Contains(err.Error(), "has no licence") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "LICENSE"), []byte("Do with it what you want, but not on Sundays.\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Of("example.org/own", "v1.0.0", folder); err == nil {
		t.Error("terms that nobody knows are taken")
	}
}

func TestALicenceIsToldByItsText(t *testing.T) {
	m, err := Of("ringleader", "v1.0.0", root)
	if err != nil || len(m.Licences) == 0 || m.Licences[0] != "Apache-2.0" {
		t.Errorf("%+v, %v", m, err)
	}
}
