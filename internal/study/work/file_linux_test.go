package work

import (
	"errors"
	"fmt"
	"os"
	"testing"
)

// What has no end may be given by mistake.
func TestOfWhatIsNoFileOfResultsNoMoreThanALineIsRead(t *testing.T) {
	for name, text := range map[string][]byte{"no line": make([]byte, 2*mostHead), "another line": []byte("{}\n")} {
		t.Run(name, func(t *testing.T) {
			out, in, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			defer in.Close() // not before the end: who reads more waits for ever
			go func() {
				_, _ = in.Write(text) // it is not read to its end
			}()
			if _, _, err := ReadFile(fmt.Sprintf("/dev/fd/%d", out.Fd())); !errors.Is(err, ErrFile) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
