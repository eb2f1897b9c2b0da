package labour

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// Version returns the version of jobs of a program, of whose version people read this: results of different versions never meet. Programs that
// were built of changed sources, or without a repository, have one version and may compute different things, as one does whose own algorithm
// was mended. So a digest of the program follows such a version.
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
