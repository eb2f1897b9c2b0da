package agent

import "os"

// write writes a line to a pipe. It waits for room: that is enough for thousands of lines.
func write(pipe *os.File, line []byte) (written bool) {
	_, err := pipe.Write(line)
	return err == nil
}
