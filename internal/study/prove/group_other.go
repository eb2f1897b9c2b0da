//go:build !unix

package prove

import "os/exec"

// grouped does nothing: there are no process groups here.
func grouped(*exec.Cmd) {}
