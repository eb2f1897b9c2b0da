//go:build unix

package fencesql_test

import (
	"os"
	"syscall"
	"testing"
)

func stop(t *testing.T, p *os.Process)    { signal(t, p, syscall.SIGSTOP) }
func proceed(t *testing.T, p *os.Process) { signal(t, p, syscall.SIGCONT) }

func signal(t *testing.T, p *os.Process, s os.Signal) {
	t.Helper()
	if err := p.Signal(s); err != nil {
		t.Fatal(err)
	}
}
