package kerneltest

import (
	"os"
	"runtime"
	"testing"

	"ringleader.example/ringleader/internal/serve/kernel"
)

// NeedPriority skips a test where a thread may not run before others, or fails it where CI is true.
func NeedPriority(t testing.TB) {
	t.Helper()
	allowed := make(chan error)
	go func() {
		runtime.LockOSThread() // it ends with this goroutine
		allowed <- kernel.Hurry()
	}()
	if err := <-allowed; err != nil && os.Getenv("CI") == "true" {
		t.Fatal(err)
	} else if err != nil {
		t.Skip(err)
	}
}
