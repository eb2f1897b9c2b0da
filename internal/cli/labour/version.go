package labour

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// Version returns the version under which a program keeps results, from the one that people read. Results of different versions never meet. Builds
// of changed sources, or without a repository, share one version and may compute different things, such as an own algorithm that was mended.
// So a digest of the program follows that version.
func Version(read string) string {
	if read != "" && !strings.HasPrefix(read, "(") && !strings.Contains(read, "+dirty") {
		return read
	}
	return strings.TrimSpace(read + " " + digest())
}

// digest returns a few digits that tell this program from others, or none where it cannot be read.
var digest = sync.OnceValue(func() string {
	program, err := os.Open("/proc/self/exe") // on Linux, also if a new one has its path
	if err != nil {
		var path string
		if path, err = os.Executable(); err == nil {
			program, err = os.Open(path)
		}
	}
	if err != nil {
		return ""
	}
	defer program.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, program); err != nil {
		return ""
	}
	return fmt.Sprintf("%.6x", sum.Sum(nil))
})
