package cli

import (
	"os"
	"strings"
	"testing"
)

// Whatever README.md shows a command to print, it prints. (The demo's times differ each time.)
func TestREADMEShowsWhatIsPrinted(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for block := range strings.SplitSeq(string(readme), "```console\n$ ringleader ") {
		block, _, _ = strings.Cut(block, "```")
		command, want, _ := strings.Cut(block, "\n")
		if !strings.HasPrefix(command, "run ") && !strings.HasPrefix(command, "count ") && !strings.HasPrefix(command, "verify ") {
			continue
		}
		shown++
		if _, stdout, stderr := call(strings.Fields(command)...); stdout != want {
			t.Errorf("ringleader %s prints\n%s%swhere README.md says\n%s", command, stdout, stderr, want)
		}
	}
	if shown < 3 {
		t.Errorf("README.md shows %d commands with what they print", shown)
	}
}
