package option_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/cli/option"
)

func TestWhatIsTooLargeIsNotRead(t *testing.T) {
	const most = 5
	for text, want := range map[string]string{"": "", "12345": "", "123456": "it has more than 5 bytes"} {
		got, err := option.ReadAtMost(strings.NewReader(text), most)
		if want == "" && (err != nil || string(got) != text) || want != "" && (err == nil || err.Error() != want || got != nil) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
		name := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err = option.ReadFile(name, most)
		path := (*fs.PathError)(nil)
		if want == "" && (err != nil || string(got) != text) || want != "" && (!errors.As(err, &path) || path.Path != name || path.Err.Error() != want) {
			t.Errorf("a file with %q: %q, %v", text, got, err)
		}
	}
}
