package main

import (
	"strings"
	"testing"
)

// A module whose package fails for 32 bits in a test, and for Windows in a file of its own.
func TestWhatASystemsCompilerWouldRefuseIsFound(t *testing.T) {
	folder := module(t, map[string]string{
		"m.go":         "package m\n\nimport \"os\"\n\nvar Args = os.Args\n",
		"m_windows.go": "package m\n\nvar Missing = missing\n",
		"m_test.go":    "package m_test\n\nimport \"m.example/m\"\n\nvar far int = 1 << 40 * len(\"x\")\nvar _ = m.Args\n",
	})
	for system, want := range map[string]string{
		"linux/amd64":   "",
		"linux/arm/7":   "m_test.go:5:",
		"linux/386":     "m_test.go:5:",
		"windows/amd64": "m_windows.go:3:15: undefined: missing",
		"windows":       "a system is GOOS/GOARCH",
	} {
		err := checkFor(newFiles(), folder, system, []string{"./..."})
		if err == nil != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", system, err, want)
		}
	}
}
