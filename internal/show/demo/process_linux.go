package demo

import (
	"fmt"
	"os"
	"strings"
)

// isPaused reports whether a process that is not our child is stopped.
func isPaused(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.HasPrefix(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " T")
}
